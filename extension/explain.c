/*
 * explain.c: EXPLAIN ANALYZE tells how many buffers and temporary files a statement needed, and those of the gate's
 * run step depend on the rows. So nothing is charged, hence nothing is read, below an EXPLAIN ANALYZE.
 */
#include "discreet.h"

#include "access/xact.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/formatting.h"

static ProcessUtility_hook_type previous_process_utility = NULL;
static int	explained = 0;		/* EXPLAIN ANALYZEs under way, one below the other */
static TimestampTz unwatched = 0;	/* start of a statement that may have begun with one before we were loaded */

/* not inlined: its variables would be clobbered by the jump of PG_TRY */
static pg_noinline bool
is_explain_analyze(Node *statement)
{
	bool		analyze = false;
	ListCell   *cell;

	if (!IsA(statement, ExplainStmt))
		return false;
	foreach(cell, ((ExplainStmt *) statement)->options)
	{
		DefElem    *option = (DefElem *) lfirst(cell);

		if (strcmp(option->defname, "analyze") == 0)
			analyze = defGetBoolean(option);
	}
	return analyze;
}

static void
watch_utility(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
			  ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
			  QueryCompletion *completion)
{
	ProcessUtility_hook_type next = previous_process_utility ? previous_process_utility : standard_ProcessUtility;
	bool		explains = is_explain_analyze(statement->utilityStmt);

	explained += explains;
	PG_TRY();
	{
		next(statement, text, read_only_tree, context, parameters, environment, receiver, completion);
	}
	PG_FINALLY();
	{
		explained -= explains;
	}
	PG_END_TRY();
}

/*
 * A library that is loaded by the first call of a session comes too late to have seen what this call stands in: by the
 * text of the statement that may be an EXPLAIN, and within a function anything.
 */
void
install_explain_hook(void)
{
	previous_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = watch_utility;

	if (!process_shared_preload_libraries_in_progress && IsTransactionState() && debug_query_string != NULL)
	{
		bool		within_function = SPI_unregister_relation("discreet") != SPI_ERROR_UNCONNECTED;
		char	   *text = asc_tolower(debug_query_string, strlen(debug_query_string));

		if (within_function || strstr(text, "explain") != NULL)
			unwatched = GetCurrentStatementStartTimestamp();
	}
}

bool
being_explained(void)
{
	return explained > 0;
}

void
refuse_while_explained(void)
{
	if (explained > 0)
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("EXPLAIN ANALYZE of a question would tell of the rows"),
				 errhint("SELECT discreet.explain('…') says what a question costs and how exact it is.")));
	if (unwatched != 0 && unwatched == GetCurrentStatementStartTimestamp())
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("discreet was loaded within this statement, which may be an EXPLAIN ANALYZE"),
				 errhint("Ask again. With session_preload_libraries = 'discreet' this does not happen.")));
}
