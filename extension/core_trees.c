/*
 * core_trees.c: what a tree in the catalogs holds (pg_node_tree: of an index, a CHECK, a default, a view). PostgreSQL's own
 * reader makes nodes of it, and its own walkers visit them; nothing looks at the text.
 */
#include "discreet.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/bitmapset.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

PG_FUNCTION_INFO_V1(discreet_tree_columns);
PG_FUNCTION_INFO_V1(discreet_tree_calls);
PG_FUNCTION_INFO_V1(discreet_tree_is_union);
PG_FUNCTION_INFO_V1(discreet_tree_conditions);

static Node *
tree_of(Datum written)
{
	return stringToNode(TextDatumGetCString(written));
}

/* The columns that the tree of an index or a CHECK names, by their numbers; 0 is the whole row. */
Datum
discreet_tree_columns(PG_FUNCTION_ARGS)
{
	Bitmapset  *found = NULL;
	ArrayBuildState *columns = initArrayResult(INT2OID, CurrentMemoryContext, false);
	int			member = -1;

	pull_varattnos(tree_of(PG_GETARG_DATUM(0)), 1, &found);
	while ((member = bms_next_member(found, member)) >= 0)
		accumArrayResult(columns, Int16GetDatum(member + FirstLowInvalidHeapAttributeNumber), false, INT2OID,
						 CurrentMemoryContext);
	PG_RETURN_DATUM(makeArrayResult(columns, CurrentMemoryContext));
}

static bool
list_calls(Node *node, void *context)
{
	List	  **calls = context;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
		*calls = list_append_unique_oid(*calls, ((FuncExpr *) node)->funcid);
	else if (IsA(node, Aggref))
		*calls = list_append_unique_oid(*calls, ((Aggref *) node)->aggfnoid);
	else if (IsA(node, WindowFunc))
		*calls = list_append_unique_oid(*calls, ((WindowFunc *) node)->winfnoid);
	else if (IsA(node, Query))
		return query_tree_walker((Query *) node, list_calls, context, 0);
	return expression_tree_walker(node, list_calls, context);
}

/* The functions that a tree calls by their names. Those of operators and casts by text are not among them. */
Datum
discreet_tree_calls(PG_FUNCTION_ARGS)
{
	List	   *calls = NIL;
	ListCell   *cell;
	ArrayBuildState *functions = initArrayResult(OIDOID, CurrentMemoryContext, false);

	(void) list_calls(tree_of(PG_GETARG_DATUM(0)), &calls);
	foreach(cell, calls)
		accumArrayResult(functions, ObjectIdGetDatum(lfirst_oid(cell)), false, OIDOID, CurrentMemoryContext);
	PG_RETURN_DATUM(makeArrayResult(functions, CurrentMemoryContext));
}

/* Whether the rule of a view is a UNION, INTERSECT or EXCEPT. */
Datum
discreet_tree_is_union(PG_FUNCTION_ARGS)
{
	Node	   *actions = tree_of(PG_GETARG_DATUM(0));

	if (!IsA(actions, List) || list_length((List *) actions) != 1)
		elog(ERROR, "not the rule of a view");
	PG_RETURN_BOOL(linitial_node(Query, (List *) actions)->setOperations != NULL);
}

/* A condition about one column: `seen` its value, and `other` things, of which it may not be. */
typedef struct Condition
{
	AttrNumber	attnum;
	bool		seen;
	bool		other;
} Condition;

static bool
is_users_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

/* The condition with VALUE, as in the CHECK of a domain, in the place of the column. */
static Node *
with_value(Node *node, void *context)
{
	Condition  *about = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *column = (Var *) node;
		CoerceToDomainValue *value = makeNode(CoerceToDomainValue);

		about->seen |= column->varattno == about->attnum;
		about->other |= column->varattno != about->attnum || column->varlevelsup != 0;
		value->typeId = column->vartype;
		value->typeMod = column->vartypmod;
		value->collation = column->varcollid;
		value->location = -1;
		return (Node *) value;
	}
	about->seen |= IsA(node, CoerceToDomainValue);
	/* printing a constant runs the output function of its type: no code of users */
	about->other |= IsA(node, Const) && ((Const *) node)->consttype >= FirstNormalObjectId
		&& !type_is_enum(((Const *) node)->consttype);
	about->other |= check_functions_in_node(node, is_users_function, NULL);
	return expression_tree_mutator(node, with_value, context);
}

static void
add_conditions(Node *node, AttrNumber attnum, ArrayBuildState *texts)
{
	if (is_andclause(node))
	{
		ListCell   *cell;

		foreach(cell, ((BoolExpr *) node)->args)
			add_conditions(lfirst(cell), attnum, texts);
	}
	else
	{
		Condition	about = {attnum, false, false};
		Node	   *condition = with_value(node, &about);

		if (about.seen && !about.other)
			accumArrayResult(texts, CStringGetTextDatum(deparse_expression(condition, NIL, false, false)), false, TEXTOID,
							 CurrentMemoryContext);
	}
}

/*
 * What a CHECK says of one column alone, as texts of conditions that all hold, with VALUE for the column; 0 of a domain.
 * Unlike pg_get_expr, this locks no table.
 */
Datum
discreet_tree_conditions(PG_FUNCTION_ARGS)
{
	ArrayBuildState *texts = initArrayResult(TEXTOID, CurrentMemoryContext, false);

	add_conditions(tree_of(PG_GETARG_DATUM(0)), PG_GETARG_INT16(1), texts);
	PG_RETURN_DATUM(makeArrayResult(texts, CurrentMemoryContext));
}
