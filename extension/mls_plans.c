/*
 * mls_plans.c: how statements on multilevel tables are planned.
 *
 * The view is a UNION ALL of two scans of the hidden table. The first shows roots that own all of their cells, as they are
 * stored. The second has the condition _is_version, and shows all other rows: it becomes a scan of our own (mls_versions.c).
 * Both are planned as PostgreSQL plans tables with row security: what decides which rows are visible is the security
 * condition of the table itself, not of a subquery around it. So conditions that are leakproof reach the indexes, and all
 * others see visible rows only; so do orders and joins.
 *
 * A row of the second kind may borrow the value that a condition is about. The row that owns the value is stored with
 * it, and is found in the index: from there the scan goes on to the rows that show the value. So an index scan for
 * one column finds the owners of values of this column; what else is asked of the rows is asked of those that are shown.
 */
#include "mls_rows.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* what a row takes that is found, beside the scan that finds it */
#define COST_OF_VERSION (20 * cpu_operator_cost)

PG_FUNCTION_INFO_V1(discreet_is_version);
PG_FUNCTION_INFO_V1(discreet_shows_most);
PG_FUNCTION_INFO_V1(discreet_above_labels);
PG_FUNCTION_INFO_V1(discreet_instances);

static set_rel_pathlist_hook_type previous_paths;

/* ---- security conditions instead of barriers */

static Oid
oid_of_is_version(void)
{
	static const Oid types[] = {INT8OID, TEXTARRAYOID, INT8OID};

	return own_function("_is_version", lengthof(types), types);
}

static Oid
oid_of_is_single(void)
{
	static const Oid types[] = {INT8OID, INT8OID, INT8ARRAYOID, INT8OID};

	return own_function("_is_single", lengthof(types), types);
}

static bool
calls(Node *condition, Oid one, Oid other)
{
	if (condition == NULL)
		return false;
	if (IsA(condition, FuncExpr))
		return ((FuncExpr *) condition)->funcid == one || ((FuncExpr *) condition)->funcid == other;
	if (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == AND_EXPR)
	{
		ListCell   *cell;

		foreach(cell, ((BoolExpr *) condition)->args)
			if (calls(lfirst(cell), one, other))
				return true;
	}
	return false;
}

/* One table or subquery, whose rows become rows of the query one by one. */
static RangeTblEntry *
only_source(Query *query)
{
	if (query->commandType != CMD_SELECT || query->setOperations != NULL || query->hasAggs || query->hasWindowFuncs ||
		query->hasTargetSRFs || query->hasSubLinks || query->hasForUpdate || query->cteList != NIL || query->groupClause != NIL ||
		query->groupingSets != NIL || query->havingQual != NULL || query->distinctClause != NIL || query->sortClause != NIL ||
		query->limitCount != NULL || query->limitOffset != NULL || query->rowMarks != NIL ||
		list_length(query->jointree->fromlist) != 1 || !IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return NULL;
	return rt_fetch(linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex, query->rtable);
}

/* Whether what decides over the rows of a query is now the security condition of its table. */
static bool
is_secured(Query *query, List *bases)
{
	RangeTblEntry *entry = only_source(query);

	if (entry == NULL)
		return false;
	if (entry->rtekind == RTE_RELATION && list_member_oid(bases, entry->relid) && entry->tablesample == NULL &&
		calls(query->jointree->quals, oid_of_is_single(), oid_of_is_version()))
	{
		entry->securityQuals = lappend(entry->securityQuals, query->jointree->quals);
		query->jointree->quals = NULL;
		return true;
	}
	/* a barrier that holds nothing back */
	if (entry->rtekind == RTE_SUBQUERY && query->jointree->quals == NULL && is_secured(entry->subquery, bases))
	{
		entry->security_barrier = false;
		return true;
	}
	return false;
}

static bool
secure_below(Node *node, List *bases)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ListCell   *cell;

		foreach(cell, query->rtable)
		{
			RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

			if (entry->rtekind == RTE_SUBQUERY && is_secured(entry->subquery, bases))
				entry->security_barrier = false;
		}
		return query_tree_walker(query, secure_below, (void *) bases, 0);
	}
	return expression_tree_walker(node, secure_below, (void *) bases);
}

/* Before planning. */
void
secure_levels(Query *query)
{
	List	   *bases = multilevel_relations(true);

	if (bases != NIL)
		(void) secure_below((Node *) query, bases);
}

/* ---- paths */

/* What the condition _is_version says. */
typedef struct Marker
{
	int			cells;
	AttrNumber *places;			/* of cells among the columns */
	Const	   *label;			/* at which is read; NULL: of the session */
	Bitmapset  *keys;			/* columns that all rows of an entity have in common */
	AttrNumber	row_id;
	AttrNumber	source;
} Marker;

/*
 * The condition of the view that names the scan. A user may call the function, too; conditions of users have a higher
 * security level than those of views, stay conditions of the scan, and are an error when they are asked.
 */
static bool
is_marker(const RestrictInfo *condition, Oid wanted)
{
	FuncExpr   *call = (FuncExpr *) condition->clause;

	return condition->security_level == 0 && IsA(call, FuncExpr) && call->funcid == wanted;
}

static FuncExpr *
marker_of(List *conditions)
{
	Oid			wanted = oid_of_is_version();
	ListCell   *cell;

	foreach(cell, conditions)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		if (is_marker(condition, wanted))
			return (FuncExpr *) condition->clause;
	}
	return NULL;
}

static void
read_marker(Marker *marker, FuncExpr *call, RelOptInfo *rel, Oid base)
{
	Const	   *names = (Const *) lsecond(call->args);
	Const	   *label = (Const *) lthird(call->args);
	Datum	   *datums;
	bool	   *nulls;
	ListCell   *cell;

	if (!IsA(names, Const) || names->constisnull || !IsA(label, Const))
		elog(ERROR, "_is_version is not called as by the view of a multilevel table");
	deconstruct_array(DatumGetArrayTypeP(names->constvalue), TEXTOID, -1, false, TYPALIGN_INT, &datums, &nulls, &marker->cells);
	marker->places = palloc(marker->cells * sizeof(AttrNumber));
	for (int n = 0; n < marker->cells; n++)
	{
		marker->places[n] = nulls[n] ? InvalidAttrNumber : get_attnum(base, TextDatumGetCString(datums[n]));
		if (marker->places[n] <= 0)
			elog(ERROR, "a multilevel table has lost a column");
	}
	marker->label = label;
	marker->row_id = get_attnum(base, "_row_id");
	marker->source = get_attnum(base, "_source");
	marker->keys = NULL;
	/* the index of the key: its columns, the label of the key, and the slot */
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (index->unique && index->indpred == NIL && index->nkeycolumns > 2 &&
			index->indexkeys[index->nkeycolumns - 1] == get_attnum(base, "_slot"))
			for (int n = 0; n < index->nkeycolumns - 1; n++)
				marker->keys = bms_add_member(marker->keys, index->indexkeys[n]);
	}
}

static int
cell_at(const Marker *marker, AttrNumber column)
{
	for (int n = 0; n < marker->cells; n++)
		if (marker->places[n] == column)
			return n;
	return -1;
}

/* Whether an index condition holds for no NULL: then it finds the stored value, which its owner has. */
static bool
finds_values(const IndexClause *clause)
{
	ListCell   *cell;

	if (clause->indexcols != NIL)
		return false;
	foreach(cell, clause->indexquals)
	{
		Node	   *condition = (Node *) lfirst_node(RestrictInfo, cell)->clause;

		if (IsA(condition, OpExpr) ? !op_strict(((OpExpr *) condition)->opno)
			: !IsA(condition, ScalarArrayOpExpr) || !op_strict(((ScalarArrayOpExpr *) condition)->opno))
			return false;
	}
	return true;
}

/* Conditions about the key, and about either one cell or the number of the row: what else is asked, other rows may store. */
static List *
usable_conditions(const Marker *marker, IndexPath *path, int *wanted)
{
	List	   *usable = NIL;
	AttrNumber	chosen = InvalidAttrNumber;
	ListCell   *cell;

	*wanted = -1;
	foreach(cell, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, cell);
		AttrNumber	column = path->indexinfo->indexkeys[clause->indexcol];

		if (column == 0 || !finds_values(clause))
			continue;
		if (!bms_is_member(column, marker->keys))
		{
			if (column != marker->row_id && cell_at(marker, column) < 0)
				continue;
			if (chosen == InvalidAttrNumber)
				chosen = column;
			if (column != chosen)
				continue;
		}
		usable = lappend(usable, clause);
	}
	if (chosen != InvalidAttrNumber)
		*wanted = cell_at(marker, chosen);
	return usable;
}

/* A partial index must have all rows that matter: it says nothing but what is true of all rows that are shown. */
static bool
has_all_versions(const Marker *marker, IndexOptInfo *index)
{
	NullTest   *condition;

	if (!index->predOK || list_length(index->indpred) != 1 || !IsA(linitial(index->indpred), NullTest))
		return false;
	condition = linitial_node(NullTest, index->indpred);
	return condition->nulltesttype == IS_NOT_NULL && IsA(condition->arg, Var) &&
		((Var *) condition->arg)->varattno == marker->source;
}

/* Whether rows that are found in the order of an index are shown in this order. */
static bool
keeps_order(const Marker *marker, IndexOptInfo *index, int cell)
{
	for (int n = 0; n < index->nkeycolumns; n++)
		if (!bms_is_member(index->indexkeys[n], marker->keys) &&
			!(index->nkeycolumns == 1 && cell >= 0 && marker->places[cell] == index->indexkeys[n]))
			return false;
	return true;
}

static Plan *plan_versions(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *targets, List *conditions,
						   List *children);

static const CustomPathMethods path_methods = {.CustomName = VERSIONS, .PlanCustomPath = plan_versions};

/* `found`: rows that the child finds */
static CustomPath *
versions_path(RelOptInfo *rel, const Marker *marker, Path *child, double found, int cell, List *pathkeys)
{
	CustomPath *path = makeNode(CustomPath);
	List	   *places = NIL;

	for (int n = 0; n < marker->cells; n++)
		places = lappend_int(places, marker->places[n]);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = child->param_info;
	path->path.parallel_safe = child->parallel_safe;
	path->path.rows = child->param_info ? child->param_info->ppi_rows : rel->rows;
	same_disabled(&path->path, child);
	path->path.startup_cost = child->startup_cost;
	path->path.total_cost = child->total_cost + found * COST_OF_VERSION;
	path->path.pathkeys = pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->custom_private = list_make3(list_make2_int(cell, marker->source), places, marker->label);
	path->methods = &path_methods;
	return path;
}

/* By an index, read in its order, or by its bitmap. */
static void
add_index_paths(PlannerInfo *root, RelOptInfo *rel, List **paths, const Marker *marker, IndexPath *known, bool alone)
{
	int			cell;
	List	   *conditions = usable_conditions(marker, known, &cell);
	IndexOptInfo *index = known->indexinfo;
	Relids		outer = PATH_REQ_OUTER(&known->path);
	IndexPath  *path;
	double		found;

	if (index->indpred == NIL ? conditions == NIL : cell >= 0 || !has_all_versions(marker, index))
		return;
	path = create_index_path(root, index, conditions, NIL, NIL, keeps_order(marker, index, cell) ? known->path.pathkeys : NIL,
							 known->indexscandir, false, outer, 1.0, false);
	found = path->indexselectivity * (index->indpred == NIL ? rel->tuples : index->tuples);
	if (alone)
		*paths = lappend(*paths, versions_path(rel, marker, &path->path, found, cell, path->path.pathkeys));
	if (index->amhasgetbitmap)
		*paths = lappend(*paths, versions_path(rel, marker,
											   (Path *) create_bitmap_heap_path(root, rel, (Path *) path, outer, 1.0, 0),
											   found, cell, NIL));
}

static void
add_bitmap_paths(PlannerInfo *root, RelOptInfo *rel, List **paths, const Marker *marker, Path *bitmap)
{
	ListCell   *cell;

	if (IsA(bitmap, IndexPath))
		add_index_paths(root, rel, paths, marker, (IndexPath *) bitmap, false);
	else if (IsA(bitmap, BitmapAndPath))
		foreach(cell, ((BitmapAndPath *) bitmap)->bitmapquals)
			add_bitmap_paths(root, rel, paths, marker, (Path *) lfirst(cell));
}

/* All rows that have sources, by the index of them: in the order of keys, or in that of storage. */
static void
add_whole_paths(PlannerInfo *root, RelOptInfo *rel, List **paths, const Marker *marker)
{
	static const ScanDirection directions[] = {ForwardScanDirection, BackwardScanDirection};
	ListCell   *cell;

	*paths = lappend(*paths, versions_path(rel, marker, create_seqscan_path(root, rel, rel->lateral_relids, 0),
										   rel->rows, -1, NIL));
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (!has_all_versions(marker, index) || index->sortopfamily == NULL || !bms_is_empty(rel->lateral_relids))
			continue;
		for (int n = 0; n < lengthof(directions); n++)
		{
			List	   *order = truncate_useless_pathkeys(root, rel, build_index_pathkeys(root, index, directions[n]));

			if (n == 0 || order != NIL)
				add_index_paths(root, rel, paths, marker,
								create_index_path(root, index, NIL, NIL, NIL, order, directions[n], false, NULL, 1.0, false),
								true);
		}
	}
}

static void
on_paths(PlannerInfo *root, RelOptInfo *rel, Index number, RangeTblEntry *entry)
{
	FuncExpr   *call;
	Marker		marker;
	List	   *paths = NIL;
	ListCell   *cell;

	if (previous_paths)
		previous_paths(root, rel, number, entry);
	if (entry->rtekind != RTE_RELATION || rel->baserestrictinfo == NIL || IS_DUMMY_REL(rel) ||
		!list_member_oid(multilevel_relations(true), entry->relid))
		return;
	call = marker_of(rel->baserestrictinfo);
	if (call == NULL)
		return;
	read_marker(&marker, call, rel, entry->relid);
	foreach(cell, rel->pathlist)
	{
		Path	   *path = (Path *) lfirst(cell);

		if (IsA(path, IndexPath))
			add_index_paths(root, rel, &paths, &marker, (IndexPath *) path, true);
		else if (IsA(path, BitmapHeapPath))
			add_bitmap_paths(root, rel, &paths, &marker, ((BitmapHeapPath *) path)->bitmapqual);
	}
	add_whole_paths(root, rel, &paths, &marker);
	rel->pathlist = rel->partial_pathlist = NIL;
	foreach(cell, paths)
		add_path(rel, (Path *) lfirst(cell));
}

/* ---- plans */

/* The scan below finds rows as they are stored, all of their columns; what is asked of them is asked of what is shown. */
static Plan *
finding_plan(Plan *plan, Index scanned, Relation table)
{
	TupleDesc	columns = RelationGetDescr(table);
	List	   *targets = NIL;

	/* a condition that is none of a row stands above this scan, too */
	if (IsA(plan, Result))
		plan = plan->lefttree;
	for (int n = 1; n <= columns->natts; n++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, n - 1);
		Expr	   *value = column->attisdropped
			? (Expr *) makeNullConst(INT4OID, -1, InvalidOid)
			: (Expr *) makeVar(scanned, n, column->atttypid, column->atttypmod, column->attcollation, 0);

		targets = lappend(targets, makeTargetEntry(value, n, NULL, false));
	}
	plan->targetlist = targets;
	plan->qual = NIL;
	return plan;
}

static Plan *
plan_versions(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *targets, List *conditions, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	Oid			base = planner_rt_fetch(rel->relid, root)->relid;
	Relation	table = RelationIdGetRelation(base);
	AttrNumber	source = lsecond_int(linitial_node(List, path->custom_private));
	Bitmapset  *asked = NULL;
	List	   *needed = NIL;
	ListCell   *cell;
	Oid			marker = oid_of_is_version();

	foreach(cell, conditions)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		if (condition->pseudoconstant || is_marker(condition, marker) ||
			(IsA(condition->clause, NullTest) && IsA(((NullTest *) condition->clause)->arg, Var) &&
			 ((Var *) ((NullTest *) condition->clause)->arg)->varattno == source))
			continue;
		scan->scan.plan.qual = lappend(scan->scan.plan.qual, condition->clause);
	}
	pull_varattnos((Node *) targets, rel->relid, &asked);
	pull_varattnos((Node *) scan->scan.plan.qual, rel->relid, &asked);
	/* the cells that are asked for; all of them with the whole row */
	foreach(cell, lsecond_node(List, path->custom_private))
		needed = lappend_int(needed, bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, asked) ||
							 bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, asked));
	needed = lappend_int(needed, bms_is_member(source - FirstLowInvalidHeapAttributeNumber, asked) ||
						 bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, asked));
	scan->scan.plan.targetlist = targets;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_plans = list_make1(finding_plan(linitial(children), rel->relid, table));
	scan->custom_private = lappend(list_copy(path->custom_private), needed);
	scan->methods = &versions_methods;
	RelationClose(table);
	return &scan->scan.plan;
}

void
install_plans_of_levels(void)
{
	RegisterCustomScanMethods(&versions_methods);
	previous_paths = set_rel_pathlist_hook;
	set_rel_pathlist_hook = on_paths;
}

/* _is_version(row_label, cells, label): names a scan of our own, and is never asked where the library is loaded in time. */
Datum
discreet_is_version(PG_FUNCTION_ARGS)
{
	int64		label;

	(void) label_to_read(&label);
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("_is_version stands in views of multilevel tables only"),
			 errhint("Read the view of the multilevel table.")));
}

/* For the planner: neither condition leaves out much. */
Datum
discreet_shows_most(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	((SupportRequestSelectivity *) request)->selectivity = 0.9;
	PG_RETURN_POINTER(request);
}

/* What views of 0.1.0 call: after the library has become another, they show nothing until the extension is updated. */
pg_noreturn static void
refuse_old_view(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("extension discreet is older than its library"),
			 errhint("ALTER EXTENSION discreet UPDATE.")));
}

Datum
discreet_above_labels(PG_FUNCTION_ARGS)
{
	refuse_old_view();
}

Datum
discreet_instances(PG_FUNCTION_ARGS)
{
	refuse_old_view();
}
