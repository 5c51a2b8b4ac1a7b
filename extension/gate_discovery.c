/*
 * gate_discovery.c: tools find the tables that an analyst may ask about. Listings of the catalog show what one holds a privilege on, or
 * everything. In queries that analysts send:
 *
 * - some views of the catalog are read in place by views of the extension, of the same columns. Those of information_schema list what
 *   can be asked about as well; all that they add is in pg_catalog for every role;
 * - has_table_privilege() and has_any_column_privilege() of a statement that reads the catalog are true for 'select' where the caller
 *   may ask: tools list by them what they offer. Elsewhere they say what PostgreSQL says;
 * - pg_class beside pg_namespace has no rows for the internal tables of the extension, which would be most of a listing.
 *
 * Nothing of this is a privilege. Views that analysts make keep the names that were written.
 */
#include "discreet.h"

#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_oper.h"
#include "parser/parse_relation.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* views, by schema and name, and ours */
static const char *const stand_ins[][3] = {
	{"information_schema", "tables", "_information_tables"}, {"information_schema", "columns", "_information_columns"},
	{"pg_catalog", "pg_tables", "_listed_tables"}, {"pg_catalog", "pg_views", "_listed_views"},
};

static void
read_in_place(Query *query, RangeTblEntry *entry)
{
	Oid			schema = get_rel_namespace(entry->relid);
	Oid			own = own_schema();

	for (int n = 0; n < lengthof(stand_ins); n++)
	{
		Oid			stand_in;

		if (schema != get_namespace_oid(stand_ins[n][0], true) ||
			get_relname_relid(stand_ins[n][1], schema) != entry->relid)
			continue;
		stand_in = OidIsValid(own) ? get_relname_relid(stand_ins[n][2], own) : InvalidOid;
		if (!OidIsValid(stand_in))
			return;
		LockRelationOid(stand_in, AccessShareLock);
		if (permission_of(entry, permissions_of(query)) != NULL)
			permission_of(entry, permissions_of(query))->relid = stand_in;
		entry->relid = stand_in;
		return;
	}
}

/* Of pg_class: relnamespace <> ours OR relname NOT LIKE '\_%', before any condition of the query that could tell. */
static void
leave_out_internal(RangeTblEntry *entry, int place)
{
	Oid			own = own_schema();
	ParseState *state = make_parsestate(NULL);
	Var		   *schema = makeVar(place, Anum_pg_class_relnamespace, OIDOID, -1, InvalidOid, 0);
	Var		   *name = makeVar(place, Anum_pg_class_relname, NAMEOID, -1, C_COLLATION_OID, 0);
	Const	   *ours = makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(own), false, true);
	Const	   *pattern = makeConst(TEXTOID, -1, C_COLLATION_OID, -1, CStringGetTextDatum("\\_%"), false, false);
	OpExpr	   *elsewhere,
			   *shown;

	if (!OidIsValid(own))
		return;
	elsewhere = (OpExpr *) make_op(state, list_make2(makeString("pg_catalog"), makeString("<>")), (Node *) schema,
								   (Node *) ours, NULL, -1);
	shown = (OpExpr *) make_op(state, list_make2(makeString("pg_catalog"), makeString("!~~")), (Node *) name,
							   (Node *) pattern, NULL, -1);
	shown->inputcollid = C_COLLATION_OID;
	free_parsestate(state);
	entry->securityQuals = lappend(entry->securityQuals,
								   makeBoolExpr(OR_EXPR, list_make2(elsewhere, shown), -1));
}

/* The relation that is asked for, as an oid; NULL: not such a function. */
static Node *
listed_relation(FuncExpr *call, Node **asker)
{
	Node	   *relation;

	if (list_length(call->args) < 2)
		return NULL;
	relation = list_length(call->args) == 3 ? lsecond(call->args) : linitial(call->args);
	*asker = list_length(call->args) == 3 ? linitial(call->args) : NULL;
	switch (call->funcid)
	{
		case F_HAS_TABLE_PRIVILEGE_NAME_OID_TEXT:
		case F_HAS_TABLE_PRIVILEGE_OID_TEXT:
		case F_HAS_ANY_COLUMN_PRIVILEGE_NAME_OID_TEXT:
		case F_HAS_ANY_COLUMN_PRIVILEGE_OID_TEXT:
			return copyObject(relation);
		case F_HAS_TABLE_PRIVILEGE_NAME_TEXT_TEXT:
		case F_HAS_TABLE_PRIVILEGE_TEXT_TEXT:
		case F_HAS_ANY_COLUMN_PRIVILEGE_NAME_TEXT_TEXT:
		case F_HAS_ANY_COLUMN_PRIVILEGE_TEXT_TEXT:
			relation = (Node *) makeFuncExpr(F_TO_REGCLASS, REGCLASSOID, list_make1(copyObject(relation)), InvalidOid,
											 DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
			return (Node *) makeRelabelType((Expr *) relation, OIDOID, -1, InvalidOid, COERCE_IMPLICIT_CAST);
		default:
			return NULL;
	}
}

/* has_table_privilege(…) becomes (has_table_privilege(…) OR discreet._asks(…)); queries below are come to by themselves. */
static Node *
or_may_ask(Node *node, void *context)
{
	Oid			types[] = {OIDOID, TEXTOID, TEXTOID};
	Node	   *relation,
			   *asker,
			   *asks;

	if (node == NULL || IsA(node, Query))
		return node;
	if (!IsA(node, FuncExpr) || (relation = listed_relation((FuncExpr *) node, &asker)) == NULL ||
		!OidIsValid(own_function("_asks", lengthof(types), types)))
		return expression_tree_mutator(node, or_may_ask, context);
	asker = asker == NULL ? (Node *) makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID) :
		(Node *) makeFuncExpr(F_TEXT_NAME, TEXTOID, list_make1(copyObject(asker)), DEFAULT_COLLATION_OID, C_COLLATION_OID,
							  COERCE_IMPLICIT_CAST);
	asks = (Node *) makeFuncExpr(own_function("_asks", lengthof(types), types), BOOLOID,
								 list_make3(relation, copyObject(llast(((FuncExpr *) node)->args)), asker), InvalidOid,
								 DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
	return (Node *) makeBoolExpr(OR_EXPR, list_make2(node, asks), -1);
}

/* Whether a query lists relations by the names of schemas, as tools do for people. pg_dump does not, and wants all of pg_class. */
static bool
names_schemas(Query *query)
{
	ListCell   *cell;

	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_RELATION &&
			lfirst_node(RangeTblEntry, cell)->relid == NamespaceRelationId)
			return true;
	return false;
}

/* What a statement reads of the catalog: the catalog's own tables and views, and nothing else, have such numbers. */
static bool
shows_catalog(Node *node, void *context)
{
	ListCell   *cell;
	bool		reads = false;

	if (node == NULL || !IsA(node, Query))
		return node != NULL && expression_tree_walker(node, shows_catalog, context);
	foreach(cell, ((Query *) node)->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind != RTE_RELATION || entry->relid >= FirstNormalObjectId)
			continue;
		reads = true;
		if (entry->relkind == RELKIND_VIEW)
			read_in_place((Query *) node, entry);
		else if (entry->relid == RelationRelationId && names_schemas((Query *) node))
			leave_out_internal(entry, foreach_current_index(cell) + 1);
	}
	/* all parts are come to */
	*(bool *) context |= reads;
	return query_tree_walker((Query *) node, shows_catalog, context, 0);
}

static bool
show_by_privilege(Node *node, void *context)
{
	if (node == NULL || !IsA(node, Query))
		return node != NULL && expression_tree_walker(node, show_by_privilege, context);
	(void) query_tree_mutator((Query *) node, or_may_ask, NULL,
							  QTW_DONT_COPY_QUERY | QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	return query_tree_walker((Query *) node, show_by_privilege, context, 0);
}

/* Of a query of an analyst. */
void
show_askable(Query *query)
{
	bool		reads_catalog = false;

	(void) shows_catalog((Node *) query, &reads_catalog);
	if (reads_catalog && query->commandType == CMD_SELECT)
		(void) show_by_privilege((Node *) query, NULL);
}
