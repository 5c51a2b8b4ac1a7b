"""discreet.add_rule: each row that is written is judged, by PostgreSQL itself."""

from __future__ import annotations

import pytest
from tests.databases import Connection
from tests.messages import refused

AGE = "SELECT discreet.add_rule('hr.staff', 'ages', 'NEW.age < 150')"
RAISE = "SELECT discreet.add_rule('hr.staff', 'rise', 'NEW.salary <= 2 * OLD.salary')"


@pytest.mark.usefixtures("staff")
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO hr.staff VALUES (9, 10), (10, 150)",
        "UPDATE hr.staff SET age = age * 4",
        "INSERT INTO hr.staff VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET age = 151",
        "MERGE INTO hr.staff s USING (VALUES (3)) v(id) ON s.id = v.id WHEN MATCHED THEN UPDATE SET age = 200",
        "WITH w AS (INSERT INTO hr.staff VALUES (9, 151) RETURNING id) SELECT * FROM w",
        "DO $$ BEGIN INSERT INTO hr.staff VALUES (9, 151); END $$",
    ],
)
def test_a_statement_with_a_row_that_breaks_a_rule_does_nothing(carol: Connection, statement: str) -> None:
    carol.execute(AGE)
    before = carol.execute("TABLE hr.staff ORDER BY id").fetchall()
    with refused("23514", 'a row of hr.staff breaks rule "ages"', "The rule is: (new.age < 150)"):
        carol.execute(statement)
    assert carol.execute("TABLE hr.staff ORDER BY id").fetchall() == before


@pytest.mark.usefixtures("staff")
def test_copy_is_judged(carol: Connection) -> None:
    carol.execute(AGE)
    with (
        refused("23514", 'breaks rule "ages"', "new.age"),
        carol.cursor().copy("COPY hr.staff (id, age) FROM STDIN") as copy,
    ):
        copy.write("10\t20\n11\t151\n")


@pytest.mark.usefixtures("staff")
def test_a_rule_over_both_rows_judges_updates(carol: Connection) -> None:
    carol.execute(RAISE)
    carol.execute("INSERT INTO hr.staff VALUES (9, 1, 100000)")
    carol.execute("UPDATE hr.staff SET salary = 200 WHERE id = 1")
    with refused("23514", 'breaks rule "rise"', "new.salary"):
        carol.execute("UPDATE hr.staff SET salary = 401 WHERE id = 1")
    carol.execute("DELETE FROM hr.staff")


@pytest.mark.usefixtures("staff")
def test_a_rule_over_the_old_row_judges_what_may_be_changed_or_deleted(carol: Connection) -> None:
    carol.execute("SELECT discreet.add_rule('hr.staff', 'chief stays', $$OLD.position <> 'CEO'$$)")
    carol.execute("DELETE FROM hr.staff WHERE id = 2")
    for statement in ("DELETE FROM hr.staff", "UPDATE hr.staff SET salary = 1"):
        with refused("23514", 'breaks rule "chief stays"', "old.\"position\" <> 'CEO'::text"):
            carol.execute(statement)


@pytest.mark.usefixtures("staff")
def test_null_breaks_no_rule_as_it_breaks_no_check(carol: Connection) -> None:
    carol.execute(AGE)
    carol.execute("INSERT INTO hr.staff (id) VALUES (9)")


@pytest.mark.usefixtures("staff")
def test_what_other_triggers_and_generated_columns_make_of_a_row_is_judged(carol: Connection) -> None:
    carol.execute("SELECT discreet.add_rule('hr.staff', 'doubles', 'NEW.double < 1000')")
    carol.execute(
        """
        CREATE FUNCTION hr.richer() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.salary := 9999; RETURN NEW; END';
        CREATE TRIGGER zz BEFORE INSERT ON hr.staff FOR EACH ROW EXECUTE FUNCTION hr.richer();
        """
    )
    with refused("23514", 'breaks rule "doubles"', "new.double"):
        carol.execute("INSERT INTO hr.staff VALUES (9, 1, 1)")


def test_who_may_write_but_not_read_is_judged_too(carol: Connection, writer: Connection) -> None:
    carol.execute(AGE)
    writer.execute("INSERT INTO hr.staff VALUES (9, 1)")
    with refused("23514", 'breaks rule "ages"', "new.age"):
        writer.execute("INSERT INTO hr.staff VALUES (10, 151)")


@pytest.mark.usefixtures("staff")
def test_rows_that_break_a_new_rule_are_found(carol: Connection) -> None:
    with refused("23514", 'rows of hr.staff break rule "young" already', "Correct them first"):
        carol.execute("SELECT discreet.add_rule('hr.staff', 'young', 'NEW.age < 40')")
    assert carol.execute("SELECT * FROM discreet.rules").fetchall() == []


@pytest.mark.usefixtures("staff")
def test_rules_are_listed_and_dropped(carol: Connection) -> None:
    carol.execute(AGE)
    carol.execute("SELECT discreet.add_limit('hr.staff', 'chief', $$position = 'CEO'$$, 1)")
    listed = "SELECT relation::text, name, kind, rule, at_most FROM discreet.rules ORDER BY name"
    assert carol.execute(listed).fetchall() == [
        ("hr.staff", "ages", "rule", "(new.age < 150)", None),
        ("hr.staff", "chief", "limit", "new.\"position\" = 'CEO'::text", 1),
    ]
    carol.execute("SELECT discreet.drop_rule('hr.staff', 'ages'), discreet.drop_rule('hr.staff', 'chief')")
    assert carol.execute(listed).fetchall() == []
    carol.execute("INSERT INTO hr.staff VALUES (9, 500, 1, 'CEO')")
    assert carol.execute("SELECT count(*) FROM pg_indexes WHERE tablename = 'staff'").fetchone() == (1,)
    with refused("42704", 'hr.staff has no rule "ages"', "discreet.rules"):
        carol.execute("SELECT discreet.drop_rule('hr.staff', 'ages')")


@pytest.mark.usefixtures("staff")
@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("add_rule('hr.staff', 'ages', 'NEW.age < 1')", "42710", 'has a rule "ages" already'),
        ("add_limit('hr.staff', 'ages', 'age < 1', 1)", "42710", 'has a rule "ages" already'),
        (
            "add_rule('hr.staff', 'x', 'NEW.age + 1')",
            "42P17",
            'rule "x" cannot be used: argument of IS FALSE must be type',
        ),
        ("add_rule('hr.staff', 'x', 'NEW.age > NEW.born')", "42P17", "operator does not exist: integer > date"),
        ("add_rule('hr.staff', 'x', NULL)", "22023", "rule must not be NULL"),
        ("add_rule('hr.staff', NULL, 'NEW.age > 1')", "22023", "name must not be NULL"),
        ("add_rule(NULL, 'x', 'NEW.age > 1')", "22023", "relation must not be NULL"),
        ("add_rule('hr.seen', 'x', 'NEW.age > 1')", "42809", "hr.seen is no ordinary or multilevel table"),
        ("add_rule('pg_class', 'x', 'NEW.age > 1')", "42501", "does not own pg_catalog.pg_class"),
        ("add_rule('hr.child', 'x', 'NEW.age > 1')", "42809", "hr.child inherits"),
        ("add_rule('hr.mother', 'x', 'NEW.age > 1')", "42809", "hr.mother inherits"),
        ("add_limit('hr.staff', 'x', 'born < now()', 1)", "42P17", 'limit "x" cannot be used: functions in index'),
        ("add_limit('hr.staff', 'x', 'age > 1', -1)", "22023", "at_most is -1"),
        ("add_limit('hr.staff', 'x', 'age > 1', NULL)", "22023", "at_most must not be NULL"),
        ("add_limit('hr.staff', 'x', 'age', 1)", "42P17", "must be type boolean"),
    ],
)
def test_what_makes_no_sense_is_said(carol: Connection, call: str, code: str, message: str) -> None:
    carol.execute(AGE)
    carol.execute("CREATE VIEW hr.seen AS TABLE hr.staff; CREATE TABLE hr.mother (age int)")
    carol.execute("CREATE TABLE hr.child () INHERITS (hr.mother)")
    with refused(code, message, ""):
        carol.execute(f"SELECT discreet.{call}")
    assert carol.execute("SELECT count(*) FROM discreet.rules").fetchone() == (1,)


@pytest.mark.usefixtures("staff")
def test_rules_may_use_what_only_computes(carol: Connection) -> None:
    for number, rule in enumerate(
        [
            "NEW.born < CURRENT_DATE AND extract(year FROM NEW.born) > 1900",
            "lower(NEW.position) ~ '^[a-z]+$' COLLATE \"C\"",
            "to_char(NEW.born, 'YYYY') <> '1999' AND trim(NEW.position) <> ''",
            "NEW.position LIKE 'c%' ESCAPE '!' OR NEW.position = ANY ('{CEO,x}'::text[])",
            "NEW.born IS DISTINCT FROM OLD.born OR NEW.born + interval '1 day' > OLD.born",
        ]
    ):
        carol.execute("SELECT discreet.add_rule('hr.staff', %s, %s)", [str(number), rule])
    carol.execute("INSERT INTO hr.staff VALUES (9, 1, 1, 'clerk', '2000-01-01')")
    with refused("23514", 'breaks rule "0"', "CURRENT_DATE"):
        carol.execute("INSERT INTO hr.staff VALUES (10, 1, 1, 'clerk', 'infinity')")
