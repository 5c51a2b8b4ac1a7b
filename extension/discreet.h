/*
 * discreet.h: what the parts of the C module know of each other.
 *
 *   discreet.c          settings, language discreet_python, who called
 *   python_limits.c     bounds the arguments of Python code, and lets a cancel through to it
 *   hooks.c             the hooks, by which every statement comes through the module, and whom nothing here concerns
 *   core_follow.c       notes what happens to tables that discreet knows, so that what is declared follows
 *   core_catalog.c      the version of the catalogs and declarations, as this process knows them
 *   core_trees.c        what trees in the catalogs hold: columns, calls, a UNION
 *   numbering.c         numbers for persons, groups and what each person has in each
 *   budget_ledger.c     calls of the ledger, by which charges commit on their own
 *   worker.h            background workers that charge and think for all sessions: worker_*.c
 *   dp.h                dp_ aggregates of a statement: dp_code.c, dp_input.c, dp_sites.c, dp_charge.c
 *   dp_values.c         what a value is on the integer grid on which sums are exact
 *   dp_aggregates.c     transitions of the dp_ aggregates, and the way to Python for the released number
 *   gate_question.c     makes questions of plain SELECTs on protected tables
 *   gate_with.c         moves WITH queries to where they are named
 *   gate_statement.c    checks all questions of a statement before the first is charged
 *   gate_columns.c      which columns a caller names for an answer
 *   gate_around.c       leaves what stands around an answer to PostgreSQL
 *   gate_units.c        whether a subquery has a row for each person
 *   gate_constants.c    computes what a question says without looking at a row
 *   gate_clock.c        moments that are readings of a clock on the wall
 *   gate_moving.c       moving windows: the clock of a question goes in steps
 *   gate_explain.c      knows whether an EXPLAIN ANALYZE is under way, in which nothing is asked
 *   gate_maintenance.c  refuses VACUUM, ANALYZE, CLUSTER and LOCK that would tell how many rows a table of others has
 *   gate_run.c          the run step of a question, in the name of who owns the tables
 *   gate_told.c         what the gate has told of the last answer in this session
 *   gate_people.c       aggregate _people of the gate: what each person adds to each group
 *   personal.c          questions that each person pays for from an own budget: which people are selected, which have paid
 *   personal_payment.c  the ledger's side of these: budgets in pages, which are written in place
 *   audited.c           who is in a query set of an audited table
 *   mls_level.c         labels, and the label of the session for multilevel tables
 *   mls_plans.c         how statements on multilevel tables are planned
 *   mls_roots.c         which rows of a multilevel table are shown as they are stored
 *   mls_versions.c      the scan that shows the others
 *   mls_insertion.c     stores a new row of a multilevel table
 *   mls_deletion.c      makes a tombstone of a root of a multilevel table
 *   mls_history.c       who wrote which version of a row of a multilevel table
 *   mls_purge.c         which tombstones of a multilevel table are still needed
 *   mls_statements.c    refuses locks on multilevel tables, and tells their triggers what is set
 *   mls_triggers.c      keeps triggers of others on multilevel tables from running
 *   mls_trust.c         keeps code of others from the trust of a session
 *   sealed.h            columns that are stored encrypted: sealed_*.c
 *   release_secrets.c   pseudonyms, record keys and noise under keys that no user can read
 *   synthesis_count.c   counts all marginals of a table in one pass
 *   synthesis_write.c   writes a synthetic table in the name of who asked for it
 *   local.h             randomised responses: local.c, local_tally.c, local_respond.c
 *
 * All thinking is in SQL and Python.
 */
#ifndef DISCREET_H
#define DISCREET_H

#include "postgres.h"

#include "compat.h"

#include "catalog/objectaccess.h"
#include "executor/execdesc.h"
#include "fmgr.h"
#include "lib/ilist.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/reltrigger.h"
#include "utils/tuplestore.h"

#define ERRCODE_REFUSED_SHAPE MAKE_SQLSTATE('D', 'P', '0', '0', '1')
#define ERRCODE_LEDGER_UNREACHABLE MAKE_SQLSTATE('D', 'P', '0', '0', '7')

/* what the parts have of each other is reached directly, not through a table of addresses */
#pragma GCC visibility push(hidden)

/* discreet.c */
extern double epsilon_wish;
extern char *favour_wish;
extern bool quiet;
extern bool with_error;
extern bool empty_previews;
extern char *ledger_conninfo;
extern int	people_memory;
extern int	payers;
extern Oid	own_schema(void);
extern Oid	own_function(const char *name, int n, const Oid *types);

/* python_limits.c */
extern int	begin_python(void);
extern void wake_python(void);
extern void end_python(int depth);
extern void refuse_large_arguments(FunctionCallInfo fcinfo);

/* budget_ledger.c */
extern Jsonb *ledger_call(const char *operation, const char *request);
extern bytea *ledger_call_bytes(const char *operation, const char *request, const char *bytes, int length);
extern char *text_field(Jsonb *object, const char *key);

/* gate_told.c */
extern void keep_last_answer(const char *json);

/* gate_run.c: a SELECT, first planned, then run in the snapshot that is active, in the name of a role or, of none, the caller */
typedef struct Acting
{
	Oid			caller;
	int			context;
	int			level;			/* of settings */
} Acting;

extern void begin_acting(Acting *acting, Oid role);
extern void end_acting(const Acting *acting);
extern PlannedStmt *plan_select(const char *sql);
extern Tuplestorestate *run_plan(PlannedStmt *plan, const char *sql, TupleTableSlot **slot);
extern void end_rows(Tuplestorestate *rows, TupleTableSlot *slot);

/* personal_payment.c: people as one text after the other, each behind its length */
extern bool next_text(const char **from, const char *end, const char **text, uint32 *length);
extern void append_text(StringInfo to, const char *text, uint32 length);

/* gate_statement.c */
extern void check_questions(QueryDesc *query);

/* gate_columns.c */
extern TupleDesc columns_of_call(FunctionCallInfo fcinfo);
extern void columns_of_call_around(TupleDesc around);

/* gate_around.c */
extern bool is_followed(Query *query);
extern bool is_followed_condition(Node *condition);
extern Query *divided(Query *query, Query **over);
extern void drop_unnamed_queries(Query *query, bool changing);

/* gate_with.c */
extern Query *with_queries_moved(Query *query, List *guarded);

/* gate_units.c */
extern bool groups_by_people(Query *query);
extern bool is_hidden_column(Query *query, Node *node);

/* gate_empty.c */
extern void answer_without_rows(Query *query, List *guarded);

/* gate_discovery.c */
extern void show_askable(Query *query);

/* gate_views.c */
extern bool is_making_view(void);
extern bool begin_view(Node *command);
extern void end_view(bool outer);
extern bool keeps_view(Query *query, List *guarded);
extern void check_view(Query *query);
extern void keep_materialized(Query *statement, Query *query);
extern bool begin_materialized(Node *command);
extern void end_materialized(bool outer);
extern bool is_restricted(void);

/* gate_constants.c */
extern Query *fold_constants(Query *query);
extern bool is_known_at_run(Node *node);

/* gate_clock.c */
extern bool is_wall_clock(Query *query, Node *node);

/* gate_moving.c */
extern char *round_time_wish;
extern bool check_round_time(char **wished, void **extra, GucSource source);
extern bool moved_clock(TimestampTz *moment);
extern Query *with_moved_clock(Query *query, bool *moved);
extern Node *as_of_call(void);

/* hooks.c */

/* What every statement looks at first. */
typedef struct SessionState
{
	bool		known;			/* since when nothing has changed */
	bool		changed;
	bool		unconcerned;	/* these two users are no analysts, and there are no multilevel tables */
	Oid			user;
	Oid			session_user;
	/* the label at which the statement under way reads, once all was checked: a scan asks for every row */
	bool		reading;
	int64		reading_at;
	/* tables whose lines have labels are among these */
	Oid			first_ledger_table;
	Oid			last_ledger_table;
} SessionState;

extern SessionState session_state;
extern void install_hooks(void);
extern void forget_session(void);
extern void watch_runs(void);

/* core_catalog.c */
extern uint64 catalog_version(void);

/* core_follow.c */
typedef void (*RowTaker) (Relation table, TupleTableSlot *slot, void *argument);

extern void scan_own_table(Oid relation, Snapshot snapshot, RowTaker take, void *argument);
extern void look_at_object(ObjectAccessType access, Oid class, Oid object, int column, void *argument);
extern void begin_command(void);
extern void follow_command(void);
extern void end_command(void);

/* gate_question.c */
extern bool reaches_guarded(Query *query, List *guarded);
extern bool may_read(Oid relation, Bitmapset *columns, Oid user);
extern Query *query_of(Query *statement);
extern bool analysts_at_work(void);
extern char *canonical_text(Query *query);
extern bool reads_answers_only(Query *query, List *guarded);
extern bool is_guarded_itself(Oid table);
extern void ask_guarded(Query *query);
extern void guard_planned(PlannerInfo *root, Oid table, RelOptInfo *relation);
extern void guard_executed(List *relations, List *permissions);
extern void guard_conflicts(PlannedStmt *statement);

/* gate_maintenance.c */
extern void look_at_maintenance(Node *statement);

/* gate_explain.c */
extern bool is_explain_analyze(Node *statement);
extern void begin_explain_analyze(void);
extern void end_explain_analyze(void);
extern void refuse_while_explained(void);
extern void install_explain_hook(void);
extern bool is_question(Oid function, Oid schema);
extern bool being_explained(void);

/* mls_level.c */
extern char *level_wish;
extern bool preloaded;
extern bool check_level_wish(char **wished, void **extra, GucSource source);
extern void assign_level_wish(const char *wished, void *extra);
extern bool levels_are_known(void);
extern List *multilevel_relations(bool base);
extern Oid	multilevel_view_of(Oid base);
extern Oid	multilevel_base_of(Oid view);

/* A trigger that was made for a multilevel table, with the name of its function; whether it stores what is written. */
typedef struct OwnTrigger
{
	Oid			relation;
	NameData	name;
	NameData	function;
	bool		writes;
} OwnTrigger;

extern const OwnTrigger *multilevel_trigger(Oid relation, const char *name);
extern bool is_multilevel_trigger_function(const char *name);
typedef enum Labelled
{
	UNLABELLED, LABELLED_ROWS, LABELLED_LEDGER
} Labelled;
extern Labelled labelled_part(Oid relation);
extern void begin_reading_ledger(void);
extern void begin_reading_in_worker(bool of_leader);
extern bool label_to_read(int64 *label);
extern void begin_reading(void);

/* mls_roots.c */
extern void ask_directly(PlanState *state);

/* mls_history.c */
extern const Trigger *history_trigger(Relation base);
extern bool is_history_trigger(const Trigger *trigger);
extern void note_version(Relation base, const Trigger *trigger, HeapTuple row, const char *act);

/* mls_statements.c */
extern void look_at_levels(Query *query);
extern bool begin_labels(QueryDesc *query, int flags);
extern void begin_labels_of_workers(QueryDesc *query);
extern void look_at_lock(LockStmt *statement);

/* mls_triggers.c */
extern void keep_own_triggers(EState *state);
extern void refuse_rules(Oid oid);
extern bool view_reaches_multilevel(Oid relation);
extern void look_at_triggers(Node *statement);

/* mls_trust.c */
extern void install_trust_hooks(void);
extern bool own_code(void);
extern bool own_setting(void);
extern void look_at_execution(ObjectAccessType access, Oid class, Oid object);
extern bool begin_foreign_start(QueryDesc *query);
extern void keep_foreign(QueryDesc *query);
extern bool begin_foreign_run(QueryDesc *query);
extern void end_foreign(void);
extern bool begin_command_of_trust(Node *statement);
extern void end_command_of_trust(bool foreign);
extern void refuse_foreign_command(Node *statement);

/* mls_plans.c */
extern void secure_levels(Query *query);
extern void install_plans_of_levels(void);

/* dp_values.c */

/*
 * A bounded value lives on a grid: the real number v * 2^exponent for an integer v from lower to upper, of at most
 * 40 bits, so that 10^12 rows of squares fit into 128 bits. Bounds go inwards to the grid; a value is clamped and then
 * rounded to it. NULL, NaN and the infinities take no part.
 */
typedef struct Grid
{
	int			exponent;
	double		scale;			/* 2^-exponent */
	int64		lower;
	int64		upper;
} Grid;

extern bool is_bounded_type(Oid type);
extern Oid argument_type(FunctionCallInfo fcinfo, int argument);
extern double numeric_as_double(Datum datum);
extern double value_as_double(Oid type, Datum datum);
extern Datum value_of_number(Oid type, const char *text);
extern void check_bounds(double lower, double upper);
extern void fit_grid(Grid *grid, double lower, double upper);
extern int64 on_grid(const Grid *grid, double number);

/* dp_code.c, dp_charge.c: what the hooks call */
extern bool may_aggregate(Query *query);
extern void refuse_code_beside_aggregates(Query *query);
extern void keep_dp_aggregates_in_leader(QueryDesc *query);
extern void pay_at_start(QueryDesc *query);
extern char *settings_of_meaning(void);

#pragma GCC visibility pop

/* mls_level.c; the server calls it too */
extern Datum discreet_random_id(PG_FUNCTION_ARGS);

#endif
