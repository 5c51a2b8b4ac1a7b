/*
 * mls_rows.h: the stored rows of a multilevel table, as mls_roots.c, mls_versions.c and mls_plans.c know them.
 */
#ifndef ROWS_H
#define ROWS_H

#include "discreet.h"

#include "access/genam.h"
#include "executor/tuptable.h"
#include "nodes/extensible.h"
#include "storage/buf.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* the name of the scan of rows that have sources, as EXPLAIN shows it */
#define VERSIONS "discreet versions"

extern const CustomScanMethods versions_methods;

/*
 * Rows above roots, by one index on label and entity that includes whether they are dead: the rows themselves are looked
 * at only where the visibility map does not say that all transactions see them.
 */
typedef struct Above
{
	Relation	table;
	Relation	index;
	TupleTableSlot *slot;
	Buffer		map;
	IndexScanDesc scan;
} Above;

extern void open_above(Above *above, Oid base, Snapshot snapshot);
extern void close_above(Above *above);
extern void find_above(Above *above, int64 label, int64 entity);
extern bool next_above(Above *above, int64 *label, int64 *entity, bool *dead);
extern bool row_above(Above *above);
extern int64 *labels_above(Above *above, int64 session, bool of_the_living, int *count);
extern Relation index_of_key(ResultRelInfo *target);
extern bool runs_functions(ResultRelInfo *target);
extern bool is_null_in(TupleTableSlot *slot, AttrNumber column);

#endif
