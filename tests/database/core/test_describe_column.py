"""discreet.describe_column: bounds, categories and visibility of a column."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.databases import Connection
from tests.messages import refused

COLUMNS = "SELECT column_name, lower, upper, categories, visibility FROM discreet.protected_columns ORDER BY 1"

pytestmark = pytest.mark.usefixtures("person")


def test_a_number_gets_bounds(carol: Connection) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 9999.5)")
    assert carol.execute(COLUMNS).fetchall() == [("salary", Decimal(0), Decimal("9999.5"), None, "sensitive")]


@pytest.mark.parametrize("column", ["id", "salary", "born", "seen"])
def test_numbers_and_times_have_bounds(carol: Connection, column: str) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', %s, -5, 5)", [column])
    assert carol.execute(COLUMNS).fetchall() == [(column, Decimal(-5), Decimal(5), None, "sensitive")]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("dept", ["dept 0", "", "Zoë's", "a,b", '"', "NULL"]),
        ("id", ["1", "-2"]),
        ("smoker", ["true", "false"]),
        ("born", ["2000-01-01", "infinity"]),
        ("mood", ["glad", "sad"]),
    ],
)
def test_a_column_gets_categories(carol: Connection, column: str, values: list[str]) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', %s, categories => %s)", [column, values])
    assert carol.execute(COLUMNS).fetchall() == [(column, None, None, values, "sensitive")]


def test_describing_again_replaces_what_was_declared(carol: Connection) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 1, visibility => 'hidden')")
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', categories => '{1,2}')")
    assert carol.execute(COLUMNS).fetchall() == [("salary", None, None, ["1", "2"], "sensitive")]


@pytest.mark.parametrize("visibility", ["sensitive", "public", "hidden"])
def test_a_column_gets_a_visibility(carol: Connection, visibility: str) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', 'name', visibility => %s)", [visibility])
    assert carol.execute(COLUMNS).fetchall() == [("name", None, None, None, visibility)]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("'salary', 5, 3", "lower 5 is above upper 3", "Exchange them: lower is the smaller one."),
        ("'salary', 'NaN', 3", "lower is NaN, which bounds nothing", "Give a finite number."),
        ("'salary', 0, 'NaN'", "upper is NaN, which bounds nothing", "Give a finite number."),
        ("'salary', 0, 'Infinity'", "upper is Infinity, which bounds nothing", "Give a finite number."),
        ("'salary', '-Infinity', 0", "lower is -Infinity, which bounds nothing", "Give a finite number."),
        ("'salary', 0", "upper is missing", "Bounds come in pairs"),
        ("'salary', upper => 0", "lower is missing", "Bounds come in pairs"),
        ("'name', 0, 1", 'column "name" is of type text, which has no bounds', "Numbers, dates"),
        ("'mood', 0, 1", 'column "mood" is of type hr.mood, which has no bounds', "Numbers, dates"),
        (
            "'dept', categories => '{}'",
            "the list of categories is empty",
            "Give at least one, or NULL for none.",
        ),
        ("'dept', categories => '{a,NULL}'", "a category is NULL", "name only real values"),
        ("'dept', categories => '{a,b,a}'", "category 'a' is named twice", "Name each value once."),
        ("'dept', categories => '{{a,b},{c,d}}'", "categories is a list of lists", "Give one plain list"),
        (
            "'id', categories => '{1,one}'",
            "category 'one' is no value of column \"id\"",
            "as that type is written",
        ),
        (
            "'born', categories => '{2000-02-30}'",
            "category '2000-02-30' is no value",
            "as that type is written",
        ),
        (
            "'mood', categories => '{bored}'",
            "category 'bored' is no value of column \"mood\"",
            "values are: sad, glad.",
        ),
        (
            "'salary', categories => '{1,1.0}'",
            "categories '1' and '1.0' are the same value",
            "Name each value once.",
        ),
        (
            "'smoker', categories => '{true,false,t}'",
            "categories 'true' and 't' are the same value",
            "each value once",
        ),
        (
            "'name', visibility => 'secret'",
            "visibility is 'secret', which is not known",
            "'sensitive', 'public',",
        ),
        ("'name', visibility => NULL", "visibility is NULL, which is not known", "'sensitive', 'public',"),
        ("NULL", "column_name must not be NULL", "Give a value for column_name."),
    ],
)
def test_a_description_without_sense_is_refused(carol: Connection, arguments: str, message: str, hint: str) -> None:
    with refused("22023", message, hint):
        carol.execute(f"SELECT discreet.describe_column('hr.person', {arguments})")
    assert carol.execute(COLUMNS).fetchall() == []


@pytest.mark.parametrize("column", ["wage", "SALARY", "ctid"])
def test_an_unknown_column_is_refused(carol: Connection, column: str) -> None:
    with refused("42703", f'hr.person has no column "{column}"', "Its columns are: id, name, dept, salary,"):
        carol.execute("SELECT discreet.describe_column('hr.person', %s, 0, 1)", [column])


def test_no_table_is_refused(carol: Connection) -> None:
    with refused("22023", "relation must not be NULL", "Give a value for relation."):
        carol.execute("SELECT discreet.describe_column(NULL, 'salary', 0, 1)")


def test_a_type_of_fixed_length_has_categories_of_its_length(carol: Connection) -> None:
    # as a bare type name, "character" means a length of one, and all these would be the same
    carol.execute("ALTER TABLE hr.person ADD code character(3)")
    carol.execute("SELECT discreet.describe_column('hr.person', 'code', categories => '{abc,abd}')")
    assert carol.execute(COLUMNS).fetchall() == [("code", None, None, ["abc", "abd"], "sensitive")]


def test_values_are_compared_as_the_column_compares_them(carol: Connection) -> None:
    carol.execute("CREATE COLLATION hr.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    carol.execute("ALTER TABLE hr.person ADD town text COLLATE hr.any_case")
    with refused("22023", "categories 'Ulm' and 'ULM' are the same value", "Name each value once."):
        carol.execute("SELECT discreet.describe_column('hr.person', 'town', categories => '{Ulm,ULM}')")


def test_values_that_cannot_be_compared_are_no_categories(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person ADD notes json")
    with refused("22023", 'column "notes" is of type json, whose values cannot be compared', "can be grouped by"):
        carol.execute("SELECT discreet.describe_column('hr.person', 'notes', categories => '{1,2}')")


def test_a_domain_is_described_as_the_type_below_it(carol: Connection) -> None:
    carol.execute("CREATE DOMAIN hr.money AS numeric; CREATE DOMAIN hr.wage AS hr.money CHECK (VALUE > 0)")
    carol.execute("ALTER TABLE hr.person ADD wage hr.wage")
    carol.execute("SELECT discreet.describe_column('hr.person', 'wage', 0, 5)")
    with refused("22023", "category 'much' is no value of column \"wage\", which is of type numeric", "as that type"):
        carol.execute("SELECT discreet.describe_column('hr.person', 'wage', categories => '{much}')")


def test_the_check_of_a_domain_does_not_run_with_the_rights_of_the_owner_of_the_extension(
    carol: Connection, curator: str
) -> None:
    """A curator writes a CHECK that notes who runs it, hoping that describe_column casts to the domain."""
    carol.execute(
        """
        CREATE TABLE hr.seen (who name);
        CREATE FUNCTION hr.spy(value text) RETURNS boolean LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO hr.seen VALUES (current_user); RETURN true; END $$;
        CREATE DOMAIN hr.spied AS text CHECK (hr.spy(VALUE));
        ALTER TABLE hr.person ADD trap hr.spied;
        TRUNCATE hr.seen;
        """
    )
    carol.execute("SELECT discreet.describe_column('hr.person', 'trap', categories => '{a,b}')")
    assert carol.execute("SELECT DISTINCT who FROM hr.seen WHERE who <> %s", [curator]).fetchall() == []
    assert carol.execute(COLUMNS).fetchall() == [("trap", None, None, ["a", "b"], "sensitive")]


def test_types_of_users_have_no_categories_because_their_code_would_run(carol: Connection) -> None:
    """Their input functions would run as superuser, so of all types of users only enums have categories."""
    carol.execute("CREATE TYPE hr.place AS (x int); ALTER TABLE hr.person ADD place hr.place, ADD moods hr.mood[]")
    for column, words in (("place", "hr.place"), ("moods", "hr.mood[]")):
        with refused("22023", f"is of type {words}, for which categories cannot be listed", "Built-in types"):
            carol.execute("SELECT discreet.describe_column('hr.person', %s, categories => '{\"(1)\"}')", [column])


@pytest.mark.parametrize(
    ("column", "lower", "upper", "expected"),
    [
        ("born", "date '1970-01-11'", "date '1970-01-21'", (10, 20)),
        ("born", "'1970-01-11'", "'1970-01-21'", (10, 20)),
        ("born", "timestamptz '1970-01-11 23:00+00'", "timestamptz '1970-01-21 00:00+00'", (10, 20)),
        ("seen", "date '1970-01-02'", "date '1970-01-03'", (86400, 172800)),
        ("seen", "timestamptz '1970-01-01 00:00:01+00'", "timestamptz '1970-01-01 01:00:05+01'", (1, 5)),
        ("salary", "'0'", "'99.5'", (0, Decimal("99.5"))),
    ],
)
def test_dates_and_moments_are_bounds(
    carol: Connection, column: str, lower: str, upper: str, expected: tuple[object, object]
) -> None:
    carol.execute("SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'SQL, DMY'")
    carol.execute(f"SELECT discreet.describe_column('hr.person', %s, {lower}, {upper})", [column])
    assert carol.execute(COLUMNS).fetchall() == [(column, *expected, None, "sensitive")]


def test_bounds_without_an_end_are_none(carol: Connection) -> None:
    with refused("22023", "upper is 'infinity', which is no date", "Dates are written 2024-12-31"):
        carol.execute("SELECT discreet.describe_column('hr.person', 'born', date '2000-01-01', 'infinity')")
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', NULL, NULL, '{1,2}', others => '0')")
    assert carol.execute("SELECT categories, others FROM discreet.protected_columns").fetchall() == [(["1", "2"], "0")]
