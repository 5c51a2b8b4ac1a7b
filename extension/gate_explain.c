/*
 * gate_explain.c: EXPLAIN ANALYZE tells how many buffers and temporary files a statement needed, and those of the gate's
 * run step depend on the rows. So nothing is charged, hence nothing is read, below an EXPLAIN ANALYZE.
 */
#include "discreet.h"

#include "access/xact.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/formatting.h"

static int	explained = 0;		/* EXPLAIN ANALYZEs under way, one below the other */
static TimestampTz unwatched = 0;	/* start of a statement that may have begun with one before we were loaded */

bool
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

void
begin_explain_analyze(void)
{
	explained++;
}

void
end_explain_analyze(void)
{
	explained--;
}

/*
 * A library that is loaded by the first call of a session comes too late to have seen what this call stands in: by the
 * text of the statement that may be an EXPLAIN, and within a function anything.
 */
void
begin_watching_explain(void)
{
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
