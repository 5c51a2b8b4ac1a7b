/*
 * mls_roots.c: which rows of a multilevel table are shown as they are stored, and how rows above roots are found.
 *
 * A root without sources owns all of its cells, and is shown at every label that dominates its own (mls_versions.c says why). So
 * nothing is looked up for it.
 */
#include "mls_rows.h"

#include "access/htup_details.h"
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

PG_FUNCTION_INFO_V1(discreet_is_single);

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

/* Whether a stored row has NULL in a column: columns before it are not taken apart for that. */
bool
is_null_in(TupleTableSlot *slot, AttrNumber column)
{
	if (TTS_IS_BUFFERTUPLE(slot) && ((HeapTupleTableSlot *) slot)->tuple != NULL)
		return heap_attisnull(((HeapTupleTableSlot *) slot)->tuple, column, slot->tts_tupleDescriptor);
	return slot_attisnull(slot, column);
}

/*
 * _is_single(key_label, slot, source, label): whether a row is a live root without sources that is visible at the label, or
 * at that of the session when none is given. The slot of a live root is 0.
 */
Datum
discreet_is_single(PG_FUNCTION_ARGS)
{
	int64		label = PG_ARGISNULL(3) ? 0 : PG_GETARG_INT64(3);

	PG_RETURN_BOOL(!PG_ARGISNULL(0) && !PG_ARGISNULL(1) && PG_GETARG_INT64(1) == 0 && PG_ARGISNULL(2) &&
				   (!PG_ARGISNULL(3) || label_to_read(&label)) && (PG_GETARG_INT64(0) & ~label) == 0);
}

/* The same as the condition of a scan, on the columns of its row. */
typedef struct SingleRows
{
	AttrNumber	key_label;
	AttrNumber	slot;
	AttrNumber	source;
} SingleRows;

static Datum
row_is_single(ExprState *state, ExprContext *context, bool *isnull)
{
	SingleRows *single = (SingleRows *) state->evalfunc_private;
	TupleTableSlot *row = context->ecxt_scantuple;
	int64		session = session_state.reading_at;

	*isnull = false;
	if (!is_null_in(row, single->source) || (unlikely(!session_state.reading) && !label_to_read(&session)))
		return BoolGetDatum(false);
	slot_getsomeattrs(row, Max(single->key_label, single->slot));
	return BoolGetDatum(DatumGetInt64(row->tts_values[single->slot - 1]) == 0 &&
						(DatumGetInt64(row->tts_values[single->key_label - 1]) & ~session) == 0);
}

/* The number of a column. */
static AttrNumber
column_of(Expr *expression, Index scanned, Oid type)
{
	Var		   *column = (Var *) expression;

	return IsA(column, Var) && column->varno == scanned && column->vartype == type && column->varattno > 0 ? column->varattno : 0;
}

/* The only call among conditions, beside which at most a column is tested for NULL. */
static FuncExpr *
only_call(List *conditions, Index scanned, AttrNumber *tested)
{
	FuncExpr   *call = NULL;
	ListCell   *cell;

	*tested = 0;
	if (list_length(conditions) > 2)
		return NULL;
	foreach(cell, conditions)
	{
		NullTest   *test = (NullTest *) lfirst(cell);

		if (IsA(test, FuncExpr) && call == NULL)
			call = (FuncExpr *) test;
		else if (!IsA(test, NullTest) || test->nulltesttype != IS_NULL ||
				 (*tested = column_of(test->arg, scanned, INT8ARRAYOID)) == 0)
			return NULL;
	}
	return call;
}

/*
 * Scans whose only condition is that of the view, _source IS NULL AND _is_single(…), as those of whole tables are, ask
 * without the detour over an expression.
 */
static bool
ask_directly_below(PlanState *state, void *nothing)
{
	Scan	   *scan = (Scan *) state->plan;
	FuncExpr   *call;
	SingleRows	single;
	FmgrInfo	function;
	AttrNumber	tested;

	if (IsA(state, SeqScanState) && state->qual != NULL &&
		(call = only_call(scan->plan.qual, scan->scanrelid, &tested)) != NULL && list_length(call->args) == 4 && IsA(lfourth(call->args), Const) && lfourth_node(Const, call->args)->constisnull)
	{
		TupleDesc	columns = RelationGetDescr(((SeqScanState *) state)->ss.ss_currentRelation);

		fmgr_info(call->funcid, &function);
		single.key_label = column_of(linitial(call->args), scan->scanrelid, INT8OID);
		single.slot = column_of(lsecond(call->args), scan->scanrelid, INT8OID);
		single.source = column_of(lthird(call->args), scan->scanrelid, INT8ARRAYOID);
		if (function.fn_addr == discreet_is_single && single.key_label > 0 && single.slot > 0 && single.source > 0 &&
			(tested == 0 || tested == single.source) && is_never_null(columns, single.key_label) && is_never_null(columns, single.slot))
		{
			state->qual->evalfunc = row_is_single;
			state->qual->evalfunc_private = MemoryContextAlloc(state->state->es_query_cxt, sizeof(SingleRows));
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
