/*
 * worker.h: background workers that charge and think for all sessions of a database.
 *
 *   worker_slots.c      slots in shared memory, by which sessions and workers pass messages
 *   worker_registry.c   which workers there are; they are started when needed, and leave when idle or dismissed
 *   worker_prices.c     what dp_ aggregates cost, which the ledger worker remembers
 *   worker_ledger.c     the ledger worker of a database: charges, in transactions of its own that several charges share
 *   worker_gate.c       a gate worker: runs the Python of the gate, a step at a time
 *   worker_session.c    language discreet_worker: a session asks a gate worker, and runs the statements it is given
 *
 * A slot is one conversation of one session. A message is in it, and it is always the turn of one of three: the session's, a gate
 * worker's or the ledger worker's. Only the process whose turn it is reads or writes the message. All else is under the lock.
 */
#ifndef DISCREET_WORKER_H
#define DISCREET_WORKER_H

#include "discreet.h"

#include "datatype/timestamp.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/jsonb.h"

#pragma GCC visibility push(hidden)

typedef enum Turn
{
	TURN_OF_NOBODY,				/* the slot is free */
	TURN_OF_SESSION,
	TURN_OF_GATE,
	TURN_OF_LEDGER
} Turn;

#define NO_WORKER (-1)

/* a session waits longer than that for a gate worker */
#define MAX_STEP_MS 30000

typedef struct Slot
{
	Turn		turn;
	Turn		sender;			/* who gets the ledger's reply */
	bool		abandoned;		/* the session has left: the worker that has the slot frees it */
	bool		lost;			/* the worker that had the message is gone; what it has done is unknown */
	int			taken_by;		/* the worker that works on the message */
	int			keeper;			/* the gate worker that holds the state of the conversation */
	Oid			database;
	Oid			role;			/* the session user */
	uint64		conversation;
	uint64		ticket;			/* order of messages */
	TimestampTz sent_at;
	Latch	   *latch;			/* of the session */
	Size		length;
	dsm_handle	large;			/* where the message is, if the slot is too small for it */
} Slot;

typedef enum WorkerKind
{
	LEDGER_WORKER,
	GATE_WORKER
} WorkerKind;

typedef enum WorkerState
{
	NOT_THERE,
	STARTING,
	WORKING,
	IDLE
} WorkerState;

typedef struct Worker
{
	WorkerState state;
	WorkerKind	kind;
	bool		dismissed;
	Oid			database;
	uint32		generation;		/* a worker that starts too late finds another one here */
	TimestampTz since;			/* in this state */
	Latch	   *latch;
	int			pid;
	int			conversations;	/* whose state it keeps */
} Worker;

/* What gate workers have done for a role in a database, whatever its sessions are. */
typedef struct Service
{
	Oid			role;
	Oid			database;
	uint64		at;				/* when a message of it was taken, in the order of messages */
	TimestampTz taken_at;		/* the same, by the clock */
	TimestampTz slow_until;		/* its steps take long */
} Service;

/* as many roles take turns; of more, those that were served long ago are forgotten */
#define MOST_SERVED 64

typedef struct Shared
{
	LWLock	   *lock;
	int			slot_count;
	int			worker_count;
	uint64		conversations;
	uint64		tickets;
	Oid			vacated;		/* a database that a command wants for itself: until then no worker is started there */
	TimestampTz vacated_until;
	Service		served[MOST_SERVED];
	Slot	   *slots;
	Worker	   *workers;
	char	   *messages;
} Shared;

/* a message: bytes that were copied out of the slot, with a cursor in them */
typedef StringInfo Message;

/* worker_slots.c */
extern Shared *shared;
extern void request_worker_memory(void);
extern Slot *take_slot(void);
extern void leave_slot(Slot *slot);
extern Message exchange(Slot *slot, Turn to, const char *bytes, Size length);
extern Message read_message(Slot *slot);
extern void write_message(Slot *slot, const char *bytes, Size length);
extern void pass_slot(Slot *slot, Turn to);
extern void free_slot(Slot *slot);
pg_noreturn extern void refuse_without_worker(const char *message, const char *hint);

/* worker_registry.c */
extern int	gate_workers;
extern void need_worker(WorkerKind kind);
extern Latch *latch_of_worker(const Slot *slot);
extern void return_slot(Slot *slot);
extern void dismiss_workers(Oid database, bool wait);
extern Slot *next_slot(int self, bool *begun);
extern void note_step(Oid role, Oid database, TimestampTz begun);
extern void look_at_databases(Node *statement);

/* worker_prices.c: the price of one charge, in JSON; charges of one payer can be made together */
typedef struct Price
{
	char	   *payer;
	char	   *charge;			/* what the ledger is to take */
	char	   *prices;			/* what the session is told */
} Price;

extern Price *known_price(uint64 catalog, const char *request);
extern Price *price_from(uint64 catalog, const char *request, Jsonb *priced);
extern bool is_refusal(Jsonb *priced);
extern bool is_true(Jsonb *answer);

/* worker_ledger.c, worker_gate.c: the loops; they return when the worker is to leave */
extern void work_for_ledger(int self);
extern void work_for_gate(int self);
extern int	step_timeout;

/* tells a gate worker that the session of its step has left */
#define ABANDONED_SIGNAL SIGUSR2

/* budget_ledger.c: an operation of the ledger on another server */
extern Message remote_ledger(const char *operation, const char *request, const char *bytes, int length);

/* texts in messages: a length, then bytes; a length of -1 is NULL */
extern void send_text(StringInfo to, const char *text);
extern void send_bytes(StringInfo to, const char *bytes, int length);
extern char *receive_text(Message from);
extern char *receive_bytes(Message from, int *length);

#pragma GCC visibility pop

/* the server starts workers by this name */
extern PGDLLEXPORT void discreet_worker_main(Datum argument);

#endif
