/*
 * sealed_spills.c: no unsealed value goes to a temporary file.
 *
 * Sorts, hash tables, materialised rows and held cursors write to disk what does not fit into work_mem. From the first value that
 * a transaction seals or unseals to its end, its temporary files have no room: the write fails before it is done. A sort
 * that began before holds nothing unsealed. Workers of a parallel plan do the same for themselves.
 */
#include "sealed.h"

#include "access/xact.h"
#include "storage/fd.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(discreet_let_spill);

static bool refusing = false;
static bool converting = false;
static int	limit_at_first;
static int	limit_before;

static void
end_of_transaction(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			limit_before = limit_at_first;
			refusing = converting = false;
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_PARALLEL_COMMIT:
			refusing = converting = false;
			break;
		default:
			break;
	}
}

/* With the memory of the transaction, after PostgreSQL has put settings back that were changed in it. */
static void
give_limit_back(void *argument)
{
	temp_file_limit = limit_before;
}

/* What converted a column has failed. */
static void
end_of_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *argument)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		converting = false;
}

static void
watch_transactions(void)
{
	static bool watched = false;

	if (watched)
		return;
	RegisterXactCallback(end_of_transaction, NULL);
	RegisterSubXactCallback(end_of_subtransaction, NULL);
	watched = true;
}

/* Also where a SET, or a reload of the configuration within the transaction, has given its files room again. */
static pg_noinline void
begin_refusing(void)
{
	watch_transactions();
	if (!refusing)
	{
		MemoryContextCallback *at_end = MemoryContextAlloc(TopTransactionContext, sizeof(MemoryContextCallback));

		at_end->func = give_limit_back;
		at_end->arg = NULL;
		MemoryContextRegisterResetCallback(TopTransactionContext, at_end);
		limit_at_first = temp_file_limit;
	}
	limit_before = temp_file_limit;
	temp_file_limit = 0;
	refusing = true;
}

/* Whether what this transaction says may quote a value of a sealed column. */
bool
values_were_unsealed(void)
{
	return refusing || converting;
}

/* For every value that is sealed or unsealed. */
void
refuse_spills(void)
{
	if (unlikely(temp_file_limit != 0 || !refusing) && !converting)
		begin_refusing();
}

/*
 * _let_spill(allowed boolean): while a column is sealed or unsealed as a whole, in one ALTER TABLE, its values are in no sort; indexes
 * are, of ciphertext, or of columns in the clear. A transaction that has unsealed values before keeps its limit.
 */
Datum
discreet_let_spill(PG_FUNCTION_ARGS)
{
	watch_transactions();
	converting = PG_GETARG_BOOL(0);
	PG_RETURN_VOID();
}

/* Says why a temporary file has no room. */
static void
explain_refusal(void *argument)
{
	if (!refusing || geterrcode() != ERRCODE_CONFIGURATION_LIMIT_EXCEEDED)
		return;
	errmsg("values of sealed columns cannot be written to a temporary file");
	errhint("A sort, hash table, cursor or materialised result of this transaction is larger than work_mem. "
			"Raise it for the session, as in SET work_mem = '256MB', or read fewer rows.");
}

void
begin_sealed_run(ErrorContextCallback *callback)
{
	callback->callback = explain_refusal;
	callback->arg = NULL;
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

void
end_sealed_run(ErrorContextCallback *callback)
{
	error_context_stack = callback->previous;
}
