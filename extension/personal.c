/*
 * personal.c: a question that each person pays for from a budget of their own, on the asker's side.
 *
 * All in one snapshot: every row of the table is looked at, whose it is and whether it takes part; the ledger takes the
 * price from all who can pay, and commits; then the run step aggregates the rows of those who have paid. Numbers of people
 * are those of the ledger. The session remembers them, in memory that it shares with its parallel workers where it can.
 */
#include "discreet.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "common/sha2.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "numbering.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#define NOBODY PG_UINT32_MAX
#define MOST_UNKNOWN (1 << 20)	/* people who are numbered at once, for each process */
#define MOST_UNKNOWN_BYTES (1 << 26)
#define MOST_ATTEMPTS 50		/* while others bring in people at the same time */

typedef struct Slot
{
	uint64		key;			/* the integer, or the hash of the text */
	uint32		number;
	uint32		is_used;
} Slot;

/* What the map is used for at the moment. */
typedef enum Phase
{
	CLOSED, COUNTING, PAID
} Phase;

/* Numbers of people by what names them. No pointers: other processes have it elsewhere. */
typedef struct Map
{
	Phase		phase;
	bool		by_integer;		/* people are named by bigints; otherwise by texts */
	uint32		people;
	uint32		capacity;
	uint32		mask;			/* number of slots - 1 */
	uint64		secret[2];
	Size		list_length;	/* of the texts of all people */
	Size		list_capacity;
	Size		begins;			/* where the parts are, from the beginning of the map */
	Size		rows;
	Size		paid;
	Size		list;
	Slot		slots[FLEXIBLE_ARRAY_MEMBER];
} Map;

/* What this session knows of a dataset; `is_whole`: no error came between. */
static struct
{
	Map		   *map;
	dsm_segment *segment;
	char	   *dataset;
	bool		is_whole;
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
} known;

#define PART(map, part, type) ((type *) ((char *) (map) + (map)->part))

static void
forget_people(void)
{
	if (known.segment != NULL)
		dsm_detach(known.segment);
	else if (known.map != NULL)
		pfree(known.map);
	if (known.dataset != NULL)
		pfree(known.dataset);
	memset(&known, 0, sizeof(known));
}

/* Memory that workers can see; NULL where there is none to be had. */
static dsm_segment *
shared_memory(Size size)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	dsm_segment *volatile segment = NULL;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		segment = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		if (segment != NULL)
			dsm_pin_mapping(segment);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		segment = NULL;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return segment;
}

static Map *
new_map(Size people, Size list_length, bool by_integer)
{
	Size		capacity = people + people / 8 + 4096;
	Size		slots = 4096;
	Map			sizes = {.by_integer = by_integer};
	Size		size;
	Map		   *map;

	if (capacity > PG_INT32_MAX / 2)
		elog(ERROR, "too many people");
	while (slots < capacity + capacity / 2)
		slots *= 2;
	sizes.capacity = capacity;
	sizes.mask = slots - 1;
	sizes.list_capacity = list_length + list_length / 8 + 65536;
	sizes.begins = offsetof(Map, slots) + sizeof(Slot) * slots;
	sizes.rows = sizes.begins + sizeof(uint64) * capacity;
	sizes.paid = MAXALIGN(sizes.rows + sizeof(pg_atomic_uint32) * capacity);
	sizes.list = MAXALIGN(sizes.paid + capacity / 8 + 1);
	size = sizes.list + sizes.list_capacity;

	known.segment = shared_memory(size);
	map = known.segment != NULL ? dsm_segment_address(known.segment) :
		MemoryContextAllocHuge(TopMemoryContext, size);
	known.map = map;
	memset(map, 0, sizes.begins);
	memcpy(map, &sizes, offsetof(Map, slots));
	if (!pg_strong_random(map->secret, sizeof(map->secret)))
		elog(ERROR, "there are no random numbers");
	return map;
}

/* Integers that follow each other are neighbours in the map: who comes next is in the cache already. */
static inline uint64
hash_of_integer(const Map *map, uint64 integer)
{
	uint128		product = (uint128) ((integer >> 4) ^ map->secret[0]) * (map->secret[1] | 1);

	return ((uint64) (product >> 64) ^ (uint64) product) << 4 | (integer & 15);
}

static inline uint64
hash_of_text(const Map *map, const char *text, uint32 length)
{
	return hash_bytes_extended((const unsigned char *) text, length, map->secret[0]);
}

static bool
is_text_of(const Map *map, uint32 number, const char *text, uint32 length)
{
	const char *from = PART(map, list, char) + PART(map, begins, uint64)[number];
	const char *end = PART(map, list, char) + map->list_length;
	const char *theirs;
	uint32		their_length;

	return next_text(&from, end, &theirs, &their_length) && their_length == length &&
		memcmp(theirs, text, length) == 0;
}

static inline uint32
number_of_integer(const Map *map, uint64 integer)
{
	for (uint32 at = hash_of_integer(map, integer) & map->mask; map->slots[at].is_used; at = (at + 1) & map->mask)
		if (map->slots[at].key == integer)
			return map->slots[at].number;
	return NOBODY;
}

static uint32
number_of_text(const Map *map, const char *text, uint32 length)
{
	uint64		hash = hash_of_text(map, text, length);

	for (uint32 at = hash & map->mask; map->slots[at].is_used; at = (at + 1) & map->mask)
		if (map->slots[at].key == hash && is_text_of(map, map->slots[at].number, text, length))
			return map->slots[at].number;
	return NOBODY;
}

/* Whether a text is how a bigint is written. */
static bool
is_integer(const char *text, uint32 length, int64 *integer)
{
	bool		is_negative = length > 0 && text[0] == '-';
	int64		value = 0;

	if (length == is_negative || (text[is_negative] == '0' && length > 1))
		return false;
	for (uint32 n = is_negative; n < length; n++)
		if (text[n] < '0' || text[n] > '9' || pg_mul_s64_overflow(value, 10, &value) ||
			pg_sub_s64_overflow(value, text[n] - '0', &value))
			return false;
	if (!is_negative && value == PG_INT64_MIN)
		return false;
	*integer = is_negative ? value : -value;
	return true;
}

static void
add_to_map(Map *map, const char *text, uint32 length, Size begins)
{
	uint32		number = map->people++;
	uint64		key;
	uint32		at;

	PART(map, begins, uint64)[number] = begins;
	if (!map->by_integer)
		at = (key = hash_of_text(map, text, length)) & map->mask;
	else if (is_integer(text, length, (int64 *) &key))
		at = hash_of_integer(map, key) & map->mask;
	else
		return;					/* was here when people were named by texts */
	while (map->slots[at].is_used)
		at = (at + 1) & map->mask;
	map->slots[at] = (Slot) {key, number, true};
}

/* Takes a list of people in, whose numbers follow those of the people who are known already. */
static void
learn_people(const char *list, Size length, bool by_integer)
{
	Map		   *map = known.map;
	const char *from = list;
	const char *end = list + length;
	const char *text;
	uint32		text_length;
	Size		people = 0;

	while (next_text(&from, end, &text, &text_length))
		people++;
	known.is_whole = false;
	if (map == NULL || map->people + people > map->capacity || map->list_length + length > map->list_capacity)
	{
		dsm_segment *old_segment = known.segment;
		Map		   *old = map;
		Size		old_length = old ? old->list_length : 0;

		known.segment = NULL;
		known.map = NULL;			/* should there be no memory for another */
		map = new_map(people + (old ? old->people : 0), length + old_length, by_integer);
		if (old != NULL)
			memcpy(PART(map, list, char), PART(old, list, char), old_length);
		if (old_segment != NULL)
			dsm_detach(old_segment);
		else if (old != NULL)
			pfree(old);
		map->list_length = old_length;
		from = PART(map, list, char);
	}
	else
		from = PART(map, list, char) + map->list_length;
	memcpy(PART(map, list, char) + map->list_length, list, length);
	map->list_length += length;
	end = PART(map, list, char) + map->list_length;
	for (;;)
	{
		Size		begins = from - PART(map, list, char);

		if (map->people % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!next_text(&from, end, &text, &text_length))
			break;
		add_to_map(map, text, text_length, begins);
	}
	known.is_whole = true;
}

/* What the ledger is asked */

static char *
request_for(const char *dataset, bool with_digest, const char *more)
{
	StringInfoData request;

	initStringInfo(&request);
	appendStringInfoString(&request, "{\"dataset\": ");
	escape_json(&request, dataset);
	if (with_digest)
	{
		appendStringInfoString(&request, ", \"digest\": \"");
		for (int n = 0; n < sizeof(known.digest); n++)
			appendStringInfo(&request, "%02x", known.digest[n]);
		appendStringInfoChar(&request, '"');
	}
	appendStringInfo(&request, "%s}", more);
	return request.data;
}

/* Asks for the people who came since the last question, or for all. The answer: whether it is all, a digest, a list. */
static void
ask_for_people(const char *dataset, bool by_integer)
{
	bool		is_known = known.is_whole && strcmp(known.dataset, dataset) == 0 && known.map->by_integer == by_integer;
	bytea	   *answer = ledger_call_bytes("personal_people", request_for(dataset, is_known, ""), "", 0);
	const char *bytes;

	if (answer == NULL || VARSIZE(answer) - VARHDRSZ < 1 + sizeof(known.digest))
		elog(ERROR, "the ledger does not say who is in it");
	bytes = VARDATA(answer);
	if (bytes[0] || !is_known)
	{
		forget_people();
		known.dataset = MemoryContextStrdup(TopMemoryContext, dataset);
	}
	learn_people(bytes + 1 + sizeof(known.digest), VARSIZE(answer) - VARHDRSZ - 1 - sizeof(known.digest), by_integer);
	memcpy(known.digest, bytes + 1, sizeof(known.digest));
	pfree(answer);
}

/* Gives numbers to people whom the ledger does not know; false when others did so at the same time. */
static bool
add_people(const char *dataset, bytea *list)
{
	bytea	   *answer = ledger_call_bytes("personal_add", request_for(dataset, true, ""), VARDATA_ANY(list),
										   VARSIZE_ANY_EXHDR(list));

	if (answer == NULL)
		return false;
	if (VARSIZE(answer) - VARHDRSZ != sizeof(known.digest))
		elog(ERROR, "the ledger does not say who is in it");
	learn_people(VARDATA_ANY(list), VARSIZE_ANY_EXHDR(list), known.map->by_integer);
	memcpy(known.digest, VARDATA(answer), sizeof(known.digest));
	return true;
}

/* Takes the price from each person who has rows and can pay; false when another session added people at the same time. */
static bool
take_payments(const char *dataset, const char *terms, uint32 most)
{
	Map		   *map = known.map;
	pg_atomic_uint32 *rows = PART(map, rows, pg_atomic_uint32);
	int			width = most <= PG_UINT8_MAX ? 1 : sizeof(uint32);
	char	   *bytes = MemoryContextAllocHuge(CurrentMemoryContext, (Size) width * map->people + 1);
	bytea	   *paid;

	for (uint32 n = 0; n < map->people; n++)
	{
		uint32		counted = Min(pg_atomic_read_u32(&rows[n]), most);

		if (width == 1)
			bytes[n] = (char) counted;
		else
			memcpy(bytes + sizeof(uint32) * (Size) n, &counted, sizeof(uint32));
	}
	paid = ledger_call_bytes("personal_pay", request_for(dataset, true, terms), bytes, width * map->people);
	pfree(bytes);
	if (paid == NULL)
		return false;
	if (VARSIZE(paid) - VARHDRSZ != (map->people + 7) / 8)
		elog(ERROR, "the ledger does not say who has paid");
	memcpy(PART(map, paid, char), VARDATA(paid), VARSIZE(paid) - VARHDRSZ);
	pfree(paid);
	return true;
}

/* What the native statements call, in workers too */

/* The map of the question under way. */
static Map *
map_in_phase(Phase phase)
{
	static dsm_segment *leaders = NULL;
	Map		   *map = known.map;

	if (IsParallelWorker())
	{
		if (leaders == NULL || dsm_segment_handle(leaders) != (dsm_handle) payers)
		{
			leaders = payers == 0 ? NULL : dsm_attach((dsm_handle) payers);
			if (leaders != NULL)
				dsm_pin_mapping(leaders);
		}
		map = leaders == NULL ? NULL : dsm_segment_address(leaders);
	}
	if (map == NULL || map->phase != phase)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only a question under way can know who pays for it")));
	return map;
}

static uint32
number_of_datum(const Map *map, Datum unit)
{
	text	   *packed;
	uint32		number;

	if (map->by_integer)
		return number_of_integer(map, DatumGetInt64(unit));
	packed = DatumGetTextPP(unit);
	number = number_of_text(map, VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
	if ((Pointer) packed != DatumGetPointer(unit))
		pfree(packed);
	return number;
}

static void
check_type(FunctionCallInfo fcinfo, const Map *map, int argument)
{
	if (get_fn_expr_argtype(fcinfo->flinfo, argument) != (map->by_integer ? INT8OID : TEXTOID))
		elog(ERROR, "people are not named by this type");
}

PG_FUNCTION_INFO_V1(discreet_personal_paid);

/* _personal_paid(unit): whether this person has paid for the question under way. */
Datum
discreet_personal_paid(PG_FUNCTION_ARGS)
{
	Map		   *map = fcinfo->flinfo->fn_extra;
	uint32		number;

	if (map == NULL)
	{
		map = map_in_phase(PAID);
		check_type(fcinfo, map, 0);
		fcinfo->flinfo->fn_extra = map;
	}
	number = number_of_datum(map, PG_GETARG_DATUM(0));
	PG_RETURN_BOOL(number != NOBODY && (PART(map, paid, uint8)[number / 8] >> number % 8 & 1));
}

/* The state of _personal_count: people who are not known yet. */
typedef struct Strangers
{
	Map		   *map;
	Numbering	texts;
	Size		bytes;
} Strangers;

static Strangers *
begin_strangers(FunctionCallInfo fcinfo, Map *map)
{
	MemoryContext aggregate;
	MemoryContext context;
	Strangers  *strangers;

	if (!AggCheckCallContext(fcinfo, &aggregate))
		elog(ERROR, "a function of _personal_count was called outside an aggregate");
	context = AllocSetContextCreate(aggregate, "strangers", ALLOCSET_DEFAULT_SIZES);
	strangers = MemoryContextAllocZero(context, sizeof(Strangers));
	strangers->map = map;
	begin_numbering(&strangers->texts, context, true, 0);
	return strangers;
}

/* Beyond some number it is for the next time: the question begins again after they have been numbered. */
static void
add_stranger(Strangers *strangers, Span text)
{
	if (strangers->texts.used >= MOST_UNKNOWN || strangers->bytes >= MOST_UNKNOWN_BYTES)
		return;
	if (number_of_span(&strangers->texts, text) + 1 == strangers->texts.used)
		strangers->bytes += text.length;
}

PG_FUNCTION_INFO_V1(discreet_personal_count_transition);

/* _personal_count_transition(state, unit, takes part) */
Datum
discreet_personal_count_transition(PG_FUNCTION_ARGS)
{
	Strangers  *strangers;
	Datum		unit = PG_GETARG_DATUM(1);
	uint32		number;

	if (PG_ARGISNULL(0))
	{
		strangers = begin_strangers(fcinfo, map_in_phase(COUNTING));
		check_type(fcinfo, strangers->map, 1);
	}
	else
		strangers = (Strangers *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(strangers);
	number = number_of_datum(strangers->map, unit);
	if (number != NOBODY)
	{
		if (!PG_ARGISNULL(2) && PG_GETARG_BOOL(2))
			pg_atomic_fetch_add_u32(&PART(strangers->map, rows, pg_atomic_uint32)[number], 1);
	}
	else if (strangers->map->by_integer)
	{
		char		digits[MAXINT8LEN + 1];

		add_stranger(strangers, (Span) {digits, pg_lltoa(DatumGetInt64(unit), digits)});
	}
	else
	{
		text	   *packed = DatumGetTextPP(unit);

		add_stranger(strangers, (Span) {VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed)});
	}
	PG_RETURN_POINTER(strangers);
}

static bytea *
list_of_strangers(const Strangers *strangers)
{
	StringInfoData list;

	initStringInfo(&list);
	for (uint32 n = 0; n < strangers->texts.used; n++)
	{
		CHECK_FOR_INTERRUPTS();
		append_text(&list, bytes_at(&strangers->texts, n)->data, bytes_at(&strangers->texts, n)->length);
	}
	return (bytea *) cstring_to_text_with_len(list.data, list.len);
}

PG_FUNCTION_INFO_V1(discreet_personal_count_serialize);

Datum
discreet_personal_count_serialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(list_of_strangers((Strangers *) PG_GETARG_POINTER(0)));
}

PG_FUNCTION_INFO_V1(discreet_personal_count_deserialize);

/* Stays a list until it is combined. */
Datum
discreet_personal_count_deserialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(PG_GETARG_BYTEA_PP(0));
}

PG_FUNCTION_INFO_V1(discreet_personal_count_combine);

Datum
discreet_personal_count_combine(PG_FUNCTION_ARGS)
{
	Strangers  *strangers = PG_ARGISNULL(0) ? begin_strangers(fcinfo, known.map) : (Strangers *) PG_GETARG_POINTER(0);

	if (!PG_ARGISNULL(1))
	{
		bytea	   *list = (bytea *) PG_GETARG_POINTER(1);
		const char *from = VARDATA_ANY(list);
		const char *end = from + VARSIZE_ANY_EXHDR(list);
		const char *text;
		uint32		length;

		while (next_text(&from, end, &text, &length))
		{
			CHECK_FOR_INTERRUPTS();
			add_stranger(strangers, (Span) {text, length});
		}
	}
	PG_RETURN_POINTER(strangers);
}

PG_FUNCTION_INFO_V1(discreet_personal_count_final);

/* The people who are not known, as a list; NULL when all are. */
Datum
discreet_personal_count_final(PG_FUNCTION_ARGS)
{
	Strangers  *strangers = PG_ARGISNULL(0) ? NULL : (Strangers *) PG_GETARG_POINTER(0);

	if (strangers == NULL || strangers->texts.used == 0)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(list_of_strangers(strangers));
}

/* The question */

static void
set_option(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* In the name of the role that reads the tables: workers find the map. */
static void
begin_reading_people(Acting *acting, Oid role)
{
	begin_acting(acting, role);
	if (known.segment != NULL)
		set_option("discreet.payers", psprintf("%d", (int32) dsm_segment_handle(known.segment)));
	else
		set_option("max_parallel_workers_per_gather", "0");
}

/* Planning may run code of who owns the table, which must not learn who pays: the map is open to the execution only. */
static Tuplestorestate *
run_in_phase(Phase phase, const char *sql, TupleTableSlot **slot)
{
	PlannedStmt *plan = plan_select(sql);
	Tuplestorestate *rows;

	known.map->phase = phase;
	rows = run_plan(plan, sql, slot);
	known.map->phase = CLOSED;
	return rows;
}

/* Counts the rows of each person that take part; returns the people who are not known, or NULL. */
static bytea *
count_rows(Oid role, const char *selection)
{
	bytea	   *strangers = NULL;
	Acting		acting;
	Tuplestorestate *rows;
	TupleTableSlot *slot;

	memset(PART(known.map, rows, char), 0, sizeof(pg_atomic_uint32) * (Size) known.map->people);
	begin_reading_people(&acting, role);
	rows = run_in_phase(COUNTING, selection, &slot);
	if (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull;
		Datum		found = slot_getattr(slot, 1, &isnull);

		if (!isnull)
			strangers = DatumGetByteaPCopy(found);
	}
	end_rows(rows, slot);
	end_acting(&acting);
	return strangers;
}

/* Selects and takes the price, from the people of one state of the ledger. */
static void
select_and_pay(Oid role, const char *dataset, bool by_integer, const char *selection, const char *terms, uint32 most)
{
	int			attempts = 0;
	bool		is_current = known.is_whole && strcmp(known.dataset, dataset) == 0 &&
		known.map->by_integer == by_integer;

	for (;;)
	{
		bytea	   *strangers;

		if (!is_current)
		{
			if (attempts++ == MOST_ATTEMPTS)
				elog(ERROR, "others bring in people all the time");
			ask_for_people(dataset, by_integer);
		}
		strangers = count_rows(role, selection);
		if (strangers != NULL)
			is_current = add_people(dataset, strangers);
		else if (take_payments(dataset, terms, most))
			return;
		else
			is_current = false;
	}
}

static void
put_rows(ReturnSetInfo *result, int place, const char *sql)
{
	TupleTableSlot *slot;
	Tuplestorestate *rows = run_in_phase(PAID, sql, &slot);

	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		Datum		values[2] = {Int32GetDatum(place)};
		bool		nulls[2] = {false};

		values[1] = slot_getattr(slot, 1, &nulls[1]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	end_rows(rows, slot);
}

/* Puts the rows of a statement that may meet a limit of the program; false when it did, before the first row. */
static bool
put_rows_within_limits(ReturnSetInfo *result, int place, const char *sql)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = true;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		put_rows(result, place, sql);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		known.map->phase = CLOSED;
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (error->sqlerrcode != ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			ReThrowError(error);
		FreeErrorData(error);
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return done;
}

/* Statements of one place are ways to the same rows: the next is gone when one meets a limit. */
static void
run_statements(ReturnSetInfo *result, const Datum *statements, const Datum *places, int number)
{
	bool		done = false;

	for (int n = 0; n < number; n++)
	{
		int			place = DatumGetInt32(places[n]);
		char	   *sql = TextDatumGetCString(statements[n]);

		if (done && n > 0 && DatumGetInt32(places[n - 1]) == place)
			continue;
		done = true;
		if (n + 1 < number && DatumGetInt32(places[n + 1]) == place)
			done = put_rows_within_limits(result, place, sql);
		else
			put_rows(result, place, sql);
	}
}

PG_FUNCTION_INFO_V1(discreet_personal_run);

/*
 * _personal_run(role, dataset, by_integer, selection, terms, most, statements, places): the rows, one text each, of every
 * statement.
 */
Datum
discreet_personal_run(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			role = PG_GETARG_OID(0);
	Acting		acting;
	Datum	   *statements;
	Datum	   *places;
	int			number;
	int			number_of_places;

	if (XactIsoLevel != XACT_READ_COMMITTED)
		elog(ERROR, "the isolation level is not READ COMMITTED");
	InitMaterializedSRF(fcinfo, 0);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(6), TEXTOID, -1, false, TYPALIGN_INT, &statements, NULL, &number);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(7), INT4OID, sizeof(int32), true, TYPALIGN_INT, &places, NULL,
					  &number_of_places);
	if (number != number_of_places)
		elog(ERROR, "statements and places differ in number");

	PG_TRY();
	{
		select_and_pay(role, text_to_cstring(PG_GETARG_TEXT_PP(1)), PG_GETARG_BOOL(2),
					   text_to_cstring(PG_GETARG_TEXT_PP(3)), text_to_cstring(PG_GETARG_TEXT_PP(4)),
					   PG_GETARG_INT32(5));
		begin_reading_people(&acting, role);
		run_statements(result, statements, places, number);
		end_acting(&acting);
	}
	PG_CATCH();
	{
		if (known.map != NULL)
			known.map->phase = CLOSED;
		PG_RE_THROW();
	}
	PG_END_TRY();
	PG_RETURN_NULL();
}
