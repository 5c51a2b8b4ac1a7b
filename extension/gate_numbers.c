/*
 * gate_numbers.c: arithmetic on floating-point numbers and times that gives what PostgreSQL gives, and never fails.
 *
 * PostgreSQL raises an error where a result overflows or underflows, and which row does that is an answer. Here an
 * underflow is 0, and an overflow has no value.
 */
#include "discreet.h"

#include <math.h>

#include "common/int.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

static Datum
number_or_null(FunctionCallInfo fcinfo, double number)
{
	if (!isfinite(number))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(number);
}

PG_FUNCTION_INFO_V1(discreet_floating);

/* _floating(a, operator, b): a + b, a - b, a * b, a / b or a ^ b; of e, e to the power of a. */
Datum
discreet_floating(PG_FUNCTION_ARGS)
{
	double		a = PG_GETARG_FLOAT8(0);
	double		b = PG_GETARG_FLOAT8(2);

	switch (PG_GETARG_CHAR(1))
	{
		case '+':
			return number_or_null(fcinfo, a + b);
		case '-':
			return number_or_null(fcinfo, a - b);
		case '*':
			return number_or_null(fcinfo, a * b);
		case '/':
			return number_or_null(fcinfo, a / b);
		case '^':
			return number_or_null(fcinfo, pow(a, b));
		case 'e':
			return number_or_null(fcinfo, exp(a));
		default:
			elog(ERROR, "unknown operator %c", PG_GETARG_CHAR(1));
	}
}

PG_FUNCTION_INFO_V1(discreet_double);

/* _double(numeric): the nearest double; beyond the last one, an infinity, which compares as the number does. */
Datum
discreet_double(PG_FUNCTION_ARGS)
{
	char	   *written = DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(0)));
	double		number = strtod(written, NULL);

	pfree(written);
	PG_RETURN_FLOAT8(number);
}

PG_FUNCTION_INFO_V1(discreet_real_of_numeric);

/* _real(numeric): the nearest real, in one rounding; none where a finite number is beyond the last real. */
Datum
discreet_real_of_numeric(PG_FUNCTION_ARGS)
{
	char	   *written = DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(0)));
	float		number = strtof(written, NULL);
	bool		overflows = isinf(number) && !numeric_is_inf(DatumGetNumeric(PG_GETARG_DATUM(0)));

	pfree(written);
	if (overflows)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT4(number);
}

PG_FUNCTION_INFO_V1(discreet_real_of_double);

/*
 * _real(double): the nearest real. A sum, difference, product or quotient of two reals that was computed as a double
 * becomes the one that PostgreSQL computes as a real: 53 bits are more than twice 24 and two, so that rounding twice
 * is rounding once.
 */
Datum
discreet_real_of_double(PG_FUNCTION_ARGS)
{
	float		number = (float) PG_GETARG_FLOAT8(0);

	if (isinf(number) && !isinf(PG_GETARG_FLOAT8(0)))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT4(number);
}

PG_FUNCTION_INFO_V1(discreet_seconds);

/*
 * _seconds(interval): its length, with months of 30 days and days of 24 hours, as PostgreSQL compares and averages intervals; none
 * where that is more than 64 bits of microseconds.
 */
Datum
discreet_seconds(PG_FUNCTION_ARGS)
{
	Interval   *interval = PG_GETARG_INTERVAL_P(0);
	int64		days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	int64		length;

	if (pg_mul_s64_overflow(days, USECS_PER_DAY, &length) || pg_add_s64_overflow(length, interval->time, &length))
		PG_RETURN_NULL();
	PG_RETURN_NUMERIC(int64_div_fast_to_numeric(length, 6));
}

PG_FUNCTION_INFO_V1(discreet_date);

/* _date(year, month, day): make_date(), of the years 1 to 9999; none where there is no such day. */
Datum
discreet_date(PG_FUNCTION_ARGS)
{
	int64		year = PG_GETARG_INT64(0);
	int64		month = PG_GETARG_INT64(1);
	int64		day = PG_GETARG_INT64(2);

	if (year < 1 || year > 9999 || month < 1 || month > MONTHS_PER_YEAR || day < 1 ||
		day > day_tab[isleap((int) year)][month - 1])
		PG_RETURN_NULL();
	PG_RETURN_DATEADT(date2j((int) year, (int) month, (int) day) - POSTGRES_EPOCH_JDATE);
}
