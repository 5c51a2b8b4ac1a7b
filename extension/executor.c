/*
 * executor.c: finds the dp_ aggregates of a statement, looks at what feeds them, and pays before any row is read; every
 * rescan is paid again.
 */
#include "discreet.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

static dlist_head paid_nodes = DLIST_STATIC_INIT(paid_nodes);

PaidNode *
find_paid(PlanState *node)
{
	dlist_iter	iter;

	dlist_foreach(iter, &paid_nodes)
	{
		PaidNode   *paid = dlist_container(PaidNode, link, iter.cur);

		if (&paid->node->ss.ps == node)
			return paid;
	}
	return NULL;
}

static void
forget_paid(void *argument)
{
	dlist_delete(&((PaidNode *) argument)->link);
}

/* What feeds a dp_ aggregate. */
typedef struct Input
{
	PlannedStmt *statement;
	Bitmapset  *inside;			/* range table indexes of the relations it reads */
	char	   *unsafe;			/* could let one row count for more than itself */
	bool		filtered;		/* who takes part depends on values */
	bool		steered;		/* takes values from elsewhere in the statement */
} Input;

static bool
is_own_function(Oid function)
{
	Oid			schema = get_func_namespace(function);

	return OidIsValid(schema) && schema == own_schema();
}

static bool
is_dp_aggregate(Oid function)
{
	char	   *name = get_func_name(function);

	return name != NULL && strncmp(name, "dp_", 3) == 0 && is_own_function(function);
}

static void
find_unsafe(Input *input, const char *what)
{
	if (input->unsafe == NULL)
		input->unsafe = pstrdup(what);
}

/*
 * Built-in code that looks at its arguments and at settings only: IMMUTABLE, or STABLE on dates and times, where it is
 * the time zone that matters. Other stable functions look at tables and statistics, and code of users may do anything.
 */
static bool
looks_at_arguments_only(Oid function)
{
	/* stable because of settings, which do not change under a running aggregate */
	static const char *const names[] = {"enum_in", "enum_out", "concat", "concat_ws", "format", "to_char"};
	Oid		   *types;
	int			n;
	Oid			result;
	bool		about_time;
	char		volatility = func_volatile(function);

	if (function >= FirstNormalObjectId)
		return is_dp_aggregate(function) ||
			(volatility == PROVOLATILE_IMMUTABLE && is_own_function(function));
	if (volatility != PROVOLATILE_STABLE)
		return volatility == PROVOLATILE_IMMUTABLE;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(get_func_name(function), names[i]) == 0)
			return true;
	result = get_func_signature(function, &types, &n);
	about_time = TypeCategory(result) == TYPCATEGORY_DATETIME || TypeCategory(result) == TYPCATEGORY_TIMESPAN;
	for (int i = 0; i < n; i++)
	{
		about_time |= TypeCategory(types[i]) == TYPCATEGORY_DATETIME;
		if (types[i] == OIDOID || strncmp(format_type_be(types[i]), "reg", 3) == 0)
			return false;
	}
	return about_time;
}

/* Anywhere in the statement: what it needs to show its answer and to write it down. */
static bool
is_harmless_anywhere(Oid function)
{
	static const char *const names[] = {"nextval", "random", "clock_timestamp", "timeofday", "gen_random_uuid"};

	if (function >= FirstNormalObjectId)
		return looks_at_arguments_only(function);
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(get_func_name(function), names[i]) == 0)
			return true;
	return func_volatile(function) != PROVOLATILE_VOLATILE;
}

static bool
is_unsafe_inside(Oid function, void *context)
{
	if (!looks_at_arguments_only(function))
		find_unsafe(context, psprintf("function %s", get_func_name(function)));
	return false;
}

/* Looks at an expression that a row passes on its way into an aggregate. */
static bool
look_at_expression(Node *node, Input *input)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_SubPlan:
		case T_AlternativeSubPlan:
			find_unsafe(input, "a subquery in an expression");
			return false;
		case T_Param:
			input->steered |= ((Param *) node)->paramkind == PARAM_EXEC;
			return false;
		case T_Var:
			if (((Var *) node)->varattno < 0)
				find_unsafe(input, "a system column");
			return false;
		case T_Aggref:
			if (is_dp_aggregate(((Aggref *) node)->aggfnoid))
				input->filtered |= ((Aggref *) node)->aggfilter != NULL || ((Aggref *) node)->aggdistinct != NIL;
			break;
		case T_CoerceToDomain:
			find_unsafe(input, "a domain");
			return false;
		case T_NextValueExpr:
		case T_CurrentOfExpr:
			find_unsafe(input, "an expression with a side effect");
			return false;
		default:
			break;
	}
	check_functions_in_node(node, is_unsafe_inside, input);
	return expression_tree_walker(node, look_at_expression, input);
}

/* The plans directly below a plan. */
static List *
plans_below(Plan *plan)
{
	List	   *below = NIL;

	if (plan->lefttree)
		below = lappend(below, plan->lefttree);
	if (plan->righttree)
		below = lappend(below, plan->righttree);
	switch (nodeTag(plan))
	{
		case T_Append:
			return list_concat(below, ((Append *) plan)->appendplans);
		case T_MergeAppend:
			return list_concat(below, ((MergeAppend *) plan)->mergeplans);
		case T_BitmapAnd:
			return list_concat(below, ((BitmapAnd *) plan)->bitmapplans);
		case T_BitmapOr:
			return list_concat(below, ((BitmapOr *) plan)->bitmapplans);
		case T_SubqueryScan:
			return lappend(below, ((SubqueryScan *) plan)->subplan);
		case T_CustomScan:
			return list_concat(below, ((CustomScan *) plan)->custom_plans);
		default:
			return below;
	}
}

/* What a node computes beside target list and conditions. */
static List *
expressions_of(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			return list_make2(((IndexScan *) plan)->indexqualorig, ((IndexScan *) plan)->indexorderbyorig);
		case T_IndexOnlyScan:
			return list_make2(((IndexOnlyScan *) plan)->indexqual, ((IndexOnlyScan *) plan)->indexorderby);
		case T_BitmapHeapScan:
			return list_make1(((BitmapHeapScan *) plan)->bitmapqualorig);
		case T_BitmapIndexScan:
			return list_make1(((BitmapIndexScan *) plan)->indexqualorig);
		case T_Result:
			return list_make1(((Result *) plan)->resconstantqual);
		case T_FunctionScan:
			return list_make1(((FunctionScan *) plan)->functions);
		case T_TableFuncScan:
			return list_make1(((TableFuncScan *) plan)->tablefunc);
		case T_ValuesScan:
			return list_make1(((ValuesScan *) plan)->values_lists);
		default:
			return NIL;
	}
}

/* Looks at a plan below a dp_ aggregate: which relations it reads, and whether every row comes at most once. */
static void
look_at_input(Plan *plan, Input *input)
{
	ListCell   *cell;
	Index		scanned = 0;

	input->filtered |= plan->qual != NIL;
	look_at_expression((Node *) plan->targetlist, input);
	look_at_expression((Node *) plan->qual, input);
	foreach(cell, expressions_of(plan))
		look_at_expression(lfirst(cell), input);
	switch (nodeTag(plan))
	{
		case T_SeqScan:
			scanned = ((Scan *) plan)->scanrelid;
			break;
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
			scanned = ((Scan *) plan)->scanrelid;
			input->filtered = true;
			break;
		case T_ForeignScan:
			scanned = ((Scan *) plan)->scanrelid;
			input->filtered = true;
			if (scanned == 0)
				find_unsafe(input, "a foreign join");
			break;
		case T_Result:
			input->filtered |= ((Result *) plan)->resconstantqual != NULL;
			break;
		case T_Agg:
			if (!DO_AGGSPLIT_SKIPFINAL(((Agg *) plan)->aggsplit))
				find_unsafe(input, "another aggregation");
			break;
		case T_FunctionScan:
		case T_ValuesScan:
		case T_BitmapIndexScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_Append:
		case T_MergeAppend:
		case T_Sort:
		case T_IncrementalSort:
		case T_Gather:
		case T_GatherMerge:
		case T_Material:
		case T_SubqueryScan:
			break;
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			find_unsafe(input, "a join");
			break;
		case T_Limit:
			find_unsafe(input, "LIMIT");
			break;
		case T_Unique:
		case T_Group:
			find_unsafe(input, "DISTINCT");
			break;
		case T_WindowAgg:
			find_unsafe(input, "a window function");
			break;
		case T_ProjectSet:
			find_unsafe(input, "a set-returning function");
			break;
		case T_SampleScan:
			scanned = ((Scan *) plan)->scanrelid;
			find_unsafe(input, "TABLESAMPLE");
			break;
		case T_TidScan:
		case T_TidRangeScan:
			scanned = ((Scan *) plan)->scanrelid;
			find_unsafe(input, "a system column");
			break;
		case T_CteScan:
		case T_WorkTableScan:
			find_unsafe(input, "a materialised or recursive WITH query");
			break;
		default:
			find_unsafe(input, "a query of this shape");
	}
	if (scanned != 0)
	{
		Oid			relation = rt_fetch(scanned, input->statement->rtable)->relid;

		for (int other = -1; (other = bms_next_member(input->inside, other)) >= 0;)
			if (rt_fetch(other, input->statement->rtable)->relid == relation)
				find_unsafe(input, "reading a table twice");
		input->inside = bms_add_member(input->inside, scanned);
	}
	foreach(cell, plans_below(plan))
		look_at_input(lfirst(cell), input);
}

/* The relation that the statement names, for a partition or child that stands for it in the plan. */
static Index
named_relation(PlannedStmt *statement, Index index)
{
	ListCell   *cell;

	foreach(cell, statement->appendRelations)
	{
		AppendRelInfo *part = lfirst_node(AppendRelInfo, cell);

		if (part->child_relid == index && rt_fetch(part->parent_relid, statement->rtable)->rtekind == RTE_RELATION)
			return named_relation(statement, part->parent_relid);
	}
	return index;
}

/* Whether the session user may read what the statement reads of a relation: the table, or each column. */
static bool
session_user_may_read(PlannedStmt *statement, Index index)
{
	RangeTblEntry *relation = rt_fetch(named_relation(statement, index), statement->rtable);
	Oid			user = GetSessionUserId();
	Bitmapset  *columns;

#if PG_VERSION_NUM >= 160000
	if (relation->perminfoindex == 0)
		return pg_class_aclcheck(relation->relid, user, ACL_SELECT) == ACLCHECK_OK;
	columns = getRTEPermissionInfo(statement->permInfos, relation)->selectedCols;
#else
	columns = relation->selectedCols;
#endif
	return may_read(relation->relid, columns, user);
}

typedef struct PartialSearch
{
	int			aggno;
	Aggref	   *found;
} PartialSearch;

/* Below a node that only joins the states of workers: the aggregate with its arguments. */
static bool
find_partial(PlanState *state, PartialSearch *search)
{
	ListCell   *cell;

	if (IsA(state, AggState))
		foreach(cell, ((AggState *) state)->aggs)
		{
			Aggref	   *aggref = lfirst_node(Aggref, cell);

			if (aggref->aggno == search->aggno && DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit))
			{
				search->found = aggref;
				return true;
			}
		}
	return planstate_tree_walker(state, find_partial, search);
}

static bool
is_not_constant_code(Oid function, void *context)
{
	return function >= FirstNormalObjectId || !looks_at_arguments_only(function);
}

/* Whether an expression is more than constants, parameters and built-in functions of them, the time included. */
static bool
varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Aggref:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_CoerceToDomain:
			return true;
		case T_SQLValueFunction:
			return TypeCategory(((SQLValueFunction *) node)->type) != TYPCATEGORY_DATETIME;
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		default:
			return check_functions_in_node(node, is_not_constant_code, NULL) ||
				expression_tree_walker(node, varies, context);
	}
}

/* The value of an argument that must be the same for every row. */
static Datum
constant_argument(EState *estate, List *arguments, int n, const char *name, bool *isnull)
{
	Expr	   *expression = list_nth_node(TargetEntry, arguments, n)->expr;
	ExprContext *context = GetPerTupleExprContext(estate);
	ExprState  *state;

	if (varies((Node *) expression, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s of a dp_ aggregate must be a constant or a parameter", name),
				 errhint("A bound or price that depends on rows would tell about them.")));
	state = ExecInitExprWithParams(expression, estate->es_param_list_info);
	context->ecxt_param_list_info = estate->es_param_list_info;
	return ExecEvalExpr(state, context, isnull);
}

static double
bound_of_site(EState *estate, List *arguments, int n, const char *name, Oid type)
{
	bool		isnull;
	Datum		value = constant_argument(estate, arguments, n, name, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s of a dp_ aggregate must not be NULL", name)));
	return value_as_double(type, value);
}

/* Distinct values are told apart by a hash: a type without one is refused before anything is paid. */
static void
check_countable(const char *function, Oid type)
{
	if (strcmp(function, "dp_count_distinct") == 0 &&
		!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("values of type %s cannot be told apart by a hash", format_type_be(type))));
}

/* Reads (value [, fraction] [, lower, upper] [, epsilon]). */
static Site *
describe_site(EState *estate, Aggref *aggref)
{
	Site	   *site = palloc0(sizeof(Site));
	List	   *arguments = NIL;
	ListCell   *cell;
	int			at = 1;
	bool		isnull;

	foreach(cell, aggref->args)
		if (!lfirst_node(TargetEntry, cell)->resjunk)
			arguments = lappend(arguments, lfirst(cell));
	site->aggno = aggref->aggno;
	site->function = get_func_name(aggref->aggfnoid);
	site->sets = 1;
	site->fraction = 0.5;
	if (arguments == NIL)
		return site;
	check_countable(site->function, exprType((Node *) linitial_node(TargetEntry, arguments)->expr));
	site->type = getBaseType(exprType((Node *) linitial_node(TargetEntry, arguments)->expr));
	if (strcmp(site->function, "dp_quantile") == 0)
	{
		site->fraction = DatumGetFloat8(constant_argument(estate, arguments, at++, "fraction", &isnull));
		if (isnull || !(site->fraction >= 0 && site->fraction <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("fraction of a quantile must be between 0 and 1")));
	}
	if (strncmp(site->function, "dp_count", 8) != 0)
	{
		if (!is_bounded_type(site->type))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("%s has no meaning for values of type %s", site->function, format_type_be(site->type)),
					 errhint("It takes numbers, dates and timestamps.")));
		site->lower = bound_of_site(estate, arguments, at++, "lower bound", site->type);
		site->upper = bound_of_site(estate, arguments, at++, "upper bound", site->type);
		check_bounds(site->lower, site->upper);
	}
	if (at < list_length(arguments))
	{
		Datum		epsilon = constant_argument(estate, arguments, at, "epsilon", &isnull);
		double		number = get_float8_nan();

		if (!isnull && !isnan(numeric_as_double(epsilon)))
		{
			/* what is charged is what the noise is made for: twelve decimals of it */
			epsilon = DirectFunctionCall1(numeric_trim_scale,
										  DirectFunctionCall2(numeric_round, epsilon, Int32GetDatum(12)));
			number = numeric_as_double(epsilon);
		}
		if (!(number >= 1e-9 && number <= 100))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("epsilon of a dp_ aggregate must be a number from 1e-9 to 100")));
		site->epsilon = DatumGetCString(DirectFunctionCall1(numeric_out, epsilon));
	}
	return site;
}

/* The dp_ aggregates that a node finishes, each once however often the statement writes it. */
static List *
sites_of(AggState *node)
{
	Agg		   *plan = (Agg *) node->ss.ps.plan;
	List	   *sites = NIL;
	int			sets = Max(list_length(plan->groupingSets), 1);
	ListCell   *cell;

	foreach(cell, plan->chain)
		sets += Max(list_length(lfirst_node(Agg, cell)->groupingSets), 1);
	foreach(cell, node->aggs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, cell);
		ListCell   *known;
		Site	   *site;

		if (!is_dp_aggregate(aggref->aggfnoid))
			continue;
		foreach(known, sites)
			if (((Site *) lfirst(known))->aggno == aggref->aggno)
				break;
		if (known != NULL)
			continue;
		if (DO_AGGSPLIT_COMBINE(aggref->aggsplit))
		{
			PartialSearch search = {aggref->aggno, NULL};

			find_partial(outerPlanState(node), &search);
			if (search.found == NULL)
				elog(ERROR, "a dp_ aggregate without its partial states");
			aggref = search.found;
		}
		site = describe_site(node->ss.ps.state, aggref);
		site->sets = sets;
		sites = lappend(sites, site);
	}
	return sites;
}

static void
append_json_text(StringInfo json, const char *key, const char *value)
{
	if (json->data[json->len - 1] != '{')
		appendStringInfoChar(json, ',');
	escape_json(json, key);
	appendStringInfoChar(json, ':');
	if (value == NULL)
		appendStringInfoString(json, "null");
	else
		escape_json(json, value);
}

static void
append_json_relations(StringInfo json, const char *key, PlannedStmt *statement, Bitmapset *indexes)
{
	const char *comma = "";

	appendStringInfo(json, ",\"%s\":[", key);
	for (int index = -1; (index = bms_next_member(indexes, index)) >= 0; comma = ",")
		appendStringInfo(json, "%s%u", comma, rt_fetch(index, statement->rtable)->relid);
	appendStringInfoChar(json, ']');
}

/* Every relation that the statement reads beside the aggregate's own input. */
static Bitmapset *
relations_outside(PlannedStmt *statement, Bitmapset *inside)
{
	Bitmapset  *outside = NULL;

	for (int index = 1; index <= list_length(statement->rtable); index++)
	{
		RangeTblEntry *relation = rt_fetch(index, statement->rtable);

		if (relation->rtekind == RTE_RELATION && relation->relkind != RELKIND_VIEW)
			outside = bms_add_member(outside, index);
	}
	for (int index = -1; (index = bms_next_member(inside, index)) >= 0;)
	{
		ListCell   *cell;

		outside = bms_del_member(outside, index);
		outside = bms_del_member(outside, named_relation(statement, index));
		foreach(cell, statement->appendRelations)
			if (named_relation(statement, lfirst_node(AppendRelInfo, cell)->child_relid) ==
				named_relation(statement, index))
				outside = bms_del_member(outside, lfirst_node(AppendRelInfo, cell)->child_relid);
	}
	return outside;
}

static void
append_json_sites(StringInfo json, const char *key, List *sites)
{
	ListCell   *cell;
	const char *comma = "";

	appendStringInfo(json, ",\"%s\":[", key);
	foreach(cell, sites)
	{
		Site	   *site = lfirst(cell);

		appendStringInfo(json, "%s{", comma);
		append_json_text(json, "function", site->function);
		append_json_text(json, "epsilon", site->epsilon);
		appendStringInfo(json, ",\"sets\":%d}", site->sets);
		comma = ",";
	}
	appendStringInfoChar(json, ']');
}

/* What _ledger_charge_aggregates wants to know; all_sites are those of the whole statement. */
static char *
charge_request(QueryDesc *query, PaidNode *paid, Input *input, List *all_sites)
{
	StringInfoData json;
	const char *question = query->sourceText ? query->sourceText : "";
	char	   *unreadable = NULL;

	/* what comes from elsewhere in the statement may come from a sequence of numbers, not from rows of a table */
	if (input->steered && (input->statement->hasModifyingCTE ||
						   !bms_is_empty(relations_outside(input->statement, input->inside))))
		find_unsafe(input, "a value that depends on other rows");
	/* a plan that reads nothing, as under WHERE false, is about the tables that the statement names */
	if (bms_is_empty(input->inside) && input->statement->commandType == CMD_SELECT)
		input->inside = relations_outside(input->statement, NULL);
	for (int index = -1; (index = bms_next_member(input->inside, index)) >= 0 && unreadable == NULL;)
		if (!session_user_may_read(input->statement, index))
			unreadable = get_rel_name(rt_fetch(index, input->statement->rtable)->relid);

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_json_text(&json, "role", GetUserNameFromId(GetSessionUserId(), false));
	append_json_text(&json, "question", pnstrdup(question, pg_mbcliplen(question, strlen(question), 8000)));
	append_json_text(&json, "wish", double_to_shortest_decimal(epsilon_wish));
	append_json_text(&json, "unreadable", unreadable);
	append_json_text(&json, "unsafe", input->unsafe);
	append_json_relations(&json, "inside", input->statement, input->inside);
	append_json_sites(&json, "sites", paid->sites);
	append_json_sites(&json, "all_sites", all_sites);
	appendStringInfoChar(&json, '}');
	return json.data;
}

/* The settings on which built-in functions depend. */
char *
settings_of_meaning(void)
{
	return psprintf("%s %d %d %d %d %d", pg_get_timezone_name(session_timezone), DateStyle, DateOrder, IntervalStyle,
					extra_float_digits, bytea_output);
}

/* Pays for one scan of a node, durably, or throws. */
static void
pay(PaidNode *paid)
{
	MemoryContext before = MemoryContextSwitchTo(paid->node->ss.ps.state->es_query_cxt);
	Jsonb	   *answer = ledger_call("charge_aggregates", paid->request);
	char	   *amounts = text_field(answer, "amounts");
	ListCell   *cell;

	paid->settings = settings_of_meaning();
	paid->accounting = text_field(answer, "accounting");
	paid->neighbours = text_field(answer, "neighbours");
	if (amounts == NULL || paid->accounting == NULL || paid->neighbours == NULL)
		elog(ERROR, "the ledger's answer is incomplete");
	foreach(cell, paid->sites)
	{
		char	   *amount = strsep(&amounts, ",");

		if (amount == NULL || *amount == '\0')
			elog(ERROR, "the ledger's answer is incomplete");
		((Site *) lfirst(cell))->amount = amount;
	}
	MemoryContextSwitchTo(before);
}

/*
 * Steps in before a paid node computes. Instrumentation tells the first call of a scan from the others: it runs from
 * the first row on, and every rescan stops it.
 */
static TupleTableSlot *
compute_paid(PlanState *state)
{
	PaidNode   *paid = find_paid(state);

	if (paid == NULL)
		elog(ERROR, "a dp_ aggregate is computed that was not paid for");
	if (!state->instrument->running)
	{
		paid->scans++;
		if (paid->whole->paid_scans < paid->scans)
		{
			pay(paid->whole);
			paid->whole->paid_scans = paid->scans;
		}
		paid->sites = paid->whole->sites;
		paid->accounting = paid->whole->accounting;
		paid->neighbours = paid->whole->neighbours;
		paid->settings = paid->whole->settings;
	}
	return paid->compute(state);
}

/*
 * A window function's number would be drawn anew for every row. Whether there are rows must not matter, so this is
 * said before they are read.
 */
static void
refuse_window_functions(WindowAggState *state)
{
	ListCell   *cell;

	foreach(cell, state->funcs)
		if (is_dp_aggregate(lfirst_node(WindowFuncExprState, cell)->wfunc->winfnoid))
			ereport(ERROR,
					(errcode(ERRCODE_REFUSED_SHAPE),
					 errmsg("dp_ aggregates are not window functions"),
					 errhint("Aggregate in a subquery, and put the window function around it.")));
}

static pg_attribute_hot bool
find_nodes(PlanState *state, List **nodes)
{
	if (state == NULL)
		return false;
	if (IsA(state, WindowAggState))
		refuse_window_functions((WindowAggState *) state);
	if (IsA(state, AggState) && !DO_AGGSPLIT_SKIPFINAL(((AggState *) state)->aggsplit))
	{
		ListCell   *cell;

		foreach(cell, ((AggState *) state)->aggs)
			if (is_dp_aggregate(lfirst_node(Aggref, cell)->aggfnoid))
			{
				*nodes = list_append_unique_ptr(*nodes, state);
				break;
			}
	}
	return planstate_tree_walker(state, find_nodes, nodes);
}

static bool
contains_dp_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && is_dp_aggregate(((Aggref *) node)->aggfnoid))
		return true;
	return expression_tree_walker(node, contains_dp_aggregate, context);
}

/* Whether a worker could finish a dp_ aggregate: it has no ledger, and each worker would draw noise of its own. */
static bool
finishes_in_worker(Plan *plan, bool below_gather)
{
	ListCell   *cell;

	below_gather |= IsA(plan, Gather) || IsA(plan, GatherMerge);
	if (below_gather && IsA(plan, Agg) && !DO_AGGSPLIT_SKIPFINAL(((Agg *) plan)->aggsplit) &&
		(contains_dp_aggregate((Node *) plan->targetlist, NULL) || contains_dp_aggregate((Node *) plan->qual, NULL)))
		return true;
	foreach(cell, plans_below(plan))
		if (finishes_in_worker(lfirst(cell), below_gather))
			return true;
	return false;
}

/* Before a statement that has workers starts. */
void
keep_dp_aggregates_in_leader(QueryDesc *query)
{
	PlannedStmt *statement = query->plannedstmt;
	bool		in_worker = finishes_in_worker(statement->planTree, false);
	ListCell   *cell;

	/* an expression in a worker may run a subplan, wherever its own place is */
	foreach(cell, statement->subplans)
		in_worker = in_worker || (lfirst(cell) != NULL && finishes_in_worker(lfirst(cell), true));
	if (in_worker)
	{
		PlannedStmt *serial = makeNode(PlannedStmt);

		*serial = *statement;
		serial->parallelModeNeeded = false;
		query->plannedstmt = serial;
	}
}

/* Looks at what feeds a node. */
static Input *
input_of(AggState *node, PlannedStmt *statement)
{
	Agg		   *plan = (Agg *) node->ss.ps.plan;
	Input	   *input = palloc0(sizeof(Input));

	input->statement = statement;
	input->filtered = plan->numCols > 0 || plan->groupingSets != NIL;
	look_at_expression((Node *) node->aggs, input);
	look_at_input(outerPlan(plan), input);
	return input;
}

/* The one relation of the statement that a node reads, itself or in part; 0 where there is none or more than one. */
static Index
relation_read(Input *input)
{
	Index		found = 0;

	for (int index = -1; (index = bms_next_member(input->inside, index)) >= 0;)
	{
		Index		named = named_relation(input->statement, index);

		if (found != 0 && found != named)
			return 0;
		found = named;
	}
	return found;
}

/*
 * Nodes that read parts of one and the same range table entry are one call site: the planner aggregates partition by
 * partition, and nobody is in two of the groups.
 */
static PaidNode *
whole_of(PaidNode *paid, Input *input, List *payments, List *inputs)
{
	ListCell   *cell;
	ListCell   *input_cell;

	forboth(cell, payments, input_cell, inputs)
	{
		PaidNode   *other = lfirst(cell);

		if (relation_read(input) != 0 && relation_read(lfirst(input_cell)) == relation_read(input) &&
			list_length(other->sites) == list_length(paid->sites) &&
			((Site *) linitial(other->sites))->aggno == ((Site *) linitial(paid->sites))->aggno)
			return other->whole;
	}
	return paid;
}

/* Nothing is charged before every call site is known to make sense. */
static pg_noinline void
pay_for_nodes(QueryDesc *query, List *nodes)
{
	List	   *payments = NIL;
	List	   *inputs = NIL;
	List	   *all_sites = NIL;
	MemoryContext before;
	ListCell   *cell;
	ListCell   *input_cell;

	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("dp_ aggregates cannot be used within a security-restricted operation"),
				 errhint("A materialized view or an index would ask for whoever maintains it; use CREATE TABLE AS.")));

	before = MemoryContextSwitchTo(query->estate->es_query_cxt);
	foreach(cell, nodes)
	{
		PaidNode   *paid = palloc0(sizeof(PaidNode));
		Input	   *input;

		paid->node = lfirst(cell);
		paid->sites = sites_of(paid->node);
		input = input_of(paid->node, query->plannedstmt);
		paid->whole = whole_of(paid, input, payments, inputs);
		if (paid->whole == paid)
			all_sites = list_concat(all_sites, paid->sites);
		payments = lappend(payments, paid);
		inputs = lappend(inputs, input);
	}
	forboth(cell, payments, input_cell, inputs)
	{
		PaidNode   *paid = lfirst(cell);
		Input	   *input = lfirst(input_cell);

		paid->filtered = input->filtered;
		paid->request = charge_request(query, paid, input, all_sites);
		paid->compute = paid->node->ss.ps.ExecProcNodeReal;
		if (paid->node->ss.ps.instrument == NULL)
			paid->node->ss.ps.instrument = InstrAlloc(1, INSTRUMENT_ROWS, false);
		ExecSetExecProcNode(&paid->node->ss.ps, compute_paid);
		paid->forget.func = forget_paid;
		paid->forget.arg = paid;
		dlist_push_head(&paid_nodes, &paid->link);
		MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &paid->forget);
	}
	foreach(cell, payments)
	{
		PaidNode   *paid = lfirst(cell);

		if (paid->whole != paid)
			continue;
		pay(paid);
		paid->paid_scans = 1;
	}
	MemoryContextSwitchTo(before);
}

/* When a statement has started, before any row is read. */
pg_attribute_hot void
pay_at_start(QueryDesc *query)
{
	List	   *nodes = NIL;
	ListCell   *cell;

	find_nodes(query->planstate, &nodes);
	/* some nodes, as that of a recursive WITH query, find their subplans later */
	foreach(cell, query->estate->es_subplanstates)
		find_nodes(lfirst(cell), &nodes);
	if (nodes != NIL)
		pay_for_nodes(query, nodes);
}

/*
 * Before planning, since the planner evaluates functions of constants, and drops conditions that an index implies: a
 * statement with dp_ aggregates runs no code of users and changes no setting while they are computed.
 */
static bool
finds_dp_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, finds_dp_aggregate, context, 0);
	if (IsA(node, Aggref) && is_dp_aggregate(((Aggref *) node)->aggfnoid))
		return true;
	return expression_tree_walker(node, finds_dp_aggregate, context);
}

static bool
refuse_function(Oid function, void *context)
{
	if (!is_harmless_anywhere(function))
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("dp_ aggregates cannot bound one person's influence through function %s",
						get_func_name(function)),
				 errhint("Ask through discreet.query(), which bounds what one person can change. Beside dp_ aggregates "
						 "only built-in functions that change nothing can stand.")));
	return false;
}

static bool
refuse_functions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		ListCell   *cell;

		foreach(cell, ((Query *) node)->rtable)
			if (list_member_oid(multilevel_relations(false), lfirst_node(RangeTblEntry, cell)->relid))
				ereport(ERROR,
						(errcode(ERRCODE_REFUSED_SHAPE),
						 errmsg("dp_ aggregates do not read multilevel tables, where a person may have several versions"),
						 errhint("Ask through discreet.query(), which bounds what one person can change.")));
		return query_tree_walker((Query *) node, refuse_functions, context, 0);
	}
	check_functions_in_node(node, refuse_function, context);
	return expression_tree_walker(node, refuse_functions, context);
}

/* Most statements have no aggregate, nor another query inside that could have one: they pay for no more than this look. */
pg_attribute_hot bool
may_aggregate(Query *query)
{
	ListCell   *cell;

	if (query->hasAggs || query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			return true;
	return false;
}

/* Before planning, of a query that may aggregate. */
void
refuse_code_beside_aggregates(Query *query)
{
	if (finds_dp_aggregate((Node *) query, NULL))
		refuse_functions((Node *) query, NULL);
}
