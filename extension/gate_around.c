/*
 * gate_around.c: what stands around the answer of a question. HAVING, ORDER BY, LIMIT, windows over groups, and whatever the select
 * list makes of keys and aggregates, sees released rows only. So it may be anything that PostgreSQL lets the asker do.
 *
 * The gate follows arithmetic around the aggregates, and can say how exact its results are. What it does not follow is left in
 * the asker's own statement: the question becomes a subquery that gives keys and aggregates, and the rest of the statement
 * is a query over it,
 *
 *     SELECT to_char(a.c2, '9G999'), own.boss(a.c1) FROM (SELECT … FROM discreet.query('SELECT dept, count(*) … GROUP BY dept')) a
 *
 * which PostgreSQL plans and runs as ever: with the asker's rights, settings, search path and errors.
 */
#include "discreet.h"

#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* ---- what the gate follows by itself (gate/post.py) */

/* Functions of this name are built in and look at nothing but their arguments, as the ledger tells the gate. */
static bool
is_harmless_name(Oid function)
{
	char	   *name = get_func_name(function);
	bool		harmless = true;
	CatCList   *named;

	if (function >= FirstNormalObjectId || get_func_namespace(function) != PG_CATALOG_NAMESPACE)
		return false;
	named = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	for (int n = 0; n < named->n_members; n++)
	{
		Form_pg_proc found = (Form_pg_proc) GETSTRUCT(&named->members[n]->tuple);

		if (found->pronamespace == PG_CATALOG_NAMESPACE &&
			(found->provolatile != PROVOLATILE_IMMUTABLE || found->proretset))
			harmless = false;
	}
	ReleaseSysCacheList(named);
	return harmless;
}

/* Types to which the gate casts released values. */
static bool
is_shown_type(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BOOLOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return true;
		default:
			return false;
	}
}

/* ORDER BY … USING */
static bool
has_own_order(List *clauses, List *targets)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		TypeCacheEntry *type = lookup_type_cache(exprType(get_sortgroupclause_expr(clause, targets)),
												 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

		if (OidIsValid(clause->sortop) && clause->sortop != type->lt_opr && clause->sortop != type->gt_opr)
			return true;
	}
	return false;
}

static bool
is_key(Node *node, List *keys, int depth)
{
	ListCell   *cell;

	foreach(cell, keys)
	{
		Node	   *key = copyObject((Node *) lfirst_node(TargetEntry, cell)->expr);

		if (depth > 0)
			IncrementVarSublevelsUp(key, depth, 0);
		if (equal(node, key))
			return true;
	}
	return false;
}

/* Whether there is something around the aggregates and keys that the gate does not follow. */
static bool
strays(Node *node, List *keys)
{
	if (node == NULL || is_key(node, keys, 0))
		return false;
	switch (nodeTag(node))
	{
		case T_Aggref:
		case T_GroupingFunc:
		case T_Const:
		case T_Param:
		case T_Var:
		case T_SQLValueFunction:
			return false;
		case T_FuncExpr:
			{
				FuncExpr   *call = (FuncExpr *) node;
				bool		casts = call->funcformat != COERCE_EXPLICIT_CALL;

				if (call->funcvariadic || call->funcretset || (casts && !is_shown_type(call->funcresulttype)) ||
					(!casts && !is_harmless_name(call->funcid)))
					return true;
				break;
			}
		case T_WindowFunc:
			if (!is_harmless_name(((WindowFunc *) node)->winfnoid))
				return true;
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			if (((OpExpr *) node)->opno >= FirstNormalObjectId)
				return true;
			break;
		case T_ScalarArrayOpExpr:
			if (((ScalarArrayOpExpr *) node)->opno >= FirstNormalObjectId)
				return true;
			break;
		case T_CoerceViaIO:
		case T_RelabelType:
			if (!is_shown_type(exprType(node)))
				return true;
			break;
		case T_BoolExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_ArrayExpr:
		case T_TargetEntry:
		case T_List:
			break;
		case T_WindowClause:
			{
				WindowClause *window = (WindowClause *) node;

				return strays(window->startOffset, keys) || strays(window->endOffset, keys);
			}
		default:
			return true;
	}
	return expression_tree_walker(node, strays, (void *) keys);
}

/* The keys of a query that groups, as its target list has them. */
static List *
keys_of(Query *query)
{
	List	   *keys = NIL;
	ListCell   *cell;

	foreach(cell, query->groupClause)
		keys = lappend(keys, get_sortgroupclause_tle(lfirst_node(SortGroupClause, cell), query->targetList));
	return keys;
}

bool
is_followed(Query *query)
{
	List	   *keys = keys_of(query);
	ListCell   *cell;

	foreach(cell, query->windowClause)
	{
		WindowClause *window = lfirst_node(WindowClause, cell);

		if (has_own_order(window->orderClause, query->targetList))
			return false;
	}
	return !query->hasTargetSRFs && !query->hasDistinctOn && !has_own_order(query->sortClause, query->targetList) &&
		!strays((Node *) query->targetList, keys) && !strays(query->havingQual, keys) &&
		!strays((Node *) query->windowClause, keys);
}

/* Whether the gate follows a condition on the rows of an answer. */
bool
is_followed_condition(Node *condition)
{
	return !strays(condition, NIL);
}

/* ---- the question below, and the statement over it */

typedef struct Over
{
	Query	   *below;
	List	   *keys;
	int			depth;
	const char *name;			/* of the column that is an aggregate and nothing else */
	bool		lost;			/* a column that is neither a key nor in an aggregate */
} Over;

/* The column of the answer that an expression of the question is. */
static Node *
column_below(Over *over, Node *node, const char *name)
{
	List	  **columns = &over->below->targetList;
	TargetEntry *column = tlist_member((Expr *) node, *columns);

	if (column == NULL)
	{
		column = makeTargetEntry((Expr *) copyObject(node), list_length(*columns) + 1, pstrdup(name), false);
		*columns = lappend(*columns, column);
	}
	return (Node *) makeVar(1, column->resno, exprType(node), exprTypmod(node), exprCollation(node), over->depth);
}

static Node *
over_answer(Node *node, Over *over)
{
	ListCell   *cell;

	if (node == NULL)
		return NULL;
	foreach(cell, over->keys)
	{
		TargetEntry *key = lfirst_node(TargetEntry, cell);
		Node	   *here = copyObject((Node *) key->expr);

		if (over->depth > 0)
			IncrementVarSublevelsUp(here, over->depth, 0);
		if (equal(node, here))
			return column_below(over, (Node *) key->expr, "");
	}
	if ((IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == over->depth) ||
		(IsA(node, GroupingFunc) && ((GroupingFunc *) node)->agglevelsup == over->depth))
	{
		Node	   *asked = copyObject(node);
		const char *name = over->name != NULL ? over->name :
			IsA(node, Aggref) ? get_func_name(((Aggref *) node)->aggfnoid) : "grouping";

		if (over->depth > 0)
			IncrementVarSublevelsUp(asked, -over->depth, 0);
		return column_below(over, asked, name);
	}
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == over->depth)
		over->lost = true;
	if (IsA(node, TargetEntry))
	{
		TargetEntry *target = (TargetEntry *) node;
		Node	   *changed;

		over->name = !target->resjunk && IsA(target->expr, Aggref) ? target->resname : NULL;
		changed = expression_tree_mutator(node, over_answer, (void *) over);
		over->name = NULL;
		return changed;
	}
	if (IsA(node, Query))
	{
		Node	   *changed;

		over->depth++;
		changed = (Node *) query_tree_mutator((Query *) node, over_answer, (void *) over, 0);
		over->depth--;
		return changed;
	}
	return expression_tree_mutator(node, over_answer, (void *) over);
}

typedef struct Naming
{
	const char *name;
	int			depth;
} Naming;

static bool
names_query(Node *node, Naming *naming)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		return entry->rtekind == RTE_CTE && entry->ctelevelsup == naming->depth && strcmp(entry->ctename, naming->name) == 0;
	}
	if (IsA(node, Query))
	{
		bool		found;

		naming->depth++;
		found = query_tree_walker((Query *) node, names_query, (void *) naming, QTW_EXAMINE_RTES_BEFORE);
		naming->depth--;
		return found;
	}
	return expression_tree_walker(node, names_query, (void *) naming);
}

/* Keeps those WITH queries that the query itself, or a later one of them that is kept, names; and what changes tables. */
void
drop_unnamed_queries(Query *query, bool changing)
{
	List	   *all = query->cteList;

	query->cteList = NIL;
	for (int n = list_length(all) - 1; n >= 0; n--)
	{
		CommonTableExpr *with = list_nth_node(CommonTableExpr, all, n);
		Naming		naming = {with->ctename, 0};

		/* the WITH queries that are kept are walked, too */
		if ((changing && castNode(Query, with->ctequery)->commandType != CMD_SELECT) ||
			query_tree_walker(query, names_query, (void *) &naming, QTW_EXAMINE_RTES_BEFORE))
			query->cteList = lcons(with, query->cteList);
	}
}

static RangeTblEntry *
answer_entry(Query *below)
{
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	ListCell   *cell;

	entry->rtekind = RTE_SUBQUERY;
	entry->subquery = below;
	entry->alias = makeAlias("answer", NIL);
	entry->eref = makeAlias("answer", NIL);
	entry->inFromCl = true;
	foreach(cell, below->targetList)
	{
		char	   *name = lfirst_node(TargetEntry, cell)->resname;

		entry->eref->colnames = lappend(entry->eref->colnames, makeString(pstrdup(name ? name : "?column?")));
	}
	return entry;
}

/* Entries of a target list that only GROUP BY has named. */
static List *
without_bare_keys(Query *query)
{
	List	   *kept = NIL;
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);
		bool		used = !target->resjunk || get_sortgroupref_clause_noerr(target->ressortgroupref, query->sortClause) ||
			get_sortgroupref_clause_noerr(target->ressortgroupref, query->distinctClause);
		ListCell   *window;

		foreach(window, query->windowClause)
			used = used ||
				get_sortgroupref_clause_noerr(target->ressortgroupref, lfirst_node(WindowClause, window)->partitionClause) ||
				get_sortgroupref_clause_noerr(target->ressortgroupref, lfirst_node(WindowClause, window)->orderClause);
		if (used)
		{
			target->resno = list_length(kept) + 1;
			kept = lappend(kept, target);
		}
	}
	return kept;
}

/*
 * Divides a query that groups or aggregates: what is returned asks for its keys and aggregates, and `over` becomes all that stands
 * around them, over the answer. NULL where a column stands there that the answer does not have.
 */
Query *
divided(Query *query, Query **over)
{
	Over		around = {copyObject(query), keys_of(query)};
	Query	   *below = around.below;
	ListCell   *cell;

	if (!query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL)
		return NULL;
	below->targetList = NIL;
	foreach(cell, around.keys)
	{
		TargetEntry *key = copyObject(lfirst_node(TargetEntry, cell));

		key->resno = list_length(below->targetList) + 1;
		key->resjunk = false;
		below->targetList = lappend(below->targetList, key);
	}
	below->havingQual = NULL;
	below->sortClause = below->distinctClause = below->windowClause = NIL;
	below->limitOffset = below->limitCount = NULL;
	below->hasModifyingCTE = below->hasDistinctOn = below->hasWindowFuncs = below->hasTargetSRFs = false;

	*over = copyObject(query);
	(*over)->targetList = (List *) over_answer((Node *) (*over)->targetList, &around);
	(*over)->jointree = makeFromExpr(NIL, over_answer((*over)->havingQual, &around));
	(*over)->windowClause = (List *) over_answer((Node *) (*over)->windowClause, &around);
	(*over)->limitOffset = over_answer((*over)->limitOffset, &around);
	(*over)->limitCount = over_answer((*over)->limitCount, &around);
	if (around.lost || below->targetList == NIL)
		return NULL;

	(*over)->havingQual = NULL;
	(*over)->groupClause = (*over)->groupingSets = NIL;
	(*over)->groupDistinct = (*over)->hasAggs = false;
	(*over)->targetList = without_bare_keys(*over);
	(*over)->rtable = list_make1(answer_entry(below));
	forget_permissions(*over);
	forget_groups(*over);
	(*over)->jointree->fromlist = list_make1(makeNode(RangeTblRef));
	linitial_node(RangeTblRef, (*over)->jointree->fromlist)->rtindex = 1;
	drop_unnamed_queries(*over, true);
	drop_unnamed_queries(below, false);
	return below;
}
