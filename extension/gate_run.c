/*
 * gate_run.c: the run step of a question, in the name of who owns the tables.
 *
 * Planning a query may run code of the owner of a table: functions in the predicates of its indexes, in its CHECK
 * constraints, in the expressions by which it is partitioned. In the name of the extension's owner that would be the
 * code of a superuser; in the name of the table's owner it can do nothing that this role could not do before.
 */
#include "sealed.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/latch.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

/* What a role does until the end of acting, or until an error, whose abort gives the old role and settings back. */
void
begin_acting(Acting *acting, Oid role)
{
	GetUserIdAndSecContext(&acting->caller, &acting->context);
	acting->level = NewGUCNestLevel();
	/* whatever runs in the name of who owns the tables says nothing to the asker */
	(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (OidIsValid(role))
		SetUserIdAndSecContext(role, acting->context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

void
end_acting(const Acting *acting)
{
	AtEOXact_GUC(false, acting->level);
	SetUserIdAndSecContext(acting->caller, acting->context);
}

/* Whatever planning runs is over when it returns. */
PlannedStmt *
plan_select(const char *sql)
{
	List	   *statements = pg_parse_query(sql);
	List	   *queries = list_length(statements) != 1 ? NIL :
		pg_analyze_and_rewrite_fixedparams(linitial_node(RawStmt, statements), sql, NULL, 0, NULL);

	if (list_length(queries) != 1 || linitial_node(Query, queries)->commandType != CMD_SELECT)
		elog(ERROR, "the run step is not a SELECT");
	return pg_plan_query(linitial_node(Query, queries), sql, CURSOR_OPT_PARALLEL_OK, NULL);
}

/* The rows, in memory: files would not outlive a subtransaction. `slot` is for reading them. */
Tuplestorestate *
run_plan(PlannedStmt *plan, const char *sql, TupleTableSlot **slot)
{
	Tuplestorestate *rows = tuplestore_begin_heap(false, false, MAX_KILOBYTES);
	DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
	QueryDesc  *query = CreateQueryDesc(plan, sql, GetActiveSnapshot(), InvalidSnapshot, receiver, NULL, NULL, 0);

	SetTuplestoreDestReceiverParams(receiver, rows, CurrentMemoryContext, false, NULL, NULL);
	ExecutorStart(query, EXEC_FLAG_SKIP_TRIGGERS);
	*slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(query->tupDesc), &TTSOpsMinimalTuple);
	begin_server_run(query);
	run_whole(query);
	end_server_run(query);
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	receiver->rDestroy(receiver);
	return rows;
}

void
end_rows(Tuplestorestate *rows, TupleTableSlot *slot)
{
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
}

PG_FUNCTION_INFO_V1(discreet_run_as);
PG_FUNCTION_INFO_V1(discreet_start_as);
PG_FUNCTION_INFO_V1(discreet_wait);

/*
 * _start_as(role, statement): starts a SELECT as far as EXPLAIN does, and ends it: whatever the role may not read or execute
 * is refused, and no row is read. So is what reads sealed columns under keys that the server does not hold.
 */
Datum
discreet_start_as(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Acting		acting;
	PlannedStmt *plan;
	QueryDesc  *query;

	begin_acting(&acting, PG_GETARG_OID(0));
	plan = plan_select(statement);
	require_server_keys(plan);
	query = CreateQueryDesc(plan, statement, GetActiveSnapshot(), InvalidSnapshot, None_Receiver, NULL,
							NULL, 0);
	ExecutorStart(query, EXEC_FLAG_SKIP_TRIGGERS | EXEC_FLAG_EXPLAIN_ONLY);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	end_acting(&acting);
	PG_RETURN_VOID();
}

/*
 * Sealed values are not written to temporary files; whether a statement would need one depends on the rows, and the asker can set
 * work_mem: an error would tell. So such a statement has all memory.
 */
static PlannedStmt *
plan_question(const char *sql)
{
	PlannedStmt *plan = plan_select(sql);

	if (!reads_sealed(plan))
		return plan;
	(void) set_config_option("work_mem", psprintf("%d", MAX_KILOBYTES), PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
	return plan_select(sql);
}

/* _run_as(role, statement): the first column of every row, a text. */
Datum
discreet_run_as(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Acting		acting;
	Tuplestorestate *rows;
	TupleTableSlot *slot;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	begin_acting(&acting, PG_GETARG_OID(0));
	rows = run_plan(plan_question(statement), statement, &slot);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull = true;
		Datum		value = slot->tts_tupleDescriptor->natts > 0 ? slot_getattr(slot, 1, &isnull) : (Datum) 0;

		if (!isnull && TupleDescAttr(slot->tts_tupleDescriptor, 0)->atttypid != TEXTOID)
			elog(ERROR, "the run step does not give texts");
		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
	}
	end_rows(rows, slot);
	end_acting(&acting);
	PG_RETURN_NULL();
}

/* _wait(seconds): like pg_sleep, but pg_stat_activity does not tell that the work is done. */
Datum
discreet_wait(PG_FUNCTION_ARGS)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) ceil(PG_GETARG_FLOAT8(0) * 1000));

	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);

		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
			PG_RETURN_VOID();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, 0);
		ResetLatch(MyLatch);
	}
}
