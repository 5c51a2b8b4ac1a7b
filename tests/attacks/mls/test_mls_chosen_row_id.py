"""A low session that chooses the id of its row: that of an entity which higher sessions have versions of."""

from tests.databases import Connection


def test_an_id_that_is_taken_leads_no_write_astray(low: Connection, middle: Connection) -> None:
    before = middle.execute("SELECT name, salary, perf FROM employee ORDER BY 1").fetchall()
    (taken,) = low.execute("SELECT row_id FROM employee WHERE name = 'Smith'").fetchall()
    low.execute("INSERT INTO employee (name, row_id) VALUES ('bait', %s)", taken)
    changed = middle.execute("UPDATE employee SET perf = 'meant for bait', salary = 1 WHERE name = 'bait'")
    assert changed.rowcount == 1
    after = middle.execute("SELECT name, salary, perf FROM employee WHERE name <> 'bait' ORDER BY 1").fetchall()
    assert after == before
    # the id is given by the table, whatever was written
    assert low.execute("SELECT count(*), count(DISTINCT row_id) FROM employee").fetchall() == [(2, 2)]
