/*
 * gate_constants.c: what a question says without looking at a row is computed in the session, by PostgreSQL, with the rights of the
 * asker: power(10, 4), interval '90' day, date_trunc('day', now()), current_date - $1.
 *
 * An expression that is closed, so has no column, aggregate or subquery in it, and calls no volatile function, is one value for
 * the whole question. Where only immutable functions are called it becomes a literal when the statement is analysed, as the
 * planner would do. Otherwise it becomes a parameter, whose value the statement itself computes when it runs: a prepared
 * statement or a view gets the value of that moment. The gate is given the value, and knows the question by it.
 */
#include "discreet.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* What takes something from rows or from other places of the statement. `inside`: of a CASE that is part of the expression. */
static bool
is_open(Node *node, bool *inside)
{
	bool		here = true;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_CaseExpr:
		case T_ArrayCoerceExpr:
			return expression_tree_walker(node, is_open, (void *) &here);
		case T_CaseTestExpr:
			return !*inside;
		case T_Const:
		case T_FuncExpr:
		case T_NamedArgExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_CollateExpr:
		case T_CaseWhen:
		case T_ArrayExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_SQLValueFunction:
		case T_NullTest:
		case T_BooleanTest:
		case T_SubscriptingRef:
		case T_List:
			return expression_tree_walker(node, is_open, (void *) inside);
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		default:
			return true;
	}
}

/* Whether there is anything to compute. Literals, lists of them, and what PostgreSQL adds to their types by itself stay. */
static bool
computes(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			{
				FuncExpr   *call = (FuncExpr *) node;

				if (call->funcformat == COERCE_IMPLICIT_CAST && IsA(linitial(call->args), Const))
					return false;
				return true;
			}
		case T_Const:
		case T_ArrayExpr:
		case T_RelabelType:
		case T_List:
			return expression_tree_walker(node, computes, context);
		default:
			return true;
	}
}

/* Types whose values the gate can be told as texts. */
static bool
has_text(Oid type)
{
	Oid			element = get_element_type(type);
	char		kind = get_typtype(OidIsValid(element) ? element : type);

	return kind == TYPTYPE_BASE || kind == TYPTYPE_ENUM || kind == TYPTYPE_DOMAIN;
}

/* A closed expression, which has one value for the whole question; not what only stands in one. */
static bool
is_constant(Node *node)
{
	bool		inside = false;

	if (IsA(node, TargetEntry) || IsA(node, List) || IsA(node, CaseWhen) || IsA(node, NamedArgExpr))
		return false;
	return !is_open(node, &inside) && computes(node, NULL) && !expression_returns_set(node) && has_text(exprType(node)) &&
		exprType(node) != UNKNOWNOID && !contain_volatile_functions(node);
}

/* The literal that an expression is, or NULL: its value may change, or its type has code that is not PostgreSQL's own. */
static Node *
literal_of(Node *node)
{
	Node	   *folded;

	if (exprType(node) >= FirstNormalObjectId || contain_mutable_functions(node))
		return NULL;
	folded = eval_const_expressions(NULL, copyObject(node));
	if (!IsA(folded, Const))
		return NULL;
	((Const *) folded)->location = -1;
	((Const *) folded)->consttypmod = -1;
	return folded;
}

static Node *
as_timestamp(Node *day)
{
	return (Node *) makeFuncExpr(F_TIMESTAMP_DATE, TIMESTAMPOID, list_make1(day), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
}

/* What a moment with a time zone was made from, if that has none; else NULL. */
static Node *
without_zone(Node *node)
{
	if (exprType(node) == TIMESTAMPOID)
		return node;
	if (!IsA(node, FuncExpr))
		return NULL;
	if (((FuncExpr *) node)->funcid == F_TIMESTAMPTZ_DATE)
		return as_timestamp(linitial(((FuncExpr *) node)->args));
	return ((FuncExpr *) node)->funcid == F_TIMESTAMPTZ_TIMESTAMP ? linitial(((FuncExpr *) node)->args) : NULL;
}

/*
 * age() of two moments; of one, since the midnight with which the day began. Years, months and days are those of the calendar, so
 * where neither moment was given with a time zone, they are compared without: the gate's is not that of the session.
 */
static Node *
age_of_two(FuncExpr *age)
{
	SQLValueFunction *today = makeNode(SQLValueFunction);
	List	   *moments = age->args;
	Node	   *first,
			   *second;

	today->op = SVFOP_CURRENT_DATE;
	today->type = DATEOID;
	today->typmod = -1;
	today->location = -1;
	if (list_length(moments) == 1)
		moments = list_make2(age->funcid == F_AGE_TIMESTAMP ? as_timestamp((Node *) today) :
							 (Node *) makeFuncExpr(F_TIMESTAMPTZ_DATE, TIMESTAMPTZOID, list_make1(today), InvalidOid, InvalidOid,
												   COERCE_IMPLICIT_CAST), linitial(moments));
	first = without_zone(linitial(moments));
	second = without_zone(lsecond(moments));
	if (first != NULL && second != NULL)
		return (Node *) makeFuncExpr(F_AGE_TIMESTAMP_TIMESTAMP, INTERVALOID, list_make2(first, second), InvalidOid, InvalidOid,
									 COERCE_EXPLICIT_CALL);
	return (Node *) makeFuncExpr(F_AGE_TIMESTAMPTZ_TIMESTAMPTZ, INTERVALOID, moments, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static bool
is_age(Node *node)
{
	Oid			function = IsA(node, FuncExpr) ? ((FuncExpr *) node)->funcid : InvalidOid;

	return function == F_AGE_TIMESTAMP || function == F_AGE_TIMESTAMPTZ || function == F_AGE_TIMESTAMPTZ_TIMESTAMPTZ;
}

/*
 * generate_series() of moments of which one was given without a time zone goes by the calendar of the session: with one, days would
 * begin at its midnights, which are none in the gate.
 */
static Node *
series_of_wall_clock(FuncExpr *series)
{
	Node	   *ends[] = {linitial(series->args), lsecond(series->args)};
	FuncExpr   *plain;

	if (without_zone(ends[0]) == NULL && without_zone(ends[1]) == NULL)
		return (Node *) series;
	for (int n = 0; n < lengthof(ends); n++)
	{
		Node	   *without = without_zone(ends[n]);

		ends[n] = without != NULL ? without : (Node *) makeFuncExpr(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, list_make1(ends[n]),
																	 InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
	}
	plain = copyObject(series);
	plain->funcid = F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL;
	plain->funcresulttype = TIMESTAMPOID;
	plain->args = list_make3(ends[0], ends[1], lthird(series->args));
	return (Node *) plain;
}

static Node *
fold(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, fold, context, 0);
	if (is_age(node))
		node = age_of_two((FuncExpr *) node);
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL)
		node = series_of_wall_clock((FuncExpr *) node);
	if (IsA(node, Const) && ((Const *) node)->consttype == INTERVALOID && ((Const *) node)->consttypmod != -1)
	{
		/* interval '90' day: the value has been fitted to its fields already */
		Const	   *plain = copyObject((Const *) node);

		plain->consttypmod = -1;
		return (Node *) plain;
	}
	if (!is_constant(node))
		return expression_tree_mutator(node, fold, context);
	{
		Node	   *folded = literal_of(node);

		return folded != NULL ? folded : node;
	}
}

/* The query with a literal in place of each expression that is one. */
Query *
fold_constants(Query *query)
{
	return query_tree_mutator(copyObject(query), fold, NULL, QTW_DONT_COPY_QUERY);
}

/* Whether an expression that is no literal is one value for the question, which is known when the statement runs. */
bool
is_known_at_run(Node *node)
{
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXTERN;
	return is_constant(node);
}

/* ---- constants of a question that is given as a text */

static bool
is_not_built_in(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

static bool
is_moment_or_length(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID || type == TIMEOID || type == TIMETZOID ||
		type == INTERVALOID;
}

/* A stable function that takes or gives no moment may read tables or settings: table_to_xml(), current_setting(). */
static bool
looks_elsewhere(Oid function, void *context)
{
	Oid		   *arguments;
	int			number;
	Oid			result = get_func_signature(function, &arguments, &number);

	if (func_volatile(function) == PROVOLATILE_IMMUTABLE || is_moment_or_length(result))
		return false;
	for (int n = 0; n < number; n++)
		if (is_moment_or_length(arguments[n]))
			return false;
	return true;
}

/* What is not PostgreSQL's own, or looks at more than its arguments and the clock. */
static bool
is_strange(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, is_not_built_in, NULL) || check_functions_in_node(node, looks_elsewhere, NULL))
		return true;
	if (IsA(node, CoerceToDomain) || (IsA(node, SQLValueFunction) && !is_moment_or_length(((SQLValueFunction *) node)->type)))
		return true;
	if (!IsA(node, List) && !IsA(node, CaseWhen) && exprType(node) >= FirstNormalObjectId)
		return true;
	return expression_tree_walker(node, is_strange, context);
}

PG_FUNCTION_INFO_V1(discreet_constants);

/*
 * _constants(expressions): of each its type and its value as texts; both NULL for one that is no constant, or calls what is not
 * PostgreSQL's own. The text of a question may come from another user than the asker, so nothing of any user is run.
 */
Datum
discreet_constants(PG_FUNCTION_ARGS)
{
	Datum	   *texts;
	int			number;
	ArrayBuildState *found = NULL;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false, TYPALIGN_INT, &texts, NULL, &number);
	for (int n = 0; n < number; n++)
	{
		char	   *sql = psprintf("SELECT %s", TextDatumGetCString(texts[n]));
		List	   *statements = raw_parser(sql, RAW_PARSE_DEFAULT);
		ParseState *state = make_parsestate(NULL);
		Query	   *query;
		Node	   *constant = NULL;
		Datum		type = (Datum) 0,
					value = (Datum) 0;
		bool		null = true;

		if (list_length(statements) != 1 || !IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt))
			elog(ERROR, "not an expression");
		query = transformTopLevelStmt(state, linitial_node(RawStmt, statements));
		free_parsestate(state);
		if (query->commandType == CMD_SELECT && query->rtable == NIL && list_length(query->targetList) == 1 && query->cteList == NIL)
			constant = (Node *) linitial_node(TargetEntry, query->targetList)->expr;
		if (constant != NULL && is_constant(constant) && !is_strange(constant, NULL))
		{
			EState	   *run = CreateExecutorState();
			Oid			output;
			bool		varlena;

			type = CStringGetTextDatum(format_type_extended(exprType(constant), -1, FORMAT_TYPE_FORCE_QUALIFY));
			value = ExecEvalExprSwitchContext(ExecPrepareExpr((Expr *) constant, run), GetPerTupleExprContext(run), &null);
			getTypeOutputInfo(exprType(constant), &output, &varlena);
			if (!null)
				value = CStringGetTextDatum(OidOutputFunctionCall(output, value));
			FreeExecutorState(run);
		}
		found = accumArrayResult(found, type, type == (Datum) 0, TEXTOID, CurrentMemoryContext);
		found = accumArrayResult(found, value, null, TEXTOID, CurrentMemoryContext);
	}
	if (found == NULL)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	PG_RETURN_DATUM(makeArrayResult(found, CurrentMemoryContext));
}
