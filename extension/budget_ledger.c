/*
 * budget_ledger.c: calls of the ledger. A session sends them to the ledger worker of its database (worker_ledger.c), which
 * commits them on its own. Where discreet.ledger names another server, the worker holds a libpq connection to it; no SQL can
 * reach that but by the functions _ledger_*, which are all that its role may execute.
 */
#include "worker.h"

#include "commands/dbcommands.h"
#include "libpq-fe.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#define LEDGER_TIMEOUT_MS 10000
#define LEDGER_LOCK_TIMEOUT "5s"

static PGconn *ledger = NULL;
static char *connected_to = NULL;	/* by this connection string */

static void
ledger_close(void)
{
	if (ledger != NULL)
	{
		PQfinish(ledger);
		ledger = NULL;
		ReleaseExternalFD();
	}
}

pg_noreturn static void
ledger_refuse(const char *reason)
{
	char	   *log_reason = pstrdup(reason);

	ledger_close();
	ereport(LOG_SERVER_ONLY, (errmsg("discreet: ledger: %s", log_reason)));
	ereport(ERROR,
			(errcode(ERRCODE_LEDGER_UNREACHABLE),
			 errmsg("the ledger is not reachable: no charge, no answer"),
			 errhint("Try again. If it stays so, an administrator finds the reason with "
					 "discreet.check_installation() and in the server's log.")));
}

/* Waits for the socket, for an interrupt (which may throw) or for the deadline. */
static void
ledger_wait(int events, TimestampTz deadline)
{
	long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
	int			happened;

	if (left <= 0)
		ledger_refuse("timeout");
	happened = WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | events,
								 PQsocket(ledger), left, PG_WAIT_EXTENSION);
	if (happened & WL_LATCH_SET)
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* The answer of the one statement under way, after the server has become idle again. */
static PGresult *
ledger_result(TimestampTz deadline)
{
	PGresult   *result = NULL;
	PGresult   *next;

	for (;;)
	{
		while (PQisBusy(ledger))
		{
			ledger_wait(WL_SOCKET_READABLE, deadline);
			if (!PQconsumeInput(ledger))
				ledger_refuse(PQerrorMessage(ledger));
		}
		next = PQgetResult(ledger);
		if (next == NULL)
			break;
		PQclear(result);
		result = next;
	}
	if (result == NULL || PQtransactionStatus(ledger) != PQTRANS_IDLE)
		ledger_refuse("the connection is not idle after the statement");
	return result;
}

static void
ledger_connect(TimestampTz deadline)
{
	char	   *database = get_database_name(MyDatabaseId);
	const char *keywords[8];
	const char *values[8];
	int			n = 0;
	PGresult   *result;

#define PARAMETER(keyword, value) (keywords[n] = (keyword), values[n] = (value), n++)
	PARAMETER("dbname", ledger_conninfo);
	PARAMETER("client_encoding", GetDatabaseEncodingName());
	PARAMETER("application_name", "discreet ledger");
	PARAMETER("options", "-c synchronous_commit=on -c lock_timeout=" LEDGER_LOCK_TIMEOUT
			  " -c statement_timeout=0 -c idle_session_timeout=0 -c default_transaction_read_only=off"
			  " -c default_transaction_isolation=read\\ committed -c search_path=pg_catalog"
			  " -c client_min_messages=error -c DateStyle=ISO"
			  " -c plan_cache_mode=force_generic_plan -c jit=off"
	/* plans are made once, perhaps on empty tables, and are to look up few rows by an index once these are large */
			  " -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off");
	PARAMETER(NULL, NULL);
#undef PARAMETER

	if (!AcquireExternalFD())
		ledger_refuse("no file descriptor is free");
	ledger = PQconnectStartParams(keywords, values, 1);
	if (ledger == NULL)
	{
		ReleaseExternalFD();
		ledger_refuse("out of memory");
	}
	for (PostgresPollingStatusType status = PGRES_POLLING_WRITING; status != PGRES_POLLING_OK;
		 status = PQconnectPoll(ledger))
	{
		if (status == PGRES_POLLING_FAILED || PQstatus(ledger) == CONNECTION_BAD)
			ledger_refuse(PQerrorMessage(ledger));
		ledger_wait(status == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE, deadline);
	}
	if (connected_to != NULL)
		pfree(connected_to);
	connected_to = MemoryContextStrdup(TopMemoryContext, ledger_conninfo);
	if (strcmp(PQdb(ledger), database) != 0)
		ledger_refuse("discreet.ledger leads to another database");

	/*
	 * The slots reserved for superusers are for superusers, not for what analysts make us open. Still asked as the
	 * owner: others do not see the types of backends.
	 */
	if (!PQsendQuery(ledger, "SELECT count(*) <= current_setting('max_connections')::int"
					 " - current_setting('superuser_reserved_connections')::int"
					 " FROM pg_stat_activity WHERE backend_type = 'client backend'"))
		ledger_refuse(PQerrorMessage(ledger));
	result = ledger_result(deadline);
	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		ledger_refuse(PQresultErrorMessage(result));
	if (PQgetvalue(result, 0, 0)[0] != 't')
	{
		PQclear(result);
		ledger_refuse("only reserved connections are free");
	}
	PQclear(result);

	/* from here on the connection may execute the functions _ledger_* and nothing else */
	if (!PQsendQuery(ledger, "SET SESSION AUTHORIZATION discreet_ledger"))
		ledger_refuse(PQerrorMessage(ledger));
	result = ledger_result(deadline);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		ledger_refuse(PQresultErrorMessage(result));
	PQclear(result);
}

/* Throws the error that a ledger function raised: its own words for class DP, a constant for all else. */
pg_noreturn static void
ledger_throw(PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

	sqlstate = sqlstate ? pstrdup(sqlstate) : "";
	message = message ? pstrdup(message) : "no answer";
	hint = hint ? pstrdup(hint) : NULL;
	PQclear(result);
	if (strncmp(sqlstate, "DP", 2) != 0)
		ledger_refuse(message);
	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(sqlstate[0], sqlstate[1], sqlstate[2], sqlstate[3], sqlstate[4])),
			 errmsg("%s", message), hint ? errhint("%s", hint) : 0));
}

/* A text field of a jsonb object, or NULL. */
char *
text_field(Jsonb *object, const char *key)
{
	JsonbValue	value;

	if (object == NULL || !JB_ROOT_IS_OBJECT(object) ||
		getKeyJsonValueFromContainer(&object->root, key, strlen(key), &value) == NULL ||
		value.type != jbvString)
		return NULL;
	return pnstrdup(value.val.string.val, value.val.string.len);
}

/* Throws what the ledger refused and wrote down as refused: {"refused": {"code", "message", "hint"}}. */
static void
throw_if_refused(Jsonb *answer)
{
	JsonbValue	value;
	Jsonb	   *refusal;
	char	   *code;
	char	   *hint;

	if (answer == NULL || !JB_ROOT_IS_OBJECT(answer) ||
		getKeyJsonValueFromContainer(&answer->root, "refused", 7, &value) == NULL)
		return;
	refusal = JsonbValueToJsonb(&value);
	code = text_field(refusal, "code");
	hint = text_field(refusal, "hint");
	if (code == NULL || strlen(code) != 5)
		elog(ERROR, "a refusal without a code");
	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(code[0], code[1], code[2], code[3], code[4])),
			 errmsg("%s", text_field(refusal, "message")), hint ? errhint("%s", hint) : 0));
}

/*
 * Runs SELECT discreet._ledger_<operation>(request [, bytes]) on the other server: its reply as the ledger worker sends it.
 * When this returns, what the statement wrote is committed there; when it throws after the statement was sent, it may be, and
 * is never taken back.
 */
Message
remote_ledger(const char *operation, const char *request, const char *bytes, int length)
{
	char	   *sql = psprintf("SELECT discreet.%s($1::pg_catalog.jsonb%s)",
							   quote_identifier(psprintf("_ledger_%s", operation)),
							   bytes == NULL ? "" : ", $2::pg_catalog.bytea");
	const char *values[] = {request, bytes};
	const int	lengths[] = {0, length};
	const int	formats[] = {0, 1};
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LEDGER_TIMEOUT_MS);
	PGresult   *volatile result = NULL;
	Message		reply = makeStringInfo();

	PG_TRY();
	{
		if (ledger != NULL && (PQstatus(ledger) != CONNECTION_OK || PQtransactionStatus(ledger) != PQTRANS_IDLE ||
							   !PQconsumeInput(ledger) || strcmp(connected_to, ledger_conninfo) != 0))
			ledger_close();
		if (ledger == NULL)
			ledger_connect(deadline);
		if (!PQsendQueryParams(ledger, sql, bytes == NULL ? 1 : 2, NULL, values, lengths, formats, bytes == NULL ? 0 : 1))
			ledger_refuse(PQerrorMessage(ledger));
		result = ledger_result(deadline);
	}
	PG_CATCH();
	{
		/* the outcome of the statement under way is unknown */
		ledger_close();
		PG_RE_THROW();
	}
	PG_END_TRY();

	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		ledger_throw(result);
	if (PQntuples(result) != 1 || PQnfields(result) != 1)
		ledger_refuse("an answer that is not one value");
	if (PQgetisnull(result, 0, 0))
		appendStringInfoChar(reply, 'N');
	else
	{
		appendStringInfoChar(reply, bytes == NULL ? 'J' : 'B');
		appendBinaryStringInfo(reply, PQgetvalue(result, 0, 0), PQgetlength(result, 0, 0));
	}
	PQclear(result);
	return reply;
}

/* ---- in the session */

/*
 * Sends a request to the ledger worker. When this returns, what the operation wrote is committed on disk; when it throws
 * after the request was sent, it may be, and is never taken back.
 */
static Message
ledger_ask(const char *operation, const char *request, const char *bytes, int length)
{
	Slot	   *slot = take_slot();
	StringInfoData message;
	volatile Message reply = NULL;

	initStringInfo(&message);
	PG_TRY();
	{
		send_text(&message, operation);
		send_text(&message, request);
		send_bytes(&message, bytes, length);
		reply = exchange(slot, TURN_OF_LEDGER, message.data, message.len);
	}
	PG_FINALLY();
	{
		leave_slot(slot);
	}
	PG_END_TRY();
	pfree(message.data);

	if (pq_getmsgbyte(reply) == 'E')
	{
		char	   *state = receive_text(reply);
		char	   *words = receive_text(reply);
		char	   *hint = receive_text(reply);

		ereport(ERROR,
				(errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
				 errmsg("%s", words), hint ? errhint("%s", hint) : 0));
	}
	return reply;
}

/* Calls discreet._ledger_<operation>(request), and returns its answer in the caller's memory context. */
Jsonb *
ledger_call(const char *operation, const char *request)
{
	Message		reply = ledger_ask(operation, request, NULL, 0);
	Jsonb	   *answer = NULL;

	if (reply->data[0] != 'N')
		answer = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(reply->data + 1)));
	throw_if_refused(answer);
	return answer;
}

/* Calls discreet._ledger_<operation>(request, bytes), whose answer is bytes too. */
bytea *
ledger_call_bytes(const char *operation, const char *request, const char *bytes, int length)
{
	Message		reply = ledger_ask(operation, request, bytes, length);
	Size		size = reply->len - 1;
	bytea	   *answer;

	if (reply->data[0] == 'N')
		return NULL;
	answer = MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + size);
	SET_VARSIZE(answer, VARHDRSZ + size);
	memcpy(VARDATA(answer), reply->data + 1, size);
	return answer;
}

PG_FUNCTION_INFO_V1(discreet_ledger);

Datum
discreet_ledger(PG_FUNCTION_ARGS)
{
	char	   *operation = NameStr(*PG_GETARG_NAME(0));
	char	   *request = JsonbToCString(NULL, &PG_GETARG_JSONB_P(1)->root, VARSIZE(PG_GETARG_JSONB_P(1)));
	Jsonb	   *answer;

	if (strcmp(operation, "charge_question") == 0 || strcmp(operation, "charge_personal") == 0 ||
		strcmp(operation, "recall") == 0 || strncmp(operation, "audit_", 6) == 0)
		refuse_while_explained();
	answer = ledger_call(operation, request);
	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(answer);
}
