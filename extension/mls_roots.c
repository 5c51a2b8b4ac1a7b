/*
 * mls_roots.c: which entities of a multilevel table are shown as their root is stored, since the session sees no row above it.
 *
 * Nearly all are, so the scan of a table asks for every root. The session sees rows above of few labels, often of none: these
 * labels are looked up in the index of rows above once, at the first row. The first roots are looked up there, too, so
 * that a key costs no more than a few pages; for the others the entities that have rows above are put into a hash table.
 */
#include "mls_rows.h"

#include "access/itup.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define LOOKED_UP 16			/* roots, before all entities are read */
#define FEWEST_PLACES 1024

PG_FUNCTION_INFO_V1(discreet_is_single);
PG_FUNCTION_INFO_V1(discreet_above_labels);

/* What a call site knows of a table, in the snapshot of its statement. */
typedef struct Roots
{
	Oid			base;
	int64		label;			/* of the session */
	int			label_count;
	int64	   *labels;			/* of rows above, those that the session sees */
	int			looked_up;
	Entities	entities;		/* with rows above; none: not read */
} Roots;

void
open_above(Above *above, Oid base, Snapshot snapshot)
{
	ListCell   *cell;
	List	   *indexes;
	AttrNumber	label = get_attnum(base, "_label");
	AttrNumber	entity = get_attnum(base, "_entity");
	AttrNumber	dead = get_attnum(base, "_dead");

	if (!list_member_oid(multilevel_relations(true), base))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s holds no rows of a multilevel table", get_rel_name(base) ? get_rel_name(base) : "the relation"),
				 errhint("The view of a multilevel table calls this; read that.")));
	above->table = table_open(base, AccessShareLock);
	above->index = NULL;
	indexes = RelationGetIndexList(above->table);
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index known = index->rd_index;

		if (known->indisvalid && known->indnkeyatts == 2 && known->indnatts == 3 && known->indkey.values[0] == label &&
			known->indkey.values[1] == entity && known->indkey.values[2] == dead)
		{
			above->index = index;
			break;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (above->index == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table %s has lost its index on _label and _entity", RelationGetRelationName(above->table)),
				 errhint("CREATE INDEX ON it (_label, _entity) INCLUDE (_dead) WHERE _entity IS NOT NULL.")));
	above->slot = table_slot_create(above->table, NULL);
	above->map = InvalidBuffer;
	above->scan = begin_index_scan(above->table, above->index, snapshot, 2);
	above->scan->xs_want_itup = true;
}

void
close_above(Above *above)
{
	index_endscan(above->scan);
	if (above->map != InvalidBuffer)
		ReleaseBuffer(above->map);
	ExecDropSingleTupleTableSlot(above->slot);
	index_close(above->index, AccessShareLock);
	table_close(above->table, AccessShareLock);
}

static void
seek_above(Above *above, bool beyond, int64 label, int64 entity)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], 1, beyond ? BTGreaterStrategyNumber : BTEqualStrategyNumber, beyond ? F_INT8GT : F_INT8EQ,
				Int64GetDatum(label));
	/* numbers of entities are positive */
	ScanKeyInit(&keys[1], 2, entity == 0 ? BTGreaterStrategyNumber : BTEqualStrategyNumber,
				entity == 0 ? F_INT8GT : F_INT8EQ, Int64GetDatum(entity));
	index_rescan(above->scan, keys, 2, NULL, 0);
}

/* The rows of a label, of an entity or, for 0, of all. */
void
find_above(Above *above, int64 label, int64 entity)
{
	seek_above(above, false, label, entity);
}

bool
next_above(Above *above, int64 *label, int64 *entity, bool *dead)
{
	ItemPointer place;
	bool		isnull;

	while ((place = index_getnext_tid(above->scan, ForwardScanDirection)) != NULL)
	{
		TupleDesc	columns = RelationGetDescr(above->index);

		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(above->slot);
		if (!VM_ALL_VISIBLE(above->table, ItemPointerGetBlockNumber(place), &above->map) &&
			!index_fetch_heap(above->scan, above->slot))
			continue;
		*label = DatumGetInt64(index_getattr(above->scan->xs_itup, 1, columns, &isnull));
		*entity = DatumGetInt64(index_getattr(above->scan->xs_itup, 2, columns, &isnull));
		*dead = DatumGetBool(index_getattr(above->scan->xs_itup, 3, columns, &isnull));
		return true;
	}
	return false;
}

/* Puts the row itself into the slot. */
bool
row_above(Above *above)
{
	return !TTS_EMPTY(above->slot) || index_fetch_heap(above->scan, above->slot);
}

static bool
has_living(Above *above, int64 label)
{
	int64		entity;
	bool		dead = true;

	find_above(above, label, 0);
	while (dead && next_above(above, &label, &entity, &dead))
		;
	return !dead;
}

/* The labels of rows above that a label dominates, from one to the next; or of those among them that live. */
int64 *
labels_above(Above *above, int64 session, bool of_the_living, int *count)
{
	int			room = 8;
	int64	   *labels = palloc(room * sizeof(int64));
	int64		label = -1;
	int64		entity;
	bool		dead;

	*count = 0;
	for (;;)
	{
		seek_above(above, true, label, 0);
		if (!next_above(above, &label, &entity, &dead))
			return labels;
		if ((label & ~session) != 0 || (of_the_living && !has_living(above, label)))
			continue;
		if (*count == room)
			labels = repalloc(labels, (room *= 2) * sizeof(int64));
		labels[(*count)++] = label;
	}
}

uint32
place_of(const Entities *entities, int64 number)
{
	uint32		place = (number >> 1) & (entities->places - 1);

	while (entities->numbers[place] != 0 && entities->numbers[place] != number)
		place = (place + 1) & (entities->places - 1);
	return place;
}

static void
put_entity(Entities *entities, int64 number)
{
	uint32		place = place_of(entities, number);
	uint64		bit = filter_bit(entities, number);

	entities->taken += entities->numbers[place] == 0;
	entities->numbers[place] = number;
	entities->filter[bit / 64] |= UINT64CONST(1) << bit % 64;
}

void
free_entities(Entities *entities)
{
	if (entities->places > 0)
	{
		pfree(entities->numbers);
		pfree(entities->filter);
	}
	memset(entities, 0, sizeof(Entities));
}

/* False: there are more than memory allows. */
bool
add_entity(Entities *entities, int64 number)
{
	if (2 * entities->taken >= entities->places)
	{
		Entities	larger = {.places = Max(FEWEST_PLACES, 2 * entities->places)};

		if ((Size) larger.places * sizeof(int64) > get_hash_memory_limit())
			return false;
		larger.numbers = MemoryContextAllocExtended(CurrentMemoryContext, (Size) larger.places * sizeof(int64),
													MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		larger.filter = MemoryContextAllocExtended(CurrentMemoryContext, FILTER_BITS(larger.places) / 8,
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		for (uint32 n = 0; n < entities->places; n++)
			if (entities->numbers[n] != 0)
				put_entity(&larger, entities->numbers[n]);
		free_entities(entities);
		*entities = larger;
	}
	put_entity(entities, number);
	return true;
}

/* All entities with a visible live row above; more than memory allows are looked up one by one. */
static void
read_entities(Roots *roots, Oid base)
{
	Above		above;
	int64		label;
	int64		entity;
	bool		dead;
	bool		fits = true;

	open_above(&above, base, GetActiveSnapshot());
	for (int n = 0; n < roots->label_count && fits; n++)
	{
		find_above(&above, roots->labels[n], 0);
		while (fits && next_above(&above, &label, &entity, &dead))
			fits = dead || add_entity(&roots->entities, entity);
	}
	close_above(&above);
	if (!fits)
	{
		free_entities(&roots->entities);
		roots->looked_up = PG_INT32_MIN;
	}
	else if (roots->entities.taken == 0)
		roots->label_count = 0;
}

static bool
has_row_above(Roots *roots, Oid base, int64 wanted)
{
	Above		above;
	int64		label;
	int64		entity;
	bool		dead = true;

	open_above(&above, base, GetActiveSnapshot());
	for (int n = 0; n < roots->label_count && dead; n++)
	{
		find_above(&above, roots->labels[n], wanted);
		while (dead && next_above(&above, &label, &entity, &dead))
			;
	}
	close_above(&above);
	return !dead;
}

static Roots *
know_roots(MemoryContext keep, Oid base, int64 session)
{
	MemoryContext before = MemoryContextSwitchTo(keep);
	Roots	   *roots = palloc0(sizeof(Roots));
	Above		above;

	open_above(&above, base, GetActiveSnapshot());
	roots->labels = labels_above(&above, session, false, &roots->label_count);
	close_above(&above);
	roots->base = base;
	roots->label = session;
	MemoryContextSwitchTo(before);
	return roots;
}

/* Whether the session sees a live row above a root; it sees rows of some labels above. */
static bool
is_below(Roots *roots, MemoryContext keep, Oid base, int64 entity)
{
	if (roots->entities.places == 0)
	{
		if (++roots->looked_up > LOOKED_UP)
		{
			MemoryContext before = MemoryContextSwitchTo(keep);

			read_entities(roots, base);
			MemoryContextSwitchTo(before);
		}
		if (roots->entities.places == 0)
			return roots->label_count > 0 && has_row_above(roots, base, entity);
	}
	return has_entity(&roots->entities, entity);
}

/*
 * _is_single(base, key_label, slot, row_id): whether a row is a live root, visible, without a visible live row above it. A
 * live root is a row whose slot is 0.
 */
Datum
discreet_is_single(PG_FUNCTION_ARGS)
{
	int64		session;
	MemoryContext keep = fcinfo->flinfo->fn_mcxt;
	Roots	   *roots = (Roots *) fcinfo->flinfo->fn_extra;

	if (PG_GETARG_INT64(2) != 0 || !label_to_read(&session) || (PG_GETARG_INT64(1) & ~session) != 0)
		PG_RETURN_BOOL(false);
	if (roots == NULL || roots->label != session || roots->base != PG_GETARG_OID(0))
		fcinfo->flinfo->fn_extra = roots = know_roots(keep, PG_GETARG_OID(0), session);
	PG_RETURN_BOOL(roots->label_count == 0 || !is_below(roots, keep, PG_GETARG_OID(0), PG_GETARG_INT64(3)));
}

/* The same as the condition of a scan, on the columns of its row. */
typedef struct SingleRows
{
	Oid			base;
	AttrNumber	key_label;
	AttrNumber	slot;
	AttrNumber	row_id;
	Roots	   *roots;
	MemoryContext keep;
} SingleRows;

static Datum
row_is_single(ExprState *state, ExprContext *context, bool *isnull)
{
	SingleRows *single = (SingleRows *) state->evalfunc_private;
	TupleTableSlot *row = context->ecxt_scantuple;
	int64		session = session_state.reading_at;

	*isnull = false;
	slot_getsomeattrs(row, Max(single->key_label, single->slot));
	if (DatumGetInt64(row->tts_values[single->slot - 1]) != 0 || (unlikely(!session_state.reading) && !label_to_read(&session)) ||
		(DatumGetInt64(row->tts_values[single->key_label - 1]) & ~session) != 0)
		return BoolGetDatum(false);
	if (single->roots == NULL || single->roots->label != session)
		single->roots = know_roots(single->keep, single->base, session);
	if (single->roots->label_count == 0)
		return BoolGetDatum(true);
	slot_getsomeattrs(row, single->row_id);
	return BoolGetDatum(!is_below(single->roots, single->keep, single->base,
								  DatumGetInt64(row->tts_values[single->row_id - 1])));
}

/* The number of a column that is never NULL. */
static AttrNumber
column_of(Expr *expression, Index scanned, TupleDesc columns)
{
	Var		   *column = (Var *) expression;

	return IsA(column, Var) && column->varno == scanned && column->vartype == INT8OID && column->varattno > 0 &&
		is_never_null(columns, column->varattno) ? column->varattno : 0;
}

/* Scans whose only condition is _is_single, as those of whole tables are, ask without the detour over an expression. */
static bool
ask_directly_below(PlanState *state, void *nothing)
{
	Scan	   *scan = (Scan *) state->plan;
	FuncExpr   *call;
	SingleRows	single;
	FmgrInfo	function;

	if (IsA(state, SeqScanState) && state->qual != NULL && list_length(scan->plan.qual) == 1 &&
		IsA(call = (FuncExpr *) linitial(scan->plan.qual), FuncExpr) && list_length(call->args) == 4 &&
		IsA(linitial(call->args), Const) && !linitial_node(Const, call->args)->constisnull)
	{
		TupleDesc	columns = RelationGetDescr(((SeqScanState *) state)->ss.ss_currentRelation);

		fmgr_info(call->funcid, &function);
		single.base = DatumGetObjectId(linitial_node(Const, call->args)->constvalue);
		single.key_label = column_of(lsecond(call->args), scan->scanrelid, columns);
		single.slot = column_of(lthird(call->args), scan->scanrelid, columns);
		single.row_id = column_of(lfourth(call->args), scan->scanrelid, columns);
		if (function.fn_addr == discreet_is_single && single.key_label > 0 && single.slot > 0 && single.row_id > 0)
		{
			single.roots = NULL;
			single.keep = state->state->es_query_cxt;
			state->qual->evalfunc = row_is_single;
			state->qual->evalfunc_private = MemoryContextAlloc(single.keep, sizeof(SingleRows));
			*(SingleRows *) state->qual->evalfunc_private = single;
		}
	}
	return planstate_tree_walker(state, ask_directly_below, nothing);
}

void
ask_directly(PlanState *state)
{
	if (state != NULL)
		(void) ask_directly_below(state, NULL);
}

/*
 * _above_labels(base): the labels of rows above roots that the session sees. Who calls this by hand must not be told
 * which tombstones are left: a purge takes those from which no row borrows, of whatever label.
 */
Datum
discreet_above_labels(PG_FUNCTION_ARGS)
{
	int64		session;
	int64	   *labels = NULL;
	Datum	   *datums;
	int			count = 0;

	if (label_to_read(&session))
	{
		Above		above;

		open_above(&above, PG_GETARG_OID(0), GetActiveSnapshot());
		labels = labels_above(&above, session, true, &count);
		close_above(&above);
	}
	datums = palloc(Max(count, 1) * sizeof(Datum));
	for (int n = 0; n < count; n++)
		datums[n] = Int64GetDatum(labels[n]);
	PG_RETURN_ARRAYTYPE_P(construct_array(datums, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
