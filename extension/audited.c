/*
 * audited.c: who is in a query set. A person is 12 bytes: a hash of the unit, and half a hash of where this version of
 * the row stands and which transaction wrote it, which no two versions of a row share.
 */
#include "discreet.h"

#include "common/hashfn.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#define PERSON_BYTES 12			/* of a uuid: these are enough */

PG_FUNCTION_INFO_V1(discreet_person);
PG_FUNCTION_INFO_V1(discreet_query_set_transition);
PG_FUNCTION_INFO_V1(discreet_query_set_combine);
PG_FUNCTION_INFO_V1(discreet_query_set_serialize);
PG_FUNCTION_INFO_V1(discreet_query_set_deserialize);
PG_FUNCTION_INFO_V1(discreet_query_set_final);
PG_FUNCTION_INFO_V1(discreet_run_audited);

/* _person(unit, tableoid, xmin, ctid, seed): NULL where the row has no person. */
Datum
discreet_person(PG_FUNCTION_ARGS)
{
	TypeCacheEntry *type = fcinfo->flinfo->fn_extra;
	uint64		seed;
	uint64		words[2];
	unsigned char version[sizeof(Oid) + sizeof(TransactionId) + sizeof(ItemPointerData)];
	Oid			table;
	TransactionId writer;
	pg_uuid_t  *person;

	if (type == NULL)
	{
		type = lookup_type_cache(get_fn_expr_argtype(fcinfo->flinfo, 0), TYPECACHE_HASH_EXTENDED_PROC_FINFO);
		if (!OidIsValid(type->hash_extended_proc_finfo.fn_oid))
			elog(ERROR, "a unit whose values have no hash");
		fcinfo->flinfo->fn_extra = type;
	}
	seed = (uint64) PG_GETARG_INT64(4);
	table = PG_GETARG_OID(1);
	writer = PG_GETARG_TRANSACTIONID(2);
	memcpy(version, &table, sizeof(table));
	memcpy(version + sizeof(table), &writer, sizeof(writer));
	memcpy(version + sizeof(table) + sizeof(writer), PG_GETARG_POINTER(3), sizeof(ItemPointerData));
	words[0] = DatumGetUInt64(FunctionCall2Coll(&type->hash_extended_proc_finfo, PG_GET_COLLATION(),
												 PG_GETARG_DATUM(0), UInt64GetDatum(seed)));
	words[1] = DatumGetUInt64(hash_any_extended(version, sizeof(version), seed));

	person = palloc(sizeof(pg_uuid_t));
	for (int word = 0; word < 2; word++)
		for (int byte = 0; byte < 8; byte++)
			person->data[8 * word + byte] = (unsigned char) (words[word] >> (8 * byte));
	PG_RETURN_UUID_P(person);
}

static StringInfo
begin_set(FunctionCallInfo fcinfo)
{
	MemoryContext aggregate;
	MemoryContext before;
	StringInfo	set;

	if (!AggCheckCallContext(fcinfo, &aggregate))
		elog(ERROR, "a function of _query_set was called outside an aggregate");
	before = MemoryContextSwitchTo(aggregate);
	set = makeStringInfo();
	MemoryContextSwitchTo(before);
	return set;
}

Datum
discreet_query_set_transition(PG_FUNCTION_ARGS)
{
	StringInfo	set = PG_ARGISNULL(0) ? begin_set(fcinfo) : (StringInfo) PG_GETARG_POINTER(0);

	if (!PG_ARGISNULL(1))
		appendBinaryStringInfo(set, (char *) PG_GETARG_UUID_P(1)->data, PERSON_BYTES);
	PG_RETURN_POINTER(set);
}

Datum
discreet_query_set_combine(PG_FUNCTION_ARGS)
{
	StringInfo	set = PG_ARGISNULL(0) ? begin_set(fcinfo) : (StringInfo) PG_GETARG_POINTER(0);

	if (!PG_ARGISNULL(1))
	{
		StringInfo	other = (StringInfo) PG_GETARG_POINTER(1);

		appendBinaryStringInfo(set, other->data, other->len);
	}
	PG_RETURN_POINTER(set);
}

static bytea *
bytes_of(StringInfo set)
{
	bytea	   *bytes = palloc(VARHDRSZ + set->len);

	SET_VARSIZE(bytes, VARHDRSZ + set->len);
	memcpy(VARDATA(bytes), set->data, set->len);
	return bytes;
}

Datum
discreet_query_set_serialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(bytes_of((StringInfo) PG_GETARG_POINTER(0)));
}

Datum
discreet_query_set_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	StringInfo	set = begin_set(fcinfo);

	appendBinaryStringInfo(set, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	PG_RETURN_POINTER(set);
}

Datum
discreet_query_set_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(bytes_of((StringInfo) PG_GETARG_POINTER(0)));
}

/*
 * _run_audited(role, statement): rows of a text and bytes, read in the name of a role, 0 for the caller's. One
 * statement, so one snapshot.
 */
Datum
discreet_run_audited(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Acting		acting;

	InitMaterializedSRF(fcinfo, 0);
	begin_acting(&acting, PG_GETARG_OID(0));

	SPI_connect();
	if (SPI_execute(statement, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "the run step is not a SELECT");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Datum		values[2];
		bool		nulls[2];

		for (int column = 0; column < 2; column++)
			values[column] = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1, &nulls[column]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	SPI_finish();

	end_acting(&acting);
	PG_RETURN_NULL();
}
