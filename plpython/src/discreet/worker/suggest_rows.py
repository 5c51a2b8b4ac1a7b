"""discreet.suggest_rows: a question of a curator about the rows of each person, charged to the dataset."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal

from pglast import ast

from discreet.core.declarations import given, given_name
from discreet.core.errors import (
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedColumnError,
    UndefinedObjectError,
)
from discreet.core.path import UnitPath, is_path
from discreet.core.quoting import literal
from discreet.core.syntax import Json, SqlValue
from discreet.dp.additive import additive_noise
from discreet.dp.exact import decimal_text
from discreet.dp.price import Price, parse_epsilon
from discreet.dp.quantile import QuantileChoice
from discreet.dp.sensitivity import Neighbours
from discreet.gate.names import Source
from discreet.gate.schema import schema_from_json
from discreet.gate.sources import Sources
from discreet.gate.suggest import KEPT, LIMITS, rows_per_person_sql
from discreet.gate.together import Rows
from discreet.worker.acting import acting_role, run_as, starts
from discreet.worker.asker import Asker
from discreet.worker.gate import admitted, released
from discreet.worker.meaning import Meaning, Names
from discreet.worker.policy import Charge
from discreet.worker.session import Doing, Session, Statement, run
from discreet.worker.suggest_bounds import name_of

OWNED = """
    SELECT pg_catalog.pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned
    FROM pg_catalog.pg_class c WHERE c.oid = :relation::pg_catalog.regclass
"""
KEY = """
    SELECT b.attname AS key FROM pg_catalog.pg_constraint k
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
    JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND k.confkey = ARRAY[b.attnum]
    WHERE k.contype = 'f' AND k.conrelid = :child::pg_catalog.regclass AND k.confrelid = :parent::pg_catalog.regclass
      AND a.attname = :column::pg_catalog.name AND k.convalidated AND NOT k.condeferrable
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A'))
    ORDER BY k.oid LIMIT 1
"""
PEOPLE = "SELECT d.accounting, d.neighbours FROM discreet._dataset d WHERE d.dataset = :dataset::text"


def suggested_rows(
    session: Session, relation: str | None, unit: str | None, dataset: str | None, epsilon: Decimal | None
) -> tuple[int, int]:
    """The most rows that about 95 of 100 people have at most, and about how many people have more."""
    request = Request(
        given("relation", relation), given_name("unit", unit), given("dataset", dataset), given("epsilon", epsilon)
    )
    asker = Asker(session)
    refuse_others(asker, request.relation)
    with asker.own_search_path() as path:
        policy = admitted(asker, RowsQuestion(asker, path, request))
        ((rows, cut),) = released(asker, policy)
    return int(str(rows)), int(str(cut))


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    relation: str
    unit: str
    dataset: str
    epsilon: Decimal

    @property
    def text(self) -> str:
        names = ", ".join(map(literal, (self.relation, self.unit, self.dataset)))
        return f"SELECT * FROM discreet.suggest_rows({names}, {self.epsilon})"


class RowsQuestion:
    """Limits for a table of a curator's own, which need not be protected yet; the dataset is to hold it."""

    def __init__(self, asker: Asker, path: tuple[str, ...], request: Request) -> None:
        self.request, self.text, self._path = request, request.text, path
        self._name = name_of(asker.session, request.relation)
        self._column, self._way = way_of(asker.session, request.relation, request.unit)

    def names(self) -> Names:
        parents = ((step["schema"], step["name"]) for step in self._way)
        return Names(self._path, tuple(dict.fromkeys((self._name, *parents))))

    def under(self, meaning: Meaning) -> RowsPerPerson:
        """The table with this unit, as if the dataset held it already."""
        request = self.request
        rows = run(meaning.asker.session, PEOPLE, dataset=request.dataset)
        if not rows:
            raise UndefinedObjectError(
                f'there is no dataset "{request.dataset}"',
                "Make it first: SELECT discreet.create_dataset(name, epsilon);",
            )
        described = meaning.described.meaning
        relations = [
            declared(relation, self._column, self._way, request.dataset)
            if (relation["schema"], relation["name"]) == self._name
            else relation
            for relation in described["relations"]
        ]
        if not relations:
            raise UndefinedObjectError(
                f"there is no table {request.relation} that can be asked about",
                "It must belong to a curator, and so must its schema.",
            )
        schema, name = self._name
        table = ast.RangeVar(schemaname=schema, relname=name, inh=True, relpersistence="p")
        source = Sources(schema_from_json(described | {"relations": relations}), ()).table(table)
        return RowsPerPerson(meaning, request, source, relations, rows[0]["accounting"], rows[0]["neighbours"])


class RowsPerPerson:
    """A histogram of how many rows people have, of which two noisy numbers are made.

    Half of the price buys the private choice of a number of rows, the other half the number of people who have more.
    Each person is in one bin of the histogram, so adding or removing one changes one count by 1.
    """

    quantum = None
    acting: int
    counts: list[int]
    chosen: tuple[int, int]

    def __init__(
        self,
        meaning: Meaning,
        request: Request,
        source: Source,
        relations: list[dict[str, Json]],
        accounting: str,
        neighbours: str,
    ) -> None:
        self.meaning, self.request, self.accounting = meaning, request, accounting
        self.asker, self.session = meaning.asker, meaning.asker.session
        self.relations, self.neighbours = relations, Neighbours(neighbours)
        self.native = rows_per_person_sql(source)
        self.worth = parse_epsilon(request.epsilon)
        self.bought = Price.of(self.worth, accounting)

    def admit(self) -> None:
        self.acting = acting_role(self.session, self.relations)
        analyse = Statement(self.native, doing=Doing.ANALYSE), ()
        self.session.execute_all([analyse, *starts(self.acting, [self.native])])

    def price(self) -> Charge:
        taken = {"dataset": self.request.dataset, "amount": decimal_text(self.bought.amount)}
        request = {
            "role": self.asker.user,
            "epsilon": decimal_text(self.worth),
            "question": self.request.text,
            "details": {"measurements": 2, "grouping_sets": 1},
        }
        return Charge("charge_curation", taken | request, taken)

    def run(self) -> None:
        self.counts = [0] * len(LIMITS)
        with self.asker.touching_data():
            for text in run_as(self.session, self.acting, self.native):
                place, people = json.loads(text)
                self.counts[place] += people
            self.meaning.refuse_changed()

    def decide(self) -> None:
        self.chosen = chosen_limit(self.counts, self.bought, self.neighbours)

    def record(self, left: Json) -> Rows:
        unit = "epsilon" if self.accounting == "pure" else "rho"
        remains = f"{unit} left for dataset {self.request.dataset} {left['left_for_dataset']}"
        self.session.notice(f"epsilon {decimal_text(self.worth)} spent; {remains}")
        return [list(self.chosen)]


def refuse_others(asker: Asker, relation: str) -> None:
    """Of an unprotected table its owner alone may ask, as of a protected one."""
    owned: list[SqlValue] = list(run(asker.session, OWNED, relation=relation))
    if not (asker.is_curator() and owned and owned[0]["owned"]):
        raise InsufficientPrivilegeError(
            f"{asker.user} does not own {relation}, or is not a curator",
            "The owner of the table, being a curator, or a superuser can do this.",
        )


def way_of(session: Session, relation: str, unit: str) -> tuple[str, list[dict[str, Json]]]:
    """The column of a unit, and the parents over which it leads to the person, as a description has them."""
    if not is_path(unit):
        return unit, []
    parsed = UnitPath.parse(unit)
    steps: list[dict[str, Json]] = []
    child, held = relation, parsed.column
    for step in parsed.steps:
        schema, name = name_of(session, step.relation)
        keys: list[SqlValue] = list(run(session, KEY, child=child, parent=step.relation, column=held))
        if not keys:
            raise InvalidParameterError(
                f"column {held} of {child} is no validated foreign key to {step.relation}",
                "It must be of one column, and not be NOT VALID, DEFERRABLE or disabled.",
            )
        steps.append({"schema": schema, "name": name, "key": keys[0]["key"], "column": step.column})
        child, held = step.relation, step.column
    return parsed.column, steps


def declared(relation: dict[str, Json], unit: str, way: list[dict[str, Json]], dataset: str) -> dict[str, Json]:
    """A described table with a protection: its own, or one that protect() would give it."""
    kept = relation["protection"]
    if kept is not None and (kept["dataset"], kept["unit"]) != (dataset, unit):
        raise InvalidParameterError(
            f"{relation['name']} is protected by column {kept['unit']} in dataset {kept['dataset']}",
            f"Give unit {kept['unit']} and dataset {kept['dataset']}.",
        )
    if kept is None:
        if not any(column["name"] == unit for column in relation["columns"]):
            listed = ", ".join(column["name"] for column in relation["columns"])
            raise UndefinedColumnError(
                f'{relation["schema"]}.{relation["name"]} has no column "{unit}"', f"Its columns are: {listed}."
            )
        kept = {
            "dataset": dataset, "unit": unit, "policy": "noisy", "max_groups": 1, "max_rows": 1, "max_total_rows": None,
            "max_epsilon": None, "max_delta": None, "single": False, "min_group": 10, "fallback": None, "relation": 0,
            "people": None, "wrong_unit": None, "path": way,
        }  # fmt: skip
    return relation | {"protection": kept | {"may_ask": True}}


def chosen_limit(counts: list[int], price: Price, neighbours: Neighbours) -> tuple[int, int]:
    """A number of rows, and about how many people have more; under bounded neighbours two counts change.

    Each limit has a handicap that is the same for all data, so that the sensitivity of the losses stays: of limits that
    noise cannot tell apart, one is chosen with a weight of one over it, since the noise of answers grows with it.
    Without it, the limits above all people's rows, which are most, would win among few people.
    """
    first, second = price.split(2)
    acts = 2 if neighbours is Neighbours.BOUNDED else 1
    quantile = QuantileChoice.of(KEPT, first, rows=acts)
    handicaps = [round(float(quantile.choice.scale) * math.log(limit)) for limit in LIMITS]
    losses = [loss + handicap for loss, handicap in zip(quantile.losses(counts), handicaps, strict=True)]
    place = quantile.choice.release(losses)
    noise = additive_noise(acts, second, acts)
    return LIMITS[place], max(noise.release_many([sum(counts[place + 1 :])])[0], 0)
