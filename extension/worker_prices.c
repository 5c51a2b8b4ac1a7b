/*
 * worker_prices.c: what dp_ aggregates cost. The price of a request follows from its text, from catalogs and from declarations, so
 * the ledger worker remembers it as long as the version of these is the same (core_catalog.c).
 */
#include "worker.h"

#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define MOST_PRICES 1000
#define LONGEST_REQUEST 8192

typedef struct KnownPrice
{
	uint64		hash;
	char	   *request;
	Price		price;
} KnownPrice;

static MemoryContext context = NULL;
static HTAB *known = NULL;
static uint64 known_at;

static uint64
hash_of(const char *request)
{
	return hash_bytes_extended((const unsigned char *) request, strlen(request), 0);
}

static Price *
copied(const Price *price)
{
	Price	   *copy = palloc(sizeof(Price));

	copy->payer = pstrdup(price->payer);
	copy->charge = pstrdup(price->charge);
	copy->prices = pstrdup(price->prices);
	return copy;
}

/* A copy of the price that is known of a request, if one is. */
Price *
known_price(uint64 catalog, const char *request)
{
	uint64		hash = hash_of(request);
	KnownPrice *found;

	if (known == NULL || known_at != catalog)
		return NULL;
	found = hash_search(known, &hash, HASH_FIND, NULL);
	return found != NULL && strcmp(found->request, request) == 0 ? copied(&found->price) : NULL;
}

static void
remember(uint64 catalog, const char *request, const Price *price)
{
	uint64		hash = hash_of(request);
	KnownPrice	made = {hash};
	MemoryContext before;

	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "discreet prices", ALLOCSET_DEFAULT_SIZES);
	if (known == NULL || known_at != catalog || hash_get_num_entries(known) >= MOST_PRICES)
	{
		HASHCTL		control = {.keysize = sizeof(uint64), .entrysize = sizeof(KnownPrice), .hcxt = context};

		known = NULL;
		MemoryContextReset(context);
		known = hash_create("discreet prices", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		known_at = catalog;
	}
	before = MemoryContextSwitchTo(context);
	made.request = pstrdup(request);
	made.price = *copied(price);
	*(KnownPrice *) hash_search(known, &hash, HASH_ENTER, NULL) = made;
	MemoryContextSwitchTo(before);
}

static char *
field(Jsonb *object, const char *name)
{
	return TextDatumGetCString(DirectFunctionCall2(jsonb_object_field_text, JsonbPGetDatum(object), CStringGetTextDatum(name)));
}

bool
is_refusal(Jsonb *priced)
{
	return DatumGetBool(DirectFunctionCall2(jsonb_exists, JsonbPGetDatum(priced), CStringGetTextDatum("refused")));
}

bool
is_true(Jsonb *answer)
{
	return DatumGetBool(DirectFunctionCall1(jsonb_bool, JsonbPGetDatum(answer)));
}

/* The price of a request, which is remembered. NULL: there are several charges in it, or it is too long to be kept. */
Price *
price_from(uint64 catalog, const char *request, Jsonb *priced)
{
	Datum		charges = DirectFunctionCall2(jsonb_object_field, JsonbPGetDatum(priced), CStringGetTextDatum("charges"));
	Price		price;

	if (JB_ROOT_COUNT(DatumGetJsonbP(charges)) != 1 || strlen(request) > LONGEST_REQUEST)
		return NULL;
	price.payer = field(priced, "payer");
	price.prices = field(priced, "prices");
	price.charge = TextDatumGetCString(DirectFunctionCall2(jsonb_array_element_text, charges, Int32GetDatum(0)));
	remember(catalog, request, &price);
	return copied(&price);
}
