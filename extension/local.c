/*
 * local.c: coins, the mechanisms rr, rr_bits and cms_encode, and domains of values.
 */
#include "local.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/varbit.h"

#define LEAST_EPSILON 1e-6
#define MOST_EPSILON 100.0
#define MOST_CHOICES 65536

/* One part in 2^48: far more than the rounding of one exp(), one sum and one quotient. */
#define SAFE_SIDE (1 + 0x1p-48)

/* 64 bits of the system's cryptographic generator, each used once. */
static uint64
random_word(void)
{
	static uint64 pool[64];
	static int	left = 0;
	uint64		word;

	if (left == 0)
	{
		if (!pg_strong_random(pool, sizeof(pool)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("the system gives no random numbers")));
		left = lengthof(pool);
	}
	word = pool[--left];
	pool[left] = 0;
	return word;
}

/* A number below `limit`, each equally likely: draws from the incomplete first stretch are thrown away. */
static uint64
random_below(uint64 limit)
{
	uint64		incomplete = (0 - limit) % limit;
	uint64		word;

	do
		word = random_word();
	while (word < incomplete);
	return word % limit;
}

/*
 * The coin whose epsilon, ln((2^64 - lies) (choices - 1) / lies), is at most one of the equal parts of the one wished,
 * and hardly less. Truth with probability e^epsilon / (e^epsilon + choices - 1) would be the wish itself; the number of
 * lies is what that leaves, rounded up by more than floating point can err.
 */
Coin
coin_for(double epsilon, int parts, int choices)
{
	Coin		coin = {.choices = choices};
	double		others = choices - 1;

	if (!(epsilon >= LEAST_EPSILON && epsilon <= MOST_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon of a randomised response must be from %g to %g", LEAST_EPSILON, MOST_EPSILON),
				 errhint("At epsilon 1, a yes or no is true with a probability of 73 %%; at 3, of 95 %%.")));
	coin.lies = (uint64) ceil(ldexp(others / (exp(epsilon / parts) + others) * SAFE_SIDE, 64));
	return coin;
}

int
toss(const Coin *coin, int truth)
{
	int			other;

	if (random_word() >= coin->lies)
		return truth;
	other = (int) random_below(coin->choices - 1);
	return other < truth ? other : other + 1;
}

double
truth_probability(const Coin *coin)
{
	return 1 - ldexp((double) coin->lies, -64);
}

double
other_probability(const Coin *coin)
{
	return ldexp((double) coin->lies, -64) / (coin->choices - 1);
}

/*
 * 64 tosses of a coin of two sides at once: a bit is set where it lied. Each bit compares a number of its own, drawn
 * from its highest digit on, with `lies`, until all are decided.
 */
static uint64
toss_64(const Coin *coin)
{
	uint64		below = 0;
	uint64		undecided = ~UINT64CONST(0);

	for (int digit = 63; digit >= 0 && undecided != 0; digit--)
	{
		uint64		word = random_word();

		if ((coin->lies >> digit) & 1)
		{
			below |= undecided & ~word;
			undecided &= word;
		}
		else
			undecided &= ~word;
	}
	return below;
}

static uint32
slot_of(const Domain *domain, const char *value, int length)
{
	uint32		slot = hash_bytes((const unsigned char *) value, length) & domain->mask;

	for (;;)
	{
		int			place = domain->slots[slot];

		if (place < 0 || (domain->lengths[place] == length && memcmp(domain->values[place], value, length) == 0))
			return slot;
		slot = (slot + 1) & domain->mask;
	}
}

/* The place of a value, or -1. Values are the same when their bytes are. */
int
find_in_domain(const Domain *domain, const char *value, int length)
{
	return domain->slots[slot_of(domain, value, length)];
}

/* The domain of these values, in the current memory context; keeps the array. */
Domain *
make_domain(ArrayType *array, int least)
{
	Domain	   *domain = palloc0(sizeof(Domain));
	Datum	   *elements;
	bool	   *nulls;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("values must be listed in an array of one dimension")));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &domain->size);
	if (domain->size < least || domain->size > MOST_CHOICES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d values are listed, but must be from %d to %d", domain->size, least, MOST_CHOICES)));
	domain->array = array;
	domain->context = CurrentMemoryContext;
	domain->values = palloc(sizeof(char *) * domain->size);
	domain->lengths = palloc(sizeof(int) * domain->size);
	domain->mask = pg_nextpower2_32(2 * domain->size) - 1;
	domain->slots = palloc(sizeof(int) * (domain->mask + 1));
	memset(domain->slots, -1, sizeof(int) * (domain->mask + 1));
	for (int place = 0; place < domain->size; place++)
	{
		uint32		slot;

		/* values chosen so that their hashes meet make this slow */
		CHECK_FOR_INTERRUPTS();
		if (nulls[place])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a value that is listed must not be NULL")));
		domain->values[place] = VARDATA_ANY(DatumGetPointer(elements[place]));
		domain->lengths[place] = VARSIZE_ANY_EXHDR(DatumGetPointer(elements[place]));
		slot = slot_of(domain, domain->values[place], domain->lengths[place]);
		if (domain->slots[slot] >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("value \"%s\" is listed twice", TextDatumGetCString(elements[place])),
					 errhint("Name each value once.")));
		domain->slots[slot] = place;
	}
	return domain;
}

/* The domain that an argument lists, kept from call to call while it is the same. */
Domain *
domain_of_call(FunctionCallInfo fcinfo, int argument, bool constant, int least)
{
	Domain	   *domain = fcinfo->flinfo->fn_extra;
	ArrayType  *array;
	MemoryContext caller_context;

	if (domain != NULL && constant)
		return domain;
	array = PG_GETARG_ARRAYTYPE_P(argument);
	if (domain != NULL && VARSIZE(array) == VARSIZE(domain->array) &&
		memcmp(array, domain->array, VARSIZE(array)) == 0)
		return domain;
	/* a list that is another one for each row leaves nothing behind */
	if (domain != NULL)
	{
		fcinfo->flinfo->fn_extra = NULL;
		MemoryContextDelete(domain->context);
	}
	caller_context = MemoryContextSwitchTo(AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "domain of values",
																 ALLOCSET_DEFAULT_SIZES));
	domain = make_domain((ArrayType *) memcpy(palloc(VARSIZE(array)), array, VARSIZE(array)), least);
	MemoryContextSwitchTo(caller_context);
	fcinfo->flinfo->fn_extra = domain;
	return domain;
}

/* A value may be NULL and stays so; what is said about it may not. */
static void
refuse_null(FunctionCallInfo fcinfo)
{
	for (int argument = 1; argument < PG_NARGS(); argument++)
		if (PG_ARGISNULL(argument))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("only the value may be NULL, not what it is randomised with")));
}

/* Where the value of a call stands in its domain. */
static int
place_of_value(FunctionCallInfo fcinfo, const Domain *domain)
{
	text	   *value = PG_GETARG_TEXT_PP(0);
	int			place = find_in_domain(domain, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	if (place < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the value is none of its domain"),
				 errhint("List every value that can occur, one for all others among them.")));
	return place;
}

PG_FUNCTION_INFO_V1(discreet_rr_boolean);

Datum
discreet_rr_boolean(PG_FUNCTION_ARGS)
{
	Coin		coin;

	refuse_null(fcinfo);
	coin = coin_for(PG_GETARG_FLOAT8(1), 1, 2);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(toss(&coin, PG_GETARG_BOOL(0) ? 1 : 0) == 1);
}

PG_FUNCTION_INFO_V1(discreet_rr_text);

Datum
discreet_rr_text(PG_FUNCTION_ARGS)
{
	Domain	   *domain;
	Coin		coin;
	int			response;

	refuse_null(fcinfo);
	domain = domain_of_call(fcinfo, 1, get_fn_expr_arg_stable(fcinfo->flinfo, 1), 2);
	coin = coin_for(PG_GETARG_FLOAT8(2), 1, domain->size);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	response = toss(&coin, place_of_value(fcinfo, domain));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(domain->values[response], domain->lengths[response]));
}

PG_FUNCTION_INFO_V1(discreet_rr_bits);

/* One bit for each value of the domain; two of them tell two truths apart, so each is worth half of epsilon. */
Datum
discreet_rr_bits(PG_FUNCTION_ARGS)
{
	Domain	   *domain;
	Coin		coin;
	int			truth;
	int			bytes;
	VarBit	   *report;
	uint64		lies = 0;

	refuse_null(fcinfo);
	domain = domain_of_call(fcinfo, 1, get_fn_expr_arg_stable(fcinfo->flinfo, 1), 2);
	coin = coin_for(PG_GETARG_FLOAT8(2), 2, 2);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	truth = place_of_value(fcinfo, domain);
	bytes = VARBITTOTALLEN(domain->size);
	report = palloc0(bytes);
	SET_VARSIZE(report, bytes);
	VARBITLEN(report) = domain->size;
	for (int place = 0; place < domain->size; place++)
	{
		if (place % 64 == 0)
			lies = toss_64(&coin);
		if ((place == truth) != ((lies >> (place % 64)) & 1))
			VARBITS(report)[place / BITS_PER_BYTE] |= HIGHBIT >> (place % BITS_PER_BYTE);
	}
	PG_RETURN_VARBIT_P(report);
}

/* Where the sixteen hash functions of a block put a value: on every machine the same, 16 bits of a digest each. */
void
sketch_hashes(int block, const char *value, int length, uint16 hashes[HASHES_PER_DIGEST])
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	uint8		head = (uint8) block;
	uint8		digest[PG_SHA256_DIGEST_LENGTH];

	if (pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, &head, sizeof(head)) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) value, length) < 0 ||
		pg_cryptohash_final(context, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not hash a value");
	pg_cryptohash_free(context);
	for (int i = 0; i < HASHES_PER_DIGEST; i++)
		hashes[i] = (uint16) (digest[2 * i] << 8 | digest[2 * i + 1]);
}

PG_FUNCTION_INFO_V1(discreet_cms_encode);

/* Which of the hashes was taken, and a row of bits of which one is set by the value; each bit is then tossed. */
Datum
discreet_cms_encode(PG_FUNCTION_ARGS)
{
	text	   *value;
	Coin		coin;
	int			hashes;
	int			width;
	int			number;
	uint16		places[HASHES_PER_DIGEST];
	int			truth;
	int			bytes;
	bytea	   *report;
	uint8	   *bits;
	uint64		lies = 0;

	refuse_null(fcinfo);
	coin = coin_for(PG_GETARG_FLOAT8(1), 2, 2);
	hashes = PG_GETARG_INT32(2);
	width = PG_GETARG_INT32(3);
	if (hashes < 1 || hashes > MOST_HASHES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("hashes is %d, but must be from 1 to %d", hashes, MOST_HASHES)));
	if (width < LEAST_WIDTH || width > MOST_WIDTH || (width & (width - 1)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("width is %d, but must be a power of two from %d to %d", width, LEAST_WIDTH, MOST_WIDTH)));
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	value = PG_GETARG_TEXT_PP(0);
	number = (int) random_below(hashes);
	sketch_hashes(number / HASHES_PER_DIGEST, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), places);
	truth = places[number % HASHES_PER_DIGEST] & (width - 1);
	bytes = VARHDRSZ + SKETCH_HEADER + width / BITS_PER_BYTE;
	report = palloc0(bytes);
	SET_VARSIZE(report, bytes);
	bits = (uint8 *) VARDATA(report);
	bits[0] = number >> 8;
	bits[1] = number & 0xFF;
	bits += SKETCH_HEADER;
	for (int byte = 0; byte < width / BITS_PER_BYTE; byte++)
	{
		if (byte % 8 == 0)
			lies = toss_64(&coin);
		bits[byte] = (lies >> (byte % 8 * BITS_PER_BYTE)) & 0xFF;
	}
	bits[truth / BITS_PER_BYTE] ^= 1 << (truth % BITS_PER_BYTE);
	PG_RETURN_BYTEA_P(report);
}

PG_FUNCTION_INFO_V1(discreet_rr_lies);

/* _rr_lies(epsilon, choices): how many of 2^64 draws lie. */
Datum
discreet_rr_lies(PG_FUNCTION_ARGS)
{
	int			choices = PG_GETARG_INT32(1);

	if (choices < 2 || choices > MOST_CHOICES)
		elog(ERROR, "%d choices are not between 2 and %d", choices, MOST_CHOICES);
	return DirectFunctionCall3(numeric_in,
							   CStringGetDatum(psprintf(UINT64_FORMAT, coin_for(PG_GETARG_FLOAT8(0), 1, choices).lies)),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}
