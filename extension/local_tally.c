/*
 * local_tally.c: estimators over randomised responses, as aggregates: how often each value was reported, and what share of
 * people that stands for.
 *
 * A value that a share s of the people holds is reported by a share of offset + gain * s on average. The estimate
 * (reported - offset) / gain is therefore unbiased; it may lie outside of 0 to 1. Its standard error takes the variance
 * of one report from the reports themselves, reported (1 - reported) / (n - 1), which holds the coins' part and that of
 * who happened to be asked (Warner 1965; Wang et al. 2017).
 */
#include "local.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/varbit.h"

/*
 * A state is a flat bytea, which workers can hand over. After the counts come lanes, for rows of bits, and the array of
 * names, if there is one. A lane holds eight cells, a byte for each, so that a byte of bits is counted by one addition;
 * before a byte can overflow, the lanes are added to the counts.
 */
typedef struct Tally
{
	int32		vl_len_;
	int32		cells;
	int32		lanes;
	int32		in_lanes;		/* reports */
	int32		width;			/* of a sketch */
	int32		spare;
	double		epsilon;
	double		offset;
	double		gain;
	int64		reports;
	int64		counts[FLEXIBLE_ARRAY_MEMBER];
} Tally;

/* of hashes of candidates: those of 8192 fit */
#define MOST_KEPT (64 * 1024 * 1024)

#define LANES(tally) ((uint64 *) &(tally)->counts[(tally)->cells])
#define NAMES(tally) ((ArrayType *) (LANES(tally) + (tally)->lanes))

static Tally *
new_tally(int cells, int lanes, const ArrayType *names)
{
	Size		numbers = offsetof(Tally, counts) + sizeof(int64) * (cells + lanes);
	Size		bytes = numbers + (names == NULL ? 0 : VARSIZE(names));
	Tally	   *tally = palloc0(bytes);

	SET_VARSIZE(tally, bytes);
	tally->cells = cells;
	tally->lanes = lanes;
	if (names != NULL)
		memcpy(NAMES(tally), names, VARSIZE(names));
	return tally;
}

static bool
is_constant(FunctionCallInfo fcinfo, int argument)
{
	Aggref	   *call = AggGetAggref(fcinfo);
	Expr	   *expression;

	if (call == NULL || list_length(call->args) < argument)
		return false;
	expression = ((TargetEntry *) list_nth(call->args, argument - 1))->expr;
	return IsA(expression, Const) || (IsA(expression, Param) && ((Param *) expression)->paramkind == PARAM_EXTERN);
}

/* The state of the call before, or NULL when this is the first report of its group. */
static Tally *
tally_so_far(FunctionCallInfo fcinfo, int epsilon_argument)
{
	Tally	   *tally;

	if (AggCheckCallContext(fcinfo, NULL) == 0)
		elog(ERROR, "a function of an estimator was called outside an aggregate");
	if (PG_ARGISNULL(epsilon_argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be NULL"),
				 errhint("Give the epsilon with which the responses were randomised.")));
	if (PG_ARGISNULL(0))
		return NULL;
	tally = (Tally *) PG_GETARG_POINTER(0);
	if (tally->epsilon != PG_GETARG_FLOAT8(epsilon_argument))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be the same for all responses of an estimate"),
				 errhint("Estimate responses of another epsilon on their own.")));
	return tally;
}

/* The values whose shares are estimated, the same for all responses of a group. */
static Domain *
domain_of_tally(FunctionCallInfo fcinfo, int argument, Tally *tally, int least)
{
	bool		constant = is_constant(fcinfo, argument);
	Domain	   *domain;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the list of values must not be NULL")));
	domain = domain_of_call(fcinfo, argument, constant, least);
	if (tally != NULL && !constant &&
		(tally->cells != domain->size || VARSIZE(NAMES(tally)) != VARSIZE(domain->array) ||
		 memcmp(NAMES(tally), domain->array, VARSIZE(domain->array)) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the list of values must be the same for all responses of an estimate")));
	return domain;
}

/* How reports of one among several equally treated values depend on the truth. */
static void
set_response(Tally *tally, double epsilon, const Coin *coin)
{
	tally->epsilon = epsilon;
	tally->offset = other_probability(coin);
	tally->gain = truth_probability(coin) - other_probability(coin);
}

PG_FUNCTION_INFO_V1(discreet_tally_boolean);

Datum
discreet_tally_boolean(PG_FUNCTION_ARGS)
{
	Tally	   *tally = tally_so_far(fcinfo, 2);

	if (tally == NULL)
	{
		Coin		coin = coin_for(PG_GETARG_FLOAT8(2), 1, 2);

		tally = new_tally(1, 0, NULL);
		set_response(tally, PG_GETARG_FLOAT8(2), &coin);
	}
	if (!PG_ARGISNULL(1))
	{
		tally->reports++;
		tally->counts[0] += PG_GETARG_BOOL(1) ? 1 : 0;
	}
	PG_RETURN_POINTER(tally);
}

PG_FUNCTION_INFO_V1(discreet_tally_text);

Datum
discreet_tally_text(PG_FUNCTION_ARGS)
{
	Tally	   *tally = tally_so_far(fcinfo, 3);
	Domain	   *domain = domain_of_tally(fcinfo, 2, tally, 2);

	if (tally == NULL)
	{
		Coin		coin = coin_for(PG_GETARG_FLOAT8(3), 1, domain->size);

		tally = new_tally(domain->size, 0, domain->array);
		set_response(tally, PG_GETARG_FLOAT8(3), &coin);
	}
	if (!PG_ARGISNULL(1))
	{
		text	   *response = PG_GETARG_TEXT_PP(1);
		int			place = find_in_domain(domain, VARDATA_ANY(response), VARSIZE_ANY_EXHDR(response));

		if (place < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("response \"%s\" is none of the domain", text_to_cstring(response)),
					 errhint("Give the domain with which the responses were randomised.")));
		tally->reports++;
		tally->counts[place]++;
	}
	PG_RETURN_POINTER(tally);
}

/* Adds eight bits to each lane, the first of them to its lowest byte. */
static void
add_bits(uint64 *lanes, const uint8 *bits, int bytes)
{
	static uint64 spread[256] = {0};

	if (spread[1] == 0)
		for (int byte = 0; byte < 256; byte++)
			for (int bit = 0; bit < BITS_PER_BYTE; bit++)
				if (byte & (HIGHBIT >> bit))
					spread[byte] |= UINT64CONST(1) << (bit * BITS_PER_BYTE);
	for (int i = 0; i < bytes; i++)
		lanes[i] += spread[bits[i]];
}

static int64
count_of(Tally *tally, int cell)
{
	if (tally->lanes == 0)
		return tally->counts[cell];
	return tally->counts[cell] + ((LANES(tally)[cell / 8] >> (cell % 8 * BITS_PER_BYTE)) & 0xFF);
}

static void
empty_lanes(Tally *tally)
{
	for (int cell = 0; cell < tally->cells; cell++)
		tally->counts[cell] = count_of(tally, cell);
	memset(LANES(tally), 0, sizeof(uint64) * tally->lanes);
	tally->in_lanes = 0;
}

PG_FUNCTION_INFO_V1(discreet_tally_bits);

Datum
discreet_tally_bits(PG_FUNCTION_ARGS)
{
	Tally	   *tally = tally_so_far(fcinfo, 3);
	Domain	   *domain = domain_of_tally(fcinfo, 2, tally, 2);

	if (tally == NULL)
	{
		Coin		coin = coin_for(PG_GETARG_FLOAT8(3), 2, 2);

		tally = new_tally(domain->size, (domain->size + 7) / 8, domain->array);
		set_response(tally, PG_GETARG_FLOAT8(3), &coin);
	}
	if (!PG_ARGISNULL(1))
	{
		/* a VarBit behind a header of one byte or four: its length, then its bits */
		struct varlena *report = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
		const char *data = VARDATA_ANY(report);
		int32		bits;

		memcpy(&bits, data, sizeof(bits));
		if (bits != domain->size)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a report has %d bits, but the domain has %d values", bits, domain->size),
					 errhint("Give the domain with which the reports were randomised.")));
		if (tally->in_lanes == 255)
			empty_lanes(tally);
		tally->reports++;
		tally->in_lanes++;
		add_bits(LANES(tally), (const uint8 *) data + sizeof(bits), tally->lanes);
	}
	PG_RETURN_POINTER(tally);
}

static void
hash_candidates(const Domain *candidates, int block, uint16 *hashes)
{
	for (int place = 0; place < candidates->size; place++)
	{
		CHECK_FOR_INTERRUPTS();
		sketch_hashes(block, candidates->values[place], candidates->lengths[place], &hashes[place * HASHES_PER_DIGEST]);
	}
}

/*
 * The hashes of all candidates by the functions of a block: kept for the next report, unless those of all blocks would be
 * more than MOST_KEPT bytes.
 */
static const uint16 *
hashes_of_candidates(Domain *candidates, int block)
{
	Size		bytes = sizeof(uint16) * HASHES_PER_DIGEST * candidates->size;

	if (bytes * (MOST_HASHES / HASHES_PER_DIGEST) > MOST_KEPT)
	{
		if (candidates->unkept == NULL)
			candidates->unkept = MemoryContextAlloc(candidates->context, bytes);
		hash_candidates(candidates, block, candidates->unkept);
		return candidates->unkept;
	}
	if (candidates->hashes == NULL)
		candidates->hashes = MemoryContextAllocZero(candidates->context,
													sizeof(uint16 *) * MOST_HASHES / HASHES_PER_DIGEST);
	if (candidates->hashes[block] == NULL)
	{
		uint16	   *hashes = MemoryContextAlloc(candidates->context, bytes);

		hash_candidates(candidates, block, hashes);
		candidates->hashes[block] = hashes;
	}
	return candidates->hashes[block];
}

PG_FUNCTION_INFO_V1(discreet_tally_sketch);

Datum
discreet_tally_sketch(PG_FUNCTION_ARGS)
{
	Tally	   *tally = tally_so_far(fcinfo, 3);
	Domain	   *candidates = domain_of_tally(fcinfo, 2, tally, 1);

	if (tally == NULL)
	{
		Coin		coin = coin_for(PG_GETARG_FLOAT8(3), 2, 2);

		tally = new_tally(candidates->size, 0, candidates->array);
		set_response(tally, PG_GETARG_FLOAT8(3), &coin);
	}
	if (!PG_ARGISNULL(1))
	{
		bytea	   *report = PG_GETARG_BYTEA_PP(1);
		const uint8 *bits = (const uint8 *) VARDATA_ANY(report);
		int			width = (VARSIZE_ANY_EXHDR(report) - SKETCH_HEADER) * BITS_PER_BYTE;
		int			number = width < LEAST_WIDTH ? MOST_HASHES : bits[0] << 8 | bits[1];
		const uint16 *hashes;

		if (width > MOST_WIDTH || (width & (width - 1)) != 0 || number >= MOST_HASHES)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a report was not made by cms_encode()")));
		if (tally->width == 0)
		{
			tally->width = width;
			/* what others' values leave in a cell, by chance */
			tally->offset += tally->gain / width;
			tally->gain -= tally->gain / width;
		}
		if (tally->width != width)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("reports are %d and %d bits wide", tally->width, width),
					 errhint("Estimate reports of another width on their own.")));
		hashes = hashes_of_candidates(candidates, number / HASHES_PER_DIGEST);
		bits += SKETCH_HEADER;
		tally->reports++;
		for (int place = 0; place < candidates->size; place++)
		{
			int			cell = hashes[place * HASHES_PER_DIGEST + number % HASHES_PER_DIGEST] & (width - 1);

			tally->counts[place] += (bits[cell / BITS_PER_BYTE] >> (cell % BITS_PER_BYTE)) & 1;
		}
	}
	PG_RETURN_POINTER(tally);
}

PG_FUNCTION_INFO_V1(discreet_tally_combine);

Datum
discreet_tally_combine(PG_FUNCTION_ARGS)
{
	Tally	   *ours;
	Tally	   *theirs;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	/* a tuple packs it, and puts it anywhere */
	theirs = (Tally *) PG_GETARG_BYTEA_P_COPY(1);
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(theirs);
	ours = (Tally *) PG_GETARG_POINTER(0);
	if (ours->reports == 0)
		PG_RETURN_POINTER(theirs);
	if (theirs->reports > 0)
	{
		if (VARSIZE(ours) != VARSIZE(theirs) || ours->epsilon != theirs->epsilon || ours->width != theirs->width ||
			memcmp(NAMES(ours), NAMES(theirs), VARSIZE(ours) - ((char *) NAMES(ours) - (char *) ours)) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("epsilon, domain and width must be the same for all responses of an estimate")));
		ours->reports += theirs->reports;
		for (int cell = 0; cell < ours->cells; cell++)
			ours->counts[cell] += count_of(theirs, cell);
	}
	PG_RETURN_POINTER(ours);
}

static double
share(Tally *tally, int cell)
{
	return ((double) count_of(tally, cell) / tally->reports - tally->offset) / tally->gain;
}

/* Of at least two reports. */
static double
standard_error(Tally *tally, int cell)
{
	double		reported = (double) count_of(tally, cell) / tally->reports;

	return sqrt(reported * (1 - reported) / (tally->reports - 1)) / tally->gain;
}

PG_FUNCTION_INFO_V1(discreet_tally_share);

Datum
discreet_tally_share(PG_FUNCTION_ARGS)
{
	Tally	   *tally = (Tally *) PG_GETARG_POINTER(0);

	if (tally->reports == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(share(tally, 0));
}

PG_FUNCTION_INFO_V1(discreet_tally_error);

Datum
discreet_tally_error(PG_FUNCTION_ARGS)
{
	Tally	   *tally = (Tally *) PG_GETARG_POINTER(0);

	if (tally->reports < 2)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(standard_error(tally, 0));
}

static void
push_number(JsonbParseState **parse, const char *key, bool known, double number)
{
	JsonbValue	name = {.type = jbvString, .val.string = {.len = strlen(key), .val = (char *) key}};
	JsonbValue	value = {.type = jbvNull};

	pushJsonbValue(parse, WJB_KEY, &name);
	if (known)
	{
		value.type = jbvNumeric;
		value.val.numeric = DatumGetNumeric(DirectFunctionCall1(float8_numeric, Float8GetDatum(number)));
	}
	pushJsonbValue(parse, WJB_VALUE, &value);
}

PG_FUNCTION_INFO_V1(discreet_tally_frequencies);

/* {value: {"share": …, "stderr": …}, …} */
Datum
discreet_tally_frequencies(PG_FUNCTION_ARGS)
{
	Tally	   *tally = (Tally *) PG_GETARG_POINTER(0);
	JsonbParseState *parse = NULL;
	Domain	   *domain;

	if (tally->reports == 0)
		PG_RETURN_NULL();
	domain = make_domain(NAMES(tally), 1);
	pushJsonbValue(&parse, WJB_BEGIN_OBJECT, NULL);
	for (int place = 0; place < domain->size; place++)
	{
		JsonbValue	name = {
			.type = jbvString,
			.val.string = {.len = domain->lengths[place], .val = domain->values[place]},
		};

		pushJsonbValue(&parse, WJB_KEY, &name);
		pushJsonbValue(&parse, WJB_BEGIN_OBJECT, NULL);
		push_number(&parse, "share", true, share(tally, place));
		push_number(&parse, "stderr", tally->reports > 1, tally->reports > 1 ? standard_error(tally, place) : 0);
		pushJsonbValue(&parse, WJB_END_OBJECT, NULL);
	}
	PG_RETURN_JSONB_P(JsonbValueToJsonb(pushJsonbValue(&parse, WJB_END_OBJECT, NULL)));
}
