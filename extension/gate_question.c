/*
 * gate_question.c: plain SQL. A SELECT that reaches a protected table, by a role that may not read it but holds a budget for its
 * people, becomes a SELECT from discreet.query() with the same columns. All thinking is in Python.
 *
 * The whole statement is asked where all of it can be: protected tables, and tables of others beside them. Otherwise its keys and
 * aggregates are (gate_around.c). Where the protected tables are in subqueries that aggregate, or where it reads more (own
 * tables, functions, VALUES), each subquery that stands for itself is asked, and what is around it works on the answer, in
 * PostgreSQL's own hands.
 * A protected table that remains is refused.
 *
 * What is not asked is left to PostgreSQL, which denies the table. A view denies it not, when its owner may read the
 * table; so where planner and executor meet a protected table behind a view, they refuse it, by whatever way it came
 * there: rules, policies, materialized views and bodies of SQL functions are never analysed again.
 */
#include "sealed.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

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

/* ---- what is guarded */

/* What a statement does with a relation, and by whose rights. */
typedef struct Access
{
	bool		reads;
	bool		counts;			/* how many rows it changes is told */
	Oid			owner;			/* of the view or rule it comes from; none: the current user */
	Bitmapset  *columns;
} Access;

/* Tables of the system hold no protected people, so the catalog's own views cost nothing here. */
static Access
access_of(RangeTblEntry *entry, List *permissions)
{
	Access		access = {false};
	RTEPermissionInfo *permission;

	/* from version 16 on, a view that was expanded keeps its name as a subquery */
	if ((entry->rtekind != RTE_RELATION && entry->relkind != RELKIND_VIEW) || entry->relid < FirstNormalObjectId)
		return access;
	permission = permission_of(entry, permissions);
	if (permission != NULL)
	{
		access.reads = (permission->requiredPerms & ACL_SELECT) != 0;
		access.counts = (permission->requiredPerms & (ACL_UPDATE | ACL_DELETE)) != 0;
		access.owner = permission->checkAsUser;
		access.columns = permission->selectedCols;
	}
	return access;
}

/* Every role that holds a budget, or has held one, is a member of discreet_analyst. */
static bool
is_analyst(Oid user)
{
	Oid			analysts = get_role_oid("discreet_analyst", true);

	return OidIsValid(analysts) && is_member_of_role_nosuper(user, analysts);
}

bool
analysts_at_work(void)
{
	return !superuser() &&
		(is_analyst(GetUserId()) || (GetSessionUserId() != GetUserId() && is_analyst(GetSessionUserId())));
}

/*
 * Whether the gate stands before a table: named directly, for a role that holds a budget; by a view, or by itself where
 * another role's rights come without one, for every analyst.
 */
static bool
gate_guards(Oid role, Oid table, Oid view)
{
	Oid			types[] = {OIDOID, OIDOID, OIDOID};
	Oid			function = own_function("_guards", lengthof(types), types);
	bool		snapshot = ActiveSnapshotSet();
	bool		guards;

	if (!OidIsValid(function))
		return false;
	if (!snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	guards = DatumGetBool(OidFunctionCall3(function, ObjectIdGetDatum(role), ObjectIdGetDatum(table),
										   ObjectIdGetDatum(view)));
	if (!snapshot)
		PopActiveSnapshot();
	return guards;
}

/* For analysts whose rights are not those to read: maintenance, rules. */
bool
is_guarded_itself(Oid table)
{
	return gate_guards(GetUserId(), table, table) || gate_guards(GetSessionUserId(), table, table);
}

typedef struct Search
{
	Query	   *query;
	Oid			view;			/* whose rule the query is part of, if any */
	const struct Search *above; /* the search that came to this view */
} Search;

static bool finds_guarded(Node *node, Search *search);

static bool
query_finds_guarded(Query *query, Oid view, const Search *above)
{
	Search		search = {query, view, above};

	return query_tree_walker(query, finds_guarded, (void *) &search, QTW_EXAMINE_RTES_BEFORE);
}

static bool
view_is_guarded(Oid view, const Search *above)
{
	Relation	relation;
	bool		guarded;

	/* views that name others twice are many */
	CHECK_FOR_INTERRUPTS();
	/* a view that reads itself is PostgreSQL's own error */
	for (const Search *search = above; search != NULL; search = search->above)
		if (search->view == view)
			return false;
	relation = relation_open(view, AccessShareLock);
	guarded = query_finds_guarded(get_view_query(relation), view, above);

	relation_close(relation, NoLock);
	return guarded;
}

/* A view that stands for itself: a multilevel table, or one with sealed columns, whose rows no question names otherwise. */
static bool
is_table_by_name(Oid relation)
{
	return list_member_oid(multilevel_relations(false), relation) || is_sealed_view(relation);
}

/* Whether reading a relation reads a guarded table, itself or below views, which the current user may not read. */
static bool
is_guarded(Query *query, RangeTblEntry *entry, const Search *above)
{
	Access		access = access_of(entry, permissions_of(query));

	if (!access.reads)
		return false;
	if (entry->relkind == RELKIND_VIEW && !is_table_by_name(entry->relid))
		return view_is_guarded(entry->relid, above);
	return !may_read(entry->relid, access.columns, GetUserId()) &&
		gate_guards(GetSessionUserId(), entry->relid, above == NULL ? InvalidOid : above->view);
}

static bool
finds_guarded(Node *node, Search *search)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return is_guarded(search->query, (RangeTblEntry *) node, search);
	if (IsA(node, Query))
		return query_finds_guarded((Query *) node, search->view, search->above);
	return expression_tree_walker(node, finds_guarded, (void *) search);
}

/* Through a view, how many rows are written would tell how many there are. */
static void
refuse_counting(Query *query)
{
	RangeTblEntry *target = rt_fetch(query->resultRelation, query->rtable);

	if ((query->commandType != CMD_INSERT || query->onConflict != NULL) && target->relkind == RELKIND_VIEW &&
		!is_table_by_name(target->relid) && view_is_guarded(target->relid, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for view %s", get_rel_name(target->relid)),
				 errdetail("How many rows of protected tables it meets would be told."),
				 errhint("A role that may read these tables can do this.")));
}

/* The relations that a query names, and for which the gate stands. What is written to is PostgreSQL's own matter. */
static bool
list_guarded(Node *node, List **guarded)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		int			index = 0;
		ListCell   *cell;

		if (query->resultRelation != 0)
			refuse_counting(query);
		foreach(cell, query->rtable)
		{
			RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

			if (++index != query->resultRelation && !list_member_oid(*guarded, entry->relid) &&
				is_guarded(query, entry, NULL))
				*guarded = lappend_oid(*guarded, entry->relid);
		}
		return query_tree_walker(query, list_guarded, (void *) guarded, 0);
	}
	return expression_tree_walker(node, list_guarded, (void *) guarded);
}

/* ---- which queries can be asked as a whole */

#define DEEPEST 100

typedef struct Reach
{
	List	   *guarded;
	int			depth;
	bool		reaches_guarded;
	bool		reaches_outside;	/* columns, aggregates or WITH queries of a query around it */
	bool		reaches_else;		/* what the gate does not know: own tables, functions in FROM, … */
} Reach;

/* Whether an expression names a column, of this query or of one around it. */
static bool
names_column(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Var) || expression_tree_walker(node, names_column, context);
}

/* What the gate knows of functions: elements of a value of a row (gate/elements.py), series of constants (gate/given.py). */
static bool
gives_known_rows(RangeTblEntry *entry)
{
	Node	   *call;

	if (entry->funcordinality || list_length(entry->functions) != 1)
		return false;
	call = linitial_node(RangeTblFunction, entry->functions)->funcexpr;
	if (!IsA(call, FuncExpr))
		return false;
	switch (((FuncExpr *) call)->funcid)
	{
		case F_UNNEST_ANYARRAY:
			return names_column(call, NULL) || !contain_volatile_functions(call);
		case F_JSONB_ARRAY_ELEMENTS:
		case F_JSONB_ARRAY_ELEMENTS_TEXT:
		case F_JSONB_OBJECT_KEYS:
			return names_column(call, NULL);
		case F_GENERATE_SERIES_INT4_INT4:
		case F_GENERATE_SERIES_INT4_INT4_INT4:
		case F_GENERATE_SERIES_INT8_INT8:
		case F_GENERATE_SERIES_INT8_INT8_INT8:
		case F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL:
		case F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL:
			return !names_column(call, NULL) && !contain_volatile_functions(call);
		default:
			return false;
	}
}

static void
look_at_entry(RangeTblEntry *entry, Reach *reach)
{
	if (is_group_entry(entry))
		return;
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			if (list_member_oid(reach->guarded, entry->relid))
				reach->reaches_guarded = true;
			else if ((entry->relkind != RELKIND_RELATION && entry->relkind != RELKIND_PARTITIONED_TABLE &&
					  entry->relkind != RELKIND_VIEW) ||
					 owns_relation(entry->relid, GetSessionUserId()))
				reach->reaches_else = true;
			/* by its name the gate would find another relation, or none */
			if (get_rel_persistence(entry->relid) == RELPERSISTENCE_TEMP)
				reach->reaches_else = true;
			break;
		case RTE_CTE:
			if (entry->ctelevelsup > reach->depth)
				reach->reaches_outside = true;
			break;
		case RTE_SUBQUERY:
		case RTE_JOIN:
			break;
		case RTE_FUNCTION:
			if (!gives_known_rows(entry))
				reach->reaches_else = true;
			break;
		case RTE_VALUES:
			if (names_column((Node *) entry->values_lists, NULL) || contain_volatile_functions((Node *) entry->values_lists))
				reach->reaches_else = true;
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
		/* each level is looked at from every level above it */
		if (++reach->depth > DEEPEST)
			ereport(ERROR,
					(errcode(ERRCODE_REFUSED_SHAPE), errmsg("the question is nested too deeply"),
					 errhint("Write it with fewer levels.")));
		query_tree_walker((Query *) node, look_at_reach, (void *) reach, QTW_EXAMINE_RTES_BEFORE);
		reach->depth--;
		return false;
	}
	if (IsA(node, RangeTblEntry))
		return false;
	return expression_tree_walker(node, look_at_reach, (void *) reach);
}

static Reach
reach_of(Query *query, List *guarded)
{
	Reach		reach = {guarded};

	query_tree_walker(query, look_at_reach, (void *) &reach, QTW_EXAMINE_RTES_BEFORE);
	return reach;
}

bool
reaches_guarded(Query *query, List *guarded)
{
	return reach_of(query, guarded).reaches_guarded;
}

static bool aggregates_below(Query *query, List *guarded);

/* A subquery that is no answer of its own, though it reads what is guarded: it has rows of single people, or one for each. */
static bool
is_no_answer(Node *node, List *guarded)
{
	Query	   *query = (Query *) node;
	Reach		reach;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, is_no_answer, (void *) guarded);
	reach = reach_of(query, guarded);
	if (!reach.reaches_guarded)
		return false;
	if (groups_by_people(query))
		return true;
	if (!reach.reaches_outside && (query->hasAggs || query->groupClause || query->groupingSets))
		return false;
	return !aggregates_below(query, guarded);
}

/* Whether a query reads what is guarded only by subqueries that aggregate. */
static bool
aggregates_below(Query *query, List *guarded)
{
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && list_member_oid(guarded, entry->relid))
			return false;
	}
	return !query_tree_walker(query, is_no_answer, (void *) guarded, 0);
}

/* Whether a query reads what is guarded only by answers: its own, or those of subqueries. */
bool
reads_answers_only(Query *query, List *guarded)
{
	if (query->setOperations == NULL && (query->hasAggs || query->groupClause || query->groupingSets))
		return !groups_by_people(query);
	return aggregates_below(query, guarded);
}

/* ---- the question in place of a query */

/* What is known when the statement runs gets numbers from 1 on, in the order of the list, and says its type. */
static Node *
number_parameters(Node *node, List **parameters)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, number_parameters, (void *) parameters, 0);
	if (is_known_at_run(node))
	{
		Param	   *numbered = makeNode(Param);

		*parameters = list_append_unique(*parameters, copyObject(node));
		numbered->paramkind = PARAM_EXTERN;
		numbered->paramtype = exprType(node);
		numbered->paramtypmod = -1;
		numbered->paramcollid = exprCollation(node);
		numbered->location = -1;
		numbered->paramid = 1;
		while (!equal(list_nth(*parameters, numbered->paramid - 1), node))
			numbered->paramid++;
		/* without its modifier, to which the value has been fitted already */
		return (Node *) makeRelabelType((Expr *) numbered, numbered->paramtype, -1, numbered->paramcollid,
										COERCE_EXPLICIT_CAST);
	}
	return expression_tree_mutator(node, number_parameters, (void *) parameters);
}

/*
 * A text that means the same under all settings: names outside pg_catalog have their schema, and constants are written
 * as discreet.query() reads them.
 */
char *
canonical_text(Query *query)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"}, {"DateStyle", "ISO, MDY"}, {"IntervalStyle", "postgres"},
		{"TimeZone", "UTC"}, {"extra_float_digits", "1"}, {"bytea_output", "hex"}, {"quote_all_identifiers", "off"},
		{"standard_conforming_strings", "on"},
	};
	int			level = NewGUCNestLevel();
	char	   *text;

	for (int n = 0; n < lengthof(settings); n++)
		(void) set_config_option(settings[n][0], settings[n][1], PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	text = pg_get_querydef(query, false);
	AtEOXact_GUC(true, level);
	return text;
}

/* The statement whose numbers get their errors beside them (discreet.with_error): one that is sent to be read. */
static Query *read_with_errors = NULL;

/* Types of the columns of errors, one for each column of a question; of an exact column it is empty. */
static List *
error_types(Query *query, const char *question, int parameters)
{
	Oid			types[] = {TEXTOID, INT4OID};
	char	   *told;
	List	   *found = NIL;

	if (query != read_with_errors)
		return NIL;
	told = TextDatumGetCString(OidFunctionCall2(own_function("_error_types", lengthof(types), types),
												CStringGetTextDatum(question), Int32GetDatum(parameters)));
	for (char *type = told; type != NULL && *told != '\0';)
	{
		char	   *end = strchr(type, ';');

		found = lappend(found, end == NULL ? type : pnstrdup(type, end - type));
		type = end == NULL ? NULL : end + 1;
	}
	return found;
}

/*
 * SELECT t.c1 AS dept, t.c2 AS count FROM discreet.query('…') AS t(c1 text, c2 bigint); with errors, these are columns of names of
 * their own: t.e2 AS count_error.
 */
static char *
question_sql(const char *text, Query *query, List *errors)
{
	StringInfoData names,
				columns;
	ListCell   *cell;
	int			n = 0;

	initStringInfo(&names);
	initStringInfo(&columns);
	foreach(cell, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);
		Oid			type = exprType((Node *) target->expr);
		int32		modifier = exprTypmod((Node *) target->expr);
		Oid			base = getBaseTypeAndTypmod(type, &modifier);

		if (target->resjunk)
			continue;
		n++;
		if (type == UNKNOWNOID)
			type = base = TEXTOID;
		if (type == TIMESTAMPTZOID && is_wall_clock(query, (Node *) target->expr))
			base = TIMESTAMPOID;
		/* out here, by the rights of who asks, the checks of a domain are run, and a time zone is given */
		appendStringInfo(&names, "%st.c%d%s%s AS %s", n > 1 ? ", " : "", n, base == type ? "" : "::",
						 base == type ? "" : format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY),
						 quote_identifier(target->resname ? target->resname : "?column?"));
		appendStringInfo(&columns, "%sc%d %s", n > 1 ? ", " : "", n,
						 format_type_extended(base, modifier, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		if (n <= list_length(errors) && *(char *) list_nth(errors, n - 1) != '\0')
		{
			appendStringInfo(&names, ", t.e%d AS %s", n,
							 quote_identifier(psprintf("%s_error", target->resname ? target->resname : "?column?")));
			appendStringInfo(&columns, ", e%d %s", n, (char *) list_nth(errors, n - 1));
		}
	}
	if (n == 0)
		return NULL;
	return psprintf("SELECT %s FROM discreet.query(%s, NULL::pg_catalog.numeric, NULL::pg_catalog.text[], %s"
					"as_of => NULL::pg_catalog.timestamptz) AS t(%s)",
					names.data, quote_literal_cstr(text), errors == NIL ? "" : "with_error => true, ", columns.data);
}

/* ARRAY[discreet._parameter($1), …] */
static Node *
parameter_array(List *parameters)
{
	ArrayExpr  *array = makeNode(ArrayExpr);
	Oid			any = ANYELEMENTOID;
	Oid			function = own_function("_parameter", 1, &any);
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
	List	   *parameters = NIL;
	bool		moved;
	Query	   *numbered = query_tree_mutator(with_moved_clock(fold_constants(query), &moved), number_parameters,
											  (void *) &parameters, QTW_DONT_COPY_QUERY);
	char	   *text = canonical_text(numbered);
	char	   *sql = question_sql(text, query, error_types(query, text, list_length(parameters)));
	ParseState *state = make_parsestate(NULL);
	Query	   *question;
	Query		kept = *query;

	if (sql == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_REFUSED_SHAPE), errmsg("an empty select list"),
				 errhint("Ask for counts, sums or averages.")));
	/* no source text: places in it would mislead the author of another text */
	question = transformTopLevelStmt(state, linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT)));
	free_parsestate(state);
	if (parameters != NIL)
	{
		RangeTblFunction *call = linitial_node(RangeTblFunction, linitial_node(RangeTblEntry, question->rtable)->functions);

		lthird(castNode(FuncExpr, call->funcexpr)->args) = parameter_array(parameters);
		if (moved)
			llast_node(NamedArgExpr, castNode(FuncExpr, call->funcexpr)->args)->arg = (Expr *) as_of_call();
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

/* Asks for keys and aggregates of a query, where these can be asked, and leaves what stands around them to PostgreSQL. */
static bool
ask_below(Query *query, List *guarded)
{
	Query	   *over;
	Query	   *below = divided(query, &over);
	Reach		reach;
	ListCell   *cell;

	if (below == NULL)
		return false;
	reach = reach_of(below, guarded);
	if (!reach.reaches_guarded || reach.reaches_else || reach.reaches_outside)
		return false;
	ask_instead(below);
	*query = *over;
	foreach(cell, query->cteList)
		guard_query(castNode(Query, lfirst_node(CommonTableExpr, cell)->ctequery), guarded);
	query_tree_walker(query, guard_sublinks, (void *) guarded, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	return true;
}

static bool
is_number_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
}

/* An aggregate over rows of an answer that the gate does not add up: it is left to PostgreSQL. */
static bool
is_other_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		Aggref	   *call = (Aggref *) node;
		Node	   *value = call->args == NIL ? NULL : (Node *) linitial_node(TargetEntry, call->args)->expr;
		char	   *name = get_func_name(call->aggfnoid);
		bool		counts = strcmp(name, "count") == 0;
		bool		adds = strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0 || strcmp(name, "min") == 0 ||
			strcmp(name, "max") == 0;

		if (call->aggfnoid >= FirstNormalObjectId || call->aggfilter != NULL || call->aggdistinct != NIL ||
			call->aggorder != NIL || (value != NULL && !IsA(value, Var)))
			return true;
		/* texts, dates and enums have an order of their own */
		return !counts && !(adds && value != NULL && is_number_type(exprType(value)));
	}
	return expression_tree_walker(node, is_other_aggregate, context);
}

/* Texts, dates and values of users' types are compared and computed with as PostgreSQL knows them. */
static bool
has_other_values(Node *node, void *context)
{
	if (node == NULL || IsA(node, Aggref))
		return false;
	if (IsA(node, Var))
		return !is_number_type(((Var *) node)->vartype);
	return expression_tree_walker(node, has_other_values, context);
}

/* A column of the answer as it is, or a number made of its numbers. */
static bool
is_other_column(TargetEntry *target)
{
	Node	   *value = (Node *) target->expr;

	return !IsA(value, Var) && (has_other_values(value, NULL) || is_other_aggregate(value, NULL));
}

/*
 * Whether a query adds up, or chooses by their numbers, the rows of one answer, and does no more. The gate is asked it as a
 * whole: it says how exact that is, that noise chooses the rows, and that groups without people are among them.
 */
static bool
works_on_answer(Query *query, List *guarded)
{
	RangeTblEntry *entry = list_length(query->rtable) == 1 ? linitial_node(RangeTblEntry, query->rtable) : NULL;
	Query	   *below = entry != NULL && entry->rtekind == RTE_SUBQUERY && !entry->lateral ? entry->subquery : NULL;
	bool		chooses = query->jointree->quals != NULL || (query->limitCount != NULL && query->sortClause != NIL);
	ListCell   *cell;

	if (below == NULL || !(query->hasAggs || chooses) || list_length(query->jointree->fromlist) != 1 ||
		query->havingQual != NULL || query->hasWindowFuncs || query->hasSubLinks || query->distinctClause != NIL ||
		query->groupingSets != NIL || query->cteList != NIL || query->rowMarks != NIL || !is_followed(query) ||
		!is_followed_condition(query->jointree->quals) || has_other_values(query->jointree->quals, NULL))
		return false;
	foreach(cell, query->targetList)
	{
		if (is_other_column(lfirst_node(TargetEntry, cell)))
			return false;
	}
	foreach(cell, query->groupClause)
	{
		if (!IsA(get_sortgroupclause_tle(lfirst_node(SortGroupClause, cell), query->targetList)->expr, Var))
			return false;
	}
	return below->commandType == CMD_SELECT && below->setOperations == NULL && below->groupClause != NIL &&
		below->groupingSets == NIL && below->cteList == NIL && !below->hasSubLinks && below->distinctClause == NIL &&
		below->limitCount == NULL && below->limitOffset == NULL && !groups_by_people(below) &&
		!aggregates_below(below, guarded) && is_followed(below);
}

static void
guard_query(Query *query, List *guarded)
{
	Reach		reach = reach_of(query, guarded);
	bool		known = !reach.reaches_else && !reach.reaches_outside;

	if (!reach.reaches_guarded)
		return;
	if (query->cteList != NIL && !aggregates_below(query, guarded))
	{
		Query	   *moved = with_queries_moved(query, guarded);

		if (aggregates_below(moved, guarded))
			*query = *moved;
	}
	if (known && query->commandType == CMD_SELECT && query->setOperations == NULL && works_on_answer(query, guarded))
		ask_instead(query);
	else if (query->commandType != CMD_SELECT || query->setOperations != NULL || query->rtable == NIL ||
			 aggregates_below(query, guarded))
		guard_parts(query, guarded);
	else if (known && is_followed(query))
		ask_instead(query);
	else if (!ask_below(query, guarded))
	{
		if (known)
			ask_instead(query);
		else
			guard_parts(query, guarded);
	}
}

/* The query of a statement, as far as it has one; of a utility statement that runs one, the query it runs. */
pg_attribute_hot Query *
query_of(Query *statement)
{
	Node	   *utility = statement->utilityStmt;
	Node	   *inner;

	if (statement->commandType != CMD_UTILITY)
		return statement;
	inner = IsA(utility, ExplainStmt) ? ((ExplainStmt *) utility)->query :
		IsA(utility, CreateTableAsStmt) ? ((CreateTableAsStmt *) utility)->query :
		IsA(utility, DeclareCursorStmt) ? ((DeclareCursorStmt *) utility)->query : NULL;
	return inner != NULL && IsA(inner, Query) ? query_of((Query *) inner) : NULL;
}

/* After analysis: what of a query is guarded for the asker becomes a question. */
void
ask_guarded(Query *query)
{
	List	   *guarded = NIL;

	if (InSecurityRestrictedOperation() || !analysts_at_work())
		return;
	if (!is_making_view())
		show_askable(query);
	list_guarded((Node *) query, &guarded);
	if (guarded == NIL || keeps_view(query, guarded))
		return;
	answer_without_rows(query, guarded);
	read_with_errors = with_error && query->commandType == CMD_SELECT ? query : NULL;
	guard_query(query, guarded);
	check_view(query);
}

/* ---- behind views */

static bool
names_table(Node *node, Oid *table)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION && ((RangeTblEntry *) node)->relid == *table;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, names_table, (void *) table, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, names_table, (void *) table);
}

/* Of the views that a statement goes through, those that name a table. */
static List *
views_naming(Oid table, List *relations, List *views)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		/* the rule of a multilevel table names itself */
		if (OidIsValid(entry->relid) && entry->relkind == RELKIND_VIEW && entry->relid != table &&
			!list_member_oid(views, entry->relid))
		{
			Relation	view = relation_open(entry->relid, AccessShareLock);

			if (names_table((Node *) get_view_query(view), &table))
				views = lappend_oid(views, entry->relid);
			relation_close(view, NoLock);
		}
	}
	return views;
}

/*
 * Refuses what would be read by the rights of another role. An exempted view must be the only way to it; no view names
 * what a rule or a policy reads.
 */
static void
refuse_guarded(Oid table, List *views)
{
	if (views == NIL)
		views = list_make1_oid(table);
	for (int n = 0; n < list_length(views); n++)
		if (gate_guards(GetUserId(), table, list_nth_oid(views, n)) ||
			gate_guards(GetSessionUserId(), table, list_nth_oid(views, n)))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for table %s", get_rel_name(table)),
					 errdetail("It is protected, and used by the rights of another role."),
					 errhint("Ask it, or the view, by a SELECT of its own, which is answered privately.")));
}

/* What a statement does with a multilevel table, while what holds its rows is planned. */
static Access
access_through(Oid view, PlannerInfo *root)
{
	Access		access = {false};

	for (PlannerInfo *around = root; around != NULL && !access.reads; around = around->parent_root)
	{
		ListCell   *cell;

		foreach(cell, around->parse->rtable)
			if (lfirst_node(RangeTblEntry, cell)->relid == view && !access.reads)
				access = access_of(lfirst_node(RangeTblEntry, cell), permissions_of(around->parse));
	}
	return access;
}

/* Before the planner looks at the statistics of a relation, which hold values of its rows; parts of a UNION ALL too. */
void
guard_planned(PlannerInfo *root, Oid table, RelOptInfo *relation)
{
	Access		access = access_of(root->simple_rte_array[relation->relid], permissions_of(root->parse));
	Oid			view;

	if (!access.reads || !OidIsValid(access.owner) || !analysts_at_work())
		return;
	view = multilevel_view_of(table);
	if (!OidIsValid(view))
		view = sealed_view_of(table);
	if (OidIsValid(view))
	{
		access = access_through(view, root);
		table = view;
	}
	if (access.reads && OidIsValid(access.owner) && !may_read(table, access.columns, GetUserId()))
	{
		List	   *views = NIL;

		for (PlannerInfo *around = root; around != NULL; around = around->parent_root)
			views = views_naming(table, around->parse->rtable, views);
		refuse_guarded(table, views);
	}
}

/* Before each execution: the plan may have been made for another role. */
void
guard_executed(List *relations, List *permissions)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);
		Access		access = access_of(entry, permissions);

		if ((access.reads || access.counts) && OidIsValid(access.owner) && analysts_at_work() &&
			(entry->relkind != RELKIND_VIEW || is_table_by_name(entry->relid)) &&
			!may_read(entry->relid, access.columns, GetUserId()))
			/* an exempted view may stand beside what is changed, without being the way to it */
			refuse_guarded(entry->relid, access.counts ? NIL : views_naming(entry->relid, relations, NIL));
	}
}

/* Rows that are there already, and so are not inserted, would be counted. */
static void
refuse_conflicts(ModifyTable *change, PlannedStmt *statement)
{
	RangeTblEntry *target;
	Access		access;

	if (change == NULL || !IsA(change, ModifyTable) || change->onConflictAction == ONCONFLICT_NONE)
		return;
	target = rt_fetch(linitial_int(change->resultRelations), statement->rtable);
	access = access_of(target, permissions_of_plan(statement));
	if (OidIsValid(access.owner) && analysts_at_work() && !may_read(target->relid, NULL, GetUserId()))
		refuse_guarded(target->relid, NIL);
}

/* Before a statement starts. */
void
guard_conflicts(PlannedStmt *statement)
{
	ListCell   *cell;

	refuse_conflicts((ModifyTable *) statement->planTree, statement);
	foreach(cell, statement->subplans)
		refuse_conflicts((ModifyTable *) lfirst(cell), statement);
}
