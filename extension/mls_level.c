/*
 * mls_level.c: the label of a session. A label is a bitset: the level in thermometer code, a bit for each compartment, and one
 * for each group that may not read it (discreet/mls/labels.py).
 *
 * The subject is the session user. Its label is its clearance, or what it wishes by discreet.level; once something was
 * read at a label, the session cannot go below it. What was read is remembered here, where no ROLLBACK, RESET or DISCARD
 * reaches it. Levels and clearances are read from their tables as they are committed now, whatever the snapshot of the
 * transaction is, and kept until one of these tables changes.
 */
#include "discreet.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "port.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#define MOST_LEVELS 16
#define FIRST_COMPARTMENT 15	/* its bit; below are those of the levels */
#define MOST_COMPARTMENTS 47
/* the bits of those who may not read what names groups: sessions without a group, and below it those of each group */
#define WITHOUT_GROUP (FIRST_COMPARTMENT + MOST_COMPARTMENTS - 1)
#define LAST_GROUP (WITHOUT_GROUP - 1)
#define MOST_GROUPS (MOST_COMPARTMENTS - 1)
#define NO_GROUPS "-"			/* above all groups */
#define RANDOM_IDS 512
#define MOST_TEXTS 64
/* more than a level and all compartments take */
#define LONGEST_LABEL 4096

PG_FUNCTION_INFO_V1(discreet_visible);
PG_FUNCTION_INFO_V1(discreet_session_label);
PG_FUNCTION_INFO_V1(discreet_written_label);
PG_FUNCTION_INFO_V1(discreet_may_write_at);
PG_FUNCTION_INFO_V1(discreet_label_text);
PG_FUNCTION_INFO_V1(discreet_label_bits);
PG_FUNCTION_INFO_V1(discreet_sees);
PG_FUNCTION_INFO_V1(discreet_is_trusted);
PG_FUNCTION_INFO_V1(discreet_random_id);
PG_FUNCTION_INFO_V1(discreet_levels_changed);

char	   *level_wish = NULL;
bool		preloaded = false;

static MemoryContext cache = NULL;	/* reset as a whole */
static bool cached = false;
static bool changed_meanwhile;
static bool transactions_are_watched = false;
static Oid	tables[5];			/* _label_part, _clearance, _multilevel_table, _multilevel_trigger, _label_group */
static char *levels[MOST_LEVELS];
static char *compartments[MOST_COMPARTMENTS];
static const char *const ledger_names[] = {"_label_spent", "_charge", "_refusal"};
static char *groups[MOST_GROUPS];
static int	parents[MOST_GROUPS];	/* -1 for a root */
static int	level_count;
static int	compartment_count;
static int	group_count;
static List *multilevel_views;
static List *multilevel_bases;
static List *own_triggers;
static List *ledger_tables;		/* whose lines have labels */

/* texts of labels that were asked for, up to a number */
typedef struct LabelText
{
	int64		label;
	text	   *text;
} LabelText;
static LabelText texts[MOST_TEXTS];
static int	text_count;

/* of the session user */
static Oid	subject = InvalidOid;
static bool cleared;
static bool trusted;
static int64 clearance;
static int64 write_from;		/* the lowest label at which it may write */
static int64 high_water = 0;

/* the label at which a transaction has written: what it reads above must not decide whether that is rolled back */
static TransactionId writer = InvalidTransactionId;
static int64 written_at;

/* in a parallel worker: the label at which it began its part of a statement that names what has labels */
static bool leader_reads = false;
static int64 worker_label = -1;

/* the wish, read once */
static bool wish_known = false;
static int64 wish;

static void
forget_levels(void)
{
	cached = false;
	changed_meanwhile = true;
	forget_session();
}

static void
forget_relation(Datum argument, Oid relation)
{
	if (relation == InvalidOid || relation == tables[0] || relation == tables[1] || relation == tables[2] ||
		relation == tables[3] || relation == tables[4])
		forget_levels();
}

static void
forget_roles(Datum argument, int cache_id, uint32 hash)
{
	forget_levels();
}

/* What the session reads later must not decide whether its earlier writes are committed: nor must a prepared one wait. */
static void
end_of_transaction(XactEvent event, void *argument)
{
	session_state.reading = false;
	if (event == XACT_EVENT_PRE_PREPARE && !trusted && TransactionIdIsValid(writer) && writer == GetTopTransactionIdIfAny())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a transaction that has written to a multilevel table cannot be prepared"),
				 errhint("COMMIT it, or let a trusted session write.")));
}

static bool
dominates(int64 high, int64 low)
{
	return (low & ~high) == 0;
}

static int64
level_bits(int level)
{
	return ((int64) 1 << level) - 1;
}

/* ---- what the tables say */

static void
read_table(int number, const char *name, RowTaker take)
{
	Oid			relation = get_relname_relid(name, get_namespace_oid("discreet", false));

	tables[number] = relation;
	/* an extension of an older version, before ALTER EXTENSION UPDATE, may not have it */
	if (OidIsValid(relation))
		scan_own_table(relation, NULL, take, NULL);
}

static void
take_label_part(Relation table, TupleTableSlot *row, void *argument)
{
	bool		isnull;
	bool		is_level = DatumGetBool(slot_getattr(row, 1, &isnull));
	int			position = DatumGetInt16(slot_getattr(row, 2, &isnull));
	char	   *name = text_to_cstring(DatumGetTextPP(slot_getattr(row, 3, &isnull)));

	if (is_level)
	{
		levels[position] = name;
		level_count = Max(level_count, position + 1);
	}
	else
	{
		compartments[position] = name;
		compartment_count = Max(compartment_count, position + 1);
	}
}

static void
take_label_group(Relation table, TupleTableSlot *row, void *argument)
{
	bool		isnull;
	int			position = DatumGetInt16(slot_getattr(row, 1, &isnull));

	groups[position] = text_to_cstring(DatumGetTextPP(slot_getattr(row, 2, &isnull)));
	parents[position] = DatumGetInt16(slot_getattr(row, 3, &isnull));
	if (isnull)
		parents[position] = -1;
	group_count = Max(group_count, position + 1);
}

static void
take_clearance(Relation table, TupleTableSlot *row, void *argument)
{
	bool		isnull;

	if (DatumGetObjectId(slot_getattr(row, 1, &isnull)) != subject)
		return;
	cleared = true;
	clearance = DatumGetInt64(slot_getattr(row, 2, &isnull));
	/* an extension of an older version, before ALTER EXTENSION UPDATE, may not have it */
	write_from = RelationGetDescr(table)->natts < 3 ? 0 : DatumGetInt64(slot_getattr(row, 3, &isnull));
}

static void
take_multilevel_table(Relation table, TupleTableSlot *row, void *argument)
{
	bool		isnull;

	multilevel_views = lappend_oid(multilevel_views, DatumGetObjectId(slot_getattr(row, 1, &isnull)));
	multilevel_bases = lappend_oid(multilevel_bases, DatumGetObjectId(slot_getattr(row, 2, &isnull)));
}

static void
take_own_trigger(Relation table, TupleTableSlot *row, void *argument)
{
	OwnTrigger *own = palloc(sizeof(OwnTrigger));
	bool		isnull;

	own->relation = DatumGetObjectId(slot_getattr(row, 1, &isnull));
	own->name = *DatumGetName(slot_getattr(row, 2, &isnull));
	own->function = *DatumGetName(slot_getattr(row, 3, &isnull));
	(void) slot_getattr(row, 4, &isnull);	/* the rule that it keeps */
	own->writes = isnull;
	own_triggers = lappend(own_triggers, own);
}

static bool
extension_is_there(void)
{
	Oid			schema = own_schema();

	return OidIsValid(schema) && OidIsValid(get_relname_relid("_multilevel_table", schema));
}

static pg_noinline void
read_levels(void)
{
	MemoryContext before;
	Oid			group;
	Oid			first_ledger_table = OID_MAX;
	Oid			last_ledger_table = InvalidOid;

	if (cache == NULL)
	{
		cache = AllocSetContextCreate(TopMemoryContext, "discreet levels", ALLOCSET_SMALL_SIZES);
		CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_roles, (Datum) 0);
	}
	/* only a superuser can become another subject, who starts anew */
	if (subject != GetSessionUserId())
		high_water = 0;
	subject = GetSessionUserId();
	MemoryContextReset(cache);
	before = MemoryContextSwitchTo(cache);
	memset(levels, 0, sizeof(levels));
	memset(compartments, 0, sizeof(compartments));
	memset(groups, 0, sizeof(groups));
	level_count = compartment_count = group_count = text_count = 0;
	multilevel_views = multilevel_bases = own_triggers = ledger_tables = NIL;
	cleared = trusted = wish_known = false;
	cached = changed_meanwhile = false;
	read_table(0, "_label_part", take_label_part);
	read_table(1, "_clearance", take_clearance);
	read_table(2, "_multilevel_table", take_multilevel_table);
	read_table(3, "_multilevel_trigger", take_own_trigger);
	read_table(4, "_label_group", take_label_group);
	for (int n = 0; n < lengthof(ledger_names); n++)
	{
		Oid			table = get_relname_relid(ledger_names[n], get_namespace_oid("discreet", false));

		ledger_tables = lappend_oid(ledger_tables, table);
		first_ledger_table = Min(first_ledger_table, table);
		last_ledger_table = Max(last_ledger_table, table);
	}
	session_state.first_ledger_table = first_ledger_table;
	session_state.last_ledger_table = last_ledger_table;
	group = get_role_oid("discreet_trusted", true);
	trusted = OidIsValid(group) && acts_as(subject, group);
	MemoryContextSwitchTo(before);
	cached = !changed_meanwhile;
}

bool
levels_are_known(void)
{
	return cached && subject == GetSessionUserId();
}

/* What was kept, or read anew after a change. */
static inline void
know_levels(void)
{
	if (!levels_are_known())
		read_levels();
}

/* The multilevel tables: what users name, or what holds the rows. */
List *
multilevel_relations(bool base)
{
	if (!levels_are_known())
	{
		if (!extension_is_there())
			return NIL;
		read_levels();
	}
	return base ? multilevel_bases : multilevel_views;
}

/* A trigger of discreet's own on a multilevel table, by its name; NULL when there is none. */
const OwnTrigger *
multilevel_trigger(Oid relation, const char *name)
{
	ListCell   *cell;

	if (multilevel_relations(false) == NIL)
		return NULL;
	foreach(cell, own_triggers)
	{
		const OwnTrigger *own = (const OwnTrigger *) lfirst(cell);

		if (own->relation == relation && strcmp(NameStr(own->name), name) == 0)
			return own;
	}
	return NULL;
}

/* Whether discreet made a function of this name for a multilevel table. */
bool
is_multilevel_trigger_function(const char *name)
{
	ListCell   *cell;

	if (multilevel_relations(false) == NIL)
		return false;
	foreach(cell, own_triggers)
		if (strcmp(NameStr(((const OwnTrigger *) lfirst(cell))->function), name) == 0)
			return true;
	return false;
}

/* The view that users know of what holds the rows of a multilevel table; none for other tables. */
Oid
multilevel_view_of(Oid base)
{
	ListCell   *view,
			   *rows;

	if (multilevel_relations(true) == NIL)
		return InvalidOid;
	forboth(view, multilevel_views, rows, multilevel_bases)
		if (lfirst_oid(rows) == base)
			return lfirst_oid(view);
	return InvalidOid;
}

/* What holds the rows of a multilevel table that users know as a view; none for other views. */
Oid
multilevel_base_of(Oid view)
{
	ListCell   *shown,
			   *rows;

	if (multilevel_relations(false) == NIL)
		return InvalidOid;
	forboth(shown, multilevel_views, rows, multilevel_bases)
		if (lfirst_oid(shown) == view)
			return lfirst_oid(rows);
	return InvalidOid;
}

/* ---- labels as texts */

static int
position_of(char **names, int count, const char *name, int length)
{
	for (int n = 0; n < count; n++)
		if (names[n] != NULL && strlen(names[n]) == length && strncmp(names[n], name, length) == 0)
			return n;
	return -1;
}

static int64
group_bit(int group)
{
	return (int64) 1 << (LAST_GROUP - group);
}

/* All who may be kept from reading what names groups. */
static int64
every_reader(void)
{
	int64		readers = group_count > 0 ? (int64) 1 << WITHOUT_GROUP : 0;

	for (int n = 0; n < group_count; n++)
		readers |= group_bit(n);
	return readers;
}

/* Reads one of the names of a list, and goes on behind its comma; -1 when there is none of this name. */
static int
next_named(const char **list, const char *end, char **names, int count, char **unknown)
{
	const char *name = *list;
	const char *comma = memchr(name, ',', end - name);
	int			length = (comma ? comma : end) - name;
	int			position = position_of(names, count, name, length);

	*list = comma ? comma + 1 : NULL;
	if (position < 0)
		*unknown = pnstrdup(name, length);
	return position;
}

/* Reads "S:CRYPTO,NATO:EU,US", where what is not needed may be left out; tells what is wrong with it, or NULL. */
static char *
read_label(const char *label, int64 *bits)
{
	const char *end = label + strlen(label);
	const char *first = strchr(label, ':');
	const char *second = first ? strchr(first + 1, ':') : NULL;
	int			length = (first ? first : end) - label;
	int			level = position_of(levels, level_count, label, length);
	const char *list = first && second != first + 1 ? first + 1 : NULL;
	char	   *unknown;

	if (strlen(label) > LONGEST_LABEL)
		return psprintf("the label is longer than %d bytes", LONGEST_LABEL);
	if (level < 0)
		return psprintf("there is no level \"%s\"", pnstrdup(label, length));
	*bits = level_bits(level);
	while (list != NULL)
	{
		int			compartment = next_named(&list, second ? second : end, compartments, compartment_count, &unknown);

		if (compartment < 0)
			return psprintf("there is no compartment \"%s\"", unknown);
		*bits |= (int64) 1 << (FIRST_COMPARTMENT + compartment);
	}
	if (second == NULL)
		return NULL;
	if (strchr(second + 1, ':') != NULL)
		return psprintf("label \"%s\" has more than three parts", label);
	*bits |= every_reader();
	list = group_count > 0 && strcmp(second + 1, NO_GROUPS) == 0 ? NULL : second + 1;
	while (list != NULL)
	{
		int			group = next_named(&list, end, groups, group_count, &unknown);

		if (group < 0)
			return psprintf("there is no group \"%s\"", unknown);
		for (; group >= 0; group = parents[group])
			*bits &= ~group_bit(group);
	}
	return NULL;
}

/* Whether a label names a group: its sessions may read it, and those of no group below. */
static bool
names_group(int64 label, int group)
{
	if (label & group_bit(group))
		return false;
	for (int n = group + 1; n < group_count; n++)
		if (parents[n] == group && !(label & group_bit(n)))
			return false;
	return true;
}

static bool
has_groups(int64 label)
{
	return (label & every_reader()) != 0;
}

static int
count_groups(int64 label)
{
	int			count = 0;

	for (int n = 0; n < group_count && has_groups(label); n++)
		count += names_group(label, n);
	return count;
}

/* Good until levels are read again. */
static text *
label_text(int64 label)
{
	StringInfoData written;
	MemoryContext before;
	text	   *result;
	int			level = 0;
	char		separator = ':';

	for (int n = 0; n < text_count; n++)
		if (texts[n].label == label)
			return texts[n].text;

	initStringInfo(&written);
	while (level + 1 < level_count && (label & level_bits(level + 1)) == level_bits(level + 1))
		level++;
	if (levels[level] == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label " INT64_FORMAT " has no level", label)));
	appendStringInfoString(&written, levels[level]);
	for (int n = 0; n < compartment_count; n++)
		if (label & ((int64) 1 << (FIRST_COMPARTMENT + n)))
		{
			appendStringInfo(&written, "%c%s", separator, compartments[n]);
			separator = ',';
		}
	if (has_groups(label))
	{
		appendStringInfoString(&written, separator == ':' ? "::" : ":");
		if (count_groups(label) == 0)
			appendStringInfoString(&written, NO_GROUPS);
		separator = '\0';
		for (int n = 0; n < group_count; n++)
			if (names_group(label, n))
			{
				if (separator != '\0')
					appendStringInfoChar(&written, separator);
				appendStringInfoString(&written, groups[n]);
				separator = ',';
			}
	}
	if (text_count == MOST_TEXTS)
		return cstring_to_text(written.data);
	before = MemoryContextSwitchTo(cache);
	result = cstring_to_text(written.data);
	MemoryContextSwitchTo(before);
	texts[text_count].label = label;
	texts[text_count++].text = result;
	return result;
}

/* ---- the label of the session */

/* What the setting says now, if it is a label. */
static int64
label_so_far(void)
{
	int64		label;

	return level_wish != NULL && *level_wish != '\0' && read_label(level_wish, &label) == NULL ? label : clearance;
}

/* What is wrong with a wished label for this subject, or NULL; whether it may be below what was read. */
static char *
wrong_wish(const char *wished, bool any, int64 *label)
{
	char	   *wrong = read_label(wished, label);

	if (wrong != NULL)
		return wrong;
	if (!cleared)
		return psprintf("role %s has no clearance", GetUserNameFromId(subject, false));
	if (count_groups(*label) > 1)
		return psprintf("label %s names several groups, and a session has one", wished);
	if (!dominates(clearance, *label))
		return psprintf("label %s is not below the clearance of %s", wished, GetUserNameFromId(subject, false));
	if (!any && !dominates(*label, high_water))
		return psprintf("label %s is below what this session has read", wished);
	return NULL;
}

bool
check_level_wish(char **wished, void **extra, GucSource source)
{
	int64		label;
	char	   *wrong;

	if (**wished == '\0' || source != PGC_S_SESSION || !IsTransactionState() || IsParallelWorker() ||
		InitializingParallelWorker || !extension_is_there())
		return true;
	know_levels();
	if (trusted && !own_code())
	{
		GUC_check_errcode(ERRCODE_INSUFFICIENT_PRIVILEGE);
		GUC_check_errmsg("code of others cannot set the label of a trusted session");
		GUC_check_errhint("SET discreet.level by a statement of your own, or by a function of a trusted role.");
		return false;
	}
	wrong = wrong_wish(*wished, trusted && own_setting(), &label);
	if (wrong == NULL && trusted && !own_setting() && !dominates(label, label_so_far()))
		wrong = psprintf("label %s is below that of the session, which is trusted", *wished);
	if (wrong == NULL)
		return true;
	GUC_check_errcode(ERRCODE_INSUFFICIENT_PRIVILEGE);
	GUC_check_errmsg("%s", wrong);
	GUC_check_errhint("A session may go up to its clearance; once something was read, not down again. A trusted one may, by the command SET.");
	return false;
}

void
assign_level_wish(const char *wished, void *extra)
{
	wish_known = session_state.reading = false;
}

static bool
label_of_session(int64 *label)
{
	know_levels();
	if (!cleared)
		return false;
	*label = clearance;
	if (level_wish != NULL && *level_wish != '\0')
	{
		if (!wish_known)
		{
			char	   *wrong = wrong_wish(level_wish, trusted && own_code(), &wish);

			if (wrong != NULL)
				ereport(ERROR,
						(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("%s", wrong),
						 errhint("SET discreet.level to a label that this session may have, or RESET it.")));
			wish_known = true;
		}
		*label = wish;
	}
	/* a wish that was good when it was read may have become too low since, or be too low for code of others */
	if (!(trusted && own_code()) && !dominates(*label, high_water))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("label %s is below what this session has read", text_to_cstring(label_text(*label))),
				 errhint("SET discreet.level to a label that this session may have, or connect anew.")));
	return true;
}

static void
refuse_explained(void)
{
	if (being_explained() && !superuser_arg(GetSessionUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("EXPLAIN ANALYZE would tell of rows above the session's label"),
				 errhint("Use EXPLAIN without ANALYZE.")));
}

/* What a worker reads on its own would be forgotten with it. */
pg_noreturn static void
refuse_in_worker(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a function in a parallel worker cannot read what has labels"),
			 errhint("Mark the function that does PARALLEL RESTRICTED or UNSAFE.")));
}

/* A parallel worker begins a statement that names what has labels: its part of the leader's, or one of a function. */
void
begin_reading_in_worker(bool of_leader)
{
	if (of_leader)
	{
		leader_reads = true;
		if (!label_of_session(&worker_label))
			worker_label = -1;
	}
	else if (!leader_reads)
		refuse_in_worker();
}

/* The label at which the session works with multilevel tables: from now on it has read there. */
bool
label_to_read(int64 *label)
{
	if (likely(session_state.reading))
	{
		*label = session_state.reading_at;
		return true;
	}
	if (IsParallelWorker() && !leader_reads)
		refuse_in_worker();
	/* a library that the first call loads has not seen the beginning of the statement, nor what the session did before */
	if (!preloaded)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("multilevel tables need discreet in shared_preload_libraries"),
				 errhint("Add discreet to shared_preload_libraries in postgresql.conf, and restart the server.")));
	/* code of others runs in the session of who maintains their tables, and would read at that clearance */
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("what has labels cannot be read within a security-restricted operation"),
				 errhint("A materialized view or an index would read with the rights of the role that maintains it; use CREATE TABLE AS.")));
	if (IsolationIsSerializable())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("multilevel tables cannot be used in a SERIALIZABLE transaction"),
				 errhint("Its failures would tell lower sessions of higher ones; use REPEATABLE READ.")));
	refuse_explained();
	if (!label_of_session(label))
		return false;
	/* a function may have a setting of its own; the leader has read at the label at which the worker began */
	if (IsParallelWorker() && *label != worker_label)
		refuse_in_worker();
	if (!(trusted && own_code()) && *label != written_at && TransactionIdIsValid(writer) && writer == GetTopTransactionIdIfAny())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("this transaction has written at label %s", text_to_cstring(label_text(written_at))),
				 errhint("End it before going to another label.")));
	if (!transactions_are_watched)
	{
		RegisterXactCallback(end_of_transaction, NULL);
		transactions_are_watched = true;
	}
	high_water |= *label;
	session_state.reading = true;
	session_state.reading_at = *label;
	return true;
}

void
begin_reading(void)
{
	int64		label;

	(void) label_to_read(&label);
}

/* What about a relation has labels: its rows, as those of a multilevel table, or the lines of the ledger. */
Labelled
labelled_part(Oid relation)
{
	List	   *views = OidIsValid(relation) ? multilevel_relations(false) : NIL;

	if (views != NIL && list_member_oid(views, relation))
		return LABELLED_ROWS;
	return OidIsValid(relation) && list_member_oid(ledger_tables, relation) ? LABELLED_LEDGER : UNLABELLED;
}

/* Who has a clearance reads the lines of its label from now on; the number of other lines stays hidden. */
void
begin_reading_ledger(void)
{
	if (superuser_arg(GetSessionUserId()) && !InSecurityRestrictedOperation())
		return;
	know_levels();
	if (cleared)
		begin_reading();
	else
		refuse_explained();
}

/* _visible(label): whether the session sees a row of a label. */
Datum
discreet_visible(PG_FUNCTION_ARGS)
{
	int64		label;

	PG_RETURN_BOOL(label_to_read(&label) && dominates(label, PG_GETARG_INT64(0)));
}

/* _session_label(): NULL for a role without a clearance, to which no row is visible. */
Datum
discreet_session_label(PG_FUNCTION_ARGS)
{
	int64		label;

	if (!label_to_read(&label))
		PG_RETURN_NULL();
	PG_RETURN_INT64(label);
}

/* _written_label(given, …): the label of the session when all given ones are it; NULL when others are given. */
Datum
discreet_written_label(PG_FUNCTION_ARGS)
{
	int64		label;
	text	   *written;

	if (!label_to_read(&label))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role %s has no clearance", GetUserNameFromId(GetSessionUserId(), false)),
				 errhint("The security officer gives one with discreet.mls_clear().")));
	if (!dominates(label, write_from))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role %s may not write at label %s", GetUserNameFromId(subject, false),
						text_to_cstring(label_text(label))),
				 errhint("SET discreet.level to a label that dominates %s.", text_to_cstring(label_text(write_from)))));
	writer = GetTopTransactionId();
	written_at = label;
	written = label_text(label);
	for (int n = 0; n < PG_NARGS(); n++)
	{
		text	   *given;

		if (PG_ARGISNULL(n))
			PG_RETURN_NULL();
		if (get_fn_expr_argtype(fcinfo->flinfo, n) != TEXTOID)
			elog(ERROR, "a label is a text");
		given = PG_GETARG_TEXT_PP(n);
		if (VARSIZE_ANY_EXHDR(given) != VARSIZE_ANY_EXHDR(written) ||
			memcmp(VARDATA_ANY(given), VARDATA_ANY(written), VARSIZE_ANY_EXHDR(given)) != 0)
			PG_RETURN_NULL();
	}
	PG_RETURN_INT64(label);
}

/* _may_write_at(label): whether it dominates the lowest label at which the session user may write. */
Datum
discreet_may_write_at(PG_FUNCTION_ARGS)
{
	know_levels();
	PG_RETURN_BOOL(cleared && dominates(PG_GETARG_INT64(0), write_from));
}

/* _label(bits): its text; NULL stands for the label of the session. A copy: rows may outlive what is kept here. */
Datum
discreet_label_text(PG_FUNCTION_ARGS)
{
	int64		label;

	if (!PG_ARGISNULL(0))
	{
		know_levels();
		label = PG_GETARG_INT64(0);
	}
	else if (!label_of_session(&label))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(datumCopy(PointerGetDatum(label_text(label)), false, -1));
}

/* _label_bits(text) */
Datum
discreet_label_bits(PG_FUNCTION_ARGS)
{
	int64		label;
	char	   *wrong;

	know_levels();
	wrong = read_label(text_to_cstring(PG_GETARG_TEXT_PP(0)), &label);
	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", wrong),
				 errhint("A label is a level, with compartments and groups where it has them, as S:CRYPTO,NATO or S:NATO:EU,US.")));
	PG_RETURN_INT64(label);
}

/* _sees(label): whether the session sees what has a label; superusers see all, and no other session a label that is no more. */
Datum
discreet_sees(PG_FUNCTION_ARGS)
{
	int64		wanted;
	int64		label;

	if (superuser_arg(GetSessionUserId()) && !InSecurityRestrictedOperation())
		PG_RETURN_BOOL(true);
	know_levels();
	PG_RETURN_BOOL(read_label(text_to_cstring(PG_GETARG_TEXT_PP(0)), &wanted) == NULL && label_to_read(&label) &&
				   dominates(label, wanted));
}

Datum
discreet_is_trusted(PG_FUNCTION_ARGS)
{
	know_levels();
	PG_RETURN_BOOL(trusted && cleared && own_code());
}

/* _random_id(): a sequence would tell how many rows others write. Positive. */
Datum
discreet_random_id(PG_FUNCTION_ARGS)
{
	static int64 ids[RANDOM_IDS];
	static int	left = 0;

	if (left == 0)
	{
		if (!pg_strong_random(ids, sizeof(ids)))
			ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("no random numbers")));
		left = RANDOM_IDS;
	}
	PG_RETURN_INT64((ids[--left] & PG_INT64_MAX) | 1);
}

/* A trigger on the tables that are kept here: every session reads them again. */
Datum
discreet_levels_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "_levels_changed is a trigger function");
	CacheInvalidateRelcache(((TriggerData *) fcinfo->context)->tg_relation);
	forget_levels();
	PG_RETURN_POINTER(NULL);
}
