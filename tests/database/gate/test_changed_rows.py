"""Under bounded neighbours one row is changed: no exact number differs by more than the noise is made for."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations

import pytest
from tests.database.gate.conftest import Asker
from tests.database.gate.exact import exact_totals
from tests.databases import Database, MakeRole

from discreet.dp.price import Accounting, Price
from discreet.gate.measure import Terms
from discreet.gate.parse import parse
from discreet.gate.plan import plan
from discreet.gate.schema import schema_from_json

NUMBERS = {
    "i": ("int NOT NULL", ["-2147483648", "-5", "10", "50", "100", "2147483647"]),
    "n": ("numeric NOT NULL", ["NaN", "Infinity", "-Infinity", "-1e9", "10", "55.5", "100", "1e300"]),
    "f": ("float8 NOT NULL", ["NaN", "Infinity", "-Infinity", "-0", "10", "99.999", "1e300", "4.9e-324"]),
    "maybe": ("int", ["-5", "10", "100", "500"]),
}
QUESTIONS = [
    "SELECT sum({}) FROM pay.person", "SELECT variance({}) FROM pay.person", "SELECT avg({}), sum({}) FROM pay.person",
    "SELECT dp_sum({}, -20, 30) FROM pay.person", "SELECT sum({}) FROM pay.person WHERE {} > 20",
    "SELECT dept, sum({}) FROM pay.person GROUP BY dept",
]  # fmt: skip
ROWS = 7


@pytest.fixture
def asker(database: Database, make_role: MakeRole) -> Asker:
    asker = Asker(database, make_role("asker", "discreet_analyst"))
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in NUMBERS.items())
    asker.admin.execute(
        f"CREATE SCHEMA pay; CREATE TABLE pay.person (id int PRIMARY KEY, dept text NOT NULL, {columns});"
        f"INSERT INTO pay.person SELECT n, 'a', 20, 20, 20, 20 FROM generate_series(1, {ROWS}) n;"
        "SELECT discreet.create_dataset('pay', 1000, neighbours => 'bounded');"
        "SELECT discreet.protect('pay.person', 'id', dataset => 'pay');"
        "SELECT discreet.describe_column('pay.person', 'dept', categories => '{a,b}')"
    )
    for name in NUMBERS:
        asker.admin.execute("SELECT discreet.describe_column('pay.person', %s, 10, 100)", [name])
    asker.admin.execute(
        "SELECT discreet.grant_budget('pay', role, 1000) FROM unnest(ARRAY[%s::regrole, current_user::regrole]) role",
        [asker.role],
    )
    return asker


def described(asker: Asker) -> dict[str, object]:
    request = {"role": asker.role, "path": [], "relations": [["pay", "person"]], "functions": []}
    ((found,),) = asker.admin.execute("SELECT discreet._ledger_describe(%s)", [json.dumps(request)]).fetchall()
    return found


@pytest.mark.parametrize("name", NUMBERS)
def test_one_changed_row_changes_no_more_than_the_noise_covers(asker: Asker, name: str) -> None:
    schema = schema_from_json(described(asker))
    plans = [plan(parse(question.replace("{}", name)), schema, frozenset()) for question in QUESTIONS]
    found: list[list[list[object]]] = [[] for _ in plans]
    nullable = ["NULL"] if name == "maybe" else []
    for value in (*(f"'{value}'" for value in NUMBERS[name][1]), *nullable):
        for dept in "ab":
            asker.admin.execute(f"UPDATE pay.person SET {name} = {value}, dept = '{dept}' WHERE id = 3")
            for totals, asked in zip(found, plans, strict=True):
                totals.append(exact_totals(asker.admin, asked))  # type: ignore[arg-type]
    for asked, totals in zip(plans, found, strict=True):
        for (keys, *_), measurement in ((asked.grouping.sets, m) for m in asked.measurements):
            for accounting in Accounting:
                norm = Terms.of(asked, Price(accounting, Fraction(1)), Fraction(0), keys).norm(measurement)
                for (one,), (other,) in combinations(totals, 2):
                    here, there = (side.numbers[measurement] for side in (one, other))  # type: ignore[attr-defined]
                    moved = [abs(here.get(group, 0) - there.get(group, 0)) for group in here.keys() | there.keys()]
                    if accounting is Accounting.PURE:
                        assert sum(moved) <= norm
                    else:
                        assert sum(by**2 for by in moved) <= norm**2


def sensitivity(asker: Asker, column: str) -> float:
    """What a curator is told of a sum over all people."""
    ((told,),) = asker.truth(f"SELECT discreet.explain('SELECT sum({column}) FROM pay.person')")
    return float(told["sensitivities"][0]["in_all"])


@pytest.mark.parametrize(("column", "width"), [("i", 90), ("n", 90), ("f", 90), ("maybe", 200)])
def test_explain_tells_the_width_of_the_bounds(asker: Asker, column: str, width: int) -> None:
    assert sensitivity(asker, column) == width


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE pay.person ALTER COLUMN i DROP NOT NULL",
        # a person may then have a row there and none here
        "CREATE TABLE pay.other (id int PRIMARY KEY); SELECT discreet.protect('pay.other', 'id', dataset => 'pay')",
        "ALTER TABLE pay.person ENABLE ROW LEVEL SECURITY",
        # a person may then have several rows
        "ALTER TABLE pay.person DROP CONSTRAINT person_pkey",
        "CREATE TABLE pay.part () INHERITS (pay.person)",
    ],
)
def test_what_takes_the_reason_away_is_noticed(asker: Asker, change: str) -> None:
    asker.admin.execute(change.encode())
    assert sensitivity(asker, "i") == 200


def test_a_constraint_newer_than_the_snapshot_is_not_relied_on(asker: Asker) -> None:
    """In an older snapshot the column may still hold NULL: there a change is a removal plus an addition."""
    other = asker.database.connect()
    asker.admin.execute("UPDATE pay.person SET maybe = NULL WHERE id = 3")
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT 1 FROM pg_class LIMIT 1")
    asker.admin.execute("UPDATE pay.person SET maybe = 10; ALTER TABLE pay.person ALTER COLUMN maybe SET NOT NULL")
    question = "SELECT discreet.explain('SELECT sum(maybe) FROM pay.person')"
    ((told,),) = other.execute(question).fetchall()
    assert float(told["sensitivities"][0]["in_all"]) == 200
    assert sensitivity(asker, "maybe") == 90
