/*
 * synthesis_write.c: writes a synthetic table in the name of who asked for it.
 *
 * The gate's own statements run as the owner of the extension. A table is made and filled as the role that asked: its types,
 * domains and constraints may run code, which then can do nothing that this role could not do before.
 */
#include "discreet.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(discreet_synthesis_write);

/* _synthesis_write(role, statement, columns): runs a statement with the columns as its $1; how many rows it wrote. */
Datum
discreet_synthesis_write(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Oid			type = TEXTARRAYOID;
	Datum		columns = PG_GETARG_DATUM(2);
	bool		given = ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(columns)), ARR_DIMS(DatumGetArrayTypeP(columns))) > 0;
	Acting		acting;
	int64		written;
	int			code;

	begin_acting(&acting, PG_GETARG_OID(0));
	SPI_connect();
	code = SPI_execute_with_args(statement, given ? 1 : 0, given ? &type : NULL, given ? &columns : NULL, NULL, false, 0);
	if (code < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(code));
	written = (int64) SPI_processed;
	SPI_finish();
	end_acting(&acting);
	PG_RETURN_INT64(written);
}
