"""Which groups appear: all that are declared, and of the others those that many people share."""

from __future__ import annotations

from tests.corpus.sample import DEPARTMENTS, POSITIONS, WARDS
from tests.database.gate.conftest import Asker


def test_every_declared_category_appears_also_the_empty_ones(asker: Asker) -> None:
    rows = asker.json("SELECT dept, count(*), sum(salary), avg(salary) FROM hr.employee WHERE zip = 'x' GROUP BY dept")
    assert {row["dept"] for row in rows} == set(DEPARTMENTS)
    assert None not in {value for row in rows for value in row.values()}


def test_every_combination_of_categories_appears(asker: Asker) -> None:
    rows = asker.json("SELECT dept, position FROM hr.employee GROUP BY dept, position")
    assert {(row["dept"], row["position"]) for row in rows} == {(d, p) for d in DEPARTMENTS for p in POSITIONS}


def test_declared_categories_cost_no_delta(asker: Asker) -> None:
    assert asker.explain("SELECT ward, count(*) FROM clinic.visit GROUP BY ward")["delta"] == "0"
    assert float(asker.explain("SELECT zip, count(*) FROM hr.employee GROUP BY zip")["delta"]) > 0


def test_values_outside_the_categories_take_no_part(asker: Asker) -> None:
    rows = asker.json("SELECT ward, count(*) FROM clinic.visit GROUP BY ward", 100)
    assert {row["ward"] for row in rows} == set(WARDS)
    assert "Dialysis" not in {row["ward"] for row in rows}


def test_true_and_false_are_known(asker: Asker) -> None:
    rows = asker.json("SELECT salary > 1000000 AS rich, count(*) FROM hr.employee GROUP BY 1", 20)
    assert {row["rich"]: row["count"] for row in rows} == {True: 0, False: 200}


def test_a_key_of_few_people_is_not_shown(asker: Asker) -> None:
    """Of two people with delta 1e-6: with probability below 1e-5 at epsilon 0.5, where the threshold is near 28."""
    rows = asker.json("SELECT zip, count(*) FROM hr.employee GROUP BY zip", 0.5)
    assert {row["zip"] for row in rows}.isdisjoint({"01742", "01773", "02478", "02108"})


def test_keys_of_many_people_are_shown(asker: Asker) -> None:
    rows = asker.json("SELECT zip, count(*) FROM hr.employee GROUP BY zip", 20)
    assert {"02139", "02138", "02145"} <= {row["zip"] for row in rows}


def test_an_unknown_value_among_known_ones_needs_the_threshold_too(asker: Asker) -> None:
    rows = asker.json("SELECT gender, zip, count(*) FROM hr.employee GROUP BY gender, zip", 1)
    assert len(rows) < 3 * 15


def test_no_rows_give_a_noisy_zero_not_nothing(asker: Asker) -> None:
    (row,) = asker.json("SELECT count(*) AS n, sum(salary) AS s, avg(salary) AS a FROM hr.employee WHERE dept = 'None'")
    assert row["n"] < 20
    assert None not in row.values()


def test_rows_come_in_an_order_that_tells_nothing(asker: Asker) -> None:
    rows = asker.json("SELECT dept, count(*) FROM hr.employee GROUP BY dept", 20)
    assert [row["dept"] for row in rows] == sorted(DEPARTMENTS)


def test_a_person_counts_for_no_more_than_max_rows_in_max_groups(asker: Asker) -> None:
    """Patient 13 is there three times a week; the policy says 5 rows in 3 groups."""
    visits = "FROM clinic.visit v JOIN clinic.patient p ON p.id = v.patient_id WHERE p.diagnosis = 'Kidney failure'"
    ((people, rows),) = asker.truth(f"SELECT count(DISTINCT patient_id), count(*) {visits}")
    assert rows > 5 * people
    assert asker.number(f"SELECT count(*) {visits}", 100) <= 5 * people
    by_day = asker.json("SELECT day, count(*) FROM clinic.visit GROUP BY day", 100)
    assert sum(row["count"] for row in by_day) <= 15 * 500


def test_rows_without_a_person_take_no_part(asker: Asker) -> None:
    asker.admin.execute(
        "CREATE TABLE clinic.note (who int, x int);"
        "SELECT discreet.protect('clinic.note', 'who', dataset => 'patients', max_rows => 7);"
        "INSERT INTO clinic.note SELECT 1, 1 FROM generate_series(1, 7);"
        "INSERT INTO clinic.note SELECT NULL, 1 FROM generate_series(1, 50)"
    )
    try:
        assert asker.number("SELECT count(*) FROM clinic.note", 100) == 7
        assert asker.number("SELECT count(*) FROM (SELECT x FROM clinic.note) n", 100) == 7
        assert asker.number("SELECT count(DISTINCT who) FROM clinic.note", 100) == 1
    finally:
        asker.admin.execute("SELECT discreet.unprotect('clinic.note'); DROP TABLE clinic.note")
