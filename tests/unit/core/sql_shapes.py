"""SQL of every kind that discreet prints, put together: each construct in each place of each other one.

A `□` is a place for an expression, a `■` one for a SELECT. What goes there is written with and without parentheses:
both texts are SQL mostly, with different trees. Those that are not SQL are left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from pglast import parse_sql
from pglast.parser import ParseError

LEAVES = [
    "a", "t.b", "new.a", '"Odd ""x"', '"select"', "name", '"left"', "unbounded", "1", "0", "-1", "- -1", ".5", "-.5",
    "1.", "1e400", "2147483648", "-2147483648", "-9223372036854775808", "'it''s'", "''", r"'back\slash'", r"E'\\'''",
    r"U&'\0041'", "'ü'", "B'101'", "X'1F'", "NULL", "true", "false", "$1", "interval '1 day'", "interval '2' year",
    "interval(3) '1 s'", "interval '1' day to second(2)", "date '2020-01-01'", "numeric(4,1) '1.5'", "CURRENT_DATE",
    "CURRENT_TIMESTAMP(3)", "LOCALTIME", "CURRENT_USER", "SESSION_USER", "count(*)", "now()", "ARRAY[]", "ROW()",
]  # fmt: skip

SHAPES = [
    # logic
    "□ OR □", "□ AND □", "NOT □", "□ IS NULL", "□ IS NOT NULL", "□ ISNULL", "□ IS TRUE", "□ IS NOT FALSE",
    "□ IS UNKNOWN", "□ IS DISTINCT FROM □", "□ IS NOT DISTINCT FROM □", "□ OR □ OR □", "□ AND □ AND □",
    # comparisons
    "□ = □", "□ <> □", "□ != □", "□ < □", "□ >= □", "□ BETWEEN □ AND □", "□ NOT BETWEEN □ AND □",
    "□ BETWEEN SYMMETRIC □ AND □", "□ NOT BETWEEN SYMMETRIC □ AND □", "□ IN (□, □)", "□ NOT IN (□)", "□ IN (1, □)",
    "□ LIKE □", "□ NOT LIKE □", "□ ILIKE □", "□ NOT ILIKE □ ESCAPE □", "□ LIKE □ ESCAPE □", "□ SIMILAR TO □",
    "□ NOT SIMILAR TO □", "□ SIMILAR TO □ ESCAPE □", "□ NOT SIMILAR TO □ ESCAPE □", "□ = ANY (□)", "□ <> ALL (□)",
    "□ LIKE ANY (□)", "□ NOT ILIKE ALL (□)", "□ OPERATOR(pg_catalog.=) ANY (□)", "(□, □) = (□, □)",
    "ROW(□, □) < ROW(□, □)", "(□, □) IN ((□, 1), (2, □))", "(□, □) IS NULL", "(□, □) OVERLAPS (□, □)",
    "(□, □) IS DISTINCT FROM (□, □)",
    # operators, of all precedences
    "□ + □", "□ - □", "□ * □", "□ / □", "□ % □", "□ ^ □", "- □", "+ □", "@ □", "~ □", "|/ □", "□ || □", "□ | □",
    "□ & □", "□ # □", "□ << □", "□ ~ □", "□ !~* □", "□ -> □", "□ ->> □", "□ #> □", "□ @> □", "□ && □",
    "□ OPERATOR(pg_catalog.+) □", "□ OPERATOR(pg_catalog.*) □", "OPERATOR(pg_catalog.-) □", "□ OPERATOR(mine.=>>) □",
    "□ ? □", "□ ?| □", "□ AT TIME ZONE □", '□ COLLATE "C"', '□ COLLATE pg_catalog."default"',
    # casts, parts
    "□::int", "□::text[]", "□::pg_catalog.numeric(10, 2)", "CAST(□ AS interval day to second(3))", "□::char(3)",
    '□::"char"', "□::bit varying(4)", "□::timestamp(2) with time zone", "□::mine.kind[3][]", "□::double precision",
    "□::time", "(□)[□]", "(□)[□ : □]", "(□)[:□]", "(□)[□][1:]", "(□).f", '(□)."G h".i', "((□)[1])[□]", "((□).f)[□].g",
    "t.b[□]", "ARRAY[□, □]", "ARRAY[[□], [□]]", "ROW(□)", "ROW(□, □)", "(□, □)",
    # choices
    "CASE WHEN □ THEN □ ELSE □ END", "CASE □ WHEN □ THEN □ WHEN 1 THEN □ END", "COALESCE(□, □)", "NULLIF(□, □)",
    "GREATEST(□, □)", "LEAST(□)",
    # calls
    "f(□)", "pg_catalog.round(□, □)", "mine.f()", "f(VARIADIC □)", "f(□, VARIADIC □)", "f(named => □)",
    'f(□, "Named" := □)', '"left"(□, □)', "left(□, 2)", '"coalesce"(□)', '"extract"(□, 1)', "filter(□)", "date(□)",
    "EXTRACT(year FROM □)", "SUBSTRING(□ FROM □ FOR □)", "SUBSTRING(□ SIMILAR □ ESCAPE □)", "substring(□, □)",
    "POSITION(□ IN □)", "OVERLAY(□ PLACING □ FROM □)", "TRIM(LEADING □ FROM □)", "TRIM(□)", "NORMALIZE(□, NFC)",
    "□ IS NORMALIZED", "COLLATION FOR (□)", "timezone(□, □)", "GROUPING(□, □)",
    # aggregates and windows
    "count(DISTINCT □)", "string_agg(□, □ ORDER BY □ DESC NULLS LAST, □ USING <)", "sum(□) FILTER (WHERE □)",
    "percentile_cont(□) WITHIN GROUP (ORDER BY □)", "mode() WITHIN GROUP (ORDER BY □ DESC) FILTER (WHERE □)",
    "rank() OVER w", "sum(□) OVER ()", "sum(□) OVER (PARTITION BY □, □ ORDER BY □ NULLS FIRST)",
    "sum(□) FILTER (WHERE □) OVER (w ORDER BY □)", 'sum(□) OVER ("rows" ROWS 1 PRECEDING)',
    "sum(□) OVER (ORDER BY □ ROWS □ PRECEDING)",
    "sum(□) OVER (ROWS BETWEEN □ PRECEDING AND □ FOLLOWING EXCLUDE TIES)",
    "sum(□) OVER (GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP)",
    "sum(□) OVER (ORDER BY □ RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW)",
    "sum(□) OVER (RANGE UNBOUNDED PRECEDING)",
    # subqueries
    "(SELECT □)", "EXISTS (SELECT □)", "ARRAY(SELECT □)", "□ IN (SELECT □)", "□ NOT IN (SELECT □)",
    "□ = ANY (SELECT □)", "□ < ALL (SELECT □)", "□ OPERATOR(pg_catalog.<>) ALL (SELECT 1)", "(□, □) = (SELECT □, □)",
    "□ IN (VALUES (□), (□))", "(SELECT □).f", "(SELECT □ FROM t WHERE □ LIMIT 1)",
]  # fmt: skip

SELECTS = [
    'SELECT □ AS "x""; y", □ AS "select" FROM t WHERE □ GROUP BY □, 1 HAVING □ ORDER BY □ DESC, 2 LIMIT □ OFFSET □',
    "SELECT DISTINCT □ FROM t ORDER BY □ ASC NULLS FIRST LIMIT ALL", "SELECT DISTINCT ON (□, □) * FROM t",
    'SELECT t.*, □ FROM ONLY s.t AS t(a, "B") OFFSET □', "SELECT □ ORDER BY □ FETCH FIRST □ ROWS WITH TIES", "SELECT",
    "TABLE t", "SELECT □ ORDER BY □ FETCH FIRST 2 ROWS ONLY", "VALUES (□, □), (1, 2) ORDER BY 1 LIMIT 1",
    "SELECT □ GROUP BY GROUPING SETS ((□, □), ROLLUP (□, (□, □)), CUBE (□), ())",
    "SELECT 1 GROUP BY DISTINCT ROLLUP (□), CUBE (□, □)",
    'SELECT sum(□) OVER w FROM t WINDOW w AS (PARTITION BY □), w2 AS (w ORDER BY □), "rows" AS (ROWS □ PRECEDING)',
    "■ UNION ■", "■ UNION ALL ■", "■ INTERSECT ■", "■ EXCEPT ALL ■", "■ UNION ■ UNION ALL ■", "■ UNION ■ INTERSECT ■",
    "(■ ORDER BY 1 LIMIT 1) UNION ALL (■ LIMIT 2) ORDER BY 1 LIMIT 3", "■ UNION (■ EXCEPT ■ LIMIT 2)",
    "(■ UNION ■) EXCEPT ■",
    'WITH q AS (■), "recursive"(a, "B") AS MATERIALIZED (■), r AS NOT MATERIALIZED (■) SELECT □ FROM q, r',
    "WITH RECURSIVE q(n) AS (■ UNION ALL ■) SELECT n FROM q WHERE □", "(WITH q AS (■) ■) UNION ■",
    "WITH q AS (WITH r AS (■) ■) ■", "SELECT □ FROM (■) AS d(a, b), LATERAL (■) AS e",
    'SELECT 1 FROM t JOIN u ON □ LEFT JOIN v USING (a, "B") AS j', "SELECT 1 FROM t JOIN (u FULL JOIN v ON □) ON □",
    "SELECT 1 FROM (t NATURAL JOIN u) AS j(a, b) CROSS JOIN (■) AS k RIGHT JOIN w ON □",
    "SELECT 1 FROM t, (u CROSS JOIN v), w", "SELECT 1 FROM t NATURAL LEFT JOIN (u JOIN v ON □ JOIN w ON □)",
    "SELECT 1 FROM f(□, □) AS g(a, b), LATERAL h(□) WITH ORDINALITY AS i",
    'SELECT 1 FROM jsonb_to_record(□) AS m(a int, "B" text COLLATE "C"), f(□) AS (a numeric(3, 1)[])',
    'SELECT "recursive".a FROM "recursive", name, mydb.s.t WHERE EXISTS (■) AND □ = ANY (■)',
]  # fmt: skip
SELECT_LEAVES = [
    "SELECT 1",
    "SELECT a FROM t ORDER BY a LIMIT 1",
    "VALUES (1)",
    "SELECT 1 UNION SELECT 2",
    "WITH z AS (SELECT 1) TABLE z",
]


PLACE = re.compile("[□■]")


def filled(shape: str, place: int = -1, inside: str = "") -> str:
    """The shape with this in one of its places, and something simple in the others."""
    numbers = itertools.count()
    simple = {"□": "a", "■": "SELECT 2"}
    return PLACE.sub(lambda found: inside if next(numbers) == place else simple[found[0]], shape)


EXPRESSIONS = list(map(filled, SHAPES))
QUERIES = list(map(filled, SELECTS))


def put_into(shape: str, expressions: Sequence[str] = EXPRESSIONS) -> Iterator[str]:
    """Each leaf and each construct in each place of the shape, constructs as they are and in parentheses."""
    for place, kind in enumerate(PLACE.findall(shape)):
        leaves, constructs = (LEAVES, expressions) if kind == "□" else (SELECT_LEAVES, QUERIES)
        yield from (filled(shape, place, inside) for inside in leaves)
        for inside in constructs:
            yield filled(shape, place, inside)
            yield filled(shape, place, f"({inside})")


def at_random(random: Random, depth: int, leaves: Sequence[str] = LEAVES) -> str:
    """An expression of at most this depth, with something in every place."""
    if depth == 0 or random.random() < 0.2:
        return random.choice(leaves)
    inside = (random.choice(["{}", "({})"]).format(at_random(random, depth - 1, leaves)) for _ in itertools.count())
    return PLACE.sub(lambda _: next(inside), random.choice(SHAPES))


def parsed(statement: str) -> Any:
    """The tree; None where the text is no SQL."""
    try:
        (found,) = parse_sql(statement)
    except ParseError:
        return None
    return found.stmt


def parsed_expression(text: str) -> Any:
    statement = parsed(f"SELECT {text}")
    return statement and statement.targetList[0].val


def products(let_through: Callable[[str], bool]) -> Iterator[str]:
    """Expressions of depth two, of those constructs that are let through by themselves."""
    shapes = [shape for shape in SHAPES if let_through(filled(shape))]
    inner = list(map(filled, shapes))
    return (text for shape in shapes for text in put_into(shape, inner))
