/*
 * discreet.c: settings, language discreet_python, and who called.
 */
#include "worker.h"
#include "sealed.h"

#include "access/parallel.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

PG_MODULE_MAGIC;

void		_PG_init(void);
static bool check_favour(char **wished, void **extra, GucSource source);

#define MOST_FAVOURED 16

double		epsilon_wish = 0.1;
char	   *favour_wish = NULL;
char	   *ledger_conninfo = NULL;
int			people_memory = 256 * 1024;
bool		quiet = false;
bool		with_error = false;
bool		empty_previews = false;
int			payers = 0;

void
_PG_init(void)
{
	DefineCustomRealVariable("discreet.epsilon",
							 "Epsilon wished per question; the policy of the table caps it.",
							 NULL, &epsilon_wish, 0.1, 1e-9, 100.0,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("discreet.favour",
							   "Columns of an answer, or aggregates, that get more of a question's price than the others, by name.",
							   NULL, &favour_wish, "",
							   PGC_USERSET, GUC_LIST_INPUT, check_favour, NULL, NULL);
	DefineCustomStringVariable("discreet.level",
							   "Label wished for this session; the clearance of the role caps it.",
							   NULL, &level_wish, "",
							   PGC_USERSET, 0, check_level_wish, assign_level_wish, NULL);
	DefineCustomBoolVariable("discreet.quiet",
							 "Answers come without a notice; view discreet.last_answer still tells of the last one.",
							 NULL, &quiet, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("discreet.with_error",
							 "Answers have a column <name>_error beside each noisy one; not those of query(), which has an argument with_error.",
							 NULL, &with_error, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("discreet.empty_previews",
							 "Rows of people under a LIMIT, as tools show them of a table, come as columns without rows, and are not refused.",
							 NULL, &empty_previews, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("discreet.round_time",
							   "Steps in which now() goes in questions, so that those of one step are paid once; empty: none.",
							   NULL, &round_time_wish, "",
							   PGC_USERSET, 0, check_round_time, NULL, NULL);
	DefineCustomStringVariable("discreet.ledger",
							   "Connection string of the server that keeps the ledger; empty: this one.",
							   NULL, &ledger_conninfo, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomIntVariable("discreet.workers",
							"Background workers of a database that parse, plan and draw for its sessions.",
							NULL, &gate_workers, 2, 1, 64,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("discreet.step_timeout",
							"How long a gate worker thinks about a question before it gives up; statements do not count.",
							NULL, &step_timeout, 20 * 1000, 10, MAX_STEP_MS,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("discreet.people_memory",
							"Memory for the people of a question, per process; beyond it they go to a temporary file.",
							NULL, &people_memory, 256 * 1024, 64, MAX_KILOBYTES,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("discreet.sealed_scan",
							 "Lets ranges and patterns on sealed columns decrypt every row.",
							 NULL, &sealed_scan, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("discreet.key_command",
							   "Command that prints the secret of key %k, for questions about columns that are sealed under it.",
							   NULL, &key_command, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	/* not to be set by hand: how the workers of a question find who has paid for it (personal.c) */
	DefineCustomIntVariable("discreet.payers",
							"Shared memory of those who pay for the question under way.",
							NULL, &payers, 0, PG_INT32_MIN, PG_INT32_MAX,
							PGC_SUSET, GUC_SUPERUSER_ONLY | GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							NULL, NULL, NULL);
	MarkGUCPrefixReserved("discreet");
	/* sessions and workers have it from the server's start on; without it there is no memory to reach the workers by */
	preloaded = process_shared_preload_libraries_in_progress;

	if (process_shared_preload_libraries_in_progress)
	{
		request_worker_memory();
		request_key_memory();
	}
	keep_secrets_out_of_log();
	install_hooks();
}

/* Names, as in search_path. Whether a question has such a column is known once it is asked. */
static bool
check_favour(char **wished, void **extra, GucSource source)
{
	char	   *names = pstrdup(*wished);
	List	   *list = NIL;
	bool		valid = SplitIdentifierString(names, ',', &list) && list_length(list) <= MOST_FAVOURED;

	if (!valid)
	{
		GUC_check_errmsg("discreet.favour is not a list of at most %d names", MOST_FAVOURED);
		GUC_check_errhint("Name columns of the answer, or aggregates: SET discreet.favour = 'count'.");
	}
	list_free(list);
	pfree(names);
	return valid;
}

/*
 * The extension's schema. None where there is only a schema of its name: in a database without the extension any user may
 * make one, and fill it.
 */
Oid
own_schema(void)
{
	Oid			schema = get_namespace_oid("discreet", true);
	Oid			extension = OidIsValid(schema) ? get_extension_oid("discreet", true) : InvalidOid;

	return OidIsValid(extension) && getExtensionOfObject(NamespaceRelationId, schema) == extension ? schema : InvalidOid;
}

/* A function of the extension. */
Oid
own_function(const char *name, int n, const Oid *types)
{
	Oid			schema = own_schema();

	if (!OidIsValid(schema))
		return InvalidOid;
	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
						   PointerGetDatum(buildoidvector(types, n)), ObjectIdGetDatum(schema));
}

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
 * The server's log keeps the traceback of an unexpected error. A cancel that ended Python's work
 * (python_limits.c) becomes PostgreSQL's own error here.
 *
 * Buffers and temporary files that the call needed depend on the rows it read, and are not counted for the statement
 * around it: EXPLAIN ANALYZE, auto_explain and pg_stat_statements would tell them. Messages below NOTICE tell of the rows,
 * too, and are not for the client, whatever client_min_messages says.
 */
Datum
discreet_call_handler(PG_FUNCTION_ARGS)
{
	static PGFunction python_handler = NULL;
	MemoryContext caller_context = CurrentMemoryContext;
	BufferUsage buffers = pgBufferUsage;
	WalUsage	wal = pgWalUsage;
	TupleDesc	around = columns_of_call(fcinfo);
	volatile Datum result = (Datum) 0;
	int			settings = 0;
	int			depth;

	if (python_handler == NULL)
		python_handler = (PGFunction) load_external_function("$libdir/plpython3", "plpython3_call_handler",
															 true, NULL);
	refuse_large_arguments(fcinfo);
	if (client_min_messages < NOTICE)
	{
		settings = NewGUCNestLevel();
		(void) set_config_option("client_min_messages", "notice", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	}
	depth = begin_python();
	PG_TRY();
	{
		/* outer callers add their context when the error is thrown anew */
		error_context_stack = NULL;
		/* from here on a cancel wakes Python; this is for one that came before */
		CHECK_FOR_INTERRUPTS();
		result = python_handler(fcinfo);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		end_python(depth);
		pgBufferUsage = buffers;
		pgWalUsage = wal;
		columns_of_call_around(around);
		MemoryContextSwitchTo(caller_context);
		error = CopyErrorData();
		FlushErrorState();
		CHECK_FOR_INTERRUPTS();
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
		/* SQL of the gate's own, which tells how it reads the table */
		error->internalquery = NULL;
		error->internalpos = 0;
		ThrowErrorData(error);
	}
	PG_END_TRY();
	end_python(depth);
	if (settings > 0)
		AtEOXact_GUC(true, settings);
	pgBufferUsage = buffers;
	pgWalUsage = wal;
	columns_of_call_around(around);

	return result;
}

PG_FUNCTION_INFO_V1(discreet_caller);

/*
 * The role a SECURITY DEFINER function acts for: the session user, or what SET ROLE made of it.
 * Inside a security-restricted operation (index expressions under ANALYZE and the like) another
 * user's code runs in the session of a superuser: there no question is asked.
 */
Datum
discreet_caller(PG_FUNCTION_ARGS)
{
	if (is_restricted())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("discreet cannot be used within a security-restricted operation")));
	PG_RETURN_OID(GetOuterUserId());
}
