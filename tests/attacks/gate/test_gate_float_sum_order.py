"""Floats summed in another order give another sum, by which the order, and so a single row, could be told."""

from tests.attacks.gate.asking import explain, protect
from tests.attacks.target import Target

ROWS = "SELECT n, CASE n % 3 WHEN 0 THEN 1e16 WHEN 1 THEN 1 ELSE -1e16 END::float8 FROM generate_series(1, 300) n"


def test_the_order_changes_a_plain_sum(target: Target) -> None:
    sums = {
        target.value(f"SELECT sum(x ORDER BY {by}) FROM ({ROWS}) AS t(id, x)") for by in ("id", "x", "-x", "abs(x)")
    }
    assert len(sums) > 1


def test_what_the_gate_runs_sums_the_same_in_every_order(gated: Target) -> None:
    """Curators see the native SQL; the table is written anew in another order."""
    gated.admin.execute("SELECT discreet.grant_budget('people', current_user::regrole, 1)")
    totals = set()
    for by in ("id", "x", "-x", "abs(x)"):
        gated.admin.execute("DROP TABLE IF EXISTS extra.reading")
        protect(
            gated, "reading", "id int PRIMARY KEY, x float8", f"SELECT * FROM ({ROWS}) AS t(id, x) ORDER BY {by}",
            x=(-(10**16), 10**16),
        )  # fmt: skip
        told = explain(gated.admin, "SELECT sum(x), avg(x), stddev(x) FROM extra.reading")
        native = told["native_sql"]
        assert isinstance(native, list)
        totals.add(str([gated.admin.execute(sql).fetchall() for sql in native]))
    assert len(totals) == 1
