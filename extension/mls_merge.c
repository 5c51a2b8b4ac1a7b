/*
 * mls_merge.c: plans without a step for every row that only picks columns.
 *
 * The view of a multilevel table is a UNION ALL. PostgreSQL plans its first part, nearly all rows, as a scan that makes all
 * columns of the view, and a subquery scan above that picks those which are asked for. Here the scan makes just these. Nothing
 * else of the plan changes: conditions stay where they are, in their order.
 */
#include "discreet.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"

/* The columns that a subquery scan picks, as its scan makes them; NIL when it does anything else. */
static List *
picked_columns(SubqueryScan *above, Plan *scan)
{
	List	   *columns = NIL;
	ListCell   *cell;

	/* what nobody picks is not made: that must make no difference */
	if (contain_volatile_functions((Node *) scan->targetlist))
		return NIL;
	foreach(cell, above->scan.plan.targetlist)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);
		TargetEntry *made;
		Var		   *column = (Var *) target->expr;

		if (!IsA(column, Var) || column->varno != above->scan.scanrelid || column->varattno < 1 ||
			column->varattno > list_length(scan->targetlist))
			return NIL;
		made = list_nth_node(TargetEntry, scan->targetlist, column->varattno - 1);
		if (made->resjunk)
			return NIL;
		target = flatCopyTargetEntry(target);
		target->expr = made->expr;
		columns = lappend(columns, target);
	}
	return columns;
}

static Plan *
merged(Plan *plan)
{
	SubqueryScan *above = (SubqueryScan *) plan;
	List	   *columns;

	if (!IsA(plan, SubqueryScan) || plan->qual != NIL || plan->initPlan != NIL ||
		!(IsA(above->subplan, SeqScan) || IsA(above->subplan, IndexScan) || IsA(above->subplan, BitmapHeapScan)))
		return plan;
	columns = picked_columns(above, above->subplan);
	if (columns == NIL)
		return plan;
	above->subplan->targetlist = columns;
	return above->subplan;
}

static void
merge_below(Plan *plan)
{
	ListCell   *cell;

	if (plan == NULL)
		return;
	if (IsA(plan, Append))
		foreach(cell, ((Append *) plan)->appendplans)
		{
			lfirst(cell) = merged((Plan *) lfirst(cell));
			merge_below((Plan *) lfirst(cell));
		}
	if (IsA(plan, SubqueryScan))
		merge_below(((SubqueryScan *) plan)->subplan);
	merge_below(plan->lefttree);
	merge_below(plan->righttree);
}

/* After planning. */
void
merge_scans(PlannedStmt *planned)
{
	List	   *bases = multilevel_relations(true);
	ListCell   *cell;

	foreach(cell, bases == NIL ? NIL : planned->relationOids)
		if (list_member_oid(bases, lfirst_oid(cell)))
		{
			merge_below(planned->planTree);
			foreach(cell, planned->subplans)
				merge_below((Plan *) lfirst(cell));
			break;
		}
}
