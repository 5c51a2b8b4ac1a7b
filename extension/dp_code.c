/*
 * dp_code.c: which code may stand beside dp_ aggregates, and which below them.
 */
#include "dp.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static bool
is_own_function(Oid function)
{
	Oid			schema = get_func_namespace(function);

	return OidIsValid(schema) && schema == own_schema();
}

bool
is_dp_aggregate(Oid function)
{
	char	   *name = get_func_name(function);

	return name != NULL && strncmp(name, "dp_", 3) == 0 && is_own_function(function);
}

/*
 * Built-in code that looks at its arguments and at settings only: IMMUTABLE, or STABLE on dates and times, where it is
 * the time zone that matters. Other stable functions look at tables and statistics, and code of users may do anything.
 */
bool
looks_at_arguments_only(Oid function)
{
	/* stable because of settings, which do not change under a running aggregate */
	static const char *const names[] = {"enum_in", "enum_out", "concat", "concat_ws", "format", "to_char"};
	Oid		   *types;
	int			n;
	Oid			result;
	bool		about_time;
	char		volatility = func_volatile(function);

	if (function >= FirstNormalObjectId)
		return is_dp_aggregate(function) ||
			(volatility == PROVOLATILE_IMMUTABLE && is_own_function(function));
	if (volatility != PROVOLATILE_STABLE)
		return volatility == PROVOLATILE_IMMUTABLE;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(get_func_name(function), names[i]) == 0)
			return true;
	result = get_func_signature(function, &types, &n);
	about_time = TypeCategory(result) == TYPCATEGORY_DATETIME || TypeCategory(result) == TYPCATEGORY_TIMESPAN;
	for (int i = 0; i < n; i++)
	{
		about_time |= TypeCategory(types[i]) == TYPCATEGORY_DATETIME;
		if (types[i] == OIDOID || strncmp(format_type_be(types[i]), "reg", 3) == 0)
			return false;
	}
	return about_time;
}

/* Anywhere in the statement: what it needs to show its answer and to write it down. */
bool
is_harmless_anywhere(Oid function)
{
	static const char *const names[] = {"nextval", "random", "clock_timestamp", "timeofday", "gen_random_uuid"};

	if (function >= FirstNormalObjectId)
		return looks_at_arguments_only(function);
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(get_func_name(function), names[i]) == 0)
			return true;
	return func_volatile(function) != PROVOLATILE_VOLATILE;
}

/*
 * Before planning, since the planner evaluates functions of constants, and drops conditions that an index implies: a
 * statement with dp_ aggregates runs no code of users and changes no setting while they are computed.
 */
static bool
finds_dp_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, finds_dp_aggregate, context, 0);
	if (IsA(node, Aggref) && is_dp_aggregate(((Aggref *) node)->aggfnoid))
		return true;
	return expression_tree_walker(node, finds_dp_aggregate, context);
}

static bool
refuse_function(Oid function, void *context)
{
	if (!is_harmless_anywhere(function))
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("dp_ aggregates cannot bound one person's influence through function %s",
						get_func_name(function)),
				 errhint("Ask through discreet.query(), which bounds what one person can change. Beside dp_ aggregates "
						 "only built-in functions that change nothing can stand.")));
	return false;
}

static bool
refuse_functions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		ListCell   *cell;

		foreach(cell, ((Query *) node)->rtable)
			if (list_member_oid(multilevel_relations(false), lfirst_node(RangeTblEntry, cell)->relid))
				ereport(ERROR,
						(errcode(ERRCODE_REFUSED_SHAPE),
						 errmsg("dp_ aggregates do not read multilevel tables, where a person may have several versions"),
						 errhint("Ask through discreet.query(), which bounds what one person can change.")));
		return query_tree_walker((Query *) node, refuse_functions, context, 0);
	}
	check_functions_in_node(node, refuse_function, context);
	return expression_tree_walker(node, refuse_functions, context);
}

/* Most statements have no aggregate, nor another query inside that could have one: they pay for no more than this look. */
pg_attribute_hot bool
may_aggregate(Query *query)
{
	ListCell   *cell;

	if (query->hasAggs || query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			return true;
	return false;
}

/* Before planning, of a query that may aggregate. */
void
refuse_code_beside_aggregates(Query *query)
{
	if (finds_dp_aggregate((Node *) query, NULL))
		refuse_functions((Node *) query, NULL);
}
