/*
 * mls_statements.c: what statements may do with multilevel tables, beyond what their views and triggers see.
 *
 * A row lock or a LOCK would make lower sessions wait for higher ones; both are refused. An UPDATE tells the trigger which
 * columns it sets, for a cell that is set to the value it shows becomes the session's own: the names of columns that are
 * set are not known to a trigger, so they travel as the new value of column tc, which no statement can set.
 */
#include "discreet.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

pg_noreturn static void
refuse_lock(Oid relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("rows of multilevel table %s cannot be locked", get_rel_name(relation)),
			 errhint("A lock would make lower sessions wait for higher ones.")));
}

typedef struct Reach
{
	List	   *views;			/* multilevel ones */
	List	   *seen;			/* other views: each is looked at once, however many name it */
} Reach;

/* Whether a query names a multilevel table, itself or through views. */
static bool
reaches_multilevel(Node *node, Reach *reach)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;
		Relation	view;
		bool		reaches;

		CHECK_FOR_INTERRUPTS();
		if (entry->rtekind != RTE_RELATION || entry->relkind != RELKIND_VIEW)
			return false;
		if (list_member_oid(reach->views, entry->relid))
			return true;
		if (list_member_oid(reach->seen, entry->relid))
			return false;
		reach->seen = lappend_oid(reach->seen, entry->relid);
		view = relation_open(entry->relid, AccessShareLock);
		reaches = query_tree_walker(get_view_query(view), reaches_multilevel, (void *) reach, QTW_EXAMINE_RTES_BEFORE);
		relation_close(view, NoLock);
		return reaches;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reaches_multilevel, (void *) reach, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reaches_multilevel, (void *) reach);
}

/* Whether tell_columns_set() made an entry with these columns: a constant that a user writes has a place in the text. */
static bool
is_told(const TargetEntry *target, const char *columns)
{
	const Const *value = (const Const *) target->expr;

	return IsA(value, Const) && value->location < 0 && value->consttype == TEXTOID && !value->constisnull &&
		strcmp(TextDatumGetCString(value->constvalue), columns) == 0;
}

/* Once or more often: EXPLAIN has its statement analysed, and analysed again when it runs. */
static void
tell_columns_set(Query *query, Oid view)
{
	AttrNumber	tuple_class = get_attnum(view, "tc");
	TargetEntry *given = NULL;
	StringInfoData columns;
	ListCell   *cell;

	initStringInfo(&columns);
	foreach(cell, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);

		if (target->resjunk)
			continue;
		if (target->resno == tuple_class)
		{
			given = target;
			continue;
		}
		appendStringInfo(&columns, "%c%d", columns.len == 0 ? '{' : ',', target->resno);
	}
	appendStringInfoChar(&columns, '}');
	if (given != NULL && is_told(given, columns.data))
		return;
	if (given != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("column tc cannot be set"),
				 errhint("It is the least upper bound of the labels of the row.")));
	query->targetList = lappend(query->targetList,
								makeTargetEntry((Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
																   CStringGetTextDatum(columns.data), false, false),
												tuple_class, "tc", false));
}

static bool
look_at_queries(Node *node, List *views)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ListCell   *cell;

		foreach(cell, query->rowMarks)
		{
			RangeTblEntry *entry = rt_fetch(lfirst_node(RowMarkClause, cell)->rti, query->rtable);
			Reach		reach = {views, NIL};

			if (entry->rtekind == RTE_RELATION && reaches_multilevel((Node *) entry, &reach))
				refuse_lock(entry->relid);
		}
		if (query->resultRelation != 0)
		{
			Oid			target = rt_fetch(query->resultRelation, query->rtable)->relid;

			if (list_member_oid(views, target))
			{
				if (query->onConflict != NULL)
					ereport(ERROR,
							(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							 errmsg("multilevel table %s has no ON CONFLICT", get_rel_name(target)),
							 errhint("SELECT discreet.mls_upsert('%s', '{…}') inserts or updates.", get_rel_name(target))));
				if (query->commandType == CMD_UPDATE)
					tell_columns_set(query, target);
			}
		}
		return query_tree_walker(query, look_at_queries, (void *) views, 0);
	}
	return expression_tree_walker(node, look_at_queries, (void *) views);
}

/* After analysis. */
void
look_at_levels(Query *query)
{
	List	   *views = multilevel_relations(false);

	if (views != NIL)
		look_at_queries((Node *) query, views);
}

/* Marks what a statement reads, if it names what has labels. */
static bool
begin_reading_of(QueryDesc *query)
{
	bool		reads = false;
	ListCell   *cell;

	foreach(cell, query->plannedstmt->rtable)
	{
		Oid			relation = lfirst_node(RangeTblEntry, cell)->relid;
		Labelled	part = labelled_part(relation);

		/* the acts of officers write to the hidden table itself */
		if (OidIsValid(relation) && list_member_oid(multilevel_relations(true), relation))
			refuse_rules(relation);
		if (part == UNLABELLED)
			continue;
		reads = true;
		if (part == LABELLED_ROWS)
		{
			refuse_rules(relation);
			refuse_rules(multilevel_base_of(relation));
		}
		if (IsParallelWorker())
			begin_reading_in_worker(query->dest->mydest == DestTupleQueue);
		else if (part == LABELLED_ROWS)
			begin_reading();
		else
			begin_reading_ledger();
	}
	return reads;
}

/* Before a statement with workers runs, which may be later than its start, at another label; and after. */
void
begin_labels_of_workers(QueryDesc *query)
{
	session_state.reading = false;
	(void) begin_reading_of(query);
}

/* Its actions would not tell the trigger which columns they set. Views around a multilevel table hand them down to it. */
static void
refuse_merge(PlannedStmt *statement, Plan *plan)
{
	ListCell   *cell;

	if (plan == NULL || !IsA(plan, ModifyTable) || ((ModifyTable *) plan)->operation != CMD_MERGE)
		return;
	foreach(cell, ((ModifyTable *) plan)->resultRelations)
	{
		Oid			relation = rt_fetch(lfirst_int(cell), statement->rtable)->relid;

		if (list_member_oid(multilevel_relations(false), relation))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("MERGE is not supported on multilevel table %s", get_rel_name(relation)),
					 errhint("SELECT discreet.mls_upsert('%s', '{…}') inserts or updates.", get_rel_name(relation))));
	}
}

/*
 * Before a statement starts; tells whether it reads what has labels. Before a multilevel table is read, the session's
 * label must be good, and is remembered as read. The view would ask for the label only when there is a row to look at, and
 * whether that fails, would tell a session of rows above it. Views around the table hand row locks down to it.
 */
bool
begin_labels(QueryDesc *query, int flags)
{
	bool		reads = !(flags & EXEC_FLAG_EXPLAIN_ONLY) && begin_reading_of(query);
	ListCell   *cell;

	refuse_merge(query->plannedstmt, query->plannedstmt->planTree);
	foreach(cell, query->plannedstmt->subplans)
		refuse_merge(query->plannedstmt, (Plan *) lfirst(cell));
	if (reads && query->plannedstmt->parallelModeNeeded)
		watch_runs();

	foreach(cell, query->plannedstmt->rowMarks)
	{
		PlanRowMark *mark = lfirst_node(PlanRowMark, cell);
		RangeTblEntry *entry = rt_fetch(mark->rti, query->plannedstmt->rtable);

		if (RowMarkRequiresRowShareLock(mark->markType) && entry->rtekind == RTE_RELATION &&
			list_member_oid(multilevel_relations(true), entry->relid))
			refuse_lock(entry->relid);
	}
	return reads;
}

/* Whether a relation is a multilevel table, or a view over one, perhaps through other views. */
bool
view_reaches_multilevel(Oid relation)
{
	Reach		reach = {multilevel_relations(false), NIL};
	RangeTblEntry entry = {.type = T_RangeTblEntry, .rtekind = RTE_RELATION, .relid = relation};

	entry.relkind = get_rel_relkind(relation);
	return reach.views != NIL && reaches_multilevel((Node *) &entry, &reach);
}

void
look_at_lock(LockStmt *statement)
{
	ListCell   *cell;

	foreach(cell, multilevel_relations(false) == NIL ? NIL : statement->relations)
	{
		Oid			relation = RangeVarGetRelid(lfirst_node(RangeVar, cell), NoLock, true);

		if (OidIsValid(relation) && view_reaches_multilevel(relation))
			refuse_lock(relation);
	}
}
