/*
 * sealed_memory.c: memory for keys. One region a process, locked so that it is never swapped where the system allows that, and
 * left out of core files. What is given back, or left at exit, is wiped. OpenSSL keeps key schedules in memory of its own,
 * which it wipes when a cipher is freed.
 */
#include "sealed.h"

#include <openssl/crypto.h>
#include <sys/mman.h>

#include "access/xact.h"
#include "storage/ipc.h"

#define REGION_BYTES (64 * 1024)
#define PLACES (REGION_BYTES / SEARCH_KEY_BYTES)

static uint8 *region = NULL;
static bool taken[PLACES];
static bool kept[PLACES];		/* beyond the transaction */

void
wipe(void *place, Size length)
{
	OPENSSL_cleanse(place, length);
}

static void
wipe_region(int code, Datum argument)
{
	if (region != NULL)
		wipe(region, REGION_BYTES);
}

/* What an error left behind. */
static void
wipe_rest(void)
{
	for (int n = 0; n < PLACES; n++)
		if (taken[n] && !kept[n])
			free_key_memory(region + n * SEARCH_KEY_BYTES);
}

static void
end_of_transaction(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		wipe_rest();
}

static void
end_of_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *argument)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		wipe_rest();
}

static void
make_region(void)
{
	uint8	   *made = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("could not get memory for keys: %m")));
	if (mlock(made, REGION_BYTES) != 0)
		ereport(LOG,
				(errmsg("memory for keys could not be locked, so that it may be swapped: %m"),
				 errhint("Allow the server to lock 64 kB in each session (ulimit -l).")));
#ifdef MADV_DONTDUMP
	(void) madvise(made, REGION_BYTES, MADV_DONTDUMP);
#endif
	region = made;
	on_proc_exit(wipe_region, (Datum) 0);
	RegisterXactCallback(end_of_transaction, NULL);
	RegisterSubXactCallback(end_of_subtransaction, NULL);
}

/* Room for the longest key, until it is given back or the transaction fails. */
uint8 *
key_memory(void)
{
	if (region == NULL)
		make_region();
	for (int n = 0; n < PLACES; n++)
		if (!taken[n])
		{
			taken[n] = true;
			kept[n] = false;
			return region + n * SEARCH_KEY_BYTES;
		}
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("a session cannot hold more than %d keys", PLACES),
			 errhint("Close keys that are not needed, with discreet.close_key().")));
}

/* Room that an error does not take away. */
void
keep_key_memory(uint8 *place)
{
	kept[(place - region) / SEARCH_KEY_BYTES] = true;
}

void
free_key_memory(uint8 *place)
{
	if (place == NULL)
		return;
	wipe(place, SEARCH_KEY_BYTES);
	taken[(place - region) / SEARCH_KEY_BYTES] = false;
}
