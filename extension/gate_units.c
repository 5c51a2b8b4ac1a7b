/*
 * gate_units.c: which column of a table an expression is, through subqueries, WITH queries, joins and views.
 *
 * A subquery that groups by the people of a protected table has a row for each of them, or several, and is
 * no answer: it belongs to the question around it, which the gate is asked as a whole. Whether that is private is the gate's
 * own decision; a mistake here only leads to another refusal. And tools that ask for the columns of a table are not told of
 * hidden ones.
 */
#include "discreet.h"

#include "access/relation.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define DEEPEST 100				/* views and subqueries below each other */

/* What is asked of a column of a table. */
typedef bool (*ColumnTest) (Oid table, AttrNumber number);

static bool is_column(Query *query, Node *node, ColumnTest test, int depth);

/* The column of a table that names its people; 0 where it has none. */
static AttrNumber
unit_column(Oid table)
{
	Oid			type = OIDOID;
	Oid			function = own_function("_unit_column", 1, &type);
	bool		snapshot = ActiveSnapshotSet();
	LOCAL_FCINFO(call, 1);
	FmgrInfo	info;
	Datum		column;

	if (!OidIsValid(function) || table < FirstNormalObjectId)
		return 0;
	if (!snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	fmgr_info(function, &info);
	InitFunctionCallInfoData(*call, &info, 1, InvalidOid, NULL, NULL);
	call->args[0].value = ObjectIdGetDatum(table);
	call->args[0].isnull = false;
	column = FunctionCallInvoke(call);
	if (!snapshot)
		PopActiveSnapshot();
	return call->isnull ? 0 : DatumGetInt16(column);
}

static bool
names_people(Oid table, AttrNumber number)
{
	return number == unit_column(table);
}

/* Whether a curator has declared that nobody asks about a column. */
static bool
is_hidden(Oid table, AttrNumber number)
{
	Oid			types[] = {OIDOID, INT2OID};
	Oid			function = own_function("_is_hidden", lengthof(types), types);
	bool		snapshot = ActiveSnapshotSet();
	bool		hidden;

	if (!OidIsValid(function) || table < FirstNormalObjectId)
		return false;
	if (!snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	hidden = DatumGetBool(OidFunctionCall2(function, ObjectIdGetDatum(table), Int16GetDatum(number)));
	if (!snapshot)
		PopActiveSnapshot();
	return hidden;
}

static bool
is_column_below(Query *below, AttrNumber number, ColumnTest test, int depth)
{
	TargetEntry *target = get_tle_by_resno(below->targetList, number);

	return target != NULL && below->setOperations == NULL && is_column(below, (Node *) target->expr, test, depth + 1);
}

static bool
is_column_of_relation(RangeTblEntry *entry, AttrNumber number, ColumnTest test, int depth)
{
	Relation	view;
	bool		found;

	if (entry->relkind != RELKIND_VIEW || unit_column(entry->relid) != 0)
		return test(entry->relid, number);
	view = relation_open(entry->relid, AccessShareLock);
	found = is_column_below(get_view_query(view), number, test, depth);
	relation_close(view, NoLock);
	return found;
}

/* Whether an expression of a query is a column that passes the test, by whatever name. */
static bool
is_column(Query *query, Node *node, ColumnTest test, int depth)
{
	Var		   *column;
	RangeTblEntry *entry;
	ListCell   *cell;

	node = ungrouped(query, node);
	column = (Var *) node;
	if (node != NULL && IsA(node, RelabelType))
		return is_column(query, (Node *) ((RelabelType *) node)->arg, test, depth);
	if (node == NULL || !IsA(node, Var) || column->varlevelsup != 0 || column->varattno <= 0 || depth > DEEPEST)
		return false;
	entry = rt_fetch(column->varno, query->rtable);
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			return is_column_of_relation(entry, column->varattno, test, depth);
		case RTE_SUBQUERY:
			return is_column_below(entry->subquery, column->varattno, test, depth);
		case RTE_JOIN:
			return is_column(query, list_nth(entry->joinaliasvars, column->varattno - 1), test, depth + 1);
		case RTE_CTE:
			foreach(cell, entry->ctelevelsup == 0 ? query->cteList : NIL)
			{
				CommonTableExpr *with = lfirst_node(CommonTableExpr, cell);

				if (strcmp(with->ctename, entry->ctename) == 0)
					return is_column_below(castNode(Query, with->ctequery), column->varattno, test, depth);
			}
			return false;
		default:
			return false;
	}
}

bool
groups_by_people(Query *query)
{
	ListCell   *cell;

	foreach(cell, query->groupClause)
		if (is_column(query, get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), query->targetList), names_people, 0))
			return true;
	return false;
}

/* Whether an expression of a query is a hidden column, by whatever name. */
bool
is_hidden_column(Query *query, Node *node)
{
	return is_column(query, node, is_hidden, 0);
}
