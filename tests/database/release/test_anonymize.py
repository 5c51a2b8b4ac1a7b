"""anonymize: what is written keeps its promise, whatever the table; what does not is never left behind."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from tests.database.release.test_measure import AGES
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused

PEOPLE = """
    CREATE SCHEMA hr;
    CREATE TABLE hr.person (
        name text, age int, zip text, sex text, job text, born date, salary numeric, disease text);
    INSERT INTO hr.person
    SELECT 'name ' || n, 18 + n * n % 61, (ARRAY['02139', '02142', '94105', '94110'])[1 + n * 7 % 13 % 4],
           (ARRAY['m', 'f'])[1 + n / 3 % 2], (ARRAY['nurse', 'doctor', 'smith', 'poet'])[1 + n / 5 % 4],
           date '1950-01-01' + n * 37, n * 11, (ARRAY['flu', 'cold', 'ulcer', 'gout', 'cancer'])[1 + n * n % 11 % 5]
    FROM generate_series(1, 600) n;
"""
SPEC = {
    "age": {"intervals": [5, 10, 20]},
    "zip": {"digits": 5},
    "sex": "suppress",
    "job": {"tree": {"any": {"medical": ["nurse", "doctor"], "other": ["smith", "poet"]}}},
}
KEYS = list(SPEC)
CALL = "SELECT discreet.anonymize('hr.person', 'hr.released', %s, {})"


@pytest.fixture
def people(admin: Connection) -> Connection:
    admin.execute(PEOPLE)
    return admin


def anonymized(connection: Connection, arguments: str, spec: object = SPEC) -> dict[str, Any]:
    row = connection.execute(CALL.format(arguments), [json.dumps(spec)]).fetchone()
    assert row is not None
    assert isinstance(row[0], dict)
    return row[0]


def one(connection: Connection, query: str, *parameters: object) -> Any:
    row = connection.execute(query, parameters).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_the_release_has_what_the_report_says(people: Connection, method: str) -> None:
    report = anonymized(people, f"k => 4, l => 3, t => 0.4, sensitive => 'disease', method => '{method}'")
    measured = people.execute("SELECT * FROM discreet.measure('hr.released', %s, '{disease}')", [KEYS]).fetchall()
    values = {name: value for name, _, value in measured}
    assert (report["k"], report["l"], report["t"]) == (values["k"], values["distinct l"], values["equal t"])
    assert values["k"] >= 4
    assert values["distinct l"] >= 3
    assert values["equal t"] <= 0.4
    assert report["published"] == one(people, "SELECT count(*) FROM hr.released") >= 0.95 * 600
    assert report["suppressed"] == 600 - report["published"]
    assert report["classes"] == one(people, "SELECT count(DISTINCT (age, zip, sex, job)) FROM hr.released")
    assert 0 < report["loss"] < 1
    assert [column["column"] for column in report["columns"]] == ["age", "zip", "sex", "job"]
    assert report["why"]


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_only_what_was_named_is_published(people: Connection, method: str) -> None:
    anonymized(people, f"k => 5, sensitive => 'disease', keep => '{{salary}}', method => '{method}'")
    columns = people.execute(
        "SELECT attname, atttypid::regtype::text FROM pg_attribute"
        " WHERE attrelid = 'hr.released'::regclass AND attnum > 0 ORDER BY attnum"
    ).fetchall()
    assert [name for name, _ in columns] == ["age", "zip", "sex", "job", "disease", "salary"]
    assert dict(columns)["salary"] == "numeric"  # type: ignore[index]
    total = one(people, "SELECT sum(salary) FROM hr.released r")
    assert total <= one(people, "SELECT sum(salary) FROM hr.person")


def test_values_of_a_class_hold_those_of_its_rows(people: Connection) -> None:
    """Salaries are all different here, so rows of the release can be told apart."""
    report = anonymized(people, "k => 5, keep => '{salary}', max_suppression => 0")
    assert report["suppressed"] == 0
    rows = people.execute(
        "SELECT p.age, r.age, p.zip, r.zip FROM hr.released r JOIN hr.person p USING (salary)"
    ).fetchall()
    assert len(rows) == 600
    for age, shown_age, zip_code, shown_zip in rows:
        if shown_age != "*":
            low, _, high = str(shown_age).partition("-")
            assert int(low) <= int(str(age)) <= int(high or low)
        assert str(zip_code).startswith(str(shown_zip).rstrip("*"))


def test_boxes_hold_their_rows(people: Connection) -> None:
    anonymized(people, "k => 5, keep => '{salary}', method => 'mondrian'", {"age": "auto", "born": "auto"})
    wrong = one(
        people,
        """
        SELECT count(*) FROM hr.released r JOIN hr.person p USING (salary)
        WHERE r.age <> '*' AND NOT p.age BETWEEN split_part(r.age, '-', 1)::int
                                         AND coalesce(nullif(split_part(r.age, '-', 2), ''), r.age)::int
           OR r.born <> '*' AND NOT p.born BETWEEN split_part(r.born, ' to ', 1)::date
                                           AND coalesce(nullif(split_part(r.born, ' to ', 2), ''), r.born)::date
        """,
    )
    assert (wrong, one(people, "SELECT count(*) FROM hr.released")) == (0, 600)
    assert one(people, "SELECT discreet.k_anonymity('hr.released', '{age,born}')") >= 5


def test_columns_that_stay_as_they_are_keep_their_type(people: Connection) -> None:
    report = anonymized(people, "k => 2", {"age": {"intervals": [5]}})
    assert report["columns"] == [{"column": "age", "level": "as it is", "loss": 0}]
    assert one(people, "SELECT pg_typeof(age)::text FROM hr.released LIMIT 1") == "integer"


def test_null_and_odd_values_are_published_as_such(admin: Connection) -> None:
    admin.execute(
        """
        CREATE TABLE "Ж ""t" ("a b" numeric, "c""d" text, e timestamptz, s text);
        INSERT INTO "Ж ""t" SELECT CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE n % 8 + 0.5 END,
            CASE WHEN n % 2 = 0 THEN E'it''s {"x", \\\\ }' END,
            timestamptz '2001-01-01 12:00+00' + n * interval '9 days', n::text FROM generate_series(1, 64) n
        """
    )
    spec = json.dumps({"a b": "auto", 'c"d': None, "e": {"truncate": ["month", "year"]}})
    for method in ("optimal", "mondrian"):
        query = """SELECT discreet.anonymize('"Ж ""t"', '"r %s"', '{}', 3, sensitive => 's', l => 3, method => '{}')"""
        admin.execute(query.replace("%s", method).replace("'{}', 3", "%s, 3").format(method), [spec])
        admin.execute(f"""SELECT discreet.forget_release('public."r {method}"')""")
        nulls = one(admin, f'SELECT count(*) FROM "r {method}" WHERE "a b" IS NULL')
        assert nulls in (0, 16)
        assert one(admin, f"""SELECT discreet.k_anonymity('"r {method}"', ARRAY['a b', 'c"d', 'e'])""") >= 3


def test_row_order_tells_nothing(people: Connection) -> None:
    written = []
    for order in ("salary", "salary DESC", "born, salary"):
        people.execute(f"CREATE TABLE shuffled AS SELECT * FROM hr.person ORDER BY {order}")
        people.execute("TRUNCATE hr.person; INSERT INTO hr.person TABLE shuffled")
        anonymized(people, "k => 5, sensitive => 'disease', keep => '{salary}'")
        written.append(people.execute("TABLE hr.released").fetchall())
        people.execute("DROP TABLE hr.released, shuffled; SELECT discreet.forget_release('hr.released')")
    assert written[0] == written[1] == written[2]
    assert len(set(written[0])) > 100


def test_the_smallest_loss_is_found(admin: Connection) -> None:
    admin.execute(AGES)
    spec = json.dumps({"age": {"intervals": [10]}, "province": {"tree": {"Canada": ["ON", "BC"]}}})
    report = one(admin, "SELECT discreet.anonymize('person', 'r', %s, 2)", spec)
    assert [column["level"] for column in report["columns"]] == ["intervals of 10", "as it is"]
    assert (report["k"], report["suppressed"]) == (2, 0)
    assert report["risk_before"]["sample uniques"] == 18
    assert report["risk"]["sample uniques"] == 0


def test_best_ranges_finds_those_of_the_example(admin: Connection) -> None:
    admin.execute(AGES)
    query = (
        "SELECT range_from, range_to, smallest_class FROM discreet.best_ranges('person', 'age', 3, '{province}', 20)"
    )
    assert admin.execute(query).fetchall() == [(20, 26, 3), (27, 35, 3), (36, 49, 3)]
    spec = json.dumps({"age": {"ranges": [[20, 27, 36]]}, "province": "suppress"})
    assert one(admin, "SELECT discreet.anonymize('person', 'r', %s, 3)", spec)["k"] == 3
    shown = admin.execute("SELECT DISTINCT age FROM r ORDER BY 1").fetchall()
    assert shown == [("20-26",), ("27-35",), (">=36",)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("'person', 'province', 2", "province is text, not a number"),
        ("'person', 'age', 0", "ranges is 0, but must be at least 1"),
        ("'person', 'age', 99", "13 values cannot make 99 ranges"),
        ("'person', 'age', 3, lower => 30", "values of age go from 21 to 49"),
        ("'person', NULL, 3", "column_name must not be NULL"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(admin: Connection, call: str, message: str) -> None:
    admin.execute(AGES)
    with refused("22023", message, ""):
        admin.execute(f"SELECT * FROM discreet.best_ranges({call})")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("k => 1", "22023", "k is 1, but must be at least 2"),
        ("k => 3, l => 2", "22023", "l and t are about a sensitive column"),
        ("k => 3, t => 2, sensitive => 'disease'", "22023", "t is 2.0, which is no distance"),
        ("k => 3, max_suppression => 1", "22023", "max_suppression is 1.0, which is no share"),
        ("k => 3, method => 'fast'", "22023", "method is 'fast', which is not known"),
        ("k => 3, sensitive => 'age'", "22023", 'column "age" is named twice'),
        ("k => 3, keep => '{ghost}'", "42703", 'hr.person has no column "ghost"'),
        ("k => 601", "22023", "the table has 600 rows, fewer than k = 601"),
        ("k => 601, method => 'mondrian'", "22023", "the table has 600 rows, fewer than k = 601"),
        ("k => 3, l => 6, sensitive => 'disease'", "22023", "the sensitive column has fewer than l = 6 values"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(
    people: Connection, arguments: str, code: str, message: str
) -> None:
    with refused(code, message, ""):
        anonymized(people, arguments)
    assert one(people, "SELECT to_regclass('hr.released')") is None


@pytest.mark.parametrize("spec", [{}, [], "age", {"age": {"widths": [3]}}])
def test_what_is_no_specification_is_refused(people: Connection, spec: object) -> None:
    with refused("22023", "", ""):
        anonymized(people, "k => 3", spec)


def test_a_name_that_is_taken_is_refused(people: Connection) -> None:
    people.execute("CREATE VIEW hr.released AS SELECT 1 AS a")
    with refused("42710", "hr.released is there already", "Choose another name"):
        anonymized(people, "k => 3")
    with refused("42704", "there is no schema for nowhere.x", "CREATE SCHEMA"):
        people.execute("SELECT discreet.anonymize('hr.person', 'nowhere.x', '{\"age\": \"auto\"}', 3)")


def test_a_release_that_misses_its_claim_is_not_left_behind(people: Connection) -> None:
    """Whatever goes wrong between search and table: here an event trigger empties classes behind its back."""
    people.execute(
        """
        CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF to_regclass('hr.released') IS NOT NULL THEN
                DELETE FROM hr.released WHERE ctid = (SELECT min(ctid) FROM hr.released);
            END IF;
        END $$;
        CREATE EVENT TRIGGER spoil ON ddl_command_end WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION spoil();
        """
    )
    people.execute("DELETE FROM hr.person WHERE age > 21")
    k = one(people, "SELECT discreet.k_anonymity('hr.person', '{age}')")
    with refused("DP008", f"the release misses k = {k}", "Nothing was written"):
        anonymized(people, f"k => {k}, max_suppression => 0", {"age": {"ranges": [[99]]}})
    assert one(people, "SELECT to_regclass('hr.released')") is None


def test_the_search_can_be_cancelled(people: Connection) -> None:
    people.execute("INSERT INTO hr.person SELECT p.* FROM hr.person p, generate_series(1, 40) n")
    people.execute("SET statement_timeout = '50ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        anonymized(people, "k => 5", {**SPEC, "born": "auto", "salary": "auto"})
    people.execute("RESET statement_timeout")
    assert one(people, "SELECT to_regclass('hr.released')") is None


@pytest.mark.parametrize("made", ["_discreet_cell", "released"])
def test_what_is_cancelled_leaves_nothing(people: Connection, made: str) -> None:
    """Before the search, and after the table is written: an event trigger cancels as soon as a table is there."""
    people.execute(
        f"""
        CREATE FUNCTION cancel() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity LIKE '%.{made}') THEN
                PERFORM pg_cancel_backend(pg_backend_pid());
            END IF;
        END $$;
        CREATE EVENT TRIGGER cancel ON ddl_command_end WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION cancel();
        """
    )
    with pytest.raises(psycopg.errors.QueryCanceled):
        anonymized(people, "k => 5")
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_discreet\\_%%' OR relname = 'released'"
    assert one(people, left) == 0
    assert one(people, "SELECT count(*) FROM discreet.releases") == 0
    people.execute("DROP EVENT TRIGGER cancel")
    assert anonymized(people, "k => 5")["k"] >= 5


def test_nothing_but_the_release_is_left(people: Connection) -> None:
    heard = notices(people)
    with people.transaction():
        anonymized(people, "k => 5")
        assert one(people, "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_discreet%%'") == 0
    assert heard == []


def test_who_publishes_needs_to_read_the_table_and_to_create_the_other(
    database: Database, people: Connection, make_role: MakeRole
) -> None:
    role = make_role("pia", "discreet_curator")
    pia = database.connect(role)
    people.execute(f"GRANT USAGE ON SCHEMA hr TO {role}")
    with refused("42501", "permission denied for hr.person", "you need SELECT on it"):
        anonymized(pia, "k => 5")
    people.execute(f"GRANT SELECT (age, zip, sex, job) ON hr.person TO {role}")
    with refused("42501", "permission denied for schema hr", None):
        anonymized(pia, "k => 5")
    people.execute(f"GRANT CREATE ON SCHEMA hr TO {role}")
    anonymized(pia, "k => 5")
    assert one(people, "SELECT relowner::regrole::text FROM pg_class WHERE oid = 'hr.released'::regclass") == role
