/*
 * mls_triggers.c: triggers and rules of others on multilevel tables do not run.
 *
 * They would run in sessions of every label that writes, and do there what they like. Who holds TRIGGER can make one, and no
 * grant is refused; so a statement runs with the triggers that _multilevel_trigger lists, each with the function that was
 * made for it, and no others. COPY FROM and TRUNCATE run what the catalog of PostgreSQL has, so they are refused where
 * that is more. A view over a multilevel table may have triggers of its owner; with one of others it is not written to.
 */
#include "discreet.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "rewrite/prs2lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static bool
is_multilevel(Oid relation)
{
	return list_member_oid(multilevel_relations(false), relation) || list_member_oid(multilevel_relations(true), relation);
}

/* Whether a function is a superuser's or of who owns the relation, and has the name, if there is one to have. */
static bool
is_function_of(Relation relation, Oid function, const char *name)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc known;
	bool		is_it;

	if (!HeapTupleIsValid(tuple))
		return false;
	known = (Form_pg_proc) GETSTRUCT(tuple);
	is_it = (name == NULL || strcmp(NameStr(known->proname), name) == 0) &&
		(known->proowner == relation->rd_rel->relowner || superuser_arg(known->proowner));
	ReleaseSysCache(tuple);
	return is_it;
}

/* What discreet keeps of a trigger of its own; NULL for one of others. A condition would be the code of others. */
static const OwnTrigger *
own_trigger(Relation relation, const Trigger *trigger)
{
	const OwnTrigger *own = multilevel_trigger(RelationGetRelid(relation), trigger->tgname);

	return own != NULL && trigger->tgqual == NULL && is_function_of(relation, trigger->tgfoid, NameStr(own->function)) ?
		own : NULL;
}

static void
keep_own(Relation relation, TriggerDesc *triggers)
{
	bool		is_view = relation->rd_rel->relkind == RELKIND_VIEW;
	int			writing = 0;

	for (int n = 0; n < (triggers ? triggers->numtriggers : 0); n++)
	{
		Trigger    *trigger = &triggers->triggers[n];
		const OwnTrigger *own = own_trigger(relation, trigger);

		/* in the copy that the statement has; whatever session_replication_role is */
		trigger->tgenabled = own || (!is_view && is_history_trigger(trigger)) ? TRIGGER_FIRES_ALWAYS : TRIGGER_DISABLED;
		writing += own && own->writes && TRIGGER_FOR_INSTEAD(trigger->tgtype) && TRIGGER_FOR_ROW(trigger->tgtype);
	}
	if (is_view && writing != 3)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("multilevel table %s has lost a trigger of discreet", RelationGetRelationName(relation)),
				 errhint("CREATE TRIGGER … INSTEAD OF … FOR EACH ROW anew: discreet._multilevel_trigger has its name and function.")));
}

pg_noreturn static void
refuse_trigger(Relation relation, const Trigger *trigger, const char *command)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s would run trigger \"%s\" of %s %s, which is not %s", command, trigger->tgname,
					is_multilevel(RelationGetRelid(relation)) ? "multilevel table" : "a view over a multilevel table,",
					RelationGetRelationName(relation),
					is_multilevel(RelationGetRelid(relation)) ? "discreet's" : "its owner's"),
			 errhint("A superuser can drop it: DROP TRIGGER %s ON %s.", quote_identifier(trigger->tgname),
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
												RelationGetRelationName(relation)))));
}

/* To disable an INSTEAD OF trigger would be to lose what is written. A condition may call functions of any role. */
static void
refuse_others_of_view(Relation view, const TriggerDesc *triggers, const char *command)
{
	for (int n = 0; n < (triggers ? triggers->numtriggers : 0); n++)
	{
		const Trigger *trigger = &triggers->triggers[n];

		if (trigger->tgqual != NULL || !is_function_of(view, trigger->tgfoid, NULL))
			refuse_trigger(view, trigger, command);
	}
}

/* After a statement has started, before anything fires. */
void
keep_own_triggers(EState *state)
{
	ListCell   *cell;

	foreach(cell, state->es_opened_result_relations)
	{
		ResultRelInfo *target = (ResultRelInfo *) lfirst(cell);

		if (is_multilevel(RelationGetRelid(target->ri_RelationDesc)))
			keep_own(target->ri_RelationDesc, target->ri_TrigDesc);
		else if (target->ri_RelationDesc->rd_rel->relkind == RELKIND_VIEW &&
				 view_reaches_multilevel(RelationGetRelid(target->ri_RelationDesc)))
			refuse_others_of_view(target->ri_RelationDesc, target->ri_TrigDesc, "the statement");
	}
}

/*
 * Before a statement starts: what a rule makes of one that writes may be a SELECT. The hidden table is not locked yet when
 * the statement names the view only.
 */
void
refuse_rules(Oid oid)
{
	Relation	relation = table_open(oid, AccessShareLock);
	RuleLock   *rules = relation->rd_rules;

	for (int n = 0; n < (rules ? rules->numLocks : 0); n++)
		if (rules->rules[n]->event != CMD_SELECT)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("multilevel table %s has a rule and cannot be used", RelationGetRelationName(relation)),
					 errhint("A superuser can drop it: see check_installation().")));
	table_close(relation, NoLock);
}

static void
refuse_foreign_triggers(const RangeVar *name, LOCKMODE lock, const char *command)
{
	Oid			oid = RangeVarGetRelid(name, lock, true);
	Relation	relation;

	if (!OidIsValid(oid) || !(is_multilevel(oid) || view_reaches_multilevel(oid)))
		return;
	relation = table_open(oid, NoLock);
	if (!is_multilevel(oid))
		refuse_others_of_view(relation, relation->trigdesc, command);
	else
	{
		for (int n = 0; n < (relation->trigdesc ? relation->trigdesc->numtriggers : 0); n++)
			if (own_trigger(relation, &relation->trigdesc->triggers[n]) == NULL &&
				!is_history_trigger(&relation->trigdesc->triggers[n]))
				refuse_trigger(relation, &relation->trigdesc->triggers[n], command);
		if (relation->rd_rel->relkind == RELKIND_VIEW)
			refuse_rules(oid);
	}
	table_close(relation, NoLock);
}

static void
look_at_new_trigger(const CreateTrigStmt *statement)
{
	Oid			relation = RangeVarGetRelid(statement->relation, NoLock, true);

	if (!OidIsValid(relation) || !is_multilevel(relation))
		return;
	if (multilevel_trigger(relation, statement->trigname) == NULL &&
		strcmp(NameListToString(statement->funcname), "discreet._history_note") != 0)
		ereport(WARNING,
				(errmsg("trigger \"%s\" will not run: %s is a multilevel table", statement->trigname, get_rel_name(relation)),
				 errhint("It would run at every label. discreet.add_rule() judges what is written.")));
	else if (multilevel_trigger(relation, statement->trigname) != NULL && statement->replace)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("trigger \"%s\" of multilevel table %s belongs to discreet and cannot be replaced", statement->trigname,
						get_rel_name(relation)),
				 errhint("Take another name.")));
}

/* Before a utility statement. */
void
look_at_triggers(Node *statement)
{
	ListCell   *cell;

	if (!(IsA(statement, CreateTrigStmt) || IsA(statement, CopyStmt) || IsA(statement, TruncateStmt)) ||
		multilevel_relations(false) == NIL)
		return;
	if (IsA(statement, CreateTrigStmt))
		look_at_new_trigger((CreateTrigStmt *) statement);
	else if (IsA(statement, CopyStmt))
	{
		if (((CopyStmt *) statement)->is_from)
			refuse_foreign_triggers(((CopyStmt *) statement)->relation, RowExclusiveLock, "COPY");
	}
	else
		foreach(cell, ((TruncateStmt *) statement)->relations)
			refuse_foreign_triggers(lfirst_node(RangeVar, cell), NoLock, "TRUNCATE");
}
