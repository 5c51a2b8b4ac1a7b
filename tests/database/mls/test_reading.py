"""What each label shows of Smith and Brown, as a trusted load has stored them."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Row, Subjects, refused

SMITH_AND_BROWN = {
    "S": [
        ("Brown", "C", 80000, "S", "Good", "C", "S"),
        ("Smith", "U", 40000, "C", "Fair", "S", "S"),
    ],
    "C": [
        ("Brown", "C", None, "C", "Good", "C", "C"),
        ("Smith", "U", 40000, "C", None, "C", "C"),
    ],
    "U": [("Smith", "U", None, "U", None, "U", "U")],
}


@pytest.mark.parametrize("label", SMITH_AND_BROWN)
def test_each_label_shows_its_version(smith_and_brown: Subjects, label: str) -> None:
    assert smith_and_brown.seen(label) == SMITH_AND_BROWN[label]


def test_compartments_show_what_they_add(smith_and_brown: Subjects) -> None:
    """An absent cell has the label of the session, whatever that is."""
    assert smith_and_brown.seen("C:NATO") == [
        ("Brown", "C", None, "C:NATO", "Good", "C", "C:NATO"),
        ("Smith", "U", 40000, "C", None, "C:NATO", "C:NATO"),
    ]


def test_incomparable_labels_see_nothing_of_each_other(employee: Subjects) -> None:
    employee.at("C:NATO").execute("INSERT INTO employee VALUES ('Rossi', 'C:NATO', 1)")
    employee.at("C:CRYPTO").execute("INSERT INTO employee (name, salary) VALUES ('Weiss', 2)")
    assert employee.seen("C:NATO", columns="name") == [("Rossi",)]
    assert employee.seen("C:CRYPTO", columns="name") == [("Weiss",)]
    assert employee.seen("S") == []
    assert employee.seen("C:NATO,CRYPTO", columns="name, name_label") == [("Rossi", "C:NATO"), ("Weiss", "C:CRYPTO")]


def test_a_role_without_a_clearance_sees_nothing(smith_and_brown: Subjects) -> None:
    role = smith_and_brown._make_role("nobody")
    smith_and_brown.grant("employee", role)
    assert smith_and_brown.database.connect(role).execute("SELECT * FROM employee").fetchall() == []
    assert smith_and_brown.admin.execute("SELECT * FROM employee").fetchall() == []


def test_a_load_of_incomparable_labels_is_one_row_above_both(employee: Subjects) -> None:
    employee.trusted("S:NATO,CRYPTO").execute(
        "INSERT INTO employee (name, name_label, salary, salary_label, perf, perf_label)"
        " VALUES ('Rossi', 'U', 1, 'C:NATO', 'Good', 'C:CRYPTO')"
    )
    assert employee.seen("C:NATO,CRYPTO") == [("Rossi", "U", 1, "C:NATO", "Good", "C:CRYPTO", "C:NATO,CRYPTO")]
    assert employee.seen("C:NATO") == [("Rossi", "U", 1, "C:NATO", None, "C:NATO", "C:NATO")]
    assert employee.seen("C:CRYPTO") == [("Rossi", "U", None, "C:CRYPTO", "Good", "C:CRYPTO", "C:CRYPTO")]
    assert employee.seen("U") == [("Rossi", "U", None, "U", None, "U", "U")]


def test_an_absent_cell_is_filled_from_the_one_row_above_that_has_a_value(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, perf) VALUES ('Rossi', 'Fair')")
    employee.at("C").execute("UPDATE employee SET salary = 1, perf = 'Good'")
    assert employee.seen("C") == [("Rossi", "U", 1, "C", "Fair", "U", "C"), ("Rossi", "U", 1, "C", "Good", "C", "C")]
    employee.at("S").execute("UPDATE employee SET salary = 2, perf = 'Bad'")
    shown: list[Row] = employee.seen("S")
    # two rows above have a salary: the lowest version is left with none
    assert ("Rossi", "U", None, "S", "Fair", "U", "S") in shown
    assert ("Rossi", "U", 1, "C", "Good", "C", "C") in shown
    assert ("Rossi", "U", 2, "S", "Bad", "S", "S") in shown
    assert len(shown) == 3


def test_set_role_and_definer_functions_change_nothing(smith_and_brown: Subjects) -> None:
    high = smith_and_brown.role("S")
    smith_and_brown.admin.execute(f"GRANT {high} TO {smith_and_brown.role('U')}")
    smith_and_brown.admin.execute(
        "CREATE FUNCTION everything() RETURNS SETOF employee SECURITY DEFINER LANGUAGE sql AS 'SELECT * FROM employee';"
        f"ALTER FUNCTION everything() OWNER TO {high}"
    )
    low = smith_and_brown.at("U")
    low.execute(f"SET ROLE {high}")
    assert low.execute("SELECT name, salary FROM employee").fetchall() == [("Smith", None)]
    assert low.execute("SELECT name, salary FROM everything()").fetchall() == [("Smith", None)]


def test_texts_of_labels_do_not_fill_the_memory(employee: Subjects) -> None:
    admin = employee.admin
    admin.execute("SELECT count(discreet._label(n << 20)) FROM generate_series(1, 50000) n")
    kept = "SELECT total_bytes < 100000 FROM pg_backend_memory_contexts WHERE name = 'discreet levels'"
    assert admin.execute(kept).fetchall() == [(True,)]


def test_an_entity_of_many_rows_can_be_cancelled(employee: Subjects) -> None:
    """Each row is compared with each other. No history: it would take a lock for each of the labels."""
    admin = employee.admin
    admin.execute("SELECT discreet.mls_keep_history('employee', false)")
    admin.execute("""
        INSERT INTO employee_mls (name, salary, _key_label, _slot, _row_id, _label, _dead, _entity, _source)
        SELECT 'x', n, 0, 2 * n + 1, 2 * n + 1, n, false, 1, ARRAY[-2, -1] FROM generate_series(1, 20000) n
    """)
    admin.execute("SET statement_timeout = '50ms'")
    everything = """
        SELECT count(*) FROM employee_mls
        WHERE _source IS NOT NULL AND discreet._is_version(_label, ARRAY['salary', 'perf'], (1::bigint << 61) - 1)
    """
    assert refused(admin, everything).sqlstate == "57014"


def test_nested_loops_do_not_fill_the_memory(smith_and_brown: Subjects) -> None:
    """Each turn reads the entities with several versions anew."""
    session = smith_and_brown.at("S")
    again = """
        SELECT name FROM generate_series(1, 2000) n,
        LATERAL (SELECT name FROM employee WHERE name = CASE n % 2 WHEN 0 THEN 'Smith' ELSE 'Brown' END OFFSET 0) shown
    """
    with session.transaction():
        session.execute(f"DECLARE turns CURSOR FOR {again}")
        assert len(session.execute("FETCH 1999 FROM turns").fetchall()) == 1999
        kept = "SELECT count(*) < 10 FROM pg_backend_memory_contexts WHERE name LIKE 'discreet entit%'"
        smith_and_brown.admin.execute(f"GRANT pg_read_all_stats TO {session.info.user}")
        assert session.execute(kept).fetchall() == [(True,)]


def test_each_shown_row_is_found_once_by_each_index(employee: Subjects) -> None:
    """The value that a condition is about may be stored in another row of the entity, or be filled in from above."""
    employee.admin.execute("CREATE INDEX ON employee_mls (salary); CREATE INDEX ON employee_mls (perf, salary)")
    employee.admin.execute("CREATE INDEX ON employee_mls (_row_id)")
    insert = "INSERT INTO employee (name, salary, perf) SELECT 'e' || n, n % 3, CASE WHEN n % 2 = 0 THEN 'Fair' END"
    employee.at("U").execute(insert + " FROM generate_series(1, 60) n")
    employee.at("C").execute("UPDATE employee SET perf = 'Good' WHERE name < 'e3'")
    employee.at("S").execute("UPDATE employee SET salary = 1 WHERE name > 'e2'")
    employee.at("C:NATO").execute("UPDATE employee SET salary = 2 WHERE name BETWEEN 'e15' AND 'e25'")
    employee.at("U").execute("DELETE FROM employee WHERE name LIKE '%7'")
    employee.admin.execute("ANALYZE employee_mls")
    conditions = [
        "salary = 1", "salary > 0 AND perf = 'Fair'", "perf = 'Good'", "name = 'e21'", "perf >= 'F' AND salary = 2",
        "salary IS NULL", "perf IS NULL", "salary IN (0, 2)", "salary = 1 OR perf = 'Good'",
        "name < 'e2' AND perf > 'G'",        "row_id IN (SELECT row_id FROM employee ORDER BY name, tc LIMIT 20)",
    ]  # fmt: skip
    for label in ("U", "C", "S", "S:NATO"):
        session = employee.at(label)
        for condition in conditions:
            found = []
            for on in ("enable_seqscan", "enable_indexscan", "enable_bitmapscan"):
                for off in ("enable_seqscan", "enable_indexscan", "enable_bitmapscan"):
                    session.execute(f"SET {off} = {'on' if on == off else 'off'}")
                found.append(session.execute(f"SELECT * FROM employee WHERE {condition} ORDER BY row_id").fetchall())
            session.execute("RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan")
            # what PostgreSQL filters from all that is shown
            every = f"WITH every AS MATERIALIZED (SELECT * FROM employee) SELECT * FROM every WHERE {condition}"
            expected = session.execute(f"{every} ORDER BY row_id").fetchall()
            assert found == [expected] * 3, (label, condition)
            assert len({row[-1] for row in expected}) == len(expected)


@pytest.mark.parametrize(
    "order", ["name LIMIT 7", "name DESC LIMIT 7", "salary, row_id LIMIT 9", "salary DESC, row_id"]
)
def test_rows_come_in_the_order_that_is_asked_for(employee: Subjects, order: str) -> None:
    employee.admin.execute("CREATE INDEX ON employee_mls (salary)")
    employee.at("U").execute("INSERT INTO employee (name, salary) SELECT 'e' || n, n % 5 FROM generate_series(1, 60) n")
    employee.at("C").execute("UPDATE employee SET salary = 7 WHERE name < 'e3'")
    employee.at("S").execute("UPDATE employee SET perf = 'Fair' WHERE name > 'e2'")
    session = employee.at("S")
    session.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    for condition in ("true", "salary > 1"):
        found = session.execute(f"SELECT name, salary FROM employee WHERE {condition} ORDER BY {order}").fetchall()
        every = "WITH every AS MATERIALIZED (SELECT * FROM employee) SELECT name, salary FROM every"
        expected = session.execute(f"{every} WHERE {condition} ORDER BY {order}").fetchall()
        if "row_id" in order:
            assert found == expected
        else:
            assert [row[0] for row in found] == [row[0] for row in expected]


def test_a_key_and_a_value_are_found_by_their_indexes_at_every_label(employee: Subjects) -> None:
    employee.admin.execute("CREATE INDEX ON employee_mls (salary)")
    employee.at("U").execute("INSERT INTO employee (name, salary) SELECT 'e' || n, n FROM generate_series(1, 20000) n")
    employee.at("C").execute("UPDATE employee SET perf = 'Fair' WHERE salary % 2 = 0")
    employee.admin.execute("ANALYZE employee_mls")
    for label in ("U", "S"):
        for statement in ("WHERE salary = 10", "WHERE name = 'e10'", "ORDER BY name LIMIT 20"):
            lines = employee.at(label).execute(f"EXPLAIN SELECT * FROM employee {statement}").fetchall()
            plan = "\n".join(line for (line,) in lines)
            assert "Seq Scan" not in plan, plan
            assert "->  Sort" not in plan, plan


def test_what_marks_the_scan_of_versions_is_never_called(smith_and_brown: Subjects) -> None:
    call = "SELECT discreet._is_version(0, ARRAY['salary', 'perf'], NULL)"
    for session in (smith_and_brown.at("C"), smith_and_brown.admin):
        assert refused(session, call).sqlstate == "0A000"
        assert refused(session, call.replace("SELECT", "SELECT relname FROM pg_class WHERE")).sqlstate == "0A000"
