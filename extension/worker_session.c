/*
 * worker_session.c: language discreet_worker. The body of such a function names an entry of the Python package
 * discreet.worker (a test compares them); the session sends it the arguments, runs the statements that come back, one after the other, and gets
 * the rows of the answer in the end. So a session that asks needs no Python.
 *
 * Statements come from the gate worker only: they are the gate's own. Each runs in a subtransaction, and what it fails with
 * goes back to the worker. A cancel ends the whole.
 */
#include "worker.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "access/xact.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "executor/instrument.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parse_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(discreet_worker_call_handler);

extern Datum discreet_named_types(PG_FUNCTION_ARGS);

/* ---- values */

static void
send_value(StringInfo to, Oid type, Datum value, bool null)
{
	Oid			element = get_element_type(type);

	if (null)
		send_bytes(to, NULL, 0);
	else if (OidIsValid(element))
	{
		StringInfoData list;
		int16		length;
		bool		by_value;
		char		alignment;
		Datum	   *values;
		bool	   *nulls;
		int			count;

		initStringInfo(&list);
		get_typlenbyvalalign(element, &length, &by_value, &alignment);
		deconstruct_array(DatumGetArrayTypeP(value), element, length, by_value, alignment, &values, &nulls, &count);
		pq_sendint32(&list, count);
		for (int n = 0; n < count; n++)
			send_value(&list, element, values[n], nulls[n]);
		send_bytes(to, list.data, list.len);
		pfree(list.data);
	}
	else if (type == BYTEAOID || type == TEXTOID)
	{
		struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

		send_bytes(to, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	}
	else
	{
		Oid			output;
		bool		is_varlena;
		char	   *text;

		getTypeOutputInfo(type, &output, &is_varlena);
		text = OidOutputFunctionCall(output, value);
		send_text(to, text);
		pfree(text);
	}
}

/* ---- the question */

static void
send_fact(StringInfo to, const char *name, const char *value)
{
	send_text(to, name);
	send_text(to, value);
}

static char *
read_setting(const char *name)
{
	return GetConfigOptionByName(name, NULL, false);
}

/* The version of the catalogs as this session knows them; no other session has the same. */
static char *
own_catalog_version(void)
{
	return psprintf("%d " INT64_FORMAT " " UINT64_FORMAT, MyProcPid, MyStartTimestamp, catalog_version());
}

/* Entry, facts, named columns, arguments. */
static void
write_question(StringInfo to, FunctionCallInfo fcinfo, const char *search_path)
{
	LOCAL_FCINFO(types, 0);
	Datum		named;
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Form_pg_proc function;
	Datum		body;
	bool		null;
	TimestampTz now = GetCurrentTransactionStartTimestamp();

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	function = (Form_pg_proc) GETSTRUCT(tuple);
	body = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &null);
	send_text(to, TextDatumGetCString(body));

	pq_sendint32(to, 14);
	send_fact(to, "user", GetUserNameFromId(GetSessionUserId(), false));
	send_fact(to, "search_path", search_path);
	send_fact(to, "discreet.level", read_setting("discreet.level"));
	send_fact(to, "discreet.epsilon", double_to_shortest_decimal(epsilon_wish));
	send_fact(to, "discreet.favour", favour_wish == NULL ? "" : favour_wish);
	send_fact(to, "discreet.with_error", with_error ? "t" : NULL);
	send_fact(to, "transaction_isolation", read_setting("transaction_isolation"));
	send_fact(to, "server_encoding", GetDatabaseEncodingName());
	send_fact(to, "now", timestamptz_to_str(now));
	send_fact(to, "clock", moved_clock(&now) ? timestamptz_to_str(now) : NULL);
	send_fact(to, "catalog", own_catalog_version());
	send_fact(to, "explained", being_explained() ? "t" : NULL);
	send_fact(to, "citus", OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE)) ? "t" : NULL);
	send_fact(to, "remote", ledger_conninfo != NULL && *ledger_conninfo != '\0' ? "t" : NULL);

	InitFunctionCallInfoData(*types, NULL, 0, InvalidOid, NULL, NULL);
	named = discreet_named_types(types);
	send_value(to, TEXTARRAYOID, named, types->isnull);

	pq_sendint32(to, fcinfo->nargs);
	for (int n = 0; n < fcinfo->nargs; n++)
	{
		Oid			type = function->proargtypes.values[n];

		pq_sendint32(to, type);
		send_value(to, type, fcinfo->args[n].value, fcinfo->args[n].isnull);
	}
	ReleaseSysCache(tuple);
}

/* ---- statements for the worker */

static SPIPlanPtr
prepared(const char *sql, int number, Oid *types, int options)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(sql, number, types, options);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

typedef struct KeptStatement
{
	uint32		hash;
	char	   *sql;
	SPIPlanPtr	plan;
} KeptStatement;

/* A plan that the session keeps. Statements with one hash replace each other. */
static SPIPlanPtr
kept_plan(const char *sql, int number, Oid *types)
{
	static HTAB *plans = NULL;
	uint32		hash = hash_bytes((const unsigned char *) sql, strlen(sql));
	KeptStatement *kept;
	SPIPlanPtr	plan;
	bool		found;

	if (plans == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(uint32), .entrysize = sizeof(KeptStatement), .hcxt = TopMemoryContext};

		plans = hash_create("discreet statements", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	kept = hash_search(plans, &hash, HASH_FIND, &found);
	if (found && strcmp(kept->sql, sql) == 0)
		return kept->plan;
	plan = prepared(sql, number, types, 0);
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	kept = hash_search(plans, &hash, HASH_ENTER, &found);
	if (found)
	{
		SPI_freeplan(kept->plan);
		pfree(kept->sql);
	}
	kept->sql = MemoryContextStrdup(TopMemoryContext, sql);
	kept->plan = plan;
	return plan;
}

static void
execute(SPIPlanPtr plan, Datum *values, char *nulls)
{
	int			code = SPI_execute_plan(plan, values, nulls, false, 0);

	if (code < 0)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(code));
}

/* The statement that made the last answer of this session: many questions are asked again. */
typedef struct Finish
{
	char	   *sql;
	SPIPlanPtr	plan;
	uint64		catalog;		/* the version of the catalogs on which it was planned */
	bool		runs;			/* whatever asks a question within it, if anything can, keeps nothing */
} Finish;

static Finish kept_finish = {NULL};

static void
forget_finish(void)
{
	Finish		old = kept_finish;

	kept_finish = (Finish) {NULL};
	if (old.plan != NULL)
		SPI_freeplan(old.plan);
	if (old.sql != NULL)
		pfree(old.sql);
}

/* Sees to it that the statement is the one that is kept. */
static void
keep_finish(const char *sql)
{
	Oid			type = JSONBOID;
	uint64		catalog = catalog_version();
	SPIPlanPtr	plan;
	char	   *copy;

	if (kept_finish.plan != NULL && kept_finish.catalog == catalog && strcmp(kept_finish.sql, sql) == 0)
		return;
	forget_finish();
	plan = prepared(sql, 1, &type, 0);
	copy = MemoryContextStrdup(TopMemoryContext, sql);
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	kept_finish = (Finish) {copy, plan, catalog};
}

/* Runs a statement over released numbers, which are its $1. */
static void
execute_finish(const char *sql, Datum *rows, char *nulls)
{
	Oid			type = JSONBOID;

	if (kept_finish.runs)
	{
		execute(prepared(sql, 1, &type, 0), rows, nulls);
		return;
	}
	keep_finish(sql);
	PG_TRY();
	{
		kept_finish.runs = true;
		execute(kept_finish.plan, rows, nulls);
	}
	PG_FINALLY();
	{
		kept_finish.runs = false;
	}
	PG_END_TRY();
}

static Oid
receive_type(Message from)
{
	Oid			type;
	int32		modifier;

	parseTypeString(receive_text(from), &type, &modifier, false);
	return type;
}

static void
send_rows(StringInfo to)
{
	TupleDesc	columns = SPI_tuptable == NULL ? NULL : SPI_tuptable->tupdesc;
	int			natts = columns == NULL ? 0 : columns->natts;

	appendStringInfoChar(to, 'R');
	pq_sendint32(to, natts);
	for (int n = 0; n < natts; n++)
	{
		send_text(to, NameStr(TupleDescAttr(columns, n)->attname));
		pq_sendint32(to, TupleDescAttr(columns, n)->atttypid);
	}
	pq_sendint32(to, columns == NULL ? 0 : (uint32) SPI_processed);
	for (uint64 row = 0; columns != NULL && row < SPI_processed; row++)
		for (int n = 0; n < natts; n++)
		{
			bool		null;
			Datum		value = SPI_getbinval(SPI_tuptable->vals[row], columns, n + 1, &null);

			send_value(to, TupleDescAttr(columns, n)->atttypid, value, null);
		}
}

/* Reads the parameters of a statement. */
static int
read_parameters(Message from, Oid **types, Datum **values, char **nulls)
{
	int			number = (int) pq_getmsgint(from, 4);

	*types = palloc(sizeof(Oid) * (number + 1));
	*values = palloc(sizeof(Datum) * (number + 1));
	*nulls = palloc(number + 1);
	for (int n = 0; n < number; n++)
	{
		Oid			input,
					parameter;
		char	   *text;

		(*types)[n] = receive_type(from);
		text = receive_text(from);
		getTypeInputInfo((*types)[n], &input, &parameter);
		(*values)[n] = OidInputFunctionCall(input, text, parameter, -1);
		(*nulls)[n] = text == NULL ? 'n' : ' ';
	}
	return number;
}

/* A statement without parameters that was analysed, and perhaps is run later. */
typedef struct Analysed
{
	char	   *sql;
	SPIPlanPtr	plan;
} Analysed;

/* What lives as long as a conversation. */
typedef struct Conversation
{
	MemoryContext context;
	List	   *analysed;
} Conversation;

static SPIPlanPtr
analysed_plan(const Conversation *conversation, const char *sql)
{
	ListCell   *cell;

	foreach(cell, conversation->analysed)
		if (strcmp(((Analysed *) lfirst(cell))->sql, sql) == 0)
			return ((Analysed *) lfirst(cell))->plan;
	return NULL;
}

/* The first column of the rows, which are texts, with commas between them: one value, however many they are. */
static void
send_joined(StringInfo to)
{
	StringInfoData joined;

	initStringInfo(&joined);
	if (SPI_tuptable == NULL || SPI_gettypeid(SPI_tuptable->tupdesc, 1) != TEXTOID)
		elog(ERROR, "the run step does not give texts");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		bool		null;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1, &null);

		if (row > 0)
			appendStringInfoChar(&joined, ',');
		if (!null)
			appendBinaryStringInfo(&joined, VARDATA_ANY(DatumGetTextPP(value)), VARSIZE_ANY_EXHDR(DatumGetTextPP(value)));
	}
	appendStringInfoChar(to, 'T');
	send_bytes(to, joined.data, joined.len);
	pfree(joined.data);
}

/*
 * Does one statement of a message. P: it is only analysed, which locks what it names, and what comes of that is there until the
 * conversation ends. K: the session keeps its plan. F: it is what puts the answer together. O and T: it is run once; T gives texts.
 */
static void
run_statement(Message from, StringInfo to, Conversation *conversation)
{
	int			doing = pq_getmsgbyte(from);
	char	   *sql = receive_text(from);
	Oid		   *types;
	Datum	   *values;
	char	   *nulls;
	int			number = read_parameters(from, &types, &values, &nulls);
	SPIPlanPtr	plan;

	SPI_tuptable = NULL;
	if (doing == 'P')
	{
		MemoryContext before = MemoryContextSwitchTo(conversation->context);
		Analysed   *one = palloc(sizeof(Analysed));

		one->sql = pstrdup(sql);
		one->plan = prepared(sql, number, types, CURSOR_OPT_PARALLEL_OK);
		conversation->analysed = lappend(conversation->analysed, one);
		MemoryContextSwitchTo(before);
		send_rows(to);
		return;
	}
	plan = (doing == 'O' || doing == 'T') && number == 0 ? analysed_plan(conversation, sql) : NULL;
	if (doing == 'F')
		execute_finish(sql, values, nulls);
	else if (doing == 'K')
		execute(kept_plan(sql, number, types), values, nulls);
	else if (plan != NULL)
		execute(plan, values, nulls);
	else
	{
		plan = prepared(sql, number, types, CURSOR_OPT_PARALLEL_OK);
		execute(plan, values, nulls);
		SPI_freeplan(plan);
	}
	if (doing == 'T')
		send_joined(to);
	else
		send_rows(to);
	SPI_freetuptable(SPI_tuptable);
}

/* Each statement in a subtransaction of its own. The first that fails ends it; only the cancel of the whole is thrown. */
static void
run_statements(Message from, StringInfo to, Conversation *conversation)
{
	int			count = (int) pq_getmsgint(from, 4);
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool failed = false;

	for (volatile int n = 0; n < count && !failed; n++)
	{
		int			before = to->len;

		BeginInternalSubTransaction(NULL);
		MemoryContextSwitchTo(context);
		PG_TRY();
		{
			run_statement(from, to, conversation);
			ReleaseCurrentSubTransaction();
			MemoryContextSwitchTo(context);
			CurrentResourceOwner = owner;
		}
		PG_CATCH();
		{
			ErrorData  *error;

			MemoryContextSwitchTo(context);
			error = CopyErrorData();
			FlushErrorState();
			RollbackAndReleaseCurrentSubTransaction();
			MemoryContextSwitchTo(context);
			CurrentResourceOwner = owner;
			if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
				ThrowErrorData(error);
			failed = true;
			to->len = before;
			appendStringInfoChar(to, 'E');
			send_text(to, unpack_sql_state(error->sqlerrcode));
			send_text(to, error->message);
			send_text(to, error->hint);
		}
		PG_END_TRY();
	}
}

/* ---- the answer */

/* A notice that the encoding of the client has no characters for must not take the answer with it, which is paid for. */
static char *
sendable(char *words)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool fits = true;
	StringInfoData plain;

	if (pg_get_client_encoding() == GetDatabaseEncoding())
		return words;
	PG_TRY();
	{
		(void) pg_server_to_client(words, strlen(words));
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		fits = false;
	}
	PG_END_TRY();
	if (fits)
		return words;
	initStringInfo(&plain);
	for (const char *from = words; *from != '\0';)
	{
		int			length = pg_mblen(from);

		if (length == 1)
			appendStringInfoChar(&plain, *from);
		else
			appendStringInfoString(&plain, strncmp(from, "\302\261", 2) == 0 ? "+-" : "?");
		from += length;
	}
	return plain.data;
}

static void
tell_notices(Message from)
{
	int			count = (int) pq_getmsgint(from, 4);

	for (int n = 0; n < count; n++)
	{
		int			kind = pq_getmsgbyte(from);
		char	   *words = receive_text(from);

		if (kind == 'A')
			keep_last_answer(words);
		if (kind == 'A' || (kind == 'N' && quiet))
			continue;
		if (kind != 'L')
			words = sendable(words);
		ereport(kind == 'N' ? NOTICE : kind == 'W' ? WARNING : LOG_SERVER_ONLY, (errmsg_internal("%s", words)));
	}
}

pg_noreturn static void
throw_error(Message from)
{
	char	   *state = receive_text(from);
	char	   *words = receive_text(from);
	char	   *hint = receive_text(from);

	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
			 errmsg("%s", words), hint ? errhint("%s", hint) : 0));
}

static Datum
value_of_text(char *text, Oid type, int32 modifier, bool *null)
{
	Oid			input,
				parameter;

	*null = text == NULL;
	getTypeInputInfo(type, &input, &parameter);
	return OidInputFunctionCall(input, text, parameter, modifier);
}

/* The rows of the answer, as texts of the types that the caller expects. */
static Datum
take_answer(Message from, FunctionCallInfo fcinfo)
{
	int			rows = (int) pq_getmsgint(from, 4);
	TupleDesc	columns = NULL;
	Oid			type;
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	(void) get_call_result_type(fcinfo, &type, &columns);
	if (!fcinfo->flinfo->fn_retset)
	{
		char	   *text = NULL;

		if (rows > 0 && pq_getmsgint(from, 4) > 0)
			text = receive_text(from);
		return type == VOIDOID ? (Datum) 0 : value_of_text(text, type, -1, &fcinfo->isnull);
	}
	if (type == RECORDOID && columns == NULL)
		columns = result->expectedDesc;
	InitMaterializedSRF(fcinfo, columns == NULL || type == RECORDOID ? MAT_SRF_USE_EXPECTED_DESC : 0);
	columns = result->setDesc;
	for (int row = 0; row < rows; row++)
	{
		int			width = (int) pq_getmsgint(from, 4);
		Datum	   *values = palloc(sizeof(Datum) * columns->natts);
		bool	   *nulls = palloc(columns->natts);

		if (width != columns->natts)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the answer has %d columns, and %d are named", width, columns->natts),
					 errhint("Name as many columns as the question asks for.")));
		for (int n = 0; n < width; n++)
			values[n] = value_of_text(receive_text(from), TupleDescAttr(columns, n)->atttypid,
									  TupleDescAttr(columns, n)->atttypmod, &nulls[n]);
		tuplestore_putvalues(result->setResult, columns, values, nulls);
	}
	return (Datum) 0;
}

/* Errors that are about the statement itself: it would fail again (core/verdicts.py). */
static bool
judges(int code)
{
	static const char *const classes[] = {"0A", "21", "22", "23", "42", "44", "54"};

	for (int n = 0; n < lengthof(classes); n++)
		if (strncmp(unpack_sql_state(code), classes[n], 2) == 0)
			return true;
	return false;
}

/* The answer of a statement over released numbers. */
static void
run_finish(Message from)
{
	MemoryContext context = CurrentMemoryContext;
	char	   *sql = receive_text(from);
	Datum		rows = DirectFunctionCall1(jsonb_in, CStringGetDatum(receive_text(from)));

	PG_TRY();
	{
		execute_finish(sql, &rows, NULL);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (!judges(error->sqlerrcode))
			ThrowErrorData(error);
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE), errmsg("the answer could not be put together: %s", error->message),
				 errhint("Ask for the plain aggregates.")));
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
}

/* The rows of an answer, which PostgreSQL makes of released numbers. A type that is not built in reads its values by itself. */
static Datum
finish(Message from, FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[MaxTupleAttributeNumber];
	bool		nulls[MaxTupleAttributeNumber];
	TupleDesc	wanted,
				made;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	run_finish(from);
	wanted = result->setDesc;
	made = SPI_tuptable->tupdesc;
	if (made->natts != wanted->natts)
		elog(ERROR, "the answer has %d columns, and %d are named", made->natts, wanted->natts);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int n = 0; n < wanted->natts; n++)
		{
			Form_pg_attribute column = TupleDescAttr(wanted, n);

			if (TupleDescAttr(made, n)->atttypid == column->atttypid)
				values[n] = SPI_getbinval(SPI_tuptable->vals[row], made, n + 1, &nulls[n]);
			else
				values[n] = value_of_text(SPI_getvalue(SPI_tuptable->vals[row], made, n + 1), column->atttypid,
										  column->atttypmod, &nulls[n]);
		}
		tuplestore_putvalues(result->setResult, wanted, values, nulls);
	}
	SPI_freetuptable(SPI_tuptable);
	return (Datum) 0;
}

static Datum
converse(FunctionCallInfo fcinfo, Slot *slot, const char *search_path)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "discreet conversation", ALLOCSET_DEFAULT_SIZES);
	MemoryContext exchanged = AllocSetContextCreate(context, "discreet exchange", ALLOCSET_DEFAULT_SIZES);
	Conversation conversation = {context, NIL};
	StringInfoData message;
	Datum		answer;

	MemoryContextSwitchTo(context);
	initStringInfo(&message);
	write_question(&message, fcinfo, search_path);
	/* a conversation may have hundreds of exchanges, as where a synthetic table is written: none adds to the memory */
	MemoryContextSwitchTo(exchanged);
	for (;;)
	{
		Message		reply = exchange(slot, TURN_OF_GATE, message.data, message.len);
		int			wanted;

		tell_notices(reply);
		wanted = pq_getmsgbyte(reply);
		if (wanted == 'E')
			throw_error(reply);
		if (wanted == 'V' || wanted == 'F')
		{
			MemoryContextSwitchTo(caller);
			answer = wanted == 'V' ? take_answer(reply, fcinfo) : finish(reply, fcinfo);
			break;
		}
		resetStringInfo(&message);
		run_statements(reply, &message, &conversation);
		/* once they have run: what they locked was there before the version was taken */
		send_text(&message, own_catalog_version());
		MemoryContextReset(exchanged);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return answer;
}

/*
 * The first question plans statements about the catalogs that later ones seldom need. What that took is given back to the system,
 * so that many sessions that ask stay small.
 */
static void
give_memory_back(void)
{
#ifdef __GLIBC__
	static bool given = false;

	if (!given)
		(void) malloc_trim(0);
	given = true;
#endif
}

/*
 * Buffers and temporary files that the statements needed depend on the rows they read, and are not counted for the statement
 * around the call: EXPLAIN ANALYZE, auto_explain and pg_stat_statements would tell them.
 */
Datum
discreet_worker_call_handler(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	BufferUsage buffers = pgBufferUsage;
	WalUsage	wal = pgWalUsage;
	TupleDesc	around = columns_of_call(fcinfo);
	char	   *search_path = read_setting("search_path");
	int			settings = NewGUCNestLevel();
	volatile Datum result = (Datum) 0;
	Slot	   *volatile slot = NULL;

	refuse_large_arguments(fcinfo);
	if (is_restricted())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("discreet cannot be used within a security-restricted operation")));
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (client_min_messages < NOTICE)
		(void) set_config_option("client_min_messages", "notice", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	PG_TRY();
	{
		/* outer callers add their context when the error is thrown anew */
		error_context_stack = NULL;
		MemoryContextSwitchTo(caller);
		slot = take_slot();
		result = converse(fcinfo, slot, search_path);
		leave_slot(slot);
		slot = NULL;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (slot != NULL)
			leave_slot(slot);
		pgBufferUsage = buffers;
		pgWalUsage = wal;
		columns_of_call_around(around);
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		error->context = NULL;
		/* SQL of the gate's own, which tells how it reads the table */
		error->internalquery = NULL;
		error->internalpos = 0;
		ThrowErrorData(error);
	}
	PG_END_TRY();
	SPI_finish();
	AtEOXact_GUC(true, settings);
	pgBufferUsage = buffers;
	pgWalUsage = wal;
	columns_of_call_around(around);
	give_memory_back();
	return result;
}
