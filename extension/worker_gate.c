/*
 * worker_gate.c: a gate worker. It runs the Python of the gate for all sessions of its database, a step at a time: each takes
 * the message of a conversation and ends with the next one, for the session or for the ledger worker. Between two steps the
 * worker serves others. No SQL of any user runs here: what a question needs from its data the session runs.
 */
#include "worker.h"

#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

/* all sessions wait while the worker waits for a lock */
#define LOCK_TIMEOUT "20ms"
#define IDLE_MS (5 * 60 * 1000)
/* libraries leave a little memory behind with each question (docs/limits.md) */
#define MOST_STEPS 1000000

int			step_timeout = 20 * 1000;	/* a step that takes longer is ended */

/* The function that runs a step, and its version: after an upgrade of the extension the worker starts anew. */
typedef struct Code
{
	Oid			function;
	TransactionId xmin;
	ItemPointerData place;
} Code;

static Code
current_code(void)
{
	Oid			types[] = {INT8OID, TEXTOID, INT8OID, BYTEAOID};
	Code		code = {.function = own_function("_worker_step", lengthof(types), types)};
	HeapTuple	tuple;

	if (!OidIsValid(code.function))
		return code;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(code.function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", code.function);
	code.xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	code.place = tuple->t_self;
	ReleaseSysCache(tuple);
	return code;
}

static bool
same_code(Code *one, Code *other)
{
	return one->function == other->function && one->xmin == other->xmin && ItemPointerEquals(&one->place, &other->place);
}

/* The slot whose step is under way. */
static Slot *volatile stepping = NULL;

/*
 * A session has left while this worker had its slot. Only the step of a slot that is abandoned is ended: the signal may come when
 * the worker is at another one.
 */
static void
on_abandoned(SIGNAL_ARGS)
{
	int			saved = errno;
	Slot	   *slot = stepping;

	if (slot != NULL && slot->abandoned)
	{
		QueryCancelPending = true;
		InterruptPending = true;
		SetLatch(MyLatch);
		wake_python();
	}
	errno = saved;
}

/* Whether a conversation has work that waits for no message. */
static bool ahead = false;

/*
 * Runs a step in a transaction of its own. The reply is in MessageContext; its first byte says whom it is for: the session (S; W:
 * and the worker can go on meanwhile), the ledger (L), the session for the last time (F).
 */
static bytea *
step(Oid function, uint64 conversation, const char *sender, Message message)
{
	bytea	   *request = MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + message->len);
	bytea	   *reply;
	uint64		catalog = catalog_version();	/* not newer than the snapshot */
	int			depth;
	MemoryContext before;

	SET_VARSIZE(request, VARHDRSZ + message->len);
	memcpy(VARDATA(request), message->data, message->len);
	PushActiveSnapshot(GetTransactionSnapshot());
	enable_timeout_after(STATEMENT_TIMEOUT, step_timeout);
	depth = begin_python();
	CHECK_FOR_INTERRUPTS();		/* from here on a signal wakes Python; this is for one that came before */
	reply = DatumGetByteaP(OidFunctionCall4(function, Int64GetDatum(conversation), CStringGetTextDatum(sender),
											Int64GetDatum(catalog), PointerGetDatum(request)));
	end_python(depth);
	disable_timeout(STATEMENT_TIMEOUT, false);
	before = MemoryContextSwitchTo(MessageContext);
	request = MemoryContextAllocHuge(MessageContext, VARSIZE(reply));
	memcpy(request, reply, VARSIZE(reply));
	MemoryContextSwitchTo(before);
	PopActiveSnapshot();
	return request;
}

/* Does a part of what conversations can do before their sessions reply, such as noise of many numbers; whether there is more. */
static bool
work_ahead(void)
{
	volatile bool more = false;

	PG_TRY();
	{
		Code		code;

		StartTransactionCommand();
		code = current_code();
		if (OidIsValid(code.function))
			more = *VARDATA(step(code.function, 0, "I", makeStringInfo())) == 'M';
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		end_python(0);
		disable_timeout(STATEMENT_TIMEOUT, false);
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(MessageContext);
	return more;
}

/* What a session gets when a step fails as a whole. */
static bytea *
failure(bool timed_out)
{
	StringInfoData reply;

	initStringInfo(&reply);
	appendStringInfoSpaces(&reply, VARHDRSZ);
	appendStringInfoChar(&reply, 'F');
	appendBinaryStringInfo(&reply, "\0\0\0\0E", 5);	/* no notices; an error */
	send_text(&reply, "DP007");
	send_text(&reply, timed_out ? "the gate did not finish with the question in time, and it may have been charged: no answer" :
			  "the gate failed, and the question may have been charged: no answer");
	send_text(&reply, timed_out ? "Ask a simpler question." : "Try again. The server's log says more.");
	SET_VARSIZE(reply.data, reply.len);
	return (bytea *) reply.data;
}

static bool
is_abandoned(Slot *slot)
{
	bool		abandoned;

	LWLockAcquire(shared->lock, LW_SHARED);
	abandoned = slot->abandoned;
	LWLockRelease(shared->lock);
	return abandoned;
}

static void
end_conversation(Slot *slot)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (slot->keeper != NO_WORKER)
	{
		shared->workers[slot->keeper].conversations--;
		slot->keeper = NO_WORKER;
	}
	LWLockRelease(shared->lock);
}

/* One step of the conversation in a slot. */
static void
serve(Slot *slot, Oid function)
{
	volatile bool abandoned = is_abandoned(slot);
	bytea	   *volatile reply = NULL;
	volatile bool unsent = false;
	volatile char receiver;

	/* what Python keeps of an abandoned conversation is forgotten in peace */
	stepping = abandoned ? NULL : slot;
	PG_TRY();
	{
		Message		message = abandoned ? makeStringInfo() : read_message(slot);
		const char *sender = abandoned ? "A" : slot->sender == TURN_OF_LEDGER ? "L" : "S";

		if (!abandoned && is_abandoned(slot))
			QueryCancelPending = InterruptPending = true;	/* the session left before it could be heard of */
		reply = step(function, slot->conversation, sender, message);
		stepping = NULL;
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		bool		timed_out = geterrcode() == ERRCODE_QUERY_CANCELED || get_timeout_indicator(STATEMENT_TIMEOUT, true);

		stepping = NULL;
		end_python(0);
		disable_timeout(STATEMENT_TIMEOUT, false);
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
		MemoryContextSwitchTo(MessageContext);
		reply = failure(timed_out);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(MessageContext);

	if (abandoned)
	{
		free_slot(slot);
		return;
	}
	receiver = *VARDATA(reply);
	if (receiver == 'W')
	{
		ahead = true;
		receiver = 'S';
	}
	PG_TRY();
	{
		write_message(slot, VARDATA(reply) + 1, VARSIZE(reply) - VARHDRSZ - 1);
	}
	PG_CATCH();
	{
		/* no memory is left for a large message: the worker goes on for the others */
		EmitErrorReport();
		FlushErrorState();
		MemoryContextSwitchTo(MessageContext);
		unsent = true;
	}
	PG_END_TRY();
	if (unsent && receiver != 'F')
	{
		/* the session is told when it asks again; what Python keeps of the conversation goes with the worker's next look at it */
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		slot->lost = true;
		LWLockRelease(shared->lock);
		write_message(slot, "", 0);
		pass_slot(slot, TURN_OF_SESSION);
		return;
	}
	if (receiver == 'F')
		end_conversation(slot);
	if (unsent)
	{
		reply = failure(false);
		write_message(slot, VARDATA(reply) + 1, VARSIZE(reply) - VARHDRSZ - 1);
	}
	pass_slot(slot, receiver == 'L' ? TURN_OF_LEDGER : TURN_OF_SESSION);
}

void
work_for_gate(int self)
{
	Worker	   *worker = &shared->workers[self];
	TimestampTz idle_since = GetCurrentTimestamp();
	Code		loaded = {InvalidOid};
	int			steps = 0;

	MessageContext = AllocSetContextCreate(TopMemoryContext, "discreet gate", ALLOCSET_DEFAULT_SIZES);
	SetConfigOption("lock_timeout", LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
	pqsignal(ABANDONED_SIGNAL, on_abandoned);
	for (;;)
	{
		Slot	   *slot;
		bool		begun;

		QueryCancelPending = false;	/* a cancel is for what is under way, and here nothing is */
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		MemoryContextReset(MessageContext);
		MemoryContextSwitchTo(MessageContext);
		slot = next_slot(self, &begun);
		if (slot != NULL)
		{
			Code		code;
			Oid			role = slot->role;	/* the slot may be another's after the step */

			SetCurrentStatementStartTimestamp();
			pgstat_report_activity(STATE_RUNNING, NULL);
			StartTransactionCommand();
			code = current_code();
			if (!OidIsValid(loaded.function))
				loaded = code;
			/* modules of another version are loaded already: the next worker begins with the new ones */
			if (!OidIsValid(code.function) || !same_code(&code, &loaded))
			{
				if (OidIsValid(code.function) && !begun)
					return_slot(slot);
				return;
			}
			serve(slot, code.function);
			note_step(role, MyDatabaseId, GetCurrentStatementStartTimestamp());
			steps++;
			idle_since = GetCurrentTimestamp();
			continue;
		}
		if (ahead)
		{
			ahead = work_ahead();
			continue;
		}
		pgstat_report_stat(true);
		pgstat_report_activity(STATE_IDLE, NULL);
		if (worker->conversations == 0 &&
			(worker->dismissed || steps > MOST_STEPS ||
			 TimestampDifferenceExceeds(idle_since, GetCurrentTimestamp(), IDLE_MS)))
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, IDLE_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}
