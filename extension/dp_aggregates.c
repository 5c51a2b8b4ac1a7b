/*
 * dp_aggregates.c: transitions of the dp_ aggregates, exact and combinable across workers, and the way to Python for the
 * released number.
 */
#include "dp.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* Makes a state in the aggregate's own memory. */
static void *
new_state(FunctionCallInfo fcinfo, Size size)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "a dp_ aggregate's function was called outside an aggregate");
	return MemoryContextAllocZero(context, size);
}

static double
bound_argument(FunctionCallInfo fcinfo, int argument, Oid type)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("bounds of a dp_ aggregate must not be NULL")));
	return value_as_double(type, PG_GETARG_DATUM(argument));
}

PG_FUNCTION_INFO_V1(discreet_count_transition);

Datum
discreet_count_transition(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(PG_GETARG_INT64(0) + (PG_ARGISNULL(1) ? 0 : 1));
}

typedef struct SumState
{
	Grid		grid;
	int64		count;
	int128		total;
	int128		squares;
} SumState;

static inline Datum
sum_transition(FunctionCallInfo fcinfo, bool with_squares)
{
	SumState   *state = PG_ARGISNULL(0) ? NULL : (SumState *) PG_GETARG_POINTER(0);
	Oid			type = argument_type(fcinfo, 1);
	double		number;
	int64		value;

	if (state == NULL)
	{
		state = new_state(fcinfo, sizeof(SumState));
		fit_grid(&state->grid, bound_argument(fcinfo, 2, type), bound_argument(fcinfo, 3, type));
	}
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	number = value_as_double(type, PG_GETARG_DATUM(1));
	if (!isnan(number))
	{
		value = on_grid(&state->grid, number);
		state->count++;
		state->total += value;
		if (with_squares)
			state->squares += (int128) value * value;
	}
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(discreet_sum_transition);

Datum
discreet_sum_transition(PG_FUNCTION_ARGS)
{
	return sum_transition(fcinfo, false);
}

PG_FUNCTION_INFO_V1(discreet_moments_transition);

Datum
discreet_moments_transition(PG_FUNCTION_ARGS)
{
	return sum_transition(fcinfo, true);
}

/* A flat state goes between workers as its bytes. */
static Datum
bytes_of_state(const void *state, Size size)
{
	bytea	   *bytes = palloc(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), state, size);
	PG_RETURN_BYTEA_P(bytes);
}

static void *
state_of_bytes(FunctionCallInfo fcinfo, bytea *bytes)
{
	void	   *state = new_state(fcinfo, VARSIZE_ANY_EXHDR(bytes));

	memcpy(state, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	return state;
}

PG_FUNCTION_INFO_V1(discreet_sum_combine);

Datum
discreet_sum_combine(PG_FUNCTION_ARGS)
{
	SumState   *joined = PG_ARGISNULL(0) ? NULL : (SumState *) PG_GETARG_POINTER(0);
	SumState   *other = PG_ARGISNULL(1) ? NULL : (SumState *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (joined == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(joined);
	}
	if (joined == NULL)
	{
		joined = new_state(fcinfo, sizeof(SumState));
		*joined = *other;
		PG_RETURN_POINTER(joined);
	}
	if (memcmp(&joined->grid, &other->grid, sizeof(Grid)) != 0)
		elog(ERROR, "workers have summed between different bounds");
	joined->count += other->count;
	joined->total += other->total;
	joined->squares += other->squares;
	PG_RETURN_POINTER(joined);
}

PG_FUNCTION_INFO_V1(discreet_sum_serialize);

Datum
discreet_sum_serialize(PG_FUNCTION_ARGS)
{
	return bytes_of_state(PG_GETARG_POINTER(0), sizeof(SumState));
}

PG_FUNCTION_INFO_V1(discreet_sum_deserialize);

Datum
discreet_sum_deserialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(state_of_bytes(fcinfo, PG_GETARG_BYTEA_PP(0)));
}

/*
 * Quantiles: how many values lie in each of up to MOST_BINS equal bins between the bounds. Whole numbers in a range
 * that is small enough have a bin each. A small group keeps the list of its bins instead of their counts.
 */
#define MOST_BINS 4096
#define LONGEST_LIST 256
#define LARGEST_HALF 1e15		/* below it a double has room for a half */

typedef struct BinState
{
	double		lower;
	double		upper;
	int			bins;
	int			listed;			/* -1: counts are in use */
	int64		counts[FLEXIBLE_ARRAY_MEMBER];	/* or, in its place, the list */
} BinState;

#define LIST(state) ((uint16 *) (state)->counts)
#define LIST_STATE_SIZE (offsetof(BinState, counts) + sizeof(uint16) * LONGEST_LIST)
#define COUNT_STATE_SIZE(bins) (offsetof(BinState, counts) + sizeof(int64) * (bins))

static bool
is_whole_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID;
}

/* Bounds and number of bins; whole numbers are the middles of their bins. */
static void
fit_bins(BinState *state, Oid type, double lower, double upper)
{
	check_bounds(lower, upper);
	state->lower = lower;
	state->upper = upper;
	state->bins = MOST_BINS;
	if (lower == upper)
		state->bins = 1;
	else if (is_whole_type(type) && Max(fabs(lower), fabs(upper)) < LARGEST_HALF &&
			 ceil(lower) <= floor(upper) && floor(upper) - ceil(lower) < MOST_BINS)
	{
		state->lower = ceil(lower) - 0.5;
		state->upper = floor(upper) + 0.5;
		state->bins = (int) (floor(upper) - ceil(lower)) + 1;
	}
}

static inline int
bin_of(const BinState *state, double number)
{
	double		place;

	if (number <= state->lower)
		return 0;
	if (number >= state->upper)
		return state->bins - 1;
	place = floor((number - state->lower) / (state->upper - state->lower) * state->bins);
	return (int) Max(0, Min(place, state->bins - 1));
}

static BinState *
counted_bins(FunctionCallInfo fcinfo, BinState *state)
{
	BinState   *counted;

	if (state->listed < 0)
		return state;
	counted = new_state(fcinfo, Max(COUNT_STATE_SIZE(state->bins), LIST_STATE_SIZE));
	counted->lower = state->lower;
	counted->upper = state->upper;
	counted->bins = state->bins;
	counted->listed = -1;
	for (int i = 0; i < state->listed; i++)
		counted->counts[LIST(state)[i]]++;
	return counted;
}

static Datum
bin_transition(FunctionCallInfo fcinfo, int lower, int upper)
{
	BinState   *state = PG_ARGISNULL(0) ? NULL : (BinState *) PG_GETARG_POINTER(0);
	Oid			type = argument_type(fcinfo, 1);
	double		number;
	int			bin;

	if (state == NULL)
	{
		state = new_state(fcinfo, LIST_STATE_SIZE);
		fit_bins(state, type, bound_argument(fcinfo, lower, type), bound_argument(fcinfo, upper, type));
	}
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	number = value_as_double(type, PG_GETARG_DATUM(1));
	if (isnan(number))
		PG_RETURN_POINTER(state);
	bin = bin_of(state, number);
	if (state->listed == LONGEST_LIST)
	{
		BinState   *counted = counted_bins(fcinfo, state);

		pfree(state);
		state = counted;
	}
	if (state->listed < 0)
		state->counts[bin]++;
	else
		LIST(state)[state->listed++] = (uint16) bin;
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(discreet_median_transition);

Datum
discreet_median_transition(PG_FUNCTION_ARGS)
{
	return bin_transition(fcinfo, 2, 3);
}

PG_FUNCTION_INFO_V1(discreet_quantile_transition);

Datum
discreet_quantile_transition(PG_FUNCTION_ARGS)
{
	return bin_transition(fcinfo, 3, 4);
}

static Size
bin_state_size(const BinState *state)
{
	return state->listed < 0 ? Max(COUNT_STATE_SIZE(state->bins), LIST_STATE_SIZE) : LIST_STATE_SIZE;
}

PG_FUNCTION_INFO_V1(discreet_quantile_combine);

Datum
discreet_quantile_combine(PG_FUNCTION_ARGS)
{
	BinState   *joined = PG_ARGISNULL(0) ? NULL : (BinState *) PG_GETARG_POINTER(0);
	BinState   *other = PG_ARGISNULL(1) ? NULL : (BinState *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (joined == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(joined);
	}
	if (joined == NULL)
	{
		joined = new_state(fcinfo, bin_state_size(other));
		memcpy(joined, other, bin_state_size(other));
		PG_RETURN_POINTER(joined);
	}
	if (joined->lower != other->lower || joined->upper != other->upper || joined->bins != other->bins)
		elog(ERROR, "workers have counted between different bounds");
	joined = counted_bins(fcinfo, joined);
	if (other->listed < 0)
		for (int i = 0; i < other->bins; i++)
			joined->counts[i] += other->counts[i];
	else
		for (int i = 0; i < other->listed; i++)
			joined->counts[LIST(other)[i]]++;
	PG_RETURN_POINTER(joined);
}

PG_FUNCTION_INFO_V1(discreet_quantile_serialize);

Datum
discreet_quantile_serialize(PG_FUNCTION_ARGS)
{
	BinState   *state = (BinState *) PG_GETARG_POINTER(0);

	return bytes_of_state(state, bin_state_size(state));
}

PG_FUNCTION_INFO_V1(discreet_quantile_deserialize);

Datum
discreet_quantile_deserialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(state_of_bytes(fcinfo, PG_GETARG_BYTEA_PP(0)));
}

/*
 * Distinct values: the set of their 64-bit hashes. A collision loses a value in some 10^10 of them; one person's value
 * still adds at most one.
 */
typedef struct HashEntry
{
	uint64		hash;
	char		status;
} HashEntry;

#define SH_PREFIX hashset
#define SH_ELEMENT_TYPE HashEntry
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(tb, key) ((uint32) (key))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct DistinctState
{
	hashset_hash *hashes;
} DistinctState;

static DistinctState *
new_distinct_state(FunctionCallInfo fcinfo)
{
	DistinctState *state = new_state(fcinfo, sizeof(DistinctState));

	state->hashes = hashset_create(GetMemoryChunkContext(state), 32, NULL);
	return state;
}

static inline void
remember(DistinctState *state, uint64 hash)
{
	bool		found;

	hashset_insert(state->hashes, hash, &found);
}

PG_FUNCTION_INFO_V1(discreet_distinct_transition);

Datum
discreet_distinct_transition(PG_FUNCTION_ARGS)
{
	DistinctState *state = PG_ARGISNULL(0) ? NULL : (DistinctState *) PG_GETARG_POINTER(0);
	TypeCacheEntry *type = (TypeCacheEntry *) fcinfo->flinfo->fn_extra;

	if (state == NULL)
		state = new_distinct_state(fcinfo);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	if (type == NULL)
	{
		Oid			argument = get_fn_expr_argtype(fcinfo->flinfo, 1);

		type = lookup_type_cache(argument, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
		if (!OidIsValid(type->hash_extended_proc_finfo.fn_oid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("values of type %s cannot be told apart by a hash", format_type_be(argument))));
		fcinfo->flinfo->fn_extra = type;
	}
	remember(state, DatumGetUInt64(FunctionCall2Coll(&type->hash_extended_proc_finfo, PG_GET_COLLATION(),
													 PG_GETARG_DATUM(1), UInt64GetDatum(0))));
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(discreet_distinct_combine);

Datum
discreet_distinct_combine(PG_FUNCTION_ARGS)
{
	DistinctState *joined = PG_ARGISNULL(0) ? NULL : (DistinctState *) PG_GETARG_POINTER(0);
	DistinctState *other = PG_ARGISNULL(1) ? NULL : (DistinctState *) PG_GETARG_POINTER(1);
	hashset_iterator iterator;
	HashEntry  *entry;

	if (joined == NULL && other == NULL)
		PG_RETURN_NULL();
	if (joined == NULL)
		joined = new_distinct_state(fcinfo);
	if (other == NULL)
		PG_RETURN_POINTER(joined);
	hashset_start_iterate(other->hashes, &iterator);
	while ((entry = hashset_iterate(other->hashes, &iterator)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		remember(joined, entry->hash);
	}
	PG_RETURN_POINTER(joined);
}

PG_FUNCTION_INFO_V1(discreet_distinct_serialize);

Datum
discreet_distinct_serialize(PG_FUNCTION_ARGS)
{
	DistinctState *state = (DistinctState *) PG_GETARG_POINTER(0);
	Size		size = sizeof(uint64) * state->hashes->members;
	uint64	   *hashes = MemoryContextAllocHuge(CurrentMemoryContext, Max(size, 1));
	hashset_iterator iterator;
	HashEntry  *entry;
	int			n = 0;

	hashset_start_iterate(state->hashes, &iterator);
	while ((entry = hashset_iterate(state->hashes, &iterator)) != NULL)
		hashes[n++] = entry->hash;
	return bytes_of_state(hashes, size);
}

PG_FUNCTION_INFO_V1(discreet_distinct_deserialize);

Datum
discreet_distinct_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	DistinctState *state = new_distinct_state(fcinfo);
	int			n = VARSIZE_ANY_EXHDR(bytes) / sizeof(uint64);

	for (int i = 0; i < n; i++)
	{
		uint64		hash;

		CHECK_FOR_INTERRUPTS();
		memcpy(&hash, VARDATA_ANY(bytes) + i * sizeof(uint64), sizeof(uint64));
		remember(state, hash);
	}
	PG_RETURN_POINTER(state);
}

/* The call site whose final function is running, if it was paid for. */
static Site *
paid_site(FunctionCallInfo fcinfo, PaidNode **node)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	ListCell   *cell;

	if (aggref != NULL && fcinfo->context != NULL && IsA(fcinfo->context, AggState) &&
		(*node = find_paid((PlanState *) fcinfo->context)) != NULL)
		foreach(cell, (*node)->sites)
		{
			Site	   *site = lfirst(cell);

			if (site->aggno == aggref->aggno && site->amount != NULL)
				return site;
		}
	if (fcinfo->context != NULL && IsA(fcinfo->context, WindowAggState))
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("dp_ aggregates are not window functions"),
				 errhint("Aggregate in a subquery, and put the window function around it.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("nothing was paid for this dp_ aggregate, so there is no answer"),
			 errhint("Add discreet to shared_preload_libraries in postgresql.conf, and restart the server.")));
}

static char *
int128_text(int128 number)
{
	char		digits[48];
	int			at = sizeof(digits) - 1;
	bool		negative = number < 0;

	digits[at] = '\0';
	do
	{
		int			digit = (int) (number % 10);

		digits[--at] = '0' + (digit < 0 ? -digit : digit);
		number /= 10;
	} while (number != 0);
	if (negative)
		digits[--at] = '-';
	return pstrdup(&digits[at]);
}

/* Calls discreet._release(kind, [amount, accounting, neighbours, filtered, totals…]): the noisy number as text. */
static char *
release(FunctionCallInfo fcinfo, Site *site, PaidNode *node, int n, char **totals)
{
	Datum		elements[12];
	FmgrInfo   *function = (FmgrInfo *) fcinfo->flinfo->fn_extra;
	ArrayType  *array;

	if (strcmp(node->settings, settings_of_meaning()) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("a setting was changed while a dp_ aggregate was computed")));
	if (function == NULL)
	{
		Oid			types[2] = {TEXTOID, TEXTARRAYOID};
		Oid			oid = LookupFuncName(list_make2(makeString("discreet"), makeString("_release")), 2, types, false);

		function = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(FmgrInfo));
		fmgr_info_cxt(oid, function, fcinfo->flinfo->fn_mcxt);
		fcinfo->flinfo->fn_extra = function;
	}
	elements[0] = CStringGetTextDatum(site->amount);
	elements[1] = CStringGetTextDatum(node->accounting);
	elements[2] = CStringGetTextDatum(node->neighbours);
	elements[3] = CStringGetTextDatum(node->filtered ? "true" : "false");
	for (int i = 0; i < n; i++)
		elements[4 + i] = CStringGetTextDatum(totals[i]);
	array = construct_array(elements, 4 + n, TEXTOID, -1, false, TYPALIGN_INT);
	return TextDatumGetCString(FunctionCall2(function, CStringGetTextDatum(site->function), PointerGetDatum(array)));
}

static Datum
release_count(FunctionCallInfo fcinfo, int64 count)
{
	PaidNode   *node;
	Site	   *site = paid_site(fcinfo, &node);
	char	   *totals[] = {psprintf(INT64_FORMAT, count)};

	return DirectFunctionCall1(int8in, CStringGetDatum(release(fcinfo, site, node, lengthof(totals), totals)));
}

PG_FUNCTION_INFO_V1(discreet_count_final);

Datum
discreet_count_final(PG_FUNCTION_ARGS)
{
	return release_count(fcinfo, PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0));
}

PG_FUNCTION_INFO_V1(discreet_distinct_final);

Datum
discreet_distinct_final(PG_FUNCTION_ARGS)
{
	return release_count(fcinfo, PG_ARGISNULL(0) ? 0 : ((DistinctState *) PG_GETARG_POINTER(0))->hashes->members);
}

PG_FUNCTION_INFO_V1(discreet_sum_final);

Datum
discreet_sum_final(PG_FUNCTION_ARGS)
{
	PaidNode   *node;
	Site	   *site = paid_site(fcinfo, &node);
	SumState	empty = {0};
	SumState   *state = PG_ARGISNULL(0) ? &empty : (SumState *) PG_GETARG_POINTER(0);

	if (state == &empty)
		fit_grid(&empty.grid, site->lower, site->upper);
	{
		char	   *totals[] = {
			psprintf(INT64_FORMAT, state->count),
			int128_text(state->total),
			int128_text(state->squares),
			psprintf("%d", state->grid.exponent),
			psprintf(INT64_FORMAT, state->grid.lower),
			psprintf(INT64_FORMAT, state->grid.upper),
		};
		char	   *number = release(fcinfo, site, node, lengthof(totals), totals);

		return DirectFunctionCall3(numeric_in, CStringGetDatum(number), ObjectIdGetDatum(InvalidOid),
								   Int32GetDatum(-1));
	}
}

PG_FUNCTION_INFO_V1(discreet_quantile_final);

Datum
discreet_quantile_final(PG_FUNCTION_ARGS)
{
	PaidNode   *node;
	Site	   *site = paid_site(fcinfo, &node);
	BinState   *state = PG_ARGISNULL(0) ? NULL : (BinState *) PG_GETARG_POINTER(0);
	StringInfoData counts;		/* "bin:count,…"; a listed value is a count of one */

	if (state == NULL)
	{
		state = palloc0(LIST_STATE_SIZE);
		fit_bins(state, site->type, site->lower, site->upper);
	}
	initStringInfo(&counts);
	for (int i = 0; i < state->listed; i++)
		appendStringInfo(&counts, "%d:1,", LIST(state)[i]);
	if (state->listed < 0)
		for (int i = 0; i < state->bins; i++)
			if (state->counts[i] != 0)
				appendStringInfo(&counts, "%d:" INT64_FORMAT ",", i, state->counts[i]);
	{
		char	   *totals[] = {
			double_to_shortest_decimal(site->fraction),
			double_to_shortest_decimal(state->lower),
			double_to_shortest_decimal(state->upper),
			psprintf("%d", state->bins),
			counts.data,
		};

		return value_of_number(site->type, release(fcinfo, site, node, lengthof(totals), totals));
	}
}
