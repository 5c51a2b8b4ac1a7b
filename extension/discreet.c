/*
 * discreet.c: the few things that PostgreSQL offers only in C.
 *
 *   settings   discreet.epsilon, discreet.level, discreet.ledger
 *   language   discreet_python: PL/Python whose errors reach the user without a Python traceback
 *   caller     who called a SECURITY DEFINER function
 *   ledger     a libpq connection in backend memory, on which charges commit on their own
 *
 * All thinking is in SQL and Python.
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "libpq-fe.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/postmaster.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 180000
#error "discreet is written for PostgreSQL 15; 16 and 17 compile"
#endif

PG_MODULE_MAGIC;

void		_PG_init(void);

#define LEDGER_TIMEOUT_MS 10000
#define LEDGER_LOCK_TIMEOUT "5s"

#define ERRCODE_LEDGER_UNREACHABLE MAKE_SQLSTATE('D', 'P', '0', '0', '7')

static double epsilon_wish = 0.1;
static char *level_wish = NULL;
static char *ledger_conninfo = NULL;


/* ---- settings ---- */

void
_PG_init(void)
{
	DefineCustomRealVariable("discreet.epsilon",
							 "Epsilon wished per question; the policy of the table caps it.",
							 NULL, &epsilon_wish, 0.1, 1e-9, 100.0,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("discreet.level",
							   "Label wished for this session; the clearance of the role caps it.",
							   NULL, &level_wish, "",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("discreet.ledger",
							   "Connection string of the ledger; empty: the server's own socket and port.",
							   NULL, &ledger_conninfo, "",
							   PGC_SUSET, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	MarkGUCPrefixReserved("discreet");
}


/* ---- language discreet_python ---- */

PG_FUNCTION_INFO_V1(discreet_call_handler);

/* PL/Python writes "plpy.Error: " or "spiexceptions.UniqueViolation: " before the message. */
static char *
without_exception_name(char *message)
{
	char	   *colon;

	if (message == NULL ||
		(strncmp(message, "plpy.", 5) != 0 && strncmp(message, "spiexceptions.", 14) != 0))
		return message;
	colon = strstr(message, ": ");
	return colon ? colon + 2 : message;
}

/*
 * Calls PL/Python, and throws its errors anew without the traceback that it puts into the context.
 * The server's log keeps the traceback of an error that nobody foresaw.
 */
Datum
discreet_call_handler(PG_FUNCTION_ARGS)
{
	static PGFunction python_handler = NULL;
	MemoryContext caller_context = CurrentMemoryContext;
	volatile Datum result = (Datum) 0;

	if (python_handler == NULL)
		python_handler = (PGFunction) load_external_function("$libdir/plpython3", "plpython3_call_handler",
															 true, NULL);
	PG_TRY();
	{
		/* outer callers add their context when the error is thrown anew */
		error_context_stack = NULL;
		result = python_handler(fcinfo);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller_context);
		error = CopyErrorData();
		FlushErrorState();
		if (error->sqlerrcode == ERRCODE_EXTERNAL_ROUTINE_EXCEPTION)
		{
			ereport(LOG_SERVER_ONLY,
					(errmsg("discreet: %s", error->message),
					 error->context ? errcontext("%s", error->context) : 0));
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("discreet met an error it did not foresee"),
					 errhint("The server's log says where; please report it.")));
		}
		error->message = without_exception_name(error->message);
		error->context = NULL;
		ThrowErrorData(error);
	}
	PG_END_TRY();

	return result;
}


/* ---- caller ---- */

PG_FUNCTION_INFO_V1(discreet_caller);

/*
 * The role a SECURITY DEFINER function acts for: the session user, or what SET ROLE made of it.
 * Inside a security-restricted operation (index expressions under ANALYZE and the like) somebody
 * else's code runs in the session of a superuser: there nobody may ask.
 */
Datum
discreet_caller(PG_FUNCTION_ARGS)
{
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("discreet cannot be used within a security-restricted operation")));
	PG_RETURN_OID(GetOuterUserId());
}


/* ---- ledger ---- */

static PGconn *ledger = NULL;

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

static void pg_attribute_noreturn()
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

static char *
first_socket_directory(void)
{
	const char *setting = GetConfigOption("unix_socket_directories", false, false);
	List	   *directories;

	if (setting == NULL || *setting == '\0' ||
		!SplitDirectoriesString(pstrdup(setting), ',', &directories) || directories == NIL)
		return "localhost";
	return linitial(directories);
}

/* The owner of schema discreet: the superuser who created the extension. */
static char *
extension_owner(void)
{
	Oid			schema = get_namespace_oid("discreet", false);
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for namespace %u", schema);
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return GetUserNameFromId(owner, false);
}

static void
ledger_connect(TimestampTz deadline)
{
	bool		own_server = ledger_conninfo == NULL || *ledger_conninfo == '\0';
	char	   *database = get_database_name(MyDatabaseId);
	const char *keywords[8];
	const char *values[8];
	int			n = 0;
	PGresult   *result;

#define PARAMETER(keyword, value) (keywords[n] = (keyword), values[n] = (value), n++)
	if (own_server)
	{
		PARAMETER("host", first_socket_directory());
		PARAMETER("port", psprintf("%d", PostPortNumber));
		PARAMETER("user", extension_owner());
		PARAMETER("dbname", database);
	}
	else
		PARAMETER("dbname", ledger_conninfo);
	PARAMETER("client_encoding", GetDatabaseEncodingName());
	PARAMETER("application_name", "discreet ledger");
	PARAMETER("options", "-c synchronous_commit=on -c lock_timeout=" LEDGER_LOCK_TIMEOUT
			  " -c statement_timeout=0 -c idle_session_timeout=0 -c default_transaction_read_only=off"
			  " -c default_transaction_isolation=read\\ committed -c search_path=pg_catalog"
			  " -c client_min_messages=error -c DateStyle=ISO");
	PARAMETER(NULL, NULL);
#undef PARAMETER

	if (!AcquireExternalFD())
		ledger_refuse("no file descriptor is free");
	ledger = PQconnectStartParams(keywords, values, own_server ? 0 : 1);
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
	if (strcmp(PQdb(ledger), database) != 0)
		ledger_refuse("discreet.ledger leads to another database");

	/* from here on the connection may execute the functions _ledger_* and nothing else */
	if (!PQsendQuery(ledger, "SET SESSION AUTHORIZATION discreet_ledger"))
		ledger_refuse(PQerrorMessage(ledger));
	result = ledger_result(deadline);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		ledger_refuse(PQresultErrorMessage(result));
	PQclear(result);
}

/* Throws the error that a ledger function raised: its own words for class DP, a constant for all else. */
static void pg_attribute_noreturn()
ledger_throw(PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

	if (sqlstate == NULL || strncmp(sqlstate, "DP", 2) != 0)
		ledger_refuse(message ? message : "no answer");
	message = pstrdup(message);
	hint = hint ? pstrdup(hint) : NULL;
	sqlstate = pstrdup(sqlstate);
	PQclear(result);
	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(sqlstate[0], sqlstate[1], sqlstate[2], sqlstate[3], sqlstate[4])),
			 errmsg("%s", message), hint ? errhint("%s", hint) : 0));
}

/*
 * Runs SELECT discreet._ledger_<operation>(request) on the ledger's connection, and returns the text of its
 * answer in the caller's memory context. When this returns, what the function wrote is committed on disk; when
 * it throws after the request was sent, it may be, and is never taken back.
 */
static char *
ledger_call(const char *operation, const char *request)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LEDGER_TIMEOUT_MS);
	char	   *sql = psprintf("SELECT discreet.%s($1::pg_catalog.jsonb)",
							   quote_identifier(psprintf("_ledger_%s", operation)));
	PGresult   *volatile result = NULL;
	char	   *volatile answer = NULL;

	if (IsParallelWorker())
		elog(ERROR, "the ledger cannot be reached from a parallel worker");
	PG_TRY();
	{
		if (ledger != NULL && (PQstatus(ledger) != CONNECTION_OK || PQtransactionStatus(ledger) != PQTRANS_IDLE ||
							   !PQconsumeInput(ledger)))
			ledger_close();
		if (ledger == NULL)
			ledger_connect(deadline);
		if (!PQsendQueryParams(ledger, sql, 1, NULL, &request, NULL, NULL, 0))
			ledger_refuse(PQerrorMessage(ledger));
		result = ledger_result(deadline);
	}
	PG_CATCH();
	{
		/* nobody knows what the statement under way has come to */
		ledger_close();
		PG_RE_THROW();
	}
	PG_END_TRY();

	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		ledger_throw(result);
	if (PQntuples(result) != 1 || PQnfields(result) != 1)
		ledger_refuse("an answer that is not one value");
	if (!PQgetisnull(result, 0, 0))
		answer = pstrdup(PQgetvalue(result, 0, 0));
	PQclear(result);
	return answer;
}

PG_FUNCTION_INFO_V1(discreet_ledger);

Datum
discreet_ledger(PG_FUNCTION_ARGS)
{
	char	   *operation = NameStr(*PG_GETARG_NAME(0));
	char	   *request = JsonbToCString(NULL, &PG_GETARG_JSONB_P(1)->root, VARSIZE(PG_GETARG_JSONB_P(1)));
	char	   *answer = ledger_call(operation, request);

	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(answer)));
}
