/*
 * gate_people.c: aggregate _people computes in one pass what every person has in every group, bounds it, and sums it up per
 * group. gate/run.py says the same in nested SQL, which sorts on disk: what is too much here is left to that.
 */
#include "gate_cells.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "discreet.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#define LONGEST_JSON 0x0FFFFFFF	/* more than a jsonb can hold */

/* arguments of the transition function, after the state */
enum
{
	UNIT = 1, SEED, MAX_GROUPS, MAX_ROWS, MAX_TOTAL_ROWS, SUBJECTS, FIRST_SUBJECT
};

/* What is known before the first row; goes between workers as it is. */
typedef struct Question
{
	int64		seed;
	int32		max_groups;
	int32		max_rows;		/* of a person in a group */
	int64		max_total_rows; /* of a person in all groups */
	int32		keys;
	int32		subjects;
	bool		by_word;		/* a person is a word */
	char		kinds[FUNC_MAX_ARGS];	/* of the subjects: R, S or Q */
	int16		unit_length;	/* of the type of persons */
} Question;

/* A key of GROUP BY. What it is in SQL, its value, is turned into text once. */
typedef struct GroupKey
{
	Numbering	values;			/* -> text */
	Numbering	texts;
	Numbering	groups;			/* by this key and those before it: group by those << 32 | text; of the first key, its texts */
	int16		length;			/* of the type */
	bool		by_value;
	bool		is_text;
	bool		by_output;		/* the text comes from the type's output function, not from a cast */
	FmgrInfo	to_text;
} GroupKey;

/* Cells hold what persons have in groups, whose numbers are those of the last key. */
typedef struct People
{
	Question	question;
	MemoryContext context;
	Cells		cells;
	GroupKey   *keys;
} People;

/* Not after an error. */
static void
end_people(Datum people)
{
	end_cells(&((People *) DatumGetPointer(people))->cells);
}

/* Makes a state in the aggregate's own memory. */
static People *
begin_people(FunctionCallInfo fcinfo, const Question *question)
{
	Aggref	   *call = AggGetAggref(fcinfo);
	MemoryContext aggregate;
	MemoryContext context;
	People	   *people;

	if (!AggCheckCallContext(fcinfo, &aggregate))
		elog(ERROR, "a function of _people was called outside an aggregate");
	context = AllocSetContextCreate(aggregate, "people", ALLOCSET_DEFAULT_SIZES);
	people = MemoryContextAllocZero(context, sizeof(People));
	memcpy(&people->question, question, sizeof(Question));
	people->context = context;
	/* what a worker has written to a file, the leader could not read */
	begin_cells(&people->cells, context, question->kinds, question->subjects, question->by_word, question->seed,
				call != NULL && !DO_AGGSPLIT_SERIALIZE(call->aggsplit));
	AggRegisterCallback(fcinfo, end_people, PointerGetDatum(people));
	people->keys = MemoryContextAllocZero(context, sizeof(GroupKey) * question->keys);
	for (int n = 0; n < question->keys; n++)
	{
		begin_numbering(&people->keys[n].texts, context, true, 0);
		if (n > 0)
			begin_numbering(&people->keys[n].groups, context, false, 0);
	}
	return people;
}

static uint32
number_of_groups(const People *people)
{
	int			keys = people->question.keys;

	if (keys == 0)
		return 1;
	return keys == 1 ? people->keys[0].texts.used : people->keys[keys - 1].groups.used;
}

/* Whether there are so many groups that max_total_rows can be exceeded. */
static bool
is_bounded_in_all(const People *people)
{
	const Question *question = &people->question;

	return question->max_total_rows / question->max_rows < Min(number_of_groups(people), question->max_groups);
}

/* Before the first row */

/* Whether values are equal just when their bytes are. */
static bool
is_equal_as_bytes(Oid type, Oid collation)
{
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			equal_image = InvalidOid;

	/* blanks at the end of a character(n) do not count, though PostgreSQL lets it pass */
	if (type == BPCHAROID || (type_is_collatable(type) && !OidIsValid(collation)))
		return false;
	if (OidIsValid(cache->btree_opf))
		equal_image = get_opfamily_proc(cache->btree_opf, cache->btree_opintype, cache->btree_opintype,
										BTEQUALIMAGE_PROC);
	return OidIsValid(equal_image) &&
		DatumGetBool(OidFunctionCall1Coll(equal_image, collation, ObjectIdGetDatum(cache->btree_opintype)));
}

static void
describe_key(GroupKey *key, Oid type, MemoryContext context)
{
	Oid			function = InvalidOid;
	bool		is_varlena;

	get_typlenbyval(type, &key->length, &key->by_value);
	/* a cast of a type that is not built in may run code of any role */
	if (type == TEXTOID ||
		(type < FirstNormalObjectId &&
		 find_coercion_pathway(TEXTOID, type, COERCION_EXPLICIT, &function) == COERCION_PATH_RELABELTYPE))
	{
		key->is_text = true;
		return;
	}
	if (!OidIsValid(function))
	{
		key->by_output = true;
		getTypeOutputInfo(type, &function, &is_varlena);
	}
	fmgr_info_cxt(function, &key->to_text, context);
	begin_numbering(&key->values, context, !key->by_value, 1);
}

static People *
first_row(FunctionCallInfo fcinfo)
{
	Question	question;
	Aggref	   *call = AggGetAggref(fcinfo);
	TargetEntry *unit;
	Oid			type;
	text	   *kinds;
	People	   *people;

	if (call == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("_people is no window function")));
	memset(&question, 0, sizeof(question)); /* the bytes between its fields are compared too */
	unit = linitial_node(TargetEntry, call->args);
	type = getBaseType(exprType((Node *) unit->expr));
	for (int n = SEED; n <= SUBJECTS; n++)
		if (PG_ARGISNULL(n))
			elog(ERROR, "argument %d of _people is NULL", n);
	kinds = PG_GETARG_TEXT_PP(SUBJECTS);
	question.seed = PG_GETARG_INT64(SEED);
	question.max_groups = PG_GETARG_INT32(MAX_GROUPS);
	question.max_rows = PG_GETARG_INT32(MAX_ROWS);
	question.max_total_rows = PG_GETARG_INT64(MAX_TOTAL_ROWS);
	question.subjects = VARSIZE_ANY_EXHDR(kinds);
	question.keys = PG_NARGS() - FIRST_SUBJECT - question.subjects;
	if (question.keys < 0 || question.max_groups < 1 || question.max_rows < 1 || question.max_total_rows < 1)
		elog(ERROR, "arguments of _people are too few or too small");
	memcpy(question.kinds, VARDATA_ANY(kinds), question.subjects);
	for (int n = 0; n < question.subjects; n++)
	{
		if (strchr("RSQ", question.kinds[n]) == NULL ||
			get_fn_expr_argtype(fcinfo->flinfo, FIRST_SUBJECT + n) != INT8OID)
			elog(ERROR, "subject %d of _people is of no known kind", n);
	}
	if (!is_equal_as_bytes(type, exprCollation((Node *) unit->expr)))
		leave_to_sql("equal persons may be written differently");
	get_typlenbyval(type, &question.unit_length, &question.by_word);

	people = begin_people(fcinfo, &question);
	for (int n = 0; n < question.keys; n++)
	{
		Oid			key_type = get_fn_expr_argtype(fcinfo->flinfo, FIRST_SUBJECT + question.subjects + n);

		describe_key(&people->keys[n], getBaseType(key_type), people->context);
	}
	return people;
}

/* Rows */

static inline uint64
word_of(Datum datum, int16 length)
{
	uint64		word = 0;

	store_att_byval(&word, datum, length);
	return word;
}

/* Of a value that is not passed by value. */
static Span
span_of(Datum datum, int16 length)
{
	struct varlena *packed;

	if (length > 0)
		return (Span) {DatumGetPointer(datum), length};
	if (length == -2)
		return (Span) {DatumGetCString(datum), strlen(DatumGetCString(datum))};
	packed = PG_DETOAST_DATUM_PACKED(datum);
	return (Span) {VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed)};
}

/* The number of value::text. */
static uint32
text_of(GroupKey *key, NullableDatum value)
{
	uint32		known = key->values.used;
	uint32		number;
	Entry	   *entry;

	if (value.isnull)
		return number_of_span(&key->texts, (Span) {"", -1});
	if (key->is_text)
		return number_of_span(&key->texts, span_of(value.value, -1));
	if (key->by_value)
		number = number_of_word(&key->values, word_of(value.value, key->length));
	else
		number = number_of_span(&key->values, span_of(value.value, key->length));
	entry = entry_at(&key->values, number);
	if (number == known)
	{
		Datum		text = key->by_output ? CStringGetDatum(OutputFunctionCall(&key->to_text, value.value)) :
			FunctionCall1(&key->to_text, value.value);

		entry->values[0] = number_of_span(&key->texts, span_of(text, key->by_output ? -2 : -1));
	}
	return (uint32) entry->values[0];
}

static uint32
group_of_row(FunctionCallInfo fcinfo, People *people)
{
	const NullableDatum *values = &fcinfo->args[FIRST_SUBJECT + people->question.subjects];
	uint32		group = 0;

	for (int n = 0; n < people->question.keys; n++)
	{
		uint32		text = text_of(&people->keys[n], values[n]);

		group = n == 0 ? text : number_of_word(&people->keys[n].groups, (uint64) group << 32 | text);
	}
	return group;
}

/* A cell for a row of this person. */
static inline Cell *
cell_of_row(People *people, Datum unit)
{
	Cells	   *cells = &people->cells;
	Span		span;
	uint32		size;
	Cell	   *cell;
	char	   *at;

	if (people->question.by_word)
		return place_for_cell(cells, word_of(unit, people->question.unit_length), cells->shape.size);
	span = span_of(unit, people->question.unit_length);
	if (span.length > LONGEST_PERSON)
		leave_to_sql("what names a person is too long");
	size = cell_size(cells, span.length);
	cell = place_for_cell(cells, hash_of_bytes(cells, span), size);
	at = (char *) cell + cells->shape.size;
	*(uint32 *) at = span.length;
	at += sizeof(uint32);
	memcpy(at, span.data, span.length);
	memset(at + span.length, 0, (char *) cell + size - at - span.length);
	return cell;
}

PG_FUNCTION_INFO_V1(discreet_people_transition);

/* _people_transition(state, unit, seed, max_groups, max_rows, max_total_rows, subjects, values of these …, keys …) */
Datum
discreet_people_transition(PG_FUNCTION_ARGS)
{
	People	   *people = PG_ARGISNULL(0) ? first_row(fcinfo) : (People *) PG_GETARG_POINTER(0);
	const CellShape *shape = &people->cells.shape;
	uint32		group;
	Cell	   *cell;

	if (PG_ARGISNULL(UNIT))
		PG_RETURN_POINTER(people);
	group = group_of_row(fcinfo, people);
	cell = cell_of_row(people, PG_GETARG_DATUM(UNIT));
	cell->group = group;
	for (int s = 0; s < shape->subjects; s++)
	{
		bool		counts = !PG_ARGISNULL(FIRST_SUBJECT + s);
		int64		value = counts ? PG_GETARG_INT64(FIRST_SUBJECT + s) : 0;

		cell->counts[s] = counts;
		if (shape->sums[s] != 0)
			*sum_of(&people->cells, cell, s) = value;
		if (shape->squares[s] != 0)
			set_squares(&people->cells, cell, s, (int128) value * value);
	}
	if (shape->subjects % 2 == 0)
		cell->counts[shape->subjects] = 0;
	PG_RETURN_POINTER(people);
}

/* Between workers: the question; of each numbering how many entries it has, and these; the cells. */

static void
write_bytes(char **to, const void *from, Size size)
{
	memcpy(*to, from, size);
	*to += size;
}

static void
read_bytes(const char **from, void *to, Size size)
{
	memcpy(to, *from, size);
	*from += size;
}

static Size
size_of_bytes(const Bytes *bytes)
{
	return offsetof(Bytes, data) + Max(bytes->length, 0);
}

static Size
size_of_entries(const Numbering *numbering)
{
	Size		size = sizeof(uint32);

	if (!numbering->of_bytes)
		return size + numbering->entry_size * numbering->used;
	for (uint32 n = 0; n < numbering->used; n++)
		size += size_of_bytes(bytes_at(numbering, n));
	return size;
}

static void
write_entries(char **to, const Numbering *numbering)
{
	write_bytes(to, &numbering->used, sizeof(uint32));
	for (uint32 n = 0; n < numbering->used; n++)
	{
		if (numbering->of_bytes)
			write_bytes(to, bytes_at(numbering, n), size_of_bytes(bytes_at(numbering, n)));
		else
			write_bytes(to, entry_at(numbering, n), numbering->entry_size);
	}
}

PG_FUNCTION_INFO_V1(discreet_people_serialize);

Datum
discreet_people_serialize(PG_FUNCTION_ARGS)
{
	People	   *people = (People *) PG_GETARG_POINTER(0);
	Cells	   *cells = &people->cells;
	const Numbering *parts[2 * FUNC_MAX_ARGS];
	int			number = 0;
	Size		size = VARHDRSZ + sizeof(Question);
	bytea	   *bytes;
	char	   *to;

	merge_before_sending(cells);
	for (int n = 0; n < people->question.keys; n++)
	{
		parts[number++] = &people->keys[n].texts;
		if (n > 0)
			parts[number++] = &people->keys[n].groups;
	}
	for (int n = 0; n < number; n++)
		size += size_of_entries(parts[n]);
	for (int p = 0; p < PARTITIONS; p++)
		for (uint32 n = 0; n < cells->partitions[p].number; n++)
			size += cells->partitions[p].blocks[n]->used;
	if (!AllocSizeIsValid(size))
		leave_to_sql("what a worker has found is too long to be sent");
	bytes = palloc(size);
	SET_VARSIZE(bytes, size);
	to = VARDATA(bytes);
	write_bytes(&to, &people->question, sizeof(Question));
	for (int n = 0; n < number; n++)
		write_entries(&to, parts[n]);
	for (int p = 0; p < PARTITIONS; p++)
	{
		for (uint32 n = 0; n < cells->partitions[p].number; n++)
			write_bytes(&to, cells->partitions[p].blocks[n]->data, cells->partitions[p].blocks[n]->used);
		free_partition(cells, &cells->partitions[p]);
	}
	PG_RETURN_BYTEA_P(bytes);
}

PG_FUNCTION_INFO_V1(discreet_people_deserialize);

/* Stays as it is until it is combined: the leader never holds two sets of cells. */
Datum
discreet_people_deserialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(PG_GETARG_BYTEA_PP(0));
}

/*
 * For each of a worker's numbers the one that its key has here. A word that is made of two numbers has these replaced
 * first.
 */
static uint32 *
our_numbers(Numbering *numbering, const char **from, const uint32 *upper, const uint32 *lower)
{
	uint32		used;
	uint32	   *numbers;
	uint64		words[BATCH];
	Span		spans[BATCH];

	read_bytes(from, &used, sizeof(used));
	expect_entries(numbering, used);
	numbers = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint32) * (Size) used);
	for (uint32 done = 0; done < used; done += BATCH)
	{
		int			count = Min(used - done, BATCH);

		CHECK_FOR_INTERRUPTS();
		if (numbering->of_bytes)
		{
			for (int n = 0; n < count; n++)
			{
				read_bytes(from, &spans[n].length, sizeof(int32));
				spans[n].data = *from;
				*from += Max(spans[n].length, 0);
			}
			number_spans(numbering, spans, numbers + done, count);
			continue;
		}
		read_bytes(from, words, sizeof(uint64) * count);
		for (int n = 0; n < count && lower != NULL; n++)
			words[n] = (uint64) (upper ? upper[words[n] >> 32] : 0) << 32 | lower[(uint32) words[n]];
		number_words(numbering, words, numbers + done, count);
	}
	return numbers;
}

PG_FUNCTION_INFO_V1(discreet_people_combine);

Datum
discreet_people_combine(PG_FUNCTION_ARGS)
{
	People	   *people = PG_ARGISNULL(0) ? NULL : (People *) PG_GETARG_POINTER(0);
	const char *from;
	const char *end;
	Question	question;
	uint32	   *groups = NULL;
	int			waiting = 0;

	if (PG_ARGISNULL(1))
	{
		if (people == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(people);
	}
	from = VARDATA_ANY((bytea *) PG_GETARG_POINTER(1));
	end = from + VARSIZE_ANY_EXHDR((bytea *) PG_GETARG_POINTER(1));
	read_bytes(&from, &question, sizeof(question));
	if (people == NULL)
		people = begin_people(fcinfo, &question);
	else if (memcmp(&people->question, &question, sizeof(question)) != 0)
		elog(ERROR, "arguments of _people differ between workers");
	for (int n = 0; n < question.keys; n++)
	{
		uint32	   *texts = our_numbers(&people->keys[n].texts, &from, NULL, NULL);

		groups = n == 0 ? texts : our_numbers(&people->keys[n].groups, &from, groups, texts);
	}
	while (from < end)
	{
		uint32		size = people->cells.shape.size;
		uint64		word;
		Cell	   *cell;

		if (++waiting % BATCH == 0)
			CHECK_FOR_INTERRUPTS();
		if (!question.by_word)
		{
			uint32		length;

			memcpy(&length, from + size, sizeof(length));
			size = cell_size(&people->cells, length);
		}
		memcpy(&word, from, sizeof(word));
		cell = place_for_cell(&people->cells, word, size);
		memcpy(cell, from, size);
		if (groups != NULL)
			cell->group = groups[cell->group];
		from += size;
	}
	PG_RETURN_POINTER(people);
}

/* The end */

typedef struct Place
{
	int64		hash;
	const Cell *cell;
} Place;

/* The text of each key of a group. */
static void
find_texts(const People *people, uint32 group, const Bytes **texts)
{
	if (people->question.keys == 0)
		return;
	for (int n = people->question.keys - 1; n > 0; n--)
	{
		uint64		pair = entry_at(&people->keys[n].groups, group)->key;

		texts[n] = bytes_at(&people->keys[n].texts, (uint32) pair);
		group = pair >> 32;
	}
	texts[0] = bytes_at(&people->keys[0].texts, group);
}

/* As ORDER BY hash, texts COLLATE "C" does. */
static int
compare_places(const void *a, const void *b, void *people)
{
	const Place *left = a;
	const Place *right = b;
	const Bytes *ours[FUNC_MAX_ARGS];
	const Bytes *theirs[FUNC_MAX_ARGS];

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	find_texts(people, left->cell->group, ours);
	find_texts(people, right->cell->group, theirs);
	for (int n = 0; n < ((People *) people)->question.keys; n++)
	{
		int			order;

		if (ours[n]->length < 0 || theirs[n]->length < 0)
			order = (ours[n]->length < 0) - (theirs[n]->length < 0);	/* NULLs last */
		else
		{
			order = memcmp(ours[n]->data, theirs[n]->data, Min(ours[n]->length, theirs[n]->length));
			if (order == 0)
				order = ours[n]->length - theirs[n]->length;
		}
		if (order != 0)
			return order;
	}
	return 0;
}

/* concat_ws('|', texts) of a group; `buffer` is for putting it together, where there is more than one text. */
static Span
joined_texts(const People *people, uint32 group, StringInfo buffer)
{
	const Bytes *texts[FUNC_MAX_ARGS];
	const Bytes *only = NULL;
	int			present = 0;
	char	   *joined;

	find_texts(people, group, texts);
	for (int n = 0; n < people->question.keys; n++)
	{
		if (texts[n]->length < 0)
			continue;
		only = texts[n];
		present++;
	}
	if (present < 2)
		return present == 0 ? (Span) {"", 0} : (Span) {only->data, only->length};
	resetStringInfo(buffer);
	for (int n = 0; n < people->question.keys; n++)
	{
		if (texts[n]->length < 0)
			continue;
		appendBinaryStringInfo(buffer, texts[n]->data, texts[n]->length);
		if (texts[n] != only)
			appendStringInfoChar(buffer, '|');
	}
	joined = take_memory(people->context, buffer->len);
	memcpy(joined, buffer->data, buffer->len);
	return (Span) {joined, buffer->len};
}

/* hash_record_extended(ROW(unit), seed): a secret of this person, by which its groups are chosen. */
static uint64
secret_of_person(const People *people, const Cell *cell)
{
	const Question *question = &people->question;
	Span		bytes;

	if (question->by_word)
	{
		int64		word = (int64) cell->word;

		return DatumGetUInt64(DirectFunctionCall2(hashint8extended,
												  Int64GetDatum(question->unit_length == 2 ? (int16) word : word),
												  Int64GetDatum(question->seed)));
	}
	bytes = person_of(&people->cells, cell);
	return hash_bytes_extended((const unsigned char *) bytes.data,
							   question->unit_length == NAMEDATALEN ? strlen(bytes.data) : bytes.length,
							   question->seed);
}

typedef struct Total
{
	int128		people;
	int128		rows;
	int128		sum;
	int128		squares;
} Total;

/* number * rows / count, towards zero, for rows below count; in two parts, which stay within 128 bits. */
static inline int128
scaled(int128 number, int64 rows, int64 count)
{
	return number / count * rows + number % count * rows / count;
}

/* Adds what a person has in a group of one subject, as so many rows, or none, of the person's own average there. */
static inline void
add_person(Total *total, const Cells *cells, const Cell *cell, int subject, int64 rows)
{
	const CellShape *shape = &cells->shape;
	int64		count = cell->counts[subject];
	int128		sum;
	int128		squares;

	if (count == 0)
		return;
	total->people++;
	total->rows += rows;
	if (shape->sums[subject] == 0)
		return;
	sum = *sum_of(cells, cell, subject);
	total->sum += count > rows ? scaled(sum, rows, count) : sum;
	if (shape->squares[subject] == 0)
		return;
	squares = squares_of(cells, cell, subject);
	if (count > rows)
		squares = scaled(squares, rows, count);
	if (__builtin_add_overflow(total->squares, squares, &total->squares))
		leave_to_sql("a sum of squares is beyond 128 bits");
}

/* Of all groups. A group in which no person counts is left out. */
typedef struct Totals
{
	People	   *people;
	bool	   *present;
	Total	   *totals;			/* of each group, those of its subjects */
	bool		chosen;			/* people may be in more groups than count, or have more rows in all */
	bool		in_order;		/* max_total_rows bounds the rows of a person */
	/* if chosen: */
	Span	   *joined;			/* the texts of each group */
	Place	   *places;			/* for the cells of one person */
	int64		left[FUNC_MAX_ARGS];	/* how many of this person's rows of each subject may still count */
} Totals;

static inline void
add_cell(Totals *totals, const Cell *cell)
{
	const Question *question = &totals->people->question;
	Total	   *total = totals->totals + (Size) cell->group * question->subjects;

	totals->present[cell->group] = true;
	for (int s = 0; s < question->subjects; s++)
	{
		int64		rows = Min(cell->counts[s], question->max_rows);

		if (totals->in_order)
		{
			rows = Min(rows, totals->left[s]);
			totals->left[s] -= rows;
		}
		add_person(total++, &totals->people->cells, cell, s, rows);
	}
}

/* Whether a person has more rows of some subject than may count in all. */
static bool
has_too_many_rows(const Question *question, const Place *places, uint32 count)
{
	int64		rows[FUNC_MAX_ARGS] = {0};

	for (uint32 n = 0; n < count; n++)
	{
		for (int s = 0; s < question->subjects; s++)
		{
			rows[s] += Min(places[n].cell->counts[s], question->max_rows);
			if (rows[s] > question->max_total_rows)
				return true;
		}
	}
	return false;
}

/*
 * A person counts in max_groups groups, those that come first by
 * hashtextextended(concat_ws('|', texts), secret of the person), texts. In this order rows count until there are
 * max_total_rows of them; without so many, or so many groups, no order is needed.
 */
static void
add_chosen_cells(Totals *totals, uint32 count)
{
	const Question *question = &totals->people->question;
	Place	   *places = totals->places;

	if (count > question->max_groups || (totals->in_order && has_too_many_rows(question, places, count)))
	{
		uint64		secret = secret_of_person(totals->people, places[0].cell);

		for (uint32 n = 0; n < count; n++)
		{
			Span		texts = totals->joined[places[n].cell->group];

			places[n].hash = (int64) hash_bytes_extended((const unsigned char *) texts.data, texts.length, secret);
		}
		qsort_arg(places, count, sizeof(Place), compare_places, totals->people);
	}
	for (int s = 0; s < question->subjects; s++)
		totals->left[s] = question->max_total_rows;
	for (uint32 n = 0; n < Min(count, question->max_groups); n++)
		add_cell(totals, places[n].cell);
}

/* Cells of a partition, person by person. */
static void
add_people(Totals *totals, Partition *partition)
{
	Cells	   *cells = &totals->people->cells;
	const Cell **of_people;
	const uint32 *ends;
	uint32		people = cells_by_person(cells, partition, &of_people, &ends);

	for (uint32 person = 0, n = 0; person < people; person++)
	{
		uint32		count = 0;

		if (person % BATCH == 0)
			CHECK_FOR_INTERRUPTS();
		for (; n < ends[person]; n++)
			totals->places[count++] = (Place) {0, of_people[n]};
		add_chosen_cells(totals, count);
	}
}

static void
add_partition(Totals *totals, Partition *partition)
{
	Cells	   *cells = &totals->people->cells;

	gather_partition(cells, partition);
	if (totals->chosen)
		add_people(totals, partition);
	else
	{
		for (uint32 n = 0; n < partition->number; n++)
		{
			const CellBlock *block = partition->blocks[n];

			CHECK_FOR_INTERRUPTS();
			for (uint32 at = 0; at < block->used; at += size_of_cell(cells, (const Cell *) (block->data + at)))
				add_cell(totals, (const Cell *) (block->data + at));
		}
	}
	free_partition(cells, partition);
}

/* What choosing groups needs. */
static void
begin_choosing(Totals *totals)
{
	People	   *people = totals->people;
	uint32		groups = number_of_groups(people);
	StringInfoData buffer;

	totals->in_order = is_bounded_in_all(people);
	totals->places = take_memory(people->context, sizeof(Place) * (Size) groups);
	totals->joined = take_memory(people->context, sizeof(Span) * (Size) groups);
	initStringInfo(&buffer);
	for (uint32 group = 0; group < groups; group++)
	{
		if (group % BATCH == 0)
			CHECK_FOR_INTERRUPTS();
		totals->joined[group] = joined_texts(people, group, &buffer);
	}
	pfree(buffer.data);
}

static void
append_number(StringInfo json, int128 number)
{
	char		digits[41];
	char	   *at = digits + sizeof(digits) - 1;
	uint128		rest = number < 0 ? -(uint128) number : (uint128) number;

	*at = '\0';
	do
	{
		*--at = '0' + (int) (rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (number < 0)
		*--at = '-';
	appendStringInfoString(json, at);
}

/* [["text of a key", null, …], [people, rows, sum, squares], …] */
static void
append_group(StringInfo json, const People *people, uint32 group, const Total *totals)
{
	const Bytes *texts[FUNC_MAX_ARGS];

	find_texts(people, group, texts);
	appendStringInfoString(json, json->len > 1 ? ", [[" : "[[");
	for (int n = 0; n < people->question.keys; n++)
	{
		appendStringInfoString(json, n > 0 ? ", " : "");
		if (texts[n]->length < 0)
			appendStringInfoString(json, "null");
		else
			escape_json(json, texts[n]->data);
	}
	appendStringInfoChar(json, ']');
	for (int n = 0; n < people->question.subjects; n++)
	{
		const int128 numbers[] = {totals[n].people, totals[n].rows, totals[n].sum, totals[n].squares};

		for (int i = 0; i < lengthof(numbers); i++)
		{
			appendStringInfoString(json, i == 0 ? ", [" : ", ");
			append_number(json, numbers[i]);
		}
		appendStringInfoChar(json, ']');
	}
	appendStringInfoChar(json, ']');
}

/* Group by group. That a group exists in which no person counts would tell of people who are in more groups than they may. */
static void
append_groups(StringInfo json, People *people)
{
	uint32		groups = number_of_groups(people);
	Size		size = sizeof(Total) * people->question.subjects * groups;
	Totals		totals = {people, take_memory(people->context, groups), take_memory(people->context, size)};

	memset(totals.present, false, groups);
	memset(totals.totals, 0, size);
	totals.chosen = groups > people->question.max_groups || is_bounded_in_all(people);
	if (totals.chosen)
		begin_choosing(&totals);
	spill_rest(&people->cells);
	for (int n = 0; n < PARTITIONS; n++)
		add_partition(&totals, &people->cells.partitions[n]);
	end_cells(&people->cells);
	for (uint32 group = 0; group < groups; group++)
	{
		if (group % BATCH == 0)
			CHECK_FOR_INTERRUPTS();
		if (totals.present[group])
			append_group(json, people, group, totals.totals + (Size) group * people->question.subjects);
		if (json->len > LONGEST_JSON)
			leave_to_sql("there are too many groups");
	}
}

PG_FUNCTION_INFO_V1(discreet_people_final);

Datum
discreet_people_final(PG_FUNCTION_ARGS)
{
	People	   *people = PG_ARGISNULL(0) ? NULL : (People *) PG_GETARG_POINTER(0);
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	if (people != NULL)
	{
		append_groups(&json, people);
	}
	appendStringInfoChar(&json, ']');
	PG_RETURN_TEXT_P(cstring_to_text_with_len(json.data, json.len));
}
