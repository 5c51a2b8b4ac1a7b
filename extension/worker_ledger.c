/*
 * worker_ledger.c: the ledger worker of a database. It runs the functions _ledger_* and nothing else, as role discreet_ledger,
 * in transactions of its own. Requests that wait together share a transaction and its commit, and the replies go out after
 * the commit. So a reply means that the charge is on disk. If one of them fails, all are performed again, each in a
 * subtransaction.
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
	bool		performed;
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
plan_of(const char *operation, bool with_bytes)
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
	snprintf(name, NAMEDATALEN, "_ledger_%s", operation);
	kept = hash_search(plans, name, HASH_ENTER, &found);
	if (!found || kept->plan == NULL)
	{
		SPIPlanPtr	plan;

		kept->plan = NULL;
		plan = SPI_prepare(psprintf("SELECT discreet.%s($1%s)", quote_identifier(name), with_bytes ? ", $2" : ""),
						   with_bytes ? 2 : 1, types);
		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "the ledger has no operation %s", operation);
		kept->plan = plan;
	}
	return kept->plan;
}

/* Runs a function of the ledger, whose answer may be NULL. */
static Datum
run_ledger(SPIPlanPtr plan, Datum *values, bool *null)
{
	if (SPI_execute_plan(plan, values, NULL, false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "the ledger's answer is not one value");
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, null);
}

static void
reply_with_json(Request *request, Jsonb *json)
{
	appendStringInfoChar(&request->reply, 'J');
	(void) JsonbToCString(&request->reply, &json->root, VARSIZE(json));
}

static void
perform(Request *request)
{
	SPIPlanPtr	plan = plan_of(request->operation, request->bytes != NULL);
	Datum		values[2] = {DirectFunctionCall1(jsonb_in, CStringGetDatum(request->request)), (Datum) 0};
	Datum		value;
	bool		null;

	if (request->bytes != NULL)
		values[1] = PointerGetDatum(cstring_to_text_with_len(request->bytes, request->length));
	value = run_ledger(plan, values, &null);
	if (null)
		appendStringInfoChar(&request->reply, 'N');
	else if (request->bytes != NULL)
	{
		bytea	   *bytes = DatumGetByteaPP(value);

		appendStringInfoChar(&request->reply, 'B');
		appendBinaryStringInfo(&request->reply, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	}
	else
		reply_with_json(request, DatumGetJsonbP(value));
}

/* Runs a function of the ledger with this request in JSON. */
static Jsonb *
answer_of(const char *operation, const char *request)
{
	Datum		value = DirectFunctionCall1(jsonb_in, CStringGetDatum(request));
	bool		null;

	value = run_ledger(plan_of(operation, false), &value, &null);
	if (null)
		elog(ERROR, "the ledger's answer is NULL");
	return DatumGetJsonbP(value);
}

/* The price of a request, which is remembered; NULL: it is refused, or is no charge that can be made together with others. */
static Price *
price_of(Request *request)
{
	Price	   *known;
	uint64		catalog;
	Jsonb	   *priced;

	if (strcmp(request->operation, "charge_aggregates") != 0)
		return NULL;
	catalog = catalog_version();	/* not newer than what the price is made of */
	known = known_price(catalog, request->request);
	if (known != NULL)
		return known;
	priced = answer_of("price_aggregates", request->request);
	if (is_refusal(priced))
	{
		reply_with_json(request, priced);
		request->performed = true;
		return NULL;
	}
	return price_from(catalog, request->request, priced);
}

/*
 * Charges of one payer are made together: limits are looked at, and lines locked and written, once for all of them. Where their
 * sum is not left, nothing is done here, and each is performed by itself.
 */
static void
charge_together(Request *requests, int count)
{
	Price	   *prices[MOST_TOGETHER];

	for (int n = 0; n < count; n++)
		prices[n] = price_of(&requests[n]);
	for (int first = 0; first < count; first++)
	{
		Price	   *price = prices[first];
		StringInfoData charges;
		bool		paid;

		if (price == NULL)
			continue;
		initStringInfo(&charges);
		for (int n = first; n < count; n++)
			if (prices[n] != NULL && strcmp(prices[n]->payer, price->payer) == 0)
				appendStringInfo(&charges, "%c%s", charges.len == 0 ? '[' : ',', prices[n]->charge);
		appendStringInfoChar(&charges, ']');
		paid = is_true(answer_of("charge_together", charges.data));
		for (int n = first; n < count; n++)
			if (prices[n] != NULL && (n == first || strcmp(prices[n]->payer, price->payer) == 0))
			{
				if (paid)
					appendStringInfo(&requests[n].reply, "J%s", prices[n]->prices);
				requests[n].performed = paid;
				if (n > first)
					prices[n] = NULL;
			}
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

static bool
is_remote(void)
{
	return ledger_conninfo != NULL && *ledger_conninfo != '\0';
}

/* What the ledger does: its own function, or the same function of the ledger on another server. */
static void
perform_anywhere(Request *request)
{
	if (is_remote())
	{
		Message		answer = remote_ledger(request->operation, request->request, request->bytes, request->length);

		appendBinaryStringInfo(&request->reply, answer->data, answer->len);
	}
	else
		perform(request);
}

/* Performs a request in a subtransaction of the transaction under way; a request that fails leaves nothing behind. */
static void
attempt(Request *request)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		perform_anywhere(request);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
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

/*
 * Performs requests in one transaction: `apart`, each in a subtransaction, or one after the other, which is far cheaper (a line that
 * each subtransaction locks gets a list of lockers that grows with each). Returns false where one has failed and all are to
 * be performed again, apart. Otherwise the slots are the askers' again.
 */
static bool
perform_in_transaction(Request *requests, int count, bool apart)
{
	volatile bool durable = false;
	volatile bool committing = false;
	volatile bool failed = false;

	PG_TRY();
	{
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		if (SPI_connect() != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect failed");
		if (!apart)
			charge_together(requests, count);
		for (int n = 0; n < count; n++)
		{
			if (apart)
				attempt(&requests[n]);
			else if (!requests[n].performed)
				perform_anywhere(&requests[n]);
			durable |= !may_be_lost(requests[n].operation);
		}
		SPI_finish();
		if (durable)
			ForceSyncCommit();
		else					/* for this transaction only: PGC_S_OVERRIDE would change it for all that follow */
			(void) set_config_option("synchronous_commit", "off", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
		PopActiveSnapshot();
		committing = true;
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
		failed = !committing && !apart && count > 1;
		/* charges that were to be made together are refused together: nothing was committed, or that is unknown */
		for (int n = 0; n < count; n++)
		{
			resetStringInfo(&requests[n].reply);
			requests[n].performed = false;
			requests[n].again = !committing && count == 1 && may_wait(&requests[n], error);
			if (!failed && !requests[n].again)
				reply_with_error(&requests[n], error);
		}
	}
	PG_END_TRY();
	MemoryContextSwitchTo(MessageContext);
	for (int n = 0; n < count && !failed; n++)
		if (!requests[n].again)
			reply(&requests[n]);
	return !failed;
}

/* Requests that share a transaction. What another server has done cannot be done again, so there each is apart from the start. */
static void
perform_together(Request *requests, int count)
{
	if (!perform_in_transaction(requests, count, is_remote()))
		(void) perform_in_transaction(requests, count, true);
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

/* Puts a request back that waits for a lock; it keeps the time at which it came. */
static void
put_back(Request *request)
{
	Slot	   *slot = request->slot;
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
		if (worker->dismissed ||
			TimestampDifferenceExceeds(idle_since, GetCurrentTimestamp(), IDLE_MS))
			return;
		pgstat_report_stat(true);
		pgstat_report_activity(STATE_IDLE, NULL);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, IDLE_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}
