/*
 * release_secrets.c: what is computed under a key that no user can read: pseudonyms, record keys, noise of microdata.
 *
 * The keys lie in tables without grants. They are read here below the level at which PostgreSQL checks rights, after
 * this file has checked its own: the current user must hold the secret, or own it where old keys are concerned. So a
 * SECURITY DEFINER function lends what its owner holds, like everywhere else.
 */
#include "discreet.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "common/hmac.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define PSEUDONYM_BYTES 16

/* In front of what is hashed, so that the number of one use tells nothing about another's. */
typedef enum Use
{
	USE_PSEUDONYM = 'p',
	USE_RECORD_KEY = 'r',
	USE_NOISE = 'n',
} Use;

/* The key that a call site used last, for as long as nothing can have changed it. */
typedef struct KnownKey
{
	LocalTransactionId transaction;
	CommandId	command;
	Oid			user;
	int			version;
	char	   *secret;
	bytea	   *key;
} KnownKey;

static SysScanDesc
rows_of_secret(Relation table, const char *secret)
{
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(secret));
	return systable_beginscan(table, InvalidOid, false, GetActiveSnapshot(), 1, &key);
}

static Relation
open_table(const char *name)
{
	return table_open(get_relname_relid(name, get_namespace_oid("discreet", false)), AccessShareLock);
}

/* Whether the user owns the secret; it must be there. */
static bool
owns_secret(const char *secret, Oid user)
{
	Relation	table = open_table("_secret");
	SysScanDesc scan = rows_of_secret(table, secret);
	HeapTuple	row = systable_getnext(scan);
	bool		null;
	Oid			owner;

	if (!HeapTupleIsValid(row))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no secret \"%s\"", secret),
				 errhint("A curator makes one with discreet.create_secret().")));
	owner = get_role_oid(NameStr(*DatumGetName(heap_getattr(row, 2, RelationGetDescr(table), &null))), true);
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return superuser_arg(user) || (OidIsValid(owner) && has_privs_of_role(user, owner));
}

static bool
holds_secret(const char *secret, Oid user)
{
	Relation	table = open_table("_secret_holder");
	SysScanDesc scan = rows_of_secret(table, secret);
	HeapTuple	row;
	bool		holds = false;

	while (!holds && HeapTupleIsValid(row = systable_getnext(scan)))
	{
		bool		null;

		holds = has_privs_of_role(user, DatumGetObjectId(heap_getattr(row, 2, RelationGetDescr(table), &null)));
	}
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return holds;
}

/* The key of a version, or the newest for version 0. */
static bytea *
read_key(const char *secret, int version, MemoryContext context)
{
	Relation	table = open_table("_secret_key");
	SysScanDesc scan = rows_of_secret(table, secret);
	HeapTuple	row;
	bytea	   *key = NULL;
	int			newest = 0;

	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		bool		null;
		int			found = DatumGetInt32(heap_getattr(row, 2, RelationGetDescr(table), &null));

		if (version != 0 ? found == version : found > newest)
		{
			MemoryContext old = MemoryContextSwitchTo(context);

			newest = found;
			key = DatumGetByteaPCopy(heap_getattr(row, 3, RelationGetDescr(table), &null));
			MemoryContextSwitchTo(old);
		}
	}
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	if (key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("secret \"%s\" has no key of version %d", secret, version),
				 errhint("View discreet.secrets shows the versions that are kept.")));
	return key;
}

static bytea *
usable_key(FunctionCallInfo fcinfo, text *secret_name, int version)
{
	KnownKey   *known = fcinfo->flinfo->fn_extra;
	char	   *secret = text_to_cstring(secret_name);
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	Oid			user = GetUserId();

	if (known != NULL && known->transaction == CURRENT_LXID && known->command == GetCurrentCommandId(false) &&
		known->user == user && known->version == version && strcmp(known->secret, secret) == 0)
		return known->key;

	if (!owns_secret(secret, user) && (version != 0 || !holds_secret(secret, user)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 version != 0 ? errmsg("only the owner of secret \"%s\" may use its old keys", secret)
				 : errmsg("%s does not hold secret \"%s\"", GetUserNameFromId(user, false), secret),
				 errhint("Its owner gives it with discreet.grant_secret().")));
	if (known != NULL)
	{
		fcinfo->flinfo->fn_extra = NULL;
		pfree(known->secret);
		pfree(known->key);
		pfree(known);
	}
	known = MemoryContextAlloc(context, sizeof(KnownKey));
	known->transaction = CURRENT_LXID;
	known->command = GetCurrentCommandId(false);
	known->user = user;
	known->version = version;
	known->secret = MemoryContextStrdup(context, secret);
	known->key = read_key(secret, version, context);
	fcinfo->flinfo->fn_extra = known;
	return known->key;
}

static void
keyed_hash(bytea *key, Use use, const void *first, size_t first_length, text *last, uint8 *hash)
{
	pg_hmac_ctx *hmac = pg_hmac_create(PG_SHA256);
	uint8		mark = use;

	if (pg_hmac_init(hmac, (uint8 *) VARDATA_ANY(key), VARSIZE_ANY_EXHDR(key)) < 0 ||
		pg_hmac_update(hmac, &mark, 1) < 0 ||
		pg_hmac_update(hmac, first, first_length) < 0 ||
		pg_hmac_update(hmac, (uint8 *) VARDATA_ANY(last), VARSIZE_ANY_EXHDR(last)) < 0 ||
		pg_hmac_final(hmac, hash, PG_SHA256_DIGEST_LENGTH) < 0)
	{
		const char *reason = pg_hmac_error(hmac);

		pg_hmac_free(hmac);
		elog(ERROR, "could not compute an HMAC: %s", reason);
	}
	pg_hmac_free(hmac);
}

PG_FUNCTION_INFO_V1(discreet_pseudonym);

/* pseudonym(value text, secret text [, version int]) */
Datum
discreet_pseudonym(PG_FUNCTION_ARGS)
{
	int			version = PG_NARGS() > 2 ? PG_GETARG_INT32(2) : 0;
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	text	   *pseudonym = palloc(VARHDRSZ + 2 * PSEUDONYM_BYTES);

	if (PG_NARGS() > 2 && version < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("version is %d, which is no version of a key", version),
				 errhint("Versions count from 1; leave it out for the current one.")));
	keyed_hash(usable_key(fcinfo, PG_GETARG_TEXT_PP(1), version), USE_PSEUDONYM, "", 0, PG_GETARG_TEXT_PP(0), hash);
	SET_VARSIZE(pseudonym, VARHDRSZ + 2 * PSEUDONYM_BYTES);
	hex_encode((char *) hash, PSEUDONYM_BYTES, VARDATA(pseudonym));
	PG_RETURN_TEXT_P(pseudonym);
}

PG_FUNCTION_INFO_V1(discreet_record_key);

/* record_key(value text, secret text): evenly distributed from 0 to 2^32 - 1 */
Datum
discreet_record_key(PG_FUNCTION_ARGS)
{
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	uint32		number;

	keyed_hash(usable_key(fcinfo, PG_GETARG_TEXT_PP(1), 0), USE_RECORD_KEY, "", 0, PG_GETARG_TEXT_PP(0), hash);
	memcpy(&number, hash, sizeof(number));
	PG_RETURN_INT64((int64) pg_ntoh32(number));
}

/* A normal deviate from random bytes (Box and Muller 1958). */
static double
normal_deviate(const uint8 *bytes)
{
	uint64		first;
	uint64		second;

	memcpy(&first, bytes, sizeof(first));
	memcpy(&second, bytes + sizeof(first), sizeof(second));
	return sqrt(-2 * log(((first >> 11) + 0.5) * 0x1p-53)) * cos(2 * M_PI * ((second >> 11) * 0x1p-53));
}

PG_FUNCTION_INFO_V1(discreet_add_noise);

/* add_noise(value float8, deviation float8 [, record text, secret text]) */
Datum
discreet_add_noise(PG_FUNCTION_ARGS)
{
	double		numbers[2] = {PG_GETARG_FLOAT8(0) + 0.0, PG_GETARG_FLOAT8(1)};	/* no -0 */
	uint8		bytes[PG_SHA256_DIGEST_LENGTH];

	if (isnan(numbers[1]) || isinf(numbers[1]) || numbers[1] < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("deviation is %g, which is no standard deviation", numbers[1]),
				 errhint("Give a finite number that is not negative.")));
	if (PG_NARGS() > 2)
		/* of the value too: an update of a row must not show its difference without noise */
		keyed_hash(usable_key(fcinfo, PG_GETARG_TEXT_PP(3), 0), USE_NOISE, numbers, sizeof(numbers),
				   PG_GETARG_TEXT_PP(2), bytes);
	else if (!pg_strong_random(bytes, sizeof(bytes)))
		ereport(ERROR, (errmsg("could not read random numbers")));
	PG_RETURN_FLOAT8(numbers[0] + numbers[1] * normal_deviate(bytes));
}
