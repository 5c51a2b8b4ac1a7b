/*
 * mls_purge.c: which tombstones of a multilevel table are still needed.
 *
 * A row borrows from a tombstone by its label. Whether one does cannot be seen in a snapshot: a transaction under way may
 * have written such a row, or may read a snapshot in which the tombstone lives, and borrow from it later. So all versions of
 * the rows of an entity are looked at that VACUUM would have to keep, for each of them may be seen, or come to be committed.
 *
 * What is not needed now never will be. To borrow from a row anew, a session must see that it lives, or see a row that
 * borrows from it: then a version that says so is among those that were looked at.
 */
#include "discreet.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(discreet_is_needed);

/* Where the columns are that tell what a row is. */
typedef struct Columns
{
	AttrNumber	row_id;
	AttrNumber	entity;
	AttrNumber	label;
	AttrNumber	slot;
	AttrNumber	dead;
	AttrNumber	source;
} Columns;

typedef struct Version
{
	int64		row_id;
	int64		label;
	int64		slot;
	bool		lives;
	bool		committed;
	bool		needed;			/* by a row that is live for some session */
	int			count;
	int64	   *sources;		/* labels from which it borrows, and negative numbers */
} Version;

static Columns
columns_of(Relation table)
{
	Oid			base = RelationGetRelid(table);
	Columns		columns = {
		.row_id = get_attnum(base, "_row_id"), .entity = get_attnum(base, "_entity"), .label = get_attnum(base, "_label"),
		.slot = get_attnum(base, "_slot"), .dead = get_attnum(base, "_dead"), .source = get_attnum(base, "_source")
	};

	return columns;
}

static int64
number_in(TupleTableSlot *row, AttrNumber column)
{
	bool		isnull;

	return DatumGetInt64(slot_getattr(row, column, &isnull));
}

/* The number of an entity is that of its root. */
static int64
entity_of(TupleTableSlot *row, const Columns *columns)
{
	return slot_attisnull(row, columns->entity) ? number_in(row, columns->row_id) : number_in(row, columns->entity);
}

static Version
taken_version(TupleTableSlot *row, const Columns *columns, bool committed)
{
	Version		version = {.committed = committed};
	bool		isnull;

	version.row_id = number_in(row, columns->row_id);
	version.label = number_in(row, columns->label);
	version.slot = number_in(row, columns->slot);
	version.lives = !DatumGetBool(slot_getattr(row, columns->dead, &isnull));
	if (!slot_attisnull(row, columns->source))
	{
		ArrayType  *array = DatumGetArrayTypePCopy(slot_getattr(row, columns->source, &isnull));

		version.count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
		if (array_contains_nulls(array))
			elog(ERROR, "a NULL in the state of an entity");
		version.sources = (int64 *) ARR_DATA_PTR(array);
	}
	return version;
}

/* The index of the key: key columns, label of the key, slot. */
static Relation
open_key(Relation table, const Columns *columns)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index known = index->rd_index;

		if (known->indisunique && known->indisvalid && known->indkey.values[known->indnkeyatts - 1] == columns->slot)
			return index;
		index_close(index, AccessShareLock);
	}
	elog(ERROR, "a multilevel table without the index of its key");
}

/* All versions of the rows of an entity that a session may see, now or later; one of them is given. */
static Version *
versions_of(Relation table, TupleTableSlot *given, const Columns *columns, TransactionId horizon, int *count)
{
	Relation	index = open_key(table, columns);
	int			key_count = index->rd_index->indnkeyatts - 1;
	ScanKeyData keys[INDEX_MAX_KEYS];
	TupleTableSlot *row = table_slot_create(table, NULL);
	int64		entity = entity_of(given, columns);
	int			room = 8;
	Version    *versions = palloc(room * sizeof(Version));
	IndexScanDesc scan;

	for (int n = 0; n < key_count; n++)
	{
		Oid			type = index->rd_opcintype[n];
		bool		isnull;
		Datum		value = slot_getattr(given, index->rd_index->indkey.values[n], &isnull);

		if (isnull)
			elog(ERROR, "a NULL in the key of an entity");
		ScanKeyEntryInitialize(&keys[n], 0, n + 1, BTEqualStrategyNumber, InvalidOid, index->rd_indcollation[n],
							   get_opcode(get_opfamily_member(index->rd_opfamily[n], type, type, BTEqualStrategyNumber)),
							   value);
	}
	*count = 0;
	scan = begin_index_scan(table, index, SnapshotAny, key_count);
	index_rescan(scan, keys, key_count, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, row))
	{
		BufferHeapTupleTableSlot *place = (BufferHeapTupleTableSlot *) row;
		HTSV_Result state;

		CHECK_FOR_INTERRUPTS();
		LockBuffer(place->buffer, BUFFER_LOCK_SHARE);
		state = HeapTupleSatisfiesVacuum(place->base.tuple, horizon, place->buffer);
		LockBuffer(place->buffer, BUFFER_LOCK_UNLOCK);
		if (state == HEAPTUPLE_DEAD || entity_of(row, columns) != entity)
			continue;
		if (*count == room)
			versions = repalloc(versions, (room *= 2) * sizeof(Version));
		versions[(*count)++] = taken_version(row, columns, state != HEAPTUPLE_INSERT_IN_PROGRESS);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	index_close(index, AccessShareLock);
	return versions;
}

/* Whether a later row has taken the place of a tombstone at its label, for good. */
static bool
is_superseded(const Version *tombstone, const Version *versions, int count)
{
	for (int n = 0; n < count; n++)
		if (versions[n].row_id != tombstone->row_id && versions[n].label == tombstone->label && versions[n].committed &&
			(versions[n].lives || versions[n].slot > tombstone->slot))
			return true;
	return false;
}

static bool
borrows_from(const Version *version, int64 label)
{
	for (int n = 0; n < version->count; n++)
		if (version->sources[n] == label)
			return true;
	return false;
}

/* What lives is needed; so is that from which something needed borrows. */
static void
mark_needed(Version *versions, int count)
{
	bool		more = true;

	for (int n = 0; n < count; n++)
		versions[n].needed = versions[n].lives;
	while (more)
	{
		CHECK_FOR_INTERRUPTS();
		more = false;
		for (int n = 0; n < count; n++)
			for (int by = 0; by < count && !versions[n].needed; by++)
				if (versions[by].needed && borrows_from(&versions[by], versions[n].label) &&
					!is_superseded(&versions[n], versions, count))
					more = versions[n].needed = true;
	}
}

static bool
is_needed(Relation table, TupleTableSlot *given, TransactionId horizon)
{
	Columns		columns = columns_of(table);
	int			count;
	Version    *versions = versions_of(table, given, &columns, horizon, &count);
	int64		row_id = number_in(given, columns.row_id);

	mark_needed(versions, count);
	for (int n = 0; n < count; n++)
		if (versions[n].row_id == row_id && versions[n].needed)
			return true;
	return false;
}

/* _is_needed(base, tombstone): whether a transaction, under way or to come, may see what a dead row of the table owns. */
Datum
discreet_is_needed(PG_FUNCTION_ARGS)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "discreet versions", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(memory);
	Relation	table = table_open(PG_GETARG_OID(0), AccessShareLock);
	HeapTupleHeader header = PG_GETARG_HEAPTUPLEHEADER(1);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};
	TupleTableSlot *given = MakeSingleTupleTableSlot(RelationGetDescr(table), &TTSOpsHeapTuple);
	TransactionId *horizon = (TransactionId *) fcinfo->flinfo->fn_extra;
	bool		needed;

	if (!list_member_oid(multilevel_relations(true), PG_GETARG_OID(0)) || table->rd_rel->relam != HEAP_TABLE_AM_OID ||
		HeapTupleHeaderGetTypeId(header) != table->rd_rel->reltype)
		elog(ERROR, "no row of a multilevel table");
	if (horizon == NULL)
	{
		/* one for the whole statement: an older one keeps more */
		fcinfo->flinfo->fn_extra = horizon = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(TransactionId));
		*horizon = GetOldestNonRemovableTransactionId(table);
	}
	ExecStoreHeapTuple(&tuple, given, false);
	needed = is_needed(table, given, *horizon);
	ExecDropSingleTupleTableSlot(given);
	table_close(table, AccessShareLock);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(memory);
	PG_RETURN_BOOL(needed);
}
