"""Questions about views, which the gate looks into: nothing that a definition hides gets past the checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.gate.asking import ask, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

# what a view does with rows, and the code of the refusal
COUNT = "SELECT count(*) FROM {}"
DEFINITIONS = {
    "a person by another name": ("SELECT id AS dept FROM hr.person", COUNT + " WHERE dept = 7", "DP002"),
    "a person, filtered": ("SELECT dept FROM hr.person WHERE id = 7", COUNT, "DP002"),
    "all but one person": ("SELECT dept FROM hr.person WHERE id <> 7", COUNT, "DP002"),
    "a person in a number": ("SELECT salary * id AS salary FROM hr.person", "SELECT sum(salary) FROM {}", "DP002"),
    "the highest row": ("SELECT * FROM hr.person ORDER BY salary DESC LIMIT 1", "SELECT avg(salary) FROM {}", "DP001"),
    "rows that know others":
        ("SELECT salary, rank() OVER (ORDER BY salary) AS r FROM hr.person", COUNT + " WHERE r = 1", "DP001"),
    "distinct values": ("SELECT DISTINCT salary FROM hr.person", COUNT, "DP001"),
    "more rows": ("SELECT p.* FROM hr.person p, generate_series(1, p.id)", COUNT, "DP001"),
    "more rows, in the list":
        ("SELECT generate_series(1, 1000), dept FROM hr.person", "SELECT count(dept) FROM {}", "DP001"),
    "everybody with everybody": ("SELECT a.salary FROM hr.person a, hr.person b", COUNT, "DP001"),
    "what depends on others":
        ("SELECT * FROM hr.person p WHERE salary > (SELECT avg(salary) FROM hr.person q WHERE q.dept = p.dept)",
         COUNT, "DP001"),
    "an error as an oracle": ("SELECT asind(salary - 1007) AS x FROM hr.person", "SELECT sum(x) FROM {}", "DP001"),
    "a function of the owner": ("SELECT extra.tell(name) AS x FROM hr.person", "SELECT count(x) FROM {}", "DP001"),
    "a function nobody asks for":
        ("SELECT extra.tell(name) AS x, dept FROM hr.person", "SELECT count(dept) FROM {}", "DP001"),
    "a recursive query": (
        "WITH RECURSIVE r AS (SELECT salary FROM hr.person UNION ALL SELECT salary + 1 FROM r WHERE salary < 1002)"
        " SELECT * FROM r", COUNT, "DP001"),
    "a sample": ("SELECT * FROM hr.person TABLESAMPLE SYSTEM (50)", COUNT, "DP001"),
    "a column that a curator hides": ("SELECT * FROM hr.person", COUNT + " WHERE name = 'name 7'", "DP001"),
    "a hidden column, computed": ("SELECT upper(name) AS n FROM hr.person", "SELECT count(n) FROM {}", "DP001"),
    "a hidden column below a view": ("SELECT * FROM extra.first", COUNT + " WHERE name = 'x'", "DP001"),
    "a part of a protected table": ("SELECT * FROM extra.part", COUNT, "42704"),
    "a copy": ("SELECT p.dept FROM hr.person p JOIN extra.kept k USING (dept)", COUNT, "42704"),
    "a table that the asker may not read": ("SELECT p.* FROM hr.person p JOIN extra.other ON true", COUNT, "42704"),
    "statistics": ("SELECT p.* FROM hr.person p JOIN pg_stats s ON s.attname = p.dept", COUNT, "42704"),
    "an aggregate in a join": (
        "SELECT dept, count(*) AS n FROM hr.person GROUP BY dept",
        COUNT + " AS v JOIN hr.person p ON p.dept = v.dept", "DP001"),
}  # fmt: skip

OBJECTS = """
    CREATE FUNCTION extra.tell(text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN $1; END';
    CREATE VIEW extra.first AS SELECT * FROM hr.person;
    CREATE MATERIALIZED VIEW extra.kept AS SELECT * FROM hr.person;
    CREATE TABLE extra.other (a int);
    CREATE TABLE extra.part () INHERITS (hr.person);
    SELECT discreet.describe_column('hr.person', 'name', visibility => 'hidden');
"""


@pytest.fixture
def objects(gated: Target) -> Iterator[Target]:
    gated.admin.execute(OBJECTS)
    yield gated
    gated.admin.execute("SELECT discreet.describe_column('hr.person', 'name')")


@pytest.mark.parametrize("name", DEFINITIONS)
def test_what_is_refused_by_itself_is_refused_in_a_view(objects: Target, blind: Connection, name: str) -> None:
    definition, question, code = DEFINITIONS[name]
    objects.admin.execute(f"CREATE VIEW extra.v AS {definition}; GRANT SELECT ON extra.v TO PUBLIC")
    objects.admin.execute("CREATE VIEW extra.over AS SELECT * FROM extra.v; GRANT SELECT ON extra.over TO PUBLIC")
    with objects.free():
        for view in ("extra.v", "extra.over"):
            assert how_it_ends(blind, question.format(view)) == code
        with refused(code, "", ""):
            blind.execute(question.format("extra.v"))


def test_a_view_that_is_being_replaced_is_not_answered(objects: Target, blind: Connection) -> None:
    """The ledger reads what was committed; it waits for who is about to change that, and not for ever."""
    objects.admin.execute("CREATE VIEW extra.v AS SELECT dept FROM hr.person; ALTER VIEW extra.v OWNER TO blind")
    before = ask(blind, "SELECT count(*) FROM extra.v")
    with blind.transaction(force_rollback=True):
        blind.execute("CREATE OR REPLACE VIEW extra.v AS SELECT extra.tell('me') AS dept")
        with objects.free():
            assert how_it_ends(blind, "SELECT count(*) FROM extra.v") == "DP007"
    assert ask(blind, "SELECT count(*) FROM extra.v") == before


def test_a_temporary_view_is_nothing_to_the_gate(objects: Target, blind: Connection) -> None:
    blind.execute("CREATE TEMP VIEW person AS SELECT 1 AS a")
    for name in ("person", "pg_temp.person"):
        assert how_it_ends(blind, f"SELECT count(*) FROM {name}") == "42704"


def test_a_view_that_was_not_granted_cannot_be_asked(objects: Target, blind: Connection) -> None:
    objects.admin.execute("CREATE VIEW extra.v AS SELECT dept FROM hr.person")
    with objects.free(), refused("42704", "there is no table extra.v", ""):
        blind.execute("SELECT count(*) FROM extra.v")


def test_views_that_multiply_end(objects: Target, blind: Connection) -> None:
    objects.admin.execute("CREATE VIEW extra.v0 AS SELECT id FROM hr.person; GRANT SELECT ON extra.v0 TO PUBLIC")
    for n in range(1, 10):
        objects.admin.execute(
            f"CREATE VIEW extra.v{n} AS SELECT a.id FROM extra.v{n - 1} a JOIN extra.v{n - 1} b ON a.id = b.id;"
            f"GRANT SELECT ON extra.v{n} TO PUBLIC"
        )
    assert how_it_ends(blind, "SELECT count(*) FROM extra.v3") == "answer"
    with objects.free(), refused("DP001", "too deeply, or with too many names", ""):
        blind.execute("SELECT count(*) FROM extra.v9")
