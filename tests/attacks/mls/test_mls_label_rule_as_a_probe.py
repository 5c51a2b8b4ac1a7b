"""Rules of labels and write ranges judge what a session writes: rows above change no verdict, and no way goes round."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, outcome

RULE = "SELECT discreet.mls_rule('employee', 'perf', 'CASE WHEN salary > 1000 THEN ''S'' END')"
WRITES = [
    "INSERT INTO employee (name, salary, perf) VALUES ('probe', 2000, 'x')",
    "INSERT INTO employee (name, salary, perf) VALUES ('probe', 500, 'x') RETURNING perf_label",
    "UPDATE employee SET perf = 'y' WHERE name = 'probe' RETURNING perf_label",
    "UPDATE employee SET salary = 3000 WHERE name = 'probe'",
]


@pytest.fixture
def ruled(levels: Levels) -> Iterator[Levels]:
    levels.admin.execute(RULE)
    yield levels
    levels.admin.execute("SELECT discreet.mls_rule('employee', 'perf', NULL)")


def test_a_verdict_does_not_depend_on_versions_above(ruled: Levels) -> None:
    low = ruled.at("low")
    alone = [outcome(low, statement) for statement in WRITES]
    assert {told[0] for told in alone} >= {"42501"}
    ruled.admin.execute("DELETE FROM employee_mls WHERE name = 'probe'")
    ruled.at("high").execute("INSERT INTO employee (name, salary, perf) VALUES ('probe', 9000, 'hidden')")
    first = [outcome(low, statement) for statement in WRITES[:2]]
    ruled.at("high").execute("UPDATE employee SET salary = 9000, perf = 'hidden' WHERE name = 'probe' AND tc = 'U'")
    assert first + [outcome(low, statement) for statement in WRITES[2:]] == alone


def test_a_range_holds_for_copies_views_and_functions_of_others(levels: Levels) -> None:
    levels.admin.execute("SELECT discreet.mls_clear('mls_high', 'S', write_from => 'S')")
    levels.admin.execute(
        """
        CREATE VIEW all_employees AS SELECT * FROM employee;
        GRANT SELECT, INSERT, UPDATE, DELETE ON all_employees TO mls_high;
        CREATE FUNCTION hire(who text) RETURNS void LANGUAGE sql SECURITY DEFINER
        AS $$ INSERT INTO public.employee (name) VALUES (who) $$;
        """
    )
    try:
        session = levels.at("high")
        session.execute("SET discreet.level = 'U'")
        for statement in (
            "INSERT INTO employee (name) VALUES ('probe')",
            "INSERT INTO all_employees (name) VALUES ('probe')",
            "DELETE FROM all_employees",
            "SELECT hire('probe')",
            "DO $$ BEGIN INSERT INTO employee (name) VALUES ('probe'); END $$",
            "WITH w AS (DELETE FROM employee RETURNING *) SELECT count(*) FROM w",
        ):
            told = outcome(session, statement)
            assert told[0] == "42501", statement
        with (
            pytest.raises(psycopg.Error, match="may not write at label U"),
            session.cursor().copy("COPY employee (name) FROM STDIN") as copy,
        ):
            copy.write("probe\n")
    finally:
        levels.admin.execute("DROP VIEW all_employees; DROP FUNCTION hire(text)")
        levels.admin.execute("SELECT discreet.mls_clear('mls_high', 'S')")
