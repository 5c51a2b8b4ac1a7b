/*
 * core_catalog.c: the version of the catalogs and declarations, as this process knows them.
 *
 * PostgreSQL tells every process which cached entries have become invalid: after it has committed, and before it releases the
 * locks of the command that changed them. Triggers on the tables of declarations do the same. So what was computed from catalogs
 * and declarations holds as long as the version is the same.
 */
#include "discreet.h"

#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(discreet_declarations_changed);

static uint64 version = 0;

static void
on_entry_changed(Datum argument, int cache_id, uint32 hash)
{
	version++;
}

static void
on_relation_changed(Datum argument, Oid relation)
{
	version++;
}

uint64
catalog_version(void)
{
	/* roles, schemas, functions, types and their like; all else belongs to a relation */
	static const int caches[] = {
		AUTHOID, AUTHMEMROLEMEM, NAMESPACEOID, PROCOID, OPEROID, TYPEOID, ENUMOID, COLLOID, CONSTROID, RELOID, ATTNUM, RULERELNAME,
		INDEXRELID, DATABASEOID
	};
	static bool watched = false;

	if (!watched)
	{
		for (int n = 0; n < lengthof(caches); n++)
			CacheRegisterSyscacheCallback(caches[n], on_entry_changed, (Datum) 0);
		CacheRegisterRelcacheCallback(on_relation_changed, (Datum) 0);
		watched = true;
	}
	AcceptInvalidationMessages();
	return version;
}

/* A trigger on the tables of declarations. */
Datum
discreet_declarations_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "_declarations_changed is a trigger function");
	CacheInvalidateRelcache(((TriggerData *) fcinfo->context)->tg_relation);
	PG_RETURN_POINTER(NULL);
}
