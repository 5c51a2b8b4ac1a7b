/*
 * worker_ledger.c: the ledger worker of a database. It runs the functions _ledger_* and nothing else, as role discreet_ledger,
 * in transactions of its own. Requests that wait together share a transaction and its commit: each runs in a
 * subtransaction, and the replies go out after the commit. So a reply means that the charge is on disk.
 *
 * There is one for a database, since two would lock the same lines in different order.
 */
#include "worker.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#define MOST_TOGETHER 64
/* A curator's open transaction may hold a line. The request waits for it a while, and lets others go first meanwhile. */
#define LOCK_TIMEOUT "10ms"
#define MOST_WAITING_MS 5000
#define IDLE_MS (5 * 60 * 1000)

typedef struct Request
{
	Slot	   *slot;
	char	   *operation;
	char	   *request;
	char	   *bytes;
	int			length;
	bool		again;			/* a line was locked: the request stays in its slot */
	StringInfoData reply;
} Request;

typedef struct KeptPlan
{
	char		name[NAMEDATALEN];
	SPIPlanPtr	plan;
} KeptPlan;

/* The pages of personal budgets are written in place, so a subtransaction that fails would not take them back. */
static bool
goes_alone(const char *operation)
{
	return strncmp(operation, "personal_", 9) == 0;
}

/* What is lost with a crash of the server is an answer that is paid for again: its commit does not wait for the disk. */
static bool
may_be_lost(const char *operation)
{
	return strcmp(operation, "store") == 0;
}

static SPIPlanPtr
plan_of(const Request *request)
{
	static HTAB *plans = NULL;
	Oid			types[] = {JSONBOID, BYTEAOID};
	char		name[NAMEDATALEN] = {0};
	KeptPlan   *kept;
	bool		found;

	if (plans == NULL)
	{
		HASHCTL		control = {.keysize = NAMEDATALEN, .entrysize = sizeof(KeptPlan), .hcxt = TopMemoryContext};

		plans = hash_create("discreet ledger", 32, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	}
	snprintf(name, NAMEDATALEN, "_ledger_%s", request->operation);
	kept = hash_search(plans, name, HASH_ENTER, &found);
	if (!found || kept->plan == NULL)
	{
		SPIPlanPtr	plan;

		kept->plan = NULL;
		plan = SPI_prepare(psprintf("SELECT discreet.%s($1%s)", quote_identifier(name), request->bytes ? ", $2" : ""),
						   request->bytes ? 2 : 1, types);
		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "the ledger has no operation %s", request->operation);
		kept->plan = plan;
	}
	return kept->plan;
}

static void
perform(Request *request)
{
	SPIPlanPtr	plan = plan_of(request);
	Datum		values[2] = {DirectFunctionCall1(jsonb_in, CStringGetDatum(request->request)), (Datum) 0};
	Datum		value;
	bool		null;

	if (request->bytes != NULL)
		values[1] = PointerGetDatum(cstring_to_text_with_len(request->bytes, request->length));
	if (SPI_execute_plan(plan, values, NULL, false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "the ledger's answer is not one value");
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
	if (null)
		appendStringInfoChar(&request->reply, 'N');
	else if (request->bytes != NULL)
	{
		bytea	   *bytes = DatumGetByteaPP(value);

		appendStringInfoChar(&request->reply, 'B');
		appendBinaryStringInfo(&request->reply, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	}
	else
	{
		Jsonb	   *json = DatumGetJsonbP(value);

		appendStringInfoChar(&request->reply, 'J');
		(void) JsonbToCString(&request->reply, &json->root, VARSIZE(json));
	}
}

/* The words of class DP are for the asker; of all else the log has the words, and the asker a constant. */
static void
reply_with_error(Request *request, ErrorData *error)
{
	const char *state = unpack_sql_state(error->sqlerrcode);

	resetStringInfo(&request->reply);
	appendStringInfoChar(&request->reply, 'E');
	if (strncmp(state, "DP", 2) == 0)
	{
		send_text(&request->reply, state);
		send_text(&request->reply, error->message);
		send_text(&request->reply, error->hint);
		return;
	}
	ereport(LOG_SERVER_ONLY, (errmsg("discreet: ledger: %s", error->message)));
	send_text(&request->reply, "DP007");
	send_text(&request->reply, "the ledger is not reachable: no charge, no answer");
	send_text(&request->reply, "Try again. If it stays so, an administrator finds the reason with "
			  "discreet.check_installation() and in the server's log.");
}

static bool
may_wait(const Request *request, const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE &&
		!TimestampDifferenceExceeds(request->slot->sent_at, GetCurrentTimestamp(), MOST_WAITING_MS);
}

/* Performs a request within the transaction under way; what fails leaves nothing of it. */
static void
attempt(Request *request, bool remote)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (!remote)
		BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		if (remote)
		{
			Message		answer = remote_ledger(request->operation, request->request, request->bytes, request->length);

			appendBinaryStringInfo(&request->reply, answer->data, answer->len);
		}
		else
		{
			perform(request);
			ReleaseCurrentSubTransaction();
		}
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (!remote)
			RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (may_wait(request, error))
			request->again = true;
		else
			reply_with_error(request, error);
	}
	PG_END_TRY();
}

/* A reply that no memory is left for becomes an error, which always fits; the worker goes on for the others. */
static void
reply(Request *request)
{
	PG_TRY();
	{
		write_message(request->slot, request->reply.data, request->reply.len);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(MessageContext);
		error = CopyErrorData();
		FlushErrorState();
		reply_with_error(request, error);
		write_message(request->slot, request->reply.data, request->reply.len);
	}
	PG_END_TRY();
	pass_slot(request->slot, request->slot->sender);
}

/* Requests that share a transaction. When this returns or throws, it is nobody's turn but the askers'. */
static void
perform_together(Request *requests, int count)
{
	bool		remote = ledger_conninfo != NULL && *ledger_conninfo != '\0';
	volatile bool durable = false;

	PG_TRY();
	{
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		if (SPI_connect() != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect failed");
		for (int n = 0; n < count; n++)
		{
			attempt(&requests[n], remote);
			durable |= !may_be_lost(requests[n].operation);
		}
		SPI_finish();
		if (durable)
			ForceSyncCommit();
		else					/* for this transaction only: PGC_S_OVERRIDE would change it for all that follow */
			(void) set_config_option("synchronous_commit", "off", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(MessageContext);
		error = CopyErrorData();
		FlushErrorState();
		AbortCurrentTransaction();
		MemoryContextSwitchTo(MessageContext);
		/* whoever was to be paid for together is refused together: nothing was committed, or nobody knows */
		for (int n = 0; n < count; n++)
		{
			requests[n].again = false;
			reply_with_error(&requests[n], error);
		}
	}
	PG_END_TRY();
	MemoryContextSwitchTo(MessageContext);
	for (int n = 0; n < count; n++)
		if (!requests[n].again)
			reply(&requests[n]);
}

static void
read_request(Request *request, Slot *slot)
{
	Message		message = read_message(slot);

	memset(request, 0, sizeof(Request));
	request->slot = slot;
	request->operation = receive_text(message);
	request->request = receive_text(message);
	request->bytes = receive_bytes(message, &request->length);
	initStringInfo(&request->reply);
}

/* Puts requests back that wait for a lock, with the time at which they came. */
static void
put_back(Request *request)
{
	Slot	   *slot = request->slot;
	TimestampTz sent_at = slot->sent_at;
	Turn		sender = slot->sender;
	StringInfoData bytes;

	initStringInfo(&bytes);
	send_text(&bytes, request->operation);
	send_text(&bytes, request->request);
	send_bytes(&bytes, request->bytes, request->length);
	PG_TRY();
	{
		write_message(slot, bytes.data, bytes.len);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(MessageContext);
		error = CopyErrorData();
		FlushErrorState();
		reply_with_error(request, error);
		reply(request);
		return;
	}
	PG_END_TRY();
	pass_slot(slot, TURN_OF_LEDGER);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (slot->turn == TURN_OF_LEDGER && slot->taken_by == NO_WORKER)
	{
		slot->sent_at = sent_at;
		slot->sender = sender;
	}
	LWLockRelease(shared->lock);
}

/* What waits now, at most MOST_TOGETHER; one that goes alone ends the list, or is the whole of it. */
static int
take_requests(int self, Request *requests)
{
	int			count = 0;
	Slot	   *slot;
	bool		begun;

	while (count < MOST_TOGETHER && (slot = next_slot(self, &begun)) != NULL)
	{
		read_request(&requests[count++], slot);
		if (goes_alone(requests[count - 1].operation))
			break;
	}
	return count;
}

void
work_for_ledger(int self)
{
	Worker	   *worker = &shared->workers[self];
	TimestampTz idle_since = GetCurrentTimestamp();

	MessageContext = AllocSetContextCreate(TopMemoryContext, "discreet ledger", ALLOCSET_DEFAULT_SIZES);
	SetConfigOption("lock_timeout", LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
	/* from here on the worker may execute the functions _ledger_* and nothing else */
	StartTransactionCommand();
	SetSessionAuthorization(get_role_oid("discreet_ledger", false), false);
	CommitTransactionCommand();

	for (;;)
	{
		Request		requests[MOST_TOGETHER];
		int			count;

		QueryCancelPending = false;	/* a cancel is for what is under way, and here nothing is */
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		MemoryContextReset(MessageContext);
		MemoryContextSwitchTo(MessageContext);
		count = take_requests(self, requests);
		if (count > 0)
		{
			bool		last_alone = count > 1 && goes_alone(requests[count - 1].operation);

			SetCurrentStatementStartTimestamp();
			pgstat_report_activity(STATE_RUNNING, NULL);
			perform_together(requests, last_alone ? count - 1 : count);
			if (last_alone)
				perform_together(&requests[count - 1], 1);
			for (int n = 0; n < count; n++)
				if (requests[n].again)
					put_back(&requests[n]);
			pgstat_report_stat(false);
			idle_since = GetCurrentTimestamp();
			continue;
		}
		if (worker->dismissed || TimestampDifferenceExceeds(idle_since, GetCurrentTimestamp(), IDLE_MS))
			return;
		pgstat_report_stat(true);
		pgstat_report_activity(STATE_IDLE, NULL);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, IDLE_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}
