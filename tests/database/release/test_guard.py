"""What was published is remembered: a release that can be subtracted from it is refused, with the classes named."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused

# ages 20 to 31, three people each; one more of age 25
PEOPLE = """
    CREATE TABLE person (id int, age int, town text, disease text);
    INSERT INTO person SELECT n, 20 + n % 12, 'x', 'd' || n % 7 FROM generate_series(0, 35) n;
    INSERT INTO person VALUES (36, 25, 'y', 'd0');
"""
ANONYMIZE = "SELECT discreet.anonymize('person', %s, %s, 3, sensitive => 'disease', max_suppression => {})"


@pytest.fixture
def people(admin: Connection) -> Connection:
    admin.execute(PEOPLE)
    return admin


def publish(connection: Connection, name: str, spec: str, most: float = 0) -> None:
    connection.execute(ANONYMIZE.format(most), [name, spec])


def cuts(*where: int) -> str:
    return f'{{"age": {{"ranges": [[{", ".join(map(str, where))}]]}}}}'


def test_the_same_again_is_no_danger_and_is_remembered(people: Connection) -> None:
    for name in ("first", "second"):
        publish(people, name, '{"age": {"intervals": [4]}}')
    rows = people.execute(
        "SELECT release, relation::text, kind, quasi_identifiers, sensitive, k, published, suppressed"
        " FROM discreet.releases ORDER BY at"
    ).fetchall()
    assert rows == [(f"public.{name}", "person", "table", ["age"], "disease", 3, 37, 0) for name in ("first", "second")]


def test_ranges_shifted_by_a_person_are_refused_with_the_classes_named(people: Connection) -> None:
    people.execute("UPDATE person SET age = 40 WHERE id = 36; UPDATE person SET age = 50 WHERE age < 30")
    # 30 and 31: three each, 40: one, 50: the others
    publish(people, "first", cuts(45))
    with refused("DP008", "together with release public.first fewer than 3 people can be told apart: 1 row", "forget"):
        publish(people, "second", cuts(35))
    with pytest.raises(Exception, match=r"\(age <45\) in public.first and \(age >=35\) in public.second"):
        publish(people, "second", cuts(35))
    assert people.execute("SELECT to_regclass('second')").fetchall() == [(None,)]
    assert people.execute("SELECT count(*) FROM discreet.releases").fetchall() == [(1,)]
    people.execute("SELECT discreet.forget_release('public.first')")
    publish(people, "second", cuts(35))


def test_who_is_left_out_of_the_second_is_what_remains_of_the_first(people: Connection) -> None:
    publish(people, "first", '{"age": {"intervals": [20]}, "town": {"tree": {"any": ["x", "y"]}}}')
    levels = people.execute("SELECT report -> 'columns' -> 1 ->> 'level' FROM discreet.releases").fetchall()
    assert levels == [("height 1 of the tree",)]
    with refused("DP008", "1 row (age 25, town any) in public.first and left out in public.second", ""):
        publish(people, "second", '{"age": "suppress", "town": "suppress"}', most=0.05)


def test_a_view_is_checked_too_and_minded_later(people: Connection) -> None:
    publish(people, "first", '{"age": {"intervals": [20]}, "town": {"tree": {"any": ["x", "y"]}}}')
    with refused("DP008", "left out in public.shown", ""):
        people.execute("SELECT discreet.create_release_view('shown', 'person', '{age,town}', 3)")
    people.execute("SELECT discreet.forget_release('public.first')")
    people.execute("SELECT discreet.create_release_view('shown', 'person', '{age,town}', 3)")
    with refused("DP008", "left out in public.shown and", ""):
        publish(people, "third", '{"age": {"intervals": [20]}, "town": {"tree": {"any": ["x", "y"]}}}')


def test_boxes_are_minded_as_levels_are(people: Connection) -> None:
    people.execute("DELETE FROM person WHERE id = 36")
    spec = '{"age": "auto", "town": "suppress"}'
    call = f"SELECT discreet.anonymize('person', %s, '{spec}', 4, method => 'mondrian')"
    people.execute(call, ["first"])
    people.execute(call, ["second"])
    people.execute("INSERT INTO person VALUES (99, 22, 'x', 'd0')")
    with refused("DP008", "less what is inside it leaves 1 row", "same levels"):
        people.execute(call, ["third"])


def test_who_came_since_would_show(people: Connection) -> None:
    publish(people, "first", '{"age": {"intervals": [4]}}')
    people.execute("INSERT INTO person VALUES (99, 22, 'x', 'd0')")
    with refused("DP008", "less what is inside it leaves 1 row", ""):
        publish(people, "second", '{"age": {"intervals": [4]}}')
    people.execute("INSERT INTO person SELECT 100 + n, 22, 'x', 'd1' FROM generate_series(1, 2) n")
    publish(people, "second", '{"age": {"intervals": [4]}}')


def test_what_was_made_by_a_column_that_is_gone_cannot_be_checked(people: Connection) -> None:
    publish(people, "first", '{"town": "suppress"}')
    people.execute("ALTER TABLE person DROP town")
    with refused("42703", 'person has no column "town" any more, by which public.first was made', "forget_release"):
        publish(people, "second", '{"age": "auto"}')


WISHES = [
    '{"intervals": [2.50]}',
    '{"intervals": [2.12345678901234567891]}',
    '{"ranges": [[3.0, 6]]}',
    '{"ranges": [[3.10]]}',
    '"auto"',
]


@pytest.mark.parametrize("wish", WISHES)
def test_numbers_of_a_definition_are_read_as_they_were_written(admin: Connection, wish: str) -> None:
    admin.execute("CREATE TABLE number AS SELECT (n % 80) / 10.0 AS a FROM generate_series(1, 800) n")
    for name in ("first", "second"):
        admin.execute(f"""SELECT discreet.anonymize('number', '{name}', '{{"a": {wish}}}', 50)""")
    levels = admin.execute("SELECT DISTINCT report -> 'columns' -> 0 ->> 'level' FROM discreet.releases").fetchall()
    assert len(levels) == 1
    assert levels[0][0] != "suppressed"
    # one row more in a class of both
    admin.execute("INSERT INTO number VALUES (0)")
    with refused("DP008", "less what is inside it leaves 1 row", "same levels"):
        admin.execute(f"""SELECT discreet.anonymize('number', 'third', '{{"a": {wish}}}', 50)""")


def test_boxes_are_cut_at_values_however_these_are_written(admin: Connection) -> None:
    admin.execute(
        "CREATE TABLE number AS SELECT a FROM unnest('{1.0,1.00,2.5,2.50,3,4}'::numeric[]) a, generate_series(1, 4)"
    )
    call = """SELECT discreet.anonymize('number', %s, '{"a": "suppress"}', 5, method => 'mondrian')"""
    admin.execute(call, ["first"])
    admin.execute("UPDATE number SET a = a::numeric(5,3) WHERE scale(a) = 1")
    admin.execute(call, ["second"])
    admin.execute("INSERT INTO number VALUES (1)")
    with refused("DP008", "less what is inside it leaves 1 row", "same levels"):
        admin.execute(call, ["third"])


def test_a_value_that_the_tree_of_an_earlier_release_lacks_is_told_with_its_name(people: Connection) -> None:
    people.execute("UPDATE person SET town = 'w' WHERE id % 2 = 1")
    publish(people, "first", '{"town": {"tree": {"any": {"here": ["x", "y"], "there": ["w"]}}}}')
    people.execute("INSERT INTO person SELECT 100 + n, 25, 'z', 'd0' FROM generate_series(1, 9) n")
    spec = '{"town": {"tree": {"any": {"here": ["x", "y"], "there": ["w", "z"]}}}}'
    with refused(
        "DP008", "person cannot be compared with release public.first: the tree of town lacks 'z'", "forget_release"
    ):
        publish(people, "second", spec)
    people.execute("SELECT discreet.forget_release('public.first')")
    publish(people, "second", spec)


def test_a_rolled_back_release_is_not_remembered(people: Connection) -> None:
    with people.transaction(force_rollback=True):
        publish(people, "first", '{"age": "auto"}')
    assert people.execute("SELECT count(*) FROM discreet.releases").fetchall() == [(0,)]
    assert people.execute("SELECT count(*) FROM discreet._release_class").fetchall() == [(0,)]


def test_a_release_view_follows_the_data(people: Connection) -> None:
    people.execute("SELECT discreet.create_release_view('shown', 'person', '{age}', 4, 'disease', keep => '{id}')")
    query = "SELECT DISTINCT age FROM shown ORDER BY age"
    assert people.execute(query).fetchall() == [(25,)]
    people.execute("INSERT INTO person VALUES (50, 20, 'x', 'd1')")
    assert people.execute(query).fetchall() == [(20,), (25,)]
    people.execute("DELETE FROM person WHERE id = 36")
    assert people.execute(query).fetchall() == [(20,)]
    assert people.execute("SELECT discreet.k_anonymity('shown', '{age}')").fetchall() == [(4,)]
    assert people.execute("SELECT attname FROM pg_attribute WHERE attrelid = 'shown'::regclass").fetchall() == [
        ("age",), ("disease",), ("id",),
    ]  # fmt: skip


def test_a_release_view_with_l_hides_classes_of_few_values(people: Connection) -> None:
    people.execute("UPDATE person SET disease = 'same' WHERE age = 20; UPDATE person SET disease = NULL WHERE id = 1")
    people.execute("SELECT discreet.create_release_view('shown', 'person', '{age}', 3, 'disease', l => 2)")
    shown = {age for (age,) in people.execute("SELECT age FROM shown").fetchall()}
    assert shown == set(range(21, 32))


def test_a_view_over_a_protected_table_says_who_reads_it_how(people: Connection) -> None:
    people.execute("SELECT discreet.protect('person', 'id', epsilon => 1, max_rows => 1)")
    heard = notices(people)
    people.execute("SELECT discreet.create_release_view('shown', 'person', '{age}', 3)")
    assert [message for _, message, _ in heard] == [
        "public.person is protected: analysts read public.shown through the gate"
    ]


def test_functions_of_a_reader_see_no_hidden_row(database: Database, people: Connection, make_role: MakeRole) -> None:
    role = make_role("rick")
    people.execute(f"SELECT discreet.create_release_view('shown', 'person', '{{age,town}}', 3, 'disease'); "
                   f"GRANT SELECT ON shown TO {role}; CREATE SCHEMA rick AUTHORIZATION {role}")  # fmt: skip
    rick = database.connect(role)
    rick.execute(
        "CREATE FUNCTION rick.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS"
        " $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
    )
    heard = notices(rick)
    rick.execute("SELECT count(*) FROM shown WHERE rick.leak(town)")
    assert {message for _, message, _ in heard} == {"x"}


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("create_release_view('v', 'person', '{}', 3)", "22023", "quasi_identifiers is empty"),
        ("create_release_view('v', 'person', '{age}', 1)", "22023", "k is 1, but must be at least 2"),
        ("create_release_view('v', 'person', '{age}', 3, l => 2)", "22023", "l and t are about a sensitive column"),
        ("create_release_view(NULL, 'person', '{age}', 3)", "22023", "name must not be NULL"),
        ("create_release_view('person', 'person', '{age}', 3)", "42710", "public.person is there already"),
        ("create_release_view('a.b.c', 'person', '{age}', 3)", "22023", "name is a.b.c, which is no name"),
        ("forget_release('nothing')", "42704", "there is no release nothing of yours"),
        ("forget_release(NULL)", "42704", "there is no release NULL of yours"),
        ("release_report('nothing')", "42704", "there is no released table nothing"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(people: Connection, call: str, code: str, message: str) -> None:
    with refused(code, message, ""):
        people.execute(f"SELECT discreet.{call}")


def test_only_who_published_may_forget(database: Database, people: Connection, make_role: MakeRole) -> None:
    publish(people, "first", '{"age": "auto"}')
    other = database.connect(make_role("otto", "discreet_curator"))
    with refused("42704", "there is no release public.first of yours", "by whom"):
        other.execute("SELECT discreet.forget_release('public.first')")


def test_only_who_may_read_the_table_sees_or_writes_what_was_published_of_it(
    database: Database, people: Connection, make_role: MakeRole
) -> None:
    publish(people, "first", '{"age": "auto"}')
    role = make_role("rita", "discreet_curator")
    rita = database.connect(role)
    claimed = """{"release": "public.never", "source": "public.person", "kind": "table", "quasi_identifiers": ["age"],
                  "k": 2, "definition": {"method": "view"}, "report": {}}"""
    read = "SELECT release FROM discreet._earlier_releases('public.person')"
    written = "SELECT discreet._remember_release(%s, '{}', '{}')"
    for query, parameters in ((read, []), (written, [claimed]), (written, [claimed.replace("person", "ghost")])):
        with refused("42501", "permission denied for public.", "you need SELECT on it"):
            rita.execute(query, parameters)
    assert people.execute("SELECT release FROM discreet.releases").fetchall() == [("public.first",)]
    people.execute(f"GRANT SELECT (age) ON person TO {role}; CREATE SCHEMA rita AUTHORIZATION {role}")
    assert rita.execute(read).fetchall() == [("public.first",)]
    rita.execute("CREATE TABLE rita.made (age int)")
    rita.execute(written, [claimed.replace("public.never", "rita.made")])
    assert people.execute("SELECT publisher FROM discreet.releases WHERE release = 'rita.made'").fetchall() == [(role,)]


def test_the_report_is_a_page(people: Connection) -> None:
    publish(people, "first", '{"age": "auto", "town": "suppress"}', most=0.1)
    for name in ("public.first", "first"):
        row = people.execute(
            "SELECT discreet.release_report(%s)", [name if "." in name else f"public.{name}"]
        ).fetchone()
        assert row is not None
        assert str(row[0]).startswith("<!DOCTYPE html>")
        assert "Release public.first" in str(row[0])
