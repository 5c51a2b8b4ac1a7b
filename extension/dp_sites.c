/*
 * dp_sites.c: the dp_ aggregates that a node of a plan finishes, with their constant arguments.
 */
#include "dp.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

typedef struct PartialSearch
{
	int			aggno;
	Aggref	   *found;
} PartialSearch;

/* Below a node that only joins the states of workers: the aggregate with its arguments. */
static bool
find_partial(PlanState *state, PartialSearch *search)
{
	ListCell   *cell;

	if (IsA(state, AggState))
		foreach(cell, ((AggState *) state)->aggs)
		{
			Aggref	   *aggref = lfirst_node(Aggref, cell);

			if (aggref->aggno == search->aggno && DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit))
			{
				search->found = aggref;
				return true;
			}
		}
	return planstate_tree_walker(state, find_partial, search);
}

static bool
is_not_constant_code(Oid function, void *context)
{
	return function >= FirstNormalObjectId || !looks_at_arguments_only(function);
}

/* Whether an expression is more than constants, parameters and built-in functions of them, the time included. */
static bool
varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Aggref:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_CoerceToDomain:
			return true;
		case T_SQLValueFunction:
			return TypeCategory(((SQLValueFunction *) node)->type) != TYPCATEGORY_DATETIME;
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		default:
			return check_functions_in_node(node, is_not_constant_code, NULL) ||
				expression_tree_walker(node, varies, context);
	}
}

/* The value of an argument that must be the same for every row. */
static Datum
constant_argument(EState *estate, List *arguments, int n, const char *name, bool *isnull)
{
	Expr	   *expression = list_nth_node(TargetEntry, arguments, n)->expr;
	ExprContext *context = GetPerTupleExprContext(estate);
	ExprState  *state;

	if (varies((Node *) expression, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s of a dp_ aggregate must be a constant or a parameter", name),
				 errhint("A bound or price that depends on rows would tell about them.")));
	state = ExecInitExprWithParams(expression, estate->es_param_list_info);
	context->ecxt_param_list_info = estate->es_param_list_info;
	return ExecEvalExpr(state, context, isnull);
}

static double
bound_of_site(EState *estate, List *arguments, int n, const char *name, Oid type)
{
	bool		isnull;
	Datum		value = constant_argument(estate, arguments, n, name, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s of a dp_ aggregate must not be NULL", name)));
	return value_as_double(type, value);
}

/* Distinct values are told apart by a hash: a type without one is refused before anything is paid. */
static void
check_countable(const char *function, Oid type)
{
	if (strcmp(function, "dp_count_distinct") == 0 &&
		!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("values of type %s cannot be told apart by a hash", format_type_be(type))));
}

/* Reads (value [, fraction] [, lower, upper] [, epsilon]). */
static Site *
describe_site(EState *estate, Aggref *aggref)
{
	Site	   *site = palloc0(sizeof(Site));
	List	   *arguments = NIL;
	ListCell   *cell;
	int			at = 1;
	bool		isnull;

	foreach(cell, aggref->args)
		if (!lfirst_node(TargetEntry, cell)->resjunk)
			arguments = lappend(arguments, lfirst(cell));
	site->aggno = aggref->aggno;
	site->function = get_func_name(aggref->aggfnoid);
	site->sets = 1;
	site->fraction = 0.5;
	if (arguments == NIL)
		return site;
	check_countable(site->function, exprType((Node *) linitial_node(TargetEntry, arguments)->expr));
	site->type = getBaseType(exprType((Node *) linitial_node(TargetEntry, arguments)->expr));
	if (strcmp(site->function, "dp_quantile") == 0)
	{
		site->fraction = DatumGetFloat8(constant_argument(estate, arguments, at++, "fraction", &isnull));
		if (isnull || !(site->fraction >= 0 && site->fraction <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("fraction of a quantile must be between 0 and 1")));
	}
	if (strncmp(site->function, "dp_count", 8) != 0)
	{
		if (!is_bounded_type(site->type))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("%s has no meaning for values of type %s", site->function, format_type_be(site->type)),
					 errhint("It takes numbers, dates and timestamps.")));
		site->lower = bound_of_site(estate, arguments, at++, "lower bound", site->type);
		site->upper = bound_of_site(estate, arguments, at++, "upper bound", site->type);
		check_bounds(site->lower, site->upper);
	}
	if (at < list_length(arguments))
	{
		Datum		epsilon = constant_argument(estate, arguments, at, "epsilon", &isnull);
		double		number = get_float8_nan();

		if (!isnull && !isnan(numeric_as_double(epsilon)))
		{
			/* what is charged is what the noise is made for: twelve decimals of it */
			epsilon = DirectFunctionCall1(numeric_trim_scale,
										  DirectFunctionCall2(numeric_round, epsilon, Int32GetDatum(12)));
			number = numeric_as_double(epsilon);
		}
		if (!(number >= 1e-9 && number <= 100))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("epsilon of a dp_ aggregate must be a number from 1e-9 to 100")));
		site->epsilon = DatumGetCString(DirectFunctionCall1(numeric_out, epsilon));
	}
	return site;
}

/* The dp_ aggregates that a node finishes, each once however often the statement writes it. */
List *
sites_of(AggState *node)
{
	Agg		   *plan = (Agg *) node->ss.ps.plan;
	List	   *sites = NIL;
	int			sets = Max(list_length(plan->groupingSets), 1);
	ListCell   *cell;

	foreach(cell, plan->chain)
		sets += Max(list_length(lfirst_node(Agg, cell)->groupingSets), 1);
	foreach(cell, node->aggs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, cell);
		ListCell   *known;
		Site	   *site;

		if (!is_dp_aggregate(aggref->aggfnoid))
			continue;
		foreach(known, sites)
			if (((Site *) lfirst(known))->aggno == aggref->aggno)
				break;
		if (known != NULL)
			continue;
		if (DO_AGGSPLIT_COMBINE(aggref->aggsplit))
		{
			PartialSearch search = {aggref->aggno, NULL};

			find_partial(outerPlanState(node), &search);
			if (search.found == NULL)
				elog(ERROR, "a dp_ aggregate without its partial states");
			aggref = search.found;
		}
		site = describe_site(node->ss.ps.state, aggref);
		site->sets = sets;
		sites = lappend(sites, site);
	}
	return sites;
}
