/*
 * dp.h: the dp_ aggregates of a statement, from its plan to the charge.
 *
 *   dp_code.c     which code may stand beside them, and which below
 *   dp_input.c    what feeds them
 *   dp_sites.c    each of them, with its constant arguments
 *   dp_charge.c   pays before any row is read
 */
#ifndef DISCREET_DP_H
#define DISCREET_DP_H

#include "discreet.h"

#pragma GCC visibility push(hidden)

/* dp_code.c */
extern bool is_dp_aggregate(Oid function);
extern bool looks_at_arguments_only(Oid function);
extern bool is_harmless_anywhere(Oid function);

/* dp_input.c */

/* What feeds a dp_ aggregate. */
typedef struct Input
{
	PlannedStmt *statement;
	Bitmapset  *inside;			/* range table indexes of the relations it reads */
	char	   *unsafe;			/* could let one row count for more than itself */
	bool		filtered;		/* who takes part depends on values */
	bool		steered;		/* takes values from elsewhere in the statement */
} Input;

extern void find_unsafe(Input *input, const char *what);
extern List *plans_below(Plan *plan);
extern Input *input_of(AggState *node, PlannedStmt *statement);
extern Index named_relation(PlannedStmt *statement, Index index);
extern Index relation_read(Input *input);
extern bool session_user_may_read(PlannedStmt *statement, Index index);

/* dp_sites.c */

/* One dp_ aggregate of a plan node; its constant arguments, evaluated before any row is read. */
typedef struct Site
{
	int			aggno;
	char	   *function;		/* dp_sum … */
	int			sets;			/* grouping sets it is computed for */
	char	   *epsilon;		/* NULL: the wish of the session */
	Oid			type;			/* of the value */
	double		lower;
	double		upper;
	double		fraction;
	char	   *amount;			/* per grouping set, after the charge */
} Site;

extern List *sites_of(AggState *node);

/* dp_charge.c */

/* An Agg node with dp_ aggregates, of a statement under way. */
typedef struct PaidNode
{
	dlist_node	link;
	AggState   *node;
	ExecProcNodeMtd compute;	/* what the node did before we stepped in */
	List	   *sites;
	char	   *request;		/* the charge, to be made again at every rescan */
	struct PaidNode *whole;		/* of the parts of a partitioned table that are aggregated one by one, the first */
	int			scans;			/* begun */
	int			paid_scans;		/* of the whole */
	bool		filtered;		/* WHERE or GROUP BY: who takes part depends on values */
	char	   *accounting;
	char	   *neighbours;
	char	   *settings;		/* under which the scan began */
	MemoryContextCallback forget;
} PaidNode;

extern PaidNode *find_paid(PlanState *node);

#pragma GCC visibility pop

#endif
