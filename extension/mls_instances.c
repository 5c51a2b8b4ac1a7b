/*
 * mls_instances.c: which of the stored rows of an entity are shown, and where their cells come from.
 *
 * A scan of the rows above roots calls _instances for each row; the first live one of an entity is answered with all rows
 * of the entity that are shown. Nearly all entities have one row above, which is found out for all of them at once.
 */
#include "mls_rows.h"

#include "access/htup_details.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define OWN (-2)				/* what a cell's source is, beside the label of the row that it is borrowed from */
#define ABSENT (-1)
#define LOOKED_UP 16			/* entities, before it is found out which have several rows above */

PG_FUNCTION_INFO_V1(discreet_instances);

/* What the view never asks for, but who calls _instances by hand may. */
pg_noreturn static void
refuse_row(const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("_instances does not show this: %s", reason),
			 errhint("Read the view of the multilevel table.")));
}

/* A row of the base table; its columns as they are stored. */
typedef struct StoredRow
{
	int64		label;
	bool		dead;
	Datum	   *values;
	bool	   *nulls;
} StoredRow;

/* A call site, and the entity that it is at. */
typedef struct Entity
{
	/* the table, while a statement runs */
	bool		open;
	MemoryContext keep;			/* all that is known of it */
	Oid			base;
	int64		session;		/* its label */
	Snapshot	snapshot;
	Above		above;
	int64	   *labels;			/* of rows above that it sees */
	int			label_count;
	int			living_count;	/* of those among them at which a row lives */
	Relation	key;			/* index: key columns, label of the key, slot */
	IndexScanDesc key_scan;
	ScanKey		keys;			/* equality with what is looked for */
	TupleTableSlot *root;
	int			looked_up;
	bool		counted;
	bool		too_many;
	Entities	several;		/* with several rows above that live */

	/* its columns */
	TupleDesc	columns;
	int			cells;
	AttrNumber *places;			/* of cells among the columns */
	AttrNumber	key_label;
	AttrNumber	label;
	AttrNumber	dead;
	AttrNumber	source;
	AttrNumber	number;			/* of the entity */
	AttrNumber	row_id;
	AttrNumber	slot;
	ArrayType  *labels_shown;	/* room for a label of each cell, to be copied */

	/* the entity */
	MemoryContext memory;		/* reset for each */
	int			count;
	StoredRow  *rows;			/* by label */
	int64	   *sources;		/* rows x cells */
	int		   *owners;			/* rows x cells: the row that owns the value, or -1 */
	int			next;			/* to be shown, if it is; -1: there is no entity */
} Entity;

static int
by_label(const void *one, const void *other)
{
	int64		a = ((const StoredRow *) one)->label;
	int64		b = ((const StoredRow *) other)->label;

	return a < b ? -1 : a > b;
}

static int
row_at(Entity *entity, int64 label)
{
	StoredRow	wanted = {.label = label};
	StoredRow  *found = bsearch(&wanted, entity->rows, entity->count, sizeof(StoredRow), by_label);

	return found == NULL ? -1 : found - entity->rows;
}

static int
owner_of(Entity *entity, int row, int cell)
{
	/* sources are lower and lower labels; a chain that is longer than the rows is none of ours */
	for (int steps = 0; row >= 0 && steps <= entity->count; steps++)
	{
		int64		source = entity->sources[row * entity->cells + cell];

		if (source == OWN)
			return row;
		row = source == ABSENT ? -1 : row_at(entity, source);
	}
	return -1;
}

static bool
is_above(int64 high, int64 low)
{
	return high != low && (low & ~high) == 0;
}

/* Whether all that a row says is said by another one, which then is shown in its place. */
static bool
is_said_by(Entity *entity, int row, int other)
{
	bool		says_more = false;

	for (int cell = 0; cell < entity->cells; cell++)
	{
		int			mine = entity->owners[row * entity->cells + cell];
		int			theirs = entity->owners[other * entity->cells + cell];

		if (mine < 0 ? theirs >= 0 : mine != theirs)
		{
			if (mine >= 0)
				return false;
			says_more = true;
		}
	}
	return says_more || is_above(entity->rows[other].label, entity->rows[row].label) ||
		(!is_above(entity->rows[row].label, entity->rows[other].label) && entity->rows[other].label > entity->rows[row].label);
}

/* The one row above that owns a value where this one has none. */
static int
filler_of(Entity *entity, int row, int cell)
{
	int			found = -1;

	for (int other = 0; other < entity->count; other++)
		if (!entity->rows[other].dead && is_above(entity->rows[other].label, entity->rows[row].label) &&
			entity->sources[other * entity->cells + cell] == OWN)
		{
			if (found >= 0)
				return -1;
			found = other;
		}
	return found;
}

/* Where the cells of a row come from; a row without sources owns all of them. */
static void
take_sources(Entity *entity, int row)
{
	int64	   *sources = &entity->sources[row * entity->cells];
	MemoryContext before;
	ArrayType  *array;

	if (entity->rows[row].nulls[entity->source - 1])
	{
		for (int cell = 0; cell < entity->cells; cell++)
			sources[cell] = OWN;
		return;
	}
	before = MemoryContextSwitchTo(entity->memory);
	array = DatumGetArrayTypeP(entity->rows[row].values[entity->source - 1]);
	MemoryContextSwitchTo(before);
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) != entity->cells)
		refuse_row("the state of an entity does not fit together");
	if (array_contains_nulls(array))
		refuse_row("a NULL in the state of an entity");
	memcpy(sources, ARR_DATA_PTR(array), entity->cells * sizeof(int64));
}

/* ---- the table */

/* The number of a column, of a certain type unless this is none; they mostly come in their order. */
static AttrNumber
column_number(TupleDesc columns, const char *name, Oid type, AttrNumber after)
{
	for (int n = 0; n < columns->natts; n++)
	{
		int			place = (after + n) % columns->natts;
		Form_pg_attribute column = TupleDescAttr(columns, place);

		if (!column->attisdropped && strcmp(NameStr(column->attname), name) == 0 &&
			(!OidIsValid(type) || column->atttypid == type))
			return place + 1;
	}
	refuse_row("there is no such column");
}

static void
know_columns(Entity *entity, ArrayType *cells)
{
	Datum	   *names;
	bool	   *nulls;

	entity->columns = CreateTupleDescCopy(RelationGetDescr(entity->above.table));
	deconstruct_array(cells, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &entity->cells);
	entity->places = palloc(entity->cells * sizeof(AttrNumber));
	for (int cell = 0; cell < entity->cells; cell++)
	{
		if (nulls[cell])
			refuse_row("a column without a name");
		entity->places[cell] = column_number(entity->columns, TextDatumGetCString(names[cell]), InvalidOid,
											 cell == 0 ? 0 : entity->places[cell - 1]);
	}
	entity->key_label = column_number(entity->columns, "_key_label", INT8OID, 0);
	entity->label = column_number(entity->columns, "_label", INT8OID, 0);
	entity->dead = column_number(entity->columns, "_dead", BOOLOID, 0);
	entity->source = column_number(entity->columns, "_source", INT8ARRAYOID, 0);
	entity->number = column_number(entity->columns, "_entity", INT8OID, 0);
	entity->row_id = column_number(entity->columns, "_row_id", INT8OID, 0);
	entity->slot = column_number(entity->columns, "_slot", INT8OID, 0);
	entity->labels_shown = construct_array(palloc0(entity->cells * sizeof(Datum)), entity->cells, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

static void
open_key(Entity *entity)
{
	List	   *indexes = RelationGetIndexList(entity->above.table);
	ListCell   *cell;

	entity->key = NULL;
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index known = index->rd_index;

		if (known->indisunique && known->indisvalid && known->indkey.values[known->indnkeyatts - 1] == entity->slot)
		{
			entity->key = index;
			break;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (entity->key == NULL)
		elog(ERROR, "a multilevel table without the index of its key");
	entity->keys = palloc(entity->key->rd_index->indnkeyatts * sizeof(ScanKeyData));
	for (int n = 0; n < entity->key->rd_index->indnkeyatts; n++)
	{
		Oid			type = entity->key->rd_opcintype[n];
		Oid			equals = get_opfamily_member(entity->key->rd_opfamily[n], type, type, BTEqualStrategyNumber);

		ScanKeyEntryInitialize(&entity->keys[n], 0, n + 1, BTEqualStrategyNumber, InvalidOid,
							   entity->key->rd_indcollation[n], get_opcode(equals), (Datum) 0);
	}
	entity->key_scan = begin_index_scan(entity->above.table, entity->key, entity->snapshot,
										entity->key->rd_index->indnkeyatts);
	entity->root = table_slot_create(entity->above.table, NULL);
}

/* The end of a statement, or of a scan that begins anew. */
static void
close_table(Datum argument)
{
	Entity	   *entity = (Entity *) DatumGetPointer(argument);

	if (!entity->open)
		return;
	entity->open = false;
	entity->next = -1;
	index_endscan(entity->key_scan);
	ExecDropSingleTupleTableSlot(entity->root);
	index_close(entity->key, AccessShareLock);
	close_above(&entity->above);
	UnregisterSnapshot(entity->snapshot);
	MemoryContextDelete(entity->keep);
}

/* What is taken for a row must be one: who calls _instances by hand may give anything, and bytes that look like a row. */
static void
refuse_other_rows(FunctionCallInfo fcinfo)
{
	if (get_fn_expr_argtype(fcinfo->flinfo, 1) != get_rel_type_id(PG_GETARG_OID(0)))
		refuse_row("a row of another table");
}

/* Everybody may call this, to read a multilevel table at the label of the session; at others, who may read all of its rows. */
static void
refuse_other_label(Oid base)
{
	AclResult	granted = pg_class_aclcheck(base, GetUserId(), ACL_SELECT);

	if (granted != ACLCHECK_OK)
		aclcheck_error(granted, OBJECT_TABLE, get_rel_name(base));
}

/* A nested loop opens it again for each of its rows. */
static Entity *
open_table(FunctionCallInfo fcinfo, int64 session)
{
	Entity	   *entity = (Entity *) fcinfo->flinfo->fn_extra;
	MemoryContext before;

	if (entity == NULL)
		fcinfo->flinfo->fn_extra = entity = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(Entity));
	memset(entity, 0, sizeof(Entity));
	refuse_other_rows(fcinfo);
	if (!PG_ARGISNULL(3))
		refuse_other_label(PG_GETARG_OID(0));
	entity->keep = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "discreet entities", ALLOCSET_SMALL_SIZES);
	before = MemoryContextSwitchTo(entity->keep);
	entity->base = PG_GETARG_OID(0);
	entity->session = session;
	entity->next = -1;
	entity->snapshot = RegisterSnapshot(GetActiveSnapshot());
	open_above(&entity->above, entity->base, entity->snapshot);
	(void) labels_above(&entity->above, session, true, &entity->living_count);
	entity->labels = labels_above(&entity->above, session, false, &entity->label_count);
	know_columns(entity, PG_GETARG_ARRAYTYPE_P(2));
	open_key(entity);
	entity->memory = AllocSetContextCreate(CurrentMemoryContext, "discreet entity", ALLOCSET_DEFAULT_SIZES);
	entity->open = true;
	RegisterExprContextCallback(((ReturnSetInfo *) fcinfo->resultinfo)->econtext, close_table, PointerGetDatum(entity));
	MemoryContextSwitchTo(before);
	return entity;
}

/* ---- the rows of an entity */

static void
count_rows(Entity *entity)
{
	MemoryContext before = MemoryContextSwitchTo(entity->keep);
	Entities	seen = {0};
	int64		label;
	int64		number;
	bool		dead;

	entity->counted = true;
	for (int n = 0; n < entity->label_count && !entity->too_many; n++)
	{
		find_above(&entity->above, entity->labels[n], 0);
		while (!entity->too_many && next_above(&entity->above, &label, &number, &dead))
			entity->too_many = !dead && !add_entity(has_entity(&seen, number) ? &entity->several : &seen, number);
	}
	free_entities(&seen);
	MemoryContextSwitchTo(before);
}

/* Tombstones do not count: which of them are left must make no difference, whatever row is given. */
static bool
has_several(Entity *entity, int64 number)
{
	if (entity->living_count <= 1)
		return false;
	if (!entity->counted && ++entity->looked_up > LOOKED_UP)
		count_rows(entity);
	return !entity->counted || entity->too_many || has_entity(&entity->several, number);
}

/* Values that stay as long as the entity is shown. */
static StoredRow *
take_values(Entity *entity, Datum *values, bool *nulls)
{
	StoredRow  *row;

	entity->rows = entity->count == 0 ? MemoryContextAlloc(entity->memory, 2 * sizeof(StoredRow))
		: entity->count == 1 ? entity->rows : repalloc(entity->rows, (entity->count + 1) * sizeof(StoredRow));
	row = &entity->rows[entity->count++];
	row->values = values;
	row->nulls = nulls;
	if (row->nulls[entity->label - 1] || row->nulls[entity->dead - 1])
		refuse_row("a NULL in the state of an entity");
	row->label = DatumGetInt64(row->values[entity->label - 1]);
	row->dead = DatumGetBool(row->values[entity->dead - 1]);
	return row;
}

static StoredRow *
take_row(Entity *entity, HeapTuple tuple)
{
	int			natts = entity->columns->natts;
	Datum	   *values = MemoryContextAlloc(entity->memory, natts * sizeof(Datum));
	bool	   *nulls = MemoryContextAlloc(entity->memory, natts * sizeof(bool));

	heap_deform_tuple(tuple, entity->columns, values, nulls);
	return take_values(entity, values, nulls);
}

/* A row of a slot that will hold another one. */
static void
take_copy(Entity *entity, TupleTableSlot *slot)
{
	MemoryContext before = MemoryContextSwitchTo(entity->memory);

	take_row(entity, ExecCopySlotHeapTuple(slot));
	MemoryContextSwitchTo(before);
}

/* Of two rows of a label the one that counts: the living one, or the tombstone that came last, which has the higher slot. */
static bool
counts_more(Entity *entity, const StoredRow *one, const StoredRow *other)
{
	if (one->dead != other->dead)
		return other->dead;
	return DatumGetInt64(one->values[entity->slot - 1]) > DatumGetInt64(other->values[entity->slot - 1]);
}

/* All rows above, one of each label, as they are stored; false when another one than this is the first that lives. */
static bool
take_above(Entity *entity, int64 number, int64 first)
{
	int64		label;
	int64		same;
	bool		dead;
	bool		found = false;

	for (int n = 0; n < entity->label_count; n++)
	{
		int			before = entity->count;

		find_above(&entity->above, entity->labels[n], number);
		while (next_above(&entity->above, &label, &same, &dead))
		{
			if (!dead && !found && label != first)
				return false;
			found |= !dead;
			if (!row_above(&entity->above))
				continue;
			take_copy(entity, entity->above.slot);
			if (entity->count == before + 1)
				continue;
			if (counts_more(entity, &entity->rows[before + 1], &entity->rows[before]))
				entity->rows[before] = entity->rows[before + 1];
			entity->count--;
		}
	}
	return found;
}

/* Finds the row of a key in a slot, if that is the root of the entity. */
static bool
find_root(Entity *entity, int64 number, int64 slot)
{
	int			keys = entity->key->rd_index->indnkeyatts;
	bool		isnull;

	entity->keys[keys - 1].sk_argument = Int64GetDatum(slot);
	index_rescan(entity->key_scan, entity->keys, keys, NULL, 0);
	return index_getnext_slot(entity->key_scan, ForwardScanDirection, entity->root) &&
		DatumGetInt64(slot_getattr(entity->root, entity->row_id, &isnull)) == number;
}

/* The root of an entity of which a row above is known: in slot 0 while it lives, then in one of its own number. */
static bool
take_root(Entity *entity, StoredRow *above, int64 number)
{
	Form_pg_index known = entity->key->rd_index;
	bool		isnull;

	for (int n = 0; n < known->indnkeyatts - 1; n++)
	{
		if (above->nulls[known->indkey.values[n] - 1])
			refuse_row("a NULL in the key of an entity");
		entity->keys[n].sk_argument = above->values[known->indkey.values[n] - 1];
	}
	if ((find_root(entity, number, 0) || find_root(entity, number, number)) &&
		(DatumGetInt64(slot_getattr(entity->root, entity->label, &isnull)) & ~entity->session) == 0)
	{
		slot_getallattrs(entity->root);
		return !take_values(entity, entity->root->tts_values, entity->root->tts_isnull)->dead;
	}
	return false;
}

/* Whether a row borrows from others than the root. */
static bool
borrows_between(Entity *entity, StoredRow *row)
{
	int64		root = DatumGetInt64(row->values[entity->key_label - 1]);
	ArrayType  *array;

	if (row->nulls[entity->source - 1])
		return false;
	array = DatumGetArrayTypeP(row->values[entity->source - 1]);
	for (int n = 0; n < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) && !array_contains_nulls(array); n++)
		if (((int64 *) ARR_DATA_PTR(array))[n] >= 0 && ((int64 *) ARR_DATA_PTR(array))[n] != root)
			return true;
	return false;
}

/*
 * Reads the entity of a row above, if that is the first of its rows that lives. The given row is taken for what it says only
 * beside a root that lives and from which alone it borrows: a row that was made up could borrow from tombstones, and tell
 * which of them a purge has left.
 */
static bool
read_entity(Entity *entity, HeapTupleHeader header)
{
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};
	StoredRow  *row;
	int64		number;
	int64		label;

	if (HeapTupleHeaderGetTypeId(header) != entity->above.table->rd_rel->reltype)
		refuse_row("a row of another table");
	entity->rows = NULL;
	entity->count = 0;
	row = take_row(entity, &tuple);
	if (row->dead || row->nulls[entity->number - 1] || (row->label & ~entity->session) != 0)
		return false;
	number = DatumGetInt64(row->values[entity->number - 1]);
	if (number <= 0)			/* nobody's, and for find_above everybody's */
		return false;
	label = row->label;
	if (has_several(entity, number) || borrows_between(entity, row) || !take_root(entity, &entity->rows[0], number))
	{
		entity->count = 0;
		if (!take_above(entity, number, label))
			return false;
		(void) take_root(entity, &entity->rows[0], number);
	}
	qsort(entity->rows, entity->count, sizeof(StoredRow), by_label);

	entity->sources = MemoryContextAlloc(entity->memory, (Size) entity->count * entity->cells * sizeof(int64));
	entity->owners = MemoryContextAlloc(entity->memory, (Size) entity->count * entity->cells * sizeof(int));
	for (int n = 0; n < entity->count; n++)
		take_sources(entity, n);
	for (int n = 0; n < entity->count; n++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int cell = 0; cell < entity->cells; cell++)
			entity->owners[n * entity->cells + cell] = owner_of(entity, n, cell);
	}
	return true;
}

/* ---- what is shown */

static bool
is_shown(Entity *entity, int row)
{
	if (entity->rows[row].dead)
		return false;
	for (int other = 0; other < entity->count; other++)
	{
		CHECK_FOR_INTERRUPTS();
		if (other != row && !entity->rows[other].dead && is_said_by(entity, row, other))
			return false;
	}
	return true;
}

/* Labels of cells of which some are absent. */
static ArrayType *
with_absent(Entity *entity, const int64 *label, bool *absent)
{
	Datum	   *labels = palloc(entity->cells * sizeof(Datum));
	int			lower = 1;

	for (int cell = 0; cell < entity->cells; cell++)
		labels[cell] = Int64GetDatum(label[cell]);
	return construct_md_array(labels, absent, 1, &entity->cells, &lower, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
							  TYPALIGN_DOUBLE);
}

/* The row as it is shown: with all cells, and the labels of these in place of their sources. */
static Datum
shown_row(Entity *entity, int row)
{
	StoredRow  *stored = &entity->rows[row];
	Size		natts = entity->columns->natts;
	Datum	   *values = palloc(natts * sizeof(Datum));
	bool	   *nulls = palloc(natts * sizeof(bool));
	ArrayType  *labels = palloc(VARSIZE(entity->labels_shown));
	int64	   *label;
	bool	   *absent = palloc(entity->cells * sizeof(bool));
	bool		is_whole = true;

	memcpy(values, stored->values, natts * sizeof(Datum));
	memcpy(nulls, stored->nulls, natts * sizeof(bool));
	memcpy(labels, entity->labels_shown, VARSIZE(entity->labels_shown));
	label = (int64 *) ARR_DATA_PTR(labels);
	for (int cell = 0; cell < entity->cells; cell++)
	{
		int			place = entity->places[cell] - 1;
		int			owner = entity->owners[row * entity->cells + cell];

		if (owner < 0)
			owner = filler_of(entity, row, cell);
		absent[cell] = nulls[place] = owner < 0;
		is_whole &= owner >= 0;
		if (owner < 0)
			continue;
		label[cell] = entity->rows[owner].label;
		values[place] = entity->rows[owner].values[place];
		nulls[place] = entity->rows[owner].nulls[place];
	}
	values[entity->source - 1] = PointerGetDatum(is_whole ? labels : with_absent(entity, label, absent));
	nulls[entity->source - 1] = false;
	return HeapTupleGetDatum(heap_form_tuple(entity->columns, values, nulls));
}

/*
 * _instances(base, above, cells, label): the rows that are shown of an entity, of which a row above its root is given, if
 * that is the first of these that lives. Cells are names of columns in the order of sources. In place of its sources a
 * row has the labels of its cells, NULL for one that is absent. The label is that of the session when none is given.
 */
Datum
discreet_instances(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Entity	   *entity = (Entity *) fcinfo->flinfo->fn_extra;
	MemoryContext before;
	int64		session = PG_ARGISNULL(3) ? 0 : PG_GETARG_INT64(3);

	if (result == NULL || !IsA(result, ReturnSetInfo) || !(result->allowedModes & SFRM_ValuePerCall))
		elog(ERROR, "_instances returns a set");
	result->isDone = ExprEndResult;
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || (PG_ARGISNULL(3) && !label_to_read(&session)))
		PG_RETURN_NULL();
	if (entity == NULL || !entity->open || entity->session != session || entity->base != PG_GETARG_OID(0))
	{
		if (entity != NULL)
			close_table(PointerGetDatum(entity));
		entity = open_table(fcinfo, session);
	}
	if (entity->next < 0)
	{
		HeapTupleHeader above;

		/* the argument itself stays for all rows that are shown of it; a copy must, too */
		MemoryContextReset(entity->memory);
		before = MemoryContextSwitchTo(entity->memory);
		above = PG_GETARG_HEAPTUPLEHEADER(1);
		/* what index scans keep must last as long as they do */
		MemoryContextSwitchTo(entity->keep);
		if (read_entity(entity, above))
			entity->next = 0;
		MemoryContextSwitchTo(before);
	}
	while (entity->next >= 0 && entity->next < entity->count)
	{
		int			row = entity->next++;

		if (is_shown(entity, row))
		{
			result->isDone = ExprMultipleResult;
			PG_RETURN_DATUM(shown_row(entity, row));
		}
	}
	entity->next = -1;
	PG_RETURN_NULL();
}
