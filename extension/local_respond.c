/*
 * local_respond.c: the trigger of rr_column. What is written to the column is replaced by a randomised response before the row
 * is made; the response is drawn once for a person and stays, whatever is written later.
 *
 * Only responses are kept, and whose they are as a salted hash. Nothing here depends on a secret: with a keyed choice per
 * value, a thief of the key would read the truth out of the responses.
 */
#include "local.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* What a trigger needs to know of its column, kept for a statement. */
typedef struct ResponseColumn
{
	int			id;
	Domain	   *domain;
	Coin		coin;
	bytea	   *salt;
	Oid			input;
	Oid			input_parameter;
} ResponseColumn;

/*
 * Statements name their operators with a schema: the search path is that of the writer of the row, since pinning one for
 * each row would take longer than the rest.
 */
static SPIPlanPtr
kept_plan(SPIPlanPtr *plan, const char *statement, int arguments, Oid *types)
{
	if (*plan == NULL)
	{
		SPIPlanPtr	fresh = SPI_prepare(statement, arguments, types);

		if (fresh == NULL || SPI_keepplan(fresh) != 0)
			elog(ERROR, "could not prepare: %s", SPI_result_code_string(SPI_result));
		*plan = fresh;
	}
	return *plan;
}

/*
 * A role that may make triggers could name a column of a domain, whose checks would then run in the name of the extension's
 * owner. So only PostgreSQL's own types and enums are read and written here.
 */
static void
refuse_type(Form_pg_attribute attribute)
{
	char		kind = get_typtype(attribute->atttypid);

	if (kind != TYPTYPE_ENUM && (kind != TYPTYPE_BASE || attribute->atttypid >= FirstNormalObjectId))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column \"%s\" is of a type that has no randomised responses", NameStr(attribute->attname))));
}

/* What rr_column declared under this number. */
static ResponseColumn *
declared_column(FunctionCallInfo fcinfo, TriggerData *call)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT4OID, OIDOID};
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	ResponseColumn *column = MemoryContextAllocZero(context, sizeof(ResponseColumn));
	TupleDesc	row = RelationGetDescr(call->tg_relation);
	bool		isnull;
	Datum		values[2];
	MemoryContext caller_context;

	refuse_type(TupleDescAttr(row, call->tg_trigger->tgattr[0] - 1));
	refuse_type(TupleDescAttr(row, call->tg_trigger->tgattr[1] - 1));
	column->id = pg_strtoint32(call->tg_trigger->tgargs[0]);
	values[0] = Int32GetDatum(column->id);
	values[1] = ObjectIdGetDatum(RelationGetRelid(call->tg_relation));
	/* a number that was declared for a table of another owner is not valid here */
	kept_plan(&plan, "SELECT epsilon, domain, salt FROM discreet._response_column"
			  " WHERE id OPERATOR(pg_catalog.=) $1 AND (relation OPERATOR(pg_catalog.=) $2"
			  " OR relation OPERATOR(pg_catalog.=) ANY (SELECT relid FROM pg_catalog.pg_partition_ancestors($2)))",
			  2, types);
	if (SPI_execute_plan(plan, values, NULL, true, 1) != SPI_OK_SELECT || SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the responses of %s are not declared", RelationGetRelationName(call->tg_relation)),
				 errhint("Drop trigger \"%s\" and call discreet.rr_column() anew.", call->tg_trigger->tgname)));
	caller_context = MemoryContextSwitchTo(context);
	column->domain = make_domain(DatumGetArrayTypePCopy(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
																	  2, &isnull)), 2);
	column->coin = coin_for(DatumGetFloat8(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull)),
							1, column->domain->size);
	column->salt = DatumGetByteaPCopy(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 3, &isnull));
	MemoryContextSwitchTo(caller_context);
	getTypeInputInfo(TupleDescAttr(row, call->tg_trigger->tgattr[0] - 1)->atttypid,
					 &column->input, &column->input_parameter);
	return column;
}

/* A person as a hash, by which the same one is known again. */
static Datum
hashed_person(const ResponseColumn *column, const char *person)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	bytea	   *digest = palloc(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);

	SET_VARSIZE(digest, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	if (pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) VARDATA_ANY(column->salt), VARSIZE_ANY_EXHDR(column->salt)) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) person, strlen(person)) < 0 ||
		pg_cryptohash_final(context, (uint8 *) VARDATA(digest), PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "could not hash a person");
	pg_cryptohash_free(context);
	return PointerGetDatum(digest);
}

/* Keeps a first response of a person, or finds the one that is kept already. */
static int
permanent_response(const ResponseColumn *column, Datum person, int response)
{
	static SPIPlanPtr keep = NULL;
	static SPIPlanPtr recall = NULL;
	Oid			types[] = {INT4OID, BYTEAOID, INT4OID};
	Datum		values[] = {Int32GetDatum(column->id), person, Int32GetDatum(response)};
	bool		isnull;

	kept_plan(&keep, "INSERT INTO discreet._response (id, person, response) VALUES ($1, $2, $3)"
			  " ON CONFLICT (id, person) DO NOTHING", 3, types);
	kept_plan(&recall, "SELECT response FROM discreet._response"
			  " WHERE id OPERATOR(pg_catalog.=) $1 AND person OPERATOR(pg_catalog.=) $2", 2, types);
	if (SPI_execute_plan(keep, values, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not keep a response");
	if (SPI_processed == 1)
		return response;
	/* with a snapshot of its own, so that it sees what another session has just committed */
	if (SPI_execute_plan(recall, values, NULL, false, 1) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "could not recall a response");
	response = DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	if (response < 0 || response >= column->domain->size)
		elog(ERROR, "a kept response is none of the domain");
	return response;
}

PG_FUNCTION_INFO_V1(discreet_respond);

/* The columns come from UPDATE OF in the trigger's definition, first the randomised one, then the person. */
Datum
discreet_respond(PG_FUNCTION_ARGS)
{
	TriggerData *call = (TriggerData *) fcinfo->context;
	ResponseColumn *column = fcinfo->flinfo->fn_extra;
	TupleDesc	row;
	HeapTuple	tuple;
	int			attribute;
	char	   *value;
	char	   *person;
	int			place;
	int			response;
	Datum		written;
	bool		isnull = false;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(call->tg_event) || !TRIGGER_FIRED_FOR_ROW(call->tg_event) ||
		call->tg_trigger->tgnattr != 2 || call->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("the trigger of randomised responses was not made by rr_column()")));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (column == NULL)
		column = fcinfo->flinfo->fn_extra = declared_column(fcinfo, call);

	row = RelationGetDescr(call->tg_relation);
	tuple = TRIGGER_FIRED_BY_UPDATE(call->tg_event) ? call->tg_newtuple : call->tg_trigtuple;
	attribute = call->tg_trigger->tgattr[0];
	value = SPI_getvalue(tuple, row, attribute);
	person = SPI_getvalue(tuple, row, call->tg_trigger->tgattr[1]);
	if (value == NULL || person == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("column \"%s\" must not be NULL", SPI_fname(row, value == NULL ? attribute :
																	 call->tg_trigger->tgattr[1])),
				 value == NULL
				 ? errhint("That there is no answer would be told without noise; let the domain have a value for it.")
				 : errhint("The response of a person stays the same, so it must be known who it is.")));
	place = find_in_domain(column->domain, value, strlen(value));
	if (place < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("the value of column \"%s\" is none of its domain", SPI_fname(row, attribute)),
				 errhint("View discreet.response_columns lists the domain.")));

	/* a row that only gets another person takes its response along */
	if (TRIGGER_FIRED_BY_UPDATE(call->tg_event) &&
		!bms_is_member(attribute - FirstLowInvalidHeapAttributeNumber, call->tg_updatedcols))
		response = place;
	else
		response = toss(&column->coin, place);
	response = permanent_response(column, hashed_person(column, person), response);
	SPI_finish();

	written = OidInputFunctionCall(column->input,
								   pnstrdup(column->domain->values[response], column->domain->lengths[response]),
								   column->input_parameter, TupleDescAttr(row, attribute - 1)->atttypmod);
	tuple = heap_modify_tuple_by_cols(tuple, row, 1, &attribute, &written, &isnull);
	return PointerGetDatum(tuple);
}
