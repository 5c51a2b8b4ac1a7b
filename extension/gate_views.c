/*
 * gate_views.c: views and materialized views that analysts make over protected tables.
 *
 * A view of rows stays a view: a question about it is one about the tables below, with rights and hidden columns as they are
 * then. So it can be a layer of others. A view of answers becomes one over discreet.query(), as every SELECT does. What the
 * gate would refuse in every question is refused when the view is made, with the reason.
 *
 * A materialized view is filled in a security-restricted operation, so that a role that refreshes another's does not lend rights
 * to its code. There no role may ask, except the owner whose session it is.
 */
#include "discreet.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static bool making_view = false;
static bool filling_own = false;

bool
begin_view(Node *command)
{
	bool		outer = making_view;

	making_view = IsA(command, ViewStmt);
	return outer;
}

void
end_view(bool outer)
{
	making_view = outer;
}

bool
is_making_view(void)
{
	return making_view;
}

static void
check_definition(const char *question)
{
	Oid			type = TEXTOID;

	(void) OidFunctionCall1(own_function("_check_view", 1, &type), CStringGetTextDatum(question));
}

/* Whether this is the query of a view of rows, which is left as it is; one that the gate would never let be asked is refused. */
bool
keeps_view(Query *query, List *guarded)
{
	if (!making_view || query->commandType != CMD_SELECT || reads_answers_only(query, guarded))
		return false;
	check_definition(psprintf("SELECT pg_catalog.count(*) FROM (%s) AS view", canonical_text(query)));
	return true;
}

/* Questions within a query whose texts are known. */
static bool
check_questions_of_view(Node *node, Oid *schema)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_questions_of_view, (void *) schema, 0);
	if (IsA(node, FuncExpr) && get_func_namespace(((FuncExpr *) node)->funcid) == *schema &&
		strcmp(get_func_name(((FuncExpr *) node)->funcid), "query") == 0)
	{
		List	   *arguments = ((FuncExpr *) node)->args;
		Const	   *parameters = lthird(arguments);

		/* with parameters it is another question at every moment */
		if (IsA(linitial(arguments), Const) && IsA(parameters, Const) && parameters->constisnull)
			check_definition(TextDatumGetCString(linitial_node(Const, arguments)->constvalue));
	}
	return expression_tree_walker(node, check_questions_of_view, (void *) schema);
}

/* The questions that a view is made of. */
void
check_view(Query *query)
{
	Oid			schema = own_schema();

	if (making_view && OidIsValid(schema))
		(void) check_questions_of_view((Node *) query, &schema);
}

/* What a materialized view is refreshed by is what it was filled by: the question, and not the rows. */
void
keep_materialized(Query *statement, Query *query)
{
	CreateTableAsStmt *command = (CreateTableAsStmt *) statement->utilityStmt;

	if (command != NULL && IsA(command, CreateTableAsStmt) && command->objtype == OBJECT_MATVIEW && !command->is_select_into &&
		command->into->viewQuery != NULL && castNode(Query, command->query) == query)
		command->into->viewQuery = (void *) copyObject(query);	/* a Node before version 18 */
}

/* Whether a command fills a materialized view of the role whose session it is; before it runs. */
static bool
fills_own(Node *command)
{
	RangeVar   *name;
	Oid			relation;

	if (IsA(command, CreateTableAsStmt))
		return ((CreateTableAsStmt *) command)->objtype == OBJECT_MATVIEW;
	if (!IsA(command, RefreshMatViewStmt))
		return false;
	name = ((RefreshMatViewStmt *) command)->relation;
	relation = RangeVarGetRelid(name, NoLock, true);
	if (OidIsValid(relation))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
		bool		own = HeapTupleIsValid(tuple) && ((Form_pg_class) GETSTRUCT(tuple))->relowner == GetUserId();

		if (HeapTupleIsValid(tuple))
			ReleaseSysCache(tuple);
		return own;
	}
	return false;
}

bool
begin_materialized(Node *command)
{
	bool		outer = filling_own;

	/*
	 * Within a function by the rights of another role, or an operation that is restricted already, nothing is opened. Other
	 * commands close it: ANALYZE within a materialized view may run code of others.
	 */
	filling_own = !InSecurityRestrictedOperation() && GetUserId() == GetOuterUserId() && fills_own(command);
	return outer;
}

void
end_materialized(bool outer)
{
	filling_own = outer;
}

/* Whether code of another role may run in this session. */
bool
is_restricted(void)
{
	return InSecurityRestrictedOperation() && !filling_own;
}
