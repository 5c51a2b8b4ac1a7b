/*
 * numbering.c: numbers for different keys, in hash tables of bounded memory.
 */
#include "numbering.h"

#include "common/hashfn.h"
#include "discreet.h"
#include "utils/memutils.h"

#define FIRST_SLOTS 1024
/* what a question takes at least: some keys and their groups, whatever discreet.people_memory says */
#define LEAST_MEMORY ((Size) 4 * 1024 * 1024)

void
leave_to_sql(const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("discreet._people leaves this to plain SQL: %s", reason)));
}

void *
take_memory(MemoryContext context, Size size)
{
	if (MemoryContextMemAllocated(context, false) + size > Max((Size) people_memory * 1024, LEAST_MEMORY))
		leave_to_sql("it takes more memory than discreet.people_memory");
	return MemoryContextAllocHuge(context, size);
}

static uint64 *
free_slots(MemoryContext context, Size number)
{
	uint64	   *slots = take_memory(context, sizeof(uint64) * number);

	memset(slots, 0, sizeof(uint64) * number);
	return slots;
}

void
begin_numbering(Numbering *numbering, MemoryContext context, bool of_bytes, int values)
{
	numbering->context = context;
	numbering->of_bytes = of_bytes;
	numbering->entry_size = offsetof(Entry, values) + sizeof(int64) * values;
	numbering->used = 0;
	numbering->mask = FIRST_SLOTS - 1;
	numbering->slots = free_slots(context, FIRST_SLOTS);
	numbering->chunks = NULL;
	if (!pg_strong_random(numbering->secret, sizeof(numbering->secret)))
		elog(ERROR, "there are no random numbers");
}

static void
fill_slot(Numbering *numbering, uint64 slot)
{
	uint32		at = (uint32) (slot >> 32) & numbering->mask;

	while (numbering->slots[at] != 0)
		at = (at + 1) & numbering->mask;
	numbering->slots[at] = slot;
}

/* The most entries that so many slots are for. */
static inline uint32
most_entries(Size slots)
{
	return (uint32) ((slots - 1) / 4 * 3);
}

static void
multiply_slots(Numbering *numbering, Size times)
{
	uint64	   *filled = numbering->slots;
	Size		number = (Size) numbering->mask + 1;

	if (times * number > (Size) PG_UINT32_MAX + 1)
		leave_to_sql("too many people and groups");
	numbering->slots = free_slots(numbering->context, times * number);
	numbering->mask = (uint32) (times * number - 1);
	for (Size at = 0; at < number; at++)
		if (filled[at] != 0)
			fill_slot(numbering, filled[at]);
	pfree(filled);
}

/* Makes room for so many entries at once. */
void
expect_entries(Numbering *numbering, uint32 entries)
{
	Size		number = (Size) numbering->mask + 1;
	Size		times = 1;

	while (most_entries(times * number) < entries)
		times *= 2;
	if (times > 1)
		multiply_slots(numbering, times);
}

static void
add_chunk(Numbering *numbering)
{
	uint32		chunks = numbering->used >> CHUNK_BITS;

	if ((chunks & (chunks - 1)) == 0)	/* none, or a power of two: the list of chunks is full */
	{
		char	  **longer = take_memory(numbering->context, sizeof(char *) * Max(2 * chunks, 1));

		if (chunks > 0)
		{
			memcpy(longer, numbering->chunks, sizeof(char *) * chunks);
			pfree(numbering->chunks);
		}
		numbering->chunks = longer;
	}
	numbering->chunks[chunks] = take_memory(numbering->context, numbering->entry_size * CHUNK_ENTRIES);
}

/* The number of a key that is not there yet; its values are 0. */
static uint32
add_entry(Numbering *numbering, uint32 hash, uint64 key)
{
	uint32		number = numbering->used;
	Entry	   *entry;

	if (number >= most_entries((Size) numbering->mask + 1))
		multiply_slots(numbering, 2);
	if ((number & (CHUNK_ENTRIES - 1)) == 0)
		add_chunk(numbering);
	numbering->used++;
	entry = entry_at(numbering, number);
	memset(entry, 0, numbering->entry_size);
	entry->key = key;
	fill_slot(numbering, (uint64) hash << 32 | (number + 1));
	return number;
}

static inline uint32
hash_of_word(const Numbering *numbering, uint64 word)
{
	uint128		product = (uint128) (word ^ numbering->secret[0]) * (numbering->secret[1] | 1);

	return (uint32) (product >> 64) ^ (uint32) (product >> 32);
}

static inline uint32
find_word(Numbering *numbering, uint64 word)
{
	uint32		hash = hash_of_word(numbering, word);

	for (uint32 at = hash & numbering->mask; numbering->slots[at] != 0; at = (at + 1) & numbering->mask)
	{
		uint32		number = (uint32) numbering->slots[at] - 1;

		if (numbering->slots[at] >> 32 == hash && entry_at(numbering, number)->key == word)
			return number;
	}
	return add_entry(numbering, hash, word);
}

uint32
number_of_word(Numbering *numbering, uint64 word)
{
	return find_word(numbering, word);
}

/* Most time goes into waiting for memory: that of all words is asked for before the first is looked up. */
void
number_words(Numbering *numbering, const uint64 *words, uint32 *numbers, int count)
{
	for (int n = 0; n < count; n++)
		__builtin_prefetch(&numbering->slots[hash_of_word(numbering, words[n]) & numbering->mask]);
	for (int n = 0; n < count; n++)
	{
		uint64		slot = numbering->slots[hash_of_word(numbering, words[n]) & numbering->mask];

		if (slot != 0)
			__builtin_prefetch(entry_at(numbering, (uint32) slot - 1));
	}
	for (int n = 0; n < count; n++)
		numbers[n] = find_word(numbering, words[n]);
}

static uint32
find_span(Numbering *numbering, Span span, uint32 hash)
{
	int			present = Max(span.length, 0);
	Bytes	   *added;

	for (uint32 at = hash & numbering->mask; numbering->slots[at] != 0; at = (at + 1) & numbering->mask)
	{
		uint32		number = (uint32) numbering->slots[at] - 1;
		const Bytes *bytes;

		if (numbering->slots[at] >> 32 != hash)
			continue;
		bytes = bytes_at(numbering, number);
		if (bytes->length == span.length && memcmp(bytes->data, span.data, present) == 0)
			return number;
	}
	added = take_memory(numbering->context, offsetof(Bytes, data) + present + 1);
	added->length = span.length;
	memcpy(added->data, span.data, present);
	added->data[present] = '\0';
	return add_entry(numbering, hash, (uint64) added);
}

/* As for words, and then the bytes of each entry. */
void
number_spans(Numbering *numbering, const Span *spans, uint32 *numbers, int count)
{
	uint32		hashes[BATCH];

	for (int n = 0; n < count; n++)
	{
		hashes[n] = (uint32) hash_bytes_extended((const unsigned char *) spans[n].data, Max(spans[n].length, 0),
												 numbering->secret[0]);
		__builtin_prefetch(&numbering->slots[hashes[n] & numbering->mask]);
	}
	for (int pass = 0; pass < 2; pass++)
	{
		for (int n = 0; n < count; n++)
		{
			uint64		slot = numbering->slots[hashes[n] & numbering->mask];

			if (slot != 0)
				__builtin_prefetch(pass == 0 ? (void *) entry_at(numbering, (uint32) slot - 1) :
								   (void *) bytes_at(numbering, (uint32) slot - 1));
		}
	}
	for (int n = 0; n < count; n++)
		numbers[n] = find_span(numbering, spans[n], hashes[n]);
}

uint32
number_of_span(Numbering *numbering, Span span)
{
	uint32		number;

	number_spans(numbering, &span, &number, 1);
	return number;
}
