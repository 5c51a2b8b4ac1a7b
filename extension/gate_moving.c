/*
 * gate_moving.c: moving windows. A question that reads the clock is another question at every moment, and is paid for each time. Where
 * the asker wishes it (discreet.round_time, or every => of a view), the clock of the question goes in steps: now() is the
 * beginning of the hour, of the day, …, so that all questions of that hour are one.
 *
 * The clock is moved, not the bounds that are made of it: a window of 90 minutes has 90 minutes, and all bounds of a question fit
 * together. What the asker's query makes around an answer keeps its own clock.
 */
#include "discreet.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

char	   *round_time_wish = NULL;

/* 2001-01-01, a Monday, in days since 2000-01-01: steps of a week begin with it */
#define FIRST_DAY 366

static const char *const steps_hint = "Give months, days, or hours, minutes and seconds: '1 hour', '1 day', '3 months', and at most 1000 years.";

/* ---- steps */

/* The last of so many years began in the year 2000; of longer steps it may be before the year 1. */
#define MOST_YEARS 1000
#define MOST_DAYS (MOST_YEARS * 365)

/* Steps are whole months, whole days, or a time of at least a second. */
static bool
is_step(const Interval *every)
{
	int			kinds = (every->month != 0) + (every->day != 0) + (every->time != 0);

	return kinds == 1 && every->month >= 0 && every->month <= MOST_YEARS * MONTHS_PER_YEAR &&
		every->day >= 0 && every->day <= MOST_DAYS &&
		(every->time == 0 || (every->time >= USECS_PER_SEC && every->time <= MOST_DAYS * USECS_PER_DAY));
}

static int64
step_below(int64 number, int64 step)
{
	int64		rest = number % step;

	return number - (rest < 0 ? rest + step : rest);
}

/* The beginning of a day of the session's time zone. */
static TimestampTz
begin_of_day(int year, int month, int day)
{
	struct pg_tm tm = {.tm_year = year, .tm_mon = month, .tm_mday = day};
	int			zone = DetermineTimeZoneOffset(&tm, session_timezone);
	TimestampTz found;

	if (tm2timestamp(&tm, 0, &zone, &found) != 0)
		ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range")));
	return found;
}

/* The last step that is not after a moment, by the clock and the calendar of the session. */
static TimestampTz
rounded(TimestampTz moment, const Interval *every)
{
	struct pg_tm tm;
	fsec_t		part;
	int			zone;

	if (TIMESTAMP_NOT_FINITE(moment))
		return moment;
	if (timestamp2tm(moment, &zone, &tm, &part, NULL, NULL) != 0)
		ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range")));
	if (every->month != 0)
	{
		int64		month = step_below((int64) tm.tm_year * 12 + tm.tm_mon - 1, every->month);

		return begin_of_day((int) (month / 12), (int) (month % 12) + 1, 1);
	}
	if (every->day != 0)
	{
		int			first = POSTGRES_EPOCH_JDATE + FIRST_DAY;
		int64		day = step_below(date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - first, every->day);
		int			y,
					m,
					d;

		j2date((int) day + first, &y, &m, &d);
		return begin_of_day(y, m, d);
	}
	{
		int64		first = FIRST_DAY * USECS_PER_DAY + zone * USECS_PER_SEC;

		return step_below(moment - first, every->time) + first;
	}
}

/* ---- the setting */

static bool
read_step(const char *text, Interval *every)
{
	char	   *fields[MAXDATEFIELDS];
	int			types[MAXDATEFIELDS];
	char		work[256];
	int			number,
				kind;
	struct pg_itm_in found;

	return ParseDateTime(text, work, sizeof(work), fields, types, MAXDATEFIELDS, &number) == 0 &&
		DecodeInterval(fields, types, number, INTERVAL_FULL_RANGE, &kind, &found) == 0 && kind == DTK_DELTA &&
		itmin2interval(&found, every) == 0 && is_step(every);
}

bool
check_round_time(char **wished, void **extra, GucSource source)
{
	Interval	every;

	if (*wished == NULL || **wished == '\0' || read_step(*wished, &every))
		return true;
	GUC_check_errhint("%s", steps_hint);
	return false;
}

/* The moment that a question takes for this one; false where the session does not wish for steps. */
bool
moved_clock(TimestampTz *moment)
{
	Interval	every;

	if (round_time_wish == NULL || *round_time_wish == '\0' || !read_step(round_time_wish, &every))
		return false;
	*moment = rounded(*moment, &every);
	return true;
}

/* ---- functions */

PG_FUNCTION_INFO_V1(discreet_round_time);

/* round_time(moment, every) */
Datum
discreet_round_time(PG_FUNCTION_ARGS)
{
	Interval   *every = PG_GETARG_INTERVAL_P(1);

	if (!is_step(every))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("every is no step of a clock or calendar"),
				 errhint("%s", steps_hint)));
	PG_RETURN_TIMESTAMPTZ(rounded(PG_GETARG_TIMESTAMPTZ(0), every));
}

PG_FUNCTION_INFO_V1(discreet_clock);

/* _clock(moment): the moment that a question of this session takes for it. */
Datum
discreet_clock(PG_FUNCTION_ARGS)
{
	TimestampTz moment = PG_GETARG_TIMESTAMPTZ(0);

	(void) moved_clock(&moment);
	PG_RETURN_TIMESTAMPTZ(moment);
}

PG_FUNCTION_INFO_V1(discreet_as_of);

/* _as_of(): what a question of this session takes for now(); NULL where that is now(). */
Datum
discreet_as_of(PG_FUNCTION_ARGS)
{
	TimestampTz moment = GetCurrentTransactionStartTimestamp();

	if (!moved_clock(&moment))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(moment);
}

/* ---- plain SQL */

static Node *
call_of(Oid function, Oid type, Node *argument)
{
	return (Node *) makeFuncExpr(function, type, argument == NULL ? NIL : list_make1(argument), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* CURRENT_TIMESTAMP(3) and its kin: the digits that are kept. */
static Node *
with_digits(Oid function, Oid type, Node *argument, int32 digits)
{
	Const	   *number = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(digits), false, true);

	return (Node *) makeFuncExpr(function, type, list_make2(argument, number), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static Node *
move_value(SQLValueFunction *value, Node *clock)
{
	switch (value->op)
	{
		case SVFOP_CURRENT_DATE:
			return call_of(F_DATE_TIMESTAMPTZ, DATEOID, clock);
		case SVFOP_CURRENT_TIMESTAMP:
			return clock;
		case SVFOP_CURRENT_TIMESTAMP_N:
			return with_digits(F_TIMESTAMPTZ_TIMESTAMPTZ_INT4, TIMESTAMPTZOID, clock, value->typmod);
		case SVFOP_LOCALTIMESTAMP:
			return call_of(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, clock);
		case SVFOP_LOCALTIMESTAMP_N:
			return with_digits(F_TIMESTAMP_TIMESTAMP_INT4, TIMESTAMPOID, call_of(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, clock),
							   value->typmod);
		case SVFOP_CURRENT_TIME:
			return call_of(F_TIMETZ_TIMESTAMPTZ, TIMETZOID, clock);
		case SVFOP_CURRENT_TIME_N:
			return with_digits(F_TIMETZ_TIMETZ_INT4, TIMETZOID, call_of(F_TIMETZ_TIMESTAMPTZ, TIMETZOID, clock), value->typmod);
		case SVFOP_LOCALTIME:
			return call_of(F_TIME_TIMESTAMPTZ, TIMEOID, clock);
		case SVFOP_LOCALTIME_N:
			return with_digits(F_TIME_TIME_INT4, TIMEOID, call_of(F_TIME_TIMESTAMPTZ, TIMEOID, clock), value->typmod);
		default:
			return (Node *) value;
	}
}

typedef struct Moving
{
	Oid			clock;			/* discreet._clock() */
	bool		moved;
} Moving;

static Node *
move(Node *node, Moving *moving)
{
	Oid			function;

	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, move, (void *) moving, 0);
	if (IsA(node, SQLValueFunction))
	{
		Node	   *found = move_value((SQLValueFunction *) node,
									   call_of(moving->clock, TIMESTAMPTZOID, call_of(F_NOW, TIMESTAMPTZOID, NULL)));

		moving->moved |= found != node;
		return found;
	}
	function = IsA(node, FuncExpr) ? ((FuncExpr *) node)->funcid : InvalidOid;
	if (function == F_NOW || function == F_TRANSACTION_TIMESTAMP || function == F_STATEMENT_TIMESTAMP)
	{
		moving->moved = true;
		return call_of(moving->clock, TIMESTAMPTZOID, copyObject(node));
	}
	return expression_tree_mutator(node, move, (void *) moving);
}

/* The query, reading the clock of the question; whether it reads one at all. The wish of the session is known when it runs. */
Query *
with_moved_clock(Query *query, bool *moved)
{
	Oid			type = TIMESTAMPTZOID;
	Moving		moving = {own_function("_clock", 1, &type), false};

	if (OidIsValid(moving.clock))
		query = query_tree_mutator(query, move, (void *) &moving, QTW_DONT_COPY_QUERY);
	*moved = moving.moved;
	return query;
}

/* What such a question is told of its now(). */
Node *
as_of_call(void)
{
	return call_of(own_function("_as_of", 0, NULL), TIMESTAMPTZOID, NULL);
}
