/*
 * sealed_server.c: keys that the server holds, so that the gate can ask about sealed columns.
 *
 * discreet.key_command prints the secret of a key. The session of the asker runs it, once, before its first question about columns under
 * this key is charged. The key is open to one thing only: the run of the native statement of a question, in the name of the table's
 * owner. It is closed while that statement is planned, which may run code of the owner, and to statements that run within it. So neither
 * the asker nor the owner reads a value by it; what leaves the run are the totals that the gate adds noise to.
 */
#include "sealed.h"

#include <ctype.h>

#include "access/xact.h"
#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(discreet_require_server_key);

char	   *key_command = NULL;

static QueryDesc *asked = NULL; /* the native statement of the question under way */
static bool at_work = false;	/* it runs now, and no statement within it */

/* Names stand in a command of the shell. */
static bool
is_plain_name(const char *name)
{
	if (!isalnum((unsigned char) name[0]))
		return false;
	for (const char *from = name; *from != '\0'; from++)
		if (!isalnum((unsigned char) *from) && strchr("_.-", *from) == NULL)
			return false;
	return true;
}

static char *
command_for(const char *name)
{
	StringInfoData command;

	if (key_command == NULL || key_command[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the server does not hold key \"%s\", so that no question can be answered from its columns", name),
				 errhint("A superuser sets discreet.key_command in postgresql.conf to a command that prints the secret of key %%k.")));
	if (!is_plain_name(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" cannot be held by the server: its name is not made of letters, digits, _, . and -", name),
				 errhint("Seal the columns under a key with such a name.")));
	initStringInfo(&command);
	for (const char *from = key_command; *from != '\0'; from++)
	{
		if (from[0] == '%' && from[1] == 'k')
			appendStringInfoString(&command, name);
		if (from[0] == '%' && from[1] == '%')
			appendStringInfoChar(&command, '%');
		if (from[0] == '%' && (from[1] == 'k' || from[1] == '%'))
			from++;
		else
			appendStringInfoChar(&command, *from);
	}
	return command.data;
}

/* What the command prints, without the end of its line; the length. */
static int
secret_of_server(const char *name, uint8 *secret)
{
	FILE	   *pipe = OpenPipeStream(command_for(name), "r");
	int			length;
	int			status;

	if (pipe == NULL)
		ereport(ERROR, (errcode_for_file_access(), errmsg("discreet.key_command could not be run: %m")));
	/* no buffer of the C library keeps it */
	setvbuf(pipe, NULL, _IONBF, 0);
	length = (int) fread(secret, 1, LONGEST_SECRET + 1, pipe);
	status = ClosePipeStream(pipe);
	if (length > 0 && secret[length - 1] == '\n')
		length--;
	if (length > 0 && secret[length - 1] == '\r')
		length--;
	if (status != 0 || length < 1 || length > LONGEST_SECRET)
	{
		wipe(secret, LONGEST_SECRET + 1);
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("discreet.key_command gave no secret for key \"%s\"", name),
				 errhint("It must print the secret, of 1 to %d bytes, and end with status 0.", LONGEST_SECRET)));
	}
	return length;
}

static void
require_key(const char *name, const pg_uuid_t *id)
{
	uint8		secret[LONGEST_SECRET + 1];
	uint8	   *bytes;

	if (server_holds(name, id))
		return;
	bytes = key_of_server(name, secret, secret_of_server(name, secret));
	hold_server_key(name, id, bytes);
	free_key_memory(bytes);
}

/* Whether a plan reads a table with sealed columns, by the name that users know: the view stays in it, for its rights. */
bool
reads_sealed(PlannedStmt *plan)
{
	ListCell   *cell;

	foreach(cell, plan->rtable)
		if (is_sealed_view(lfirst_node(RangeTblEntry, cell)->relid))
			return true;
	return false;
}

/* Before a question is charged, and before it is run: an error unless the server has all keys of its tables. */
void
require_server_keys(PlannedStmt *plan)
{
	ListCell   *cell;
	ListCell   *of;

	foreach(cell, plan->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (!is_sealed_view(entry->relid))
			continue;
		foreach(of, sealed_columns_of_base(sealed_base_of(entry->relid)))
		{
			SealedColumn column = *(SealedColumn *) lfirst(of);

			require_sealed_view(column.view, column.base);
			require_key(NameStr(column.key), &column.key_id);
		}
	}
}

static void
end_of_transaction(XactEvent event, void *argument)
{
	asked = NULL;
	at_work = false;
}

static void
end_of_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *argument)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		end_of_transaction(XACT_EVENT_ABORT, argument);
}

/* From here on, until it has run, the statement reads sealed columns by the keys of the server. */
void
begin_server_run(QueryDesc *query)
{
	static bool watched = false;

	if (!reads_sealed(query->plannedstmt))
		return;
	if (!watched)
	{
		RegisterXactCallback(end_of_transaction, NULL);
		RegisterSubXactCallback(end_of_subtransaction, NULL);
		watched = true;
	}
	require_server_keys(query->plannedstmt);
	/* statements within it are noticed there */
	watch_runs();
	asked = query;
	at_work = true;
	keys_changed++;
}

void
end_server_run(QueryDesc *query)
{
	bool		lost = asked == query ? !at_work : reads_sealed(query->plannedstmt);

	asked = NULL;
	at_work = false;
	keys_changed++;
	/* else rows would have been read as NULL */
	if (lost)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the keys of the server were closed while the question ran")));
}

bool
server_run_is_on(void)
{
	return at_work;
}

/* Around the run of every statement: whether keys of the server were open to what is around it. */
bool
suspend_server_run(QueryDesc *query)
{
	bool		suspended = at_work && query != asked;

	if (suspended)
	{
		at_work = false;
		keys_changed++;
	}
	return suspended;
}

void
resume_server_run(void)
{
	at_work = asked != NULL;
	keys_changed++;
}

/* _require_server_key(key text): an error unless the server holds it */
Datum
discreet_require_server_key(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t	id = id_of_key(name);

	require_key(name, &id);
	PG_RETURN_VOID();
}
