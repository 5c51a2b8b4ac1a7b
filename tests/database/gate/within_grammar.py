"""Random questions that compute within one person, over random tables; one has its people over a foreign key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from psycopg import sql
from tests.database.gate.grammar import (
    Questions,
    World,
    declared,
    quoted,
    random_columns,
    random_value,
    random_world,
)

from discreet.gate.schema import NUMBERS, TIMES, Column, Family, PathStep, Relation

NUMBER = Column("n", "numeric", (Fraction(0), Fraction(1)))
KINDS = {Family.TEXT: "text", Family.BOOL: "boolean", Family.DATE: "date"}


@dataclass(frozen=True)
class PathWorld(World):
    """A world in which rows of table part belong to rows of table event, by its column e."""

    def script(self) -> sql.Composed:
        event, part = self.table("event"), self.table("part")
        base = replace(self, relations=tuple(without_key(r) for r in self.relations if r.name != "part"))
        columns = [sql.SQL("{} {}").format(sql.Identifier(c.name), sql.SQL(declared(c))) for c in part.columns.values()]
        rows = [sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Literal, row))) for row in self.rows["part"]]
        name, parent = (sql.Identifier(relation.schema, relation.name) for relation in (part, event))
        made = [
            World.script(base),
            sql.SQL("ALTER TABLE {} ADD e int GENERATED ALWAYS AS IDENTITY UNIQUE").format(parent),
            sql.SQL("CREATE TABLE {} ({})").format(name, sql.SQL(", ").join(columns)),
        ]
        if rows:
            made.append(sql.SQL("INSERT INTO {} VALUES {}").format(name, sql.SQL(", ").join(rows)))
        made.append(sql.SQL("DELETE FROM {} WHERE e NOT IN (SELECT e FROM {})").format(name, parent))
        made.append(sql.SQL("ALTER TABLE {} ADD FOREIGN KEY (e) REFERENCES {} (e)").format(name, parent))
        return sql.SQL("; ").join(made)

    def without(self, person: str) -> sql.Composed:
        event, part = self.table("event"), self.table("part")
        base = replace(self, relations=tuple(r for r in self.relations if r.name != "part"))
        below = sql.SQL("DELETE FROM {} WHERE e IN (SELECT e FROM {} WHERE u::text = {})").format(
            sql.Identifier(part.schema, part.name), sql.Identifier(event.schema, event.name), sql.Literal(person)
        )
        return sql.SQL("; ").join([below, World.without(base, person)])

    def elsewhere(self, seed: int) -> sql.Composed:
        """Puts the rows of all tables elsewhere, in another order."""
        parts: list[sql.SQL | sql.Composed] = [sql.SQL("SET LOCAL session_replication_role = replica")]
        for relation in self.relations:
            name, kept = sql.Identifier(relation.schema, relation.name), sql.Identifier(f"kept_{relation.name}")
            listed = sql.SQL(", ").join(map(sql.Identifier, relation.columns))
            parts += [
                sql.SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT * FROM {}").format(kept, name),
                sql.SQL("DELETE FROM {}").format(name),
                sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {} t").format(
                    name, listed, listed, kept
                ) + sql.SQL(" ORDER BY md5({} || t::text)").format(sql.Literal(str(seed))),
            ]  # fmt: skip
        return sql.SQL("; ").join(parts)

    def table(self, name: str) -> Relation:
        return next(relation for relation in self.relations if relation.name == name)


def without_key(relation: Relation) -> Relation:
    if relation.name != "event":
        return relation
    columns = {name: column for name, column in relation.columns.items() if name != "e"}
    return replace(relation, columns=columns, unique_keys=())


def random_path_world(random: Random, name: str) -> PathWorld:
    world = random_world(random, name, people=9, most_rows=5)
    key = Column("e", "integer", identifies=True, not_null=True)
    relations = []
    for relation in world.relations:
        if relation.name == "event":
            relation = replace(relation, columns={**relation.columns, "e": key}, unique_keys=(frozenset("e"),))
            assert relation.protection is not None
            step = PathStep(name, "event", "e", "u")
            kept = replace(relation.protection, unit="e", path=(step,))
        relations.append(relation)
    columns = random_columns(random, 4)
    held = [random.choice([*range(1, 60), None]) for _ in range(70)]
    rows = [
        [None if parent is None else str(parent)] + [random_value(random, c.type_name) for c in columns.values()]
        for parent in held
    ]
    part = Relation(name, "part", {"e": replace(key, not_null=False), **columns}, kept)
    return PathWorld(name, (*relations, part), {**world.rows, "part": rows}, world.people)


class PersonQuestions(Questions):
    """Questions over relations of what is computed for each person; `unit`: what names the person in the scope."""

    unit = "t.u"

    def source(self) -> str:
        return self.choose(
            self.per_person, self.per_person, self.per_person, self.windowed, self.windowed, self.first_rows, self.sets,
            self.windows_over_groups, self.windows_over_groups,
            self.distinct, self.lateral, self.with_subquery, self.with_subquery, self.of_path, self.joined, self.nested,
            self.computed, self.computed, self.joined_by_any_number,
        )  # fmt: skip

    def people(self, alias: str, among: tuple[str, ...] = ("person", "event", "other", "part")) -> tuple[str, str]:
        """A table of people, and what rows of one person are grouped by there; sets the scope."""
        assert isinstance(self.world, PathWorld)
        relation = self.world.table(self.random.choice(among))
        self.scope = []
        written = self.table(alias, relation)
        return written, f"{alias}.{'e' if relation.name == 'part' else 'u'}"

    def within(self) -> tuple[str, Column]:
        """An aggregate of rows of one person, and what its value is like."""
        only = f" FILTER (WHERE {self.condition(1)})" if self.random.random() < 0.2 else ""
        anything = self.random.choice(self.scope)[0]
        plain, times = self.named(*NUMBERS) or "1", self.named(*TIMES)
        bounded = self.number(1)
        text = self.named(Family.TEXT)
        forms: list[tuple[str, Column]] = [
            ("count(*)", NUMBER), (f"count({anything})", NUMBER), (f"count(DISTINCT {anything})", NUMBER),
            (f"sum({bounded})", NUMBER), (f"sum({self.number(0)})", NUMBER), (f"avg({bounded})", NUMBER),
            (f"stddev({bounded})", NUMBER), (f"var_pop({bounded})", NUMBER), (f"max({bounded})", NUMBER),
            (f"min({plain})", Column("n", "numeric")), (f"bool_or({self.condition(1)})", Column("b", "boolean")),
            (f"every({self.condition(1)})", Column("b", "boolean")),
        ]  # fmt: skip
        if times:
            forms.append((f"max({times})", Column("d", "date")))
        if text and not text.endswith("character"):
            forms.append((f"min({text})", Column("t", "text")))
        if self.random.random() < 0.2:
            forms = self.in_order(times)
        written, column = self.random.choice(forms)
        return written + only, column

    def in_order(self, times: str | None) -> list[tuple[str, Column]]:
        """Aggregates of rows of one person that go by an order."""
        number, text, way = self.number(1), self.text(0), self.random.choice(["", " DESC"])
        fraction = self.random.choice(["0", "0.3", "0.5", "1"])
        forms = [
            (f"percentile_cont({fraction}) WITHIN GROUP (ORDER BY {number}{way})", NUMBER),
            (f"percentile_disc({fraction}) WITHIN GROUP (ORDER BY {number}{way})", NUMBER),
            (f"mode() WITHIN GROUP (ORDER BY {number}{way})", NUMBER),
            (f"string_agg({text}, '-' ORDER BY {number}{way})", Column("t", "text")),
            (f"string_agg(DISTINCT {text}, ',')", Column("t", "text")),
        ]
        if times:
            forms.append((f"percentile_disc({fraction}) WITHIN GROUP (ORDER BY {times})", Column("d", "date")))
        return forms

    def bounded(self, written: str, column: Column) -> str:
        """Sometimes kept within ends of the question's own."""
        if column.family in NUMBERS and self.random.random() < 0.3:
            return f"least(greatest({written}, 0), {self.random.choice([3, 20])})"
        return written

    def outside(self, alias: str, targets: dict[str, tuple[str, Column]]) -> str:
        listed = ", ".join(f"{text} AS {name}" for name, (text, _) in targets.items())
        self.scope = [(f"{alias}.{name}", column) for name, (_, column) in targets.items()]
        return listed

    def key_column(self, alias: str) -> tuple[str, Column] | None:
        known = [(name, c) for name, c in self.scope if not c.identifies and name.startswith(alias)]
        if self.random.random() < 0.6 or not known:
            return None
        return self.random.choice(known)

    def per_person(self) -> str:
        source, unit = self.people("i")
        where = self.where()
        if self.random.random() < 0.2:
            where = self.related("i", unit) or where
        key = self.key_column("i")
        targets: dict[str, tuple[str, Column]] = {"u": (unit, Column("u", "integer", identifies=True))}
        if key is not None:
            targets["g"] = key
        for n in range(self.random.randint(1, 3)):
            written, column = self.within()
            targets[f"a{n}"] = self.bounded(written, column), column
        having = ""
        if self.random.random() < 0.4:
            written, column = self.within()
            test = written if column.family is Family.BOOL else f"{written} IS NOT NULL"
            test = f"{written} > 2" if column.family in NUMBERS else test
            having = f" HAVING {test} OR count(*) >= {self.random.randint(1, 4)}"
        grouped = unit if key is None else f"{unit}, {key[0]}"
        listed = self.outside("s", targets)
        return f"(SELECT {listed} FROM {source}{where} GROUP BY {grouped}{having}) s{self.where()}"

    def related(self, alias: str, unit: str) -> str | None:
        """WHERE with a subquery about the person of the row, or about public rows."""
        scope, mine = self.scope, unit
        other = self.random.choice(["person", "event", "other"])
        assert isinstance(self.world, PathWorld)
        relation = self.world.table(other)
        if unit.endswith(".e"):
            relation = self.world.table(self.random.choice(["event", "part"]))
        self.scope = []
        inner = self.table("r", relation)
        theirs = f"r.{unit.rsplit('.', 1)[-1]}"
        if theirs == "r.u" and "u" not in relation.columns:
            self.scope = scope
            return None
        condition = self.condition(1)
        number, whole = self.named(*NUMBERS, bounded=True) or "1", self.number(1)
        written = self.choose(
            lambda: f"EXISTS (SELECT 1 FROM {inner} WHERE {theirs} = {mine} AND {condition})",
            lambda: f"NOT EXISTS (SELECT FROM {inner} WHERE {condition} AND {mine} = {theirs})",
            lambda: f"{mine} IN (SELECT {theirs} FROM {inner} WHERE {condition})",
            lambda: f"{mine} NOT IN (SELECT {theirs} FROM {inner} WHERE {condition})",
            lambda: (
                f"({mine}, {self.outer_number(scope)}) IN (SELECT {theirs}, {whole} FROM {inner} WHERE {condition})"
            ),
            lambda: f"{mine} = ANY (SELECT {theirs} FROM {inner} GROUP BY {theirs} HAVING count(*) > 1)",
            lambda: f"(SELECT count(*) FROM {inner} WHERE {theirs} = {mine} AND {condition}) > 1",
            lambda: f"(SELECT sum({whole}) FROM {inner} WHERE {theirs} = {mine}) >= 2",
            lambda: f"(SELECT {number} FROM {inner} WHERE {theirs} = {mine} ORDER BY {number} DESC LIMIT 1) > 1",
            lambda: f"1 <= ALL (SELECT {whole} FROM {inner} WHERE {theirs} = {mine})",
            lambda: f"(SELECT {number} FROM {inner} WHERE {theirs} = {mine}) > 1",
            lambda: f"{self.outer_number(scope)} > (SELECT avg({whole}) FROM {inner} WHERE {condition})",
            lambda: f"(SELECT count(*) FROM {inner} WHERE {condition}) >= {self.outer_number(scope)}",
        )
        self.scope = scope
        return f" WHERE {written}"

    def outer_number(self, scope: list[tuple[str, Column]]) -> str:
        """A number of the row around a subquery."""
        known = [name for name, column in scope if column.family in NUMBERS and not column.identifies]
        return self.random.choice(known or ["1"])

    def with_subquery(self) -> str:
        source, unit = self.people("t")
        return source + (self.related("t", unit) or self.where())

    def nested(self) -> str:
        """What is computed from what is computed within one person."""
        inner = self.per_person()
        number = self.random.choice([name for name, c in self.scope if not c.identifies])
        self.scope = [("x.n", NUMBER), ("x.m", Column("m", "numeric"))]
        return f"(SELECT s.u, count(*) AS n, count({number}) AS m FROM {inner} GROUP BY s.u) x{self.where()}"

    def order(self) -> str:
        forms = [self.number(1), self.text(0), self.time(0)]
        keys = [self.random.choice(forms) for _ in range(self.random.randint(1, 2))]
        return ", ".join(key + self.random.choice(["", " DESC", " NULLS FIRST"]) for key in keys)

    def windowed(self) -> str:
        source, unit = self.people("i", ("person", "event", "other"))
        where = self.where()
        key = self.key_column("i")
        by = f"PARTITION BY {unit}" + (f", {key[0]}" if key else "")
        frame = self.random.choice(["", "", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING"])
        value = self.random.choice([c for c in self.scope if not c[1].identifies] or [("1", NUMBER)])
        functions: list[tuple[str, Column, str]] = [
            ("row_number()", NUMBER, ""), ("rank()", NUMBER, ""), ("ntile(3)", NUMBER, ""),
            (f"lag({value[0]})", value[1], ""), (f"lead({value[0]}, 2)", value[1], ""),
            (f"first_value({value[0]})", value[1], ""), (f"sum({self.number(1)})", NUMBER, frame),
            (f"avg({self.number(1)})", NUMBER, frame), ("count(*)", NUMBER, frame),
        ]  # fmt: skip
        targets: dict[str, tuple[str, Column]] = {"u": (unit, Column("u", "integer", identifies=True))}
        for n in range(self.random.randint(1, 2)):
            call, column, framed = self.random.choice(functions)
            targets[f"w{n}"] = f"{call} OVER ({by} ORDER BY {self.order()}{framed})", column
        targets["c"] = value
        listed = self.outside("s", targets)
        first = [name for name, column in self.scope if column is NUMBER]
        where_outside = f" WHERE {self.random.choice(first)} <= 2" if first and self.random.random() < 0.6 else ""
        return f"(SELECT {listed} FROM {source}{where}) s{where_outside or self.where()}"

    def windows_over_groups(self) -> str:
        """Windows, DISTINCT ON and LIMIT that work on the groups of a person, or on what windows gave rows."""
        if self.random.random() < 0.3:
            return self.first_of_numbered()
        source, unit = self.people("i")
        where = self.where()
        keys = [(name, c) for name, c in self.scope if not c.identifies]
        key = self.random.choice(keys or [("1 + 1", NUMBER)])
        by = f"PARTITION BY {unit}"
        grouped = f"{unit}, {key[0]}" if keys else unit
        total = f"sum({self.number(0)})"
        order = self.random.choice(["count(*) DESC", total, key[0] if keys else "count(*)", f"count(*), {total} DESC"])
        functions = [
            "row_number()",
            "rank()",
            "lag(count(*))",
            f"first_value({total})",
            "sum(count(*))",
            f"lead({total})",
        ]
        targets: dict[str, tuple[str, Column]] = {"u": (unit, Column("u", "integer", identifies=True))}
        targets["w"] = f"{self.random.choice(functions)} OVER ({by} ORDER BY {order})", NUMBER
        if keys:
            targets["g"] = key
        targets["n"] = "count(*)", NUMBER
        first = self.random.random() < 0.3
        listed = self.outside("s", targets)
        words = f"DISTINCT ON ({unit}) " if first else ""
        rest = f" ORDER BY {unit}, {order}" if first else ""
        some = self.random.choice(["", " WHERE w <= 2"])
        return f"(SELECT {words}{listed} FROM {source}{where} GROUP BY {grouped}{rest}) s{some}"

    def first_of_numbered(self) -> str:
        source, unit = self.people("i", ("event", "other"))
        where, by = self.where(), f"PARTITION BY {unit} ORDER BY {self.order()}"
        targets: dict[str, tuple[str, Column]] = {"u": (unit, Column("u", "integer", identifies=True))}
        targets["n"] = f"row_number() OVER ({by})", NUMBER
        targets["m"] = self.number(1), NUMBER
        order = self.order()
        listed = self.outside("s", targets)
        kind = self.random.choice([f"DISTINCT ON ({unit})", "DISTINCT"])
        rest = "" if kind == "DISTINCT" else f" ORDER BY {unit}, {order}"
        return f"(SELECT {kind} {listed} FROM {source}{where}{rest}) s{self.where()}"

    def first_rows(self) -> str:
        source, unit = self.people("i", ("event", "other"))
        where, order = self.where(), self.order()
        key = self.key_column("i")
        targets: dict[str, tuple[str, Column]] = {"u": (unit, Column("u", "integer", identifies=True))}
        targets["n"] = self.number(1), NUMBER
        targets["w"] = self.text(1), Column("w", "text")
        on = unit if key is None else f"{unit}, {key[0]}"
        listed = self.outside("s", targets)
        return f"(SELECT DISTINCT ON ({on}) {listed} FROM {source}{where} ORDER BY {on}, {order}) s{self.where()}"

    def distinct(self) -> str:
        source, unit = self.people("i", ("event", "other"))
        where = self.where()
        targets: dict[str, tuple[str, Column]] = {"u": (unit, Column("u", "integer", identifies=True))}
        for n in range(self.random.randint(0, 2)):
            name, column = self.random.choice(self.scope)
            if not column.identifies:
                targets[f"c{n}"] = name, column
        listed = self.outside("s", targets)
        self.scope = self.scope[1:] or [("1", NUMBER)]
        return f"(SELECT DISTINCT {listed} FROM {source}{where}) s"

    def sets(self) -> str:
        parts = []
        for _ in range(2):
            source, unit = self.people("i", ("person", "event", "other"))
            parts.append(f"SELECT {unit}, {self.number(1)} AS n, {self.text(0)} AS w FROM {source}{self.where()}")
        word = self.random.choice(["UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL", "UNION ALL"])
        self.scope = [("s.n", NUMBER), ("s.w", Column("w", "text"))]
        return f"({f' {word} '.join(parts)}) s{self.where()}"

    def lateral(self) -> str:
        outer, unit = self.people("t", ("person", "event", "other"))
        kept = self.scope
        inner, theirs = self.people("i", ("event", "other"))
        condition, order = self.condition(1), self.order()
        if self.random.random() < 0.3:
            keys = [name for name, each in self.scope if not each.identifies]
            written, column = self.within()
            listed = f"{written} AS n"
            rest = f" GROUP BY {self.random.choice(keys)}" if keys and self.random.random() < 0.5 else ""
            if rest and self.random.random() < 0.5:
                rest += f" ORDER BY count(*) DESC LIMIT {self.random.randint(1, 2)}"
        else:
            listed, column = f"{self.number(1)} AS n", NUMBER
            rest = f" ORDER BY {order} LIMIT {self.random.randint(1, 2)}"
        self.scope = [*kept, ("x.n", column)]
        kind, on = self.random.choice([("CROSS JOIN", ""), ("LEFT JOIN", " ON true")])
        return (
            f"{outer} {kind} LATERAL (SELECT {listed} FROM {inner} WHERE {theirs} = {unit} AND {condition}{rest}) x{on}"
        )

    def of_path(self) -> str:
        """Rows that have their person over a foreign key."""
        assert isinstance(self.world, PathWorld)
        self.scope = []
        part, event = self.table("p", self.world.table("part")), self.table("v", self.world.table("event"))
        kind = self.random.choice(["JOIN", "LEFT JOIN"])
        tables = self.random.sample([part, event], 2)
        if self.random.random() < 0.3:
            self.scope = []
            return self.table("p", self.world.table("part")) + self.where()
        return f"{tables[0]} {kind} {tables[1]} ON p.e = v.e{self.where()}"

    def joined_by_any_number(self) -> str:
        """A join on columns that are no keys, which is refused."""
        assert isinstance(self.world, PathWorld)
        self.scope = []
        tables = [self.table(alias, self.world.table(name)) for alias, name in (("a", "event"), ("b", "other"))]
        numbers = [[n for n, c in self.scope if n.startswith(a) and c.family is Family.INT] for a in ("a.", "b.")]
        plain = [[name for name in some if name[2:] not in ("u", "e")] for some in numbers]
        left, right = (self.random.choice(some or ["1"]) for some in plain)
        return f"{tables[0]} JOIN {tables[1]} ON {left} = {right}"

    def computed(self) -> str:
        """Numbers that are nearly too large for their type, computed from sums within a person."""
        source, unit = self.people("i", ("event", "other"))
        total = f"sum({self.named(*NUMBERS, bounded=True) or '1'})"
        self.scope = [(f"(s.a * {4 * 10**digits})::int8", NUMBER) for digits in (0, 12, 17)]
        return f"(SELECT {unit} AS u, {total} AS a FROM {source} GROUP BY {unit}) s"

    def joined(self) -> str:
        self.scope = []
        assert isinstance(self.world, PathWorld)
        tables = [self.table(alias, self.world.table(name)) for alias, name in (("a", "person"), ("b", "event"))]
        kind = self.random.choice(["RIGHT JOIN", "FULL JOIN", "LEFT JOIN", "JOIN"])
        return f"{tables[0]} {kind} {tables[1]} ON a.u = b.u"


__all__ = ["PathWorld", "PersonQuestions", "quoted", "random_path_world"]
