/*
 * gate_explain.c: EXPLAIN ANALYZE tells how many buffers and temporary files a statement needed, and those of the gate's
 * run step depend on the rows. So nothing is charged, hence nothing is read, below an EXPLAIN ANALYZE.
 */
#include "discreet.h"

#include "commands/defrem.h"

static int	explained = 0;		/* EXPLAIN ANALYZEs under way, one below the other */

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
}
