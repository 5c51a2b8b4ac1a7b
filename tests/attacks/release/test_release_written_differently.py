"""Differencing behind another look: what was left out of a first release is the rest of a second.

By then values are written otherwise, so that the classes of the first seem to be gone.
"""

from __future__ import annotations

import pytest
from tests.databases import Connection
from tests.messages import refused

COLLATION = "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
# three people of one value, three of another, and one alone, who is left out of the first release
PEOPLE = """
    CREATE TABLE person (a {type}, disease text);
    INSERT INTO person SELECT a::{type}, 'd' || row_number() OVER () FROM unnest(ARRAY{values}) AS a
"""
FIRST = "SELECT discreet.anonymize('person', 'one', '{\"a\": %s}', 2, sensitive => 'disease', max_suppression => 0.2)"
# all in one class
SECOND = "SELECT discreet.anonymize('person', 'two', '{\"a\": \"suppress\"}', 7, sensitive => 'disease')"
DISGUISES = {
    "digits of floats": ("float8", "0.30000000000000004 2.1 3.3", "SET extra_float_digits = 0"),
    "style of intervals": ("interval", "1d 36h 90d", "SET intervalstyle = 'iso_8601'"),
    "days as hours": ("interval", "1d 2d 9d", "UPDATE person SET a = '24 hours' WHERE a = '1 day'"),
    "bytes": ("bytea", r"\x01 \x02 \x03", "SET bytea_output = 'escape'"),
    "another scale": ("numeric", "1.0 2.5 3", "UPDATE person SET a = a::numeric(10,2)"),
    "another type of numbers": ("numeric", "1.0 2.5 3", "ALTER TABLE person ALTER a TYPE numeric(10,3)"),
    "negative zero": ("float8", "0 2.1 3.3", "UPDATE person SET a = '-0' WHERE a = 0"),
    "letters": ("text COLLATE caseless", "ann bob zoe", "UPDATE person SET a = upper(a)"),
    "words of any length": ("varchar", "ann bob zoe", "ALTER TABLE person ALTER a TYPE text"),
    "larger numbers": ("int", "1 2 3", "ALTER TABLE person ALTER a TYPE bigint"),
}


def published(connection: Connection, type_name: str, values: list[str], wish: str = '"suppress"') -> None:
    connection.execute(COLLATION)
    listed = ", ".join(f"'{value}'" for value in values)
    connection.execute(PEOPLE.format(type=type_name, values=f"[{listed}]"))
    connection.execute(FIRST.replace("%s", wish))
    assert connection.execute("SELECT count(*) FROM one").fetchall() == [(6,)]


def crowd(values: str) -> list[str]:
    one, other, alone = values.split()
    return [one] * 3 + [other] * 3 + [alone]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_values_are_compared_however_they_are_written(admin: Connection, disguise: str) -> None:
    type_name, values, change = DISGUISES[disguise]
    published(admin, type_name, crowd(values))
    admin.execute(change)
    with refused("DP008", "1 row left out in public.one and (a *) in public.two", "forget_release"):
        admin.execute(SECOND)


def test_another_row_may_stand_for_all_of_a_class(admin: Connection) -> None:
    published(admin, "numeric", ["1.0", "1.00", "1.000", "2", "2", "2", "3"])
    admin.execute("UPDATE person SET disease = disease WHERE scale(a) = 1")
    with refused("DP008", "1 row left out in public.one and (a *) in public.two", "forget_release"):
        admin.execute(SECOND)


@pytest.mark.parametrize(
    "wish", ['{"digits": 3}', '{"tree": {"any": {"early": ["abe", "ann", "bea", "bob"], "late": ["zoe"]}}}']
)
def test_levels_that_are_made_from_texts_know_the_values_behind_them(admin: Connection, wish: str) -> None:
    published(admin, "text COLLATE caseless", ["abe", "ann", "ann", "bea", "bob", "bob", "zoe"], wish)
    admin.execute("UPDATE person SET a = upper(a)")
    with refused("DP008", "1 row left out in public.one and (a *) in public.two", "forget_release"):
        admin.execute(SECOND)


def test_levels_that_are_made_from_texts_know_them_after_another_scale(admin: Connection) -> None:
    published(admin, "numeric(6,2)", ["9.51", "9.52", "9.51", "8.51", "8.52", "8.51", "7.5"], '{"digits": 4}')
    admin.execute("ALTER TABLE person ALTER a TYPE numeric(6,3)")
    with refused("DP008", "1 row left out in public.one and (a *) in public.two", "forget_release"):
        admin.execute(SECOND)


def test_a_column_of_another_type_cannot_be_compared(admin: Connection) -> None:
    published(admin, "date", crowd("2020-01-01 2020-02-01 2020-03-01"))
    admin.execute("ALTER TABLE person ALTER a TYPE timestamp")
    with refused("DP008", 'column "a" was of type date, and is of type timestamp without time zone', "forget_release"):
        admin.execute(SECOND)
    admin.execute("SELECT discreet.forget_release('public.one')")
    admin.execute(SECOND)


def test_a_value_that_is_none_any_more_cannot_be_compared(admin: Connection) -> None:
    admin.execute("CREATE TYPE town AS ENUM ('x', 'y', 'z')")
    published(admin, "town", crowd("x y z"))
    admin.execute("ALTER TYPE town RENAME VALUE 'x' TO 'new'")
    with refused("DP008", 'release public.one: column "a": invalid input value for enum public.town', "forget_release"):
        admin.execute(SECOND)


def test_a_column_that_was_suppressed_and_has_one_value_now_is_suppressed_still(admin: Connection) -> None:
    admin.execute("CREATE TABLE person (a int, b text, disease text)")
    admin.execute(
        "INSERT INTO person SELECT CASE n WHEN 7 THEN 3 ELSE n % 2 END, 'b' || n, 'd' || n FROM generate_series(1, 7) n"
    )
    admin.execute(
        """SELECT discreet.anonymize('person', 'one', '{"a": {"ranges": [[3]]}, "b": "suppress"}', 2,
           sensitive => 'disease', max_suppression => 0.2)"""
    )
    assert admin.execute("SELECT DISTINCT b FROM one").fetchall() == [("*",)]
    admin.execute("UPDATE person SET b = 'same'")
    with refused("DP008", "1 row left out in public.one and (a *) in public.two", "forget_release"):
        admin.execute(SECOND)


def test_a_class_that_is_empty_by_now_blocks_nothing(admin: Connection) -> None:
    admin.execute(PEOPLE.format(type="numeric", values=["1.0"] * 7 + ["2.0"] * 7))
    admin.execute(FIRST.replace("%s", '"suppress"'))
    admin.execute("DELETE FROM person WHERE a = 1")
    admin.execute(SECOND)
    assert admin.execute("SELECT count(*) FROM two").fetchall() == [(7,)]


def test_words_with_quotes_and_backslashes_are_values_too(admin: Connection) -> None:
    published(admin, "text", [r"""a"b\c{},''""", "NULL", r"\x41"] * 2 + ["zoe"])
    with refused("DP008", "1 row left out in public.one and (a *) in public.two", "forget_release"):
        admin.execute(SECOND)
