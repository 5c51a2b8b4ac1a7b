/*
 * gate_clock.c: time as the session sees it. Inside the gate the time zone is UTC.
 *
 * A moment that is made from dates and timestamps without a time zone, as date_trunc('month', day) is, therefore comes out of the
 * gate as a reading of the clock on the wall, and gets the time zone of the session outside.
 */
#include "discreet.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"

/* Whether a timestamptz is made of nothing that has a time zone. */
bool
is_wall_clock(Query *query, Node *node)
{
	node = ungrouped(query, node);
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno > 0)
	{
		Var		   *column = (Var *) node;
		RangeTblEntry *entry = rt_fetch(column->varno, query->rtable);

		if (entry->rtekind == RTE_FUNCTION && list_length(entry->functions) == 1)
			return is_wall_clock(query, linitial_node(RangeTblFunction, entry->functions)->funcexpr);
		return entry->rtekind == RTE_SUBQUERY && entry->subquery->setOperations == NULL &&
			is_wall_clock(entry->subquery,
						  (Node *) get_tle_by_resno(entry->subquery->targetList, column->varattno)->expr);
	}
	if (IsA(node, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) node;

		if (call->funcid == F_TIMESTAMPTZ_DATE || call->funcid == F_TIMESTAMPTZ_TIMESTAMP)
			return exprType(linitial(call->args)) != TIMESTAMPTZOID;
		if (call->funcid == F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL)
			return is_wall_clock(query, linitial(call->args)) || is_wall_clock(query, lsecond(call->args));
		return call->funcid == F_DATE_TRUNC_TEXT_TIMESTAMPTZ && is_wall_clock(query, lsecond(call->args));
	}
	if (IsA(node, OpExpr))
	{
		OpExpr	   *operation = (OpExpr *) node;

		return (operation->opfuncid == F_TIMESTAMPTZ_PL_INTERVAL || operation->opfuncid == F_TIMESTAMPTZ_MI_INTERVAL) &&
			is_wall_clock(query, linitial(operation->args));
	}
	return false;
}
