/*
 * sealed_secrets.c: making, opening, closing and rotating named keys.
 *
 * These are SECURITY DEFINER functions: they write discreet's tables, and ask themselves who calls. A named key is 32 bytes, given
 * whole or made of a secret by scrypt; neither is stored. Whether a secret is right is seen by the data key that it unwraps.
 */
#include "sealed.h"

#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(discreet_create_key);
PG_FUNCTION_INFO_V1(discreet_open_key);
PG_FUNCTION_INFO_V1(discreet_close_key);
PG_FUNCTION_INFO_V1(discreet_rotate_key);
PG_FUNCTION_INFO_V1(discreet_new_data_key);

/* scrypt with 32 MB, in the proportions that OWASP's cheat sheet on passwords names */
#define COST 15
#define BLOCK 8
#define LANES 3
#define MOST_WRAPPED (NONCE_BYTES + SEARCH_KEY_BYTES + TAG_BYTES)

typedef struct KeyRow
{
	const char *name;
	bool		found;
	pg_uuid_t	id;
	NameData	owner;
	bool		has_secret;
	Derivation	how;
} KeyRow;

static void
take_key(Relation table, TupleTableSlot *row, void *argument)
{
	KeyRow	   *key = argument;
	bool		null;
	Datum		salt;

	if (strcmp(TextDatumGetCString(slot_getattr(row, 1, &null)), key->name) != 0)
		return;
	key->found = true;
	key->id = *DatumGetUUIDP(slot_getattr(row, 2, &null));
	key->owner = *DatumGetName(slot_getattr(row, 3, &null));
	key->how.whole = DatumGetBool(slot_getattr(row, 4, &null));
	salt = slot_getattr(row, 5, &null);
	key->has_secret = !null;
	if (null)
		return;
	memcpy(key->how.salt, VARDATA_ANY(DatumGetByteaPP(salt)),
		   Min(SALT_BYTES, VARSIZE_ANY_EXHDR(DatumGetByteaPP(salt))));
	key->how.cost = DatumGetInt32(slot_getattr(row, 6, &null));
	key->how.block = DatumGetInt32(slot_getattr(row, 7, &null));
	key->how.lanes = DatumGetInt32(slot_getattr(row, 8, &null));
}

static KeyRow
read_key(const char *name)
{
	KeyRow		key = {name, false};

	scan_own_table(get_relname_relid("_key", own_schema()), NULL, take_key, &key);
	if (!key.found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no key \"%s\"", name),
				 errhint("A curator makes one with discreet.create_key().")));
	return key;
}

static bool
owns_key(const KeyRow *key, Oid user)
{
	Oid			owner = get_role_oid(NameStr(key->owner), true);

	return superuser_arg(user) || (OidIsValid(owner) && has_privs_of_role(user, owner));
}

static void
require_owner(const KeyRow *key)
{
	if (!owns_key(key, GetOuterUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("%s does not own key \"%s\"", GetUserNameFromId(GetOuterUserId(), false), key->name),
				 errhint("Its owner, %s, or a superuser can do this.", NameStr(key->owner))));
}

static char *
given_name(FunctionCallInfo fcinfo)
{
	char	   *name;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("no name of a key is given")));
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the name of a key has 1 to %d bytes", NAMEDATALEN - 1)));
	return name;
}

/* A secret travels over TLS, or does not leave the machine. */
static void
refuse_unencrypted(void)
{
	bool		encrypted;

	if (MyBEEntry == NULL || MyBEEntry->st_backendType != B_BACKEND)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("keys can be opened only in a session of a client")));
	encrypted = MyBEEntry->st_ssl || (MyBEEntry->st_gss && MyBEEntry->st_gssstatus->gss_enc);
	if (!encrypted && MyBEEntry->st_clientaddr.addr.ss_family != AF_UNIX)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the secret of a key is not accepted over an unencrypted TCP connection"),
				 errhint("Connect with sslmode=verify-full. This secret has crossed the network in the clear: "
						 "replace it with discreet.rotate_key().")));
}

static bytea *
given_secret(FunctionCallInfo fcinfo, int argument)
{
	bytea	   *secret;

	hide_statement();
	refuse_unencrypted();
	if (PG_ARGISNULL(argument))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("no secret is given")));
	secret = PG_GETARG_BYTEA_PP(argument);
	if (VARSIZE_ANY_EXHDR(secret) < 1 || VARSIZE_ANY_EXHDR(secret) > LONGEST_SECRET)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a secret has 1 to %d bytes", LONGEST_SECRET)));
	return secret;
}

static uint8 *
named_key(const Derivation *how, bytea *secret)
{
	uint8	   *key = key_memory();

	derive_key(how, (uint8 *) VARDATA_ANY(secret), VARSIZE_ANY_EXHDR(secret), key);
	return key;
}

/* ---- what is written */

static void
run(const char *sql, int count, Oid *types, Datum *values, int expected)
{
	if (SPI_execute_with_args(sql, count, types, values, NULL, false, 0) != expected)
		elog(ERROR, "unexpected result of a statement of discreet");
}

static Datum
bytes_datum(const uint8 *bytes, int length)
{
	bytea	   *datum = palloc(VARHDRSZ + length);

	SET_VARSIZE(datum, VARHDRSZ + length);
	memcpy(VARDATA(datum), bytes, length);
	return PointerGetDatum(datum);
}

static void
store_data_key(const pg_uuid_t *owner, int version, const pg_uuid_t *key, const uint8 *with, int length)
{
	Oid			types[] = {UUIDOID, INT2OID, UUIDOID, BYTEAOID};
	Datum		values[4];
	uint8		wrapped[MOST_WRAPPED];
	uint8	   *bytes = key_memory();

	if (!pg_strong_random(bytes, length))
		ereport(ERROR, (errmsg("could not read random numbers")));
	wrap_key(with, key, owner, version, bytes, length, wrapped);
	free_key_memory(bytes);
	values[0] = UUIDPGetDatum(owner);
	values[1] = Int16GetDatum(version);
	values[2] = UUIDPGetDatum(key);
	values[3] = bytes_datum(wrapped, NONCE_BYTES + length + TAG_BYTES);
	run("INSERT INTO discreet._data_key (owner, version, key, wrapped) VALUES ($1, $2, $3, $4)", 4, types, values,
		SPI_OK_INSERT);
}

static void
store_derivation(KeyRow *key)
{
	Oid			types[] = {UUIDOID, BYTEAOID, INT4OID, INT4OID, INT4OID};
	Datum		values[5];

	if (!pg_strong_random(key->how.salt, SALT_BYTES))
		ereport(ERROR, (errmsg("could not read random numbers")));
	key->how.cost = COST;
	key->how.block = BLOCK;
	key->how.lanes = LANES;
	values[0] = UUIDPGetDatum(&key->id);
	values[1] = bytes_datum(key->how.salt, SALT_BYTES);
	values[2] = Int32GetDatum(COST);
	values[3] = Int32GetDatum(BLOCK);
	values[4] = Int32GetDatum(LANES);
	run("UPDATE discreet._key SET salt = $2, cost = $3, block = $4, lanes = $5 WHERE id = $1", 5, types, values,
		SPI_OK_UPDATE);
}

/* The first secret of a key. */
static void
give_secret(KeyRow *key, bytea *secret)
{
	uint8	   *bytes;

	require_owner(key);
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("key \"%s\" has no secret yet", key->name),
				 errhint("Open it on the primary first.")));
	SPI_connect();
	store_derivation(key);
	bytes = named_key(&key->how, secret);
	store_data_key(&key->id, 1, &key->id, bytes, SEARCH_KEY_BYTES);
	free_key_memory(bytes);
	SPI_finish();
	CommandCounterIncrement();
}

/* ---- is a secret right? */

typedef struct DataKeyRow
{
	pg_uuid_t	owner;
	int			version;
	int			length;
	uint8		wrapped[MOST_WRAPPED];
} DataKeyRow;

typedef struct DataKeyRows
{
	const pg_uuid_t *key;
	List	   *rows;
} DataKeyRows;

static void
take_data_key(Relation table, TupleTableSlot *slot, void *argument)
{
	DataKeyRows *of = argument;
	DataKeyRow *row;
	bytea	   *wrapped;
	bool		null;

	if (memcmp(DatumGetUUIDP(slot_getattr(slot, 3, &null)), of->key, sizeof(pg_uuid_t)) != 0)
		return;
	row = palloc(sizeof(DataKeyRow));
	row->owner = *DatumGetUUIDP(slot_getattr(slot, 1, &null));
	row->version = DatumGetInt16(slot_getattr(slot, 2, &null));
	wrapped = DatumGetByteaPP(slot_getattr(slot, 4, &null));
	row->length = Min(VARSIZE_ANY_EXHDR(wrapped), MOST_WRAPPED);
	memcpy(row->wrapped, VARDATA_ANY(wrapped), row->length);
	of->rows = lappend(of->rows, row);
}

static List *
data_keys_of(const KeyRow *key)
{
	DataKeyRows of = {&key->id, NIL};

	scan_own_table(get_relname_relid("_data_key", own_schema()), NULL, take_data_key, &of);
	return of.rows;
}

/* Whether these bytes are the named key: they unwrap the data key that every key has. */
static bool
is_named_key(const KeyRow *key, const uint8 *bytes)
{
	uint8	   *unwrapped = key_memory();
	bool		good = false;
	ListCell   *cell;

	foreach(cell, data_keys_of(key))
	{
		DataKeyRow *row = lfirst(cell);

		if (memcmp(&row->owner, &key->id, sizeof(pg_uuid_t)) == 0)
			good = unwrap_key(bytes, &key->id, &row->owner, row->version, row->wrapped, row->length, unwrapped);
	}
	free_key_memory(unwrapped);
	return good;
}

/* The named key that a secret stands for; an error when it unwraps nothing. */
static uint8 *
key_of_secret(const KeyRow *key, bytea *secret)
{
	uint8	   *bytes = named_key(&key->how, secret);

	if (!is_named_key(key, bytes))
	{
		free_key_memory(bytes);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PASSWORD), errmsg("the secret does not open key \"%s\"", key->name),
				 errhint("Nothing was changed. Other columns can be read without it; without its secret, columns under "
						 "this key are lost.")));
	}
	return bytes;
}

/* ---- keys that the server holds */

pg_uuid_t
id_of_key(const char *name)
{
	return read_key(name).id;
}

bool
is_key(const char *name, const uint8 *bytes)
{
	KeyRow		key = read_key(name);

	return is_named_key(&key, bytes);
}

/* The key of a secret that is wiped; one that is given whole may be written in hexadecimal digits. */
uint8 *
key_of_server(const char *name, uint8 *secret, int length)
{
	KeyRow		key = read_key(name);
	uint8	   *bytes = key_memory();
	bool		good;

	if (key.how.whole && length == 2 * SEAL_KEY_BYTES)
	{
		(void) hex_decode((char *) secret, length, (char *) bytes);
		memcpy(secret, bytes, SEAL_KEY_BYTES);
		length = SEAL_KEY_BYTES;
	}
	good = key.has_secret && (!key.how.whole || length == SEAL_KEY_BYTES);
	if (good)
		derive_key(&key.how, secret, length, bytes);
	wipe(secret, LONGEST_SECRET + 1);
	if (good && is_named_key(&key, bytes))
		return bytes;
	free_key_memory(bytes);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PASSWORD), errmsg("what discreet.key_command prints does not open key \"%s\"", name),
			 errhint("After discreet.rotate_key() it must print the new secret.")));
}

/* ---- functions */

/* create_key(name text, secret bytea, whole boolean) */
Datum
discreet_create_key(PG_FUNCTION_ARGS)
{
	char	   *name = given_name(fcinfo);
	Oid			caller = GetOuterUserId();
	Oid			curators = get_role_oid("discreet_curator", false);
	Oid			types[] = {TEXTOID, TEXTOID, BOOLOID};
	Datum		values[3];
	KeyRow		key;

	if (!is_member_of_role(caller, curators))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("only a curator can create keys"),
				 errhint("GRANT discreet_curator TO %s.", GetUserNameFromId(caller, false))));
	if (PG_ARGISNULL(2))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("whole is NULL")));
	values[0] = CStringGetTextDatum(name);
	values[1] = CStringGetTextDatum(GetUserNameFromId(caller, false));
	values[2] = PG_GETARG_DATUM(2);
	SPI_connect();
	run("INSERT INTO discreet._key (name, owner, whole) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", 3, types, values,
		SPI_OK_INSERT);
	if (SPI_processed == 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("there is a key \"%s\" already", name)));
	SPI_finish();
	CommandCounterIncrement();
	if (!PG_ARGISNULL(1))
	{
		bytea	   *secret = given_secret(fcinfo, 1);

		key = read_key(name);
		give_secret(&key, secret);
	}
	PG_RETURN_VOID();
}

/* open_key(name text, secret bytea) */
Datum
discreet_open_key(PG_FUNCTION_ARGS)
{
	char	   *name = given_name(fcinfo);
	bytea	   *secret = given_secret(fcinfo, 1);
	KeyRow		key = read_key(name);
	uint8	   *bytes;

	if (!may_open_key(name, NameStr(key.owner), GetOuterUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("%s may not open key \"%s\"", GetUserNameFromId(GetOuterUserId(), false), name),
				 errhint("Its owner gives it with discreet.grant_key('%s', '%s').", name,
						 GetUserNameFromId(GetOuterUserId(), false))));
	if (!key.has_secret)
		give_secret(&key, secret);
	bytes = key_of_secret(&key, secret);
	hold_key(name, &key.id, bytes);
	free_key_memory(bytes);
	PG_RETURN_VOID();
}

/* close_key(name text) */
Datum
discreet_close_key(PG_FUNCTION_ARGS)
{
	char	   *name = given_name(fcinfo);

	if (!drop_key(name))
		ereport(NOTICE, (errmsg("key \"%s\" is not open", name)));
	PG_RETURN_VOID();
}

/* rotate_key(name text, old_secret bytea, new_secret bytea): data keys are wrapped anew; no column is written */
Datum
discreet_rotate_key(PG_FUNCTION_ARGS)
{
	char	   *name = given_name(fcinfo);
	bytea	   *old_secret = given_secret(fcinfo, 1);
	bytea	   *new_secret = given_secret(fcinfo, 2);
	Oid			lock[] = {TEXTOID};
	Datum		locked[] = {CStringGetTextDatum(name)};
	KeyRow		key;
	uint8	   *old_bytes;
	uint8	   *new_bytes;
	uint8	   *unwrapped;
	List	   *rows;
	ListCell   *cell;

	SPI_connect();
	/* two rotations, or one and a new column, wait for each other */
	run("SELECT FROM discreet._key WHERE name = $1 FOR UPDATE", 1, lock, locked, SPI_OK_SELECT);
	key = read_key(name);
	require_owner(&key);
	if (!key.has_secret)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("key \"%s\" has no secret yet", name),
				 errhint("discreet.open_key() gives it its first one.")));
	old_bytes = key_of_secret(&key, old_secret);
	rows = data_keys_of(&key);
	store_derivation(&key);
	new_bytes = named_key(&key.how, new_secret);
	unwrapped = key_memory();
	foreach(cell, rows)
	{
		DataKeyRow *row = lfirst(cell);
		int			length = row->length - NONCE_BYTES - TAG_BYTES;
		Oid			types[] = {UUIDOID, INT2OID, BYTEAOID};
		Datum		values[3];
		uint8		wrapped[MOST_WRAPPED];

		if (!unwrap_key(old_bytes, &key.id, &row->owner, row->version, row->wrapped, row->length, unwrapped))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED), errmsg("a data key under key \"%s\" is damaged", name),
					 errhint("Nothing was changed. Restore table discreet._data_key from a dump.")));
		wrap_key(new_bytes, &key.id, &row->owner, row->version, unwrapped, length, wrapped);
		values[0] = UUIDPGetDatum(&row->owner);
		values[1] = Int16GetDatum(row->version);
		values[2] = bytes_datum(wrapped, row->length);
		run("UPDATE discreet._data_key SET wrapped = $3 WHERE owner = $1 AND version = $2", 3, types, values, SPI_OK_UPDATE);
	}
	free_key_memory(unwrapped);
	if (held_key(&key.id) != NULL)
		hold_key(name, &key.id, new_bytes);
	free_key_memory(old_bytes);
	free_key_memory(new_bytes);
	SPI_finish();
	PG_RETURN_VOID();
}

/* _new_data_key(owner uuid, version int2, key text): of a column that is about to be sealed, or to be sealed anew */
Datum
discreet_new_data_key(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *owner = PG_GETARG_UUID_P(0);
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(2));
	Oid			lock[] = {TEXTOID};
	Datum		locked[] = {PG_GETARG_DATUM(2)};
	KeyRow		key;
	uint8	   *bytes;

	SPI_connect();
	run("SELECT FROM discreet._key WHERE name = $1 FOR UPDATE", 1, lock, locked, SPI_OK_SELECT);
	key = read_key(name);
	bytes = held_key(&key.id);
	if (bytes == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("key \"%s\" is not open", name),
				 errhint("SELECT discreet.open_key('%s', …).", name)));
	if (!is_named_key(&key, bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the secret of key \"%s\" has changed since this session opened it", name),
				 errhint("Open it again, with its new secret: SELECT discreet.open_key('%s', …).", name)));
	store_data_key(owner, PG_GETARG_INT16(1), &key.id, bytes, SEAL_KEY_BYTES);
	SPI_finish();
	PG_RETURN_VOID();
}
