"""Random tables, hostile rows, and random questions about them, from a grammar of the SQL that the gate lets in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from psycopg import sql

from discreet.gate.schema import FAMILY_OF_TYPE, NUMBERS, TIMES, Column, Dataset, Family, Protection, Relation, Schema

ORDINARY = {
    Family.INT: ["0", "1", "2", "3", "5", "-1", "7", "40"],
    Family.NUMERIC: ["0", "1", "1.0", "1.00", "2.5", "-0.125", "3", "40"],
    Family.FLOAT: ["0", "1", "0.5", "2.5", "-0.125", "3", "40"],
    Family.TEXT: ["a", "b", "c", "ab", "A"],
    Family.BOOL: ["true", "false"],
    Family.DATE: ["2024-02-29", "2024-03-01", "2023-12-31", "1970-01-01"],
    Family.TIMESTAMP: ["2024-02-29 12:30:00", "2024-03-01 00:00:00", "1969-12-31 23:59:59.999999"],
    Family.TIMESTAMPTZ: ["2024-02-29 12:30:00+00", "2024-03-01 00:00:00+12", "1969-12-31 23:59:59.999999+00"],
    Family.OTHER: ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
}
LAST_SECONDS = ["294276-12-31 23:59:59.999999", "4713-01-01 00:00:00 BC", "9999-12-31 23:59:59", "0001-01-01 00:00:00"]
HOSTILE = {
    "smallint": ["32767", "-32768"],
    "integer": ["2147483647", "-2147483648"],
    "bigint": ["9223372036854775807", "-9223372036854775808", "4611686018427387904"],
    "numeric": ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "9" * 200, "0." + "3" * 200, "0.000"],
    "real": ["NaN", "Infinity", "-Infinity", "3.4e38", "-3.4e38", "1e-45", "-0", "0.1"],
    "double precision": ["NaN", "Infinity", "-Infinity", "1.7e308", "-1.7e308", "5e-324", "-0", "0.1", "1e16"],
    "text": ["", " ", "\\", "%_", "it's", "ä", "日本語", "\U0001f600", "é", "x" * 3000, "\t\n", "NULL", "ß", "İ"],
    "character varying": ["", "%", "'", "y" * 500, "Ω"],
    "character": ["", "a  ", "abc"],
    "boolean": [],
    "date": ["infinity", "-infinity", "5874897-12-31", "4713-01-01 BC", "9999-12-31", "0001-01-01", "0001-12-31 BC"],
    "timestamp without time zone": ["infinity", "-infinity", *LAST_SECONDS],
    "timestamp with time zone": ["infinity", "-infinity", *(f"{text}+00" for text in LAST_SECONDS if "BC" not in text)],
    "uuid": ["ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "interval": ["1 day", "24 hours", "1 month", "30 days", "-178000000 years"],
}
DECLARED = {"character": "character(3)"}
COLLATED = {"c": '"C"', "k": '"POSIX"'}  # by the first letter of the name
BOUNDS = [(0, 10), (-5, 5), (0, 0), (1, 3), (-100, 1_000_000), (0, 10**18), (Fraction(-3, 10), Fraction(7, 2))]
DP_BOUNDS = [("0", "10"), ("-3", "2.5"), ("1", "1"), ("'-1000000'", "1e18::numeric"), ("0", "0.0001"), ("5", "40")]
PATTERNS = ["a", "^[ab]+$", "(x|y)?b", "[[:digit:]]{1,3}", ".$"]
PAIRS = ["corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2", "regr_sxy"]
NUMBER_TYPES = [name for name, family in FAMILY_OF_TYPE.items() if family in NUMBERS]


def declared(column: Column) -> str:
    collation = COLLATED.get(column.name[0]) if column.family is Family.TEXT else None
    return DECLARED.get(column.type_name, column.type_name) + (f" COLLATE {collation}" if collation else "")


@dataclass(frozen=True)
class World:
    """Tables of one schema with their rows; `people` are the units of all tables."""

    name: str
    relations: tuple[Relation, ...]
    rows: dict[str, list[list[str | None]]]
    people: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        named = {(relation.schema, relation.name): relation for relation in self.relations}
        return Schema(named, {"people": Dataset("people", "pure", "unbounded", Fraction(1, 10**6))})  # type: ignore[arg-type]

    def script(self) -> sql.Composed:
        parts = [sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self.name))]
        for relation in self.relations:
            name = sql.Identifier(relation.schema, relation.name)
            columns = [
                sql.SQL("{} {}").format(sql.Identifier(c.name), sql.SQL(declared(c))) for c in relation.columns.values()
            ]
            if relation.protection is not None and relation.protection.single:
                columns.append(sql.SQL("PRIMARY KEY (u)"))  # type: ignore[arg-type]
            columns += [sql.SQL("UNIQUE (k)") for _ in relation.unique_keys]  # type: ignore[misc]
            parts.append(sql.SQL("CREATE TABLE {} ({})").format(name, sql.SQL(", ").join(columns)))
            rows = [
                sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Literal, row))) for row in self.rows[relation.name]
            ]
            if rows:
                parts.append(sql.SQL("INSERT INTO {} VALUES {}").format(name, sql.SQL(", ").join(rows)))
        return sql.SQL("; ").join(parts)

    def without(self, person: str) -> sql.Composed:
        """Deletes all rows of a person."""
        return sql.SQL("; ").join(
            sql.SQL("DELETE FROM {} WHERE {}::text = {}").format(
                sql.Identifier(r.schema, r.name), sql.Identifier(r.protection.unit), sql.Literal(person)
            )
            for r in self.relations
            if r.protection is not None
        )


def random_world(random: Random, name: str, people: int = 12, most_rows: int = 8) -> World:
    unit_type = random.choice(["integer", "bigint", "text"])
    units = [str(n) for n in range(1, people + 1)]
    relations, rows = [], {}
    limits = random.choice([(1, 1), (1, 2), (2, 1), (2, 3), (3, 5)])
    total = random.choice([None, 1, 2, 4, 7])
    for table, kind in (("person", "single"), ("event", "many"), ("other", "many"), ("lookup", "key"), ("extra", None)):
        columns = random_columns(random, random.randint(3, 6))
        protection, keys = None, ()
        if kind in ("single", "many"):
            protection = Protection(
                "people", "u", "noisy", *limits, None, None, kind == "single", True, max_total_rows=total
            )
            columns = {"u": Column("u", unit_type, identifies=True)} | columns
        elif kind == "key":
            columns = {"k": Column("k", random.choice(["text", "integer", "numeric"]))} | columns
            keys = (frozenset("k"),)  # type: ignore[assignment]
        held = {"single": units, "many": [], "key": ["1", "2", "3", "5", "40"], None: [None] * random.randint(0, 3)}[
            kind
        ]
        if kind == "many":
            held = [u for u in units for _ in range(random.randint(0, most_rows))] + [None] * random.randint(0, 3)
        width = len(columns) if kind is None else len(columns) - 1
        kinds = list(columns.values())[-width:]
        rows[table] = [
            ([] if kind is None else [key]) + [random_value(random, c.type_name) for c in kinds]
            for key in held  # type: ignore[attr-defined]
        ]
        relations.append(Relation(name, table, columns, protection, keys))
    return World(name, tuple(relations), rows, tuple(units))


def random_columns(random: Random, count: int) -> dict[str, Column]:
    columns = {}
    for n in range(count):
        # two of three are numbers: they have most rules
        type_name = random.choice([*NUMBER_TYPES, *NUMBER_TYPES, *HOSTILE])
        family = FAMILY_OF_TYPE.get(type_name, Family.OTHER)
        bounds = categories = None
        if family in NUMBERS and random.random() < 0.8:
            low, high = random.choice(BOUNDS)
            bounds = Fraction(low), Fraction(high)  # type: ignore[call-overload]
        elif family in TIMES:
            bounds = Fraction(0), Fraction(20_000 if family is Family.DATE else 2 * 10**9)
        elif family is Family.TEXT and random.random() < 0.4:
            categories = ("a", "b", "zz")
        # u, k0, p0 and x are names of the native SQL too
        name = random.choice(["c", "k", "p", "x", "C ä", 'q"']) + str(n)
        columns[name] = Column(name, type_name, bounds, categories)
    return columns


def random_value(random: Random, type_name: str) -> str | None:
    if random.random() < 0.15:
        return None
    hostile = HOSTILE[type_name]
    ordinary = hostile if type_name == "interval" else ORDINARY[FAMILY_OF_TYPE.get(type_name, Family.OTHER)]
    return random.choice(hostile if hostile and random.random() < 0.3 else ordinary)


@dataclass
class Questions:
    """Writes questions; `scope` holds (written name, column) of what can be named at the moment."""

    random: Random
    world: World
    joins: bool = True
    scope: list[tuple[str, Column]] = field(default_factory=list)

    def choose(self, *choices: Callable[[], str]) -> str:
        return self.random.choice(choices)()

    def named(self, *families: Family, bounded: bool = False) -> str | None:
        known = [
            name
            for name, column in self.scope
            if column.family in families and not column.identifies and (column.bounds is not None or not bounded)
        ]
        return self.random.choice(known) if known else None

    # -- expressions of a kind

    def number(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.named(*NUMBERS, bounded=True) or self.literal()
        deeper = depth - 1

        def two(form: str) -> Callable[[], str]:
            return lambda: form.format(self.number(deeper), self.number(deeper))

        def one(form: str) -> Callable[[], str]:
            return lambda: form.format(self.number(deeper))

        return self.choose(
            two("({} + {})"), two("({} - {})"), two("({} * {})"), two("{} % {}"), two("mod({}, {})"),
            lambda: f"({self.number(deeper)} / {self.random.choice(['2', '0.5', '(-3)', '7.0'])})", one("-({})"),
            lambda: f"({self.whole()} / {self.whole()})",
            one("abs({})"), one("sign({})"), one("round({})"), one("floor({})"), one("ceil({})"), one("trunc({}, 1)"),
            one("sqrt({})"), one("({})::numeric"), one("({})::float8"), one("({})::int8"), one("({})::int4"),
            one("bucket({}, 2.5)"), two("GREATEST({}, {})"), two("COALESCE({}, {}, 1)"), two("NULLIF({}, {})"),
            lambda: f"CASE WHEN {self.condition(deeper)} THEN {self.number(deeper)} ELSE {self.number(deeper)} END",
            lambda: f"CASE WHEN {self.condition(deeper)} THEN {self.number(deeper)} END",
            lambda: f"({self.condition(deeper)})::int", lambda: f"length({self.text(deeper)})",
            lambda: f"strpos({self.text(deeper)}, {self.text(deeper)})", lambda: self.part(deeper),
            lambda: f"({self.day()} - {self.day()})", lambda: self.length_of_time(deeper),
            one("ln({})"), one("log({})"), one("exp(LEAST({}, 20))"), one("power(LEAST({}, 1000), 2)"),
            one("power({}, 0.5)"), one("width_bucket({}, 0, 10.5, 4)"), one("LEAST({}, 99) ^ 3"),
            lambda: f"regexp_count({self.text(deeper)}, '{self.random.choice(PATTERNS)}')",
        )  # fmt: skip

    def length_of_time(self, depth: int) -> str:
        field = self.random.choice(["epoch", "day", "year", "hour"])
        form = self.random.choice(["({} - {})", "age({}, {})"])
        moments = (f"({self.time(depth)})::timestamp" for _ in range(2))
        return f"extract({field} FROM {form.format(*moments)})"

    def whole(self) -> str:
        return self.named(Family.INT, bounded=True) or self.random.choice(["3", "0", "(-2)"])

    def literal(self) -> str:
        return self.random.choice(["0", "1", "2", "(-1)", "2.5", "0.001", "1000000007", "'3'"])

    def part(self, depth: int) -> str:
        field = self.random.choice(["year", "month", "dow", "week", "doy", "quarter", "decade", "century"])
        return f"extract({field} FROM {self.time(depth)})"

    def day(self) -> str:
        return self.choose(
            lambda: self.named(Family.DATE) or "DATE '2024-01-01'",
            lambda: f"COALESCE({self.named(Family.DATE) or 'NULL'}, DATE '2024-01-01')",
            lambda: f"({self.time(1)})::date",
        )

    def text(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.named(Family.TEXT) or self.random.choice(["'a'", "'b'::text", "'zz'", "''"])
        deeper = depth - 1
        inner = self.text
        return self.choose(
            lambda: f"lower({inner(deeper)})", lambda: f"upper({inner(deeper)})", lambda: f"trim({inner(deeper)})",
            lambda: f"left({inner(deeper)}, 2)", lambda: f"right({inner(deeper)}, 1)",
            lambda: f"substring({inner(deeper)} FROM 2 FOR 3)", lambda: f"({inner(deeper)} || {inner(deeper)})",
            lambda: f"({self.number(deeper)})::text", lambda: f"({self.condition(deeper)})::text",
            lambda: f"({self.time(deeper)})::text", lambda: f"COALESCE({inner(deeper)}, {inner(deeper)})",
            lambda: f"NULLIF({inner(deeper)}, 'a')", lambda: f"LEAST({inner(deeper)}, {inner(deeper)})",
            lambda: f"CASE WHEN {self.condition(deeper)} THEN 'a' ELSE 'b' END",
            lambda: f"CASE {inner(0)} WHEN 'a' THEN 'x' WHEN 'b' THEN {inner(deeper)} END",
            lambda: f"replace({inner(deeper)}, 'a', 'bb')", lambda: f"translate({inner(deeper)}, 'ab', 'x')",
            lambda: f"split_part({inner(deeper)}, 'b', {self.random.choice(['1', '2', '-1'])})",
            lambda: f"concat({inner(deeper)}, {self.number(0)}, {inner(deeper)})",
            lambda: f"lpad({inner(deeper)}, 5, '#')",
            lambda: f"concat_ws('-', {inner(deeper)}, {inner(deeper)})", lambda: f"initcap({inner(deeper)})",
            lambda: f"regexp_replace({inner(deeper)}, '{self.random.choice(PATTERNS)}', '<>', 'g')",
            lambda: f"substring({inner(deeper)} FROM '{self.random.choice(PATTERNS)}')",
            lambda: f"md5({inner(deeper)})",
            lambda: f"to_char({self.time(deeper)}, '{self.random.choice(['YYYY-MM', 'Dy HH24', 'IYYY-IW'])}')",
        )  # fmt: skip

    def time(self, depth: int = 2) -> str:
        plain = self.named(*TIMES) or self.random.choice(["DATE '2024-02-29'", "TIMESTAMP '2024-02-29 01:02:03'"])
        if depth == 0 or self.random.random() < 0.4:
            return plain
        deeper = depth - 1
        return self.choose(
            lambda: f"date_trunc('{self.random.choice(['year', 'week', 'month', 'century'])}', {self.time(deeper)})",
            lambda: f"({self.time(deeper)})::{self.random.choice(['date', 'timestamp', 'timestamptz'])}",
            lambda: f"COALESCE({self.time(deeper)}, {self.time(deeper)})",
            lambda: f"GREATEST({self.time(deeper)}, {self.time(deeper)})",
            lambda: f"date_bin('7 days', ({self.time(deeper)})::timestamp, '2000-01-01')",
            lambda: f"({self.time(deeper)})::timestamptz AT TIME ZONE 'America/New_York'",
            lambda: f"date_trunc('day', ({self.time(deeper)})::timestamptz, 'Asia/Tokyo')",
            lambda: f"make_date({self.whole()}, {self.whole()}, {self.whole()})",
            lambda: f"date({self.time(deeper)})",
            lambda: f"CASE WHEN {self.condition(deeper)} THEN {self.time(deeper)} ELSE {self.time(deeper)} END",
        )

    def condition(self, depth: int = 2) -> str:
        deeper = max(depth - 1, 0)
        compare = self.random.choice(["=", "<>", "<", "<=", ">", ">="])
        if depth > 0 and self.random.random() < 0.35:
            left, right = self.condition(deeper), self.condition(deeper)
            forms = ["({} AND {})", "({} OR {})", "NOT ({})", "({}) IS NOT TRUE", "({}) = ({})"]
            return self.random.choice(forms).format(left, right)
        raw = self.named(*NUMBERS) or "1"
        return self.choose(
            lambda: f"{raw} {compare} {self.literal()}",
            lambda: f"{raw} {compare} {self.named(*NUMBERS) or '2'}",
            lambda: f"{self.number(deeper)} {compare} {self.number(deeper)}",
            lambda: f"{raw} BETWEEN {self.literal()} AND {self.literal()}",
            lambda: f"{raw} NOT IN (1, 2.5, '7')",
            lambda: f"{raw} = ANY (ARRAY[1, 2])",
            lambda: f"{raw} IS DISTINCT FROM {self.named(*NUMBERS) or '1'}",
            lambda: f"{self.text(deeper)} {compare} {self.text(deeper)}",
            lambda: f"{self.text(deeper)} LIKE '{self.random.choice(['a%', '%_b', 'x', '%'])}'",
            lambda: f"{self.text(deeper)} NOT ILIKE 'A%'",
            lambda: f"{self.time(deeper)} {compare} {self.time(deeper)}",
            lambda: f"{self.time(deeper)} > '2024-01-01'",
            lambda: f"({self.time(deeper)})::timestamp - ({self.time(deeper)})::timestamp {compare} interval '30 days'",
            lambda: f"{self.text(deeper)} {self.random.choice(['~', '!~', '~*'])} '{self.random.choice(PATTERNS)}'",
            lambda: f"starts_with({self.text(deeper)}, 'a')",
            lambda: f"({raw}, {self.text(0)}) = (1, 'a')",
            lambda: f"{self.named(*Family) or '1'} IS {self.random.choice(['', 'NOT '])}NULL",
            lambda: self.named(Family.BOOL) or "true",
            lambda: f"{self.named(Family.OTHER) or 'NULL'} = '{ORDINARY[Family.OTHER][0]}'",
        )

    # -- FROM

    def source(self) -> str:
        """A FROM clause with its WHERE; sets the scope."""
        joins = [self.of_two_tables, self.joined_parts] if self.joins else []
        return self.choose(self.one_table, self.one_table, self.subquery, self.with_public, self.union, *joins)

    def relation(self, protected: bool) -> Relation:
        return self.random.choice([r for r in self.world.relations if (r.protection is not None) is protected])

    def table(self, alias: str, relation: Relation) -> str:
        self.scope += [(f"{alias}.{quoted(name)}", column) for name, column in relation.columns.items()]
        return f"{relation.schema}.{relation.name} {alias}"

    def where(self) -> str:
        return f" WHERE {self.condition()}" if self.random.random() < 0.6 else ""

    def one_table(self) -> str:
        self.scope = []
        return self.table("t", self.relation(True)) + self.where()

    def mapped(self, alias: str) -> tuple[str, list[tuple[str, Column]]]:
        """A subquery that keeps the unit, and what it is seen as from outside."""
        self.scope = []
        source = self.table("i", self.relation(True)) + self.where()
        targets = {"u": ("i.u", Column("u", "integer", identifies=True))}
        for n in range(self.random.randint(1, 3)):
            text, column = self.random.choice(self.scope)
            if not column.identifies:
                targets[f"s{n}"] = (text, column)
        targets["n"] = (self.number(), Column("n", "numeric", (Fraction(0), Fraction(1))))
        targets["w"] = (self.text(), Column("w", "text"))
        listed = ", ".join(f"{text} AS {name}" for name, (text, _) in targets.items())
        outside = [(f"{alias}.{name}", column) for name, (_, column) in targets.items()]
        return f"(SELECT {listed} FROM {source}) {alias}", outside

    def subquery(self) -> str:
        written, self.scope = self.mapped("s")
        return written + self.where()

    def of_two_tables(self) -> str:
        self.scope = []
        tables = [self.table(alias, self.relation(True)) for alias in "ab"]
        if self.random.random() < 0.3:
            return f"{tables[0]}, {tables[1]} WHERE a.u = b.u AND {self.condition()}"
        kind = self.random.choice(["JOIN", "LEFT JOIN"])
        more = f" AND {self.condition(1)}" if self.random.random() < 0.3 else ""
        return f"{tables[0]} {kind} {tables[1]} ON a.u = b.u{more}{self.where()}"

    def with_public(self) -> str:
        self.scope = []
        people, public = self.relation(True), self.relation(False)
        tables = self.table("a", people), self.table("z", public)
        theirs = [(name, column) for name, column in self.scope if name.startswith("z.")]
        on = self.condition(1)
        if "k" in public.columns and self.random.random() < 0.7:
            mine = [
                n for n, c in self.scope if n.startswith("a.") and c.family is theirs[0][1].family and not c.identifies
            ]
            on = f"{self.random.choice(mine)} = z.k" if mine else on
        if self.random.random() < 0.2:
            return f"{tables[0]}, {tables[1]} WHERE {on}"
        kind = self.random.choice(["JOIN", "LEFT JOIN"])
        return f"{tables[0]} {kind} {tables[1]} ON {on}{self.where()}"

    def union(self) -> str:
        parts = []
        for _ in range(2):
            self.scope = []
            source = self.table("i", self.relation(True)) + self.where()
            parts.append(f"SELECT i.u, {self.number()} AS n, {self.text()} AS w FROM {source}")
        self.scope = [("s.n", Column("n", "numeric", (Fraction(0), Fraction(1)))), ("s.w", Column("w", "text"))]
        return f"({' UNION ALL '.join(parts)}) s{self.where()}"

    def joined_parts(self) -> str:
        left, mine = self.mapped("s")
        right, theirs = self.mapped("r")
        self.scope = mine + theirs
        return f"{left} {self.random.choice(['JOIN', 'LEFT JOIN'])} {right} ON s.u = r.u{self.where()}"

    # -- the question

    def aggregate(self) -> str:
        only = f" FILTER (WHERE {self.condition(1)})" if self.random.random() < 0.2 else ""
        anything = self.random.choice(self.scope)[0]
        spread = self.random.choice(["variance", "stddev", "var_pop", "stddev_pop"])
        call = self.choose(
            lambda: "count(*)", lambda: f"count({anything})", lambda: f"count(DISTINCT {anything})",
            lambda: f"count(DISTINCT {self.text(1)})", lambda: f"sum({self.number()})", lambda: f"avg({self.number()})",
            lambda: f"sum({self.number(0)})", lambda: f"avg({self.number(0)})", lambda: f"{spread}({self.number(1)})",
            lambda: f"min({self.number(1)})", lambda: f"max({self.named(*TIMES) or self.number(0)})",
            lambda: f"percentile_cont(0.3) WITHIN GROUP (ORDER BY {self.number(1)})",
            lambda: f"percentile_disc({self.random.choice(['0', '0.999'])}) WITHIN GROUP (ORDER BY {self.number(1)})",
            self.dp_call, self.dp_call, self.dp_call,
            lambda: f"{self.random.choice(PAIRS)}({self.number(1)}, {self.number(0)})",
            lambda: f"{self.random.choice(PAIRS)}({self.number(0)}, {self.number(0)})",
            lambda: f"{self.random.choice(['bool_and', 'bool_or', 'every'])}({self.condition(1)})",
            lambda: f"sum(DISTINCT {self.number(0)})", lambda: f"count(DISTINCT ({anything}, {self.text(1)}))",
            lambda: f"mode() WITHIN GROUP (ORDER BY {self.condition(1)})",
            lambda: f"mode() WITHIN GROUP (ORDER BY CASE WHEN {self.condition(0)} THEN 'a' ELSE 'b' END)",
            lambda: f"percentile_cont(ARRAY[0.2, 0.9]) WITHIN GROUP (ORDER BY {self.number(1)})",
            lambda: f"avg(({self.time(1)})::timestamp - ({self.time(1)})::timestamp)",
        )  # fmt: skip
        return call + only

    def dp_call(self) -> str:
        """Of an expression, or of a column that need not have bounds."""
        prefix, epsilon = self.random.choice(["", "discreet."]), self.random.choice(["", "", ", 0.5"])
        anything = self.random.choice(self.scope)[0]
        times = self.named(*TIMES)
        value, (low, high) = self.named(*NUMBERS) or self.number(1), self.random.choice(DP_BOUNDS)
        if times and self.random.random() < 0.2:
            value, low, high = times, "'1999-12-31'", "'2024-03-01'"
        elif self.random.random() < 0.4:
            value = self.number(1)
        name = self.random.choice(["sum", "avg", "variance", "stddev", "median"])
        fraction = self.random.choice(["0", "0.01", "0.5", "1"])
        call = self.choose(
            lambda: f"dp_count({anything}{epsilon})", lambda: f"dp_count_distinct({anything}{epsilon})",
            lambda: f"dp_{name}({value}, {low}, {high}{epsilon})",
            lambda: f"dp_{name}({value}, {low}, {high}{epsilon})",
            lambda: f"dp_quantile({value}, {fraction}, {low}, {high}{epsilon})", lambda: "dp_count(*)",
        )  # fmt: skip
        return prefix + call

    def key(self) -> str:
        return self.choose(
            lambda: self.named(*Family) or self.text(1), lambda: self.named(*Family) or self.text(1),
            lambda: self.text(1), lambda: self.number(1), lambda: self.time(1), lambda: self.condition(1),
        )  # fmt: skip

    def question(self) -> str:
        source = self.source()
        keys = [self.key() for _ in range(self.random.choice([0, 0, 1, 1, 2]))]
        aggregates = [self.aggregate() for _ in range(self.random.randint(1, 3))]
        listed = ", ".join(f"{column} AS o{n}" for n, column in enumerate([*keys, *aggregates]))
        places = ", ".join(str(n + 1) for n in range(len(keys)))
        grouping = ""
        if keys:
            form = self.random.choice(["{}", "{}", "{}", "ROLLUP ({})", "GROUPING SETS (({}), ())"])
            grouping = f" GROUP BY {form.format(places)}"
        return f"SELECT {listed} FROM {source}{grouping}"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
