/*
 * dp_values.c: what a value is as a number, and on the integer grid on which sums are exact.
 */
#include "discreet.h"

#include <float.h>
#include <math.h>

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#define GRID_BITS 40
#define SMALLEST_MAGNITUDE 1e-200
#define LARGEST_MAGNITUDE 1e200
#define SECONDS_1970_TO_2000 946684800.0
#define DAYS_1970_TO_2000 10957
#define LONGEST_TEXT 10000	/* bytes; LONGEST_KEY of gate/values.py */

/* The first digits of a numeric, base 10000, in its on-disk format; digits past the fifth are below a double's reach. */
double
numeric_as_double(Datum datum)
{
	static const double powers[] = {1e0, 1e4, 1e8, 1e12, 1e16, 1e20};
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(datum);
	const char *data = VARDATA_ANY(packed);
	int			bytes = VARSIZE_ANY_EXHDR(packed);
	uint16		header;
	int16		weight;
	bool		negative;
	int			at;
	int			digits;
	int			exponent;
	double		number = 0;

	memcpy(&header, data, 2);
	if ((header & 0xC000) == 0xC000)	/* NaN and the infinities */
		return get_float8_nan();
	if (header & 0x8000)		/* short header */
	{
		negative = (header & 0x2000) != 0;
		weight = (header & 0x003F) | ((header & 0x0040) ? ~0x003F : 0);
		at = 2;
	}
	else
	{
		negative = (header & 0x4000) != 0;
		memcpy(&weight, data + 2, 2);
		at = 4;
	}
	digits = Min((bytes - at) / 2, 5);
	for (int i = 0; i < digits; i++)
	{
		int16		digit;

		memcpy(&digit, data + at + 2 * i, 2);
		number = number * 10000 + digit;
	}
	exponent = weight - digits + 1;
	if (exponent < 0 && exponent >= -5)
		number /= powers[-exponent];
	else if (exponent > 0 && exponent <= 5)
		number *= powers[exponent];
	else if (exponent != 0)
		number *= pow(10000, exponent);
	return negative ? -number : number;
}

bool
is_bounded_type(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

/* A value as a number; dates as days, timestamps as seconds since 1970. NaN stands for what takes no part. */
double
value_as_double(Oid type, Datum datum)
{
	double		number;

	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(datum);
		case INT4OID:
			return DatumGetInt32(datum);
		case INT8OID:
			return (double) DatumGetInt64(datum);
		case FLOAT4OID:
			number = DatumGetFloat4(datum);
			break;
		case FLOAT8OID:
			number = DatumGetFloat8(datum);
			break;
		case NUMERICOID:
			/* beyond a double is still a number, to be clamped */
			number = numeric_as_double(datum);
			return isinf(number) ? copysign(DBL_MAX, number) : number;
		case DATEOID:
			if (DATE_NOT_FINITE(DatumGetDateADT(datum)))
				return get_float8_nan();
			return (double) DatumGetDateADT(datum) + DAYS_1970_TO_2000;
		default:
			if (TIMESTAMP_NOT_FINITE(DatumGetTimestamp(datum)))
				return get_float8_nan();
			return (double) DatumGetTimestamp(datum) / USECS_PER_SEC + SECONDS_1970_TO_2000;
	}
	return isinf(number) ? get_float8_nan() : number;
}

/* The type of a polymorphic argument, found once per call site. */
Oid
argument_type(FunctionCallInfo fcinfo, int argument)
{
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		Oid		   *cached = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(Oid));

		*cached = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument));
		fcinfo->flinfo->fn_extra = cached;
	}
	return *(Oid *) fcinfo->flinfo->fn_extra;
}

void
check_bounds(double lower, double upper)
{
	double		magnitude = Max(fabs(lower), fabs(upper));

	if (isnan(lower) || isnan(upper) || magnitude > LARGEST_MAGNITUDE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds of a dp_ aggregate must be finite numbers below %g", LARGEST_MAGNITUDE)));
	if (lower > upper)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower bound %g is above upper bound %g", lower, upper),
				 errhint("Exchange them: lower is the smaller one.")));
	if (magnitude != 0 && magnitude < SMALLEST_MAGNITUDE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds of a dp_ aggregate must not both be nearer to zero than %g", SMALLEST_MAGNITUDE)));
}

void
fit_grid(Grid *grid, double lower, double upper)
{
	double		magnitude = Max(fabs(lower), fabs(upper));
	int			bits = GRID_BITS;

	check_bounds(lower, upper);
	if (magnitude > 0)
		frexp(magnitude, &bits);
	grid->exponent = bits - GRID_BITS;
	grid->scale = ldexp(1.0, -grid->exponent);
	grid->lower = (int64) ceil(lower * grid->scale);
	grid->upper = (int64) floor(upper * grid->scale);
	if (grid->lower > grid->upper)	/* no grid point between bounds that lie so close together */
		grid->lower = grid->upper = (int64) rint(lower * grid->scale);
}

int64
on_grid(const Grid *grid, double number)
{
	double		scaled = rint(number * grid->scale);

	/* not <=: what is no number, such as 0 * inf, must not pass */
	if (!(scaled > (double) grid->lower))
		return grid->lower;
	if (scaled >= (double) grid->upper)
		return grid->upper;
	return (int64) scaled;
}

/* A number as a value of a bounded type: what value_as_double made of it, the other way. */
Datum
value_of_number(Oid type, const char *text)
{
	double		number = DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(text)));

	switch (type)
	{
		case INT2OID:
			return Int16GetDatum((int16) rint(number));
		case INT4OID:
			return Int32GetDatum((int32) rint(number));
		case INT8OID:
			return Int64GetDatum((int64) rint(number));
		case FLOAT4OID:
			return Float4GetDatum((float4) number);
		case FLOAT8OID:
			return Float8GetDatum(number);
		case NUMERICOID:
			return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
									   Int32GetDatum(-1));
		case DATEOID:
			return DateADTGetDatum((DateADT) rint(number) - DAYS_1970_TO_2000);
		default:
			return TimestampGetDatum((Timestamp) rint((number - SECONDS_1970_TO_2000) * USECS_PER_SEC));
	}
}

/* The first bytes of a text, without a part of a character; a text that is not longer is not even looked at. */
static Datum
first_bytes(Datum text, int32 most)
{
	struct varlena *slice;
	const char *data;

	if (toast_raw_datum_size(text) <= (Size) most + VARHDRSZ)
		return text;
	slice = PG_DETOAST_DATUM_SLICE(text, 0, most);
	data = VARDATA_ANY(slice);
	return PointerGetDatum(cstring_to_text_with_len(data, pg_mbcliplen(data, VARSIZE_ANY_EXHDR(slice), most)));
}

PG_FUNCTION_INFO_V1(discreet_cut);

/* _cut(text, bytes): at most so many bytes. Functions fail on texts of a gigabyte, and which row has one is an answer. */
Datum
discreet_cut(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(first_bytes(PG_GETARG_DATUM(0), Max(PG_GETARG_INT32(1), 0)));
}

PG_FUNCTION_INFO_V1(discreet_join);

/*
 * Transition of _joined(text, text): texts one after another, until there are as many bytes as a text of a question has, after
 * which nothing more is seen of it. So no number of rows makes one that is too long.
 */
Datum
discreet_join(PG_FUNCTION_ARGS)
{
	text	   *joined = PG_GETARG_TEXT_PP(0);
	Size		length = VARSIZE_ANY_EXHDR(joined);
	text	   *next;
	text	   *separator;
	StringInfoData longer;

	if (length >= LONGEST_TEXT)
		PG_RETURN_TEXT_P(joined);
	next = DatumGetTextPP(first_bytes(PG_GETARG_DATUM(1), LONGEST_TEXT));
	separator = DatumGetTextPP(first_bytes(PG_GETARG_DATUM(2), LONGEST_TEXT));
	initStringInfo(&longer);
	appendBinaryStringInfo(&longer, VARDATA_ANY(joined), length);
	appendBinaryStringInfo(&longer, VARDATA_ANY(separator), VARSIZE_ANY_EXHDR(separator));
	appendBinaryStringInfo(&longer, VARDATA_ANY(next), VARSIZE_ANY_EXHDR(next));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(longer.data, longer.len));
}

PG_FUNCTION_INFO_V1(discreet_text);

typedef struct Output
{
	Oid			type;
	int16		length;
	FmgrInfo	function;
} Output;

static Output *
output_of_type(FunctionCallInfo fcinfo)
{
	Output	   *output = fcinfo->flinfo->fn_extra;
	Oid			function;
	bool		is_varlena;

	if (output != NULL)
		return output;
	output = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(Output));
	output->type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	output->length = get_typlen(output->type);
	getTypeOutputInfo(output->type, &function, &is_varlena);
	fmgr_info_cxt(function, &output->function, fcinfo->flinfo->fn_mcxt);
	fcinfo->flinfo->fn_extra = output;
	return output;
}

/* Stands for a value that is too long to be written: equal just when its bytes are, as far as a hash can tell. */
static text *
text_of_long_value(Datum value)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	int			length = VARSIZE_ANY_EXHDR(packed);
	uint64		hash = hash_bytes_extended((const unsigned char *) VARDATA_ANY(packed), length, 0);

	if ((Pointer) packed != DatumGetPointer(value))
		pfree(packed);
	return cstring_to_text(psprintf("%d bytes " UINT64_FORMAT, length, hash));
}

/*
 * _text(value): what the output function of its type writes, up to LONGEST_TEXT bytes. A cast to text may be any user's
 * code; this is not. Output functions fail where they would write more than a gigabyte, 131,072 digits for the eight
 * bytes of a numeric in an array: they see only values that are too short for that.
 */
Datum
discreet_text(PG_FUNCTION_ARGS)
{
	Output	   *output = output_of_type(fcinfo);
	Datum		value = PG_GETARG_DATUM(0);
	char	   *written;

	if (output->type == TEXTOID)
		PG_RETURN_DATUM(first_bytes(value, LONGEST_TEXT));
	if (output->length == -1 && toast_raw_datum_size(value) > LONGEST_TEXT + VARHDRSZ)
		PG_RETURN_TEXT_P(text_of_long_value(value));
	written = OutputFunctionCall(&output->function, value);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(written, pg_mbcliplen(written, strlen(written), LONGEST_TEXT)));
}

PG_FUNCTION_INFO_V1(discreet_on_grid);

typedef struct GridOfType
{
	Oid			type;
	Grid		grid;
} GridOfType;

/* The scale of the grid is computed where the exponent is another than for the row before. */
static GridOfType *
grid_of_type(FunctionCallInfo fcinfo, int exponent)
{
	GridOfType *cached = fcinfo->flinfo->fn_extra;

	if (cached == NULL)
	{
		cached = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(GridOfType));
		cached->type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 0));
		cached->grid.scale = 0;
		fcinfo->flinfo->fn_extra = cached;
	}
	if (cached->grid.scale == 0 || cached->grid.exponent != exponent)
	{
		cached->grid.exponent = exponent;
		cached->grid.scale = ldexp(1.0, -exponent);
	}
	if (!is_bounded_type(cached->type) || isinf(cached->grid.scale) || cached->grid.scale == 0)
		elog(ERROR, "values of type %u have no place on a grid of step 2^%d", cached->type, exponent);
	return cached;
}

/* _on_grid(value, exponent, lower, upper): the grid integer of a value, NULL for what takes no part. */
Datum
discreet_on_grid(PG_FUNCTION_ARGS)
{
	GridOfType *cached = grid_of_type(fcinfo, PG_GETARG_INT32(1));
	double		number = value_as_double(cached->type, PG_GETARG_DATUM(0));

	if (isnan(number))
		PG_RETURN_NULL();
	cached->grid.lower = PG_GETARG_INT64(2);
	cached->grid.upper = PG_GETARG_INT64(3);
	PG_RETURN_INT64(on_grid(&cached->grid, number));
}

PG_FUNCTION_INFO_V1(discreet_clamped);

/* _clamped(value, lower, upper): a whole number, between small bounds. */
Datum
discreet_clamped(PG_FUNCTION_ARGS)
{
	Oid			type = argument_type(fcinfo, 0);
	int32		lower = PG_GETARG_INT32(1);
	int32		upper = PG_GETARG_INT32(2);
	int64		number;

	if (type == INT4OID)
		number = PG_GETARG_INT32(0);
	else if (type == INT8OID)
		number = PG_GETARG_INT64(0);
	else if (type == INT2OID)
		number = PG_GETARG_INT16(0);
	else
		elog(ERROR, "values of type %u are no whole numbers", type);
	PG_RETURN_INT32((int32) Max(lower, Min(number, upper)));
}

PG_FUNCTION_INFO_V1(discreet_bin);

/* _bin(value, lower, upper, bins): which of so many equal bins holds a value; the outermost hold those outside. */
Datum
discreet_bin(PG_FUNCTION_ARGS)
{
	Oid			type = argument_type(fcinfo, 0);
	double		lower = PG_GETARG_FLOAT8(1);
	double		upper = PG_GETARG_FLOAT8(2);
	int			bins = PG_GETARG_INT32(3);
	double		number;

	if (!is_bounded_type(type))
		elog(ERROR, "values of type %u have no bins", type);
	number = value_as_double(type, PG_GETARG_DATUM(0));
	if (isnan(number))
		PG_RETURN_NULL();
	if (!(number > lower))
		PG_RETURN_INT32(0);
	if (number >= upper)
		PG_RETURN_INT32(bins - 1);
	PG_RETURN_INT32((int) Min(floor((number - lower) / (upper - lower) * bins), bins - 1));
}

PG_FUNCTION_INFO_V1(discreet_log_bin);

/*
 * _log_bin(value, lowest, octaves, steps): bins that widen with the distance from 0, `steps` from each power of two to
 * the next; the one in the middle holds what is nearer to 0 than 2^lowest, the outermost what is too far.
 */
Datum
discreet_log_bin(PG_FUNCTION_ARGS)
{
	Oid			type = argument_type(fcinfo, 0);
	int			lowest = PG_GETARG_INT32(1);
	int			steps = PG_GETARG_INT32(3);
	int			middle = PG_GETARG_INT32(2) * steps;
	double		number;
	double		mantissa;
	int			exponent;
	int			place;

	if (!is_bounded_type(type))
		elog(ERROR, "values of type %u have no bins", type);
	number = value_as_double(type, PG_GETARG_DATUM(0));
	if (isnan(number))
		PG_RETURN_NULL();
	mantissa = 2 * frexp(fabs(number), &exponent);	/* from 1 to below 2 */
	exponent--;
	if (number == 0 || exponent < lowest)
		PG_RETURN_INT32(middle);
	place = Min((exponent - lowest) * steps + (int) ((mantissa - 1) * steps), middle - 1);
	PG_RETURN_INT32(number > 0 ? middle + 1 + place : middle - 1 - place);
}
