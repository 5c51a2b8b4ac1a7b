/*
 * hook.c: plain SQL. A SELECT that reaches a protected table, by a role that may not read it but holds a budget for its
 * people, becomes a SELECT from discreet.query() with the same columns. All thinking is in Python.
 *
 * The whole statement is asked where all of it can be: protected tables, and tables of others beside them. Where it reads
 * more (own tables, functions, VALUES), each subquery that stands for itself is asked, and what is around it works on
 * the answer. A protected table that remains is refused.
 */
#include "discreet.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parse_func.h"
#include "parser/parser.h"
#include "rewrite/rewriteSupport.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

static post_parse_analyze_hook_type previous_post_parse_analyze = NULL;

/* Whether a user may read these columns of a relation, as the executor will decide. */
bool
may_read(Oid relation, Bitmapset *columns, Oid user)
{
	if (pg_class_aclcheck(relation, user, ACL_SELECT) == ACLCHECK_OK)
		return true;
	if (bms_is_empty(columns))
		return pg_attribute_aclcheck_all(relation, user, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
	for (int column = -1; (column = bms_next_member(columns, column)) >= 0;)
	{
		AttrNumber	attribute = column + FirstLowInvalidHeapAttributeNumber;

		if (attribute == InvalidAttrNumber ?
			pg_attribute_aclcheck_all(relation, user, ACL_SELECT, ACLMASK_ALL) != ACLCHECK_OK :
			pg_attribute_aclcheck(relation, attribute, user, ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

static Bitmapset *
columns_read(Query *query, RangeTblEntry *entry)
{
#if PG_VERSION_NUM >= 160000
	if (entry->perminfoindex == 0)
		return NULL;
	return getRTEPermissionInfo(query->rteperminfos, entry)->selectedCols;
#else
	return entry->selectedCols;
#endif
}

/* ---- what is guarded */

static void add_unreadable(Query *query, Oid view, List **unreadable);

/* Adds the tables below a relation of the query that the current user may not read; views are looked through. */
static void
add_unreadable_of(Query *query, RangeTblEntry *entry, List **unreadable)
{
	if (entry->relkind == RELKIND_VIEW)
	{
		Relation	view = relation_open(entry->relid, AccessShareLock);

		add_unreadable(get_view_query(view), entry->relid, unreadable);
		relation_close(view, NoLock);
	}
	else if (!may_read(entry->relid, columns_read(query, entry), GetUserId()))
		*unreadable = list_append_unique_oid(*unreadable, entry->relid);
}

typedef struct Unreadable
{
	Query	   *query;
	Oid			view;			/* whose rule this query is: it stands in its own range table, as OLD and NEW */
	List	  **tables;
} Unreadable;

static bool
find_unreadable(Node *node, Unreadable *search)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		if (entry->rtekind == RTE_RELATION && entry->relid != search->view)
			add_unreadable_of(search->query, entry, search->tables);
		return false;
	}
	if (IsA(node, Query))
	{
		add_unreadable((Query *) node, search->view, search->tables);
		return false;
	}
	return expression_tree_walker(node, find_unreadable, (void *) search);
}

static void
add_unreadable(Query *query, Oid view, List **unreadable)
{
	Unreadable	search = {query, view, unreadable};

	query_tree_walker(query, find_unreadable, (void *) &search, QTW_EXAMINE_RTES_BEFORE);
}

/* Of these tables, or of one below a view of this number, discreet._guards says whether the session user asks the gate. */
static bool
catalog_guards(Oid view, List *tables)
{
	Oid			types[] = {OIDOID, OIDARRAYOID};
	Oid			function = LookupFuncName(list_make2(makeString("discreet"), makeString("_guards")), 2, types, true);
	Datum	   *numbers = palloc(list_length(tables) * sizeof(Datum));
	bool		snapshot = ActiveSnapshotSet();
	bool		guards;
	ArrayType  *array;

	if (!OidIsValid(function))
		return false;
	for (int n = 0; n < list_length(tables); n++)
		numbers[n] = ObjectIdGetDatum(list_nth_oid(tables, n));
	array = construct_array(numbers, list_length(tables), OIDOID, sizeof(Oid), true, TYPALIGN_INT);
	if (!snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	guards = DatumGetBool(OidFunctionCall2(function, ObjectIdGetDatum(view), PointerGetDatum(array)));
	if (!snapshot)
		PopActiveSnapshot();
	return guards;
}

/* The relations that a query names, and for which the gate stands. */
static bool
find_guarded(Node *node, List **guarded)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ListCell   *cell;

		foreach(cell, query->rtable)
		{
			RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);
			List	   *unreadable = NIL;

			if (entry->rtekind != RTE_RELATION || list_member_oid(*guarded, entry->relid))
				continue;
			add_unreadable_of(query, entry, &unreadable);
			if (unreadable != NIL &&
				catalog_guards(entry->relkind == RELKIND_VIEW ? entry->relid : InvalidOid, unreadable))
				*guarded = lappend_oid(*guarded, entry->relid);
		}
		return query_tree_walker(query, find_guarded, (void *) guarded, 0);
	}
	return expression_tree_walker(node, find_guarded, (void *) guarded);
}

/* ---- which queries can be asked as a whole */

typedef struct Reach
{
	List	   *guarded;
	int			depth;
	bool		reaches_guarded;
	bool		reaches_outside;	/* columns, aggregates or WITH queries of a query around it */
	bool		reaches_else;		/* what the gate does not know: own tables, functions in FROM, … */
} Reach;

static void
look_at_entry(RangeTblEntry *entry, Reach *reach)
{
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			if (list_member_oid(reach->guarded, entry->relid))
				reach->reaches_guarded = true;
			else if ((entry->relkind != RELKIND_RELATION && entry->relkind != RELKIND_PARTITIONED_TABLE) ||
					 get_rel_persistence(entry->relid) == RELPERSISTENCE_TEMP ||
					 pg_class_ownercheck(entry->relid, GetSessionUserId()))
				reach->reaches_else = true;
			break;
		case RTE_CTE:
			if (entry->ctelevelsup > reach->depth)
				reach->reaches_outside = true;
			break;
		case RTE_SUBQUERY:
		case RTE_JOIN:
			break;
		default:
			reach->reaches_else = true;
	}
}

static bool
look_at_reach(Node *node, Reach *reach)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		look_at_entry((RangeTblEntry *) node, reach);
	else if (IsA(node, Var))
		reach->reaches_outside |= ((Var *) node)->varlevelsup > reach->depth;
	else if (IsA(node, Aggref))
		reach->reaches_outside |= ((Aggref *) node)->agglevelsup > reach->depth;
	else if (IsA(node, GroupingFunc))
		reach->reaches_outside |= ((GroupingFunc *) node)->agglevelsup > reach->depth;
	else if (IsA(node, Query))
	{
		reach->reaches_else |= ((Query *) node)->commandType != CMD_SELECT;
		reach->depth++;
		query_tree_walker((Query *) node, look_at_reach, (void *) reach, QTW_EXAMINE_RTES_BEFORE);
		reach->depth--;
		return false;
	}
	if (IsA(node, RangeTblEntry))
		return false;
	return expression_tree_walker(node, look_at_reach, (void *) reach);
}

/* ---- the question in place of a query */

typedef struct Parameters
{
	List	   *nodes;			/* in the order of their new numbers */
} Parameters;

/* Parameters get numbers from 1 on, and say their types. */
static Node *
number_parameters(Node *node, Parameters *parameters)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, number_parameters, (void *) parameters, 0);
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN)
	{
		Param	   *numbered = copyObject((Param *) node);
		int			place = 0;

		while (place < list_length(parameters->nodes) && !equal(list_nth(parameters->nodes, place), node))
			place++;
		if (place == list_length(parameters->nodes))
			parameters->nodes = lappend(parameters->nodes, copyObject(node));
		numbered->paramid = place + 1;
		return (Node *) makeRelabelType((Expr *) numbered, numbered->paramtype, numbered->paramtypmod,
										numbered->paramcollid, COERCE_EXPLICIT_CAST);
	}
	return expression_tree_mutator(node, number_parameters, (void *) parameters);
}

/* Runs with nothing but pg_catalog in the search path: all other names are then written with their schema. */
static char *
canonical_text(Query *query)
{
	int			level = NewGUCNestLevel();
	char	   *text;

	(void) set_config_option("search_path", "pg_catalog", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	text = pg_get_querydef(query, false);
	AtEOXact_GUC(true, level);
	return text;
}

/* SELECT t.c1 AS dept, t.c2 AS count FROM discreet.query('…') AS t(c1 text, c2 bigint) */
static char *
question_sql(const char *text, List *targets)
{
	StringInfoData names,
				columns;
	ListCell   *cell;
	int			n = 0;

	initStringInfo(&names);
	initStringInfo(&columns);
	foreach(cell, targets)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);
		Node	   *value = (Node *) target->expr;

		if (target->resjunk)
			continue;
		n++;
		appendStringInfo(&names, "%st.c%d AS %s", n > 1 ? ", " : "", n,
						 quote_identifier(target->resname ? target->resname : "?column?"));
		appendStringInfo(&columns, "%sc%d %s", n > 1 ? ", " : "", n,
						 format_type_extended(exprType(value), exprTypmod(value),
											  FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	}
	if (n == 0)
		return NULL;
	return psprintf("SELECT %s FROM discreet.query(%s, NULL::pg_catalog.numeric, NULL::pg_catalog.text[]) AS t(%s)",
					names.data, quote_literal_cstr(text), columns.data);
}

/* ARRAY[discreet._parameter($1), …] */
static Node *
parameter_array(List *parameters)
{
	ArrayExpr  *array = makeNode(ArrayExpr);
	Oid			any = ANYELEMENTOID;
	Oid			function = LookupFuncName(list_make2(makeString("discreet"), makeString("_parameter")), 1, &any, false);
	ListCell   *cell;

	array->array_typeid = TEXTARRAYOID;
	array->element_typeid = TEXTOID;
	array->array_collid = DEFAULT_COLLATION_OID;
	array->location = -1;
	foreach(cell, parameters)
		array->elements = lappend(array->elements,
								  makeFuncExpr(function, TEXTOID, list_make1(lfirst(cell)), DEFAULT_COLLATION_OID,
											   DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL));
	return (Node *) array;
}

static void
ask_instead(Query *query)
{
	Parameters	parameters = {NIL};
	Query	   *numbered = query_tree_mutator(copyObject(query), number_parameters, (void *) &parameters,
											  QTW_DONT_COPY_QUERY);
	char	   *sql = question_sql(canonical_text(numbered), query->targetList);
	ParseState *state = make_parsestate(NULL);
	Query	   *question;
	Query		kept = *query;

	if (sql == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE), errmsg("an empty select list"),
				 errhint("Ask for counts, sums or averages.")));
	state->p_sourcetext = sql;
	question = transformTopLevelStmt(state, linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT)));
	free_parsestate(state);
	if (parameters.nodes != NIL)
	{
		RangeTblFunction *call = linitial_node(RangeTblFunction, linitial_node(RangeTblEntry, question->rtable)->functions);

		lthird(castNode(FuncExpr, call->funcexpr)->args) = parameter_array(parameters.nodes);
	}
	*query = *question;
	query->querySource = kept.querySource;
	query->queryId = kept.queryId;
	query->canSetTag = kept.canSetTag;
	query->stmt_location = kept.stmt_location;
	query->stmt_len = kept.stmt_len;
}

/* ---- the way down to what can be asked */

static void guard_query(Query *query, List *guarded);

static bool
guard_sublinks(Node *node, List *guarded)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
	{
		guard_query(castNode(Query, ((SubLink *) node)->subselect), guarded);
		return guard_sublinks(((SubLink *) node)->testexpr, guarded);
	}
	return expression_tree_walker(node, guard_sublinks, (void *) guarded);
}

/* A query that cannot be asked as a whole: its parts are, one by one. */
static void
guard_parts(Query *query, List *guarded)
{
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_SUBQUERY)
			guard_query(entry->subquery, guarded);
		else if (entry->rtekind == RTE_RELATION && list_member_oid(guarded, entry->relid))
			ereport(ERROR,
					(errcode(ERRCODE_REFUSED_SHAPE),
					 errmsg("%s cannot be mixed with own tables or functions, or depend on a query around it",
							get_rel_name(entry->relid)),
					 errhint("Put what is asked of it into a subquery of its own: it is answered privately, "
							 "and what is around it works on the answer.")));
	}
	foreach(cell, query->cteList)
		guard_query(castNode(Query, lfirst_node(CommonTableExpr, cell)->ctequery), guarded);
	query_tree_walker(query, guard_sublinks, (void *) guarded, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

static void
guard_query(Query *query, List *guarded)
{
	Reach		reach = {guarded};

	reach.reaches_else = query->commandType != CMD_SELECT || query->setOperations != NULL || query->rtable == NIL;
	query_tree_walker(query, look_at_reach, (void *) &reach, QTW_EXAMINE_RTES_BEFORE);
	if (!reach.reaches_guarded)
		return;
	if (reach.reaches_else || reach.reaches_outside)
		guard_parts(query, guarded);
	else
		ask_instead(query);
}

static void
guard_statement(Query *query)
{
	List	   *guarded = NIL;

	if (query->commandType == CMD_UTILITY)
	{
		Node	   *utility = query->utilityStmt;
		Node	   *inner = IsA(utility, ExplainStmt) ? ((ExplainStmt *) utility)->query :
			IsA(utility, CreateTableAsStmt) ? ((CreateTableAsStmt *) utility)->query :
			IsA(utility, DeclareCursorStmt) ? ((DeclareCursorStmt *) utility)->query : NULL;

		if (inner != NULL && IsA(inner, Query))
			guard_statement((Query *) inner);
		return;
	}
	find_guarded((Node *) query, &guarded);
	if (guarded != NIL)
		guard_query(query, guarded);
}

static void
guard_analysed(ParseState *state, Query *query, JumbleState *jumble)
{
	if (previous_post_parse_analyze)
		previous_post_parse_analyze(state, query, jumble);
	if (!superuser())
		guard_statement(query);
}

void
install_question_hook(void)
{
	previous_post_parse_analyze = post_parse_analyze_hook;
	post_parse_analyze_hook = guard_analysed;
}
