/*
 * sealed_statements.c: statements on a table with sealed columns become statements on what holds its rows.
 *
 * Users know the table as a view, whose sealed columns are calls of _unseal(). To read it PostgreSQL needs no help. A statement that
 * writes it is aimed at the base table here, after analysis, when all types and names are settled: columns of the view
 * become what the view computes, and what is written to a sealed column becomes a call of _seal(). From there on the statement is an
 * ordinary one: defaults, constraints, ON CONFLICT, RETURNING, triggers and plans are PostgreSQL's own.
 */
#include "sealed.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parse_func.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(discreet_sealed_insert);
PG_FUNCTION_INFO_V1(discreet_as_owner);

/* set by a superuser or a user: comparisons that no index can help may decrypt every row */
bool		sealed_scan = false;

/* A view of a sealed table, and what its columns are made of. */
typedef struct Target
{
	Relation	view;
	Relation	base;
	List	   *columns;		/* target list of the view, its columns those of range table entry `index` */
	int			index;
	AttrNumber	row;			/* column with the id of the row */
} Target;

/* ---- what a column of the view is made of */

static AttrNumber
base_column(Target *target, AttrNumber column)
{
	TargetEntry *entry = get_tle_by_resno(target->columns, column);
	FuncExpr   *call = entry == NULL ? NULL : unsealing((Node *) entry->expr);
	Node	   *from = call != NULL ? linitial(call->args) : entry == NULL ? NULL : (Node *) entry->expr;

	if (from == NULL || !IsA(from, Var))
		elog(ERROR, "column %d of a sealed table is unknown", column);
	return ((Var *) from)->varattno;
}

static FuncExpr *
unsealing_of(Target *target, AttrNumber column)
{
	TargetEntry *entry = get_tle_by_resno(target->columns, column);

	return entry == NULL ? NULL : unsealing((Node *) entry->expr);
}

/* _seal(value, id of the row, id of the column); a new row gets its id when it is planned. */
static Expr *
sealing(Target *target, FuncExpr *unseals, Node *value, bool new_row, int index)
{
	Expr	   *row = new_row ? (Expr *) makeNullConst(INT8OID, -1, InvalidOid) :
		(Expr *) makeVar(index, target->row, INT8OID, -1, InvalidOid, 0);

	return (Expr *) makeFuncExpr(seal_function(), BYTEAOID, list_make3(value, row, copyObject(lthird(unseals->args))),
								 InvalidOid, exprCollation(value), COERCE_EXPLICIT_CALL);
}

/* What a column gets where a statement says DEFAULT; NULL for nothing. */
static Node *
default_of(Target *target, AttrNumber column)
{
	return build_column_default(target->view, column);
}

/* ---- values */

static void
replace_defaults(Query *query, Target *target, Var *values, AttrNumber column)
{
	RangeTblEntry *entry = rt_fetch(values->varno, query->rtable);
	Form_pg_attribute of = TupleDescAttr(RelationGetDescr(target->view), column - 1);
	ListCell   *row;

	if (entry->rtekind != RTE_VALUES)
		return;
	foreach(row, entry->values_lists)
	{
		ListCell   *cell = list_nth_cell(lfirst(row), values->varattno - 1);
		Node	   *value;

		if (!IsA(lfirst(cell), SetToDefault))
			continue;
		value = default_of(target, column);
		lfirst(cell) = value != NULL ? value : (Node *) makeNullConst(of->atttypid, of->atttypmod, of->attcollation);
	}
}

/* The columns that an INSERT or UPDATE sets, of the view, as columns of the base table. */
static List *
aimed_columns(Query *query, Target *target, List *set, bool new_row, int index)
{
	List	   *aimed = NIL;
	Bitmapset  *seen = NULL;
	ListCell   *cell;

	foreach(cell, set)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		FuncExpr   *unseals;

		if (entry->resjunk)
		{
			aimed = lappend(aimed, entry);
			continue;
		}
		unseals = unsealing_of(target, entry->resno);
		if (unseals != NULL)
		{
			if (bms_is_member(entry->resno, seen))
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("parts of sealed column \"%s\" cannot be set one by one", entry->resname),
						 errhint("Set its whole value.")));
			seen = bms_add_member(seen, entry->resno);
			if (IsA(entry->expr, SetToDefault))
			{
				Node	   *value = default_of(target, entry->resno);

				if (value == NULL && new_row)
					continue;
				if (value == NULL)
					value = (Node *) makeNullConst(exprType((Node *) entry->expr), exprTypmod((Node *) entry->expr),
												   exprCollation((Node *) entry->expr));
				entry->expr = (Expr *) value;
			}
			else if (new_row)
			{
				Node	   *value = (Node *) entry->expr;

				while (IsA(value, RelabelType))
					value = (Node *) ((RelabelType *) value)->arg;
				if (IsA(value, Var))
					replace_defaults(query, target, (Var *) value, entry->resno);
			}
			entry->expr = sealing(target, unseals, (Node *) entry->expr, new_row, index);
		}
		entry->resno = base_column(target, entry->resno);
		aimed = lappend(aimed, entry);
	}
	if (!new_row)
		return aimed;
	/* sealed columns that are not named get their defaults; the others' are the base table's own */
	foreach(cell, target->columns)
	{
		TargetEntry *column = lfirst_node(TargetEntry, cell);
		FuncExpr   *unseals = unsealing((Node *) column->expr);
		Node	   *value = unseals == NULL || bms_is_member(column->resno, seen) ? NULL : default_of(target, column->resno);

		if (value != NULL)
			aimed = lappend(aimed, makeTargetEntry(sealing(target, unseals, value, true, index),
												   base_column(target, column->resno), column->resname, false));
	}
	return aimed;
}

/* ---- the range table */

/* Columns of the view, as a set of those of the base table. */
static Bitmapset *
base_columns(Target *target, Bitmapset *columns)
{
	Bitmapset  *mapped = NULL;
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		AttrNumber	number = column + FirstLowInvalidHeapAttributeNumber;

		if (number > 0)
			mapped = bms_add_member(mapped, base_column(target, number) - FirstLowInvalidHeapAttributeNumber);
	}
	return mapped;
}

/* An entry for the base table, used by the rights of who owns the view; the view's own stays, for the caller's rights. */
static int
add_base(Query *query, Target *target, RangeTblEntry *of_view)
{
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	RTEPermissionInfo *of_caller = permission_of(of_view, permissions_of(query));
	RTEPermissionInfo *of_owner;

	entry->rtekind = RTE_RELATION;
	entry->relid = RelationGetRelid(target->base);
	entry->relkind = target->base->rd_rel->relkind;
	entry->rellockmode = of_view->rellockmode;
	entry->alias = of_view->alias;
	entry->eref = makeAlias(of_view->eref->aliasname, NIL);
	for (int n = 0; n < RelationGetNumberOfAttributes(target->base); n++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(target->base), n);

		entry->eref->colnames = lappend(entry->eref->colnames,
										makeString(column->attisdropped ? pstrdup("") : pstrdup(NameStr(column->attname))));
	}
	entry->inh = false;
	entry->inFromCl = of_view->inFromCl;
	of_owner = new_permission(query, entry);
	of_owner->checkAsUser = target->view->rd_rel->relowner;
	of_owner->requiredPerms = of_caller->requiredPerms;
	of_owner->selectedCols = base_columns(target, of_caller->selectedCols);
	of_owner->insertedCols = base_columns(target, of_caller->insertedCols);
	of_owner->updatedCols = base_columns(target, of_caller->updatedCols);
	query->rtable = lappend(query->rtable, entry);
	return list_length(query->rtable);
}

/* The columns of the view as those of another entry of the range table. */
static List *
columns_of_entry(Target *target, int index)
{
	List	   *columns = copyObject(target->columns);

	ChangeVarNodes((Node *) columns, target->index, index, 0);
	return columns;
}

/* ---- ON CONFLICT */

static void
aim_conflict(Query *query, Target *target, RangeTblEntry *of_view)
{
	OnConflictExpr *conflict = query->onConflict;
	int			before = conflict->exclRelIndex;
	ParseNamespaceItem *excluded;
	ListCell   *cell;

	/* a unique index on a searchable column is one on its ciphertext */
	foreach(cell, conflict->arbiterElems)
	{
		InferenceElem *element = lfirst_node(InferenceElem, cell);
		FuncExpr   *call = unsealing(element->expr);

		if (call == NULL)
			continue;
		if (!sealed_column(DatumGetUUIDP(((Const *) lthird(call->args))->constvalue))->searchable)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("ON CONFLICT cannot name a sealed column that is not searchable"),
					 errhint("Name other columns, or seal it with searchable => true.")));
		element->expr = copyObject(linitial(call->args));
	}
	if (conflict->action != ONCONFLICT_UPDATE)
		return;
	conflict->onConflictSet = aimed_columns(query, target, conflict->onConflictSet, false, query->resultRelation);

	excluded = addRangeTableEntryForRelation(make_parsestate(NULL), target->base, RowExclusiveLock,
											 makeAlias("excluded", NIL), false, false);
	excluded->p_rte->relkind = RELKIND_COMPOSITE_TYPE;
	without_permission(excluded->p_rte);
	query->rtable = lappend(query->rtable, excluded->p_rte);
	conflict->exclRelIndex = list_length(query->rtable);
	conflict->exclRelTlist = BuildOnConflictExcludedTargetlist(target->base, conflict->exclRelIndex);
	query->onConflict = (OnConflictExpr *)
		replace_vars((Node *) conflict, before, of_view, columns_of_entry(target, conflict->exclRelIndex),
					 query->resultRelation, &query->hasSubLinks);
}

/* ---- the statement */

/* Whether an expression calls anything that is neither built in nor _unseal(); domains have CHECKs. */
static bool
contains_code(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || IsA(node, SubLink))
		return true;
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid >= FirstNormalObjectId &&
		((FuncExpr *) node)->funcid != unseal_function())
		return true;
	return expression_tree_walker(node, contains_code, argument);
}

/* Whether a view reads one table, as it is: its owner can replace it. */
static bool
reads_only(Query *definition, Oid table)
{
	List	   *from = definition->jointree->fromlist;
	RangeTblEntry *entry;

	if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef) || definition->jointree->quals != NULL ||
		definition->setOperations != NULL || definition->distinctClause != NIL || definition->groupClause != NIL ||
		definition->groupingSets != NIL || definition->havingQual != NULL || definition->hasAggs ||
		definition->hasWindowFuncs || definition->hasTargetSRFs || definition->limitCount != NULL ||
		definition->limitOffset != NULL || definition->cteList != NIL)
		return false;
	entry = rt_fetch(linitial_node(RangeTblRef, from)->rtindex, definition->rtable);
	return entry->rtekind == RTE_RELATION && entry->relid == table && entry->tablesample == NULL;
}

pg_noreturn static void
refuse_replaced(Relation view, Relation base)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("view \"%s\" is not what discreet.seal_column() made of the table", RelationGetRelationName(view)),
			 errhint("Restore its definition: the columns of \"%s\", those that are sealed by discreet._unseal().",
					 RelationGetRelationName(base))));
}

/* An error unless a view shows columns and unsealed columns of its base table, and runs no code beside that. */
void
require_sealed_view(Oid view, Oid base)
{
	Relation	known_as = table_open(view, AccessShareLock);
	Relation	holds = table_open(base, AccessShareLock);
	Query	   *definition = known_as->rd_rel->relkind == RELKIND_VIEW ? get_view_query(known_as) : NULL;
	bool		good = definition != NULL && reads_only(definition, base);
	ListCell   *cell;

	foreach(cell, good ? definition->targetList : NIL)
	{
		Node	   *column = (Node *) lfirst_node(TargetEntry, cell)->expr;
		FuncExpr   *call = unsealing(column);

		good &= IsA(column, Var) || (call != NULL && IsA(lsecond(call->args), Var) && !contains_code(column, NULL));
	}
	if (!good)
		refuse_replaced(known_as, holds);
	table_close(holds, NoLock);
	table_close(known_as, NoLock);
}

static void
aim(Query *query)
{
	int			before = query->resultRelation;
	RangeTblEntry *of_view = rt_fetch(before, query->rtable);
	Query	   *definition;
	Target		target;
	ListCell   *cell;
	int			index;

	target.view = table_open(of_view->relid, NoLock);
	target.base = table_open(sealed_base_of(of_view->relid), RowExclusiveLock);
	target.row = get_attnum(RelationGetRelid(target.base), "_row_id");
	definition = get_view_query(target.view);
	if (!reads_only(definition, RelationGetRelid(target.base)) || target.row == InvalidAttrNumber)
		refuse_replaced(target.view, target.base);
	target.index = linitial_node(RangeTblRef, definition->jointree->fromlist)->rtindex;
	target.columns = definition->targetList;
	if (query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE && query->commandType != CMD_DELETE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("MERGE is not supported on tables with sealed columns"),
				 errhint("Use INSERT … ON CONFLICT.")));

	index = add_base(query, &target, of_view);
	target.columns = columns_of_entry(&target, index);
	target.index = index;

	/* what is read of the row that is written */
	if (query->commandType != CMD_INSERT || query->returningList != NIL || query->onConflict != NULL)
	{
		Query	   *replaced = (Query *) replace_vars((Node *) query, before, of_view, target.columns, index, NULL);

		*query = *replaced;
		of_view = rt_fetch(before, query->rtable);
	}
	ChangeVarNodes((Node *) query, before, index, 0);
	query->resultRelation = index;
	if (query->commandType != CMD_DELETE)
		query->targetList = aimed_columns(query, &target, query->targetList, query->commandType == CMD_INSERT, index);
	if (query->onConflict != NULL)
		aim_conflict(query, &target, of_view);
	foreach(cell, query->returningList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		entry->resorigtbl = InvalidOid;
		entry->resorigcol = 0;
	}
	table_close(target.base, NoLock);
	table_close(target.view, NoLock);
}

/* ---- comparisons that ciphertext cannot answer */

static bool
is_pattern(const char *name)
{
	static const char *const names[] = {"~~", "!~~", "~~*", "!~~*", "~", "!~", "~*", "!~*", "^@"};

	for (int n = 0; n < lengthof(names); n++)
		if (strcmp(name, names[n]) == 0)
			return true;
	return false;
}

static bool
is_range(Oid operator)
{
	ListCell   *cell;

	foreach(cell, comparisons_of(operator))
	{
		StrategyNumber as = strategy_of(lfirst(cell));

		if (as == BTLessStrategyNumber || as == BTLessEqualStrategyNumber || as == BTGreaterStrategyNumber ||
			as == BTGreaterEqualStrategyNumber)
			return true;
	}
	return false;
}

static bool
look_at_condition(Node *node, Query *query)
{
	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) || IsA(node, ScalarArrayOpExpr))
	{
		Oid			operator = IsA(node, OpExpr) ? ((OpExpr *) node)->opno : ((ScalarArrayOpExpr *) node)->opno;
		List	   *arguments = IsA(node, OpExpr) ? ((OpExpr *) node)->args : ((ScalarArrayOpExpr *) node)->args;
		ListCell   *cell;

		foreach(cell, arguments)
		{
			Node	   *argument = lfirst(cell);
			RangeTblEntry *entry;
			const SealedColumn *column;
			char	   *name;

			while (IsA(argument, RelabelType))
				argument = (Node *) ((RelabelType *) argument)->arg;
			if (!IsA(argument, Var) || ((Var *) argument)->varlevelsup != 0 || ((Var *) argument)->varattno < 1)
				continue;
			entry = rt_fetch(((Var *) argument)->varno, query->rtable);
			if (entry->rtekind != RTE_RELATION || !is_sealed_view(entry->relid))
				continue;
			name = get_attname(entry->relid, ((Var *) argument)->varattno, false);
			column = sealed_column_of(entry->relid, name);
			if (column == NULL || !(is_range(operator) || is_pattern(get_opname(operator))))
				continue;
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" is sealed, so that ranges and patterns cannot be searched for", name),
					 errdetail("Operator %s would have to decrypt the column in every row of the table.",
							   get_opname(operator)),
					 errhint("SET discreet.sealed_scan = on to have every row decrypted.")));
		}
	}
	return expression_tree_walker(node, look_at_condition, (void *) query);
}

static void look_at_conditions(Node *node, Query *query);

static void
look_at_conditions(Node *node, Query *query)
{
	ListCell   *cell;

	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			look_at_conditions(lfirst(cell), query);
		look_at_condition(((FromExpr *) node)->quals, query);
	}
	else if (IsA(node, JoinExpr))
	{
		look_at_conditions(((JoinExpr *) node)->larg, query);
		look_at_conditions(((JoinExpr *) node)->rarg, query);
		look_at_condition(((JoinExpr *) node)->quals, query);
	}
}

static bool
aim_queries(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		/* the gate reads every row in any case */
		if (!sealed_scan && !InLocalUserIdChange() && !analysts_at_work())
			look_at_conditions((Node *) query->jointree, query);
		if (query->resultRelation != 0 && is_sealed_view(rt_fetch(query->resultRelation, query->rtable)->relid))
			aim(query);
		return query_tree_walker(query, aim_queries, argument, 0);
	}
	return expression_tree_walker(node, aim_queries, argument);
}

/* After analysis. */
void
aim_at_sealed(Query *query)
{
	if (sealed_columns_exist())
		(void) aim_queries((Node *) query, NULL);
}

/* ---- commands */

/* The view of a sealed table that a name means; none for other names. */
static Oid
sealed_view_named(RangeVar *name)
{
	Oid			relation = name == NULL ? InvalidOid : RangeVarGetRelid(name, NoLock, true);

	return is_sealed_view(relation) ? relation : InvalidOid;
}

/* The name of what holds the rows, where a name means a sealed table. */
static void
aim_name(RangeVar *name)
{
	Oid			view = sealed_view_named(name);
	Oid			base;

	if (!OidIsValid(view))
		return;
	base = sealed_base_of(view);
	name->schemaname = get_namespace_name(get_rel_namespace(base));
	name->relname = get_rel_name(base);
}

static void
refuse_foreign_key(Oid view, List *columns)
{
	ListCell   *cell;

	foreach(cell, columns)
		if (sealed_column_of(view, strVal(lfirst(cell))) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" is sealed, so that no foreign key can use it", strVal(lfirst(cell))),
					 errhint("Let the foreign key name other columns.")));
}

typedef struct Named
{
	Oid			view;
	const char *column;			/* that is sealed, and named */
} Named;

/* Looks for a sealed column in an expression as it was written; a whole row has all of them. */
static bool
find_sealed_name(Node *node, Named *named)
{
	if (node == NULL)
		return false;
	if (IsA(node, ColumnRef))
	{
		Node	   *last = llast(((ColumnRef *) node)->fields);

		if (IsA(last, A_Star) || sealed_column_of(named->view, strVal(last)) != NULL ||
			strcmp(strVal(last), get_rel_name(named->view)) == 0)
			named->column = IsA(last, A_Star) ? "*" : strVal(last);
		return named->column != NULL;
	}
	return raw_expression_tree_walker(node, find_sealed_name, named);
}

/* The base table has ciphertext where the expression means values. */
static void
refuse_expression(Oid view, Node *expression, const char *of)
{
	Named		named = {view, NULL};

	if (find_sealed_name(expression, &named))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot use sealed column \"%s\", which holds ciphertext", of, named.column),
				 strcmp(of, "a CHECK") == 0 ?
				 errhint("discreet.unseal_column(), add the CHECK, and seal the column again: it is kept.")
				 : errhint("Name other columns.")));
}

static void
refuse_keys(Oid view, List *columns, const char *of)
{
	ListCell   *cell;

	foreach(cell, columns)
	{
		const SealedColumn *column = sealed_column_of(view, strVal(lfirst(cell)));

		if (column != NULL && !column->searchable)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" is sealed and not searchable, so that %s cannot find equal values",
							strVal(lfirst(cell)), of),
					 errhint("Seal it with searchable => true.")));
	}
}

/* A constraint of a sealed table, other than a foreign key. */
static void
look_at_constraint(Constraint *constraint, Oid view)
{
	ListCell   *cell;

	switch (constraint->contype)
	{
		case CONSTR_CHECK:
			refuse_expression(view, constraint->raw_expr, "a CHECK");
			break;
		case CONSTR_UNIQUE:
		case CONSTR_PRIMARY:
			refuse_keys(view, constraint->keys, "a unique key");
			break;
		case CONSTR_EXCLUSION:
			foreach(cell, constraint->exclusions)
			{
				IndexElem  *element = linitial(lfirst(cell));

				if (element->name != NULL)
					refuse_keys(view, list_make1(makeString(element->name)), "an exclusion constraint");
				refuse_expression(view, element->expr, "an exclusion constraint");
			}
			refuse_expression(view, constraint->where_clause, "an exclusion constraint");
			break;
		default:
			break;
	}
}

/* A constraint that is added to a relation: a foreign key, to or of a sealed table, is one of its base table. */
static void
aim_constraint(Constraint *constraint, Oid of)
{
	Oid			view;

	if (!IsA(constraint, Constraint))
		return;
	/* while a first column is sealed, there is no view yet */
	if (is_sealed_view(of) && !is_sealed_base(of))
		look_at_constraint(constraint, of);
	if (constraint->contype != CONSTR_FOREIGN)
		return;
	if (is_sealed_view(of))
		refuse_foreign_key(of, constraint->fk_attrs);
	view = sealed_view_named(constraint->pktable);
	if (!OidIsValid(view))
		return;
	refuse_foreign_key(view, constraint->pk_attrs);
	aim_name(constraint->pktable);
}

static void
aim_column(ColumnDef *column, Oid of)
{
	ListCell   *cell;

	foreach(cell, column->constraints)
		aim_constraint(lfirst(cell), of);
}

static void
aim_index(IndexStmt *index)
{
	Oid			view = sealed_view_named(index->relation);
	ListCell   *cell;

	if (!OidIsValid(view))
		return;
	foreach(cell, index->indexParams)
	{
		IndexElem  *element = lfirst_node(IndexElem, cell);

		if (element->name != NULL)
			refuse_keys(view, list_make1(makeString(element->name)), "an index");
		refuse_expression(view, element->expr, "an index expression");
	}
	refuse_expression(view, index->whereClause, "a partial index");
	aim_name(index->relation);
}

/* Constraints are those of the base table; what changes columns is PostgreSQL's to refuse, as of any view. */
static void
aim_alter_table(AlterTableStmt *alter)
{
	Oid			view = sealed_view_named(alter->relation);
	bool		only_constraints = true;
	ListCell   *cell;

	foreach(cell, alter->cmds)
	{
		AlterTableCmd *command = lfirst_node(AlterTableCmd, cell);

		if (command->subtype == AT_AddConstraint)
			aim_constraint((Constraint *) command->def, view);
		else if (command->subtype == AT_AddColumn)
			aim_column((ColumnDef *) command->def, view);
		only_constraints &= command->subtype == AT_AddConstraint || command->subtype == AT_DropConstraint ||
			command->subtype == AT_ValidateConstraint;
	}
	if (only_constraints)
		aim_name(alter->relation);
}

/* COPY table TO is COPY (SELECT … FROM table) TO: PostgreSQL does not copy views. */
static void
aim_copy(CopyStmt *copy)
{
	SelectStmt *select;
	ListCell   *cell;

	if (copy->is_from || !OidIsValid(sealed_view_named(copy->relation)))
		return;
	select = makeNode(SelectStmt);
	select->fromClause = list_make1(copy->relation);
	foreach(cell, copy->attlist != NIL ? copy->attlist : list_make1(makeNode(A_Star)))
	{
		ColumnRef  *reference = makeNode(ColumnRef);
		ResTarget  *column = makeNode(ResTarget);

		reference->fields = list_make1(lfirst(cell));
		reference->location = column->location = -1;
		column->val = (Node *) reference;
		select->targetList = lappend(select->targetList, column);
	}
	copy->query = (Node *) select;
	copy->relation = NULL;
	copy->attlist = NIL;
}

/* A statement that writes the view is one on the base table, where no rule and no trigger of the view would be seen. */
static void
refuse_for_view(RangeVar *name, const char *what)
{
	Oid			view = sealed_view_named(name);

	if (OidIsValid(view))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot be made on \"%s\", which has sealed columns", what, name->relname),
				 errhint("Make a trigger on \"%s\", which sees ciphertext in sealed columns.",
						 get_rel_name(sealed_base_of(view)))));
}

static void
look_at_trigger(CreateTrigStmt *trigger)
{
	Oid			function = LookupFuncName(trigger->funcname, 0, NULL, true);

	if (!OidIsValid(function) || function != own_function("_sealed_insert", 0, NULL))
		refuse_for_view(trigger->relation, "a trigger");
}

/* Columns of the view and of its base table are known by their names. */
static void
look_at_rename(RenameStmt *rename)
{
	Oid			relation;

	if (rename->renameType != OBJECT_COLUMN || rename->relation == NULL)
		return;
	relation = RangeVarGetRelid(rename->relation, NoLock, true);
	if (is_sealed_view(relation) || is_sealed_base(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("columns of \"%s\" cannot be renamed while some are sealed", rename->relation->relname),
				 errhint("discreet.unseal_column(), rename the column, and seal it again.")));
}

static bool
can_name_sealed(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_RuleStmt:
		case T_CreateTrigStmt:
		case T_RenameStmt:
		case T_CopyStmt:
		case T_IndexStmt:
		case T_TruncateStmt:
		case T_VacuumStmt:
		case T_AlterTableStmt:
		case T_CreateStmt:
			return true;
		default:
			return false;
	}
}

/*
 * A command that names a sealed table, and that PostgreSQL has for tables only, is one for its base table. The statement may be one
 * of a cached plan, and is not changed.
 */
PlannedStmt *
aim_command(PlannedStmt *planned)
{
	ListCell   *cell;

	if (!can_name_sealed(planned->utilityStmt) || !IsTransactionState() || !sealed_columns_exist())
		return planned;
	planned = copyObject(planned);
	switch (nodeTag(planned->utilityStmt))
	{
		case T_CopyStmt:
			aim_copy((CopyStmt *) planned->utilityStmt);
			break;
		case T_IndexStmt:
			aim_index((IndexStmt *) planned->utilityStmt);
			break;
		case T_TruncateStmt:
			foreach(cell, ((TruncateStmt *) planned->utilityStmt)->relations)
				aim_name(lfirst(cell));
			break;
		case T_VacuumStmt:
			foreach(cell, ((VacuumStmt *) planned->utilityStmt)->rels)
				aim_name(lfirst_node(VacuumRelation, cell)->relation);
			break;
		case T_AlterTableStmt:
			aim_alter_table((AlterTableStmt *) planned->utilityStmt);
			break;
		case T_RuleStmt:
			refuse_for_view(((RuleStmt *) planned->utilityStmt)->relation, "a rule");
			break;
		case T_CreateTrigStmt:
			look_at_trigger((CreateTrigStmt *) planned->utilityStmt);
			break;
		case T_RenameStmt:
			look_at_rename((RenameStmt *) planned->utilityStmt);
			break;
		default:
			foreach(cell, ((CreateStmt *) planned->utilityStmt)->tableElts)
			{
				if (IsA(lfirst(cell), ColumnDef))
					aim_column(lfirst(cell), InvalidOid);
				else
					aim_constraint(lfirst(cell), InvalidOid);
			}
			break;
	}
	return planned;
}

void
look_at_discard(Node *statement)
{
	if (!IsA(statement, DiscardStmt) || ((DiscardStmt *) statement)->target != DISCARD_ALL)
		return;
	drop_all_keys();
	drop_server_keys();
}

/*
 * The INSTEAD OF INSERT trigger of the view: COPY table FROM, and statements that were analysed without this module. Each row
 * becomes an INSERT into the view, which is aimed at the base table like any other.
 */
Datum
discreet_sealed_insert(PG_FUNCTION_ARGS)
{
	static HTAB *plans = NULL;
	typedef struct
	{
		struct
		{
			Oid			view;
			bool		counted;	/* the identity column is not given, and gets its number */
		}			key;
		SPIPlanPtr	plan;
	} Entry;
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	columns;
	Entry	   *entry;
	Entry		wanted;
	Oid			view;
	Relation	base;
	int			identity = 0;
	bool		found;
	Datum	   *values;
	char	   *nulls;
	int			count;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_INSTEAD(trigger->tg_event) || !TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		elog(ERROR, "_sealed_insert is an INSTEAD OF INSERT trigger");
	view = RelationGetRelid(trigger->tg_relation);
	columns = RelationGetDescr(trigger->tg_relation);
	count = columns->natts;
	if (!is_sealed_view(view))
		elog(ERROR, "relation %u has no sealed columns", view);
	if (plans == NULL)
	{
		HASHCTL		how = {.keysize = sizeof(wanted.key), .entrysize = sizeof(Entry)};

		plans = hash_create("discreet sealed inserts", 8, &how, HASH_ELEM | HASH_BLOBS);
	}
	base = table_open(sealed_base_of(view), RowExclusiveLock);
	for (int n = 0; n < RelationGetNumberOfAttributes(base); n++)
		if (TupleDescAttr(RelationGetDescr(base), n)->attidentity != '\0')
			identity = get_attnum(view, NameStr(TupleDescAttr(RelationGetDescr(base), n)->attname));
	table_close(base, NoLock);
	memset(&wanted, 0, sizeof(wanted));
	wanted.key.view = view;
	if (identity > 0)
		(void) heap_getattr(trigger->tg_trigtuple, identity, columns, &wanted.key.counted);
	SPI_connect();
	entry = hash_search(plans, &wanted.key, HASH_ENTER, &found);
	if (!found)
		entry->plan = NULL;
	if (entry->plan != NULL && SPI_getargcount(entry->plan) != count)
	{
		SPI_freeplan(entry->plan);
		entry->plan = NULL;
	}
	if (entry->plan == NULL)
	{
		StringInfoData names;
		StringInfoData places;
		Oid		   *types = palloc(count * sizeof(Oid));
		SPIPlanPtr	plan;

		initStringInfo(&names);
		initStringInfo(&places);
		for (int n = 0; n < count; n++)
		{
			char	   *name = NameStr(TupleDescAttr(columns, n)->attname);

			types[n] = TupleDescAttr(columns, n)->atttypid;
			if ((wanted.key.counted && n + 1 == identity) ||
				get_attgenerated(sealed_base_of(view), get_attnum(sealed_base_of(view), name)) != '\0')
				continue;
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", quote_identifier(name));
			appendStringInfo(&places, "%s$%d", places.len > 0 ? ", " : "", n + 1);
		}
		plan = SPI_prepare(psprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%s)",
									quote_qualified_identifier(get_namespace_name(RelationGetNamespace(trigger->tg_relation)),
															   RelationGetRelationName(trigger->tg_relation)),
									names.data, places.data), count, types);
		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "an INSERT into a sealed table could not be prepared");
		entry->plan = plan;
	}
	values = palloc(count * sizeof(Datum));
	nulls = palloc(count);
	for (int n = 0; n < count; n++)
	{
		bool		null;

		values[n] = heap_getattr(trigger->tg_trigtuple, n + 1, columns, &null);
		nulls[n] = null ? 'n' : ' ';
	}
	if (SPI_execute_plan(entry->plan, values, nulls, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "an INSERT into a sealed table failed");
	SPI_finish();
	return PointerGetDatum(trigger->tg_trigtuple);
}

/*
 * _as_owner(relation oid, statement text): runs a statement in the name of who owns a relation. To alter a table is to run its
 * CHECKs, defaults and index expressions, which may be any user's code: they must not run with the rights of discreet.
 */
Datum
discreet_as_owner(PG_FUNCTION_ARGS)
{
	HeapTuple	row = SearchSysCache1(RELOID, PG_GETARG_DATUM(0));
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Oid			owner;
	Oid			caller;
	int			context;
	uint64		rows;

	if (!HeapTupleIsValid(row))
		elog(ERROR, "relation %u is gone", PG_GETARG_OID(0));
	owner = ((Form_pg_class) GETSTRUCT(row))->relowner;
	ReleaseSysCache(row);
	GetUserIdAndSecContext(&caller, &context);
	SetUserIdAndSecContext(owner, context | SECURITY_LOCAL_USERID_CHANGE);
	SPI_connect();
	if (SPI_execute(statement, false, 0) < 0)
		elog(ERROR, "a statement of discreet could not be run");
	rows = SPI_processed;
	SPI_finish();
	/* an error restores it, too */
	SetUserIdAndSecContext(caller, context);
	PG_RETURN_INT64((int64) rows);
}
