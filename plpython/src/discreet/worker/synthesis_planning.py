"""The plan of synthetic tables, from the catalog as the session sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from pglast import ast

from discreet.core.errors import InvalidParameterError, RefusedShapeError, UndefinedColumnError
from discreet.core.quoting import identifier
from discreet.core.syntax import Json
from discreet.core.verdicts import judges
from discreet.dp.exact import decimal_text
from discreet.dp.price import Price
from discreet.gate.schema import Dataset, Relation, Schema
from discreet.synthesis.columns import Column
from discreet.synthesis.plan import (
    Constraint,
    SynthesisPlan,
    TablePlan,
    is_single,
    notes,
    price_of,
    refuse_other_people,
    refuse_other_types,
    table_plan,
)
from discreet.worker.session import Session, SessionError, Statement, run
from discreet.worker.synthesis_request import Request

# Whether an expression runs code that is not PostgreSQL's own, whose objects have numbers below 16384: functions and
# operators, and types other than enums, since a cast to a domain runs its constraints.
RUNS_CODE = """
    EXISTS (SELECT FROM pg_depend u
            WHERE u.classid = '{catalog}'::regclass AND u.objid = {of} AND u.refobjid >= 16384
              AND (u.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
                   OR u.refclassid = 'pg_type'::regclass AND u.deptype = 'n'
                      AND NOT EXISTS (SELECT FROM pg_type y LEFT JOIN pg_type m ON m.oid = y.typelem
                                      WHERE y.oid = u.refobjid AND 'e' IN (y.typtype, m.typtype))))
"""

COLUMNS = f"""
    SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
           discreet._base_type(a.atttypid, a.attcollation) AS base, discreet._never_null(a) OR t.typnotnull AS not_null,
           CASE WHEN a.attgenerated <> '' AND NOT {RUNS_CODE.format(catalog="pg_attrdef", of="d.oid")}
                THEN pg_get_expr(d.adbin, d.adrelid) END AS generated,
           EXISTS (WITH RECURSIVE below(type) AS (
                       SELECT a.atttypid
                       UNION ALL SELECT w.typbasetype FROM below b JOIN pg_type w ON w.oid = b.type AND w.typtype = 'd')
                   SELECT FROM below b JOIN pg_constraint k ON k.contypid = b.type
                   WHERE {RUNS_CODE.format(catalog="pg_constraint", of="k.oid")}) AS runs_code,
           (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e
            WHERE e.enumtypid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END) AS labels,
           CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS modifier
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
"""

CHECKS = f"""
    SELECT k.conname::text AS name, pg_get_constraintdef(k.oid) AS definition,
           pg_get_expr(k.conbin, k.conrelid) AS expression,
           ARRAY(SELECT a.attname::text FROM pg_attribute a
                 WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) AS columns,
           NOT {RUNS_CODE.format(catalog="pg_constraint", of="k.oid")} AS plain
    FROM pg_constraint k
    WHERE k.conrelid = to_regclass($1) AND k.contype = 'c'
    ORDER BY k.conname
"""

PARSED = "SELECT pg_catalog.parse_ident(:release::text) AS parts"
# a type modifier is this much more than the number that it stands for
MODIFIER = 4


class Planning:
    """Reads columns and constraints of tables, and makes the plan of a request of them."""

    def __init__(self, session: Session, request: Request) -> None:
        self._session, self._request = session, request

    def plan_of(self, schema: Schema, names: Sequence[tuple[str, str]]) -> SynthesisPlan:
        relations = [self.allowed(schema, *name) for name in names]
        kept = [relation.protection for relation in relations]
        datasets = {protection.dataset for protection in kept if protection is not None}
        if len(datasets) > 1:
            raise RefusedShapeError(
                f"the tables belong to several datasets: {', '.join(sorted(datasets))}",
                "Tables are synthesised together when they are about the same people.",
            )
        dataset = schema.datasets[datasets.pop()]
        epsilon, delta, price = price_of(dataset, self._request.epsilon, self._request.delta)
        for protection in kept:
            assert protection is not None
            if protection.max_epsilon is not None and epsilon > protection.max_epsilon:
                raise RefusedShapeError(
                    f"epsilon {decimal_text(epsilon)} is more than the {decimal_text(protection.max_epsilon)}"
                    " that one question may cost",
                    "Give less.",
                )
            if protection.max_delta is not None and delta > protection.max_delta:
                raise RefusedShapeError(
                    f"delta {decimal_text(delta)} is more than one question may cost", "Give less, or none."
                )
        self.refuse_unlinked(schema, relations)
        plan = self.linked(relations, dataset, epsilon, delta, price)
        plan.refuse_small_price()
        return plan

    def allowed(self, schema: Schema, schema_name: str, name: str) -> Relation:
        relation = schema.relation(ast.RangeVar(schemaname=schema_name, relname=name, inh=True, relpersistence="p"))
        if relation.protection is None or relation.protection.policy != "noisy":
            raise RefusedShapeError(
                f"{schema_name}.{name} is not protected under policy 'noisy'",
                "Protect it first: discreet.protect(table, unit, dataset).",
            )
        if relation.row_security:
            raise RefusedShapeError(f"row security hides rows of {schema_name}.{name}", "Drop its policies.")
        return relation

    def linked(
        self, relations: Sequence[Relation], dataset: Dataset, epsilon: Fraction, delta: Fraction, price: Price
    ) -> SynthesisPlan:
        """The plans of all tables: that of the people comes first, parents before children, in whatever order."""
        every = [self.columns_of(relation) for relation in relations]
        self.refuse_unknown([column.name for columns in every for column in columns])
        tables: list[TablePlan] = []
        for n in sorted(range(len(relations)), key=lambda n: (not is_single(relations[n]), path_length(relations[n]))):
            relation = relations[n]
            table = table_plan(
                relation, every[n], self.checks(relation), self.target(relation, self._request.releases[n]),
                self._request.columns, self._request.dependencies, tables,
            )  # fmt: skip
            tables.append(table)
        if not any(table.coded({}) for table in tables):
            raise RefusedShapeError(
                "no column of the tables can be modelled", "Declare bounds or categories: discreet.describe_column()."
            )
        return SynthesisPlan(
            tuple(tables), any(map(is_single, relations)), dataset, epsilon, delta, price, self._request.target,
            notes(tables),
        )  # fmt: skip

    def refuse_unlinked(self, schema: Schema, relations: Sequence[Relation]) -> None:
        """Refuses tables whose rows cannot be told to be of one person."""
        singles = [relation for relation in relations if is_single(relation)]
        if len(singles) > 1 or (len(relations) > 1 and not singles):
            raise RefusedShapeError(
                "tables that are synthesised together need one table with one row for each person, and no more",
                "Name the table of the people, whose unit is unique, and tables with rows of them.",
            )
        for relation in relations:
            assert relation.protection is not None
            name = f"{relation.schema}.{relation.name}"
            held = relation.columns[relation.protection.unit]
            for step in relation.protection.path:
                parent = schema.relations.get((step.schema, step.name))
                if parent is None or frozenset([step.key]) not in parent.unique_keys:
                    raise RefusedShapeError(
                        f"the people of {name} are not known: {step.name}.{step.key} is no longer unique",
                        f"A curator has to protect {name} anew.",
                    )
                refuse_other_types(held, parent.columns[step.key], name)
                held = parent.columns[step.column]
            for people in singles:
                if relation is not people:
                    assert people.protection is not None
                    refuse_other_people(people, relation)
                    refuse_other_types(held, people.columns[people.protection.unit], name)

    def refuse_unknown(self, names: list[str]) -> None:
        asked = [*(self._request.columns or ()), *([self._request.target] if self._request.target else ())]
        for name in [*asked, *self._request.dependencies, *self._request.dependencies.values()]:
            if name not in names:
                raise UndefinedColumnError(f"the tables have no column {name}", "Name columns of the tables.")

    def columns_of(self, relation: Relation) -> list[Column]:
        written = f"{identifier(relation.schema)}.{identifier(relation.name)}"
        rows = self._session.execute(Statement(COLUMNS, ("text",)), [written])
        return [self.column(relation, row) for row in rows if row["name"] in relation.columns]

    def column(self, relation: Relation, row: Mapping[str, Json]) -> Column:
        known = relation.columns[row["name"]]
        modifier = int(row["modifier"]) - MODIFIER
        sized = modifier >= 0
        return Column(
            known.name, row["type"], row["base"], bool(row["not_null"]) and known.not_null, row["generated"],
            None if row["labels"] is None else tuple(row["labels"]),
            modifier >> 16 if sized and row["base"] == "numeric" else None,
            # eleven bits, of which the highest is the sign
            (modifier & 0x7FF ^ 0x400) - 0x400 if sized and row["base"] == "numeric" else None,
            modifier if sized and row["base"] in ("character varying", "character") else None,
            known.bounds, known.categories, known.hidden, known.identifies, row["runs_code"],
        )  # fmt: skip

    def checks(self, relation: Relation) -> list[Constraint]:
        written = f"{identifier(relation.schema)}.{identifier(relation.name)}"
        rows = self._session.execute(Statement(CHECKS, ("text",)), [written])
        return [
            Constraint(row["name"], row["definition"], row["expression"], frozenset(row["columns"]), row["plain"])
            for row in rows
        ]

    def target(self, relation: Relation, name: str) -> tuple[str, str]:
        """Schema and name of a table that is to be made; without a schema it goes to that of the source."""
        try:
            parts = run(self._session, PARSED, release=name)[0]["parts"]
        except SessionError as error:
            if not judges(error):
                raise
            parts = []
        if len(parts) not in (1, 2):
            raise InvalidParameterError(f"release is {name!r}, which names no table", "Give a name, or schema.name.")
        return (relation.schema, parts[0]) if len(parts) == 1 else (parts[0], parts[1])


def path_length(relation: Relation) -> int:
    return 0 if relation.protection is None else len(relation.protection.path)
