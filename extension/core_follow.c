/*
 * core_follow.c: what happens to tables that discreet knows something of. Every command that alters or drops a relation tells
 * the object access hook, for every command and every role. Nearly always the relation is none of ours, which a sorted
 * list in the memory of the session says: then nothing is read, locked or written. Otherwise the relation is noted, and when
 * the command ends discreet._follow() brings what is declared in line with what PostgreSQL's catalog says by then.
 *
 * The list may hold too many relations, never too few. It holds those of every version of a row, committed or not, dead or
 * alive; and it is read again after each row that is added (discreet._known_tables_changed). A curator's act holds a lock on
 * its table until it is committed, so a later ALTER has waited for that, and has heard of it.
 */
#include "discreet.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "utils/array.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(discreet_load_before_ddl);
PG_FUNCTION_INFO_V1(discreet_known_tables_changed);

/*
 * Relations that are to be followed when a command ends. What a subtransaction touched is forgotten when that fails, whoever
 * catches the error. The array is not in the memory of the transaction: a procedure may end it while commands are under way.
 */
typedef struct Touched
{
	Oid			relation;
	SubTransactionId subtransaction;
	int			command;		/* which of those under way did it, counted from the outermost; 0: no command */
} Touched;

static Touched *touched = NULL;
static int	touched_count = 0;
static int	touched_room = 0;
static int	commands = 0;		/* under way, one within the other */

/* all that the transaction has touched, in its memory */
static List *followed_relations = NIL;

/* Columns that name relations. Those of a detail name no relation that the others do not name. */
static const struct
{
	const char *table;
	const char *column;
	bool		detail;
}			sources[] = {
	{"_protected_table", "relation"},
	{"_protected_part", "relation"},
	{"_past_protection", "relation"},
	{"_exempt_view", "view"},
	{"_limit_turn", "relation"},
	{"_response_column", "relation"},
	{"_multilevel_table", "relation"},
	{"_multilevel_reference", "child"},
	{"_multilevel_reference", "parent"},
	{"_audit", "relation"},
	{"_audit_name", "relation"},
	{"_sealed_column", "base"},
	{"_protected_column", "relation", true},
	{"_multilevel_trigger", "relation", true},
	{"_audit_column", "relation", true},
	{"_audit_event", "relation", true},
	{"_audit_base", "relation", true},
	{"_audit_known", "relation", true},
};

/* what is known, and as of when: valid until one of the tables it is from, or the extension, comes, goes or changes */
static bool valid = false;
static bool changed_meanwhile;
static Oid	tables[lengthof(sources)];
static Oid	schema;
static uint32 schema_hash;
static MemoryContext memory = NULL;
static Oid *known;
static int	known_count;
static int	known_room;

/* ---- which relations are known */

static void
forget_known(void)
{
	valid = false;
	changed_meanwhile = true;
}

static void
on_relation_changed(Datum argument, Oid relation)
{
	if (!valid && changed_meanwhile)
		return;
	if (relation == InvalidOid)
		forget_known();
	for (int n = 0; n < lengthof(sources); n++)
		if (relation == tables[n])
			forget_known();
}

static void
on_schema_changed(Datum argument, int cache_id, uint32 hash)
{
	if (!OidIsValid(schema) || hash == 0 || hash == schema_hash)
		forget_known();
}

/*
 * Calls take for each row of a table of ours that a snapshot shows; without one, as it is committed now; of SnapshotAny, for
 * every version of a row. No lock stays, nor does a serializable transaction remember it: the scan does not know the snapshot.
 */
void
scan_own_table(Oid relation, Snapshot snapshot, RowTaker take, void *argument)
{
	Relation	table = table_open(relation, AccessShareLock);
	TableScanDesc scan = table_beginscan(table, SnapshotAny, 0, NULL);
	TupleTableSlot *slot = table_slot_create(table, NULL);
	Snapshot	committed = snapshot ? NULL : RegisterSnapshot(GetCatalogSnapshot(relation));

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		if (snapshot == SnapshotAny || table_tuple_satisfies_snapshot(table, slot, snapshot ? snapshot : committed))
			take(table, slot, argument);
	UnregisterSnapshot(committed);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	table_close(table, AccessShareLock);
}

static int
compare_oids(const void *a, const void *b)
{
	return *(const Oid *) a < *(const Oid *) b ? -1 : *(const Oid *) a > *(const Oid *) b;
}

static void
take_known(Relation table, TupleTableSlot *slot, void *column)
{
	bool		isnull;
	Oid			relation = DatumGetObjectId(slot_getattr(slot, *(AttrNumber *) column, &isnull));

	if (isnull)
		return;
	if (known_count == known_room)
	{
		known_room *= 2;
		known = repalloc_huge(known, known_room * sizeof(Oid));
	}
	known[known_count++] = relation;
}

static pg_noinline void
read_known(void)
{
	bool		complete = true;

	if (memory == NULL)
	{
		memory = AllocSetContextCreate(TopMemoryContext, "discreet known relations", ALLOCSET_SMALL_SIZES);
		CacheRegisterRelcacheCallback(on_relation_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, on_schema_changed, (Datum) 0);
	}
	valid = changed_meanwhile = false;
	MemoryContextReset(memory);
	known_count = 0;
	known_room = 64;
	known = MemoryContextAlloc(memory, known_room * sizeof(Oid));
	schema = own_schema();
	if (OidIsValid(schema))
		schema_hash = GetSysCacheHashValue1(NAMESPACEOID, ObjectIdGetDatum(schema));
	for (int n = 0; n < lengthof(sources); n++)
	{
		AttrNumber	column;

		tables[n] = OidIsValid(schema) ? get_relname_relid(sources[n].table, schema) : InvalidOid;
		if (!OidIsValid(tables[n]))
		{
			/* the extension is not here; or it comes or goes */
			complete = !OidIsValid(schema);
			continue;
		}
		if (sources[n].detail)
			continue;
		column = get_attnum(tables[n], sources[n].column);
		if (column == InvalidAttrNumber)
			elog(ERROR, "discreet.%s has no column %s", sources[n].table, sources[n].column);
		scan_own_table(tables[n], SnapshotAny, take_known, &column);
	}
	qsort(known, known_count, sizeof(Oid), compare_oids);
	valid = complete && !changed_meanwhile;
}

static bool
is_known(Oid relation)
{
	if (relation < FirstNormalObjectId)
		return false;
	if (!valid)
		read_known();
	return known_count > 0 && bsearch(&relation, known, known_count, sizeof(Oid), compare_oids) != NULL;
}

/* ---- what is touched */

static void follow(int command);

static bool
is_touched(Oid relation)
{
	for (int n = 0; n < touched_count; n++)
		if (touched[n].relation == relation)
			return true;
	return false;
}

static void
note_touched(Oid relation)
{
	if (is_touched(relation))
		return;
	if (touched == NULL)
	{
		touched = MemoryContextAlloc(TopMemoryContext, 16 * sizeof(Touched));
		touched_room = 16;
	}
	else if (touched_count == touched_room)
	{
		touched = repalloc_huge(touched, 2 * (Size) touched_room * sizeof(Touched));
		touched_room *= 2;
	}
	touched[touched_count].relation = relation;
	touched[touched_count].subtransaction = GetCurrentSubTransactionId();
	touched[touched_count++].command = commands;
}

static void
on_transaction(XactEvent event, void *argument)
{
	ListCell   *cell;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:

			/*
			 * Changes made by no command; and all others again: what a command followed may have been rolled back to a
			 * savepoint, or its refusal caught.
			 */
			foreach(cell, followed_relations)
				note_touched(lfirst_oid(cell));
			follow(0);
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			touched_count = 0;
			followed_relations = NIL;
			break;
		default:
			break;
	}
}

static void
on_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *argument)
{
	int			kept = 0;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	for (int n = 0; n < touched_count; n++)
		if (touched[n].subtransaction != own)
			touched[kept++] = touched[n];
		else if (event == SUBXACT_EVENT_COMMIT_SUB)
		{
			touched[kept] = touched[n];
			touched[kept++].subtransaction = parent;
		}
	touched_count = kept;
}

static void
touch(Oid relation)
{
	static bool watched = false;
	MemoryContext before;

	if (!watched)
	{
		RegisterXactCallback(on_transaction, NULL);
		RegisterSubXactCallback(on_subtransaction, NULL);
		watched = true;
	}
	note_touched(relation);
	before = MemoryContextSwitchTo(TopTransactionContext);
	followed_relations = list_append_unique_oid(followed_relations, relation);
	MemoryContextSwitchTo(before);
}

static void
touch_schema(Oid altered)
{
	if (!valid)
		read_known();
	for (int n = 0; n < known_count; n++)
		if (OidIsValid(known[n]) && get_rel_namespace(known[n]) == altered)
			touch(known[n]);
}

/* A relation, a column, or who inherits from whom: created, altered or about to be dropped. */
void
look_at_object(ObjectAccessType access, Oid class, Oid object, int column, void *argument)
{
	if (access != OAT_POST_CREATE && access != OAT_POST_ALTER && access != OAT_DROP)
		return;
	/* a relation that was just created is not known; its columns are created with it */
	if (class == RelationRelationId && (access != OAT_POST_CREATE || column != 0))
	{
		if (is_known(object))
			touch(object);
	}
	else if (class == InheritsRelationId && access == OAT_POST_ALTER)
	{
		Oid			parent = ((ObjectAccessPostAlter *) argument)->auxiliary_id;

		if (is_known(object) || is_known(parent))
		{
			touch(object);
			touch(parent);
		}
	}
	else if (class == NamespaceRelationId && access == OAT_POST_ALTER)
		touch_schema(object);
}

/* ---- following */

static void
refuse_unseen(Relation table, TupleTableSlot *slot, void *column)
{
	bool		isnull;
	Oid			relation = DatumGetObjectId(slot_getattr(slot, *(AttrNumber *) column, &isnull));

	if (!isnull && is_touched(relation) &&
		!table_tuple_satisfies_snapshot(table, slot, GetTransactionSnapshot()))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access: what discreet knows of relation %u changed after this transaction began",
						relation),
				 errhint("Begin a new transaction.")));
}

/* A transaction that keeps its first snapshot cannot change a row that it does not see. */
static void
refuse_changes_unseen(void)
{
	for (int n = 0; n < lengthof(sources); n++)
		if (OidIsValid(tables[n]))
		{
			AttrNumber	column = get_attnum(tables[n], sources[n].column);

			scan_own_table(tables[n], SnapshotSelf, refuse_unseen, &column);
		}
}

/*
 * Brings what is declared in line with the catalog, for all relations that are touched. Those of commands around this one are
 * followed again when these end, since this one may be taken back.
 */
static void
follow(int command)
{
	static const Oid types[] = {OIDARRAYOID};
	Oid			function;
	Datum	   *relations;
	int			count = touched_count;
	int			kept = 0;
	bool		read_only = XactReadOnly;

	if (count == 0 || !IsTransactionState())
		return;
	/* what was altered before SET TRANSACTION READ ONLY is followed all the same; an error ends this with its transaction */
	XactReadOnly = false;
	CommandCounterIncrement();
	function = own_function("_follow", lengthof(types), types);
	if (OidIsValid(function))
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		if (IsolationUsesXactSnapshot())
			refuse_changes_unseen();
		relations = palloc(count * sizeof(Datum));
		for (int n = 0; n < count; n++)
			relations[n] = ObjectIdGetDatum(touched[n].relation);
		OidFunctionCall1(function, PointerGetDatum(construct_array(relations, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT)));
		PopActiveSnapshot();
	}
	for (int n = 0; n < touched_count; n++)
		if (touched[n].command > 0 && touched[n].command < command)
			touched[kept++] = touched[n];
	touched_count = kept;
	XactReadOnly = read_only;
}

/*
 * Around every command that is not a part of another. One that runs within another, as in a CHECK or an event trigger, finds
 * what that has done so far followed: names and numbers of columns, by which parts are followed, are those of that moment.
 */
void
begin_command(void)
{
	if (unlikely(touched_count > 0))
		follow(commands + 1);
	commands++;
}

void
follow_command(void)
{
	if (unlikely(touched_count > 0))
		follow(commands);
}

/* Whether it succeeded or not. */
void
end_command(void)
{
	commands--;
}

/*
 * The event trigger of the start of a command. It does nothing: to be called, the library must be loaded, and with it come the
 * hooks. So a command of a session that began without the library is followed as well.
 */
Datum
discreet_load_before_ddl(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "_load_before_ddl is the function of an event trigger");
	PG_RETURN_NULL();
}

/* A row was added to one of the tables that name relations: all sessions read them again. */
Datum
discreet_known_tables_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "_known_tables_changed is a trigger function");
	CacheInvalidateRelcache(((TriggerData *) fcinfo->context)->tg_relation);
	forget_known();
	PG_RETURN_POINTER(NULL);
}
