/*
 * compat.h: what differs between PostgreSQL 15, 16, 17 and 18. No other file asks for the version.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 190000
#error "discreet is written for PostgreSQL 15 to 18"
#endif

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"
#include "parser/parse_relation.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"

/* ---- before 16, an entry of the range table holds its permissions */

#if PG_VERSION_NUM >= 160000
#define permissions_of(query) ((query)->rteperminfos)
#define permissions_of_plan(statement) ((statement)->permInfos)
#define checked_permissions(statement) ((statement)->permInfos)
#define forget_permissions(query) ((query)->rteperminfos = NIL)
#define new_permission(query, entry) addRTEPermissionInfo(&(query)->rteperminfos, entry)
#define without_permission(entry) ((entry)->perminfoindex = 0)
#define PERMISSIONS_PARAMETERS List *relations, List *permissions, bool throws
#define PERMISSIONS_ARGUMENTS relations, permissions, throws
#define CHECKED_PERMISSIONS permissions

/* None: what the entry was expanded from is checked. */
static inline RTEPermissionInfo *
permission_of(RangeTblEntry *entry, List *permissions)
{
	return entry->perminfoindex == 0 ? NULL : getRTEPermissionInfo(permissions, entry);
}
#else
typedef RangeTblEntry RTEPermissionInfo;
#define permissions_of(query) NIL
#define permissions_of_plan(statement) NIL
#define checked_permissions(statement) ((statement)->rtable)
#define forget_permissions(query) ((void) 0)
#define new_permission(query, entry) (entry)
#define without_permission(entry) ((entry)->requiredPerms = 0)
#define permission_of(entry, permissions) (entry)
#define PERMISSIONS_PARAMETERS List *relations, bool throws
#define PERMISSIONS_ARGUMENTS relations, throws
#define CHECKED_PERMISSIONS NIL
#endif

#if PG_VERSION_NUM >= 160000
#define owns_relation(relation, role) object_ownercheck(RelationRelationId, relation, role)
#define owns_database(database, role) object_ownercheck(DatabaseRelationId, database, role)
#define same_nulling(to, from) ((to)->varnullingrels = bms_copy((from)->varnullingrels))
/* a membership may be for its name only: INHERIT FALSE, SET FALSE */
#define acts_as(user, role) \
	(is_member_of_role_nosuper(user, role) && (has_privs_of_role(user, role) || member_can_set_role(user, role)))
#else
#define owns_relation(relation, role) pg_class_ownercheck(relation, role)
#define owns_database(database, role) pg_database_ownercheck(database, role)
#define same_nulling(to, from) ((void) 0)
#define acts_as(user, role) is_member_of_role_nosuper(user, role)
#endif

/* ---- since 17 */

#if PG_VERSION_NUM >= 170000
#define CURRENT_LXID MyProc->vxid.lxid
#define merge_join_conditions(node) ((node)->mergeJoinConditions)
#define maintains_for_others(table, role) \
	(!owns_relation(table, role) && pg_class_aclcheck(table, role, ACL_MAINTAIN) == ACLCHECK_OK)
#else
#define CURRENT_LXID MyProc->lxid
#define merge_join_conditions(node) NIL
#define maintains_for_others(table, role) false

/* What EXPLAIN does where there is no hook. */
static inline void
standard_ExplainOneQuery(Query *query, int options, IntoClause *into, ExplainState *es, const char *text,
						 ParamListInfo parameters, QueryEnvironment *environment)
{
	instr_time	start,
				took;
	PlannedStmt *plan;
	BufferUsage before = pgBufferUsage,
				used = {0};

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, text, options, parameters);
	INSTR_TIME_SET_CURRENT(took);
	INSTR_TIME_SUBTRACT(took, start);
	BufferUsageAccumDiff(&used, &pgBufferUsage, &before);
	ExplainOnePlan(plan, into, es, text, parameters, environment, &took, es->buffers ? &used : NULL);
}
#endif

/* ---- since 18 */

#if PG_VERSION_NUM >= 180000
#define same_disabled(path, as) ((path)->disabled_nodes = (as)->disabled_nodes)
#define RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define RUN_ARGUMENTS query, direction, count
#define run_whole(query) ExecutorRun(query, ForwardScanDirection, 0)
#define begin_index_scan(heap, index, snapshot, keys) index_beginscan(heap, index, snapshot, NULL, keys, 0)
#define primary_key_of(relation) RelationGetPrimaryKeyIndex(relation, false)
#define replace_vars(node, varno, entry, columns, result, has_sublinks) \
	ReplaceVarsFromTargetList(node, varno, 0, entry, columns, result, REPLACEVARS_REPORT_ERROR, 0, has_sublinks)
/* what an operator is to orders: the numbers are those of the strategies of btrees */
#define comparisons_of(operator) get_op_index_interpretation(operator)
#define strategy_of(comparison) ((StrategyNumber) ((OpIndexInterpretation *) (comparison))->cmptype)
/* NOT NULL that is NOT VALID says nothing of rows that were there */
#define is_never_null(columns, number) (TupleDescCompactAttr(columns, (number) - 1)->attnullability == ATTNULLABLE_VALID)
/* the keys of a GROUP BY are an entry of the range table, whose columns stand in the select list and in HAVING */
#define is_group_entry(entry) ((entry)->rtekind == RTE_GROUP)
#define forget_groups(query) ((query)->hasGroupRTE = false)

static inline Node *
ungrouped(Query *query, Node *node)
{
	Var		   *column = (Var *) node;

	if (node != NULL && IsA(node, Var) && column->varlevelsup == 0 && column->varattno > 0)
	{
		RangeTblEntry *entry = list_nth_node(RangeTblEntry, query->rtable, column->varno - 1);

		if (is_group_entry(entry))
			return list_nth(entry->groupexprs, column->varattno - 1);
	}
	return node;
}
#else
#define same_disabled(path, as) ((void) 0)
#define is_never_null(columns, number) (TupleDescAttr(columns, (number) - 1)->attnotnull)
#define is_group_entry(entry) false
#define forget_groups(query) ((void) 0)
#define ungrouped(query, node) (node)
#define pg_noreturn pg_attribute_noreturn()
#define RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define RUN_ARGUMENTS query, direction, count, once
#define run_whole(query) ExecutorRun(query, ForwardScanDirection, 0, true)
#define begin_index_scan(heap, index, snapshot, keys) index_beginscan(heap, index, snapshot, keys, 0)
#define primary_key_of(relation) RelationGetPrimaryKeyIndex(relation)
#define replace_vars(node, varno, entry, columns, result, has_sublinks) \
	ReplaceVarsFromTargetList(node, varno, 0, entry, columns, REPLACEVARS_REPORT_ERROR, 0, has_sublinks)
#define comparisons_of(operator) get_op_btree_interpretation(operator)
#define strategy_of(comparison) ((StrategyNumber) ((OpBtreeInterpretation *) (comparison))->strategy)
#endif

#endif
