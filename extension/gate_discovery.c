/*
 * gate_discovery.c: tools find the tables that an analyst may ask about. information_schema shows what one holds a privilege on. In
 * its place analysts read views of the extension, of the same columns, which list what can be asked about as well. All that they
 * add is in pg_catalog for everybody.
 *
 * Views that analysts make keep the name that was written.
 */
#include "discreet.h"

#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

static const char *const stand_ins[][2] = {
	{"tables", "_information_tables"}, {"columns", "_information_columns"},
};

static void
read_in_place(Query *query, RangeTblEntry *entry)
{
	Oid			schema = get_namespace_oid("information_schema", true);

	if (!OidIsValid(schema) || get_rel_namespace(entry->relid) != schema)
		return;
	for (int n = 0; n < lengthof(stand_ins); n++)
	{
		Oid			own = own_schema();
		Oid			stand_in = OidIsValid(own) ? get_relname_relid(stand_ins[n][1], own) : InvalidOid;

		if (!OidIsValid(stand_in) || get_relname_relid(stand_ins[n][0], schema) != entry->relid)
			continue;
		LockRelationOid(stand_in, AccessShareLock);
		if (permission_of(entry, permissions_of(query)) != NULL)
			permission_of(entry, permissions_of(query))->relid = stand_in;
		entry->relid = stand_in;
		return;
	}
}

static bool
find_listings(Node *node, Query *query)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		/* the catalog's own views, and nothing else, have such numbers */
		if (entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_VIEW && entry->relid < FirstNormalObjectId)
			read_in_place(query, entry);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_listings, node, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, find_listings, query);
}

/* Of a query of an analyst. */
void
show_askable(Query *query)
{
	(void) query_tree_walker(query, find_listings, query, QTW_EXAMINE_RTES_BEFORE);
}
