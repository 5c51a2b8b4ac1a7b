/*
 * mls_insertion.c: stores the root of a new entity of a multilevel table.
 *
 * An INSERT inside a trigger starts and ends an executor for every row, which costs several times what the row does.
 */
#include "mls_rows.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(discreet_insert_root);

/* For each column of the table: where its value is. */
enum
{
	KEY_LABEL = -1, SLOT = -2, ROW_ID = -3, LABEL = -4, DEAD = -5, SOURCE = -6, NOTHING = -7
};

/* What a call site knows of table and view. */
typedef struct Places
{
	Oid			type;			/* of the row of the view */
	int			columns;		/* of the view */
	int			natts;			/* of the table */
	int			place[FLEXIBLE_ARRAY_MEMBER];
} Places;

static int
place_of(Form_pg_attribute column, TupleDesc row)
{
	static const char *const internal[] = {"_key_label", "_slot", "_row_id", "_label", "_dead", "_source", "_entity"};
	const char *name = NameStr(column->attname);

	if (column->attisdropped)
		return NOTHING;
	for (int n = 0; n < lengthof(internal); n++)
		if (strcmp(name, internal[n]) == 0)
			return KEY_LABEL - n;
	for (int n = 0; n < row->natts; n++)
		if (!TupleDescAttr(row, n)->attisdropped && strcmp(name, NameStr(TupleDescAttr(row, n)->attname)) == 0 &&
			TupleDescAttr(row, n)->atttypid == column->atttypid)
			return n;
	elog(ERROR, "column \"%s\" of a multilevel table has no value", name);
}

static Places *
know_places(FmgrInfo *call_site, TupleDesc table, TupleDesc row)
{
	Places	   *places = (Places *) call_site->fn_extra;

	if (places != NULL && places->type == row->tdtypeid && places->columns == row->natts && places->natts == table->natts)
		return places;
	places = MemoryContextAlloc(call_site->fn_mcxt, offsetof(Places, place) + table->natts * sizeof(int));
	places->type = row->tdtypeid;
	places->columns = row->natts;
	places->natts = table->natts;
	for (int n = 0; n < table->natts; n++)
		places->place[n] = place_of(TupleDescAttr(table, n), row);
	call_site->fn_extra = places;
	return places;
}

/* The index of the key: key columns, label of the key, slot. */
Relation
index_of_key(ResultRelInfo *target)
{
	AttrNumber	slot = get_attnum(RelationGetRelid(target->ri_RelationDesc), "_slot");

	for (int n = 0; n < target->ri_NumIndices; n++)
	{
		Form_pg_index index = target->ri_IndexRelationDescs[n]->rd_index;

		if (index->indisunique && index->indisvalid && index->indkey.values[index->indnkeyatts - 1] == slot)
			return target->ri_IndexRelationDescs[n];
	}
	elog(ERROR, "a multilevel table without the index of its key");
}

/* Whether a label sees the key of a new row already, in a row of whatever label. */
static bool
is_known(ResultRelInfo *target, TupleTableSlot *new, int64 session)
{
	Relation	table = target->ri_RelationDesc;
	Relation	index = index_of_key(target);
	AttrNumber	label = get_attnum(RelationGetRelid(table), "_label");
	AttrNumber	dead = get_attnum(RelationGetRelid(table), "_dead");
	int			columns = index->rd_index->indnkeyatts - 2;
	ScanKeyData keys[INDEX_MAX_KEYS];
	TupleTableSlot *row = table_slot_create(table, NULL);
	IndexScanDesc scan;
	bool		known = false;
	bool		isnull;

	for (int n = 0; n < columns; n++)
	{
		Oid			type = index->rd_opcintype[n];
		Oid			equals = get_opfamily_member(index->rd_opfamily[n], type, type, BTEqualStrategyNumber);

		if (new->tts_isnull[index->rd_index->indkey.values[n] - 1])
			elog(ERROR, "a NULL in the key of an entity");
		ScanKeyEntryInitialize(&keys[n], 0, n + 1, BTEqualStrategyNumber, InvalidOid, index->rd_indcollation[n],
							   get_opcode(equals), new->tts_values[index->rd_index->indkey.values[n] - 1]);
	}
	scan = begin_index_scan(table, index, GetActiveSnapshot(), columns);
	index_rescan(scan, keys, columns, NULL, 0);
	while (!known && index_getnext_slot(scan, ForwardScanDirection, row))
		known = (DatumGetInt64(slot_getattr(row, label, &isnull)) & ~session) == 0 &&
			!DatumGetBool(slot_getattr(row, dead, &isnull));
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	return known;
}

static bool
is_any_function(Oid function, void *nothing)
{
	return true;
}

static bool
calls_functions(Node *node, void *nothing)
{
	return node != NULL && (check_functions_in_node(node, is_any_function, NULL) ||
							expression_tree_walker(node, calls_functions, NULL));
}

/*
 * Whether functions of users may run while a row is stored. They run as the owner of the table, so what they name must
 * not be found in the search path of the role that inserts. Setting it for every row of every table would cost a fifth of an INSERT.
 */
bool
runs_functions(ResultRelInfo *target)
{
	TupleConstr *constraints = RelationGetDescr(target->ri_RelationDesc)->constr;

	if (constraints != NULL && (constraints->num_check > 0 || constraints->has_generated_stored))
		return true;
	for (int n = 0; n < target->ri_NumIndices; n++)
	{
		Relation	index = target->ri_IndexRelationDescs[n];
		IndexInfo  *info = target->ri_IndexRelationInfo[n];

		if (info->ii_Expressions != NIL || info->ii_ExclusionOps != NULL || calls_functions((Node *) info->ii_Predicate, NULL))
			return true;
		for (int key = 0; key < index->rd_index->indnkeyatts; key++)
			if (index->rd_opfamily[key] >= FirstNormalObjectId || index->rd_opcintype[key] == RECORDOID ||
				IsPolymorphicType(index->rd_opcintype[key]))
				return true;
	}
	return false;
}

/* At the lowest label the index of the key knows all that the session sees. */
static bool
insert(Relation table, TupleTableSlot *slot, int64 label)
{
	EState	   *state = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);
	bool		known;
	int			settings = 0;

	InitResultRelInfo(target, table, 0, NULL, 0);
	target->ri_TrigDesc = NULL;	/* all of them are others' */
	ExecOpenIndices(target, false);
	if (runs_functions(target))
	{
		settings = NewGUCNestLevel();
		(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	}
	known = label != 0 && is_known(target, slot, label);
	if (!known)
	{
		const Trigger *history = history_trigger(table);

		ExecSimpleRelationInsert(target, state, slot);
		if (history != NULL)
			note_version(table, history, ExecFetchSlotHeapTuple(slot, false, NULL), "insert");
	}
	ExecCloseIndices(target);
	FreeExecutorState(state);
	if (settings > 0)
		AtEOXact_GUC(true, settings);
	return !known;
}

pg_noreturn static void
refuse_duplicate(text *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION), errmsg("%s", text_to_cstring(message)),
			 errhint("A row with this key is visible at the label of the session.")));
}

/* What an index says of a long value names its place in storage, which depends on rows of all labels. */
pg_noreturn static void
refuse_long_value(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("a value is too long for an index of the multilevel table")));
}

static Datum
insert_root(FunctionCallInfo fcinfo)
{
	Relation	table = table_open(PG_GETARG_OID(0), RowExclusiveLock);
	TupleDesc	columns = RelationGetDescr(table);
	HeapTupleHeader header = PG_GETARG_HEAPTUPLEHEADER(1);
	HeapTupleData row = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};
	TupleDesc	row_columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	Places	   *places = know_places(fcinfo->flinfo, columns, row_columns);
	Datum	   *values = palloc(row_columns->natts * sizeof(Datum));
	bool	   *nulls = palloc(row_columns->natts * sizeof(bool));
	TupleTableSlot *slot = MakeSingleTupleTableSlot(columns, table_slot_callbacks(table));
	Datum		row_id = DirectFunctionCall1(discreet_random_id, (Datum) 0);
	MemoryContext before = CurrentMemoryContext;

	heap_deform_tuple(&row, row_columns, values, nulls);
	for (int n = 0; n < columns->natts; n++)
	{
		int			place = places->place[n];

		slot->tts_isnull[n] = place == NOTHING || (place == SOURCE && PG_ARGISNULL(3)) || (place >= 0 && nulls[place]);
		if (place >= 0)
			slot->tts_values[n] = values[place];
		else if (place == KEY_LABEL || place == LABEL)
			slot->tts_values[n] = PG_GETARG_DATUM(2);
		else if (place == ROW_ID)
			slot->tts_values[n] = row_id;
		else if (place == SOURCE)
			slot->tts_values[n] = PG_GETARG_DATUM(3);
		else					/* SLOT, DEAD */
			slot->tts_values[n] = (Datum) 0;
	}
	ExecStoreVirtualTuple(slot);
	PG_TRY();
	{
		if (!insert(table, slot, PG_GETARG_INT64(2)))
			refuse_duplicate(PG_GETARG_TEXT_PP(4));
	}
	PG_CATCH();
	{
		int			code = geterrcode();

		if (code != ERRCODE_UNIQUE_VIOLATION && code != ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			PG_RE_THROW();
		MemoryContextSwitchTo(before);
		FlushErrorState();
		if (code == ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			refuse_long_value();
		refuse_duplicate(PG_GETARG_TEXT_PP(4));
	}
	PG_END_TRY();
	ExecDropSingleTupleTableSlot(slot);
	ReleaseTupleDesc(row_columns);
	table_close(table, NoLock);
	return row_id;
}

/*
 * _insert_root(base, new, label, source, duplicate): stores a row of the view, all of it at a label, and returns its number.
 * Where the label sees this key already, the error says `duplicate` and nothing else: that of the index would name the table.
 */
Datum
discreet_insert_root(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(4) ||
		!list_member_oid(multilevel_relations(true), PG_GETARG_OID(0)))
		elog(ERROR, "no row of a multilevel table");
	return insert_root(fcinfo);
}
