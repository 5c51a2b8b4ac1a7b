/*
 * synthesis_count.c: aggregate _synthesis_count, which counts all marginals of a table in one pass, in parallel workers.
 *
 * Rows come as codes: for each attribute the number of its value, from 0. A marginal is a dense array of counts, and a row adds 1
 * to one cell of each. A row with a code that is NULL or out of range takes no part.
 */
#include "discreet.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"

#define MOST_ATTRIBUTES 90
#define MOST_WAYS 8
#define MOST_CELLS (4 * 1024 * 1024)

typedef struct Marginal
{
	int			ways;
	int			attributes[MOST_WAYS];
	int64	   *cells;
} Marginal;

/* What is counted, and the counts, which are one array. */
typedef struct Tally
{
	int			attributes;
	int			sizes[MOST_ATTRIBUTES];
	int			marginals;
	int64		cells;
	int64	   *counts;
	Marginal	marginal[FLEXIBLE_ARRAY_MEMBER];
} Tally;

/* What a worker sends: the specification, and the counts behind it. */
typedef struct Sent
{
	int32		vl_len_;
	int32		numbers;
	int64		cells;
	int64		counts[FLEXIBLE_ARRAY_MEMBER];
} Sent;

static int64
cells_of(const Marginal *marginal, const int *sizes)
{
	int64		cells = 1;

	for (int n = 0; n < marginal->ways; n++)
	{
		cells *= sizes[marginal->attributes[n]];
		if (cells > MOST_CELLS)
			elog(ERROR, "a marginal has too many cells");
	}
	return cells;
}

/* Takes the next number of a specification, which lies between the bounds. */
static int
next_number(const int32 **from, const int32 *end, int lower, int upper)
{
	if (*from >= end || **from < lower || **from > upper)
		elog(ERROR, "the specification of the marginals is not valid");
	return *(*from)++;
}

/* attributes, their sizes, and for each marginal how many attributes it has, and which */
static Tally *
begin_tally(MemoryContext context, const int32 *from, int numbers)
{
	const int32 *end = from + numbers;
	Tally	   *tally = MemoryContextAllocZero(context, offsetof(Tally, marginal) + sizeof(Marginal) * numbers);
	int64		at = 0;

	tally->attributes = next_number(&from, end, 0, MOST_ATTRIBUTES);
	for (int n = 0; n < tally->attributes; n++)
		tally->sizes[n] = next_number(&from, end, 1, MOST_CELLS);
	while (from < end)
	{
		Marginal   *marginal = &tally->marginal[tally->marginals++];

		marginal->ways = next_number(&from, end, 0, MOST_WAYS);
		for (int n = 0; n < marginal->ways; n++)
			marginal->attributes[n] = next_number(&from, end, 0, tally->attributes - 1);
		tally->cells += cells_of(marginal, tally->sizes);
		if (tally->cells > MOST_CELLS)
			elog(ERROR, "the marginals have too many cells");
	}
	tally->counts = MemoryContextAllocZero(context, sizeof(int64) * Max(tally->cells, 1));
	for (int n = 0; n < tally->marginals; n++)
	{
		tally->marginal[n].cells = tally->counts + at;
		at += cells_of(&tally->marginal[n], tally->sizes);
	}
	return tally;
}

static Tally *
tally_of_specification(FunctionCallInfo fcinfo, MemoryContext context)
{
	ArrayType  *specification = PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1);
	int			numbers;
	Tally	   *tally;

	if (specification == NULL || ARR_HASNULL(specification) || ARR_ELEMTYPE(specification) != INT4OID)
		elog(ERROR, "the specification of the marginals is not valid");
	numbers = ArrayGetNItems(ARR_NDIM(specification), ARR_DIMS(specification));
	tally = begin_tally(context, (const int32 *) ARR_DATA_PTR(specification), numbers);
	if (tally->attributes != PG_NARGS() - 2)
		elog(ERROR, "a row has %d codes, and %d are expected", PG_NARGS() - 2, tally->attributes);
	for (int n = 0; n < tally->attributes; n++)
		if (get_fn_expr_argtype(fcinfo->flinfo, n + 2) != INT4OID)
			elog(ERROR, "a code is not an integer");
	return tally;
}

PG_FUNCTION_INFO_V1(discreet_synthesis_transition);

/* _synthesis_transition(state, specification, code, …) */
Datum
discreet_synthesis_transition(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	Tally	   *tally;
	int			codes[MOST_ATTRIBUTES];

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "a function of _synthesis_count was called outside an aggregate");
	tally = PG_ARGISNULL(0) ? tally_of_specification(fcinfo, context) : (Tally *) PG_GETARG_POINTER(0);
	for (int n = 0; n < tally->attributes; n++)
	{
		if (PG_ARGISNULL(n + 2))
			PG_RETURN_POINTER(tally);
		codes[n] = PG_GETARG_INT32(n + 2);
		if (codes[n] < 0 || codes[n] >= tally->sizes[n])
			PG_RETURN_POINTER(tally);
	}
	for (int n = 0; n < tally->marginals; n++)
	{
		const Marginal *marginal = &tally->marginal[n];
		int			cell = 0;

		for (int way = 0; way < marginal->ways; way++)
			cell = cell * tally->sizes[marginal->attributes[way]] + codes[marginal->attributes[way]];
		marginal->cells[cell]++;
	}
	PG_RETURN_POINTER(tally);
}

PG_FUNCTION_INFO_V1(discreet_synthesis_combine);

/* Counts of a worker are added as they were sent; those of a state that nothing was added to yet are taken. */
Datum
discreet_synthesis_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	Tally	   *tally = PG_ARGISNULL(0) ? NULL : (Tally *) PG_GETARG_POINTER(0);
	const Tally *other = PG_ARGISNULL(1) ? NULL : (const Tally *) PG_GETARG_POINTER(1);

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "a function of _synthesis_count was called outside an aggregate");
	if (other == NULL)
	{
		if (tally == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(tally);
	}
	if (tally == NULL)
	{
		tally = MemoryContextAllocZero(context, sizeof(Tally));
		tally->cells = other->cells;
		tally->counts = MemoryContextAllocZero(context, sizeof(int64) * Max(other->cells, 1));
	}
	if (tally->cells != other->cells)
		elog(ERROR, "two workers counted different marginals");
	for (int64 n = 0; n < tally->cells; n++)
		tally->counts[n] += other->counts[n];
	PG_RETURN_POINTER(tally);
}

PG_FUNCTION_INFO_V1(discreet_synthesis_serialize);

Datum
discreet_synthesis_serialize(PG_FUNCTION_ARGS)
{
	const Tally *tally = (const Tally *) PG_GETARG_POINTER(0);
	Size		size = offsetof(Sent, counts) + sizeof(int64) * tally->cells;
	Sent	   *sent = palloc0(size);

	SET_VARSIZE(sent, size);
	sent->cells = tally->cells;
	memcpy(sent->counts, tally->counts, sizeof(int64) * tally->cells);
	PG_RETURN_POINTER(sent);
}

PG_FUNCTION_INFO_V1(discreet_synthesis_deserialize);

Datum
discreet_synthesis_deserialize(PG_FUNCTION_ARGS)
{
	Sent	   *sent = (Sent *) PG_GETARG_BYTEA_P(0);
	Tally	   *tally = palloc0(sizeof(Tally));

	tally->cells = sent->cells;
	tally->counts = sent->counts;
	PG_RETURN_POINTER(tally);
}

PG_FUNCTION_INFO_V1(discreet_synthesis_final);

/* The counts, seven bits a byte, the lowest first; the eighth bit says that more follow. Most are small. */
Datum
discreet_synthesis_final(PG_FUNCTION_ARGS)
{
	const Tally *tally = PG_ARGISNULL(0) ? NULL : (const Tally *) PG_GETARG_POINTER(0);
	StringInfoData packed;

	if (tally == NULL)
		PG_RETURN_NULL();
	initStringInfo(&packed);
	enlargeStringInfo(&packed, VARHDRSZ + (int) tally->cells);
	packed.len = VARHDRSZ;
	for (int64 n = 0; n < tally->cells; n++)
	{
		uint64		left = (uint64) tally->counts[n];

		do
		{
			appendStringInfoCharMacro(&packed, (char) ((left & 0x7F) | (left > 0x7F ? 0x80 : 0)));
			left >>= 7;
		} while (left > 0);
	}
	SET_VARSIZE(packed.data, packed.len);
	PG_RETURN_BYTEA_P(packed.data);
}

/* ---- codes of categories */

typedef struct Category
{
	uint32		hash;
	int			code;
	int			length;
	const char *text;
	struct Category *next;		/* with the same hash */
} Category;

static HTAB *
categories_of(FunctionCallInfo fcinfo)
{
	MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	HASHCTL		control = {.keysize = sizeof(uint32), .entrysize = sizeof(Category), .hcxt = fcinfo->flinfo->fn_mcxt};
	HTAB	   *categories;
	Datum	   *texts;
	bool	   *nulls;
	int			count;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P_COPY(1), TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &count);
	categories = hash_create("discreet categories", Max(count, 1), &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (int n = 0; n < count; n++)
	{
		struct varlena *text = nulls[n] ? NULL : PG_DETOAST_DATUM_PACKED(texts[n]);
		uint32		hash = text == NULL ? 0 : hash_bytes((unsigned char *) VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text));
		bool		found;
		Category   *category;

		if (text == NULL)
			continue;
		category = hash_search(categories, &hash, HASH_ENTER, &found);
		if (found)
		{
			Category   *another = palloc(sizeof(Category));

			*another = *category;
			category->next = another;
		}
		else
			category->next = NULL;
		category->code = n;
		category->length = VARSIZE_ANY_EXHDR(text);
		category->text = VARDATA_ANY(text);
	}
	MemoryContextSwitchTo(before);
	return categories;
}

PG_FUNCTION_INFO_V1(discreet_synthesis_code);

/* _synthesis_code(value, categories): the place of a text among the categories, from 0; NULL where it is none of them. */
Datum
discreet_synthesis_code(PG_FUNCTION_ARGS)
{
	text	   *value = PG_GETARG_TEXT_PP(0);
	uint32		hash = hash_bytes((unsigned char *) VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	const Category *category;

	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = categories_of(fcinfo);
	category = hash_search((HTAB *) fcinfo->flinfo->fn_extra, &hash, HASH_FIND, NULL);
	for (; category != NULL; category = category->next)
		if (category->length == VARSIZE_ANY_EXHDR(value) && memcmp(category->text, VARDATA_ANY(value), category->length) == 0)
			PG_RETURN_INT32(category->code);
	PG_RETURN_NULL();
}
