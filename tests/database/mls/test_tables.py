"""Which tables become multilevel ones, what is kept of them, and what is refused, and why."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Subjects, refused

EVERYTHING = """
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE TYPE place AS (street text, number int);
    CREATE TABLE "Odd ""Table" (
        "The Key" text, part numeric(4,1), n int DEFAULT 7, listed int[] DEFAULT '{1,2}', doc json, docb jsonb,
        mood mood DEFAULT 'sad', home place, raw bytea, "naïve ""name" text,
        twice int GENERATED ALWAYS AS (n * 2) STORED,
        id bigint GENERATED ALWAYS AS IDENTITY, s serial, CHECK (n > 0),
        CONSTRAINT pair CHECK (n < twice OR doc IS NULL),
        PRIMARY KEY ("The Key", part))
"""


def test_any_type_quoted_names_defaults_generated_and_counted_columns(subjects: Subjects) -> None:
    subjects.make_table(EVERYTHING, '"Odd ""Table"', ["The Key", "part"])
    low, high = subjects.at("U"), subjects.at("S")
    low.execute(
        """INSERT INTO "Odd ""Table" ("The Key", part, doc, docb, home, raw, "naïve ""name")
           VALUES ('a', 1.5, '{"x": 1}', '[1]', ROW('Main', 3), '\\x01', 'é')"""
    )
    high.execute("""UPDATE "Odd ""Table" SET doc = '[]', listed[1] = 9, n = 8""")
    shown = """SELECT "The Key", "The Key_label", part_label, n, n_label, listed, doc, docb, mood::text,
               (home).number, raw, "naïve ""name", twice, twice_label, id > 0, id_label, s > 0, tc
               FROM "Odd ""Table" ORDER BY n"""
    first = ("a", "U", "U", 7, "U", [1, 2], {"x": 1}, [1], "sad", 3, b"\x01", "é", 14, "U", True, "U", True, "U")
    second = ("a", "U", "U", 8, "S", [9, 2], [], [1], "sad", 3, b"\x01", "é", 16, "S", True, "U", True, "S")  # type: ignore[var-annotated]
    assert low.execute(shown).fetchall() == [first]
    assert high.execute(shown).fetchall() == [first, second]
    assert refused(low, """UPDATE "Odd ""Table" SET n = -1""").sqlstate == "23514"
    assert refused(low, """UPDATE "Odd ""Table" SET twice = 1""").sqlstate == "428C9"


def test_numbers_of_rows_tell_nothing_of_others(subjects: Subjects) -> None:
    subjects.make_table("CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x int)", "t", ["id"])
    first = subjects.at("U").execute("INSERT INTO t (x) VALUES (1), (2) RETURNING id").fetchall()
    assert len(set(first)) == 2
    assert first != [(1,), (2,)]


def test_a_hundred_columns(subjects: Subjects) -> None:
    columns = ", ".join(f"c{n} int" for n in range(100))
    subjects.make_table(f"CREATE TABLE wide (id int PRIMARY KEY, {columns})", "wide", ["id"])
    subjects.at("U").execute("INSERT INTO wide (id, c0, c99) VALUES (1, 2, 3)")
    subjects.at("S").execute("UPDATE wide SET c50 = 4")
    assert subjects.seen("S", "wide", "c0, c50, c50_label, c98_label, c99, tc") == [(2, 4, "S", "S", 3, "S")]


def test_a_key_alone_is_enough(subjects: Subjects) -> None:
    subjects.make_table("CREATE TABLE t (id int PRIMARY KEY)", "t", ["id"])
    subjects.at("C").execute("INSERT INTO t VALUES (1)")
    subjects.at("C").execute("UPDATE t SET id = id")
    assert subjects.seen("S", "t") == [(1, "C", "C")]
    assert subjects.at("C").execute("DELETE FROM t").rowcount == 1


def test_rows_grants_and_indexes_are_kept(subjects: Subjects) -> None:
    role = subjects.role("U")
    admin = subjects.admin
    admin.execute("CREATE TABLE t (id int PRIMARY KEY, x int NOT NULL DEFAULT 3, y text)")
    admin.execute("INSERT INTO t VALUES (1, 2, NULL)")
    admin.execute("CREATE INDEX by_x ON t (x)")
    admin.execute(f"GRANT SELECT, INSERT (id), UPDATE (x) ON t TO {role}")
    admin.execute("SELECT discreet.mls_table('t', ARRAY['id'])")
    session = subjects.at("U")
    assert session.execute("SELECT id, x, x_label, y, y_label, tc FROM t").fetchall() == [(1, 2, "U", None, "U", "U")]
    assert refused(session, "DELETE FROM t").sqlstate == "42501"
    assert refused(session, "UPDATE t SET y = ''").sqlstate == "42501"
    assert refused(session, "SELECT * FROM t_mls").sqlstate == "42501"
    session.execute("UPDATE t SET x = 5")
    session.execute("INSERT INTO t (id) VALUES (2)")
    assert subjects.seen("U", "t", "id, x") == [(1, 5), (2, 3)]
    assert admin.execute("SELECT tablename FROM pg_indexes WHERE indexname = 'by_x'").fetchall() == [("t_mls",)]


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("CREATE TABLE t (id int PRIMARY KEY, x int UNIQUE)", "unique key"),
        ("CREATE TABLE p (x int PRIMARY KEY); CREATE TABLE t (id int PRIMARY KEY, x int REFERENCES p)", "foreign key"),
        ("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE c (x int REFERENCES t)", "foreign key"),
        ("CREATE TABLE t (id int PRIMARY KEY); CREATE VIEW v AS SELECT * FROM t", "is read by"),
        ("CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id)", "partitioned"),
        ("CREATE TABLE p (); CREATE TABLE t (id int PRIMARY KEY) INHERITS (p)", "inherits"),
        ("CREATE TABLE t (id int PRIMARY KEY); ALTER TABLE t ENABLE ROW LEVEL SECURITY", "row security"),
        ("CREATE TABLE t (id int PRIMARY KEY, tc int)", "has a name"),
        ("CREATE TABLE t (id int PRIMARY KEY, x int, x_label int)", "labels of column"),
        ("CREATE TABLE t (id json)", "cannot be ordered"),
        ("CREATE TABLE t (id int); INSERT INTO t VALUES (NULL)", "holds NULLs"),
        ("CREATE TABLE t (id int); INSERT INTO t VALUES (1), (1)", "not unique"),
        ("CREATE TABLE t (id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)", "sequence"),
        ("CREATE VIEW t AS SELECT 1 AS id", "is a view"),
        ("CREATE TABLE t (x int)", "no column"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason(subjects: Subjects, definition: str, reason: str) -> None:
    subjects.admin.execute(definition)
    error = refused(subjects.admin, "SELECT discreet.mls_table('t', ARRAY['id'])")
    assert reason in str(error)
    assert error.diag.message_hint
    # and nothing is changed
    subjects.admin.execute("SELECT * FROM t")


def test_a_table_is_dropped_with_all_its_rows(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    assert refused(smith_and_brown.at("S"), "SELECT discreet.mls_drop('employee')").sqlstate == "42501"
    admin.execute("SELECT discreet.mls_drop('employee')")
    left = (
        "SELECT relname FROM pg_class WHERE relname LIKE 'employee%'"
        " UNION SELECT proname FROM pg_proc WHERE proname LIKE 'employee%'"
    )
    assert admin.execute(left).fetchall() == []
    assert admin.execute("SELECT * FROM discreet.multilevel_tables").fetchall() == []


def test_a_plain_table_has_the_rows_of_the_top(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    smith_and_brown.at("U").execute("DELETE FROM employee")
    admin.execute("SELECT discreet.mls_plain('employee')")
    assert admin.execute("SELECT * FROM employee ORDER BY 1").fetchall() == [
        ("Brown", 80000, "Good"),
        ("Smith", 40000, "Fair"),
    ]
    assert smith_and_brown.at("U").execute("SELECT count(*) FROM employee").fetchall() == [(2,)]
    assert refused(admin, "INSERT INTO employee VALUES ('Smith')").sqlstate == "23505"


def test_a_plain_table_may_have_several_versions(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    smith_and_brown.at("C").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    admin.execute("SELECT discreet.mls_plain('employee')")
    assert admin.execute("SELECT count(*) FROM employee").fetchall() == [(3,)]


def test_levels_in_use_keep_their_meaning(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    assert refused(admin, "SELECT discreet.mls_define(ARRAY['C', 'U', 'S'])").sqlstate == "22023"
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'C', 'S', 'TS'], ARRAY['NATO', 'CRYPTO', 'BOMB'])")
    assert smith_and_brown.seen("TS:BOMB", columns="name, tc") == [("Brown", "S"), ("Smith", "S")]


def test_clearing_a_role_that_may_create_tables_is_a_warning(subjects: Subjects) -> None:
    messages: list[str] = []
    subjects.admin.add_notice_handler(lambda notice: messages.append(str(notice.message_primary)))
    role = subjects._make_role("writer")
    subjects.admin.execute(f"CREATE SCHEMA own AUTHORIZATION {role}")
    subjects.admin.execute("SELECT discreet.mls_clear(%s, 'C')", [role])
    assert any("may create tables" in message for message in messages)
    found = subjects.admin.execute("SELECT finding FROM discreet.check_installation() WHERE item = 'cleared roles'")
    assert role in str(found.fetchall())


def test_who_reads_the_hidden_table_is_named(smith_and_brown: Subjects) -> None:
    role = smith_and_brown.role("U")
    named = "SELECT status, finding FROM discreet.check_installation() WHERE item = 'hidden readers'"
    assert smith_and_brown.admin.execute(named).fetchall() == []
    smith_and_brown.admin.execute(f"GRANT SELECT (name) ON employee_mls TO {role}")
    ((status, finding),) = smith_and_brown.admin.execute(named).fetchall()
    assert status == "problem"
    assert role in str(finding)
