/*
 * instances.c: which of the stored rows of an entity are shown, and where their cells come from.
 */
#include "discreet.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#define OWN (-2)				/* what a cell's source is, beside the label of the row that it is borrowed from */
#define ABSENT (-1)

PG_FUNCTION_INFO_V1(discreet_instance);

typedef struct Entity
{
	int			rows;
	int			cells;
	int64	   *labels;
	bool	   *dead;
	int64	   *sources;		/* rows x cells */
	int		   *owners;			/* rows x cells: the row that owns the value, or -1 */
} Entity;

static int
row_at(Entity *entity, int64 label)
{
	for (int row = 0; row < entity->rows; row++)
		if (entity->labels[row] == label)
			return row;
	return -1;
}

static int
owner_of(Entity *entity, int row, int cell)
{
	/* sources are lower and lower labels; a chain that is longer than the rows is none of ours */
	for (int steps = 0; row >= 0 && steps <= entity->rows; steps++)
	{
		int64		source = entity->sources[row * entity->cells + cell];

		if (source == OWN)
			return row;
		row = source == ABSENT ? -1 : row_at(entity, source);
	}
	return -1;
}

static bool
is_above(int64 high, int64 low)
{
	return high != low && (low & ~high) == 0;
}

/* Whether all that a row says is said by another one, which then is shown in its place. */
static bool
is_said_by(Entity *entity, int row, int other)
{
	bool		says_more = false;

	for (int cell = 0; cell < entity->cells; cell++)
	{
		int			mine = entity->owners[row * entity->cells + cell];
		int			theirs = entity->owners[other * entity->cells + cell];

		if (mine < 0 ? theirs >= 0 : mine != theirs)
		{
			if (mine >= 0)
				return false;
			says_more = true;
		}
	}
	return says_more || is_above(entity->labels[other], entity->labels[row]) ||
		(!is_above(entity->labels[row], entity->labels[other]) && entity->labels[other] > entity->labels[row]);
}

/* The one row above that owns a value where this one has none. */
static int
filler_of(Entity *entity, int row, int cell)
{
	int			found = -1;

	for (int other = 0; other < entity->rows; other++)
		if (!entity->dead[other] && is_above(entity->labels[other], entity->labels[row]) &&
			entity->sources[other * entity->cells + cell] == OWN)
		{
			if (found >= 0)
				return -1;
			found = other;
		}
	return found;
}

static void *
elements(ArrayType *array, Oid type, int *count)
{
	Datum	   *datums;
	bool	   *nulls;
	int16		length;
	bool		by_value;
	char		alignment;
	void	   *result;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(array, type, length, by_value, alignment, &datums, &nulls, count);
	result = palloc(Max(*count, 1) * sizeof(int64));
	for (int n = 0; n < *count; n++)
		if (nulls[n])
			elog(ERROR, "a NULL in the state of an entity");
		else if (type == BOOLOID)
			((bool *) result)[n] = DatumGetBool(datums[n]);
		else
			((int64 *) result)[n] = DatumGetInt64(datums[n]);
	return result;
}

/*
 * _instance(label, labels, dead, sources): for the row at a label of an entity, whose visible rows are given, the numbers of
 * the rows that its cells come from, NULL for a cell that is absent; NULL when the row is not shown.
 */
Datum
discreet_instance(PG_FUNCTION_ARGS)
{
	Entity		entity;
	int			row;
	int			count;
	Datum	   *from;
	bool	   *absent;
	int			dimension;
	int			lower = 1;

	entity.labels = elements(PG_GETARG_ARRAYTYPE_P(1), INT8OID, &entity.rows);
	entity.dead = elements(PG_GETARG_ARRAYTYPE_P(2), BOOLOID, &count);
	entity.sources = elements(PG_GETARG_ARRAYTYPE_P(3), INT8OID, &entity.cells);
	if (entity.rows == 0 || count != entity.rows || entity.cells % entity.rows != 0)
		elog(ERROR, "the state of an entity does not fit together");
	entity.cells /= entity.rows;
	row = row_at(&entity, PG_GETARG_INT64(0));
	if (row < 0 || entity.dead[row])
		PG_RETURN_NULL();

	entity.owners = palloc(entity.rows * entity.cells * sizeof(int));
	for (int each = 0; each < entity.rows; each++)
		for (int cell = 0; cell < entity.cells; cell++)
			entity.owners[each * entity.cells + cell] = owner_of(&entity, each, cell);
	for (int other = 0; other < entity.rows; other++)
		if (other != row && !entity.dead[other] && is_said_by(&entity, row, other))
			PG_RETURN_NULL();

	from = palloc(entity.cells * sizeof(Datum));
	absent = palloc(entity.cells * sizeof(bool));
	for (int cell = 0; cell < entity.cells; cell++)
	{
		int			owner = entity.owners[row * entity.cells + cell];

		if (owner < 0)
			owner = filler_of(&entity, row, cell);
		absent[cell] = owner < 0;
		from[cell] = Int32GetDatum(owner + 1);
	}
	dimension = entity.cells;
	PG_RETURN_ARRAYTYPE_P(construct_md_array(from, absent, 1, &dimension, &lower, INT4OID, sizeof(int32), true,
											 TYPALIGN_INT));
}
