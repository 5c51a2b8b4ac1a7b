/*
 * gate_maintenance.c: VACUUM, ANALYZE, CLUSTER and LOCK by roles that may maintain a table of others (MAINTAIN and pg_maintain, since
 * PostgreSQL 17). The messages of these commands, with VERBOSE or at a low client_min_messages, tell how many rows a table has.
 */
#include "discreet.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Whether a table of another owner has rows that the user may not count. */
static bool
counts_for_others(Oid table)
{
	if (superuser() || !maintains_for_others(table, GetUserId()))
		return false;
	if (list_member_oid(multilevel_relations(true), table))
		return true;
	return analysts_at_work() && pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK && is_guarded_itself(table);
}

static void
look_at_table(Oid table)
{
	if (OidIsValid(table) && counts_for_others(table))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to maintain table %s", get_rel_name(table)),
				 errdetail("The messages of the command would tell how many rows it has."),
				 errhint("Its owner, or autovacuum, can do this.")));
}

/* Without names, all tables are maintained that the user may maintain. */
static void
look_at_all_tables(void)
{
	Relation	tables = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(tables, InvalidOid, false, NULL, 0, NULL);
	List	   *found = NIL;
	HeapTuple	row;
	ListCell   *cell;

	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		Form_pg_class table = (Form_pg_class) GETSTRUCT(row);

		if (table->relkind == RELKIND_RELATION || table->relkind == RELKIND_PARTITIONED_TABLE)
			found = lappend_oid(found, table->oid);
	}
	systable_endscan(scan);
	table_close(tables, AccessShareLock);
	foreach(cell, found)
		look_at_table(lfirst_oid(cell));
}

void
look_at_maintenance(Node *statement)
{
	ListCell   *cell;

	if (IsA(statement, VacuumStmt))
	{
		foreach(cell, ((VacuumStmt *) statement)->rels)
		{
			VacuumRelation *named = lfirst_node(VacuumRelation, cell);

			look_at_table(OidIsValid(named->oid) ? named->oid : RangeVarGetRelid(named->relation, NoLock, true));
		}
		if (((VacuumStmt *) statement)->rels == NIL)
			look_at_all_tables();
	}
	else if (IsA(statement, ClusterStmt))
	{
		if (((ClusterStmt *) statement)->relation != NULL)
			look_at_table(RangeVarGetRelid(((ClusterStmt *) statement)->relation, NoLock, true));
		else
			look_at_all_tables();
	}
	else if (IsA(statement, LockStmt))
		foreach(cell, ((LockStmt *) statement)->relations)
		{
			Oid			table = RangeVarGetRelid(lfirst_node(RangeVar, cell), NoLock, true);

			if (OidIsValid(table) && list_member_oid(multilevel_relations(true), table))
				look_at_table(table);
		}
}
