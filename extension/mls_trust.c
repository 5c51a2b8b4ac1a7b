/*
 * mls_trust.c: a trusted session lends its trust to no code of others.
 *
 * Trust is what members of discreet_trusted have: they declassify, purge, give labels when they write, and go below what
 * they have read. A low user can have code run in such a session: functions, triggers, operators and casts; rules, views,
 * defaults, policies, CHECKs and domains; cursors that a function leaves open. This file tells what is the session's own.
 *
 * Claim. While own_code() holds, each statement and function under way was written by the client of the session, by a
 * superuser, or by a trusted role.
 *
 * Proof. Code runs as a function, as an expression, or as a statement.
 * (1) Each call of a function that is not built in goes through on_call(): sessions of trusted roles look up functions
 *     with PostgreSQL's hook for that (needs_fmgr_hook), which also keeps the planner from inlining them. A function of
 *     another owner, and one in C, which may run any user's SQL, is foreign until it returns, whatever it calls.
 * (2) Whatever the catalogs hold as a tree (views, rules, defaults, CHECKs, policies, domains, indexes, bodies of SQL
 *     functions that are no strings) has lost its places in a text: PostgreSQL reads trees with location -1. A function that
 *     is called there is foreign, for every owner; so are functions that no expression calls, such as those of
 *     types and of triggers, except triggers that discreet made for multilevel tables.
 *     So are functions that an operator or a cast calls, which may be others'.
 * (3) A statement that writes through a rule, or through a view that is no superuser's, whose defaults may be labels, is
 *     foreign from its start to its end; so is one that foreign code has started, such as a cursor that is fetched from later.
 *     A cursor of anything but a plain SELECT starts when it is fetched from: it is foreign, for every session that opened it. So are
 *     commands that read expressions of the catalogs again as texts, such as ALTER TABLE.
 * (4) Else SQL is made of a text by the client or by code as in (1), or by the few built-in functions that run the text they are
 *     given. An expression of the catalogs could call these. A session that has called one has no trust any more.
 * (5) Foreign code cannot leave something behind that passes for the session's own later: it may not define or hand over
 *     functions, operators and casts, prepare statements or change roles (refuse_foreign_command()), nor set discreet.level. set_config(), which
 *     an expression of the catalogs can call, does not lower the label of a trusted session: SET does.
 *
 * A role that becomes trusted while its session runs has looked up functions without the hook: it connects anew.
 */
#include "discreet.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "rewrite/prs2lock.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* A statement that is foreign until it ends, in its own memory. */
typedef struct ForeignStatement
{
	dlist_node	place;
	QueryDesc  *query;
	MemoryContextCallback end;
} ForeignStatement;

static needs_fmgr_hook_type previous_needs = NULL;
static fmgr_hook_type previous_call = NULL;

/* calls under way, and which of them are foreign */
static bool *calls = NULL;
static int	call_room = 0;
static int	call_depth = 0;
static int	foreign_depth = 0;	/* calls and statements */
static dlist_head foreign_statements = DLIST_STATIC_INIT(foreign_statements);

static bool ran_text = false;	/* by a built-in function */
static bool sets = false;		/* a SET is under way */

/* whether the session user is trusted, as far as that is known */
static bool watching_known = false;
static Oid	subject = InvalidOid;
static bool watching;
static Oid	unwatched = InvalidOid;

static void
forget_watching(Datum argument, int cache_id, uint32 hash)
{
	watching_known = false;
}

static bool
is_trusted_role(Oid role)
{
	Oid			group = get_role_oid("discreet_trusted", true);

	return OidIsValid(group) && is_member_of_role_nosuper(role, group);
}

static bool
is_watched(void)
{
	static bool registered = false;

	if (watching_known && subject == GetSessionUserId())
		return watching;
	if (!registered)
	{
		CacheRegisterSyscacheCallback(AUTHOID, forget_watching, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_watching, (Datum) 0);
		registered = true;
	}
	watching_known = true;
	subject = GetSessionUserId();
	watching = is_trusted_role(subject);
	return watching;
}

/*
 * Whether what runs was left open by a function: a cursor of another statement than a plain SELECT starts when it is fetched from,
 * when the function that opened it has ended. Loops of functions pin theirs.
 */
static bool
is_left_open(Portal portal)
{
	return portal != NULL && portal->name[0] != '\0' && !portal->portalPinned && portal->strategy != PORTAL_ONE_SELECT;
}

bool
own_code(void)
{
	return foreign_depth == 0 && !ran_text && unwatched != GetSessionUserId() && !is_left_open(ActivePortal);
}

/* ---- functions */

/* What discreet's views and triggers call for each row. It runs no code of others, and asks own_code() itself where it must. */
static bool
is_own_in_c(Form_pg_proc function)
{
	return function->prolang == ClanguageId && function->pronamespace == own_schema();
}

static bool
on_lookup(Oid function)
{
	HeapTuple	tuple;
	bool		needed;

	if (previous_needs && previous_needs(function))
		return true;
	if (function < FirstNormalObjectId || !IsTransactionState())
		return false;
	if (!is_watched())
	{
		unwatched = subject;
		return false;
	}
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return true;
	needed = !is_own_in_c((Form_pg_proc) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
	return needed;
}

/*
 * Whether an expression calls a function by its name, at a place in the text of a statement. Operators and casts may be others',
 * and choose which function is called.
 */
static bool
has_place(const Node *call)
{
	switch (call ? nodeTag(call) : T_Invalid)
	{
		case T_FuncExpr:
			return ((const FuncExpr *) call)->location >= 0 &&
				((const FuncExpr *) call)->funcformat == COERCE_EXPLICIT_CALL;
		case T_WindowFunc:
			return ((const WindowFunc *) call)->location >= 0;
		default:
			return false;
	}
}

static bool
is_foreign(const FmgrInfo *called)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(called->fn_oid));
	Form_pg_proc function;
	bool		foreign;

	if (!HeapTupleIsValid(tuple))
		return true;
	function = (Form_pg_proc) GETSTRUCT(tuple);
	if (function->prorettype == TRIGGEROID || function->prorettype == EVENT_TRIGGEROID)
		foreign = !superuser_arg(function->proowner) ||
			(function->pronamespace != own_schema() && !is_multilevel_trigger_function(NameStr(function->proname)));
	else if (function->prolang == ClanguageId)
		foreign = !is_own_in_c(function);
	else
		foreign = !has_place(called->fn_expr) ||
			!(superuser_arg(function->proowner) || is_trusted_role(function->proowner));
	ReleaseSysCache(tuple);
	return foreign;
}

/* The depth changes first: PostgreSQL tells of the end of a call also when this fails at its beginning. */
static void
on_call(FmgrHookEventType event, FmgrInfo *called, Datum *argument)
{
	if (previous_call)
		previous_call(event, called, argument);
	if (event != FHET_START)
	{
		call_depth--;
		if (call_depth < call_room && calls[call_depth])
			foreign_depth--;
		return;
	}
	call_depth++;
	if (call_depth > call_room)
	{
		int			room = Max(64, call_depth * 2);

		calls = calls ? repalloc(calls, room * sizeof(bool)) : MemoryContextAlloc(TopMemoryContext, room * sizeof(bool));
		call_room = room;
	}
	calls[call_depth - 1] = false;
	/* functions with settings of their own come here in all sessions */
	if (!is_watched())
		unwatched = subject;
	if (!watching || !is_foreign(called))
		return;
	calls[call_depth - 1] = true;
	foreign_depth++;
	session_state.reading = false;	/* the label may be too low for it */
}

void
look_at_execution(ObjectAccessType access, Oid class, Oid object)
{
	if (access != OAT_FUNCTION_EXECUTE || class != ProcedureRelationId)
		return;
	switch (object)
	{
		case F_QUERY_TO_XML:
		case F_QUERY_TO_XMLSCHEMA:
		case F_QUERY_TO_XML_AND_XMLSCHEMA:
		case F_CURSOR_TO_XML:
		case F_CURSOR_TO_XMLSCHEMA:
		case F_TS_STAT_TEXT:
		case F_TS_STAT_TEXT_TEXT:
		case F_TS_REWRITE_TSQUERY_TEXT:
			ran_text = true;
			session_state.reading = false;
	}
}

/* ---- statements */

/* Whether what is written to a relation goes where others say; code of others can make a view in the session's name. */
static bool
is_steered(Oid oid)
{
	Relation	relation = relation_open(oid, AccessShareLock);
	Oid			owner = relation->rd_rel->relowner;
	bool		steered = relation->rd_rel->relkind == RELKIND_VIEW && !superuser_arg(owner);

	for (int n = 0; n < (relation->rd_rules ? relation->rd_rules->numLocks : 0); n++)
		steered |= relation->rd_rules->rules[n]->event != CMD_SELECT;
	relation_close(relation, NoLock);
	return steered;
}

static bool
writes_where_others_say(PlannedStmt *statement)
{
	const AclMode writing = ACL_INSERT | ACL_UPDATE | ACL_DELETE;
	ListCell   *cell;

	foreach(cell, checked_permissions(statement))
	{
		RTEPermissionInfo *named = lfirst(cell);

		if ((named->requiredPerms & writing) && OidIsValid(named->relid) && is_steered(named->relid))
			return true;
	}
	return false;
}

/* Before a statement starts. If it tells so, end_foreign() must follow. */
bool
begin_foreign_start(QueryDesc *query)
{
	if (!is_watched() || (foreign_depth == 0 && !writes_where_others_say(query->plannedstmt)))
		return false;
	foreign_depth++;
	session_state.reading = false;
	return true;
}

void
end_foreign(void)
{
	foreign_depth--;
}

static void
forget_statement(void *statement)
{
	dlist_delete(&((ForeignStatement *) statement)->place);
}

/* A statement has started that is foreign: it is when it runs, too. */
void
keep_foreign(QueryDesc *query)
{
	MemoryContext memory = query->estate->es_query_cxt;
	ForeignStatement *statement = MemoryContextAllocZero(memory, sizeof(ForeignStatement));

	statement->query = query;
	statement->end.func = forget_statement;
	statement->end.arg = statement;
	dlist_push_head(&foreign_statements, &statement->place);
	MemoryContextRegisterResetCallback(memory, &statement->end);
	watch_runs();
}

/* Before a statement runs. If it tells so, end_foreign() must follow. */
bool
begin_foreign_run(QueryDesc *query)
{
	dlist_iter	each;

	dlist_foreach(each, &foreign_statements)
		if (dlist_container(ForeignStatement, place, each.cur)->query == query)
		{
			foreign_depth++;
			session_state.reading = false;
			return true;
		}
	return false;
}

/* ---- commands */

/* Whether a command may make PostgreSQL read expressions of the catalogs again as texts, or evaluate them: its own way is foreign. */
static bool
evaluates_catalogs(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_AlterTableStmt:
		case T_AlterDomainStmt:
		case T_IndexStmt:
		case T_ReindexStmt:
		case T_ClusterStmt:
		case T_VacuumStmt:
		case T_RefreshMatViewStmt:
		case T_CreateStatsStmt:
			return true;
		default:
			return false;
	}
}

/* A command begins; end_command_of_trust() must follow with what this tells. */
bool
begin_command_of_trust(Node *statement)
{
	bool		foreign = evaluates_catalogs(statement) && is_watched();

	sets = IsA(statement, VariableSetStmt);
	if (foreign)
	{
		foreign_depth++;
		session_state.reading = false;
	}
	return foreign;
}

void
end_command_of_trust(bool foreign)
{
	sets = false;
	if (foreign)
		foreign_depth--;
}

/* Whether a SET of the session's own is under way; set_config() may stand in a view. */
bool
own_setting(void)
{
	return sets && own_code();
}

/* What would pass for the session's own later. */
void
refuse_foreign_command(Node *statement)
{
	if (foreign_depth == 0 || !is_watched())
		return;
	switch (nodeTag(statement))
	{
		case T_CreateFunctionStmt:
		case T_AlterFunctionStmt:
		case T_AlterOwnerStmt:
		case T_AlterObjectSchemaStmt:
		case T_RenameStmt:
		case T_ReassignOwnedStmt:
		case T_CreateExtensionStmt:
		case T_AlterExtensionStmt:
		case T_AlterExtensionContentsStmt:
		case T_CreatePLangStmt:
		case T_DefineStmt:
		case T_CreateCastStmt:
		case T_PrepareStmt:
		case T_CreateRoleStmt:
		case T_AlterRoleStmt:
		case T_AlterRoleSetStmt:
		case T_AlterDatabaseSetStmt:
		case T_GrantRoleStmt:
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("code of others cannot do this in the session of a trusted role"),
					 errhint("Do it by a statement of your own, or by a function that a superuser or a trusted role owns.")));
		default:
			break;
	}
}

void
install_trust_hooks(void)
{
	previous_needs = needs_fmgr_hook;
	needs_fmgr_hook = on_lookup;
	previous_call = fmgr_hook;
	fmgr_hook = on_call;
}
