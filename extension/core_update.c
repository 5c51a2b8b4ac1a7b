/*
 * core_update.c: statements of an upgrade script that are about objects of users.
 *
 * What an extension's script makes or replaces belongs to the extension, and what it grants is taken for the grants of
 * its makers, which a dump leaves out. The code of multilevel tables, and grants of an administrator, are users' own.
 */
#include "discreet.h"

#include "commands/extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(discreet_outside_update);

Datum
discreet_outside_update(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool		before = creating_extension;

	if (!superuser())
		ereport(ERROR,
				errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("only a superuser can update the extension"));
	creating_extension = false;
	PG_TRY();
	{
		SPI_connect();
		if (SPI_execute(statement, false, 0) < 0)
			elog(ERROR, "the statement of an update cannot be run: %s", statement);
		SPI_finish();
	}
	PG_FINALLY();
	{
		creating_extension = before;
	}
	PG_END_TRY();
	PG_RETURN_VOID();
}
