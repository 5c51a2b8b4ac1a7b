/*
 * rows.h: rows above the roots of a multilevel table, as roots.c and instances.c read them.
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

/* Numbers of entities: a hash table, in which 0 is nobody's number. */
typedef struct Entities
{
	uint32		places;			/* a power of two */
	uint32		taken;
	int64	   *numbers;
} Entities;

extern void open_above(Above *above, Oid base, Snapshot snapshot);
extern void close_above(Above *above);
extern void find_above(Above *above, int64 label, int64 entity);
extern bool next_above(Above *above, int64 *label, int64 *entity, bool *dead);
extern bool row_above(Above *above);
extern int64 *labels_above(Above *above, int64 session, int *count);
extern bool has_entity(const Entities *entities, int64 number);
extern bool add_entity(Entities *entities, int64 number);

#endif
