/*
 * sealed_keys.c: the named keys that a session has opened, and the data keys below them.
 *
 * A named key wraps data keys: one for each randomised column, one for all searchable columns under it. Data keys lie wrapped in
 * table _data_key; they are unwrapped when a value needs them. A session loses what it has opened when it closes it, with
 * DISCARD ALL, when its role changes or loses the key, and when it ends. Workers of a parallel plan get the data keys of
 * the tables in it through shared memory, where they lie while the plan runs.
 */
#include "sealed.h"

#include <sys/mman.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#define WRAPPED_BYTES(length) (NONCE_BYTES + (length) + TAG_BYTES)
#define ABOUT_BYTES (2 * sizeof(pg_uuid_t) + 2)

typedef struct OpenKey
{
	NameData	name;
	pg_uuid_t	id;
	uint8	   *bytes;
} OpenKey;

uint64		keys_changed = 0;

static List *open_keys = NIL;	/* OpenKey */
static List *server_keys = NIL; /* OpenKey: see sealed_server.c */
static List *data_keys = NIL;	/* DataKey */
static Oid	opened_by[2];		/* session user, and what SET ROLE made of it */
static bool rights_are_known = false;
static Oid	tables_of_rights[2];	/* _key, _key_holder */

/* ---- memory that workers of a parallel plan share with their leader */

#define MOST_SHARED 32

typedef struct SharedKey
{
	pg_uuid_t	owner;
	pg_uuid_t	key;
	int32		version;
	bool		searchable;
	uint8		bytes[SEARCH_KEY_BYTES];
} SharedKey;

typedef struct SharedKeys
{
	int			count;
	SharedKey	keys[MOST_SHARED];
} SharedKeys;

static SharedKeys *shared_keys = NULL;	/* one for each backend */
static int	sharing = 0;			/* plans with workers that run, one within the other */
static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

static void
request_memory(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(mul_size(MaxBackends, sizeof(SharedKeys)));
}

static void
start_memory(void)
{
	Size		size = mul_size(MaxBackends, sizeof(SharedKeys));
	bool		found;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared_keys = ShmemInitStruct("discreet keys of parallel plans", size, &found);
	if (!found)
	{
		uintptr_t	page = 4096;
		uintptr_t	start = ((uintptr_t) shared_keys + page - 1) & ~(page - 1);
		uintptr_t	end = ((uintptr_t) shared_keys + size) & ~(page - 1);

		memset(shared_keys, 0, size);
		if (end > start)
		{
			(void) mlock((void *) start, end - start);
#ifdef MADV_DONTDUMP
			(void) madvise((void *) start, end - start, MADV_DONTDUMP);
#endif
		}
	}
	LWLockRelease(AddinShmemInitLock);
}

/* While shared_preload_libraries are loaded. */
void
request_key_memory(void)
{
	previous_request = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = start_memory;
}

static SharedKeys *
keys_shared_by(PGPROC *process)
{
	int			number = process == NULL ? -1 : (int) (process - ProcGlobal->allProcs);

	return shared_keys == NULL || number < 0 || number >= MaxBackends ? NULL : &shared_keys[number];
}

/* Whenever keys are dropped, and when a transaction ends. */
static void
wipe_shared_keys(void)
{
	SharedKeys *place = sharing == 0 ? NULL : keys_shared_by(MyProc);

	if (place != NULL)
		wipe(place, sizeof(SharedKeys));
}

/* After a plan with workers. */
void
unshare_keys(void)
{
	if (sharing == 1)
		wipe_shared_keys();
	if (sharing > 0)
		sharing--;
}

/* ---- dropping */

static void
free_data_key(DataKey *key)
{
	free_cipher(key->cipher);
	free_key_memory(key->bytes);
	pfree(key);
}

static void
forget_open_key(OpenKey *key)
{
	ListCell   *cell;

	foreach(cell, data_keys)
	{
		DataKey    *below = lfirst(cell);

		if (memcmp(&below->key, &key->id, sizeof(pg_uuid_t)) == 0)
		{
			data_keys = foreach_delete_current(data_keys, cell);
			free_data_key(below);
		}
	}
	free_key_memory(key->bytes);
	pfree(key);
	keys_changed++;
	wipe_shared_keys();
}

static void
drop_open_key(OpenKey *key)
{
	open_keys = list_delete_ptr(open_keys, key);
	forget_open_key(key);
}

static void
drop_server_key(OpenKey *key)
{
	server_keys = list_delete_ptr(server_keys, key);
	forget_open_key(key);
}

bool
drop_key(const char *name)
{
	ListCell   *cell;

	foreach(cell, open_keys)
		if (strcmp(NameStr(((OpenKey *) lfirst(cell))->name), name) == 0)
		{
			drop_open_key(lfirst(cell));
			return true;
		}
	return false;
}

void
drop_all_keys(void)
{
	while (open_keys != NIL)
		drop_open_key(linitial(open_keys));
}

/* With DISCARD ALL, and at exit. */
void
drop_server_keys(void)
{
	while (server_keys != NIL)
		drop_server_key(linitial(server_keys));
}

static void
drop_at_exit(int code, Datum argument)
{
	drop_all_keys();
	drop_server_keys();
}

/* A plan that failed has left its keys where its workers found them. */
static void
end_of_transaction(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE)
	{
		wipe_shared_keys();
		sharing = 0;
	}
}

static void
end_of_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *argument)
{
	/* no subtransaction begins while a plan with workers runs: those that run now have failed */
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		wipe_shared_keys();
		sharing = 0;
	}
}

/* Before each statement, and each part of a cursor: what another role has opened is not for this one. */
void
drop_keys_of_others(void)
{
	if (open_keys != NIL && (opened_by[0] != GetSessionUserId() || opened_by[1] != GetOuterUserId()))
		drop_all_keys();
}

/* Whether what was opened is still for this session: a transaction that has its locks hears of nothing else. */
void
look_at_keys(void)
{
	if (open_keys == NIL)
		return;
	drop_keys_of_others();
	if (IsTransactionState())
		AcceptInvalidationMessages();
}

/* Before each statement of a database with sealed columns. */
void
begin_sealed(void)
{
	if (!sealed_columns_exist())
		return;
	look_at_keys();
	watch_runs();
}

/* ---- who may */

static void
forget_rights(Datum argument, int cache_id, uint32 hash)
{
	look_at_rights_again();
}

static void
forget_holders(Datum argument, Oid relation)
{
	if (relation == InvalidOid || relation == tables_of_rights[0] || relation == tables_of_rights[1])
		look_at_rights_again();
}

void
look_at_rights_again(void)
{
	rights_are_known = false;
	keys_changed++;
}

typedef struct Holding
{
	const char *name;
	Oid			user;
	bool		holds;
} Holding;

static void
take_holder(Relation table, TupleTableSlot *row, void *argument)
{
	Holding    *holding = argument;
	bool		null;

	if (!holding->holds && strcmp(TextDatumGetCString(slot_getattr(row, 1, &null)), holding->name) == 0)
		holding->holds = has_privs_of_role(holding->user, DatumGetObjectId(slot_getattr(row, 2, &null)));
}

bool
may_open_key(const char *name, const char *owner, Oid user)
{
	Holding		holding = {name, user, false};
	Oid			role = get_role_oid(owner, true);

	if (superuser_arg(user) || (OidIsValid(role) && has_privs_of_role(user, role)))
		return true;
	scan_own_table(get_relname_relid("_key_holder", own_schema()), NULL, take_holder, &holding);
	return holding.holds;
}

static void
take_lost_key(Relation table, TupleTableSlot *row, void *argument)
{
	List	  **kept = argument;
	bool		null;
	ListCell   *cell;
	char	   *name = TextDatumGetCString(slot_getattr(row, 1, &null));
	char	   *owner = NameStr(*DatumGetName(slot_getattr(row, 3, &null)));

	foreach(cell, open_keys)
		if (strcmp(NameStr(((OpenKey *) lfirst(cell))->name), name) == 0 && may_open_key(name, owner, opened_by[1]))
			*kept = lappend(*kept, lfirst(cell));
}

/* Drops the keys that the role has lost, or that are gone. */
static void
check_rights(void)
{
	List	   *kept = NIL;
	ListCell   *cell;

	if (rights_are_known || open_keys == NIL || !IsTransactionState())
		return;
	rights_are_known = true;
	scan_own_table(get_relname_relid("_key", own_schema()), NULL, take_lost_key, &kept);
	foreach(cell, list_copy(open_keys))
		if (!list_member_ptr(kept, lfirst(cell)))
			drop_open_key(lfirst(cell));
}

/* ---- holding */

static OpenKey *
open_key_of(const pg_uuid_t *id)
{
	ListCell   *cell;

	if (server_run_is_on())
	{
		foreach(cell, server_keys)
			if (memcmp(&((OpenKey *) lfirst(cell))->id, id, sizeof(pg_uuid_t)) == 0)
				return lfirst(cell);
		return NULL;
	}
	drop_keys_of_others();
	check_rights();
	/* code of the owner of an index or a materialised view runs here, in a session of the role that maintains it */
	if (InSecurityRestrictedOperation())
		return NULL;
	foreach(cell, open_keys)
		if (memcmp(&((OpenKey *) lfirst(cell))->id, id, sizeof(pg_uuid_t)) == 0)
			return lfirst(cell);
	return NULL;
}

static OpenKey *
make_open_key(const char *name, const pg_uuid_t *id, const uint8 *bytes)
{
	MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
	OpenKey    *key = palloc0(sizeof(OpenKey));

	namestrcpy(&key->name, name);
	key->id = *id;
	key->bytes = key_memory();
	memcpy(key->bytes, bytes, SEAL_KEY_BYTES);
	keep_key_memory(key->bytes);
	MemoryContextSwitchTo(before);
	return key;
}

static List *
with_key(List *keys, OpenKey *key)
{
	MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);

	keys = lappend(keys, key);
	MemoryContextSwitchTo(before);
	keys_changed++;
	return keys;
}

static void
watch_session(void)
{
	static bool watched = false;

	if (!watched)
	{
		before_shmem_exit(drop_at_exit, (Datum) 0);
		RegisterXactCallback(end_of_transaction, NULL);
		RegisterSubXactCallback(end_of_subtransaction, NULL);
		CacheRegisterSyscacheCallback(AUTHOID, forget_rights, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_rights, (Datum) 0);
		CacheRegisterRelcacheCallback(forget_holders, (Datum) 0);
		watched = true;
	}
}

/* From now on the session has the key. */
void
hold_key(const char *name, const pg_uuid_t *id, const uint8 *bytes)
{
	watch_session();
	tables_of_rights[0] = get_relname_relid("_key", own_schema());
	tables_of_rights[1] = get_relname_relid("_key_holder", own_schema());
	drop_keys_of_others();
	(void) drop_key(name);
	open_keys = with_key(open_keys, make_open_key(name, id, bytes));
	opened_by[0] = GetSessionUserId();
	opened_by[1] = GetOuterUserId();
}

/* Whether the server has the key, as it is now: one that was rotated is dropped. */
bool
server_holds(const char *name, const pg_uuid_t *id)
{
	ListCell   *cell;

	foreach(cell, server_keys)
	{
		OpenKey    *key = lfirst(cell);

		if (memcmp(&key->id, id, sizeof(pg_uuid_t)) != 0)
			continue;
		if (is_key(name, key->bytes))
			return true;
		drop_server_key(key);
		return false;
	}
	return false;
}

void
hold_server_key(const char *name, const pg_uuid_t *id, const uint8 *bytes)
{
	watch_session();
	server_keys = with_key(server_keys, make_open_key(name, id, bytes));
}

uint8 *
held_key(const pg_uuid_t *key)
{
	OpenKey    *held = open_key_of(key);

	return held == NULL ? NULL : held->bytes;
}

/* ---- data keys */

static void
about_key(uint8 *about, const pg_uuid_t *key, const pg_uuid_t *owner, int version)
{
	memcpy(about, key, sizeof(pg_uuid_t));
	memcpy(about + sizeof(pg_uuid_t), owner, sizeof(pg_uuid_t));
	about[2 * sizeof(pg_uuid_t)] = version >> 8;
	about[2 * sizeof(pg_uuid_t) + 1] = version & 0xff;
}

/* `wrapped` has room for nonce, key and tag. */
void
wrap_key(const uint8 *with, const pg_uuid_t *key, const pg_uuid_t *owner, int version, const uint8 *bytes, int length,
		 uint8 *wrapped)
{
	Cipher	   *cipher = make_cipher(with, false);
	uint8		about[ABOUT_BYTES];

	about_key(about, key, owner, version);
	random_bytes(wrapped, NONCE_BYTES);
	encrypt_randomised(cipher, wrapped, about, ABOUT_BYTES, bytes, length, wrapped + NONCE_BYTES,
					   wrapped + NONCE_BYTES + length);
	free_cipher(cipher);
}

/* False: the named key is another, or the wrapped key was moved or damaged. */
bool
unwrap_key(const uint8 *with, const pg_uuid_t *key, const pg_uuid_t *owner, int version, const uint8 *wrapped,
		   int wrapped_length, uint8 *bytes)
{
	Cipher	   *cipher;
	uint8		about[ABOUT_BYTES];
	int			length = wrapped_length - WRAPPED_BYTES(0);
	bool		good;

	if (length != SEAL_KEY_BYTES && length != SEARCH_KEY_BYTES)
		return false;
	cipher = make_cipher(with, false);
	about_key(about, key, owner, version);
	good = decrypt_randomised(cipher, wrapped, about, ABOUT_BYTES, wrapped + NONCE_BYTES, length,
							  wrapped + NONCE_BYTES + length, bytes);
	free_cipher(cipher);
	return good;
}

static DataKey *
keep_data_key(const pg_uuid_t *owner, int version, bool searchable, const pg_uuid_t *key, uint8 *bytes)
{
	MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
	DataKey    *kept = palloc0(sizeof(DataKey));

	kept->owner = *owner;
	kept->version = version;
	kept->searchable = searchable;
	kept->key = *key;
	kept->bytes = bytes;
	kept->cipher = make_cipher(bytes, searchable);
	keep_key_memory(bytes);
	data_keys = lappend(data_keys, kept);
	MemoryContextSwitchTo(before);
	return kept;
}

static DataKey *
kept_data_key(const pg_uuid_t *owner, int version)
{
	ListCell   *cell;

	foreach(cell, data_keys)
	{
		DataKey    *kept = lfirst(cell);

		if (kept->version == version && memcmp(&kept->owner, owner, sizeof(pg_uuid_t)) == 0)
			return kept;
	}
	return NULL;
}

typedef struct Wanted
{
	const pg_uuid_t *owner;
	int			version;
	bool		found;
	uint8		wrapped[WRAPPED_BYTES(SEARCH_KEY_BYTES)];
	int			length;
} Wanted;

static void
take_wrapped(Relation table, TupleTableSlot *row, void *argument)
{
	Wanted	   *wanted = argument;
	bool		null;
	bytea	   *wrapped;

	if (memcmp(DatumGetUUIDP(slot_getattr(row, 1, &null)), wanted->owner, sizeof(pg_uuid_t)) != 0 ||
		DatumGetInt16(slot_getattr(row, 2, &null)) != wanted->version)
		return;
	wrapped = DatumGetByteaPP(slot_getattr(row, 4, &null));
	if (VARSIZE_ANY_EXHDR(wrapped) > sizeof(wanted->wrapped))
		return;
	wanted->found = true;
	wanted->length = VARSIZE_ANY_EXHDR(wrapped);
	memcpy(wanted->wrapped, VARDATA_ANY(wrapped), wanted->length);
}

static const SharedKey *
key_of_leader(const pg_uuid_t *owner, int version)
{
	SharedKeys *place = MyProc->lockGroupLeader == MyProc ? NULL : keys_shared_by(MyProc->lockGroupLeader);

	for (int n = 0; place != NULL && n < place->count; n++)
		if (place->keys[n].version == version && memcmp(&place->keys[n].owner, owner, sizeof(pg_uuid_t)) == 0)
			return &place->keys[n];
	return NULL;
}

/* Whether values under a named key can be read here; in a worker, whether its leader can. */
bool
key_is_open(const pg_uuid_t *key)
{
	if (IsParallelWorker())
	{
		SharedKeys *place = keys_shared_by(MyProc->lockGroupLeader);

		for (int n = 0; place != NULL && n < place->count; n++)
			if (memcmp(&place->keys[n].key, key, sizeof(pg_uuid_t)) == 0)
				return true;
		return false;
	}
	return open_key_of(key) != NULL;
}

/* A data key of a column; NULL when its named key is not open. */
DataKey *
find_data_key(const SealedColumn *column, int version)
{
	const pg_uuid_t *owner = column->searchable ? &column->key_id : &column->id;
	Wanted		wanted = {owner, version, false};
	DataKey    *kept;
	uint8	   *bytes;
	uint8	   *with;

	if (IsParallelWorker())
	{
		const SharedKey *shared;

		kept = kept_data_key(owner, version);
		if (kept != NULL)
			return kept;
		shared = key_of_leader(owner, version);
		if (shared == NULL)
			return NULL;
		bytes = key_memory();
		memcpy(bytes, shared->bytes, SEARCH_KEY_BYTES);
		return keep_data_key(owner, version, shared->searchable, &shared->key, bytes);
	}
	if (open_key_of(&column->key_id) == NULL)
		return NULL;
	kept = kept_data_key(owner, version);
	if (kept != NULL)
		return kept;
	scan_own_table(get_relname_relid("_data_key", own_schema()), NULL, take_wrapped, &wanted);
	if (!wanted.found)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("data key %d of sealed column \"%s\" is missing", version, NameStr(column->name)),
				 errhint("It is a row of discreet._data_key, which is in every dump of the database.")));
	/* to read the table is to hear of changes, by which the key may have been lost */
	with = held_key(&column->key_id);
	if (with == NULL)
		return NULL;
	bytes = key_memory();
	if (!unwrap_key(with, &column->key_id, owner, version, wanted.wrapped, wanted.length, bytes))
	{
		free_key_memory(bytes);
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the secret of key \"%s\" has changed since this session opened it", NameStr(column->key)),
				 errhint("Open it again, with its new secret: SELECT discreet.open_key('%s', …).", NameStr(column->key))));
	}
	return keep_data_key(owner, version, column->searchable, &column->key_id, bytes);
}

typedef struct Versions
{
	const pg_uuid_t *owner;
	List	   *versions;
} Versions;

static void
take_version(Relation table, TupleTableSlot *row, void *argument)
{
	Versions   *of = argument;
	bool		null;

	if (memcmp(DatumGetUUIDP(slot_getattr(row, 1, &null)), of->owner, sizeof(pg_uuid_t)) == 0)
		of->versions = list_append_unique_int(of->versions, DatumGetInt16(slot_getattr(row, 2, &null)));
}

/*
 * Before a plan with workers runs: the data keys of its tables, for the workers, until unshare_keys(). Where there are more than there is
 * room for, the plan runs without workers.
 */
void
share_keys(QueryDesc *query)
{
	SharedKeys *place = keys_shared_by(MyProc);
	ListCell   *cell;

	sharing++;
	if (open_keys == NIL && !server_run_is_on())
		return;
	foreach(cell, query->plannedstmt->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);
		ListCell   *of;

		if (entry->rtekind != RTE_RELATION || !is_sealed_base(entry->relid))
			continue;
		foreach(of, sealed_columns_of_base(entry->relid))
		{
			const SealedColumn *column = lfirst(of);
			Versions	versions = {column->searchable ? &column->key_id : &column->id, NIL};
			ListCell   *version;

			if (!key_is_open(&column->key_id))
				continue;
			scan_own_table(get_relname_relid("_data_key", own_schema()), NULL, take_version, &versions);
			foreach(version, versions.versions)
			{
				DataKey    *key = find_data_key(column, lfirst_int(version));
				SharedKey  *shared;
				bool		there = false;

				for (int n = 0; place != NULL && n < place->count; n++)
					there |= place->keys[n].version == key->version &&
						memcmp(&place->keys[n].owner, &key->owner, sizeof(pg_uuid_t)) == 0;
				/* the leader gets what workers have unsealed */
				refuse_spills();
				if (there)
					continue;
				if (place == NULL || place->count == MOST_SHARED)
				{
					query->plannedstmt->parallelModeNeeded = false;
					query->estate->es_use_parallel_mode = false;
					return;
				}
				shared = &place->keys[place->count];
				shared->owner = key->owner;
				shared->key = key->key;
				shared->version = key->version;
				shared->searchable = key->searchable;
				memcpy(shared->bytes, key->bytes, SEARCH_KEY_BYTES);
				place->count++;
			}
		}
	}
}
