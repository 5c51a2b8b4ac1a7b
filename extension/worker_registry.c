/*
 * worker_registry.c: which workers there are. A database has one ledger worker and up to discreet.workers gate workers. A
 * session that sends a message starts what is missing. A worker leaves when it was idle for long, when the server needs its
 * place for another database, and when its database is dropped, renamed or copied, or the extension changes.
 */
#include "worker.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/ps_status.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#define START_TIMEOUT_MS 10000
#define DISMISSAL_TIMEOUT_MS 10000
/* how long a command that has waited for workers to leave finds none that sessions have started again */
#define VACANCY_MS 1000
/* after a step that takes longer, the role's conversations begin with one worker, for so many times as long as the step took, */
#define SLOW_STEP_MS 1000
#define SLOW_TIMES 10
/* as long as another role has asked within that time */
#define LATELY_MS (60 * 1000)

int			gate_workers = 2;

static BackgroundWorkerHandle *started = NULL;	/* the last one that this session started */
static int	started_entry = NO_WORKER;
static uint32 started_generation = 0;
static int	own_entry = NO_WORKER;

/* ---- starting */

/* Under the lock. */
static void
make_absent(Worker *worker)
{
	worker->state = NOT_THERE;
	worker->generation++;
	worker->latch = NULL;
	worker->dismissed = false;
	worker->conversations = 0;
}

/* Under the lock: an entry of a worker that was to start and never did is free again. */
static void
clear_late_starters(TimestampTz now)
{
	for (int n = 0; n < shared->worker_count; n++)
	{
		Worker	   *worker = &shared->workers[n];

		if (worker->state == STARTING && TimestampDifferenceExceeds(worker->since, now, START_TIMEOUT_MS))
			make_absent(worker);
	}
}

/* Asks a worker of another database, which has nothing to do, to leave. */
static bool
dismiss_idle_worker(void)
{
	Worker	   *oldest = NULL;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int n = 0; n < shared->worker_count; n++)
	{
		Worker	   *worker = &shared->workers[n];

		if (worker->state == IDLE && worker->database != MyDatabaseId && worker->conversations == 0 &&
			(oldest == NULL || worker->dismissed > oldest->dismissed || worker->since < oldest->since))
			oldest = worker;
	}
	if (oldest != NULL)
	{
		oldest->dismissed = true;
		SetLatch(oldest->latch);
	}
	LWLockRelease(shared->lock);
	return oldest != NULL;
}

static bool
register_worker(WorkerKind kind, int entry, uint32 generation)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "discreet",
		.bgw_function_name = "discreet_worker_main",
		.bgw_main_arg = Int64GetDatum((int64) entry << 32 | generation),
		.bgw_notify_pid = MyProcPid,
	};
	MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
	bool		registered;

	snprintf(worker.bgw_name, BGW_MAXLEN, "discreet %s worker", kind == GATE_WORKER ? "gate" : "ledger");
	snprintf(worker.bgw_type, BGW_MAXLEN, "discreet %s", kind == GATE_WORKER ? "gate" : "ledger");
	if (started != NULL)
		pfree(started);
	started = NULL;
	registered = RegisterDynamicBackgroundWorker(&worker, &started);
	MemoryContextSwitchTo(before);
	started_entry = entry;
	started_generation = generation;
	return registered;
}

/* What a message of this kind needs: a worker that is there, one that has to be started, or neither. */
typedef enum Need
{
	ENOUGH, ONE_MORE_WANTED, ONE_NEEDED
} Need;

/* Under the lock: whether a database has workers that hold conversations, which need the ledger. */
static bool
has_gate_workers(Oid database)
{
	for (int n = 0; n < shared->worker_count; n++)
		if (shared->workers[n].state != NOT_THERE && shared->workers[n].kind == GATE_WORKER &&
			shared->workers[n].database == database)
			return true;
	return false;
}

/* Under the lock: whether a command waits for all workers of this database to leave, and for that of the ledger too. */
static bool
is_vacated(WorkerKind kind)
{
	return shared->vacated == MyDatabaseId && GetCurrentTimestamp() < shared->vacated_until &&
		(kind == GATE_WORKER || !has_gate_workers(MyDatabaseId));
}

/* Under the lock. */
static Need
need_of(WorkerKind kind)
{
	int			present = 0;
	bool		one_is_free = false;

	for (int n = 0; n < shared->worker_count; n++)
	{
		Worker	   *worker = &shared->workers[n];

		if (worker->state == NOT_THERE || worker->kind != kind || worker->database != MyDatabaseId || worker->dismissed)
			continue;
		present++;
		one_is_free |= worker->state != WORKING;
	}
	if (present == 0)
		return ONE_NEEDED;
	return kind == GATE_WORKER && !one_is_free && present < gate_workers ? ONE_MORE_WANTED : ENOUGH;
}

/*
 * Sees to it that a worker takes messages of this kind, or throws. A first worker must be there; more of them are a wish.
 */
void
need_worker(WorkerKind kind)
{
	Need		need;
	int			entry = NO_WORKER;
	uint32		generation = 0;
	pid_t		pid;

	/* the one that this session has started may have failed at once */
	if (started != NULL && GetBackgroundWorkerPid(started, &pid) == BGWH_STOPPED)
	{
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		if (shared->workers[started_entry].state == STARTING &&
			shared->workers[started_entry].generation == started_generation)
			make_absent(&shared->workers[started_entry]);
		LWLockRelease(shared->lock);
		pfree(started);
		started = NULL;
	}

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	clear_late_starters(GetCurrentTimestamp());
	/* the session comes back here with its next tick */
	need = is_vacated(kind) ? ENOUGH : need_of(kind);
	for (int n = 0; need != ENOUGH && n < shared->worker_count && entry == NO_WORKER; n++)
		if (shared->workers[n].state == NOT_THERE)
		{
			Worker	   *worker = &shared->workers[entry = n];

			worker->state = STARTING;
			worker->kind = kind;
			worker->database = MyDatabaseId;
			worker->since = GetCurrentTimestamp();
			generation = worker->generation;
		}
	LWLockRelease(shared->lock);
	if (need == ENOUGH)
		return;

	if (entry != NO_WORKER && register_worker(kind, entry, generation))
		return;
	if (entry != NO_WORKER)
	{
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		if (shared->workers[entry].generation == generation)
			make_absent(&shared->workers[entry]);
		LWLockRelease(shared->lock);
	}
	/* its place is free after a moment; the session comes back here with its next tick */
	if (!dismiss_idle_worker() && need == ONE_NEEDED)
		refuse_without_worker("no background worker can be started: no charge, no answer",
							  "An administrator raises max_worker_processes, and restarts the server.");
}

/* ---- turns of roles */

/* Under the lock: what was done for a role; NULL where that is not known. */
static Service *
service_of(Oid role, Oid database)
{
	for (int n = 0; n < MOST_SERVED; n++)
		if (shared->served[n].role == role && shared->served[n].database == database)
			return &shared->served[n];
	return NULL;
}

/* Under the lock: the same; the role whose turn was longest ago is forgotten for a new one. */
static Service *
service_for(Oid role, Oid database)
{
	Service    *service = service_of(role, database);

	if (service != NULL)
		return service;
	service = &shared->served[0];
	for (int n = 1; n < MOST_SERVED; n++)
		if (shared->served[n].at < service->at)
			service = &shared->served[n];
	*service = (Service) {role, database};
	return service;
}

/* A gate worker has ended a step for a role. */
void
note_step(Oid role, Oid database, TimestampTz begun)
{
	TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds(begun, now, SLOW_STEP_MS))
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	service_for(role, database)->slow_until = now + (now - begun) * SLOW_TIMES;
	LWLockRelease(shared->lock);
}

/* Under the lock: whether the steps of a role take long, and others have asked lately. */
static bool
is_in_the_way(const Service *service)
{
	TimestampTz now = GetCurrentTimestamp();

	if (service == NULL || service->slow_until < now)
		return false;
	for (int n = 0; n < MOST_SERVED; n++)
		if (shared->served[n].database == service->database && shared->served[n].role != service->role &&
			!TimestampDifferenceExceeds(shared->served[n].taken_at, now, LATELY_MS))
			return true;
	return false;
}

/*
 * Under the lock: whether another gate worker begins the conversations of a role that is in the way of others: the first of those
 * that have one.
 */
static bool
begins_elsewhere(const Slot *slot, const Service *service, int self)
{
	if (!is_in_the_way(service))
		return false;
	for (int n = 0; n < shared->slot_count; n++)
	{
		const Slot *other = &shared->slots[n];

		if (other->turn != TURN_OF_NOBODY && other->role == slot->role && other->database == slot->database &&
			other->keeper != NO_WORKER && other->keeper < self && !shared->workers[other->keeper].dismissed)
			return true;
	}
	return false;
}

/* ---- waking */

/*
 * Under the lock: the latch of the worker that is to take the message of a slot. A conversation that begins goes to the first
 * worker that is idle, so that one of them stays warm; busy ones look for more before they sleep.
 */
Latch *
latch_of_worker(const Slot *slot)
{
	WorkerKind	kind = slot->turn == TURN_OF_GATE ? GATE_WORKER : LEDGER_WORKER;

	for (int n = 0; n < shared->worker_count; n++)
	{
		Worker	   *worker = &shared->workers[n];

		if (worker->latch == NULL || worker->kind != kind || worker->database != slot->database)
			continue;
		if (kind == GATE_WORKER && (slot->keeper != NO_WORKER ? slot->keeper != n : worker->state != IDLE || worker->dismissed))
			continue;
		if (kind == GATE_WORKER && slot->keeper == NO_WORKER && begins_elsewhere(slot, service_of(slot->role, slot->database), n))
			continue;
		return worker->latch;
	}
	return NULL;
}

/* ---- working */

/*
 * The next message for a worker, which takes it, and whether it knows the conversation; NULL where there is none. Messages to the
 * ledger are taken in their order. Roles take turns at gate workers: the next is that of the role that was served longest ago,
 * and of its messages the oldest. So a role with many sessions gets no more than another with one, and a role whose steps take
 * long leaves workers to others.
 */
Slot *
next_slot(int self, bool *begun)
{
	Worker	   *worker = &shared->workers[self];
	Turn		turn = worker->kind == GATE_WORKER ? TURN_OF_GATE : TURN_OF_LEDGER;
	Slot	   *next = NULL;
	uint64		next_served = 0;
	WorkerState state;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int n = 0; n < shared->slot_count; n++)
	{
		Slot	   *slot = &shared->slots[n];
		Service    *service = NULL;
		uint64		served = 0;

		if (slot->turn != turn || slot->taken_by != NO_WORKER || slot->database != worker->database ||
			(slot->lost && !slot->abandoned))
			continue;
		/* a conversation stays with the worker that knows it; a worker that is to leave takes no other message */
		if (slot->keeper != self && (worker->dismissed || (turn == TURN_OF_GATE && slot->keeper != NO_WORKER)))
			continue;
		if (turn == TURN_OF_GATE)
		{
			service = service_of(slot->role, slot->database);
			served = service == NULL ? 0 : service->at;
		}
		if (next != NULL && (served > next_served || (served == next_served && slot->ticket > next->ticket)))
			continue;
		if (slot->keeper == NO_WORKER && begins_elsewhere(slot, service, self))
			continue;
		next = slot;
		next_served = served;
	}
	if (next != NULL)
	{
		*begun = next->keeper == self;
		next->taken_by = self;
		if (turn == TURN_OF_GATE)
		{
			Service    *service = service_for(next->role, next->database);

			service->at = ++shared->tickets;
			service->taken_at = GetCurrentTimestamp();
		}
		if (turn == TURN_OF_GATE && next->keeper == NO_WORKER)
		{
			next->keeper = self;
			worker->conversations++;
		}
	}
	state = next == NULL ? IDLE : WORKING;
	if (worker->state != state)
	{
		worker->state = state;
		worker->since = GetCurrentTimestamp();
	}
	LWLockRelease(shared->lock);
	return next;
}

/* Whatever ends a worker: what it had is lost, and its place is free. */
static void
leave_registry(int code, Datum argument)
{
	Worker	   *worker = &shared->workers[own_entry];
	dsm_handle *unread = palloc(shared->slot_count * sizeof(dsm_handle));
	int			unread_count = 0;
	Latch	   *next;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	make_absent(worker);
	for (int n = 0; n < shared->slot_count; n++)
	{
		Slot	   *slot = &shared->slots[n];

		if (slot->turn == TURN_OF_NOBODY || (slot->taken_by != own_entry && slot->keeper != own_entry))
			continue;
		if (slot->keeper == own_entry)
			slot->keeper = NO_WORKER;
		if (slot->taken_by == own_entry)
			slot->taken_by = NO_WORKER;
		if (!slot->abandoned)
		{
			slot->lost = true;
			SetLatch(slot->latch);
		}
		/* while another worker has the slot it is not free: that worker passes it on, and the session leaves it meanwhile */
		if (slot->taken_by != NO_WORKER)
			continue;
		if (!slot->abandoned)
			slot->turn = TURN_OF_SESSION;
		else if (slot->keeper != NO_WORKER)
		{
			slot->turn = TURN_OF_GATE;
			next = latch_of_worker(slot);
			if (next != NULL)
				SetLatch(next);
		}
		else
		{
			if (slot->large != DSM_HANDLE_INVALID)
				unread[unread_count++] = slot->large;
			slot->turn = TURN_OF_NOBODY;
		}
	}
	LWLockRelease(shared->lock);
	while (unread_count > 0)
		dsm_unpin_segment(unread[--unread_count]);
}

/* Settings of a worker that no role may change, by ALTER ROLE, ALTER DATABASE or otherwise. */
static void
pin_settings(void)
{
	static const char *const settings[][2] = {
		{"synchronous_commit", "on"}, {"statement_timeout", "0"}, {"idle_in_transaction_session_timeout", "0"},
		{"default_transaction_read_only", "off"}, {"default_transaction_isolation", "read committed"},
		{"search_path", "pg_catalog, pg_temp"}, {"client_min_messages", "error"}, {"DateStyle", "ISO, MDY"},
		{"IntervalStyle", "postgres"}, {"TimeZone", "UTC"}, {"extra_float_digits", "1"}, {"bytea_output", "hex"},
		{"plan_cache_mode", "force_generic_plan"}, {"jit", "off"}, {"track_functions", "none"},
		{"debug_print_parse", "off"}, {"debug_print_rewritten", "off"}, {"debug_print_plan", "off"},
		{"row_security", "on"}, {"session_replication_role", "origin"}, {"standard_conforming_strings", "on"},
		{"max_parallel_workers_per_gather", "0"},
		/* plans are made once, perhaps on empty tables, and are to look up few rows by an index once these are large */
		{"enable_seqscan", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "off"},
	};

	for (int n = 0; n < lengthof(settings); n++)
		SetConfigOption(settings[n][0], settings[n][1], PGC_SUSET, PGC_S_OVERRIDE);
}

void
discreet_worker_main(Datum argument)
{
	uint32		generation = (uint32) DatumGetInt64(argument);
	Worker	   *worker;
	bool		expected;

	own_entry = (int) (DatumGetInt64(argument) >> 32);
	worker = &shared->workers[own_entry];
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	expected = worker->state == STARTING && worker->generation == generation;
	if (expected)
	{
		worker->state = WORKING;
		worker->since = GetCurrentTimestamp();
		worker->latch = MyLatch;
		worker->pid = MyProcPid;
	}
	LWLockRelease(shared->lock);
	if (!expected)
		proc_exit(0);
	/* before the connection: its end comes first, and aborts what is under way */
	before_shmem_exit(leave_registry, (Datum) 0);

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(worker->database, InvalidOid, 0);
	pin_settings();
	SetConfigOption("application_name", worker->kind == GATE_WORKER ? "discreet gate" : "discreet ledger", PGC_USERSET,
					PGC_S_OVERRIDE);
	if (worker->kind == GATE_WORKER)
		work_for_gate(own_entry);
	else
		work_for_ledger(own_entry);
	proc_exit(0);
}

/* ---- dismissing */

/*
 * Workers of a database leave when they have finished what they work on. While a session waits for it, no conversation begins, those
 * under way end, and then the ledger leaves; otherwise sessions would start others, which the owner of a database may not end. One
 * database at a time is vacated: that of the latest command.
 */
void
dismiss_workers(Oid database, bool wait)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), DISMISSAL_TIMEOUT_MS);
	bool		present = true;

	while (shared != NULL && present && GetCurrentTimestamp() < deadline)
	{
		bool		conversing;

		present = false;
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		conversing = wait && has_gate_workers(database);
		if (wait)
		{
			shared->vacated = database;
			shared->vacated_until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), VACANCY_MS);
		}
		for (int n = 0; n < shared->worker_count; n++)
		{
			Worker	   *worker = &shared->workers[n];

			if (worker->state == NOT_THERE || worker->database != database)
				continue;
			present = true;
			if (worker->kind == LEDGER_WORKER && conversing)
				continue;
			worker->dismissed = true;
			if (worker->latch != NULL)
				SetLatch(worker->latch);
		}
		LWLockRelease(shared->lock);
		if (!wait)
			return;
		if (present)
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 10, PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
	}
}

/* Whether the user may copy a database: those that are marked as templates all who may create any. */
static bool
may_copy(Oid database)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool		is_template = HeapTupleIsValid(tuple) && ((Form_pg_database) GETSTRUCT(tuple))->datistemplate;
	bool		creates = false;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	if (HeapTupleIsValid(tuple))
	{
		creates = ((Form_pg_authid) GETSTRUCT(tuple))->rolcreatedb;
		ReleaseSysCache(tuple);
	}
	return is_template && creates;
}

static void
dismiss_from(const char *database, bool to_copy)
{
	Oid			oid = database == NULL ? InvalidOid : get_database_oid(database, true);

	if (OidIsValid(oid) && (owns_database(oid, GetUserId()) || (to_copy && may_copy(oid))))
		dismiss_workers(oid, true);
}

/*
 * DROP, RENAME, SET TABLESPACE and CREATE … TEMPLATE fail while a session is connected to the database. Its workers are asked to
 * leave first, if the user may do what the statement says.
 */
void
look_at_databases(Node *statement)
{
	ListCell   *cell;

	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			dismiss_from(((DropdbStmt *) statement)->dbname, false);
			break;
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
				dismiss_from(((RenameStmt *) statement)->subname, false);
			break;
		case T_AlterDatabaseStmt:
			foreach(cell, ((AlterDatabaseStmt *) statement)->options)
				if (strcmp(lfirst_node(DefElem, cell)->defname, "tablespace") == 0)
					dismiss_from(((AlterDatabaseStmt *) statement)->dbname, false);
			break;
		case T_CreatedbStmt:
			foreach(cell, ((CreatedbStmt *) statement)->options)
				if (strcmp(lfirst_node(DefElem, cell)->defname, "template") == 0 &&
					lfirst_node(DefElem, cell)->arg != NULL)
					dismiss_from(defGetString(lfirst_node(DefElem, cell)), true);	/* a number is a name, too */
			break;
		default:
			break;
	}
}
