/*
 * sealed_log.c: secrets of keys, and values of sealed columns, stay out of the server's log and of pg_stat_activity.
 *
 * A statement that names open_key, create_key or rotate_key, or that gave a secret to one of them, is logged without its text and its
 * parameters. In a transaction that has sealed or unsealed values, messages of errors may quote them ("invalid input syntax for type
 * integer"): the client gets the message, the log gets the code of the error and the statement.
 */
#include "sealed.h"

#include "access/xact.h"
#include "commands/prepare.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/elog.h"

#define HIDDEN "(a statement with the secret of a key, which is not logged)"

static emit_log_hook_type previous = NULL;
static TimestampTz secret_given = 0;	/* start of the statement */
static bool withholding = false;

static bool
holds_secret(const char *text)
{
	static const char *const names[] = {"open_key", "create_key", "rotate_key"};

	for (const char *from = text; from != NULL && *from != '\0'; from++)
		for (int n = 0; n < lengthof(names); n++)
			if (pg_strncasecmp(from, names[n], strlen(names[n])) == 0)
				return true;
	return false;
}

/* Messages that a function of a user writes, with any text, level and SQLSTATE. */
static bool
is_of_function(const ErrorData *error)
{
	static const char *const files[] = {"pl_exec.c", "plpy_plpymodule.c", "plpy_elog.c", "plperl.c", "pltcl.c"};

	for (int n = 0; error->filename != NULL && n < lengthof(files); n++)
		if (strcmp(error->filename, files[n]) == 0)
			return true;
	return false;
}

/* Messages of these files, and errors that name what the server has or does, quote neither statements nor values. */
static bool
quotes_nothing(const ErrorData *error)
{
	if (error->filename != NULL && strncmp(error->filename, "sealed_", strlen("sealed_")) == 0)
		return true;
	if (error->elevel < WARNING || is_of_function(error))
		return false;
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_INVALID_TRANSACTION_STATE:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
			return true;
		default:
			return false;
	}
}

/* Another line stands in the log; the client gets the message as it is. */
static void
withhold(ErrorData *error, bool secret)
{
	ErrorContextCallback *context = error_context_stack;

	error->output_to_server = false;
	error_context_stack = NULL;
	withholding = true;
	if (error->elevel < WARNING)
		ereport(LOG_SERVER_ONLY, (errhidestmt(true), errhidecontext(true), errmsg(HIDDEN)));
	else
		ereport(LOG_SERVER_ONLY,
				(errhidestmt(secret), errhidecontext(true),
				 errmsg("%s %s, whose message is not logged", error->elevel < ERROR ? "warning" : "error",
						unpack_sql_state(error->sqlerrcode)),
				 secret ? errdetail("The statement holds the secret of a key.")
				 : errdetail("The transaction has read or written values of sealed columns.")));
	withholding = false;
	error_context_stack = context;
}

static void
on_log(ErrorData *error)
{
	bool		secret;

	if (!withholding && error->output_to_server)
	{
		secret = (secret_given != 0 && secret_given == GetCurrentStatementStartTimestamp()) ||
			holds_secret(debug_query_string) || holds_secret(error->message) || holds_secret(error->detail);
		if ((secret || ((error->elevel >= WARNING || is_of_function(error)) && values_were_unsealed())) &&
			!quotes_nothing(error))
		{
			withhold(error, secret);
			return;
		}
		if (secret)
		{
			error->hide_stmt = true;
			error->hide_ctx = true;
		}
	}
	if (previous)
		previous(error);
}

void
keep_secrets_out_of_log(void)
{
	previous = emit_log_hook;
	emit_log_hook = on_log;
}

/* The statement under way holds a secret: it is hidden from those who watch, and from the log. */
void
hide_statement(void)
{
	secret_given = GetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, HIDDEN);
}

/* EXECUTE has the secret, and not the name of the function. */
void
look_at_execute(Node *statement)
{
	PreparedStatement *prepared;

	if (!IsA(statement, ExecuteStmt))
		return;
	prepared = FetchPreparedStatement(((ExecuteStmt *) statement)->name, false);
	if (prepared != NULL && holds_secret(prepared->plansource->query_string))
		hide_statement();
}
