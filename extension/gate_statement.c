/*
 * gate_statement.c: a statement with several questions. All of them are checked when it starts, before the first is charged: a
 * statement that is refused costs nothing.
 *
 * Questions are calls of discreet.query() and its kin, written by hook, view or hand. What one of them asks is known at the
 * start when it depends on constants and parameters only, as that of a plain SELECT always does. Each is checked again when
 * it is run.
 */
#include "discreet.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

/* A call, and the types of the columns that its caller names. */
typedef struct Question
{
	FuncExpr   *call;
	List	   *types;			/* NIL: the answer has none */
	List	   *modifiers;
} Question;

typedef struct Questions
{
	Oid			schema;
	List	   *found;
	RangeTblFunction *named;	/* that is being looked at */
} Questions;

/* Arguments that the functions have in common, by place. */
static const char *const arguments[] = {"sql", "epsilon", "params", "fresh", "accuracy", "with_error", "sample",
	"as_of", "smallest_count"};

bool
is_question(Oid function, Oid schema)
{
	char	   *name;

	if (function < FirstNormalObjectId || get_func_namespace(function) != schema)
		return false;
	name = get_func_name(function);
	return name != NULL && (strcmp(name, "query") == 0 || strcmp(name, "query_json") == 0 || strcmp(name, "ask") == 0);
}

/* Subqueries are come to from where they are used, and from the list of all. */
static bool
is_found(Questions *questions, FuncExpr *call)
{
	ListCell   *cell;

	foreach(cell, questions->found)
		if (((Question *) lfirst(cell))->call == call)
			return true;
	return false;
}

static bool
find_calls(Node *node, Questions *questions)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblFunction))
	{
		questions->named = (RangeTblFunction *) node;
		find_calls(questions->named->funcexpr, questions);
		questions->named = NULL;
		return false;
	}
	if (IsA(node, FuncExpr) && is_question(((FuncExpr *) node)->funcid, questions->schema) &&
		!is_found(questions, (FuncExpr *) node))
	{
		Question   *question = palloc0(sizeof(Question));

		question->call = (FuncExpr *) node;
		if (questions->named != NULL && questions->named->funcexpr == node)
		{
			question->types = questions->named->funccoltypes;
			question->modifiers = questions->named->funccoltypmods;
		}
		questions->found = lappend(questions->found, question);
	}
	return expression_tree_walker(node, find_calls, (void *) questions);
}

/*
 * Expressions of a plan node beside its target list and condition. A node that is not listed is refused. Left out are copies
 * of expressions that are looked at elsewhere (keys of hash tables, RETURNING lists, conditions on indexes for a second
 * check), and what cannot hold a volatile function, as the steps by which partitions are pruned.
 */
static List *
own_expressions(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Result:
			return list_make1(((Result *) plan)->resconstantqual);
		case T_ModifyTable:
			{
				ModifyTable *node = (ModifyTable *) plan;
				List	   *found = list_make2(node->onConflictSet, node->onConflictWhere);
				ListCell   *cell;

				/* one list for each table that is written, all alike */
				if (node->mergeActionLists != NIL)
					foreach(cell, linitial_node(List, node->mergeActionLists))
						found = lappend(lappend(found, lfirst_node(MergeAction, cell)->qual),
										lfirst_node(MergeAction, cell)->targetList);
				if (merge_join_conditions(node) != NIL)
					found = lappend(found, linitial(merge_join_conditions(node)));
				if (node->withCheckOptionLists != NIL)
					foreach(cell, linitial_node(List, node->withCheckOptionLists))
						found = lappend(found, lfirst_node(WithCheckOption, cell)->qual);
				return found;
			}
		case T_NestLoop:
			{
				List	   *found = list_make1(((Join *) plan)->joinqual);
				ListCell   *cell;

				foreach(cell, ((NestLoop *) plan)->nestParams)
					found = lappend(found, lfirst_node(NestLoopParam, cell)->paramval);
				return found;
			}
		case T_MergeJoin:
			return list_make2(((Join *) plan)->joinqual, ((MergeJoin *) plan)->mergeclauses);
		case T_HashJoin:
			return list_make2(((Join *) plan)->joinqual, ((HashJoin *) plan)->hashclauses);
		case T_IndexScan:
			return list_make2(((IndexScan *) plan)->indexqualorig, ((IndexScan *) plan)->indexorderbyorig);
		case T_IndexOnlyScan:
			return list_make2(((IndexOnlyScan *) plan)->indexqual, ((IndexOnlyScan *) plan)->indexorderby);
		case T_BitmapIndexScan:
			return list_make1(((BitmapIndexScan *) plan)->indexqualorig);
		case T_TidScan:
			return list_make1(((TidScan *) plan)->tidquals);
		case T_TidRangeScan:
			return list_make1(((TidRangeScan *) plan)->tidrangequals);
		case T_SampleScan:
			return list_make1(((SampleScan *) plan)->tablesample);
		case T_FunctionScan:
			return list_make1(((FunctionScan *) plan)->functions);
		case T_ValuesScan:
			return list_make1(((ValuesScan *) plan)->values_lists);
		case T_TableFuncScan:
			return list_make1(((TableFuncScan *) plan)->tablefunc);
		case T_ForeignScan:
			return list_make1(((ForeignScan *) plan)->fdw_exprs);
		case T_CustomScan:
			return list_make1(((CustomScan *) plan)->custom_exprs);
		case T_WindowAgg:
			return list_make2(((WindowAgg *) plan)->startOffset, ((WindowAgg *) plan)->endOffset);
		case T_Limit:
			return list_make2(((Limit *) plan)->limitOffset, ((Limit *) plan)->limitCount);
		case T_ProjectSet:
		case T_Append:
		case T_MergeAppend:
		case T_RecursiveUnion:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_SeqScan:
		case T_BitmapHeapScan:
		case T_SubqueryScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
		case T_Material:
		case T_Memoize:
		case T_Sort:
		case T_IncrementalSort:
		case T_Group:
		case T_Agg:
		case T_Unique:
		case T_Gather:
		case T_GatherMerge:
		case T_Hash:
		case T_SetOp:
		case T_LockRows:
			return NIL;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_REFUSED_SHAPE),
					 errmsg("the plan of the statement has a node of unknown type %d, which may hold a question",
							(int) nodeTag(plan))));
	}
}

static bool
find_questions(PlanState *state, Questions *questions)
{
	if (state == NULL)
		return false;
	find_calls((Node *) state->plan->targetlist, questions);
	find_calls((Node *) state->plan->qual, questions);
	find_calls((Node *) own_expressions(state->plan), questions);
	return planstate_tree_walker(state, find_questions, (void *) questions);
}

/* Whether an expression takes something from rows, or from what is computed while the statement runs. */
static bool
depends_on_run(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, Aggref) ||
		IsA(node, WindowFunc) || IsA(node, GroupingFunc) || (IsA(node, Param) && ((Param *) node)->paramkind != PARAM_EXTERN))
		return true;
	return expression_tree_walker(node, depends_on_run, context);
}

static void
append_value(StringInfo json, Oid type, Datum value)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(type, &output, &varlena);
	escape_json(json, OidOutputFunctionCall(output, value));
}

/* A list of texts; of more than one dimension, a list in a list, which is refused. */
static void
append_texts(StringInfo json, ArrayType *array)
{
	Datum	   *texts;
	bool	   *nulls;
	int			number;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &number);
	appendStringInfoString(json, ARR_NDIM(array) > 1 ? "[[" : "[");
	for (int n = 0; n < number; n++)
	{
		if (n > 0)
			appendStringInfoChar(json, ',');
		if (nulls[n])
			appendStringInfoString(json, "null");
		else
			append_value(json, TEXTOID, texts[n]);
	}
	appendStringInfoString(json, ARR_NDIM(array) > 1 ? "]]" : "]");
}

/* As discreet._named_types() tells them while a question is answered. */
static void
append_types(StringInfo json, Question *question)
{
	ListCell   *type;
	ListCell   *modifier;
	const char *comma = "";

	appendStringInfoString(json, "\"types\":[");
	forboth(type, question->types, modifier, question->modifiers)
	{
		appendStringInfoString(json, comma);
		if (lfirst_oid(type) < FirstNormalObjectId)
			escape_json(json, format_type_with_typemod(lfirst_oid(type), lfirst_int(modifier)));
		else
			appendStringInfoString(json, "null");
		comma = ",";
	}
	appendStringInfoChar(json, ']');
}

/* The question as an object of JSON, or NULL where it is not known yet. */
static char *
question_at_start(Question *question, EState *state)
{
	StringInfoData json;
	int			place = 0;
	ListCell   *cell;
	bool		is_ask = strcmp(get_func_name(question->call->funcid), "ask") == 0;

	if (depends_on_run((Node *) question->call->args, NULL) ||
		contain_volatile_functions((Node *) question->call->args))
		return NULL;
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_types(&json, question);
	foreach(cell, question->call->args)
	{
		ExprState  *argument = ExecInitExprWithParams(lfirst(cell), state->es_param_list_info);
		Oid			type = exprType(lfirst(cell));
		bool		isnull;
		Datum		value = ExecEvalExprSwitchContext(argument, GetPerTupleExprContext(state), &isnull);

		if (place == lengthof(arguments) || (is_ask && place == 2))
			break;
		appendStringInfo(&json, ",\"%s\":", arguments[place++]);
		if (isnull)
			appendStringInfoString(&json, "null");
		else if (type == BOOLOID)
			appendStringInfoString(&json, DatumGetBool(value) ? "true" : "false");
		else if (type == TEXTARRAYOID)
			append_texts(&json, DatumGetArrayTypeP(value));
		else
			append_value(&json, type, value);
	}
	appendStringInfoChar(&json, '}');
	return json.data;
}

/* When a statement has started, before anything of it is charged. A question that stands alone is checked when it is run. */
void
check_questions(QueryDesc *query)
{
	Questions	questions = {own_schema()};
	MemoryContext before;
	StringInfoData json;
	ListCell   *cell;
	Oid			type = JSONBOID;

	if (!OidIsValid(questions.schema))
		return;
	before = MemoryContextSwitchTo(query->estate->es_query_cxt);
	find_questions(query->planstate, &questions);
	/* some nodes, as that of a recursive WITH query, find their subplans later */
	foreach(cell, query->estate->es_subplanstates)
		find_questions(lfirst(cell), &questions);
	if (list_length(questions.found) == 1)
		questions.found = NIL;
	initStringInfo(&json);
	foreach(cell, questions.found)
	{
		char	   *question = question_at_start(lfirst(cell), query->estate);

		if (question != NULL)
			appendStringInfo(&json, "%c%s", json.len == 0 ? '[' : ',', question);
	}
	if (json.len > 0)
	{
		appendStringInfoChar(&json, ']');
		(void) OidFunctionCall1(own_function("_check_questions", 1, &type),
								DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
	}
	MemoryContextSwitchTo(before);
}
