"""The typed tree: what makes two nodes equal, which questions have a rule for every node, and what can fail."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from tests.corpus.sample import SCHEMA, planned, questions

from discreet.gate import tree
from discreet.gate.intervals import Interval
from discreet.gate.keys import canonical
from discreet.gate.nullness import NULLNESS
from discreet.gate.printer import CALLS, PRINTERS, printed
from discreet.gate.run import statements
from discreet.gate.schema import Family, Schema
from discreet.gate.totality import CALLS as TOTAL_CALLS
from discreet.gate.totality import RULES, is_total
from discreet.gate.traces import TRACES, comparisons, trace
from discreet.gate.tree import Arithmetic, Call, Cast, Choice, Column, Compare, Constant, Expression, Type
from discreet.gate.values import clamped, guarded_time, number_constant

NODES = {kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, Expression)} - {Expression}
# what the gate adds to statements, of which no question is asked
ADDED = {tree.SystemColumn, tree.Own}
FLOAT, INT, DATE, NUMERIC = (Type(family) for family in (Family.FLOAT, Family.INT, Family.DATE, Family.NUMERIC))


def column(kind: Type, bounds: tuple[int, int] | None = (0, 10)) -> Column:
    return Column(1, "x", "t", type=kind, interval=None if bounds is None else Interval.of(*bounds), raw="x")


def test_every_node_has_a_rule_for_every_question_about_it() -> None:
    assert TRACES.keys() == NODES - ADDED
    assert RULES.keys() == NODES - {tree.Either}  # which no SQL evaluates
    assert NULLNESS.keys() == NODES
    assert PRINTERS.keys() == NODES - {tree.Either, tree.Given}  # as what these are, none is written
    assert CALLS.keys() == TOTAL_CALLS.keys()


def test_a_node_without_a_rule_is_refused() -> None:
    class Strange(Expression):
        pass

    strange = Strange(type=INT)
    assert not is_total(strange)
    for question in (printed, trace, comparisons):
        with pytest.raises((KeyError, TypeError)):
            question(strange)
    with pytest.raises(TypeError, match="no canonical form"):
        canonical(object())


def test_nodes_are_equal_by_what_they_mean() -> None:
    assert column(INT) == replace(column(INT), alias="other", raw="other")
    assert column(INT) != replace(column(INT), place=2)
    one, two = (number_constant(Decimal(text), Family.NUMERIC) for text in ("1.0", "1.00"))
    assert one != two  # quotients of them have other scales
    assert Constant(True, type=tree.BOOLEAN) != number_constant(1, Family.INT)
    zero, negative = (number_constant(Decimal(text), Family.FLOAT) for text in ("0", "-0"))
    assert zero != negative


RAW = column(NUMERIC)
BOUNDED = clamped(RAW, None)
PARTIAL = [
    Arithmetic("+", RAW, BOUNDED, type=NUMERIC, interval=Interval.of(0, 20)),
    Arithmetic("+", BOUNDED, BOUNDED, type=NUMERIC),
    Arithmetic("*", BOUNDED, BOUNDED, type=NUMERIC, interval=Interval.of(0, 10**61)),
    Arithmetic("^", BOUNDED, BOUNDED, type=NUMERIC, interval=Interval.of(0, 20)),
    Arithmetic("-", column(DATE), column(DATE), type=INT, interval=Interval.of(0, 20)),
    Arithmetic("+", guarded_time(column(DATE), None), column(INT), type=DATE),
    Call("sqrt", (RAW,), type=NUMERIC),
    Call("ln", (RAW,), type=NUMERIC),
    Call("asind", (BOUNDED,), type=NUMERIC),
    Call("power", (BOUNDED, BOUNDED), type=NUMERIC),
    Call("regexp_count", (column(tree.TEXT, None), Constant("a", type=tree.TEXT)), type=INT),
    tree.Matches("~", tree.Beginning(column(tree.TEXT, None), 100, type=tree.TEXT), "(a+)+", type=tree.BOOLEAN),
    Call("upper", (column(tree.TEXT, None),), type=tree.TEXT),
    Call("extract", (number_constant(1, Family.INT), column(DATE)), type=NUMERIC),
    Call("bucket", (BOUNDED, number_constant(0, Family.NUMERIC)), type=NUMERIC),
    Cast(RAW, "int8", type=INT),
    Cast(clamped(column(NUMERIC, (0, 2**62)), None), "int8", type=INT),
    Cast(column(tree.TEXT, None), "int8", type=INT),
    Cast(column(DATE), "timestamp", type=Type(Family.TIMESTAMP)),
    Compare("=", RAW, column(FLOAT), type=tree.BOOLEAN),
    Choice("COALESCE", (RAW, column(FLOAT)), type=FLOAT),
    Choice("COALESCE", (column(DATE), column(DATE)), type=DATE),
]


@pytest.mark.parametrize("node", PARTIAL, ids=repr)
def test_what_could_fail_on_a_row_is_not_total(node: Expression) -> None:
    assert not is_total(node)
    assert not is_total(tree.NullTest(node, False, type=tree.BOOLEAN))


@pytest.mark.parametrize(
    "node", [BOUNDED, Arithmetic("/", BOUNDED, BOUNDED, type=NUMERIC, interval=Interval.of(0, 20)), RAW], ids=repr
)
def test_what_is_clamped_cannot_fail(node: Expression) -> None:
    assert is_total(node)


def test_a_left_join_makes_columns_nullable() -> None:
    employee = SCHEMA.relations["hr", "employee"]
    columns = {name: replace(one, not_null=True) for name, one in employee.columns.items()}
    schema = Schema({("hr", "employee"): replace(employee, columns=columns)}, SCHEMA.datasets)
    text = "SELECT count(a.zip), count(b.zip) FROM hr.employee a LEFT JOIN hr.employee b ON a.id = b.id"
    left, right = (m.subject.argument for m in planned(text, schema=schema).measurements)
    assert left is None  # what is never NULL is counted as rows are
    assert right is not None
    assert right.nullable


STAFF = "SELECT count(*) FROM hr.employee"
BY_DEPT = "SELECT dept, count(*) FROM hr.employee GROUP BY dept"
COUPLES = "SELECT count(*) FROM hr.employee a JOIN hr.employee b ON a.id = b.id"
SAME = [
    (STAFF, "SELECT count(*) AS n FROM hr.employee AS e"),
    (f"{STAFF} WHERE salary > 5", "SELECT 2 * count(*) FROM hr.employee e WHERE e.salary > 5::numeric"),
    (f"{STAFF} WHERE salary > 5 AND zip = 'a'", f"{STAFF} WHERE 'a' = zip AND 5 < salary AND zip = 'a'"),
    (f"{STAFF} WHERE salary > 5 OR zip = 'a'", f"{STAFF} WHERE zip = 'a' OR salary > 5"),
    (BY_DEPT, "SELECT count(*), dept AS d FROM hr.employee GROUP BY 2 ORDER BY 1 LIMIT 3"),
    (
        "SELECT sum(x) FROM (SELECT salary AS x FROM hr.employee) s",
        "SELECT sum(y) FROM (SELECT name, salary AS y FROM hr.employee) t",
    ),
    ("SELECT sum(salary) FROM hr.employee", "SELECT sum(y) FROM (SELECT salary AS y FROM hr.employee) t"),
    (f"{STAFF} WHERE salary > 5 AND zip = 'a'",
     "SELECT count(*) FROM (SELECT zip AS z FROM hr.employee WHERE 5 < salary) t WHERE z = 'a'"),
    (f"{COUPLES} WHERE a.salary > 5",
     "SELECT count(*) FROM (SELECT b.id FROM hr.employee a JOIN hr.employee b ON a.id = b.id WHERE a.salary > 5) t"),
]  # fmt: skip
OTHER = [
    (STAFF, "SELECT count(*) FROM ONLY hr.employee"),
    (STAFF, "SELECT count(*) FROM clinic.patient"),
    (f"{STAFF} WHERE salary > 5", f"{STAFF} WHERE salary > 6"),
    (f"{STAFF} WHERE salary > 5", f"{STAFF} WHERE salary < 5"),
    (f"{STAFF} WHERE salary > 5", f"{STAFF} WHERE salary >= 5"),
    (f"{STAFF} WHERE salary > 5 OR zip = 'a'", f"{STAFF} WHERE salary > 5 AND zip = 'a'"),
    ("SELECT sum(salary) FROM hr.employee", "SELECT sum(salary / 1.0) FROM hr.employee"),
    ("SELECT sum(salary / 1.0) FROM hr.employee", "SELECT sum(salary / 1.00) FROM hr.employee"),
    ("SELECT count(zip) FROM hr.employee", "SELECT count(dept) FROM hr.employee"),
    (BY_DEPT, "SELECT dept, count(*) FROM hr.employee GROUP BY ROLLUP (dept)"),
    (f"{COUPLES} WHERE a.salary > 5", f"{COUPLES} WHERE b.salary > 5"),
    (f"{COUPLES} WHERE b.salary > 5",
     "SELECT count(*) FROM (SELECT b.id FROM hr.employee a JOIN hr.employee b ON a.id = b.id WHERE a.salary > 5) t"),
    (STAFF, "SELECT count(*) FROM (SELECT zip FROM hr.employee WHERE salary > 5) t"),
    ("SELECT sum(salary) FROM hr.employee", "SELECT sum(y) FROM (SELECT salary * 2 AS y FROM hr.employee) t"),
    ("SELECT count(*) FROM hr.employee a LEFT JOIN (SELECT id, coalesce(zip, 'x') AS z FROM hr.employee) b"
     " ON a.id = b.id WHERE b.z = 'x'",
     "SELECT count(*) FROM hr.employee a LEFT JOIN (SELECT id, zip AS z FROM hr.employee) b"
     " ON a.id = b.id WHERE coalesce(b.z, 'x') = 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), SAME)
def test_questions_that_measure_the_same_have_one_key(one: str, two: str) -> None:
    assert planned(one).key() == planned(two).key()


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_questions_that_measure_something_else_have_another_key(one: str, two: str) -> None:
    assert planned(one).key() != planned(two).key()


def test_a_measurement_has_one_key_beside_whatever_else_is_measured() -> None:
    alone, beside = planned(STAFF), planned("SELECT sum(salary), dp_count(*), avg(salary) FROM hr.employee")
    (count,) = alone.measurements
    found = [
        measurement for measurement in beside.measurements if beside.key_of(measurement, ()) == alone.key_of(count, ())
    ]
    assert found == [count]
    assert len({beside.key_of(measurement, ()) for measurement in beside.measurements}) == len(beside.measurements)
    by_dept = planned(BY_DEPT)
    assert by_dept.key_of(count, (0,)) != by_dept.key_of(count, ()) == alone.key_of(count, ())


@pytest.mark.parametrize("levels", [1, 15])
def test_no_depth_that_the_parser_lets_in_is_too_much_for_the_stack(levels: int) -> None:
    """Each level is eighty nodes deep, and the next one is over its columns."""
    ctes = [f"c{n} AS (SELECT x{' + 1' * 80} AS x FROM c{n - 1})" for n in range(1, levels + 1)]
    listed = ", ".join(["c0 AS (SELECT salary AS x FROM hr.employee)", *ctes])
    plan = planned(f"WITH {listed} SELECT x, count(*) FROM c{levels} WHERE x > 5 GROUP BY x")
    assert plan.key()
    assert statements(plan, (0,), 1)


def test_questions_of_one_key_are_measured_by_the_same_trees() -> None:
    found: dict[str, object] = {}
    for question in questions("accepted.sql"):
        plan = planned(question.sql, question.parameters)
        asked = plan.inlined
        told = asked.of(plan.measurements), frozenset(asked.conditions), plan.grouping.sets, plan.source.limits
        assert found.setdefault(plan.key(), told) == told, question.sql
