/*
 * gate_with.c: WITH queries, moved to where they are named. In
 *
 *     WITH base AS (SELECT * FROM person WHERE …), by_city AS (SELECT city, count(*) FROM base GROUP BY city) SELECT … FROM by_city
 *
 * by_city is an answer of its own, which cannot be asked for while what it reads stands outside of it. It gets a copy of base. That
 * both give the same rows is PostgreSQL's own rule for WITH queries that only read.
 */
#include "discreet.h"

#include "nodes/nodeFuncs.h"

typedef struct Moving
{
	List	   *all;			/* WITH queries of the query around, as they were */
	bool	   *named;			/* which of them are */
	int			depth;			/* of the query that is looked at, below the one around */
	bool		lower;			/* to let their names mean those of the query itself */
} Moving;

static bool
look_for_names(Node *node, Moving *moving)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		if (entry->rtekind == RTE_CTE && entry->ctelevelsup == moving->depth)
		{
			for (int n = 0; n < list_length(moving->all); n++)
				if (strcmp(list_nth_node(CommonTableExpr, moving->all, n)->ctename, entry->ctename) == 0)
					moving->named[n] = true;
			if (moving->lower)
				entry->ctelevelsup--;
		}
		return false;
	}
	if (IsA(node, Query))
	{
		moving->depth++;
		query_tree_walker((Query *) node, look_for_names, (void *) moving, QTW_EXAMINE_RTES_BEFORE);
		moving->depth--;
		return false;
	}
	return expression_tree_walker(node, look_for_names, (void *) moving);
}

/* Whether WITH queries are like subqueries: they only read, and not themselves. */
static bool
only_reads(CommonTableExpr *with)
{
	return !with->cterecursive && castNode(Query, with->ctequery)->commandType == CMD_SELECT;
}

/* Copies into a query those WITH queries of the query around it that it names, and those that they name. */
static void
move_into(Query *query, List *all, List *guarded)
{
	Moving		moving = {all, palloc0(sizeof(bool) * list_length(all))};
	List	   *copies = NIL;
	bool		guards = false;
	ListCell   *cell;

	look_for_names((Node *) query, &moving);
	for (int n = list_length(all) - 1; n >= 0; n--)
	{
		CommonTableExpr *with = list_nth_node(CommonTableExpr, all, n);

		if (!moving.named[n])
			continue;
		if (!only_reads(with))
			return;
		foreach(cell, query->cteList)
			if (strcmp(lfirst_node(CommonTableExpr, cell)->ctename, with->ctename) == 0)
				return;
		look_for_names(with->ctequery, &moving);
		guards |= reaches_guarded(castNode(Query, with->ctequery), guarded);
		copies = lcons(copyObject(with), copies);
	}
	if (!guards)
		return;
	moving.lower = true;
	look_for_names((Node *) query, &moving);
	query->cteList = list_concat(copies, query->cteList);
}

typedef struct Below
{
	List	   *all;
	List	   *guarded;
} Below;

static bool
move_into_sublinks(Node *node, Below *below)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		move_into((Query *) node, below->all, below->guarded);
		return false;
	}
	return expression_tree_walker(node, move_into_sublinks, (void *) below);
}

/* A copy of a query in which the queries directly below it have what they name of its WITH queries. */
Query *
with_queries_moved(Query *query, List *guarded)
{
	Query	   *moved = copyObject(query);
	Below		below = {copyObject(query->cteList), guarded};
	ListCell   *cell;

	foreach(cell, moved->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			move_into(lfirst_node(RangeTblEntry, cell)->subquery, below.all, guarded);
	foreach(cell, moved->cteList)
		if (only_reads(lfirst_node(CommonTableExpr, cell)))
			move_into(castNode(Query, lfirst_node(CommonTableExpr, cell)->ctequery), below.all, guarded);
	query_tree_walker(moved, move_into_sublinks, (void *) &below, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	drop_unnamed_queries(moved, true);
	return moved;
}
