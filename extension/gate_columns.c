/*
 * gate_columns.c: the columns that a caller of discreet.query() names: AS t(dept text, count bigint).
 *
 * Values are read by the input functions of these types while the function runs as its owner. A domain, or a composite
 * type that holds one, would run checks of its owner, who may be the asker; so only types without code of any user but
 * superusers are let in.
 */
#include "discreet.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static TupleDesc named = NULL;	/* of the call under way */

static bool
has_own_code(Oid type)
{
	Oid			element = get_element_type(type);

	if (OidIsValid(element))
		return has_own_code(element);
	switch (get_typtype(type))
	{
		case TYPTYPE_BASE:
		case TYPTYPE_ENUM:
			return false;
		default:
			return type >= FirstNormalObjectId || type == RECORDOID;
	}
}

/* Those of the call that begins; what is returned goes to columns_of_call_around() at its end. */
TupleDesc
columns_of_call(FunctionCallInfo fcinfo)
{
	TupleDesc	around = named;

	named = NULL;
	if (fcinfo->resultinfo != NULL && IsA(fcinfo->resultinfo, ReturnSetInfo) &&
		get_func_rettype(fcinfo->flinfo->fn_oid) == RECORDOID)
		named = ((ReturnSetInfo *) fcinfo->resultinfo)->expectedDesc;
	for (int n = 0; named != NULL && n < named->natts; n++)
	{
		Form_pg_attribute column = TupleDescAttr(named, n);

		if (has_own_code(column->atttypid))
		{
			named = around;
			ereport(ERROR,
					(errcode(ERRCODE_REFUSED_SHAPE),
					 errmsg("an answer has no columns of type %s", format_type_be(column->atttypid)),
					 errhint("Name the built-in type, and cast around the call.")));
		}
	}
	return around;
}

void
columns_of_call_around(TupleDesc around)
{
	named = around;
}

PG_FUNCTION_INFO_V1(discreet_named_types);

/* NULL where no columns are named, and in place of types that are not built in: casts to these may be any user's. */
Datum
discreet_named_types(PG_FUNCTION_ARGS)
{
	ArrayBuildState *types = NULL;

	for (int n = 0; named != NULL && n < named->natts; n++)
	{
		Form_pg_attribute column = TupleDescAttr(named, n);
		bool		built_in = column->atttypid < FirstNormalObjectId;
		Datum		name = built_in ?
			CStringGetTextDatum(format_type_with_typemod(column->atttypid, column->atttypmod)) : (Datum) 0;

		types = accumArrayResult(types, name, !built_in, TEXTOID, CurrentMemoryContext);
	}
	if (types == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(makeArrayResult(types, CurrentMemoryContext));
}
