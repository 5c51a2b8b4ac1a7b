"""What to type instead of what is refused, by the words that name it; a place that knows more has a hint of its own."""

from __future__ import annotations

import re

AROUND = "put it around the answer: SELECT … FROM (SELECT …, count(*) AS n FROM … GROUP BY …) AS t."
GENERAL = f"Aggregate without it. What works on the answer can stand around it: {AROUND.partition(': ')[2]}"
NUMBER = "Give numbers. Of other values, count: count(*), count(DISTINCT value), or GROUP BY the value."
PATTERN = "Patterns have plain characters, ., classes such as [a-z] and \\d, (…|…), *, +, ?, {2,5}, ^ and $."

# the first that matches counts
HINTS = tuple(
    (re.compile(words), hint)
    for words, hint in (
        (r"position of the select list", "Write the number of a column, from 1 on, or its name."),
        (r"a constant in GROUP BY", "Leave it out of GROUP BY: it is the same for every row."),
        (r"GROUPING\(\)", "Add its argument to GROUP BY."),
        (r"grouping sets below", "Put GROUPING SETS, ROLLUP or CUBE into the outer SELECT."),
        (r"^more than \d+ ", "Ask for fewer at once."),
        (r"a (?:sum|average|variance) of dates|average of dates",
         "Take a number of the date: extract(epoch FROM value), or value - date '2000-01-01'."),
        (r"arithmetic on interval", "Take its length: extract(epoch FROM value)."),
        (r"a text function on", "Cast it to text: value::text."),
        (r"a date function on|to_char\(\) of", "Give it a column of type date or timestamp."),
        (r"on something that is not JSON|jsonb of the row",
         "Use it on a column of type json or jsonb: column -> 'key', column ->> 'key'."),
        (r"unnest\(\) of", "Use it on a column that is an array: FROM table AS t, unnest(t.column) AS element."),
        (r"make_date\(\)", "Write make_date(year, month, day) of whole numbers."),
        (r"\(\) of |sum or average of|arithmetic on", NUMBER),
        (r"DISTINCT in a sum or average|DISTINCT in (?:avg|sum)",
         "Leave DISTINCT out, or write sum(DISTINCT value) / count(DISTINCT value)."),
        (r"DISTINCT ON$", f"DISTINCT ON works on an answer: {AROUND}"),
        (r"DISTINCT in a window", "Leave DISTINCT out."),
        (r"cast of numbers this large|numbers? of more than|numbers this large",
         "Divide before you multiply, or limit the value: least(greatest(value, 0), 1000)."),
        (r"cast to an array", "Take elements one by one: FROM table, unnest(array) AS element."),
        (r"cast to interval",
         "Write interval '1 day' as a constant; differences of dates and timestamps are intervals."),
        (r"a cast .*around the answer",
         "Cast to a built-in type: text, numeric, bigint, double precision, date, timestamp."),
        (r"a cast ",
         "Casts to text, numeric, integer, bigint, real, double precision, boolean, date, timestamp are understood."),
        (r"a name for a LEFT JOIN", "Write the join without a name."),
        (r"RANGE with", "Write a constant: RANGE BETWEEN interval '30 days' PRECEDING AND CURRENT ROW."),
        (r"names? for|several columns of", "Name the columns in the SELECT: SELECT value AS name."),
        (r"array of the row", "Write constant = ANY (column)."),
        (r"key that is no constant", "Write the key as a constant: column ->> 'key'."),
        (r"LIKE", "Write LIKE 'pattern' with a constant pattern, with \\% for a %."),
        (r"a regular expression|a pattern", PATTERN),
        (r"SIMILAR", "Write LIKE or ~."),
        (r"BETWEEN SYM", "Write BETWEEN with the smaller value first."),
        (r"COLLATE", "Leave COLLATE out; ORDER BY … COLLATE can stand around the answer."),
        (r"ANY or ALL", "Write column = ANY (ARRAY['a', 'b']), or column IN ('a', 'b')."),
        (r"(?:comparing|ordering) values|GREATEST|LEAST", "Compare texts or numbers: value::text = '…'."),
        (r"comparing rows", "Write (a, b) = ('x', 'y'), or compare the columns one by one."),
        (r"values of kinds", "Cast one of them: value::text."),
        (r"\|\| on", "Cast to text first: value::text || '…'."),
        (r"a condition that is not", "Write a comparison: value = '…', value > 0, value IS NOT NULL."),
        (r"TABLESAMPLE", "A part of the people is asked by SELECT … FROM discreet.query('SELECT …', sample => 0.1)."),
        (r"FOR UPDATE", "Leave FOR UPDATE out."),
        (r"SELECT INTO", "Write CREATE TABLE … AS SELECT …."),
        (r"WITH RECURSIVE", "Write WITH without RECURSIVE."),
        (r"VALUES|SELECT without FROM|a WITH query",
         "Ask SELECT … FROM a protected table; your own rows can be joined with the answer."),
        (r"a name with a database", "Write schema.table."),
        (r"several datasets|another dataset",
         "Ask about each dataset in a question of its own, and join the answers."),
        (r"of different numbers of columns", "Select as many columns on both sides."),
        (r"in the subquery$", "Select it in the subquery, or write the name that it has there."),
        (r"there is no window", "Define it: WINDOW name AS (PARTITION BY person ORDER BY …)."),
        (r"window function .*\(\)$",
         "Within a person: row_number, rank, dense_rank, ntile, lag, lead, first_value, last_value, and aggregates."),
        (r"EXCLUDE|USING$", "Leave it out: ORDER BY value DESC."),
        (r"USING \(", "Write the condition in ON: a.column = b.column."),
        (r"LATERAL without", "Write the table that it is about before it: FROM t, LATERAL (…) AS s."),
        (r"\* beside|\* other", "Write the columns one by one."),
        (r"subquery of several columns", "Select one column in the subquery."),
        (r"a subquery around the answer", "Write SELECT … FROM (SELECT …) AS t, and the subquery beside it."),
        (r"a subquery of this kind",
         "Write EXISTS (SELECT …), value IN (SELECT …), or an aggregate in the subquery."),
        (r"with (?:other than )?\d+ arguments?|with other than", "Give it the arguments that it has in PostgreSQL."),
        (r"a call that is not (.*)$", r"Write \1."),
        (r"called as an aggregate", "Leave DISTINCT, FILTER and ORDER BY out of the call."),
        (r"ORDER BY or VARIADIC", "Leave ORDER BY and VARIADIC out of the call."),
        (r"changes with time or user|clock_timestamp|random\(", "Write a constant, or now()."),
        (r"interval of more|adding something", "Add days or a constant: value + 30, value + interval '1 month'."),
        (r"to_char\(\) with", "Write the format with digits: 'YYYY-MM-DD', 'HH24:MI'."),
        (r"date_bin|date_trunc|hour of|of a date$", "Give it a timestamp: value::timestamp."),
        (r"width_bucket", "Write width_bucket(value, 0, 100, 10), with a lower bound below the upper one."),
        (r"a power|a logarithm|exponent", "Write a constant exponent from -100 to 100, and a base above 1."),
        (r"a bucket", "Write discreet.bucket(value, 10)."),
        (r"fractions? that", "Write a constant: percentile_cont(0.5)."),
        (r"an argument that|a number of rows|no constant|not a constant|split_part",
         "Write a constant within these limits."),
        (r"a row of no values", "Write count(DISTINCT (a, b))."),
        (r"NamedArgExpr|named arguments", "Give the arguments by their places."),
        (r"a field or array element",
         "Write column -> 'key' of jsonb, or FROM table AS t, unnest(t.column) AS element."),
        (r"a function in FROM|function .*\(\) in FROM|WITH ORDINALITY",
         "In FROM: unnest(), jsonb_array_elements(), jsonb_array_elements_text(), jsonb_object_keys() of a column."),
        (r"function .*dp_|function discreet\.",
         "Write it without a schema, or with discreet: dp_sum(value, lower, upper)."),
        (r"function .* around the answer",
         "Built-in functions that change nothing can stand around the answer in discreet.query(); in plain SQL, any."),
        (r"function (?:median|percentile|quantile)\(\)", "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY value)."),
        (r"function ", f"Compare or group by the column itself, or {AROUND}"),
        (r"an? operator|operator ",
         "Understood are = <> < > <= >=, + - * / % ^, ||, LIKE, ~, IN, BETWEEN, AND, OR, NOT."),
        (r"a constant of this kind", "Write numbers as 12.5, dates as '2024-12-31'."),
    )
)  # fmt: skip


def hint_for(construct: str) -> str:
    for words, hint in HINTS:
        if found := words.search(construct):
            return found.expand(hint) if found.re.groups else hint
    return GENERAL
