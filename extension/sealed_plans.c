/*
 * sealed_plans.c: what the planner is told about sealed columns, and what its plans are told about new rows.
 *
 * Before planning, `column = value` on a searchable column becomes `ciphertext = _seal_search(value)`, which an index can answer, and
 * likewise IN lists, = ANY and joins of two columns under one key. A session that does not have the key sees NULLs, which equal
 * nothing: _seal_search() is NULL then, and a join has one more condition. Casts that only repeat the length of a column go.
 *
 * After planning, an INSERT computes the row first, with the id that its default gives, and seals with this id in one step above.
 */
#include "sealed.h"

#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* The call of _unseal() that an expression is, below casts that change no value; NULL when it is none. */
FuncExpr *
unsealing(Node *node)
{
	Oid			function = unseal_function();

	while (node != NULL && OidIsValid(function))
	{
		if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == function)
		{
			FuncExpr   *call = (FuncExpr *) node;

			return list_length(call->args) == 4 && IsA(linitial(call->args), Var) && IsA(lthird(call->args), Const) &&
				!((Const *) lthird(call->args))->constisnull ? call : NULL;
		}
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else if (IsA(node, CoerceToDomain))
			node = (Node *) ((CoerceToDomain *) node)->arg;
		else if (IsA(node, FuncExpr) && exprIsLengthCoercion(node, NULL))
			node = linitial(((FuncExpr *) node)->args);
		else
			return NULL;
	}
	return NULL;
}

static const SealedColumn *
column_of(FuncExpr *call)
{
	return sealed_column(DatumGetUUIDP(((Const *) lthird(call->args))->constvalue));
}

/* ---- equality */

/* A searchable column in a condition: the ciphertext, its own id, its type. */
typedef struct Searched
{
	Expr	   *sealed;
	Const	   *id;
	const SealedColumn *column;
	Oid			type;
	/* where the column is one of a view that is not written into the query yet */
	RangeTblEntry *view;
	Var		   *from;
	FuncExpr   *call;
} Searched;

static Node *
below_relabels(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

static bool
is_searched(Node *node, Query *query, Searched *searched)
{
	FuncExpr   *call;

	memset(searched, 0, sizeof(Searched));
	node = below_relabels(node);
	if (IsA(node, Var))
	{
		Var		   *from = (Var *) node;
		RangeTblEntry *entry;
		TargetEntry *target;

		if (from->varlevelsup != 0 || from->varattno < 1)
			return false;
		entry = rt_fetch(from->varno, query->rtable);
		/* a view of ours: it reads one table, as it is */
		if (entry->rtekind != RTE_SUBQUERY || entry->subquery->commandType != CMD_SELECT ||
			list_length(entry->subquery->jointree->fromlist) != 1 ||
			!IsA(linitial(entry->subquery->jointree->fromlist), RangeTblRef) ||
			!is_sealed_base(rt_fetch(linitial_node(RangeTblRef, entry->subquery->jointree->fromlist)->rtindex,
									 entry->subquery->rtable)->relid) ||
			entry->subquery->distinctClause != NIL || entry->subquery->groupClause != NIL ||
			entry->subquery->setOperations != NULL || entry->subquery->hasAggs || entry->subquery->hasWindowFuncs)
			return false;
		target = get_tle_by_resno(entry->subquery->targetList, from->varattno);
		call = target == NULL ? NULL : unsealing((Node *) target->expr);
		searched->view = entry;
		searched->from = from;
	}
	else
		call = unsealing(node);
	if (call == NULL || ((Var *) linitial(call->args))->varlevelsup != 0)
		return false;
	searched->call = call;
	searched->column = column_of(call);
	searched->id = lthird(call->args);
	searched->type = getBaseType(call->funcresulttype);
	return searched->column != NULL && searched->column->searchable;
}

/* The ciphertext; a view gets one more column for it. */
static Node *
ciphertext(Searched *searched)
{
	Query	   *below;
	TargetEntry *added;
	ListCell   *cell;

	if (searched->view == NULL)
		return copyObject(linitial(searched->call->args));
	below = searched->view->subquery;
	foreach(cell, below->targetList)
		if (equal(lfirst_node(TargetEntry, cell)->expr, linitial(searched->call->args)))
			break;
	if (cell != NULL)
		added = lfirst(cell);
	else
	{
		added = makeTargetEntry(copyObject(linitial(searched->call->args)), list_length(below->targetList) + 1,
								psprintf("_sealed%d", list_length(below->targetList) + 1), false);
		below->targetList = lappend(below->targetList, added);
		searched->view->eref->colnames = lappend(searched->view->eref->colnames, makeString(pstrdup(added->resname)));
	}
	{
		Var		   *var = makeVar(searched->from->varno, added->resno, BYTEAOID, -1, InvalidOid, 0);

		same_nulling(var, searched->from);
		return (Node *) var;
	}
}

/* Types that have the same bytes for equal values, as sealed_values.c makes them. */
static bool
same_bytes(Oid one, Oid other)
{
	one = getBaseType(one);
	other = getBaseType(other);
#define IS_WHOLE(type) ((type) == INT2OID || (type) == INT4OID || (type) == INT8OID)
#define IS_TEXT(type) ((type) == TEXTOID || (type) == VARCHAROID)
	return one == other || (IS_WHOLE(one) && IS_WHOLE(other)) || (IS_TEXT(one) && IS_TEXT(other));
}

/* Whether an operator is the equality of a type, and compares bytes. */
static bool
is_equality(Oid operator, Oid collation)
{
	ListCell   *cell;

	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		return false;
	foreach(cell, comparisons_of(operator))
		if (strategy_of(lfirst(cell)) == BTEqualStrategyNumber)
			return true;
	return false;
}

static Expr *
equal_bytes(Node *one, Node *other)
{
	return make_opclause(ByteaEqualOperator, BOOLOID, false, (Expr *) one, (Expr *) other, InvalidOid, InvalidOid);
}

static Node *
searched_value(Searched *searched, Node *value)
{
	return (Node *) makeFuncExpr(search_function(), BYTEAOID, list_make2(value, copyObject(searched->id)), InvalidOid,
								 exprCollation(value), COERCE_EXPLICIT_CALL);
}

static Node *
search_for(OpExpr *condition, Query *query)
{
	Searched	left;
	Searched	right;
	bool		searches_left;
	bool		searches_right;

	if (list_length(condition->args) != 2 || !is_equality(condition->opno, condition->inputcollid))
		return NULL;
	searches_left = is_searched(linitial(condition->args), query, &left);
	searches_right = is_searched(lsecond(condition->args), query, &right);
	if (searches_left && searches_right)
	{
		Expr	   *open;

		if (strcmp(NameStr(left.column->key), NameStr(right.column->key)) != 0 || !same_bytes(left.type, right.type))
			return NULL;
		open = (Expr *) makeFuncExpr(is_open_function(), BOOLOID, list_make1(copyObject(left.id)), InvalidOid, InvalidOid,
									 COERCE_EXPLICIT_CALL);
		return (Node *) make_andclause(list_make2(equal_bytes(ciphertext(&left), ciphertext(&right)), open));
	}
	if (searches_left || searches_right)
	{
		Searched   *searched = searches_left ? &left : &right;
		Node	   *value = searches_left ? lsecond(condition->args) : linitial(condition->args);

		if (!same_bytes(searched->type, exprType(value)) || contain_volatile_functions(value))
			return NULL;
		return (Node *) equal_bytes(ciphertext(searched), searched_value(searched, value));
	}
	return NULL;
}

static Node *
search_for_any(ScalarArrayOpExpr *condition, Query *query)
{
	Searched	searched;
	Node	   *values = lsecond(condition->args);
	ScalarArrayOpExpr *search;
	Oid			element = get_element_type(exprType(values));

	if (!condition->useOr || !is_equality(condition->opno, condition->inputcollid) ||
		!is_searched(linitial(condition->args), query, &searched) || !OidIsValid(element) ||
		!same_bytes(searched.type, element) || contain_volatile_functions(values))
		return NULL;
	search = makeNode(ScalarArrayOpExpr);
	search->opno = ByteaEqualOperator;
	search->opfuncid = F_BYTEAEQ;
	search->useOr = true;
	search->args = list_make2(ciphertext(&searched),
							  makeFuncExpr(search_many_function(), BYTEAARRAYOID,
										   list_make2(values, copyObject(searched.id)), InvalidOid,
										   exprCollation(values), COERCE_EXPLICIT_CALL));
	search->location = -1;
	return (Node *) search;
}

static Node *
search_conditions(Node *node, Query *query)
{
	Node	   *found = NULL;

	if (node == NULL || IsA(node, SubLink))
		return node;
	if (IsA(node, OpExpr))
		found = search_for((OpExpr *) node, query);
	else if (IsA(node, ScalarArrayOpExpr))
		found = search_for_any((ScalarArrayOpExpr *) node, query);
	else if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop != NOT_EXPR)
		return expression_tree_mutator(node, search_conditions, (void *) query);
	return found != NULL ? found : node;
}

static void
search_from(Node *node, Query *query)
{
	ListCell   *cell;

	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		foreach(cell, from->fromlist)
			search_from(lfirst(cell), query);
		from->quals = search_conditions(from->quals, query);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		search_from(join->larg, query);
		search_from(join->rarg, query);
		join->quals = search_conditions(join->quals, query);
	}
}

/* ---- casts */

/* A value of numeric(10, 2) was one when it was sealed: its cast to numeric(10, 2) in the view is only a name. */
static Node *
drop_casts(Node *node, void *argument)
{
	int32		typmod;

	if (node == NULL)
		return NULL;
	if (IsA(node, FuncExpr) && exprIsLengthCoercion(node, &typmod))
	{
		Node	   *inner = linitial(((FuncExpr *) node)->args);

		if (IsA(inner, FuncExpr) && ((FuncExpr *) inner)->funcid == unseal_function() && unsealing(inner) != NULL &&
			exprTypmod(list_nth(((FuncExpr *) inner)->args, 3)) == typmod)
			return (Node *) makeRelabelType((Expr *) inner, exprType(node), typmod, exprCollation(node),
											COERCE_EXPLICIT_CAST);
	}
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, drop_casts, argument, QTW_DONT_COPY_QUERY);
	return expression_tree_mutator(node, drop_casts, argument);
}

static bool
search_queries(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		search_from((Node *) ((Query *) node)->jointree, (Query *) node);
		return query_tree_walker((Query *) node, search_queries, argument, 0);
	}
	return expression_tree_walker(node, search_queries, argument);
}

static bool
names_base(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION && is_sealed_base(((RangeTblEntry *) node)->relid);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, names_base, argument, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, names_base, argument);
}

/* Before planning, when views are written into the query. */
void
prepare_sealed(Query *query)
{
	if (!sealed_columns_exist() || !names_base((Node *) query, NULL))
		return;
	(void) search_queries((Node *) query, NULL);
	(void) drop_casts((Node *) query, NULL);
}

/* ---- ids of new rows */

static bool
is_call_of(Node *node, Oid function)
{
	return node != NULL && IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == function;
}

/* The step above a plan that makes new rows: it seals with the ids that the rows have got. */
static Plan *
sealing_step(Plan *rows)
{
	Result	   *step;
	List	   *targets = NIL;
	Var		   *row = NULL;
	bool		seals = false;
	ListCell   *cell;

	foreach(cell, rows->targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (is_call_of((Node *) entry->expr, row_function()))
			row = makeVar(OUTER_VAR, entry->resno, INT8OID, -1, InvalidOid, 0);
		seals |= is_call_of((Node *) entry->expr, seal_function());
	}
	/* without an id, sealing fails */
	if (row == NULL || !seals)
		return rows;
	foreach(cell, rows->targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		TargetEntry *above = flatCopyTargetEntry(entry);

		if (is_call_of((Node *) entry->expr, seal_function()))
		{
			FuncExpr   *call = copyObject((FuncExpr *) entry->expr);
			Node	   *value = linitial(call->args);

			entry->expr = (Expr *) value;
			linitial(call->args) = makeVar(OUTER_VAR, entry->resno, exprType(value), exprTypmod(value),
										   exprCollation(value), 0);
			lsecond(call->args) = copyObject(row);
			above->expr = (Expr *) call;
		}
		/* what a dropped column gets is a constant, of which the executor makes sure */
		else if (!IsA(entry->expr, Const))
			above->expr = (Expr *) makeVar(OUTER_VAR, entry->resno, exprType((Node *) entry->expr),
										   exprTypmod((Node *) entry->expr), exprCollation((Node *) entry->expr), 0);
		targets = lappend(targets, above);
	}
	step = makeNode(Result);
	step->plan.targetlist = targets;
	step->plan.lefttree = rows;
	step->plan.startup_cost = rows->startup_cost;
	step->plan.total_cost = rows->total_cost;
	step->plan.plan_rows = rows->plan_rows;
	step->plan.plan_width = rows->plan_width;
	step->plan.plan_node_id = rows->plan_node_id;
	step->plan.extParam = bms_copy(rows->extParam);
	step->plan.allParam = bms_copy(rows->allParam);
	return (Plan *) step;
}

static void
give_ids(Plan *plan, PlannedStmt *planned)
{
	if (plan == NULL || !IsA(plan, ModifyTable) || ((ModifyTable *) plan)->operation != CMD_INSERT ||
		!is_sealed_base(rt_fetch(linitial_int(((ModifyTable *) plan)->resultRelations), planned->rtable)->relid))
		return;
	plan->lefttree = sealing_step(plan->lefttree);
}

/* After planning. */
void
give_row_ids(PlannedStmt *planned)
{
	ListCell   *cell;

	if (!planned->hasModifyingCTE && planned->commandType != CMD_INSERT)
		return;
	give_ids(planned->planTree, planned);
	foreach(cell, planned->subplans)
		give_ids(lfirst(cell), planned);
}
