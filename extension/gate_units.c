/*
 * gate_units.c: which column of a table an expression is, through subqueries, WITH queries, joins and views.
 *
 * A subquery that groups by the people of a protected table, or by its rows, has a row for each of them, or several, and is
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
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define DEEPEST 100				/* views and subqueries below each other */
#define MOST_LOOKS 1000			/* WITH queries that are named twice each would be looked at without end */

/* What is asked of a column of a table. */
typedef bool (*ColumnTest) (Oid table, AttrNumber number);

/* A query, and those around it, whose WITH queries it may name; `looks`: at columns, so far. */
typedef struct Place
{
	Query	   *query;
	struct Place *around;
	int		   *looks;
} Place;

static bool is_column(Place *place, Node *node, ColumnTest test, int depth);
static bool is_column_below(Query *query, Place place, AttrNumber number, ColumnTest test, int depth);

/* What a function of the extension says of a column of a table. */
static bool
is_said_of(const char *name, Oid table, AttrNumber number)
{
	Oid			types[] = {OIDOID, INT2OID};
	Oid			function = own_function(name, lengthof(types), types);
	bool		snapshot = ActiveSnapshotSet();
	bool		said;

	if (!OidIsValid(function) || table < FirstNormalObjectId)
		return false;
	if (!snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	said = DatumGetBool(OidFunctionCall2(function, ObjectIdGetDatum(table), Int16GetDatum(number)));
	if (!snapshot)
		PopActiveSnapshot();
	return said;
}

/* Whether rows that agree in a column belong to one person. */
static bool
tells_person(Oid table, AttrNumber number)
{
	return is_said_of("_tells_person", table, number);
}

/* Whether a curator has hidden a column. */
static bool
is_hidden(Oid table, AttrNumber number)
{
	return is_said_of("_is_hidden", table, number);
}

/* Of a column of UNION, INTERSECT or EXCEPT all sides are asked. */
static bool
is_column_of_sides(Place *below, Node *sides, AttrNumber number, ColumnTest test, int depth)
{
	SetOperationStmt *both = (SetOperationStmt *) sides;

	if (IsA(sides, RangeTblRef))
		return is_column_below(rt_fetch(((RangeTblRef *) sides)->rtindex, below->query->rtable)->subquery,
							   (Place) {NULL, below, below->looks}, number, test, depth + 1);
	check_stack_depth();
	return is_column_of_sides(below, both->larg, number, test, depth) &&
		is_column_of_sides(below, both->rarg, number, test, depth);
}

/* `below`: the place of the query, which is yet to be put there. */
static bool
is_column_below(Query *query, Place below, AttrNumber number, ColumnTest test, int depth)
{
	TargetEntry *target = get_tle_by_resno(query->targetList, number);

	below.query = query;
	if (query->setOperations != NULL)
		return depth <= DEEPEST && is_column_of_sides(&below, query->setOperations, number, test, depth);
	return target != NULL && is_column(&below, (Node *) target->expr, test, depth + 1);
}

static bool
is_column_of_relation(RangeTblEntry *entry, int *looks, AttrNumber number, ColumnTest test, int depth)
{
	Relation	view;
	bool		found;

	if (entry->relkind != RELKIND_VIEW || test(entry->relid, number))
		return test(entry->relid, number);
	view = relation_open(entry->relid, AccessShareLock);
	found = is_column_below(get_view_query(view), (Place) {NULL, NULL, looks}, number, test, depth);
	relation_close(view, NoLock);
	return found;
}

/* Of a WITH query of this query, or of one around it. */
static bool
is_column_of_with(Place *place, RangeTblEntry *entry, AttrNumber number, ColumnTest test, int depth)
{
	ListCell   *cell;

	for (Index level = entry->ctelevelsup; place != NULL && level > 0; level--)
		place = place->around;
	foreach(cell, place != NULL ? place->query->cteList : NIL)
	{
		CommonTableExpr *with = lfirst_node(CommonTableExpr, cell);

		if (strcmp(with->ctename, entry->ctename) == 0)
			return is_column_below(castNode(Query, with->ctequery), (Place) {NULL, place, place->looks}, number, test,
								   depth);
	}
	return false;
}

/* Whether an expression of a query is a column that passes the test, by whatever name. */
static bool
is_column(Place *place, Node *node, ColumnTest test, int depth)
{
	Query	   *query = place->query;
	Var		   *column;
	RangeTblEntry *entry;

	CHECK_FOR_INTERRUPTS();
	if (++*place->looks > MOST_LOOKS)
		return false;
	node = ungrouped(query, node);
	column = (Var *) node;
	if (node != NULL && IsA(node, RelabelType))
		return is_column(place, (Node *) ((RelabelType *) node)->arg, test, depth);
	if (node == NULL || !IsA(node, Var) || column->varlevelsup != 0 || column->varattno <= 0 || depth > DEEPEST)
		return false;
	entry = rt_fetch(column->varno, query->rtable);
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			return is_column_of_relation(entry, place->looks, column->varattno, test, depth);
		case RTE_SUBQUERY:
			return is_column_below(entry->subquery, (Place) {NULL, place, place->looks}, column->varattno, test, depth);
		case RTE_JOIN:
			return is_column(place, list_nth(entry->joinaliasvars, column->varattno - 1), test, depth + 1);
		case RTE_CTE:
			return is_column_of_with(place, entry, column->varattno, test, depth);
		default:
			return false;
	}
}

bool
groups_by_people(Query *query)
{
	int			looks = 0;
	Place		place = {query, NULL, &looks};
	ListCell   *cell;

	foreach(cell, query->groupClause)
		if (is_column(&place, get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), query->targetList), tells_person, 0))
			return true;
	return false;
}

/* Whether an expression of a query is a hidden column, by whatever name. */
bool
is_hidden_column(Query *query, Node *node)
{
	int			looks = 0;
	Place		place = {query, NULL, &looks};

	return is_column(&place, node, is_hidden, 0);
}
