/*
 * gate_told.c: what the gate has told of the last answer in this session, for tools that hide notices.
 *
 * The worker sends it beside the notice, as JSON; the view discreet.last_answer shows it. It is for the user who asked: after
 * SET SESSION AUTHORIZATION no other role reads it.
 */
#include "discreet.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(discreet_last_answer);

static char *last_answer = NULL;
static Oid	asked_by = InvalidOid;

void
keep_last_answer(const char *json)
{
	char	   *kept = MemoryContextStrdup(TopMemoryContext, json);

	if (last_answer != NULL)
		pfree(last_answer);
	last_answer = kept;
	asked_by = GetSessionUserId();
}

Datum
discreet_last_answer(PG_FUNCTION_ARGS)
{
	if (last_answer == NULL || asked_by != GetSessionUserId())
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(last_answer)));
}
