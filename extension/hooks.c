/*
 * hooks.c: the way of every statement through the module. There is one hook of each kind. Most sessions pay for one look that
 * nothing here concerns them, when a statement is analysed, planned and started: all it needs lies together.
 */
#include "worker.h"
#include "sealed.h"

#include "access/parallel.h"
#include "catalog/namespace.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "tcop/utility.h"
#include "utils/inval.h"
#include "utils/syscache.h"

SessionState session_state pg_attribute_aligned(64) = {false};

static struct
{
	post_parse_analyze_hook_type analysed;
	planner_hook_type plan;
	ExecutorStart_hook_type start;
	ProcessUtility_hook_type utility;
	get_relation_info_hook_type planned;
	ExecutorCheckPerms_hook_type permissions;
	ExecutorRun_hook_type run;
	object_access_hook_type access;
}			previous pg_attribute_aligned(64);

/* ---- whom nothing concerns */

#define MOST_LOOKS 4

/* The last looks, newest over oldest: functions and foreign keys change the user to and fro. */
static struct
{
	Oid			user;
	Oid			session_user;
	bool		unconcerned;
}			looks[MOST_LOOKS];
static uint32 look_count = 0;

void
forget_session(void)
{
	session_state.known = session_state.reading = false;
	session_state.changed = true;
	look_count = 0;
}

static void
forget_roles(Datum argument, int cache_id, uint32 hash)
{
	forget_session();
}

/* Of the schema discreet, if it is here. Sessions that use temporary tables make schemas, which concern nothing here. */
static uint32 schema_hash = 0;

static void
forget_schema(Datum argument, int cache_id, uint32 hash)
{
	if (schema_hash == 0 || hash == 0 || hash == schema_hash)
		forget_session();
}

/* Whether the extension is about to come here: its schema is there, and its tables are not. Else a schema comes first. */
static bool
extension_is_coming(void)
{
	return !levels_are_known() && OidIsValid(get_namespace_oid("discreet", true)) &&
		(creating_extension || IsBinaryUpgrade || OidIsValid(get_extension_oid("discreet", true)));
}

static void watch_relations(void);

static pg_noinline bool
look_at_session(void)
{
	static bool watched = false;
	bool		concerned;
	Oid			schema;

	if (!watched)
	{
		CacheRegisterSyscacheCallback(AUTHOID, forget_roles, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_roles, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget_schema, (Datum) 0);
		watched = true;
	}
	session_state.known = session_state.changed = false;
	schema = get_namespace_oid("discreet", true);
	schema_hash = OidIsValid(schema) ? GetSysCacheHashValue1(NAMESPACEOID, ObjectIdGetDatum(schema)) : 0;
	session_state.user = GetUserId();
	session_state.session_user = GetSessionUserId();
	for (uint32 n = 0; n < Min(look_count, MOST_LOOKS); n++)
		if (looks[n].user == session_state.user && looks[n].session_user == session_state.session_user)
		{
			session_state.known = true;
			return session_state.unconcerned = looks[n].unconcerned;
		}

	concerned = multilevel_relations(false) != NIL || sealed_columns_exist() || analysts_at_work();
	session_state.known = !extension_is_coming() && !session_state.changed;
	session_state.unconcerned = session_state.known && !concerned;
	if (session_state.known)
	{
		looks[look_count % MOST_LOOKS].user = session_state.user;
		looks[look_count % MOST_LOOKS].session_user = session_state.session_user;
		looks[look_count++ % MOST_LOOKS].unconcerned = session_state.unconcerned;
	}
	if (!session_state.unconcerned)
		watch_relations();
	return session_state.unconcerned;
}

/*
 * Whether neither user is an analyst and there are no multilevel tables. Roles, schemas and multilevel tables that change
 * are heard of as by the caches of the catalog, which this is one of.
 */
static inline bool
unconcerned(void)
{
	if (likely(session_state.known && session_state.user == GetUserId() &&
			   session_state.session_user == GetSessionUserId()))
		return session_state.unconcerned;
	return look_at_session();
}

/* ---- the hooks */

static pg_attribute_hot void
on_analysed(ParseState *state, Query *statement, JumbleState *jumble)
{
	Query	   *query = query_of(statement);

	if (previous.analysed)
		previous.analysed(state, statement, jumble);
	/* a ROLLBACK has no query: it must not look at the catalog, which an aborted transaction cannot */
	if (query == NULL || unconcerned())
		return;
	ask_guarded(query);
	keep_materialized(statement, query);
	look_at_levels(query);
	aim_at_sealed(query);
}

static pg_attribute_hot PlannedStmt *
on_plan(Query *query, const char *text, int options, ParamListInfo parameters)
{
	bool		concerned = !unconcerned();
	PlannedStmt *planned;

	if (may_aggregate(query))
		refuse_code_beside_aggregates(query);
	if (concerned)
	{
		secure_levels(query);
		prepare_sealed(query);
	}
	planned = previous.plan ? previous.plan(query, text, options, parameters)
		: standard_planner(query, text, options, parameters);
	if (concerned)
		give_row_ids(planned);
	return planned;
}

static void
on_planned(PlannerInfo *root, Oid table, bool is_parent, RelOptInfo *relation)
{
	if (previous.planned)
		previous.planned(root, table, is_parent, relation);
	if (!unconcerned())
		guard_planned(root, table, relation);
}

static bool
on_permissions(PERMISSIONS_PARAMETERS)
{
	bool		allowed = !previous.permissions || previous.permissions(PERMISSIONS_ARGUMENTS);

	if (!unconcerned())
		guard_executed(relations, CHECKED_PERMISSIONS);
	return allowed;
}

/* Each plan and each start has looked at the session before: who is concerned then goes through these, too. */
static void
watch_relations(void)
{
	static bool watched = false;

	if (watched)
		return;
	watched = true;
	previous.planned = get_relation_info_hook;
	get_relation_info_hook = on_planned;
	previous.permissions = ExecutorCheckPerms_hook;
	ExecutorCheckPerms_hook = on_permissions;
}

/* What workers read is remembered here, since a clearance may have been raised while they ran. */
static void
run_statement(RUN_PARAMETERS)
{
	bool		has_workers = query->plannedstmt->parallelModeNeeded && !IsParallelWorker();
	ErrorContextCallback callback;
	bool		suspended = suspend_server_run(query);

	look_at_keys();
	if (has_workers)
	{
		begin_labels_of_workers(query);
		share_keys(query);
	}
	begin_sealed_run(&callback);
	if (previous.run)
		previous.run(RUN_ARGUMENTS);
	else
		standard_ExecutorRun(RUN_ARGUMENTS);
	end_sealed_run(&callback);
	if (has_workers)
	{
		unshare_keys();
		AcceptInvalidationMessages();
		begin_labels_of_workers(query);
	}
	if (suspended)
		resume_server_run();
}

static void
on_run(RUN_PARAMETERS)
{
	if (likely(!begin_foreign_run(query)))
	{
		run_statement(RUN_ARGUMENTS);
		return;
	}
	PG_TRY();
	{
		run_statement(RUN_ARGUMENTS);
	}
	PG_FINALLY();
	{
		end_foreign();
	}
	PG_END_TRY();
}

/* Most sessions have one hook less to go through. */
void
watch_runs(void)
{
	static bool watched = false;

	if (watched)
		return;
	watched = true;
	previous.run = ExecutorRun_hook;
	ExecutorRun_hook = on_run;
}

/* Whether a statement names what has labels: for most sessions, only the ledger could be that. */
static inline bool
may_read_labels(PlannedStmt *statement)
{
	ListCell   *cell;

	if (!unconcerned())
		return true;
	foreach(cell, statement->rtable)
	{
		Oid			relation = lfirst_node(RangeTblEntry, cell)->relid;

		if (OidIsValid(relation) && relation >= session_state.first_ledger_table &&
			relation <= session_state.last_ledger_table)
			return true;
	}
	return false;
}

static pg_attribute_hot void
start_statement(QueryDesc *query, int flags)
{
	bool		reads;

	session_state.reading = false;
	if (!unconcerned())
	{
		guard_conflicts(query->plannedstmt);
		begin_sealed();
	}
	reads = may_read_labels(query->plannedstmt) && begin_labels(query, flags);
	if (query->plannedstmt->parallelModeNeeded && !IsParallelWorker())
		keep_dp_aggregates_in_leader(query);
	if (previous.start)
		previous.start(query, flags);
	else
		standard_ExecutorStart(query, flags);
	if (!(flags & EXEC_FLAG_EXPLAIN_ONLY) && !IsParallelWorker())
	{
		/* a statement has dp_ aggregates or questions: beside the former, no functions but built-in ones are let in */
		pay_at_start(query);
		if (!unconcerned())
			check_questions(query);
	}
	if (!unconcerned())
		keep_own_triggers(query->estate);
	if (reads)
		ask_directly(query->planstate);
}

static pg_attribute_hot void
on_start(QueryDesc *query, int flags)
{
	if (likely(unconcerned() || !begin_foreign_start(query)))
	{
		start_statement(query, flags);
		return;
	}
	PG_TRY();
	{
		start_statement(query, flags);
		keep_foreign(query);
	}
	PG_FINALLY();
	{
		end_foreign();
	}
	PG_END_TRY();
}

static void
on_utility(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
		   ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *completion)
{
	ProcessUtility_hook_type next = previous.utility ? previous.utility : standard_ProcessUtility;
	bool		explains = is_explain_analyze(statement->utilityStmt);
	bool		is_part = context == PROCESS_UTILITY_SUBCOMMAND;
	PlannedStmt *aimed = aim_command(statement);
	bool		view = begin_view(statement->utilityStmt);
	bool		materialized = begin_materialized(statement->utilityStmt);
	bool		foreign;

	session_state.reading = false;
	if (IsA(statement->utilityStmt, LockStmt))
		look_at_lock((LockStmt *) statement->utilityStmt);
	look_at_maintenance(statement->utilityStmt);
	look_at_triggers(statement->utilityStmt);
	look_at_databases(statement->utilityStmt);
	look_at_discard(statement->utilityStmt);
	look_at_execute(statement->utilityStmt);
	drop_keys_of_others();
	refuse_foreign_command(statement->utilityStmt);
	if (!is_part)
		begin_command();
	if (explains)
		begin_explain_analyze();
	foreign = begin_command_of_trust(statement->utilityStmt);
	PG_TRY();
	{
		next(aimed, text, read_only_tree, context, parameters, environment, receiver, completion);
		if (!is_part)
			follow_command();
		drop_keys_of_others();
	}
	PG_FINALLY();
	{
		end_view(view);
		end_materialized(materialized);
		end_command_of_trust(foreign);
		if (explains)
			end_explain_analyze();
		if (!is_part)
			end_command();
	}
	PG_END_TRY();
}

static void
on_access(ObjectAccessType access, Oid class, Oid object, int column, void *argument)
{
	if (previous.access)
		previous.access(access, class, object, column, argument);
	look_at_object(access, class, object, column, argument);
	look_at_execution(access, class, object);
}

void
install_hooks(void)
{
	previous.analysed = post_parse_analyze_hook;
	post_parse_analyze_hook = on_analysed;
	previous.plan = planner_hook;
	planner_hook = on_plan;
	previous.start = ExecutorStart_hook;
	ExecutorStart_hook = on_start;
	previous.utility = ProcessUtility_hook;
	ProcessUtility_hook = on_utility;
	previous.access = object_access_hook;
	object_access_hook = on_access;
	install_explain_hook();
	install_trust_hooks();
	install_plans_of_levels();
}
