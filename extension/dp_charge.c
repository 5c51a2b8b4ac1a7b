/*
 * dp_charge.c: finds the dp_ aggregates of a statement, and pays before any row is read; every rescan is paid again.
 */
#include "dp.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

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

/*
 * The keys of what an aggregate reads, in the snapshot that it is read with. That of a STABLE function, a cursor or a
 * REPEATABLE READ transaction may be older than a key, and hold rows from before.
 */
static char *
keys_seen(QueryDesc *query, Input *input)
{
	Oid			type = OIDARRAYOID;
	Oid			function = own_function("_single_columns", 1, &type);
	ArrayBuildState *relations = initArrayResult(OIDOID, CurrentMemoryContext, false);
	Jsonb	   *keys;

	if (!OidIsValid(function))
		elog(ERROR, "discreet._single_columns is missing");
	for (int index = -1; (index = bms_next_member(input->inside, index)) >= 0;)
		accumArrayResult(relations, ObjectIdGetDatum(rt_fetch(index, input->statement->rtable)->relid), false, OIDOID,
						 CurrentMemoryContext);
	PushActiveSnapshot(query->estate->es_snapshot);
	keys = DatumGetJsonbP(OidFunctionCall1(function, makeArrayResult(relations, CurrentMemoryContext)));
	PopActiveSnapshot();
	return JsonbToCString(NULL, &keys->root, VARSIZE(keys));
}

/* What _priced_aggregates wants to know of a node; all_sites are those of the whole statement. */
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
	appendStringInfo(&json, ",\"keys\":%s", keys_seen(query, input));
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

/* Keeps what the ledger says about a node that was paid for. */
static void
take_price(PaidNode *paid, JsonbValue *price)
{
	Jsonb	   *answer = price == NULL ? NULL : JsonbValueToJsonb(price);
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
}

/* Pays for one scan of each of some nodes of a statement, durably, or throws: for all or for none. */
static void
pay(List *nodes)
{
	MemoryContext before =
		MemoryContextSwitchTo(((PaidNode *) linitial(nodes))->node->ss.ps.state->es_query_cxt);
	StringInfoData request;
	Jsonb	   *answer;
	ListCell   *cell;

	initStringInfo(&request);
	foreach(cell, nodes)
		appendStringInfo(&request, "%c%s", foreach_current_index(cell) == 0 ? '[' : ',',
						 ((PaidNode *) lfirst(cell))->request);
	appendStringInfoChar(&request, ']');
	answer = ledger_call("charge_aggregates", request.data);
	if (answer == NULL || !JB_ROOT_IS_ARRAY(answer))
		elog(ERROR, "the ledger's answer is incomplete");
	foreach(cell, nodes)
		take_price(lfirst(cell), getIthJsonbValueFromContainer(&answer->root, foreach_current_index(cell)));
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
			pay(list_make1(paid->whole));
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

/*
 * Nodes that read parts of one and the same range table entry are one call site: the planner aggregates partition by
 * partition, and no row is in two of the groups.
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

/* Nothing is charged before every call site is known to make sense, to be allowed and to be affordable. */
static pg_noinline void
pay_for_nodes(QueryDesc *query, List *nodes)
{
	List	   *payments = NIL;
	List	   *inputs = NIL;
	List	   *all_sites = NIL;
	List	   *due = NIL;
	MemoryContext before;
	ListCell   *cell;
	ListCell   *input_cell;

	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("dp_ aggregates cannot be used within a security-restricted operation"),
				 errhint("A materialized view or an index would ask with the rights of the role that maintains it; use CREATE TABLE AS.")));

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
		if (((PaidNode *) lfirst(cell))->whole == lfirst(cell))
			due = lappend(due, lfirst(cell));
	pay(due);
	foreach(cell, due)
		((PaidNode *) lfirst(cell))->paid_scans = 1;
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
