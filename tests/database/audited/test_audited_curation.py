"""What curators declare about audited tables, see of them, and can undo."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused
from tests.payroll import Payroll

FEMALE, WITH = "SELECT sum(salary) FROM hr.employee WHERE gender = 'F'", "SELECT sum(salary) FROM hr.employee"


def test_an_audited_table_needs_no_price(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (id int PRIMARY KEY, x int NOT NULL)")
    admin.execute("SELECT discreet.protect('t', unit => 'id', policy => 'audited', min_group => 5)")
    assert admin.execute("SELECT dataset, policy, min_group FROM discreet.protected_tables").fetchall() == [
        ("public.t", "audited", 5)
    ]


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE t (id int NOT NULL, x int)",
        "CREATE TABLE t (id int UNIQUE, x int)",
        "CREATE TABLE t (id int PRIMARY KEY, x int); CREATE TABLE child () INHERITS (t)",
        "CREATE TABLE t (id int PRIMARY KEY, x int) PARTITION BY LIST (id)",
        "CREATE TABLE whole (id int PRIMARY KEY, x int) PARTITION BY LIST (id);"
        "CREATE TABLE t PARTITION OF whole FOR VALUES IN (1)",
    ],
)
def test_everybody_has_one_row_of_one_table(admin: Connection, table: str) -> None:
    admin.execute(table)
    with pytest.raises(psycopg.Error, match="cannot be audited"):
        admin.execute("SELECT discreet.protect('t', unit => 'id', policy => 'audited')")
    assert admin.execute("SELECT count(*) FROM discreet._audit").fetchall() == [(0,)]


def test_a_table_that_loses_its_key_is_no_longer_answered(payroll: Payroll) -> None:
    payroll.admin.execute("ALTER TABLE hr.employee DROP CONSTRAINT employee_pkey")
    try:
        assert payroll.ending(WITH) == "DP001"
    finally:
        payroll.admin.execute("ALTER TABLE hr.employee ADD PRIMARY KEY (id)")


def test_a_child_table_ends_the_answers(payroll: Payroll) -> None:
    payroll.admin.execute("CREATE TABLE hr.child () INHERITS (hr.employee)")
    try:
        assert payroll.ending(WITH) == "DP001"
    finally:
        payroll.admin.execute("DROP TABLE hr.child")


def test_known_people_hide_nobody(payroll: Payroll) -> None:
    question = "SELECT sum(salary) FROM hr.employee WHERE id BETWEEN 20 AND 29"
    assert payroll.explain(question)["answered"]
    payroll.admin.execute("SELECT discreet.audit_known('hr.employee', '25')")
    assert payroll.ending(question) == "DP006"
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE id BETWEEN 20 AND 30") == "answer"


def test_a_known_person_may_be_left_out(payroll: Payroll) -> None:
    """All people are fine, and a known one tells nothing by being absent; two are one too many."""
    payroll.admin.execute("SELECT discreet.audit_known('hr.employee', '25')")
    assert payroll.ending(WITH) == "answer"
    assert payroll.ending(f"{WITH} WHERE id <> 25") == "answer"
    assert payroll.ending(f"{WITH} WHERE id NOT IN (25, 26)") == "DP006"


@pytest.mark.parametrize("value", ["x", "1.5", None])
def test_a_known_person_is_a_value_of_the_unit(payroll: Payroll, value: str | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        payroll.admin.execute("SELECT discreet.audit_known('hr.employee', %s)", [value])
    assert caught.value.sqlstate == "22023"


UNITS = [
    ("char(4)", "lpad(n::text, 4, 'x')", "xx25", ""),
    ("varchar(4)", "n", "25", ""),
    ("date", "date '2020-01-01' + n", "26.01.2020", "SET datestyle = German"),
    ("date", "date '2020-01-01' + n", "26/01/2020", "SET datestyle = 'SQL, DMY'"),
    (
        "timestamptz",
        "timestamptz '2020-01-01Z' + n * interval '1 day'",
        "2020-01-26 01:00",
        "SET timezone = 'Etc/GMT-1'",
    ),
    ("interval", "n * interval '1 hour'", "PT25H", "SET intervalstyle = iso_8601"),
    ("float8", "n + 1 / 3::float8", "25.333333333333332", "SET extra_float_digits = -3"),
]


@pytest.mark.parametrize(("unit", "values", "known", "settings"), UNITS)
def test_a_known_person_is_found_whatever_the_unit_is(
    database: Database, admin: Connection, make_role: MakeRole, unit: str, values: str, known: str, settings: str
) -> None:
    admin.execute(f"CREATE TABLE t (id {unit} PRIMARY KEY, n int NOT NULL, x numeric NOT NULL)")
    admin.execute(f"INSERT INTO t SELECT ({values})::{unit}, n, n FROM generate_series(1, 60) n")
    admin.execute("SELECT discreet.protect('t', unit => 'id', policy => 'audited', min_group => 10)")
    admin.execute("SELECT discreet.describe_column('t', 'n', visibility => 'public')")
    role = make_role("ana", "discreet_analyst")
    admin.execute(f"SELECT discreet.grant_budget('public.t', '{role}', 1)")
    analyst = database.connect(role)
    question = "SELECT sum(x) FROM t WHERE n BETWEEN 20 AND {}"
    assert analyst.execute("SELECT discreet.explain(%s)->'answered'", [question.format(29)]).fetchall() == [(True,)]
    admin.execute(settings or "SELECT 1")
    admin.execute("SELECT discreet.audit_known('t', %s)", [known])
    assert analyst.execute("SELECT discreet.explain(%s)->'answered'", [question.format(29)]).fetchall() == [(False,)]
    assert analyst.execute(question.format(30)).fetchall() == [(275,)]


def test_row_security_that_is_forced_but_not_enabled_hides_nothing(
    database: Database, admin: Connection, make_role: MakeRole
) -> None:
    owner, role = make_role("olga", "discreet_curator"), make_role("ana", "discreet_analyst")
    admin.execute(f"CREATE SCHEMA own AUTHORIZATION {owner}; GRANT USAGE ON SCHEMA own TO {role}")
    curator = database.connect(owner)
    curator.execute("CREATE TABLE own.t AS SELECT n AS id, n AS x FROM generate_series(1, 60) n")
    curator.execute("ALTER TABLE own.t ADD PRIMARY KEY (id), ALTER x SET NOT NULL, FORCE ROW LEVEL SECURITY")
    curator.execute("SELECT discreet.protect('own.t', unit => 'id', policy => 'audited', min_group => 10)")
    curator.execute(f"SELECT discreet.grant_budget('own.t', '{role}', 1)")
    analyst = database.connect(role)
    assert analyst.execute("SELECT sum(x) FROM own.t").fetchall() == [(1830,)]
    curator.execute("ALTER TABLE own.t ENABLE ROW LEVEL SECURITY")
    with refused("DP001", "cannot read all of own.t", "row security"):
        analyst.execute("SELECT sum(x) FROM own.t")


def test_the_state_tells_what_was_asked(payroll: Payroll) -> None:
    payroll.ask("SELECT gender, avg(salary) FROM hr.employee GROUP BY gender", "ana")
    payroll.ask("SELECT sum(salary), sum(bonus) FROM hr.employee WHERE age < 40", "bob")
    payroll.ask("SELECT sum(salary) FROM hr.employee", "bob")
    assert payroll.truth("SELECT * FROM discreet.audit_state('hr.employee')") == [
        ("salary", 4, 3, 4, 50, ["ana", "bob"]),
        ("bonus", 1, 1, 1, 100, ["bob"]),
    ]


def test_a_reset_forgets_and_is_logged(payroll: Payroll) -> None:
    assert payroll.ending(FEMALE) == "answer"
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7") == "DP006"
    payroll.admin.execute("SELECT discreet.audit_reset('hr.employee', 'salaries of a new year')")
    assert payroll.truth("SELECT * FROM discreet.audit_state('hr.employee')") == []
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7") == "answer"
    ((reason,),) = payroll.truth(
        "SELECT details->>'audit_reset' FROM discreet.charges WHERE details ? 'audit_reset' ORDER BY id DESC LIMIT 1"
    )
    assert reason == "salaries of a new year"


@pytest.mark.parametrize("reason", ["", "  ", None])
def test_a_reset_needs_a_reason(payroll: Payroll, reason: str | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        payroll.admin.execute("SELECT discreet.audit_reset('hr.employee', %s)", [reason])
    assert caught.value.sqlstate == "22023"


def test_a_table_that_is_not_audited_has_no_state(payroll: Payroll) -> None:
    for call in ("audit_state('hr.site')", "audit_known('hr.site', 'x')", "audit_reset('hr.site', 'x')"):
        with pytest.raises(psycopg.Error) as caught:
            payroll.admin.execute(f"SELECT discreet.{call}")
        assert caught.value.sqlstate == "42704"


def test_taking_the_protection_off_and_on_forgets_nothing(payroll: Payroll) -> None:
    assert payroll.ending(FEMALE) == "answer"
    columns = payroll.truth("SELECT column_name, lower, upper, visibility FROM discreet.protected_columns")
    payroll.admin.execute(
        "SELECT discreet.unprotect('hr.employee');"
        "SELECT discreet.protect('hr.employee', 'id', 'hr.employee', policy => 'audited', min_group => 10)"
    )
    for name, lower, upper, visibility in columns:
        payroll.admin.execute(
            "SELECT discreet.describe_column('hr.employee', %s, %s, %s, visibility => %s)",
            [name, lower, upper, visibility],
        )
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7") == "DP006"


def test_a_dropped_table_takes_its_history_along(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (id int PRIMARY KEY, x int NOT NULL)")
    admin.execute("SELECT discreet.protect('t', unit => 'id', policy => 'audited')")
    admin.execute("SELECT discreet.audit_known('t', '1')")
    admin.execute("DROP TABLE t")
    assert admin.execute(
        "SELECT (SELECT count(*) FROM discreet._audit), (SELECT count(*) FROM discreet._audit_known)"
    ).fetchall() == [(0, 0)]
