/*
 * mls_deletion.c: makes a tombstone of a root of a multilevel table.
 *
 * As with insertions, an UPDATE inside a trigger costs several times what the row does.
 */
#include "mls_rows.h"

#include "access/htup_details.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(discreet_delete_root);

/* A value of the row of the view, by the name of a column of the table. */
static Datum
value_shown(HeapTuple row, TupleDesc columns, const char *name, Oid type, bool *isnull)
{
	int			number = 0;

	for (int n = 0; n < columns->natts; n++)
		if (!TupleDescAttr(columns, n)->attisdropped && TupleDescAttr(columns, n)->atttypid == type &&
			strcmp(NameStr(TupleDescAttr(columns, n)->attname), name) == 0)
			number = n + 1;
	if (number == 0)
		elog(ERROR, "a row of a multilevel view without column \"%s\"", name);
	return heap_getattr(row, number, columns, isnull);
}

static int64
stored_number(Relation table, TupleTableSlot *row, const char *name)
{
	bool		isnull;

	return DatumGetInt64(slot_getattr(row, get_attnum(RelationGetRelid(table), name), &isnull));
}

/* Finds the live root of a key, which is in the index with its label and slot 0; false when there is none, or another one. */
static bool
find_root(ResultRelInfo *target, HeapTuple shown, TupleDesc columns, int64 label, TupleTableSlot *row)
{
	Relation	table = target->ri_RelationDesc;
	Relation	index = index_of_key(target);
	int			count = index->rd_index->indnkeyatts;
	ScanKeyData keys[INDEX_MAX_KEYS];
	IndexScanDesc scan;
	int64		row_id;
	bool		isnull;
	bool		found;

	for (int n = 0; n < count; n++)
	{
		AttrNumber	number = index->rd_index->indkey.values[n];
		Oid			type = index->rd_opcintype[n];
		Oid			equals = get_opfamily_member(index->rd_opfamily[n], type, type, BTEqualStrategyNumber);
		Datum		value = Int64GetDatum(n == count - 2 ? label : 0);

		if (n < count - 2)
		{
			value = value_shown(shown, columns, NameStr(TupleDescAttr(RelationGetDescr(table), number - 1)->attname),
								TupleDescAttr(RelationGetDescr(table), number - 1)->atttypid, &isnull);
			if (isnull)
				return false;
		}
		ScanKeyEntryInitialize(&keys[n], 0, n + 1, BTEqualStrategyNumber, InvalidOid, index->rd_indcollation[n],
							   get_opcode(equals), value);
	}
	scan = begin_index_scan(table, index, GetActiveSnapshot(), count);
	index_rescan(scan, keys, count, NULL, 0);
	found = index_getnext_slot(scan, ForwardScanDirection, row);
	index_endscan(scan);
	row_id = DatumGetInt64(value_shown(shown, columns, "row_id", INT8OID, &isnull));
	return found && !isnull && stored_number(table, row, "_row_id") == row_id;
}

/* Leaves what another session has changed meanwhile to a statement, which waits and looks again. */
static bool
delete_root(Relation table, HeapTuple shown, TupleDesc columns, int64 label)
{
	EState	   *state = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);
	TupleTableSlot *row = table_slot_create(table, NULL);
	TupleTableSlot *dead = MakeSingleTupleTableSlot(RelationGetDescr(table), &TTSOpsVirtual);
	Oid			base = RelationGetRelid(table);
	bool		done = false;
	TM_FailureData failure;

	InitResultRelInfo(target, table, 0, NULL, 0);
	target->ri_TrigDesc = NULL;	/* all of them are others', or are called below */
	ExecOpenIndices(target, false);
	if (!runs_functions(target) && find_root(target, shown, columns, label, row) &&
		table_tuple_lock(table, &row->tts_tid, GetActiveSnapshot(), row, GetCurrentCommandId(false), LockTupleExclusive,
						 LockWaitBlock, 0, &failure) == TM_Ok)
	{
		const Trigger *history = history_trigger(table);

		slot_getallattrs(row);
		memcpy(dead->tts_values, row->tts_values, RelationGetDescr(table)->natts * sizeof(Datum));
		memcpy(dead->tts_isnull, row->tts_isnull, RelationGetDescr(table)->natts * sizeof(bool));
		dead->tts_values[get_attnum(base, "_dead") - 1] = BoolGetDatum(true);
		dead->tts_values[get_attnum(base, "_slot") - 1] = Int64GetDatum(stored_number(table, row, "_row_id"));
		ExecStoreVirtualTuple(dead);
		state->es_snapshot = GetActiveSnapshot();
		ExecSimpleRelationUpdate(target, state, NULL, row, dead);
		if (history != NULL)
			note_version(table, history, ExecFetchSlotHeapTuple(dead, true, NULL), "delete");
		done = true;
	}
	ExecCloseIndices(target);
	ExecDropSingleTupleTableSlot(dead);
	ExecDropSingleTupleTableSlot(row);
	FreeExecutorState(state);
	return done;
}

/* _delete_root(base, old, label): makes a tombstone of the live root that a row of the view shows; false when it did nothing. */
Datum
discreet_delete_root(PG_FUNCTION_ARGS)
{
	HeapTupleHeader header = PG_GETARG_HEAPTUPLEHEADER(1);
	HeapTupleData shown = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};
	TupleDesc	columns;
	Relation	table;
	bool		done;

	if (!list_member_oid(multilevel_relations(true), PG_GETARG_OID(0)))
		elog(ERROR, "no row of a multilevel table");
	columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	table = table_open(PG_GETARG_OID(0), RowExclusiveLock);
	done = delete_root(table, &shown, columns, PG_GETARG_INT64(2));
	table_close(table, NoLock);
	ReleaseTupleDesc(columns);
	PG_RETURN_BOOL(done);
}
