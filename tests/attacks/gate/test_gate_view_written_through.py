"""Writing through a view that somebody else made updatable: RETURNING, conditions and row counts read what is there."""

from __future__ import annotations

import pytest
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection
from tests.messages import refused

VIEWS = """
    CREATE VIEW extra.form AS SELECT * FROM hr.person;
    CREATE VIEW extra.smokers AS SELECT * FROM hr.person WHERE smoker;
    CREATE VIEW extra.outer_form AS SELECT * FROM extra.form;
    GRANT ALL ON extra.form, extra.smokers, extra.outer_form TO PUBLIC;
"""
NEW = "(id, name, dept, salary, smoker) VALUES (7, 'x', 'x', 1, true)"
READS = [
    "UPDATE extra.form SET salary = salary RETURNING *",
    "UPDATE extra.form SET salary = 1 RETURNING 1",
    "UPDATE extra.form SET salary = 1 WHERE name = 'name 7' AND salary = 1007",
    "UPDATE extra.form SET dept = name",
    "UPDATE extra.smokers SET salary = 1",
    "UPDATE extra.outer_form SET salary = 1",
    "DELETE FROM extra.smokers",
    "DELETE FROM extra.form WHERE salary > 1050 RETURNING name",
    "INSERT INTO extra.form (id, name, dept, salary, smoker) VALUES (7000, 'x', 'x', 1, true) RETURNING *",
    f"INSERT INTO extra.form {NEW} ON CONFLICT (id) DO UPDATE SET salary = 1 RETURNING *",
    f"INSERT INTO extra.form {NEW} ON CONFLICT (id) DO UPDATE SET salary = 1 WHERE form.salary > 1000",
    "INSERT INTO extra.form SELECT n, 'x', 'x', 1, true FROM generate_series(1, 9999) n ON CONFLICT DO NOTHING",
    "WITH changed AS (UPDATE extra.form SET salary = 1 RETURNING *) SELECT * FROM changed",
    "WITH gone AS (DELETE FROM extra.smokers RETURNING 1) SELECT count(*) FROM gone",
]


@pytest.mark.parametrize("statement", READS)
def test_what_would_read_is_refused(gated: Target, blind: Connection, statement: str) -> None:
    gated.admin.execute(VIEWS)
    with gated.admin.transaction(force_rollback=True):
        gated.admin.execute("ALTER TABLE hr.person DISABLE TRIGGER ALL")
        assert gated.admin.execute(statement).rowcount > 0
    with gated.free(), refused("42501", "permission denied", ""):
        blind.execute(statement)
    assert gated.value("SELECT count(*) FROM hr.person WHERE salary >= 1000") == PEOPLE


COUNTS = [
    "UPDATE extra.smokers SET salary = 1",
    "DELETE FROM extra.smokers",
    "INSERT INTO extra.form SELECT n, 'x', 'x', 1, true FROM generate_series(1, 9999) n ON CONFLICT DO NOTHING",
]


@pytest.mark.parametrize("write", COUNTS)
@pytest.mark.parametrize("way", ["rule", "function"])
def test_what_would_count_is_refused_in_rules_and_functions_too(
    gated: Target, blind: Connection, write: str, way: str
) -> None:
    """These are analysed when they are made, and never again."""
    gated.admin.execute(f"{VIEWS}; CREATE TABLE extra.bait (a int); ALTER TABLE extra.bait OWNER TO blind")
    gated.admin.execute("GRANT CREATE ON SCHEMA extra TO blind")
    blind.execute("INSERT INTO extra.bait VALUES (1)")
    statement = "UPDATE extra.bait SET a = 2"
    if way == "rule":
        blind.execute(f"CREATE RULE counts AS ON UPDATE TO extra.bait DO INSTEAD {write}".encode())
    else:
        blind.execute(f"CREATE FUNCTION extra.counts() RETURNS void LANGUAGE sql BEGIN ATOMIC {write}; END".encode())
        statement = "SELECT extra.counts()"
    with gated.free(), refused("42501", "permission denied for table person", "SELECT of its own"):
        blind.execute(statement.encode())
    assert gated.value("SELECT count(*) FROM hr.person WHERE salary >= 1000") == PEOPLE


def test_an_exempt_view_beside_it_opens_no_rule(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        f"""
        {VIEWS};
        CREATE TABLE extra.inbox (a int);
        INSERT INTO extra.inbox VALUES (1);
        CREATE RULE counts AS ON UPDATE TO extra.inbox DO INSTEAD UPDATE hr.person SET dept = 'x';
        CREATE VIEW extra.harmless AS SELECT count(*) > 0 AS anybody FROM hr.person;
        GRANT SELECT ON extra.harmless TO PUBLIC;
        GRANT SELECT, UPDATE ON extra.inbox TO PUBLIC;
        SELECT discreet.exempt_view('extra.harmless');
        """
    )
    for beside in ("", " FROM extra.harmless"):
        with gated.free(), refused("42501", "permission denied for table person", ""):
            blind.execute(f"UPDATE extra.inbox SET a = 2{beside}".encode())


def test_who_may_write_a_new_row_may_do_so_through_a_view(gated: Target, blind: Connection) -> None:
    gated.admin.execute(VIEWS)
    blind.execute("INSERT INTO extra.form VALUES (5000, 'new', 'dept', 1001, false)")
    assert gated.admin.execute("DELETE FROM hr.person WHERE id = 5000").rowcount == 1


def test_a_reader_may_write_as_ever(gated: Target) -> None:
    gated.admin.execute(VIEWS)
    eve = gated.connect("eve")
    assert len(eve.execute("UPDATE extra.smokers SET dept = dept RETURNING name").fetchall()) == PEOPLE / 4
