/*
 * python_limits.c: a call of Python takes arguments of bounded size, and ends when its statement is cancelled.
 *
 * PostgreSQL's handlers of SIGINT and SIGTERM set flags, and the server's loops look at them. Python's loops do not. While
 * Python works for discreet, these handlers therefore send the process SIGWINCH as well, which has no other use here and is
 * ignored by default. Python's own handler of it (server/interrupts.py) runs between two steps of whatever Python code is
 * under way, and ends that with KeyboardInterrupt if something is pending; discreet.c then throws PostgreSQL's own error.
 *
 * One call of a library (numpy, OpenDP, pglast) is a single step: its input is bounded in size where it is called.
 */
#include "discreet.h"

#include <signal.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "libpq/pqsignal.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* PL/Python makes objects of arguments before any Python code could look at them: some hundred bytes of an element */
#define MOST_BYTES (4 * 1024 * 1024)
#define MOST_ELEMENTS 100000

static volatile sig_atomic_t python_depth = 0;
static pqsigfunc cancel_handler = NULL;
static pqsigfunc terminate_handler = NULL;

/* For handlers of signals. */
void
wake_python(void)
{
	int			saved = errno;

	if (python_depth > 0)
		raise(SIGWINCH);
	errno = saved;
}

static void
cancel_and_wake(SIGNAL_ARGS)
{
	cancel_handler(postgres_signal_arg);
	wake_python();
}

static void
terminate_and_wake(SIGNAL_ARGS)
{
	terminate_handler(postgres_signal_arg);
	wake_python();
}

/*
 * Puts `ours` in front of the handler of a signal, if that is a function. Not by pqsignal(): since version 17 the handler is one
 * for all signals, which calls whatever pqsignal() was told last, and that would be ours again.
 */
static void
wrap_handler(int number, pqsigfunc ours, pqsigfunc *wrapped)
{
	struct sigaction current;

	if (sigaction(number, NULL, &current) != 0 || current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN)
		return;
	*wrapped = current.sa_handler;
	current.sa_handler = ours;
	(void) sigaction(number, &current, NULL);
}

/* Gives back what end_python must be told. */
int
begin_python(void)
{
	if (cancel_handler == NULL)
		wrap_handler(SIGINT, cancel_and_wake, &cancel_handler);
	if (terminate_handler == NULL)
		wrap_handler(SIGTERM, terminate_and_wake, &terminate_handler);
	return python_depth++;
}

void
end_python(int depth)
{
	python_depth = depth;
}

static void
refuse_large_argument(const char *function, int number, Oid type, Datum value)
{
	int16		length;
	bool		by_value;
	char		alignment;
	ArrayType  *array;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	if (length != -1)
		return;
	if (toast_raw_datum_size(value) > MOST_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("argument %d of discreet.%s() is larger than %d MB", number, function, MOST_BYTES / 1024 / 1024),
				 errhint("Call the function with less.")));
	if (!OidIsValid(get_element_type(type)))
		return;
	array = DatumGetArrayTypeP(value);
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) > MOST_ELEMENTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("argument %d of discreet.%s() has more than %d elements", number, function, MOST_ELEMENTS),
				 errhint("Call the function with fewer.")));
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
}

/* Arguments of types of variable length are few megabytes, and arrays among them of few elements. */
void
refuse_large_arguments(FunctionCallInfo fcinfo)
{
	HeapTuple	found = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Form_pg_proc function;

	if (!HeapTupleIsValid(found))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	function = (Form_pg_proc) GETSTRUCT(found);
	for (int i = 0; i < fcinfo->nargs && i < function->pronargs; i++)
		if (!fcinfo->args[i].isnull)
			refuse_large_argument(NameStr(function->proname), i + 1, function->proargtypes.values[i],
								  fcinfo->args[i].value);
	ReleaseSysCache(found);
}
