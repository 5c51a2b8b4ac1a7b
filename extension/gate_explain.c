/*
 * gate_explain.c: EXPLAIN ANALYZE tells how many buffers and temporary files a statement needed, and those of the gate's
 * run step depend on the rows. So nothing is charged, hence nothing is read, below an EXPLAIN ANALYZE.
 *
 * EXPLAIN without ANALYZE shows the call of each question, and below the plan what discreet.explain_text() says of it.
 */
#include "discreet.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"

static ExplainOneQuery_hook_type previous_explain = NULL;

static int	explained = 0;		/* EXPLAIN ANALYZEs under way, one below the other */

bool
is_explain_analyze(Node *statement)
{
	bool		analyze = false;
	ListCell   *cell;

	if (!IsA(statement, ExplainStmt))
		return false;
	foreach(cell, ((ExplainStmt *) statement)->options)
	{
		DefElem    *option = (DefElem *) lfirst(cell);

		if (strcmp(option->defname, "analyze") == 0)
			analyze = defGetBoolean(option);
	}
	return analyze;
}

void
begin_explain_analyze(void)
{
	explained++;
}

void
end_explain_analyze(void)
{
	explained--;
}

bool
being_explained(void)
{
	return explained > 0;
}

void
refuse_while_explained(void)
{
	if (explained > 0)
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE),
				 errmsg("EXPLAIN ANALYZE of a question would tell of the rows"),
				 errhint("SELECT discreet.explain('…') says what a question costs and how exact it is.")));
}

/* ---- what questions of a statement would cost, measure and leave out */

typedef struct Asked
{
	Oid			schema;
	List	   *calls;
} Asked;

static bool
find_questions(Node *node, void *argument)
{
	Asked	   *asked = argument;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && is_question(((FuncExpr *) node)->funcid, asked->schema))
		asked->calls = lappend(asked->calls, node);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_questions, argument, 0);
	return expression_tree_walker(node, find_questions, argument);
}

/* A text or a number that stands in the call itself; others are known when the statement runs. */
static bool
constant_argument(List *arguments, int place, Oid type, NullableDatum *value)
{
	Node	   *node = list_length(arguments) > place ? (Node *) list_nth(arguments, place) : NULL;

	value->isnull = true;
	if (node == NULL || !IsA(node, Const) || ((Const *) node)->consttype != type)
		return false;
	value->value = ((Const *) node)->constvalue;
	value->isnull = ((Const *) node)->constisnull;
	return !value->isnull;
}

/* What is known only when the statement runs: rows, subqueries, parameters that have no value yet. */
static bool
is_unknown(Node *node, ParamListInfo parameters)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, SubLink) || IsA(node, SubPlan) || IsA(node, Aggref) || IsA(node, WindowFunc))
		return true;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN || parameters == NULL;
	return expression_tree_walker(node, is_unknown, (void *) parameters);
}

/* An argument that the hook has written (gate_question.c): at its place, or by its number. Its value is that of this moment. */
static NullableDatum
known_argument(List *arguments, int place, Oid type, ParamListInfo parameters, EState *state)
{
	NullableDatum value = {.isnull = true};
	ListCell   *cell;

	foreach(cell, arguments)
	{
		Node	   *node = lfirst(cell);
		int			number = IsA(node, NamedArgExpr) ? ((NamedArgExpr *) node)->argnumber : foreach_current_index(cell);

		if (IsA(node, NamedArgExpr))
			node = (Node *) ((NamedArgExpr *) node)->arg;
		if (number == place && exprType(node) == type && !is_unknown(node, parameters) && !contain_volatile_functions(node))
			value.value = ExecEvalExprSwitchContext(ExecInitExprWithParams(expression_planner((Expr *) node), parameters),
													GetPerTupleExprContext(state), &value.isnull);
	}
	return value;
}

static void
tell_of_question(FuncExpr *call, ExplainState *es, ParamListInfo parameters)
{
	Oid			types[] = {TEXTOID, NUMERICOID, TEXTARRAYOID, TIMESTAMPTZOID};
	Oid			function = own_function("explain_text", lengthof(types), types);
	EState	   *state;
	NullableDatum sql,
				epsilon;
	FmgrInfo	info;
	Datum		told;

	LOCAL_FCINFO(fcinfo, 4);

	if (!OidIsValid(function) || !constant_argument(call->args, 0, TEXTOID, &sql))
		return;
	(void) constant_argument(call->args, 1, NUMERICOID, &epsilon);
	state = CreateExecutorState();
	fmgr_info(function, &info);
	InitFunctionCallInfoData(*fcinfo, &info, 4, InvalidOid, NULL, NULL);
	fcinfo->args[0] = sql;
	fcinfo->args[1] = epsilon;
	fcinfo->args[2] = known_argument(call->args, 2, TEXTARRAYOID, parameters, state);
	fcinfo->args[3] = known_argument(call->args, 7, TIMESTAMPTZOID, parameters, state);
	told = FunctionCallInvoke(fcinfo);
	FreeExecutorState(state);
	if (fcinfo->isnull)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		appendStringInfo(es->str, "%s\n", TextDatumGetCString(told));
	else
	{
		ExplainOpenGroup("Query", NULL, true, es);
		ExplainPropertyText("Question", TextDatumGetCString(told), es);
		ExplainCloseGroup("Query", NULL, true, es);
	}
}

static void
on_explain(Query *query, int options, IntoClause *into, ExplainState *es, const char *text, ParamListInfo parameters,
		   QueryEnvironment *environment)
{
	Asked		asked = {own_schema(), NIL};
	ListCell   *cell;

	/* planning takes the tree apart */
	if (OidIsValid(asked.schema) && !es->analyze)
	{
		(void) find_questions((Node *) query, &asked);
		asked.calls = copyObject(asked.calls);
	}
	if (previous_explain != NULL)
		previous_explain(query, options, into, es, text, parameters, environment);
	else
		standard_ExplainOneQuery(query, options, into, es, text, parameters, environment);
	foreach(cell, asked.calls)
		tell_of_question(lfirst_node(FuncExpr, cell), es, parameters);
}

void
install_explain_hook(void)
{
	previous_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = on_explain;
}
