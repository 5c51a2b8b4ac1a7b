/*
 * personal_payment.c: personal budgets on the ledger's side.
 *
 * What each person has spent is kept in a table of pages, one row a page, as numbers of three bytes. Every payment writes
 * all pages of a ledger, in place and in full, so that neither sizes, nor statistics, nor the amount of WAL tell who has
 * paid, and old snapshots do not make the table grow. A row holds two halves, each with the number of the payment that
 * wrote it: the payment under way writes the one that does not count yet. It counts when the transaction commits that
 * raises `applied` in the head of the ledger; what an aborted payment has left is never looked at.
 */
#include "discreet.h"

#include "access/generic_xlog.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define PEOPLE_PER_PAGE 1350	/* as sql/personal/tables.sql says */
#define SPENT_BYTES 3
#define HALF_BYTES (sizeof(uint64) + SPENT_BYTES * PEOPLE_PER_PAGE)

/* columns of _personal_page */
#define PAGE_LEDGER 1
#define PAGE_NUMBER 2
#define PAGE_HALVES 3

/* Texts, one after the other: a byte of length, or 0x80 and four bytes */

bool
next_text(const char **from, const char *end, const char **text, uint32 *length)
{
	const char *at = *from;

	if (at >= end)
		return false;
	*length = (uint8) *at++;
	if (*length == 0x80)
	{
		if (end - at < sizeof(uint32))
			elog(ERROR, "a list of people is cut off");
		memcpy(length, at, sizeof(uint32));
		*length = pg_ntoh32(*length);
		at += sizeof(uint32);
	}
	if (*length > end - at)
		elog(ERROR, "a list of people is cut off");
	*text = at;
	*from = at + *length;
	return true;
}

void
append_text(StringInfo to, const char *text, uint32 length)
{
	if (length < 0x80)
		appendStringInfoChar(to, (char) length);
	else
	{
		uint32		bytes = pg_hton32(length);

		appendStringInfoChar(to, (char) 0x80);
		appendBinaryStringInfo(to, (char *) &bytes, sizeof(bytes));
	}
	appendBinaryStringInfo(to, text, length);
}

PG_FUNCTION_INFO_V1(discreet_personal_list);

/* _personal_list(unit): a list of one. */
Datum
discreet_personal_list(PG_FUNCTION_ARGS)
{
	text	   *unit = PG_GETARG_TEXT_PP(0);
	StringInfoData list;

	initStringInfo(&list);
	append_text(&list, VARDATA_ANY(unit), VARSIZE_ANY_EXHDR(unit));
	PG_RETURN_BYTEA_P(cstring_to_text_with_len(list.data, list.len));
}

PG_FUNCTION_INFO_V1(discreet_personal_number);

/* _personal_number(people): how many are in a list. */
Datum
discreet_personal_number(PG_FUNCTION_ARGS)
{
	bytea	   *people = PG_GETARG_BYTEA_PP(0);
	const char *from = VARDATA_ANY(people);
	const char *end = from + VARSIZE_ANY_EXHDR(people);
	const char *unit;
	uint32		length;
	int32		number = 0;

	while (next_text(&from, end, &unit, &length))
		number++;
	PG_RETURN_INT32(number);
}

PG_FUNCTION_INFO_V1(discreet_personal_units);

/* _personal_units(people): the texts of a list. */
Datum
discreet_personal_units(PG_FUNCTION_ARGS)
{
	bytea	   *people = PG_GETARG_BYTEA_PP(0);
	const char *from = VARDATA_ANY(people);
	const char *end = from + VARSIZE_ANY_EXHDR(people);
	const char *unit;
	uint32		length;
	ArrayBuildState *units = initArrayResult(TEXTOID, CurrentMemoryContext, false);

	while (next_text(&from, end, &unit, &length))
		accumArrayResult(units, PointerGetDatum(cstring_to_text_with_len(unit, length)), false, TEXTOID,
						 CurrentMemoryContext);
	PG_RETURN_DATUM(makeArrayResult(units, CurrentMemoryContext));
}

/* Pages */

static inline uint64
half_number(const char *half)
{
	uint64		number;

	memcpy(&number, half, sizeof(number));
	return number;
}

/*
 * Which half counts: the last one that is not later than what was applied. After a restore both may be later, for a dump
 * reads the head first: then the earlier one, which charges no less than the head knows of.
 */
static int
current_half(const char *halves, uint64 applied)
{
	uint64		first = half_number(halves);
	uint64		second = half_number(halves + HALF_BYTES);

	if ((first <= applied) != (second <= applied))
		return first <= applied ? 0 : 1;
	if (first <= applied)
		return second > first ? 1 : 0;
	return second < first ? 1 : 0;
}

static inline uint32
get_spent(const char *half, uint32 person)
{
	const uint8 *at = (const uint8 *) half + sizeof(uint64) + SPENT_BYTES * person;

	return at[0] | at[1] << 8 | at[2] << 16;
}

static inline void
set_spent(char *half, uint32 person, uint32 spent)
{
	uint8	   *at = (uint8 *) half + sizeof(uint64) + SPENT_BYTES * person;

	at[0] = spent;
	at[1] = spent >> 8;
	at[2] = spent >> 16;
}

static char *
halves_of(HeapTuple tuple, Relation pages, uint32 *number)
{
	bool		isnull;
	Datum		halves = heap_getattr(tuple, PAGE_HALVES, RelationGetDescr(pages), &isnull);
	struct varlena *bytes = (struct varlena *) DatumGetPointer(halves);

	if (isnull || !VARATT_IS_4B_U(bytes) || VARSIZE(bytes) - VARHDRSZ != 2 * HALF_BYTES)
		elog(ERROR, "a page of personal budgets is damaged");
	*number = DatumGetInt32(heap_getattr(tuple, PAGE_NUMBER, RelationGetDescr(pages), &isnull));
	return VARDATA(bytes);
}

/* A walk over the pages of a ledger, in their order. */
typedef struct Walk
{
	Relation	pages;
	Relation	index;
	SysScanDesc scan;
} Walk;

static void
begin_walk(Walk *walk, int32 ledger, LOCKMODE lock)
{
	Oid			relation = get_relname_relid("_personal_page", get_namespace_oid("discreet", false));
	ScanKeyData key;

	walk->pages = table_open(relation, lock);
	walk->index = index_open(primary_key_of(walk->pages), AccessShareLock);
	ScanKeyInit(&key, PAGE_LEDGER, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(ledger));
	walk->scan = systable_beginscan_ordered(walk->pages, walk->index, GetActiveSnapshot(), 1, &key);
}

static HeapTuple
next_page(Walk *walk)
{
	CHECK_FOR_INTERRUPTS();
	return systable_getnext_ordered(walk->scan, ForwardScanDirection);
}

static void
end_walk(Walk *walk)
{
	systable_endscan_ordered(walk->scan);
	index_close(walk->index, AccessShareLock);
	table_close(walk->pages, NoLock);
}

PG_FUNCTION_INFO_V1(discreet_personal_blank);

/* _personal_blank(): a page of people who have spent nothing. */
Datum
discreet_personal_blank(PG_FUNCTION_ARGS)
{
	bytea	   *page = palloc0(VARHDRSZ + 2 * HALF_BYTES);

	SET_VARSIZE(page, VARHDRSZ + 2 * HALF_BYTES);
	PG_RETURN_BYTEA_P(page);
}

PG_FUNCTION_INFO_V1(discreet_personal_spent);

/* _personal_spent(ledger, applied, people): what each has spent. */
Datum
discreet_personal_spent(PG_FUNCTION_ARGS)
{
	uint64		applied = PG_GETARG_INT64(1);
	uint32		people = PG_GETARG_INT32(2);
	Datum	   *spent = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Datum) * Max(people, 1));
	Walk		walk;
	HeapTuple	tuple;
	uint32		seen = 0;

	begin_walk(&walk, PG_GETARG_INT32(0), AccessShareLock);
	while ((tuple = next_page(&walk)) != NULL)
	{
		uint32		number;
		const char *halves = halves_of(tuple, walk.pages, &number);
		const char *half = halves + HALF_BYTES * current_half(halves, applied);

		for (uint32 n = 0; n < PEOPLE_PER_PAGE && seen < people; n++)
			spent[seen++] = Int32GetDatum(get_spent(half, n));
	}
	end_walk(&walk);
	if (seen < people)
		elog(ERROR, "pages of personal budgets are missing");
	PG_RETURN_ARRAYTYPE_P(construct_array(spent, people, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

/* A payment: so many rows of each person at a price, and what each may spend. */
typedef struct Payment
{
	uint64		applied;
	uint32		people;
	const char *rows;			/* of each person: one byte, or four */
	int			width;
	uint64		price;
	uint32		limit;			/* of all people but those below */
	int			exceptions;
	const int32 *numbers;		/* in their order */
	const int32 *limits;
	int			next_exception;
	uint8	   *paid;			/* a bit for each person */
} Payment;

static uint32
limit_of(Payment *payment, uint32 person)
{
	while (payment->next_exception < payment->exceptions && payment->numbers[payment->next_exception] < person)
		payment->next_exception++;
	if (payment->next_exception < payment->exceptions && payment->numbers[payment->next_exception] == person)
		return payment->limits[payment->next_exception];
	return payment->limit;
}

/* Writes the other half of a page: each person with rows who can pay for all of them has paid. */
static void
pay_page(Payment *payment, char *halves, uint32 page)
{
	int			current = current_half(halves, payment->applied);
	const char *before = halves + HALF_BYTES * current;
	char	   *after = halves + HALF_BYTES * (1 - current);
	uint64		number = payment->applied + 1;
	uint32		first = page * PEOPLE_PER_PAGE;

	memcpy(after, before, HALF_BYTES);
	memcpy(after, &number, sizeof(number));
	for (uint32 n = 0; n < PEOPLE_PER_PAGE && first + n < payment->people; n++)
	{
		uint32		person = first + n;
		uint32		spent = get_spent(before, n);
		uint32		rows;
		uint64		cost;
		bool		pays;

		if (payment->width == 1)
			rows = (uint8) payment->rows[person];
		else
			memcpy(&rows, payment->rows + sizeof(uint32) * (Size) person, sizeof(uint32));
		cost = (uint64) rows * payment->price;
		pays = rows > 0 && spent + cost <= limit_of(payment, person);
		set_spent(after, n, pays ? spent + cost : spent);
		payment->paid[person / 8] |= pays << person % 8;
	}
}

PG_FUNCTION_INFO_V1(discreet_personal_pay);

/* _personal_pay(ledger, applied, people, rows, price, limit, numbers, limits): a bit for each person, whether paid. */
Datum
discreet_personal_pay(PG_FUNCTION_ARGS)
{
	bytea	   *rows = PG_GETARG_BYTEA_PP(3);
	ArrayType  *numbers = PG_GETARG_ARRAYTYPE_P(6);
	ArrayType  *limits = PG_GETARG_ARRAYTYPE_P(7);
	Payment		payment = {
		.applied = PG_GETARG_INT64(1),
		.people = PG_GETARG_INT32(2),
		.rows = VARDATA_ANY(rows),
		.price = PG_GETARG_INT64(4),
		.limit = PG_GETARG_INT32(5),
		.exceptions = ArrayGetNItems(ARR_NDIM(numbers), ARR_DIMS(numbers)),
		.numbers = (const int32 *) ARR_DATA_PTR(numbers),
		.limits = (const int32 *) ARR_DATA_PTR(limits),
	};
	Size		bytes = (payment.people + 7) / 8;
	bytea	   *paid = palloc0(VARHDRSZ + bytes);
	Walk		walk;
	HeapTuple	tuple;
	uint32		pages = 0;

	SET_VARSIZE(paid, VARHDRSZ + bytes);
	payment.paid = (uint8 *) VARDATA(paid);
	payment.width = VARSIZE_ANY_EXHDR(rows) == payment.people ? 1 : sizeof(uint32);
	if (VARSIZE_ANY_EXHDR(rows) != (Size) payment.people * payment.width || PG_GETARG_INT64(4) <= 0 ||
		PG_GETARG_INT64(4) > PG_INT32_MAX || ARR_HASNULL(numbers) || ARR_HASNULL(limits) ||
		ArrayGetNItems(ARR_NDIM(limits), ARR_DIMS(limits)) != payment.exceptions)
		elog(ERROR, "a payment that does not fit its people");

	begin_walk(&walk, PG_GETARG_INT32(0), RowExclusiveLock);
	while ((tuple = next_page(&walk)) != NULL)
	{
		Buffer		buffer = ReadBuffer(walk.pages, ItemPointerGetBlockNumber(&tuple->t_self));
		GenericXLogState *change;
		Page		page;
		ItemId		item;
		HeapTupleData copy;
		char	   *halves;
		uint32		number;

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		change = GenericXLogStart(walk.pages);
		page = GenericXLogRegisterBuffer(change, buffer, GENERIC_XLOG_FULL_IMAGE);
		item = PageGetItemId(page, ItemPointerGetOffsetNumber(&tuple->t_self));
		copy.t_data = (HeapTupleHeader) PageGetItem(page, item);
		copy.t_len = ItemIdGetLength(item);
		halves = halves_of(&copy, walk.pages, &number);
		if (number != pages++)
			elog(ERROR, "pages of personal budgets are missing");
		pay_page(&payment, halves, number);
		GenericXLogFinish(change);
		UnlockReleaseBuffer(buffer);
	}
	end_walk(&walk);
	if ((Size) pages * PEOPLE_PER_PAGE < payment.people)
		elog(ERROR, "pages of personal budgets are missing");
	PG_RETURN_BYTEA_P(paid);
}
