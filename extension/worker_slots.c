/*
 * worker_slots.c: slots in shared memory, by which sessions and workers pass messages.
 *
 * A session that leaves (an error, a cancel, its end) gives up its slot: at once where no worker has it, otherwise the worker
 * frees it. A worker that ends gives its slots back as lost: what it did with the message is not known, so nothing is
 * tried again. When a process crashes, the server starts anew with free slots.
 */
#include "worker.h"

#include <signal.h>

#include "access/parallel.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* a question with its replies mostly fits; what does not is put into a segment of its own */
#define SLOT_BYTES 8192
/* a session that runs a statement for a gate worker may need the ledger within it */
#define SLOTS_PER_BACKEND 2
/* how often a waiting session looks whether its worker is still there */
#define TICK_MS 100
#define LEDGER_TIMEOUT_MS 10000
#define GATE_TIMEOUT_MS 60000

Shared	   *shared = NULL;
static List *own_slots = NIL;	/* those that this session holds */
static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

static Size
shared_size(int slots, int workers)
{
	Size		size = MAXALIGN(sizeof(Shared));

	size = add_size(size, MAXALIGN(mul_size(slots, sizeof(Slot))));
	size = add_size(size, MAXALIGN(mul_size(workers, sizeof(Worker))));
	return add_size(size, mul_size(slots, SLOT_BYTES));
}

static void
request_memory(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(shared_size(SLOTS_PER_BACKEND * MaxBackends, max_worker_processes));
	RequestNamedLWLockTranche("discreet", 1);
}

static void
start_memory(void)
{
	int			slots = SLOTS_PER_BACKEND * MaxBackends;
	bool		found;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("discreet", shared_size(slots, max_worker_processes), &found);
	if (!found)
	{
		char	   *place = (char *) shared + MAXALIGN(sizeof(Shared));

		memset(shared, 0, shared_size(slots, max_worker_processes));
		shared->lock = &(GetNamedLWLockTranche("discreet"))->lock;
		shared->slot_count = slots;
		shared->worker_count = max_worker_processes;
		shared->slots = (Slot *) place;
		place += MAXALIGN(slots * sizeof(Slot));
		shared->workers = (Worker *) place;
		place += MAXALIGN(max_worker_processes * sizeof(Worker));
		shared->messages = place;
	}
	LWLockRelease(AddinShmemInitLock);
}

/* While shared_preload_libraries are loaded. */
void
request_worker_memory(void)
{
	previous_request = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = start_memory;
}

void
refuse_without_worker(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_LEDGER_UNREACHABLE), errmsg("%s", message),
			 errhint("%s", hint != NULL ? hint :
					 "Try again. If it stays so, an administrator finds the reason with "
					 "discreet.check_installation() and in the server's log.")));
}

/* ---- messages */

static char *
bytes_of(Slot *slot)
{
	return shared->messages + (slot - shared->slots) * (Size) SLOT_BYTES;
}

/* Puts a message into a slot, whose turn is that of this process. A large one is in a segment that stays until it is read. */
void
write_message(Slot *slot, const char *bytes, Size length)
{
	Assert(slot->large == DSM_HANDLE_INVALID);
	if (length <= SLOT_BYTES)
		memcpy(bytes_of(slot), bytes, length);
	else
	{
		dsm_segment *segment = dsm_create(length, 0);

		memcpy(dsm_segment_address(segment), bytes, length);
		dsm_pin_segment(segment);
		slot->large = dsm_segment_handle(segment);
		dsm_detach(segment);
	}
	slot->length = length;
}

static void
drop_large(Slot *slot)
{
	dsm_handle	large = slot->large;

	slot->large = DSM_HANDLE_INVALID;
	if (large != DSM_HANDLE_INVALID)
		dsm_unpin_segment(large);
}

/* Copies the message of a slot out of it, whose turn is that of this process. */
Message
read_message(Slot *slot)
{
	Message		message = palloc(sizeof(StringInfoData));
	dsm_segment *segment = NULL;
	const char *bytes = bytes_of(slot);

	if (slot->large != DSM_HANDLE_INVALID)
	{
		segment = dsm_attach(slot->large);
		if (segment == NULL)
			elog(ERROR, "a message in shared memory is gone");
		bytes = dsm_segment_address(segment);
	}
	message->data = MemoryContextAllocHuge(CurrentMemoryContext, slot->length + 1);
	memcpy(message->data, bytes, slot->length);
	message->data[slot->length] = '\0';
	message->len = message->maxlen = slot->length;
	message->cursor = 0;
	if (segment != NULL)
		dsm_detach(segment);
	drop_large(slot);
	return message;
}

void
send_bytes(StringInfo to, const char *bytes, int length)
{
	pq_sendint32(to, bytes == NULL ? -1 : length);
	if (bytes != NULL)
		appendBinaryStringInfo(to, bytes, length);
}

void
send_text(StringInfo to, const char *text)
{
	send_bytes(to, text, text == NULL ? 0 : strlen(text));
}

char *
receive_bytes(Message from, int *length)
{
	char	   *bytes;

	*length = (int) pq_getmsgint(from, 4);
	if (*length < 0)
		return NULL;
	bytes = MemoryContextAllocHuge(CurrentMemoryContext, (Size) *length + 1);
	pq_copymsgbytes(from, bytes, *length);
	bytes[*length] = '\0';
	return bytes;
}

char *
receive_text(Message from)
{
	int			length;

	return receive_bytes(from, &length);
}

/* ---- turns */

/*
 * Without the lock: the process that is woken may run at once, in place of this process, and needs the lock. Latches are those of processes
 * that the server knows; one that is another's by now wakes that for nothing.
 */
static void
wake(Latch *latch)
{
	if (latch != NULL)
		SetLatch(latch);
}

/* Under the lock. */
static void
make_free(Slot *slot)
{
	if (slot->keeper != NO_WORKER)
		shared->workers[slot->keeper].conversations--;
	slot->turn = TURN_OF_NOBODY;
	slot->keeper = slot->taken_by = NO_WORKER;
	slot->abandoned = slot->lost = false;
}

void
free_slot(Slot *slot)
{
	drop_large(slot);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	make_free(slot);
	LWLockRelease(shared->lock);
}

/*
 * Ends the turn of this process. Of an abandoned slot the worker that keeps the conversation has the last turn. A ledger worker
 * that puts a request back has another turn: the sender waits for the reply as before, and since the same moment.
 */
void
pass_slot(Slot *slot, Turn to)
{
	dsm_handle	unread = DSM_HANDLE_INVALID;
	Latch	   *next = NULL;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (slot->lost && !slot->abandoned)
		to = TURN_OF_SESSION;
	else if (slot->abandoned)
		to = slot->keeper != NO_WORKER ? TURN_OF_GATE : TURN_OF_NOBODY;
	if (to != slot->turn)
	{
		slot->sender = slot->turn;
		slot->sent_at = GetCurrentTimestamp();
	}
	slot->turn = to;
	slot->taken_by = NO_WORKER;
	slot->ticket = ++shared->tickets;
	if (to == TURN_OF_SESSION)
		next = slot->latch;
	else if (to == TURN_OF_NOBODY)
	{
		unread = slot->large;
		slot->large = DSM_HANDLE_INVALID;
		make_free(slot);
	}
	else
		next = latch_of_worker(slot);
	LWLockRelease(shared->lock);
	wake(next);
	if (unread != DSM_HANDLE_INVALID)
		dsm_unpin_segment(unread);
}

/* A gate worker that leaves gives a conversation back that it has not begun; another takes it. */
void
return_slot(Slot *slot)
{
	Latch	   *next;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->workers[slot->keeper].conversations--;
	slot->keeper = slot->taken_by = NO_WORKER;
	next = latch_of_worker(slot);
	LWLockRelease(shared->lock);
	wake(next);
}

/* A session gives up its slot. */
void
leave_slot(Slot *slot)
{
	bool		is_free;
	Latch	   *next = NULL;

	own_slots = list_delete_ptr(own_slots, slot);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	is_free = slot->taken_by == NO_WORKER && slot->keeper == NO_WORKER;
	if (!is_free)
	{
		slot->abandoned = true;
		slot->latch = NULL;
		/* the worker that keeps the conversation forgets it, and frees the slot */
		if (slot->taken_by == NO_WORKER)
		{
			slot->turn = TURN_OF_GATE;
			next = latch_of_worker(slot);
		}
		/* no session needs the step of this gate worker any more, and others wait; the ledger finishes what it has begun */
		else if (slot->turn == TURN_OF_GATE)
			kill(shared->workers[slot->taken_by].pid, ABANDONED_SIGNAL);
	}
	else
		slot->turn = TURN_OF_SESSION;	/* no worker takes it any more */
	LWLockRelease(shared->lock);
	wake(next);
	if (is_free)
		free_slot(slot);
}

static void
leave_all_slots(int code, Datum argument)
{
	while (own_slots != NIL)
		leave_slot(linitial(own_slots));
}

/* A free slot, which the caller leaves in the end, whatever happens. */
Slot *
take_slot(void)
{
	static bool prepared = false;
	Slot	   *slot = NULL;
	MemoryContext before;

	if (shared == NULL)
		refuse_without_worker("discreet is not in shared_preload_libraries: no charge, no answer",
							  "Add discreet to shared_preload_libraries in postgresql.conf, and restart the server.");
	if (IsParallelWorker())
		elog(ERROR, "the ledger cannot be reached from a parallel worker");
	/* so there is always a slot for another session */
	if (list_length(own_slots) >= SLOTS_PER_BACKEND)
		refuse_without_worker("a question is asked within a question: no charge, no answer", "Ask one after the other.");
	if (!prepared)
	{
		before_shmem_exit(leave_all_slots, (Datum) 0);
		prepared = true;
	}
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int n = 0; n < shared->slot_count && slot == NULL; n++)
		if (shared->slots[n].turn == TURN_OF_NOBODY)
			slot = &shared->slots[n];
	if (slot != NULL)
	{
		memset(slot, 0, sizeof(Slot));
		slot->turn = TURN_OF_SESSION;
		slot->taken_by = slot->keeper = NO_WORKER;
		slot->database = MyDatabaseId;
		slot->role = GetSessionUserId();
		slot->conversation = ++shared->conversations;
		slot->latch = MyLatch;
		slot->large = DSM_HANDLE_INVALID;
	}
	LWLockRelease(shared->lock);
	if (slot == NULL)
		refuse_without_worker("too many questions are under way: no charge, no answer", NULL);
	before = MemoryContextSwitchTo(TopMemoryContext);
	own_slots = lappend(own_slots, slot);
	MemoryContextSwitchTo(before);
	return slot;
}

/*
 * Sends a message and waits for the reply. It throws when the statement is cancelled, or no worker answers; the caller then
 * leaves the slot.
 */
Message
exchange(Slot *slot, Turn to, const char *bytes, Size length)
{
	WorkerKind	kind = to == TURN_OF_GATE ? GATE_WORKER : LEDGER_WORKER;
	bool		ticked = false;

	CHECK_FOR_INTERRUPTS();
	write_message(slot, bytes, length);
	pass_slot(slot, to);
	need_worker(kind);
	for (;;)
	{
		Turn		turn;
		bool		lost;
		TimestampTz since;
		Latch	   *late = NULL;

		LWLockAcquire(shared->lock, LW_SHARED);
		turn = slot->turn;
		lost = slot->lost;
		since = slot->sent_at;
		if (ticked && slot->taken_by == NO_WORKER && (turn == TURN_OF_GATE || turn == TURN_OF_LEDGER))
			late = latch_of_worker(slot);
		LWLockRelease(shared->lock);
		wake(late);
		if (lost)
			refuse_without_worker("the worker ended while it worked on the question, which may have been charged: no answer", NULL);
		if (turn == TURN_OF_SESSION)
			return read_message(slot);
		if (TimestampDifferenceExceeds(since, GetCurrentTimestamp(),
									   turn == TURN_OF_GATE ? GATE_TIMEOUT_MS : LEDGER_TIMEOUT_MS))
			refuse_without_worker("no worker has answered in time, and the question may have been charged: no answer", NULL);
		ticked = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, TICK_MS, PG_WAIT_EXTENSION) & WL_TIMEOUT;
		if (ticked)
			need_worker(turn == TURN_OF_GATE ? GATE_WORKER : LEDGER_WORKER);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}
