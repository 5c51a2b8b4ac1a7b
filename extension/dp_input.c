/*
 * dp_input.c: what feeds a dp_ aggregate: one table, every row once, built-in code only.
 */
#include "dp.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

void
find_unsafe(Input *input, const char *what)
{
	if (input->unsafe == NULL)
		input->unsafe = pstrdup(what);
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
List *
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

/* Looks at what feeds a node. */
Input *
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

/* The relation that the statement names, for a partition or child that stands for it in the plan. */
Index
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

/* The one relation of the statement that a node reads, itself or in part; 0 where there is none or more than one. */
Index
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

/* Whether the session user may read what the statement reads of a relation: the table, or each column. */
bool
session_user_may_read(PlannedStmt *statement, Index index)
{
	RangeTblEntry *relation = rt_fetch(named_relation(statement, index), statement->rtable);
	Oid			user = GetSessionUserId();
	RTEPermissionInfo *permission = permission_of(relation, permissions_of_plan(statement));

	if (permission == NULL)
		return pg_class_aclcheck(relation->relid, user, ACL_SELECT) == ACLCHECK_OK;
	return may_read(relation->relid, permission->selectedCols, user);
}
