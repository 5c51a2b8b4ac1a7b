/*
 * sealed_columns.c: which columns are sealed. Read from discreet's tables as they are committed now, and kept until these change.
 */
#include "sealed.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static MemoryContext cache = NULL;	/* reset as a whole */
static bool known = false;
static bool changed_meanwhile;
static Oid	tables[2];			/* _sealed_column, _key */
static bool awaited = false;	/* the extension is there, and is of a version before they came */
static List *columns;			/* SealedColumn */
static List *keys;				/* NamedKey, while columns are read */
static Oid	functions[6];

typedef struct NamedKey
{
	NameData	name;
	pg_uuid_t	id;
} NamedKey;

static void
forget_columns(Datum argument, Oid relation)
{
	if (relation != InvalidOid && relation != tables[0] && relation != tables[1] && !awaited)
		return;
	known = false;
	changed_meanwhile = true;
	keys_changed++;
	forget_session();
}

static void
forget_functions(Datum argument, int cache_id, uint32 hash)
{
	memset(functions, 0, sizeof(functions));
}

static void
take_key(Relation table, TupleTableSlot *row, void *argument)
{
	NamedKey   *key = palloc0(sizeof(NamedKey));
	bool		null;

	namestrcpy(&key->name, TextDatumGetCString(slot_getattr(row, 1, &null)));
	key->id = *DatumGetUUIDP(slot_getattr(row, 2, &null));
	keys = lappend(keys, key);
}

static void
take_column(Relation table, TupleTableSlot *row, void *argument)
{
	SealedColumn *column = palloc0(sizeof(SealedColumn));
	bool		null;
	ListCell   *cell;

	column->id = *DatumGetUUIDP(slot_getattr(row, 1, &null));
	column->view = DatumGetObjectId(slot_getattr(row, 2, &null));
	column->base = DatumGetObjectId(slot_getattr(row, 3, &null));
	column->table = *DatumGetUUIDP(slot_getattr(row, 4, &null));
	column->number = DatumGetInt32(slot_getattr(row, 5, &null));
	column->name = *DatumGetName(slot_getattr(row, 6, &null));
	namestrcpy(&column->key, TextDatumGetCString(slot_getattr(row, 7, &null)));
	column->searchable = DatumGetBool(slot_getattr(row, 8, &null));
	column->version = DatumGetInt16(slot_getattr(row, 9, &null));
	foreach(cell, keys)
	{
		NamedKey   *key = lfirst(cell);

		if (strcmp(NameStr(key->name), NameStr(column->key)) == 0)
			column->key_id = key->id;
	}
	columns = lappend(columns, column);
}

static pg_noinline void
read_columns(void)
{
	Oid			schema = own_schema();
	MemoryContext before;

	if (cache == NULL)
	{
		cache = AllocSetContextCreate(TopMemoryContext, "discreet sealed columns", ALLOCSET_SMALL_SIZES);
		CacheRegisterRelcacheCallback(forget_columns, (Datum) 0);
		CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
	}
	MemoryContextReset(cache);
	columns = keys = NIL;
	known = changed_meanwhile = false;
	keys_changed++;
	if (!OidIsValid(schema))
		return;
	tables[0] = get_relname_relid("_sealed_column", schema);
	tables[1] = get_relname_relid("_key", schema);
	/* before ALTER EXTENSION UPDATE they may not be there */
	awaited = !OidIsValid(tables[0]) || !OidIsValid(tables[1]);
	if (awaited)
		return;
	before = MemoryContextSwitchTo(cache);
	scan_own_table(tables[1], NULL, take_key, NULL);
	scan_own_table(tables[0], NULL, take_column, NULL);
	MemoryContextSwitchTo(before);
	known = !changed_meanwhile;
}

static inline List *
all_columns(void)
{
	if (!known)
		read_columns();
	return columns;
}

bool
sealed_columns_exist(void)
{
	return all_columns() != NIL;
}

const SealedColumn *
sealed_column(const pg_uuid_t *id)
{
	ListCell   *cell;

	foreach(cell, all_columns())
	{
		SealedColumn *column = lfirst(cell);

		if (memcmp(&column->id, id, sizeof(pg_uuid_t)) == 0)
			return column;
	}
	return NULL;
}

const SealedColumn *
sealed_column_of(Oid view, const char *name)
{
	ListCell   *cell;

	foreach(cell, all_columns())
	{
		SealedColumn *column = lfirst(cell);

		if (column->view == view && strcmp(NameStr(column->name), name) == 0)
			return column;
	}
	return NULL;
}

/* What holds the rows of a table with sealed columns, which users know as a view. */
Oid
sealed_base_of(Oid view)
{
	ListCell   *cell;

	foreach(cell, all_columns())
		if (((SealedColumn *) lfirst(cell))->view == view)
			return ((SealedColumn *) lfirst(cell))->base;
	return InvalidOid;
}

/* The view that users know of a table that holds ciphertext. */
Oid
sealed_view_of(Oid base)
{
	ListCell   *cell;

	foreach(cell, all_columns())
		if (((SealedColumn *) lfirst(cell))->base == base)
			return ((SealedColumn *) lfirst(cell))->view;
	return InvalidOid;
}

bool
is_sealed_view(Oid relation)
{
	return OidIsValid(relation) && OidIsValid(sealed_base_of(relation));
}

List *
sealed_columns_of_base(Oid base)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, all_columns())
		if (((SealedColumn *) lfirst(cell))->base == base)
			found = lappend(found, lfirst(cell));
	return found;
}

bool
is_sealed_base(Oid relation)
{
	ListCell   *cell;

	if (OidIsValid(relation))
		foreach(cell, all_columns())
			if (((SealedColumn *) lfirst(cell))->base == relation)
				return true;
	return false;
}

/* ---- functions of discreet that statements are made with */

static Oid
function(int number, const char *name, int count, const Oid *types)
{
	if (!OidIsValid(functions[number]))
		functions[number] = own_function(name, count, types);
	return functions[number];
}

Oid
unseal_function(void)
{
	static const Oid types[] = {BYTEAOID, INT8OID, UUIDOID, ANYELEMENTOID};

	return function(0, "_unseal", lengthof(types), types);
}

Oid
seal_function(void)
{
	static const Oid types[] = {ANYELEMENTOID, INT8OID, UUIDOID};

	return function(1, "_seal", lengthof(types), types);
}

Oid
search_function(void)
{
	static const Oid types[] = {ANYELEMENTOID, UUIDOID};

	return function(2, "_seal_search", lengthof(types), types);
}

Oid
search_many_function(void)
{
	static const Oid types[] = {ANYARRAYOID, UUIDOID};

	return function(3, "_seal_search_many", lengthof(types), types);
}

Oid
is_open_function(void)
{
	static const Oid types[] = {UUIDOID};

	return function(4, "_is_unsealed", lengthof(types), types);
}

Oid
row_function(void)
{
	return function(5, "_sealed_row", 0, NULL);
}
