"""The order of rows in an answer could be that of the table: who came first, or who is most."""

from tests.attacks.gate.asking import ask, protect
from tests.attacks.target import Target
from tests.databases import Connection

BY_TOWN = "SELECT town, count(*) FROM extra.resident GROUP BY town"


def test_rows_come_in_the_order_of_their_keys(gated: Target, blind: Connection) -> None:
    """A plain table shows what stands in it first."""
    seen, plain = set(), set()
    for order in ("id", "-id", "id % 7"):
        gated.admin.execute("DROP TABLE IF EXISTS extra.resident")
        rows = f"SELECT n, 'town ' || n % 5 FROM generate_series(1, 100) n ORDER BY {order.replace('id', 'n')}"
        protect(gated, "resident", "id int PRIMARY KEY, town text NOT NULL", rows)
        gated.admin.execute(
            "SELECT discreet.describe_column('extra.resident', 'town', categories => %s)",
            [[f"town {n}" for n in (3, 1, 4, 0, 2)]],
        )
        seen.add(tuple(row["town"] for row in ask(blind, BY_TOWN, fresh=True)))
        plain.add(tuple(gated.admin.execute("SELECT town FROM extra.resident LIMIT 3").fetchall()))
    assert len(plain) > 1
    assert seen == {tuple(f"town {n}" for n in range(5))}
