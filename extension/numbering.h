/*
 * numbering.h: numbers 0, 1, 2 … for different keys, with values that belong to each.
 *
 * Keys are compared, never only their hashes. Hashes depend on a secret of each numbering, so that no role can bring in
 * keys that share one.
 */
#ifndef NUMBERING_H
#define NUMBERING_H

#include "postgres.h"

#include "compat.h"

#define CHUNK_BITS 12
#define CHUNK_ENTRIES (1 << CHUNK_BITS)
#define BATCH 256				/* the most keys that are numbered at once */

typedef struct Numbering
{
	MemoryContext context;
	bool		of_bytes;		/* keys are Bytes; otherwise words */
	Size		entry_size;
	uint32		used;
	uint32		mask;			/* number of slots - 1 */
	uint64	   *slots;			/* hash << 32 | number + 1; 0 is free */
	char	  **chunks;			/* of CHUNK_ENTRIES entries each: entries never move */
	uint64		secret[2];
} Numbering;

typedef struct Entry
{
	uint64		key;			/* the word, or a pointer to Bytes */
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} Entry;

typedef struct Bytes
{
	int32		length;			/* -1 stands for NULL */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} Bytes;

/* Bytes that are elsewhere. */
typedef struct Span
{
	const char *data;
	int32		length;
} Span;

pg_noreturn extern void leave_to_sql(const char *reason);
extern void *take_memory(MemoryContext context, Size size);
extern void begin_numbering(Numbering *numbering, MemoryContext context, bool of_bytes, int values);
extern void expect_entries(Numbering *numbering, uint32 entries);
extern uint32 number_of_word(Numbering *numbering, uint64 word);
extern void number_words(Numbering *numbering, const uint64 *words, uint32 *numbers, int count);
extern uint32 number_of_span(Numbering *numbering, Span span);
extern void number_spans(Numbering *numbering, const Span *spans, uint32 *numbers, int count);

static inline Entry *
entry_at(const Numbering *numbering, uint32 number)
{
	return (Entry *) (numbering->chunks[number >> CHUNK_BITS] +
					  numbering->entry_size * (number & (CHUNK_ENTRIES - 1)));
}

static inline const Bytes *
bytes_at(const Numbering *numbering, uint32 number)
{
	return (const Bytes *) entry_at(numbering, number)->key;
}

#endif
