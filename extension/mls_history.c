/*
 * mls_history.c: who wrote which version of a row of a multilevel table, in one hash chain for each label.
 *
 * Every stored row that a statement makes or changes becomes an entry of _history, at the label of the row, with a hash of its
 * own. What a transaction wrote at one label is a batch: a link of the chain of that label, made before the commit, which holds
 * the number of its entries and a digest of their hashes. No two labels share a chain, a number or a lock: batches have random
 * numbers, links count at their label alone, and the lock is that of the label.
 *
 * No session waits for a chain. One that finds its lock taken leaves the batch without a place in the chain; the next to commit at the
 * label, and gets the lock, gives a place to all such batches that are committed. So commits are as concurrent as without.
 */
#include "discreet.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_control.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "datatype/timestamp.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

PG_FUNCTION_INFO_V1(discreet_history_note);
PG_FUNCTION_INFO_V1(discreet_history_place);

/* columns of _history */
enum
{
	LABEL = 1, BATCH, NUMBER, HISTORY, PLACE, AT, ROLE, ACT, VERSION, HASH, RAISED, HISTORY_COLUMNS = RAISED
};

/* columns of _history_link */
enum
{
	LINK_LABEL = 1, LINK_BATCH, LINK_ID, LINK_AT, LINK_ROLE, LINK_ENTRIES, LINK_DIGEST, LINK_HASH, LINK_COLUMNS = LINK_HASH
};

/* user locks have 1 and 2 here: no SQL reaches these */
#define CHAIN_LOCKS 3

/* What this transaction writes at a label. */
typedef struct Batch
{
	int64		label;
	int64		batch;
	int64		entries;		/* some may be rolled back to a savepoint */
} Batch;

static List *batches = NIL;		/* in the context of the transaction */
static bool watched = false;

/* own_schema() looks for the extension in its catalogs: too long for each row. */
static Oid
schema_of_tables(void)
{
	return get_namespace_oid("discreet", false);
}

/* ---- hashes */

typedef struct Digest
{
	uint8		bytes[PG_SHA256_DIGEST_LENGTH];
} Digest;

static void
check_hash(int result)
{
	if (result < 0)
		elog(ERROR, "no SHA-256");
}

static bytea *
hash_value(const Digest *digest)
{
	bytea	   *value = palloc(VARHDRSZ + sizeof(Digest));

	SET_VARSIZE(value, VARHDRSZ + sizeof(Digest));
	memcpy(VARDATA(value), digest->bytes, sizeof(Digest));
	return value;
}

/* Of one hash, if there is one, and a text after it. */
static Digest
hash_after(const bytea *previous, const char *written, int length)
{
	char	   *utf8 = pg_server_to_any(written, length, PG_UTF8);
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	Digest		digest;

	check_hash(pg_cryptohash_init(context));
	if (previous != NULL)
		check_hash(pg_cryptohash_update(context, (const uint8 *) VARDATA_ANY(previous), VARSIZE_ANY_EXHDR(previous)));
	check_hash(pg_cryptohash_update(context, (const uint8 *) utf8, utf8 == written ? length : strlen(utf8)));
	check_hash(pg_cryptohash_final(context, digest.bytes, sizeof(Digest)));
	pg_cryptohash_free(context);
	return digest;
}

/* Since 1970, as extract(epoch) tells it. */
static int64
microseconds(TimestampTz at)
{
	return at + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
}

/* ---- entries */

static void end_batches(XactEvent event, void *argument);

static Batch *
batch_at(int64 label)
{
	MemoryContext before;
	Batch	   *made;
	ListCell   *cell;

	foreach(cell, batches)
		if (((Batch *) lfirst(cell))->label == label)
			return (Batch *) lfirst(cell);
	if (!watched)
	{
		RegisterXactCallback(end_batches, NULL);
		watched = true;
	}
	before = MemoryContextSwitchTo(TopTransactionContext);
	made = palloc0(sizeof(Batch));
	made->label = label;
	made->batch = DatumGetInt64(DirectFunctionCall1(discreet_random_id, (Datum) 0));
	batches = lappend(batches, made);
	MemoryContextSwitchTo(before);
	return made;
}

/* Where the entries of a key are found: equal keys have equal numbers, as their types tell it. */
static int64
place_of_key(TupleDesc columns, char **names, int count, HeapTuple row)
{
	uint64		place = 0;

	for (int n = 0; n < count; n++)
	{
		int			number = SPI_fnumber(columns, names[n]);
		TypeCacheEntry *type;
		bool		isnull;
		Datum		value;

		if (number <= 0)
			elog(ERROR, "a multilevel table has lost column \"%s\"", names[n]);
		value = heap_getattr(row, number, columns, &isnull);
		type = lookup_type_cache(TupleDescAttr(columns, number - 1)->atttypid, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
		/* of a type without a hash every value has the same */
		if (!isnull && OidIsValid(type->hash_extended_proc))
			place = hash_combine64(place, DatumGetUInt64(FunctionCall2Coll(&type->hash_extended_proc_finfo,
																		  TupleDescAttr(columns, number - 1)->attcollation,
																		  value, UInt64GetDatum(0))));
	}
	return (int64) place;
}

/* Whether names of objects, as the search path shortens them, or amounts of money may be among the values of a type. */
static bool
is_written_in_words(Oid type)
{
	Oid			element = get_element_type(type);

	if (OidIsValid(element))
		type = element;
	switch (type)
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGTYPEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGNAMESPACEOID:
		case REGROLEOID:
		case REGCOLLATIONOID:
		case MONEYOID:
			return true;
		default:
			return type >= FirstNormalObjectId && get_typtype(type) != TYPTYPE_ENUM;
	}
}

static bool
has_words(TupleDesc columns)
{
	for (int n = 0; n < columns->natts; n++)
		if (!TupleDescAttr(columns, n)->attisdropped && is_written_in_words(TupleDescAttr(columns, n)->atttypid))
			return true;
	return false;
}

static void
set_for_now(const char *setting, const char *value)
{
	(void) set_config_option(setting, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * As JSON, written in one way for all: what the session has set for its own output does not count. Else a writer could have
 * dates, amounts and names written down that mean others to a reader with other settings.
 */
static text *
written_version(TupleDesc columns, HeapTuple row)
{
	int			level = NewGUCNestLevel();
	Datum		version;

	if (extra_float_digits < 1)
		set_for_now("extra_float_digits", "1");
	if (IntervalStyle != INTSTYLE_POSTGRES)
		set_for_now("intervalstyle", "postgres");
	if (DateStyle != USE_ISO_DATES)
		set_for_now("datestyle", "ISO");
	if (bytea_output != BYTEA_OUTPUT_HEX)
		set_for_now("bytea_output", "hex");
	if (has_words(columns))
	{
		set_for_now("search_path", "");
		set_for_now("lc_monetary", "C");
	}
	version = DirectFunctionCall1(row_to_json, heap_copy_tuple_as_datum(row, columns));
	AtEOXact_GUC(true, level);
	return DatumGetTextPP(version);
}

static int64
number_in(HeapTuple row, TupleDesc columns, const char *name)
{
	bool		isnull;
	Datum		value = heap_getattr(row, SPI_fnumber(columns, name), columns, &isnull);

	return DatumGetInt64(value);
}

/* Writes an entry down: a stored row as it is now, and what made it so. */
void
note_version(Relation base, const Trigger *trigger, HeapTuple row, const char *act)
{
	TupleDesc	columns = RelationGetDescr(base);
	Relation	history = table_open(get_relname_relid("_history", schema_of_tables()), RowExclusiveLock);
	Batch	   *batch = batch_at(number_in(row, columns, "_label"));
	const char *role = GetUserNameFromId(GetSessionUserId(), false);
	TimestampTz at = GetCurrentTimestamp();
	text	   *version = written_version(columns, row);
	int64		place = place_of_key(columns, trigger->tgargs + 1, trigger->tgnargs - 1, row);
	NameData	name;
	StringInfoData hashed;
	Digest		digest;
	Datum		values[HISTORY_COLUMNS];
	bool		nulls[HISTORY_COLUMNS] = {false};

	namestrcpy(&name, role);
	initStringInfo(&hashed);
	appendStringInfo(&hashed, INT64_FORMAT "," INT64_FORMAT "," INT64_FORMAT ",%s," INT64_FORMAT "," INT64_FORMAT ",%s,%d:%s,",
					 batch->label, batch->batch, ++batch->entries, trigger->tgargs[0], place, microseconds(at), act,
					 pg_mbstrlen(role), role);
	appendBinaryStringInfo(&hashed, VARDATA_ANY(version), VARSIZE_ANY_EXHDR(version));
	digest = hash_after(NULL, hashed.data, hashed.len);

	values[LABEL - 1] = Int64GetDatum(batch->label);
	values[BATCH - 1] = Int64GetDatum(batch->batch);
	values[NUMBER - 1] = Int64GetDatum(batch->entries);
	values[HISTORY - 1] = DirectFunctionCall1(uuid_in, CStringGetDatum(trigger->tgargs[0]));
	values[PLACE - 1] = Int64GetDatum(place);
	values[AT - 1] = TimestampTzGetDatum(at);
	values[ROLE - 1] = NameGetDatum(&name);
	values[ACT - 1] = CStringGetTextDatum(act);
	values[VERSION - 1] = PointerGetDatum(version);
	values[HASH - 1] = PointerGetDatum(hash_value(&digest));
	nulls[RAISED - 1] = true;
	CatalogTupleInsert(history, heap_form_tuple(RelationGetDescr(history), values, nulls));
	table_close(history, NoLock);
}

/* The trigger that keeps the history of a table; NULL when none is kept. */
const Trigger *
history_trigger(Relation base)
{
	for (int n = 0; n < (base->trigdesc ? base->trigdesc->numtriggers : 0); n++)
		if (is_history_trigger(&base->trigdesc->triggers[n]))
			return &base->trigdesc->triggers[n];
	return NULL;
}

/* Only superusers can make a function in the schema of the extension, or give this one to a trigger. */
bool
is_history_trigger(const Trigger *trigger)
{
	char	   *name;

	if (trigger->tgnargs < 2 || trigger->tgqual != NULL || get_func_namespace(trigger->tgfoid) != schema_of_tables())
		return false;
	name = get_func_name(trigger->tgfoid);
	return name != NULL && strcmp(name, "_history_note") == 0;
}

static bool
is_same(HeapTuple one, HeapTuple other, TupleDesc columns)
{
	for (int n = 1; n <= columns->natts; n++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, n - 1);
		bool		one_null,
					other_null;
		Datum		one_value,
					other_value;

		if (column->attisdropped)
			continue;
		one_value = heap_getattr(one, n, columns, &one_null);
		other_value = heap_getattr(other, n, columns, &other_null);
		if (one_null != other_null ||
			(!one_null && !datum_image_eq(one_value, other_value, column->attbyval, column->attlen)))
			return false;
	}
	return true;
}

static bool
is_true_in(HeapTuple row, TupleDesc columns, const char *name)
{
	bool		isnull;

	return DatumGetBool(heap_getattr(row, SPI_fnumber(columns, name), columns, &isnull));
}

/* _history_note(): a trigger on a hidden table, after rows were inserted or updated. A purge leaves no entry: it tells nothing. */
Datum
discreet_history_note(PG_FUNCTION_ARGS)
{
	TriggerData *called = (TriggerData *) fcinfo->context;
	TupleDesc	columns;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(called->tg_event) || !TRIGGER_FIRED_FOR_ROW(called->tg_event) ||
		!is_history_trigger(called->tg_trigger) || called->tg_trigger->tgnargs < 2)
		elog(ERROR, "_history_note is a trigger function");
	columns = RelationGetDescr(called->tg_relation);
	if (TRIGGER_FIRED_BY_INSERT(called->tg_event))
		note_version(called->tg_relation, called->tg_trigger, called->tg_trigtuple,
					 heap_attisnull(called->tg_trigtuple, SPI_fnumber(columns, "_entity"), columns) ? "insert" : "version");
	else if (TRIGGER_FIRED_BY_UPDATE(called->tg_event) && !is_same(called->tg_trigtuple, called->tg_newtuple, columns))
		note_version(called->tg_relation, called->tg_trigger, called->tg_newtuple,
					 is_true_in(called->tg_newtuple, columns, "_dead") ? "delete" : "update");
	return PointerGetDatum(NULL);
}

/* _history_place(row, key): where entries of a key are. */
Datum
discreet_history_place(PG_FUNCTION_ARGS)
{
	HeapTupleHeader header = PG_GETARG_HEAPTUPLEHEADER(0);
	HeapTupleData row = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};
	TupleDesc	columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	char	  **names;
	int64		place;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	names = palloc(count * sizeof(char *));
	for (int n = 0; n < count; n++)
	{
		if (nulls[n])
			elog(ERROR, "a NULL among the columns of a key");
		names[n] = TextDatumGetCString(elements[n]);
	}
	place = place_of_key(columns, names, count, &row);
	ReleaseTupleDesc(columns);
	PG_RETURN_INT64(place);
}

/* ---- links, before the commit */

/* The row of a scan of an own table in the order of an index. */
typedef struct OrderedScan
{
	Relation	table;
	Relation	index;
	SysScanDesc scan;
} OrderedScan;

static void
begin_scan(OrderedScan *scan, Relation table, const char *index, Snapshot snapshot, ScanKey keys, int count)
{
	scan->table = table;
	scan->index = index_open(get_relname_relid(index, schema_of_tables()), AccessShareLock);
	scan->scan = systable_beginscan_ordered(table, scan->index, snapshot, count, keys);
}

static void
end_scan(OrderedScan *scan)
{
	systable_endscan_ordered(scan->scan);
	index_close(scan->index, AccessShareLock);
}

static void
equals(ScanKey key, AttrNumber column, int64 value)
{
	ScanKeyInit(key, column, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(value));
}

static void
null_test(ScanKey key, AttrNumber column, int flag)
{
	ScanKeyEntryInitialize(key, SK_ISNULL | flag, column, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, (Datum) 0);
}

static Datum
value_in(HeapTuple row, Relation table, AttrNumber column)
{
	bool		isnull;

	return heap_getattr(row, column, RelationGetDescr(table), &isnull);
}

/* The digest of the hashes of a batch in their order, and how many there are: those that no savepoint took back. */
static bytea *
digest_of(Relation history, const Batch *batch, Snapshot snapshot, int64 *entries)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	ScanKeyData keys[2];
	OrderedScan		scan;
	HeapTuple	row;
	Digest		digest;

	check_hash(pg_cryptohash_init(context));
	equals(&keys[0], LABEL, batch->label);
	equals(&keys[1], BATCH, batch->batch);
	begin_scan(&scan, history, "_history_pkey", snapshot, keys, 2);
	*entries = 0;
	while ((row = systable_getnext_ordered(scan.scan, ForwardScanDirection)) != NULL)
	{
		bytea	   *hash = DatumGetByteaPP(value_in(row, history, HASH));

		CHECK_FOR_INTERRUPTS();
		check_hash(pg_cryptohash_update(context, (const uint8 *) VARDATA_ANY(hash), VARSIZE_ANY_EXHDR(hash)));
		++*entries;
	}
	end_scan(&scan);
	check_hash(pg_cryptohash_final(context, digest.bytes, sizeof(Digest)));
	pg_cryptohash_free(context);
	return hash_value(&digest);
}

/* What binds a link, which has all values but its id and its hash, to the one before it. */
static void
bind_link(Datum *values, bool *nulls, int64 id, const bytea *previous)
{
	StringInfoData hashed;
	Digest		digest;
	bytea	   *of_entries = DatumGetByteaPP(values[LINK_DIGEST - 1]);

	initStringInfo(&hashed);
	appendStringInfo(&hashed, INT64_FORMAT "," INT64_FORMAT "," INT64_FORMAT "," INT64_FORMAT "," INT64_FORMAT ",",
					 DatumGetInt64(values[LINK_LABEL - 1]), DatumGetInt64(values[LINK_BATCH - 1]), id,
					 microseconds(DatumGetTimestampTz(values[LINK_AT - 1])), DatumGetInt64(values[LINK_ENTRIES - 1]));
	for (int n = 0; n < VARSIZE_ANY_EXHDR(of_entries); n++)
		appendStringInfo(&hashed, "%02x", ((unsigned char *) VARDATA_ANY(of_entries))[n]);
	appendStringInfo(&hashed, ",%s", NameStr(*DatumGetName(values[LINK_ROLE - 1])));
	digest = hash_after(previous, hashed.data, hashed.len);
	values[LINK_ID - 1] = Int64GetDatum(id);
	values[LINK_HASH - 1] = PointerGetDatum(hash_value(&digest));
	nulls[LINK_ID - 1] = nulls[LINK_HASH - 1] = false;
}

/*
 * Whether the chain of a label is this transaction's to extend until it ends; it never waits. Every role may read pg_locks, so
 * the number is a keyed hash: it does not tell the label.
 */
static bool
lock_chain(int64 label)
{
	struct
	{
		char		key[MOCK_AUTH_NONCE_LEN];
		int64		label;
	}			keyed = {.label = label};
	uint64		number;
	LOCKTAG		tag;

	memcpy(keyed.key, GetMockAuthenticationNonce(), MOCK_AUTH_NONCE_LEN);
	number = hash_bytes_extended((unsigned char *) &keyed, sizeof(keyed), MyDatabaseId);
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (number >> 32), (uint32) number, CHAIN_LOCKS);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Gives the batches of a label that have no place in its chain one each: those that are committed, and this transaction's. */
static void
extend_chain(Relation links, int64 label, Snapshot snapshot)
{
	TupleDesc	columns = RelationGetDescr(links);
	ScanKeyData keys[2];
	bytea	   *previous = NULL;
	int64		id = 0;
	List	   *open = NIL;
	OrderedScan		scan;
	HeapTuple	row;
	ListCell   *cell;

	equals(&keys[0], LINK_LABEL, label);
	null_test(&keys[1], LINK_ID, SK_SEARCHNOTNULL);
	begin_scan(&scan, links, "_history_link_label_id_key", snapshot, keys, 2);
	if ((row = systable_getnext_ordered(scan.scan, BackwardScanDirection)) != NULL)
	{
		id = DatumGetInt64(value_in(row, links, LINK_ID));
		previous = DatumGetByteaPCopy(value_in(row, links, LINK_HASH));
	}
	end_scan(&scan);
	null_test(&keys[1], LINK_ID, SK_SEARCHNULL);
	begin_scan(&scan, links, "_history_link_label_id_key", snapshot, keys, 2);
	while ((row = systable_getnext_ordered(scan.scan, ForwardScanDirection)) != NULL)
		open = lappend(open, heap_copytuple(row));
	end_scan(&scan);
	foreach(cell, open)
	{
		Datum		values[LINK_COLUMNS];
		bool		nulls[LINK_COLUMNS];
		HeapTuple	bound;

		row = (HeapTuple) lfirst(cell);
		heap_deform_tuple(row, columns, values, nulls);
		bind_link(values, nulls, ++id, previous);
		previous = DatumGetByteaPP(values[LINK_HASH - 1]);
		bound = heap_form_tuple(columns, values, nulls);
		CatalogTupleUpdate(links, &row->t_self, bound);
	}
}

/* Whether the transaction has written anything at the label: then a link holds it, which has no place yet. */
static bool
add_link(Relation history, Relation links, const Batch *batch, Snapshot snapshot)
{
	Datum		values[LINK_COLUMNS] = {0};
	bool		nulls[LINK_COLUMNS] = {false};
	NameData	name;
	int64		entries;
	bytea	   *digest = digest_of(history, batch, snapshot, &entries);

	if (entries == 0)
		return false;
	namestrcpy(&name, GetUserNameFromId(GetSessionUserId(), false));
	values[LINK_LABEL - 1] = Int64GetDatum(batch->label);
	values[LINK_BATCH - 1] = Int64GetDatum(batch->batch);
	values[LINK_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[LINK_ROLE - 1] = NameGetDatum(&name);
	values[LINK_ENTRIES - 1] = Int64GetDatum(entries);
	values[LINK_DIGEST - 1] = PointerGetDatum(digest);
	nulls[LINK_ID - 1] = nulls[LINK_HASH - 1] = true;
	CatalogTupleInsert(links, heap_form_tuple(RelationGetDescr(links), values, nulls));
	return true;
}

/* A snapshot of now, whatever the transaction's own is: chains go on from what is committed. */
static Snapshot
snapshot_of_now(void)
{
	CommandCounterIncrement();
	return RegisterSnapshot(GetLatestSnapshot());
}

static void
link_batches(bool prepares)
{
	Oid			schema = get_namespace_oid("discreet", true);
	Relation	history;
	Relation	links;
	ListCell   *cell;

	if (!OidIsValid(schema))	/* the transaction has dropped the extension */
		return;
	history = table_open(get_relname_relid("_history", schema), RowExclusiveLock);
	links = table_open(get_relname_relid("_history_link", schema), RowExclusiveLock);
	foreach(cell, batches)
	{
		const Batch *batch = (const Batch *) lfirst(cell);
		Snapshot	snapshot = snapshot_of_now();
		bool		added = add_link(history, links, batch, snapshot);

		UnregisterSnapshot(snapshot);
		/* a prepared transaction would keep the lock for as long as it likes */
		if (!added || prepares || !lock_chain(batch->label))
			continue;
		snapshot = snapshot_of_now();	/* after the lock: who had it before has committed */
		extend_chain(links, batch->label, snapshot);
		UnregisterSnapshot(snapshot);
	}
	table_close(links, NoLock);
	table_close(history, NoLock);
}

static void
end_batches(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			if (batches != NIL)
				link_batches(event == XACT_EVENT_PRE_PREPARE);
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			batches = NIL;
			break;
		default:
			break;
	}
}
