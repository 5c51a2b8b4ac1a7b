/*
 * gate_empty.c: queries that have no rows, whatever the tables hold: LIMIT 0, WHERE 0 = 1. Tools send them to learn which columns a
 * table or a query has. The text alone answers them: nothing is read, so nothing is asked and nothing is charged.
 *
 * What they are told, every role can read in the catalog. Hidden columns are left out where * has named them: a tool would
 * offer them to its user, and every question about them would be refused.
 *
 * With discreet.empty_previews, rows of people under a LIMIT, by which tools show a table, are no rows as well.
 */
#include "discreet.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/snapmgr.h"

/* The value of an expression that is a constant once folded, as the planner does it, with the rights of the asker. */
static Const *
folded(Node *node)
{
	bool		snapshot = ActiveSnapshotSet();
	Node	   *value;

	if (!snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	value = eval_const_expressions(NULL, copyObject(node));
	if (!snapshot)
		PopActiveSnapshot();
	return value != NULL && IsA(value, Const) ? (Const *) value : NULL;
}

/* Whether a SELECT has no rows by its text alone. One with aggregates may have one row all the same. */
static bool
has_no_rows(Query *query)
{
	Const	   *limit = query->limitCount == NULL ? NULL : folded(query->limitCount);
	Const	   *condition = query->jointree == NULL || query->jointree->quals == NULL ? NULL : folded(query->jointree->quals);

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || query->rowMarks != NIL || query->setOperations != NULL ||
		query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != NULL)
		return false;
	if (limit != NULL && !limit->constisnull && limit->consttype == INT8OID && DatumGetInt64(limit->constvalue) == 0)
		return true;
	return condition != NULL && (condition->constisnull || !DatumGetBool(condition->constvalue));
}

/* Whether a tool would show some rows of people. */
static bool
is_preview(Query *query, List *guarded)
{
	return empty_previews && query->commandType == CMD_SELECT && query->limitCount != NULL && !query->hasModifyingCTE &&
		query->rowMarks == NIL && query->setOperations == NULL && query->distinctClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && !reads_answers_only(query, guarded);
}

/* Whether * stands for this column: the columns that it names have one place in the text, or in TABLE none. */
static bool
is_starred(TargetEntry *target, List *targets)
{
	ListCell   *cell;

	if (!IsA(target->expr, Var))
		return false;
	foreach(cell, targets)
	{
		TargetEntry *other = lfirst_node(TargetEntry, cell);

		if (other != target && IsA(other->expr, Var) &&
			((Var *) other->expr)->location == ((Var *) target->expr)->location)
			return true;
	}
	return false;
}

/* A query of the same columns that reads nothing. */
static Query *
empty_query(Query *query, bool with_hidden)
{
	Query	   *empty = makeNode(Query);
	ListCell   *cell;

	empty->commandType = CMD_SELECT;
	empty->querySource = query->querySource;
	empty->queryId = query->queryId;
	empty->canSetTag = query->canSetTag;
	empty->stmt_location = query->stmt_location;
	empty->stmt_len = query->stmt_len;
	empty->jointree = makeFromExpr(NIL, makeBoolConst(false, false));
	foreach(cell, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);
		Node	   *value = (Node *) target->expr;
		TargetEntry *same;

		if (target->resjunk ||
			(!with_hidden && is_starred(target, query->targetList) && is_hidden_column(query, value)))
			continue;
		same = makeTargetEntry((Expr *) makeNullConst(exprType(value), exprTypmod(value), exprCollation(value)),
							   list_length(empty->targetList) + 1, target->resname, false);
		same->resorigtbl = target->resorigtbl;
		same->resorigcol = target->resorigcol;
		empty->targetList = lappend(empty->targetList, same);
	}
	return empty;
}

/* Subqueries that have no rows; what is around them goes on with none. */
static bool
empty_below(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		if (entry->rtekind == RTE_SUBQUERY && entry->subquery != NULL && has_no_rows(entry->subquery))
			entry->subquery = empty_query(entry->subquery, true);
		return false;
	}
	if (IsA(node, CommonTableExpr))
	{
		CommonTableExpr *with = (CommonTableExpr *) node;

		if (!with->cterecursive && has_no_rows(castNode(Query, with->ctequery)))
			with->ctequery = (Node *) empty_query(castNode(Query, with->ctequery), true);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, empty_below, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, empty_below, context);
}

/* Answers a query that has no rows, and such parts of it, in place. */
void
answer_without_rows(Query *query, List *guarded)
{
	bool		preview = is_preview(query, guarded);

	if (preview || has_no_rows(query))
	{
		Query	   *empty = empty_query(query, false);

		if (empty->targetList != NIL)
			*query = *empty;
		if (preview && !quiet)
			ereport(NOTICE, (errmsg("rows of people are not shown: these are the columns alone")));
		return;
	}
	(void) query_tree_walker(query, empty_below, NULL, QTW_EXAMINE_RTES_BEFORE);
}
