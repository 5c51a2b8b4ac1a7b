/*
 * mls_rows.h: rows above the roots of a multilevel table, as mls_roots.c and mls_instances.c read them.
 */
#ifndef ROWS_H
#define ROWS_H

#include "discreet.h"

#include "access/genam.h"
#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * By one index on label and entity that includes whether they are dead: the rows themselves are looked at only where the
 * visibility map does not know that everybody sees them.
 */
typedef struct Above
{
	Relation	table;
	Relation	index;
	TupleTableSlot *slot;
	Buffer		map;
	IndexScanDesc scan;
} Above;

/*
 * Numbers of entities, which are random and odd: a hash table in which a number is its own hash, and 0 is nobody's number.
 * Nearly all that are asked for are not in it, which the filter, a bit for some last digits, tells without leaving the cache.
 */
typedef struct Entities
{
	uint32		places;			/* a power of two, or 0 */
	uint32		taken;
	int64	   *numbers;
	uint64	   *filter;
} Entities;

#define FILTER_BITS(places) (4 * (uint64) (places))

extern void open_above(Above *above, Oid base, Snapshot snapshot);
extern void close_above(Above *above);
extern void find_above(Above *above, int64 label, int64 entity);
extern bool next_above(Above *above, int64 *label, int64 *entity, bool *dead);
extern bool row_above(Above *above);
extern int64 *labels_above(Above *above, int64 session, bool of_the_living, int *count);
extern bool add_entity(Entities *entities, int64 number);
extern void free_entities(Entities *entities);
extern uint32 place_of(const Entities *entities, int64 number);

static inline uint64
filter_bit(const Entities *entities, int64 number)
{
	return (number >> 1) & (FILTER_BITS(entities->places) - 1);
}

static inline bool
has_entity(const Entities *entities, int64 number)
{
	uint64		bit;

	if (entities->places == 0)
		return false;
	bit = filter_bit(entities, number);
	return (entities->filter[bit / 64] & (UINT64CONST(1) << bit % 64)) != 0 &&
		entities->numbers[place_of(entities, number)] != 0;
}

#endif
