/*
 * mls_versions.c: the scan that shows what the first scan of a multilevel table does not: rows that have sources.
 *
 * Roots without sources own all of their cells. They are shown as they are stored, whatever is above them, by the first scan:
 * a root is left out only for a row that says the same, which then borrows all of its cells, and no row above such a root does
 * (each act that makes a row above it gives that row a cell of its own, and a row that loses its last one dies). All other rows,
 * roots with absent cells and rows above roots, have sources, and are shown here.
 *
 * The scan below finds stored rows, by any index that mls_plans.c chose. If that is by a column of cells, found are owners of
 * values, and shown are the rows that show the value; otherwise a row that is found is the one that is shown. Either way
 * each row is shown once. Most entities have one row above the root, which shows cells of its own and of the root;
 * for others all rows of the entity are read.
 */
#include "mls_rows.h"

#include "access/htup_details.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define OWN (-2)				/* what a cell's source is, beside the label of the row that it is borrowed from */
#define ABSENT (-1)

/* A row of the base table; its columns as they are stored. */
typedef struct StoredRow
{
	int64		label;
	bool		dead;
	Datum	   *values;
	bool	   *nulls;
} StoredRow;

typedef struct Entity
{
	CustomScanState scan;

	/* what the plan says */
	int			by;				/* the cell by which owners are found, or -1: found are rows that are shown */
	int			cells;
	AttrNumber *places;			/* of cells among the columns */
	bool	   *needed;			/* cells that are asked for */
	bool		some_needed;	/* one of them, or labels */
	bool		labels_needed;
	bool		label_given;	/* read is at this label, not at that of the session */
	int64		given;

	/* the table, while the scan is under way */
	bool		open;
	MemoryContext keep;			/* all that is known of it */
	int64		session;		/* the label at which is read */
	Above		above;
	int64	   *labels;			/* of rows above that it sees */
	int			label_count;
	int64	   *living;			/* those of them at which a row lives */
	int			living_count;
	Relation	key;			/* index: key columns, label of the key, slot */
	IndexScanDesc key_scan;
	ScanKey		keys;			/* equality with what is looked for */
	TupleTableSlot *root;
	StoredRow	lone;			/* a root with nothing above it, and what it owns */
	int64	   *lone_sources;
	int		   *lone_owners;

	/* its columns */
	TupleDesc	columns;
	AttrNumber	key_label;
	AttrNumber	label;
	AttrNumber	dead;
	AttrNumber	source;
	AttrNumber	number;			/* of the entity */
	AttrNumber	row_id;
	AttrNumber	slot;

	/* the entity */
	MemoryContext memory;		/* reset for each */
	int64		found;			/* the number of the row that was found */
	bool		simple;			/* the row that was found is shown; of others only the root matters, if it was read */
	int			count;
	StoredRow  *rows;			/* by label */
	int64	   *sources;		/* rows x cells */
	int		   *owners;			/* rows x cells: the row that owns the value, or -1 */
	int			next;			/* to be shown, if it is */
} Entity;

pg_noreturn static void
refuse_state(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED), errmsg("the state of an entity of a multilevel table does not fit together")));
}

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
take_sources(Entity *entity, StoredRow *row, int64 *sources)
{
	MemoryContext before;
	ArrayType  *array;

	if (row->nulls[entity->source - 1])
	{
		for (int cell = 0; cell < entity->cells; cell++)
			sources[cell] = OWN;
		return;
	}
	before = MemoryContextSwitchTo(entity->memory);
	array = DatumGetArrayTypeP(row->values[entity->source - 1]);
	MemoryContextSwitchTo(before);
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) != entity->cells || ARR_HASNULL(array))
		refuse_state();
	memcpy(sources, ARR_DATA_PTR(array), entity->cells * sizeof(int64));
}

/* ---- the table */

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
	entity->key_scan = begin_index_scan(entity->above.table, entity->key, entity->scan.ss.ps.state->es_snapshot,
										entity->key->rd_index->indnkeyatts);
	entity->root = table_slot_create(entity->above.table, NULL);
}

static void
close_table(Entity *entity)
{
	if (!entity->open)
		return;
	entity->open = false;
	index_endscan(entity->key_scan);
	ExecDropSingleTupleTableSlot(entity->root);
	index_close(entity->key, AccessShareLock);
	close_above(&entity->above);
	MemoryContextReset(entity->keep);
}

static void
open_table(Entity *entity, int64 session)
{
	MemoryContext before = MemoryContextSwitchTo(entity->keep);

	entity->session = session;
	open_above(&entity->above, RelationGetRelid(entity->scan.ss.ss_currentRelation), entity->scan.ss.ps.state->es_snapshot);
	entity->living = labels_above(&entity->above, session, true, &entity->living_count);
	entity->labels = labels_above(&entity->above, session, false, &entity->label_count);
	open_key(entity);
	entity->lone_sources = palloc(entity->cells * sizeof(int64));
	entity->lone_owners = palloc(entity->cells * sizeof(int));
	entity->open = true;
	MemoryContextSwitchTo(before);
}

/* ---- the rows of an entity */

/* Whether a row above lives, at another label than one. Tombstones do not count. */
static bool
has_above(Entity *entity, int64 number, int64 except)
{
	int64		label;
	int64		same;
	bool		dead;

	for (int n = 0; n < entity->living_count; n++)
	{
		if (entity->living[n] == except)
			continue;
		find_above(&entity->above, entity->living[n], number);
		while (next_above(&entity->above, &label, &same, &dead))
			if (!dead)
				return true;
	}
	return false;
}

/* Memory until the next entity; index scans keep what lasts as long as they do, in the context that is current. */
static void *
room_for(Entity *entity, Size size)
{
	return MemoryContextAlloc(entity->memory, size);
}

/* A row that stays as long as the entity is shown. */
static StoredRow *
take_row(Entity *entity, Datum *values, bool *nulls)
{
	StoredRow  *row;

	entity->rows = entity->count == 0 ? room_for(entity, 2 * sizeof(StoredRow))
		: entity->count == 1 ? entity->rows : repalloc(entity->rows, (entity->count + 1) * sizeof(StoredRow));
	row = &entity->rows[entity->count++];
	row->values = values;
	row->nulls = nulls;
	row->label = DatumGetInt64(values[entity->label - 1]);
	row->dead = DatumGetBool(values[entity->dead - 1]);
	return row;
}

/* A row of a slot that will hold another one. */
static void
take_copy(Entity *entity, TupleTableSlot *slot)
{
	Datum	   *values = room_for(entity, entity->columns->natts * sizeof(Datum));
	bool	   *nulls = room_for(entity, entity->columns->natts * sizeof(bool));
	MemoryContext before = MemoryContextSwitchTo(entity->memory);

	heap_deform_tuple(ExecCopySlotHeapTuple(slot), entity->columns, values, nulls);
	MemoryContextSwitchTo(before);
	take_row(entity, values, nulls);
}

/* Of two rows of a label the one that counts: the living one, or the tombstone that came last, which has the higher slot. */
static bool
counts_more(Entity *entity, const StoredRow *one, const StoredRow *other)
{
	if (one->dead != other->dead)
		return other->dead;
	return DatumGetInt64(one->values[entity->slot - 1]) > DatumGetInt64(other->values[entity->slot - 1]);
}

/* All rows above, one of each label, as they are stored. */
static void
take_above(Entity *entity, int64 number)
{
	int64		label;
	int64		same;
	bool		dead;

	for (int n = 0; n < entity->label_count; n++)
	{
		int			before = entity->count;

		find_above(&entity->above, entity->labels[n], number);
		while (next_above(&entity->above, &label, &same, &dead))
		{
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

/* The root of an entity: in slot 0 while it lives, then in one of its own number. The session sees it as it sees rows above. */
static void
take_root(Entity *entity, const Datum *of_key, int64 number)
{
	Form_pg_index known = entity->key->rd_index;

	for (int n = 0; n < known->indnkeyatts - 1; n++)
		entity->keys[n].sk_argument = of_key[known->indkey.values[n] - 1];
	if (find_root(entity, number, 0) || find_root(entity, number, number))
	{
		slot_getallattrs(entity->root);
		take_row(entity, entity->root->tts_values, entity->root->tts_isnull);
	}
}

static void
resolve(Entity *entity)
{
	qsort(entity->rows, entity->count, sizeof(StoredRow), by_label);
	entity->sources = room_for(entity, (Size) entity->count * entity->cells * sizeof(int64));
	entity->owners = room_for(entity, (Size) entity->count * entity->cells * sizeof(int));
	for (int n = 0; n < entity->count; n++)
		take_sources(entity, &entity->rows[n], &entity->sources[n * entity->cells]);
	for (int n = 0; n < entity->count; n++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int cell = 0; cell < entity->cells; cell++)
			entity->owners[n * entity->cells + cell] = owner_of(entity, n, cell);
	}
}

/*
 * The only row above that lives and is seen: it is shown if it owns a cell, for the root owns none of it. Cells that it borrows
 * from the root come from there; false when it borrows from others, or owns nothing.
 */
static bool
take_alone(Entity *entity, TupleTableSlot *slot, int64 number)
{
	int64		root = DatumGetInt64(slot->tts_values[entity->key_label - 1]);
	int64	   *sources = room_for(entity, entity->cells * sizeof(int64));
	bool		owns = false;
	bool		asks = false;

	(void) take_row(entity, slot->tts_values, slot->tts_isnull);
	take_sources(entity, &entity->rows[0], sources);
	for (int cell = 0; cell < entity->cells; cell++)
	{
		if (sources[cell] >= 0 && sources[cell] != root)
			return false;
		owns |= sources[cell] == OWN;
		asks |= sources[cell] == root && (entity->needed[cell] || entity->labels_needed);
	}
	if (!owns)
		return false;
	if (asks)
		take_root(entity, slot->tts_values, number);
	entity->simple = true;
	return true;
}

/* A root with no living row above: it is shown with what it owns, and its other cells are absent. */
static bool
take_lone_root(Entity *entity, TupleTableSlot *slot)
{
	StoredRow  *row = &entity->lone;

	row->values = slot->tts_values;
	row->nulls = slot->tts_isnull;
	row->label = DatumGetInt64(row->values[entity->label - 1]);
	row->dead = DatumGetBool(row->values[entity->dead - 1]);
	if (row->dead || row->nulls[entity->source - 1])
		return false;
	entity->rows = row;
	entity->count = 1;
	entity->sources = entity->lone_sources;
	entity->owners = entity->lone_owners;
	entity->simple = true;
	if (entity->some_needed || entity->by >= 0)
	{
		take_sources(entity, row, entity->sources);
		for (int cell = 0; cell < entity->cells; cell++)
			entity->owners[cell] = entity->sources[cell] == OWN ? 0 : -1;
	}
	return true;
}

/* Whether one of the rows that were taken lives. */
static bool
has_living_row(Entity *entity)
{
	for (int n = 0; n < entity->count; n++)
		if (!entity->rows[n].dead)
			return true;
	return false;
}

/* What is shown for a row that the scan below has found; false: nothing. */
static bool
take_found(Entity *entity, TupleTableSlot *slot)
{
	Datum	   *values = slot->tts_values;
	int64		label;
	int64		number;
	bool		is_root;

	/* a row is found by its own number, or by a key that all rows of the entity have */
	if (entity->by < 0 && is_null_in(slot, entity->source))
		return false;
	slot_getallattrs(slot);
	label = DatumGetInt64(values[entity->label - 1]);
	if ((label & ~entity->session) != 0)
		return false;
	is_root = slot->tts_isnull[entity->number - 1];
	entity->found = DatumGetInt64(values[entity->row_id - 1]);
	number = is_root ? entity->found : DatumGetInt64(values[entity->number - 1]);
	entity->count = entity->next = 0;
	entity->simple = false;
	if (entity->by < 0 && DatumGetBool(values[entity->dead - 1]))
		return false;
	if (is_root)
	{
		if (entity->living_count > 0)
			take_above(entity, number);
		if (!has_living_row(entity))
			return take_lone_root(entity, slot);
		(void) take_row(entity, values, slot->tts_isnull);
		resolve(entity);
		return true;
	}
	if (entity->by < 0 && !has_above(entity, number, label))
	{
		if (take_alone(entity, slot, number))
		{
			resolve(entity);
			return true;
		}
		entity->count = 0;
	}
	take_above(entity, number);
	take_root(entity, values, number);
	resolve(entity);
	return true;
}

/* ---- what is shown */

static bool
is_shown(Entity *entity, int row)
{
	for (int other = 0; other < entity->count; other++)
	{
		CHECK_FOR_INTERRUPTS();
		if (other != row && !entity->rows[other].dead && is_said_by(entity, row, other))
			return false;
	}
	return true;
}

static int
source_of(Entity *entity, int row, int cell)
{
	int			owner = entity->owners[row * entity->cells + cell];

	return owner < 0 ? filler_of(entity, row, cell) : owner;
}

static int64
row_id_of(Entity *entity, int row)
{
	return DatumGetInt64(entity->rows[row].values[entity->row_id - 1]);
}

/* Whether a row is shown for the one that was found. */
static bool
is_wanted(Entity *entity, int row)
{
	int			source;

	if (entity->rows[row].dead || entity->rows[row].nulls[entity->source - 1])
		return false;
	if (entity->by < 0)
		return row_id_of(entity, row) == entity->found && (entity->simple || is_shown(entity, row));
	source = source_of(entity, row, entity->by);
	return source >= 0 && row_id_of(entity, source) == entity->found && is_shown(entity, row);
}

/* Labels of cells, of which some may be absent, in place of their sources. */
static Datum
labels_of(Entity *entity, int row)
{
	Datum	   *labels = palloc(entity->cells * sizeof(Datum));
	bool	   *absent = palloc(entity->cells * sizeof(bool));
	int			lower = 1;

	for (int cell = 0; cell < entity->cells; cell++)
	{
		int			source = source_of(entity, row, cell);

		absent[cell] = source < 0;
		labels[cell] = Int64GetDatum(source < 0 ? 0 : entity->rows[source].label);
	}
	return PointerGetDatum(construct_md_array(labels, absent, 1, &entity->cells, &lower, INT8OID, sizeof(int64),
											  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* The row as it is shown: cells that are asked for come from where they are stored. */
static void
show(Entity *entity, int row, TupleTableSlot *slot)
{
	StoredRow  *stored = &entity->rows[row];

	ExecClearTuple(slot);
	memcpy(slot->tts_values, stored->values, entity->columns->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, stored->nulls, entity->columns->natts * sizeof(bool));
	for (int cell = 0; cell < entity->cells; cell++)
	{
		int			place = entity->places[cell] - 1;
		int			source;

		if (!entity->needed[cell])
			continue;
		source = source_of(entity, row, cell);
		slot->tts_isnull[place] = source < 0 || entity->rows[source].nulls[place];
		if (source >= 0)
			slot->tts_values[place] = entity->rows[source].values[place];
	}
	if (entity->labels_needed)
		slot->tts_values[entity->source - 1] = labels_of(entity, row);
	ExecStoreVirtualTuple(slot);
}

/* ---- the scan */

static bool
reads_at(Entity *entity, int64 *label)
{
	*label = entity->given;
	return entity->label_given || label_to_read(label);
}

static TupleTableSlot *
next_version(ScanState *state)
{
	Entity	   *entity = (Entity *) state;
	PlanState  *finding = (PlanState *) linitial(entity->scan.custom_ps);
	MemoryContext before = CurrentMemoryContext;

	for (;;)
	{
		TupleTableSlot *found;
		int64		session;

		/* a cursor goes on at another label: what is left of the entity is not shown there */
		if (!reads_at(entity, &session))
			return ExecClearTuple(state->ss_ScanTupleSlot);
		if (entity->open && entity->session != session)
		{
			close_table(entity);
			entity->count = entity->next = 0;
		}
		while (entity->next < entity->count)
		{
			int			row = entity->next++;

			if (!is_wanted(entity, row))
				continue;
			MemoryContextSwitchTo(entity->memory);
			show(entity, row, state->ss_ScanTupleSlot);
			MemoryContextSwitchTo(before);
			return state->ss_ScanTupleSlot;
		}
		CHECK_FOR_INTERRUPTS();
		found = ExecProcNode(finding);
		if (TupIsNull(found))
			return ExecClearTuple(state->ss_ScanTupleSlot);
		if (!entity->open)
			open_table(entity, session);
		MemoryContextReset(entity->memory);
		MemoryContextSwitchTo(entity->keep);
		if (!take_found(entity, found))
			entity->count = entity->next = 0;
		MemoryContextSwitchTo(before);
	}
}

static bool
is_still_shown(ScanState *state, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
scan_versions(CustomScanState *state)
{
	return ExecScan(&state->ss, next_version, is_still_shown);
}

/* Who reads at a label of choice reads all rows of the hidden table, or none. */
static void
refuse_other_label(Oid base)
{
	AclResult	granted = pg_class_aclcheck(base, GetUserId(), ACL_SELECT);

	if (granted != ACLCHECK_OK)
		aclcheck_error(granted, OBJECT_TABLE, get_rel_name(base));
}

static void
begin_versions(CustomScanState *state, EState *estate, int flags)
{
	Entity	   *entity = (Entity *) state;
	CustomScan *plan = (CustomScan *) state->ss.ps.plan;
	List	   *places = lsecond_node(List, plan->custom_private);
	List	   *needed = lfourth_node(List, plan->custom_private);
	Const	   *label = lthird_node(Const, plan->custom_private);
	Oid			base = RelationGetRelid(state->ss.ss_currentRelation);

	state->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate, flags));
	entity->columns = RelationGetDescr(state->ss.ss_currentRelation);
	entity->by = linitial_int(linitial_node(List, plan->custom_private));
	entity->cells = list_length(places);
	entity->places = palloc(entity->cells * sizeof(AttrNumber));
	entity->needed = palloc(entity->cells * sizeof(bool));
	for (int n = 0; n < entity->cells; n++)
	{
		entity->places[n] = list_nth_int(places, n);
		entity->needed[n] = list_nth_int(needed, n);
	}
	entity->labels_needed = llast_int(needed);
	entity->some_needed = list_member_int(needed, true);
	entity->label_given = !label->constisnull;
	if (entity->label_given)
	{
		entity->given = DatumGetInt64(label->constvalue);
		refuse_other_label(base);
	}
	entity->key_label = get_attnum(base, "_key_label");
	entity->label = get_attnum(base, "_label");
	entity->dead = get_attnum(base, "_dead");
	entity->source = get_attnum(base, "_source");
	entity->number = get_attnum(base, "_entity");
	entity->row_id = get_attnum(base, "_row_id");
	entity->slot = get_attnum(base, "_slot");
	entity->keep = AllocSetContextCreate(estate->es_query_cxt, "discreet versions", ALLOCSET_SMALL_SIZES);
	entity->memory = AllocSetContextCreate(estate->es_query_cxt, "discreet entity", ALLOCSET_DEFAULT_SIZES);
}

static void
end_versions(CustomScanState *state)
{
	close_table((Entity *) state);
	ExecEndNode(linitial(state->custom_ps));
}

static void
rescan_versions(CustomScanState *state)
{
	Entity	   *entity = (Entity *) state;
	PlanState  *finding = (PlanState *) linitial(state->custom_ps);

	entity->count = entity->next = 0;
	ExecScanReScan(&state->ss);
	if (state->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(finding, state->ss.ps.chgParam);
	if (finding->chgParam == NULL)
		ExecReScan(finding);
}

static const CustomExecMethods exec_methods = {
	.CustomName = VERSIONS,
	.BeginCustomScan = begin_versions,
	.ExecCustomScan = scan_versions,
	.EndCustomScan = end_versions,
	.ReScanCustomScan = rescan_versions
};

static Node *
create_versions(CustomScan *plan)
{
	Entity	   *entity = palloc0(sizeof(Entity));

	NodeSetTag(entity, T_CustomScanState);
	entity->scan.methods = &exec_methods;
	return (Node *) entity;
}

const CustomScanMethods versions_methods = {.CustomName = VERSIONS, .CreateCustomScanState = create_versions};
