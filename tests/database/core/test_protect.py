"""discreet.protect: puts a table about people under a policy."""

from __future__ import annotations

from decimal import Decimal

import pytest
from psycopg import sql
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused

PROTECTED = "SELECT relation::text, dataset, unit, policy FROM discreet.protected_tables ORDER BY 1"


def test_a_table_gets_a_dataset_of_its_own(carol: Connection) -> None:
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1, delta => 1e-6)")
    assert carol.execute(PROTECTED).fetchall() == [("hr.person", "hr.person", "id", "noisy")]
    limits = carol.execute("SELECT dataset, epsilon_limit, delta_limit FROM discreet.datasets").fetchall()
    assert limits == [("hr.person", Decimal(1), Decimal("0.000001"))]


def test_a_table_joins_an_existing_dataset(carol: Connection, person: str) -> None:
    assert carol.execute(PROTECTED).fetchall() == [("hr.person", "people", "id", "noisy")]


def test_all_that_is_declared_is_shown(carol: Connection) -> None:
    carol.execute(
        "SELECT discreet.protect('hr.person', 'id', epsilon => 1, policy => 'personal', max_groups => 3,"
        " max_rows => 2, max_epsilon => 0.5, max_delta => 1e-7, unit_epsilon => 0.25, min_group => 7)"
    )
    shown = carol.execute(
        "SELECT policy, max_groups, max_rows, max_epsilon, max_delta, unit_epsilon, min_group, fallback,"
        " direct_readers FROM discreet.protected_tables"
    ).fetchall()
    assert shown == [("personal", 3, 2, Decimal("0.5"), Decimal("1e-7"), Decimal("0.25"), 7, None, [])]


def test_a_bound_on_all_rows_of_a_person_is_shown_last(carol: Connection) -> None:
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1, max_rows => 5, max_total_rows => 9)")
    shown = carol.execute("SELECT * FROM discreet.protected_tables")
    assert [column.name for column in shown.description or ()][-2:] == ["protected_at", "max_total_rows"]
    assert [row[-1] for row in shown.fetchall()] == [9]


def test_a_superuser_protects_a_table_of_others(admin: Connection, curator: str) -> None:
    admin.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    assert len(admin.execute(PROTECTED).fetchall()) == 1


def test_an_audited_table_can_fall_back_to_noise(carol: Connection) -> None:
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1, policy => 'audited', fallback => 'noisy')")
    assert carol.execute("SELECT policy, fallback FROM discreet.protected_tables").fetchall() == [("audited", "noisy")]


def test_a_public_table_has_neither_unit_nor_dataset(carol: Connection) -> None:
    carol.execute("SELECT discreet.protect('hr.person', NULL, policy => 'public')")
    assert carol.execute(PROTECTED).fetchall() == [("hr.person", None, None, "public")]


@pytest.mark.parametrize("unit", ["person", "ID", "id ", "ctid", "tableoid", "", "........pg.dropped.1........"])
def test_a_unit_that_is_not_a_column_is_refused(carol: Connection, unit: str) -> None:
    carol.execute("ALTER TABLE hr.person ADD gone int; ALTER TABLE hr.person DROP gone")
    with refused("42703", f'hr.person has no column "{unit}"', "Its columns are: id, name, dept, salary, born,"):
        carol.execute("SELECT discreet.protect('hr.person', %s, epsilon => 1, max_rows => 1)", [unit])


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("NULL, 'id', epsilon => 1", "relation must not be NULL", "Give a value for relation."),
        ("'hr.person', NULL, epsilon => 1", "unit must not be NULL", "only policy 'public' goes without"),
        (
            "'hr.person', 'id'",
            "neither a dataset nor an epsilon is given",
            "epsilon => the total budget of a new one",
        ),
        ("'hr.person', 'id', epsilon => 'NaN'", "epsilon is NaN, which is not a budget", "0.1 to 10"),
        ("'hr.person', 'id', epsilon => -1", "epsilon is -1, which is not a budget", "0.1 to 10"),
        ("'hr.person', 'id', epsilon => 1, delta => 1", "delta is 1, which is not a probability", "1e-6"),
        (
            "'hr.person', 'id', epsilon => 1, policy => 'open'",
            "policy is 'open', which is not known",
            "'noisy',",
        ),
        ("'hr.person', 'id', epsilon => 1, policy => NULL", "policy is NULL, which is not known", "'noisy',"),
        (
            "'hr.person', 'id', epsilon => 1, max_groups => 0",
            "max_groups is 0, but must be at least 1",
            "from 1 on",
        ),
        (
            "'hr.person', 'id', epsilon => 1, max_rows => -1",
            "max_rows is -1, but must be at least 1",
            "from 1 on",
        ),
        (
            "'hr.person', 'id', epsilon => 1, max_total_rows => 0",
            "max_total_rows is 0, but must be at least 1",
            "from 1 on",
        ),
        (
            "'hr.person', 'id', epsilon => 1, policy => 'personal', unit_epsilon => 1, max_total_rows => 5",
            "max_total_rows belongs to policy 'noisy', not to 'personal'",
            "Leave max_total_rows out",
        ),
        (
            "'hr.person', 'id', epsilon => 1, policy => 'audited', max_total_rows => 5",
            "max_total_rows belongs to policy 'noisy', not to 'audited'",
            "Leave max_total_rows out",
        ),
        (
            "'hr.person', NULL, policy => 'public', max_total_rows => 5",
            "max_total_rows belongs to policy 'noisy', not to 'public'",
            "Leave max_total_rows out",
        ),
        (
            "'hr.person', 'id', epsilon => 1, min_group => 1",
            "min_group is 1, but must be at least 2",
            "from 2 on",
        ),
        ("'hr.person', 'id', epsilon => 1, max_epsilon => 'NaN'", "max_epsilon is NaN", "0.1 to 10"),
        ("'hr.person', 'id', epsilon => 1, max_delta => -1", "max_delta is -1", "1e-6"),
        (
            "'hr.person', 'id', epsilon => 1, policy => 'personal'",
            "unit_epsilon must not be NULL",
            "Give a value",
        ),
        (
            "'hr.person', 'id', epsilon => 1, unit_epsilon => 1",
            "belongs to policy 'personal'",
            "Leave unit_epsilon",
        ),
        (
            "'hr.person', 'id', epsilon => 1, fallback => 'noisy'",
            "belongs to policy 'audited'",
            "Leave fallback",
        ),
        ("'hr.person', 'id', policy => 'public'", "a public table has no unit", "names the person"),
        (
            "'hr.person', NULL, policy => 'public', epsilon => 1",
            "a public table belongs to no dataset",
            "Leave",
        ),
    ],
)
def test_a_policy_of_no_known_meaning_is_refused(carol: Connection, arguments: str, message: str, hint: str) -> None:
    with refused("22023", message, hint):
        carol.execute(f"SELECT discreet.protect({arguments})")
    assert carol.execute("SELECT FROM discreet.datasets").fetchall() == []


def test_a_dataset_comes_with_its_own_limits(carol: Connection) -> None:
    carol.execute("SELECT discreet.create_dataset('people', 1)")
    with refused("22023", "dataset and epsilon are both given", "leave epsilon and delta out"):
        carol.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'people', epsilon => 1)")


def test_an_unknown_dataset_is_refused_with_those_there_are(carol: Connection) -> None:
    with refused("42704", 'there is no dataset "nobody"', "Make one with discreet.create_dataset"):
        carol.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'nobody')")
    carol.execute("SELECT discreet.create_dataset('people', 1)")
    with refused("42704", 'there is no dataset "nobody"', "There are: people."):
        carol.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'nobody')")


def test_a_table_is_protected_once(carol: Connection, person: str) -> None:
    with refused("42710", "hr.person is protected already", "call discreet.unprotect() first"):
        carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")


@pytest.mark.parametrize(
    ("made", "name", "words", "hint"),
    [
        (
            "CREATE VIEW hr.it AS SELECT * FROM hr.person",
            "hr.it",
            "a view",
            "Protect the tables that it reads from.",
        ),
        (
            "CREATE MATERIALIZED VIEW hr.it AS SELECT 1 AS id",
            "hr.it",
            "a materialized view",
            "Protect the tables",
        ),
        ("CREATE SEQUENCE hr.it", "hr.it", "a sequence", "Name an ordinary or partitioned table."),
        (
            "CREATE INDEX it ON hr.person (name)",
            "hr.it",
            "an index",
            "Name an ordinary or partitioned table.",
        ),
        (
            "CREATE TYPE hr.it AS (id int)",
            "hr.it",
            "a composite type",
            "Name an ordinary or partitioned table.",
        ),
    ],
)
def test_what_is_no_table_is_not_protected(carol: Connection, made: str, name: str, words: str, hint: str) -> None:
    carol.execute(made)
    with refused("42809", f"{name} is {words}; only tables are protected", hint):
        carol.execute("SELECT discreet.protect(%s, 'id', epsilon => 1)", [name])


def test_a_foreign_table_is_not_protected(admin: Connection) -> None:
    admin.execute("CREATE FOREIGN DATA WRAPPER far; CREATE SERVER away FOREIGN DATA WRAPPER far")
    admin.execute("CREATE FOREIGN TABLE distant (id int) SERVER away")
    with refused("42809", "public.distant is a foreign table", "Name an ordinary or partitioned table."):
        admin.execute("SELECT discreet.protect('distant', 'id', epsilon => 1)")


@pytest.mark.parametrize(
    "name", ["pg_authid", "pg_catalog.pg_class", "information_schema.sql_features", "discreet._budget"]
)
def test_a_system_table_is_not_protected(admin: Connection, name: str) -> None:
    with refused("42809", "is a system table; only tables of yours are protected", "decided by GRANT alone"):
        admin.execute("SELECT discreet.protect(%s, 'oid', epsilon => 1)", [name])


def test_a_temporary_table_is_not_protected(admin: Connection) -> None:
    admin.execute("CREATE TEMP TABLE scratch (id int)")
    with refused("42809", "is a temporary table; only permanent tables are protected", "its own session only"):
        admin.execute("SELECT discreet.protect('scratch', 'id', epsilon => 1)")


@pytest.mark.parametrize("number", [0, 987654321])
def test_a_number_that_is_no_table_is_refused(admin: Connection, number: int) -> None:
    with refused("42704", "there is no relation", "Name an ordinary or partitioned table."):
        admin.execute("SELECT discreet.protect(%s::oid::regclass, 'id', epsilon => 1)", [number])


@pytest.mark.parametrize(
    ("schema", "table", "unit"),
    [
        ("My Schema", 'the "best".table', 'per"son'),
        ("sélect", "Tëst 人", "имя"),
        ("select", "from", "where"),
        ("s'; --", "%I %s $1 :oid::oid", "{0}\\"),
    ],
)
def test_any_identifier_can_be_protected(admin: Connection, schema: str, table: str, unit: str) -> None:
    names = {"s": sql.Identifier(schema), "t": sql.Identifier(table), "u": sql.Identifier(unit)}
    admin.execute(sql.SQL("CREATE SCHEMA {s}; CREATE TABLE {s}.{t} ({u} int, x int)").format(**names))
    qualified = sql.SQL("{s}.{t}").format(**names).as_string(admin)
    admin.execute("SELECT discreet.protect(%s, %s, epsilon => 1, max_rows => 1)", [qualified, unit])
    admin.execute("SELECT discreet.describe_column(%s, %s, 0, 1)", [qualified, unit])
    same = admin.execute("SELECT relation = %s::regclass, dataset, unit FROM discreet.protected_tables", [qualified])
    assert same.fetchall() == [(True, f"{schema}.{table}", unit)]
    assert admin.execute("SELECT column_name FROM discreet.protected_columns").fetchall() == [(unit,)]
    admin.execute("SELECT discreet.unprotect(%s)", [qualified])


def test_a_partitioned_table_is_protected(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.visit (person int, day date) PARTITION BY RANGE (day)")
    carol.execute("CREATE TABLE hr.visit_24 PARTITION OF hr.visit FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')")
    carol.execute("SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_rows => 1)")
    assert carol.execute(PROTECTED).fetchall() == [("hr.visit", "hr.visit", "person", "noisy")]


def test_a_table_that_inherits_is_protected(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.guest (until date) INHERITS (hr.person)")
    carol.execute("SELECT discreet.protect('hr.guest', 'id', epsilon => 1, max_rows => 1)")
    assert carol.execute(PROTECTED).fetchall() == [("hr.guest", "hr.guest", "id", "noisy")]


def test_protecting_revokes_nothing_and_tells_who_can_still_read(
    carol: Connection, database: Database, make_role: MakeRole
) -> None:
    reader, column_reader = make_role("reader"), make_role("Column Reader")
    carol.execute(f"GRANT USAGE ON SCHEMA hr TO {reader}; GRANT SELECT ON hr.person TO {reader}, PUBLIC")
    carol.execute(f'GRANT SELECT (name) ON hr.person TO "{column_reader}"; GRANT INSERT ON hr.person TO {reader}')
    heard = notices(carol)
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    readers = f'"{column_reader}", PUBLIC, {reader}'
    assert heard == [
        (
            "NOTICE",
            f"hr.person is protected, but can still be read directly by: {readers}",
            f"Nothing was revoked. To close it: REVOKE SELECT ON hr.person FROM {readers};",
        )
    ]
    assert len(database.connect(reader).execute("SELECT FROM hr.person").fetchall()) == 20


def test_the_hint_that_closes_the_table_does(carol: Connection, make_role: MakeRole) -> None:
    reader = make_role("reader")
    carol.execute(f"GRANT SELECT ON hr.person TO {reader}, PUBLIC; GRANT SELECT (name) ON hr.person TO {reader}")
    heard = notices(carol)
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    carol.execute(str(heard[0][2]).partition("To close it: ")[2])
    assert carol.execute("SELECT direct_readers FROM discreet.protected_tables").fetchall() == [([],)]


def test_who_can_read_a_part_of_the_table_is_told_too(carol: Connection, make_role: MakeRole) -> None:
    reader = make_role("reader")
    carol.execute("CREATE TABLE hr.visit (person int, day date) PARTITION BY RANGE (day)")
    carol.execute("CREATE TABLE hr.visit_24 PARTITION OF hr.visit FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')")
    carol.execute(f"GRANT SELECT ON hr.visit_24 TO {reader}")
    heard = notices(carol)
    carol.execute("SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_rows => 1)")
    assert heard[0][1] == f"hr.visit is protected, but can still be read directly by: {reader}"


def test_nothing_is_told_when_only_the_owner_can_read(carol: Connection, curator: str) -> None:
    carol.execute(f"GRANT SELECT ON hr.person TO {curator}; GRANT INSERT ON hr.person TO PUBLIC")
    heard = notices(carol)
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    assert heard == []


def test_a_rolled_back_protection_leaves_nothing(database: Database, curator: str) -> None:
    connection = database.connect(curator, autocommit=False)
    connection.execute("SAVEPOINT here")
    connection.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    connection.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 1)")
    connection.execute("ROLLBACK TO here")
    connection.commit()
    for view in ("datasets", "protected_tables", "protected_columns", "budget_status"):
        assert connection.execute(f"SELECT FROM discreet.{view}").fetchall() == []


def test_a_rolled_back_unprotecting_leaves_all_as_it_was(database: Database, curator: str, person: str) -> None:
    connection = database.connect(curator, autocommit=False)
    connection.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 1)")
    connection.commit()
    connection.execute("SELECT discreet.unprotect('hr.person')")
    connection.rollback()
    assert connection.execute(PROTECTED).fetchall() == [("hr.person", "people", "id", "noisy")]
    assert connection.execute("SELECT column_name FROM discreet.protected_columns").fetchall() == [("salary",)]


def test_unprotecting_forgets_the_columns_but_not_what_was_spent(admin: Connection, person: str) -> None:
    admin.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 1)")
    admin.execute("UPDATE discreet._budget SET amount_spent = 0.5")
    admin.execute("SELECT discreet.unprotect('hr.person')")
    assert admin.execute("SELECT FROM discreet.protected_columns").fetchall() == []
    assert admin.execute(PROTECTED).fetchall() == []
    assert admin.execute("SELECT epsilon_left FROM discreet.budget_status").fetchall() == [(Decimal("1.5"),)]


def test_protecting_anew_goes_on_with_what_was_spent(admin: Connection, curator: str) -> None:
    admin.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    admin.execute("UPDATE discreet._budget SET amount_spent = 0.5")
    admin.execute("SELECT discreet.unprotect('hr.person')")
    with refused("42710", 'dataset "hr.person" exists already, with what was spent on it', "to go on with it"):
        admin.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    admin.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'hr.person')")
    assert admin.execute("SELECT epsilon_left FROM discreet.budget_status").fetchall() == [(Decimal("0.5"),)]


@pytest.mark.parametrize("function", ["unprotect('hr.person')", "describe_column('hr.person', 'salary', 0, 1)"])
def test_what_is_not_protected_cannot_be_described_or_unprotected(carol: Connection, function: str) -> None:
    with refused("42704", "hr.person is not protected", "Call discreet.protect() first."):
        carol.execute(f"SELECT discreet.{function}")


def test_unprotecting_nothing_is_refused(carol: Connection) -> None:
    with refused("22023", "relation must not be NULL", "Give a value for relation."):
        carol.execute("SELECT discreet.unprotect(NULL)")


def test_a_fresh_dataset_does_not_forgive_what_the_people_of_a_table_have_spent(carol: Connection, person: str) -> None:
    carol.execute("SELECT discreet.unprotect('hr.person'); SELECT discreet.create_dataset('fresh', 1)")
    with refused("22023", 'hr.person was protected in dataset "people" before', "Give dataset => 'people'"):
        carol.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'fresh')")
    with refused("22023", 'hr.person was protected in dataset "people" before', "Give dataset => 'people'"):
        carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    carol.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'people')")


def test_a_superuser_moves_a_table_to_another_dataset(admin: Connection, person: str) -> None:
    admin.execute("SELECT discreet.unprotect('hr.person')")
    admin.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    assert admin.execute(PROTECTED).fetchall() == [("hr.person", "hr.person", "id", "noisy")]


def test_a_unit_whose_values_have_no_hash_is_refused(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.purse (owner money, x int)")
    with refused("22023", "cannot tell people apart", "uuid"):
        carol.execute("SELECT discreet.protect('hr.purse', 'owner', epsilon => 1, max_rows => 1)")
