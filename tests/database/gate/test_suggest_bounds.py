"""discreet.suggest_bounds: bounds for columns of which nothing is known, paid and refused like a question.

At epsilon 20 each end has 10, and a scale of 0.2 ranks: the bin chosen is more than 0.2 (ln 641 + 18) < 5 ranks from
holding the rank wanted with probability below exp(-18) < 2e-8. Tests that compare with the data pay as much, and ask
for fewer than ten ends each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from psycopg.types.range import Range
from tests.database.gate.conftest import Asker
from tests.databases import MakeRole
from tests.messages import notices, refused

from discreet.gate.bins import CalendarBins, LogarithmicBins

WILD = """
    CREATE TABLE hr.wild (
        id int PRIMARY KEY, badge int UNIQUE, small smallint, whole int, large bigint, exact numeric, single real,
        double float8, of_text text, day date, nothing int, secret int, "Odd ""name" int);
    INSERT INTO hr.wild
    SELECT n, n, n % 100, n - 3000, 3000000000000000 + n, 3 + n / 1000.0, -3000 - n, exp(n / 200.0), n::text,
           DATE '2020-01-01' + n, NULL, n, 100 + n
    FROM generate_series(1, 4000) n;
    UPDATE hr.wild SET exact = 'NaN', single = 'NaN', double = 'NaN' WHERE id = 1;
    UPDATE hr.wild SET exact = 'Infinity', single = '-Infinity', double = 'Infinity' WHERE id = 2;
    UPDATE hr.wild SET exact = NULL, double = NULL WHERE id = 3;
    UPDATE hr.wild SET exact = 1e400 WHERE id = 4;
    SELECT discreet.protect('hr.wild', 'id', dataset => 'staff');
    SELECT discreet.describe_column('hr.wild', 'secret', visibility => 'hidden');
    CREATE TABLE hr.many (who int, x numeric);
    INSERT INTO hr.many SELECT n, n % 90 + 10 FROM generate_series(1, 3000) n;
    INSERT INTO hr.many SELECT 7, 1e12 FROM generate_series(1, 5000) n;
    SELECT discreet.protect('hr.many', 'who', dataset => 'staff', max_rows => 3);
    CREATE TABLE hr.none (id int PRIMARY KEY, x int);
    SELECT discreet.protect('hr.none', 'id', dataset => 'staff');
    CREATE TABLE hr.open (id int PRIMARY KEY, x int);
    GRANT SELECT ON hr.open TO PUBLIC;
"""
AWAY = """
    SELECT discreet.unprotect('hr.wild'), discreet.unprotect('hr.many'), discreet.unprotect('hr.none');
    DROP TABLE hr.wild, hr.many, hr.none, hr.open;
"""


@pytest.fixture(scope="module")
def wild(gate_database: Asker) -> Iterator[Asker]:
    gate_database.admin.execute(WILD)
    yield gate_database
    gate_database.admin.execute(AWAY)


@pytest.fixture
def analyst(wild: Asker) -> Asker:
    wild.reset()
    return wild


def suggested(asker: Asker, table: str, column: str | None, epsilon: object = 20) -> Range[Decimal]:
    asked = "SELECT discreet.suggest_bounds(%s, %s, %s::numeric)"
    ((found,),) = asker.connection.execute(asked, [table, column, epsilon]).fetchall()
    return found


@pytest.mark.parametrize(
    ("column", "bounds"),
    [
        ("small", "[0,200]"),
        ("whole", "[-5000,2000]"),
        ("large", "[2000000000000000,5000000000000000]"),
        ("exact", "[2,10]"),
        ("single", "[-10000,-2000]"),
        ("double", "[1,500000000]"),
        ('Odd "name', "[100,5000]"),
    ],
)
def test_bounds_hold_all_but_a_few_values_and_are_readable(analyst: Asker, column: str, bounds: str) -> None:
    """The rank wanted is 20 of 4000, give or take 5: no readable number lies in between."""
    found = suggested(analyst, "hr.wild", column)
    assert f"[{found.lower:f},{found.upper:f}]" == bounds
    assert found.bounds == "[]"


def test_bounds_leave_room_for_almost_everybody(analyst: Asker) -> None:
    """Outside are 1 %, and five ranks at each end; Gaussian accounting is better at this price than the other."""
    found = suggested(analyst, "census.person", "income", 10)
    outside = f"NOT income BETWEEN {found.lower} AND {found.upper}"
    ((left, everybody),) = analyst.truth(f"SELECT count(*) FILTER (WHERE {outside}), count(*) FROM census.person")
    assert left <= everybody / 100 + 10
    assert analyst.spent("inhabitants") == 50


def test_no_right_to_use_the_schema_is_needed(analyst: Asker) -> None:
    analyst.admin.execute("REVOKE USAGE ON SCHEMA hr FROM PUBLIC")
    asked = (
        "SELECT discreet.suggest_bounds(relation, 'whole', 20) FROM discreet.protected_tables"
        " WHERE relation::text = 'hr.wild'"
    )
    try:
        ((found,),) = analyst.connection.execute(asked).fetchall()
        assert found.lower == -5000
    finally:
        analyst.admin.execute("GRANT USAGE ON SCHEMA hr TO PUBLIC")


def test_a_person_with_very_many_rows_has_no_more_say_than_the_policy_allows(analyst: Asker) -> None:
    found = suggested(analyst, "hr.many", "x")
    assert (found.lower, found.upper) == (10, 200)


@pytest.mark.parametrize(("table", "column"), [("hr.none", "x"), ("hr.wild", "nothing")])
def test_without_values_there_is_an_answer_too(analyst: Asker, table: str, column: str) -> None:
    found = suggested(analyst, table, column, 1)
    assert -(2 * 10**18) <= found.lower <= found.upper <= 2 * 10**18  # type: ignore[operator]


def test_it_is_paid_once_told_and_written_down(analyst: Asker) -> None:
    heard = notices(analyst.connection)
    first = suggested(analyst, "hr.wild", "whole", "0.5")
    assert suggested(analyst, "hr.wild", "whole", "0.5") == first
    assert analyst.spent("staff") == Decimal("0.5")
    assert "epsilon 0.5 spent; epsilon left for you 999.5" in str(heard[0][1])
    assert "free of charge" in str(heard[1][1])
    charges = analyst.connection.execute("SELECT role, epsilon, question FROM discreet.charges").fetchall()
    question = "SELECT discreet.suggest_bounds('hr.wild', 'whole', 0.5)"
    assert charges == [(analyst.role, Decimal("0.5"), question)]


def test_a_curator_uses_them_with_a_budget(analyst: Asker, make_role: MakeRole) -> None:
    curator = Asker(analyst.database, make_role("curator", "discreet_curator"))
    with refused("DP004", "you hold no budget for the people of hr.wild", "discreet.grant_budget('staff'"):
        suggested(curator, "hr.wild", "whole")
    analyst.admin.execute("SELECT discreet.grant_budget('staff', %s, 20)", [curator.role])
    assert suggested(curator, "hr.wild", "whole").lower == -5000
    analyst.admin.execute("SELECT discreet.revoke_budget('staff', %s)", [curator.role])


def test_a_superuser_without_a_budget_is_refused_as_by_the_gate(analyst: Asker) -> None:
    with refused("DP004", "you hold no budget for the people of hr.wild", "discreet.grant_budget('staff'"):
        analyst.admin.execute("SELECT discreet.suggest_bounds('hr.wild', 'whole', 1)")


@pytest.mark.parametrize(
    ("code", "table", "column", "epsilon", "message", "hint"),
    [
        ("DP001", "hr.wild", "of_text", 1, "which holds no numbers", "Only numbers, dates and timestamps"),
        ("DP001", "hr.wild", "secret", 1, "there is no column secret", "Hidden and system columns"),
        ("DP001", "hr.wild", "ctid", 1, "there is no column ctid", "Hidden and system columns"),
        ("DP001", "hr.wild", "nowhere", 1, "there is no column nowhere", "Hidden and system columns"),
        ("DP002", "hr.wild", "id", 1, "column id for bounds singles out a person", "groups of people"),
        ("DP002", "hr.wild", "badge", 1, "column badge for bounds singles out a person", "groups of people"),
        ("DP002", "hr.many", "who", 1, "column who for bounds singles out a person", "groups of people"),
        ("DP001", "hr.open", "x", 1, "bounds of hr.open, which is not protected", "discreet.protect()"),
        ("42704", "discreet._budget", "role", 1, "there is no table discreet._budget", ""),
        ("DP004", "hr.secret", "id", 1, "you hold no budget for the people of hr.secret", "grant_budget('others'"),
        ("22023", "hr.wild", "whole", 0, "epsilon must be positive", "0.01"),
        ("22023", "hr.wild", "whole", "NaN", "epsilon must be finite", ""),
        ("22023", "hr.wild", "whole", None, "epsilon must not be NULL", ""),
        ("22023", "hr.wild", None, 1, "column_name must not be NULL", ""),
        ("DP003", "hr.wild", "whole", 100, "the budget of", "budget_status"),
    ],
)
def test_it_is_refused_before_anything_is_paid(
    analyst: Asker, code: str, table: str, column: str | None, epsilon: object, message: str, hint: str
) -> None:
    if code == "DP003":
        analyst.admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit - 1 WHERE dataset = 'staff'")
    before = analyst.spent("staff")
    with refused(code, message, hint):
        suggested(analyst, table, column, epsilon)
    assert analyst.spent("staff") == before
    written = [(code,)] if code.startswith("DP") else []
    assert analyst.connection.execute("SELECT code FROM discreet.refusals").fetchall() == written


def test_a_cap_per_question_binds(analyst: Asker) -> None:
    analyst.admin.execute("UPDATE discreet._protected_table SET max_epsilon = 0.5 WHERE dataset = 'staff'")
    try:
        with refused("DP001", "epsilon 1 is more than the 0.5 that one question may cost", "Give less."):
            suggested(analyst, "hr.wild", "whole", 1)
    finally:
        analyst.admin.execute("UPDATE discreet._protected_table SET max_epsilon = NULL")


def test_an_error_after_the_data_was_touched_says_nothing(analyst: Asker) -> None:
    analyst.admin.execute(
        "CREATE TABLE hr.part (who int, x int) PARTITION BY RANGE (x);"
        "SELECT discreet.protect('hr.part', 'who', dataset => 'staff', max_rows => 1);"
        "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER away FOREIGN DATA WRAPPER far;"
        "CREATE FOREIGN TABLE hr.far_part PARTITION OF hr.part DEFAULT SERVER away"
    )
    try:
        with refused("DP000", "the question could not be answered; what it costs is paid", "The reason is not told"):
            suggested(analyst, "hr.part", "x", 1)
        assert analyst.spent("staff") == 1
    finally:
        analyst.admin.execute("SELECT discreet.unprotect('hr.part'); DROP TABLE hr.part")
        analyst.admin.execute("DROP FOREIGN DATA WRAPPER far CASCADE")


def test_no_answer_leaves_before_the_quantum(analyst: Asker) -> None:
    analyst.admin.execute("UPDATE discreet._dataset SET response_quantum = '0.4 s'")
    try:
        started = time.monotonic()
        suggested(analyst, "hr.wild", "whole", 1)
        assert time.monotonic() - started >= 0.4
    finally:
        analyst.admin.execute("UPDATE discreet._dataset SET response_quantum = NULL")


DAYS = """
    CREATE TABLE hr.dated (
        id int PRIMARY KEY, day date, at timestamptz, local timestamp, old date, never date, height int, age int,
        town text);
    INSERT INTO hr.dated
    SELECT n, DATE '2020-01-01' + n, timestamptz '2024-01-01 00:00+00' + n * interval '1 hour',
           timestamp '1999-12-31' + n * interval '1 day', DATE '1500-01-01' + n * 200, NULL, 100 + n % 200, n % 90,
           'town'
    FROM generate_series(1, 4000) n;
    UPDATE hr.dated SET day = 'infinity', at = '-infinity', local = NULL WHERE id = 7;
    UPDATE hr.dated SET day = '5000-01-01', local = '0044-03-15 BC' WHERE id = 8;
    SELECT discreet.protect('hr.dated', 'id', dataset => 'staff');
    SELECT discreet.describe_column('hr.dated', 'age', 0, 120);
"""


@pytest.fixture
def dated(analyst: Asker) -> Iterator[Asker]:
    analyst.admin.execute(DAYS)
    yield analyst
    analyst.admin.execute("SELECT discreet.unprotect('hr.dated'); DROP TABLE hr.dated")


def test_bounds_of_dates_are_days_and_of_timestamps_seconds_since_1970(dated: Asker) -> None:
    for column, unit in (("day", 1), ("at", 86_400), ("local", 86_400)):
        found = suggested(dated, "hr.dated", column)
        assert found.lower is not None
        assert found.upper is not None
        first = date(1970, 1, 1) + timedelta(days=int(found.lower) // unit)
        last = date(1970, 1, 1) + timedelta(days=int(found.upper) // unit)
        # ranks 20 and 3980, give or take 5, and the month of a bin
        low, high = {
            "day": (date(2020, 1, 21), date(2030, 11, 24)),
            "at": (date(2024, 1, 1), date(2024, 6, 14)),
            "local": (date(2000, 1, 20), date(2010, 11, 22)),
        }[column]
        assert low - timedelta(70) <= first <= low + timedelta(6)
        assert first.day == 1
        assert high - timedelta(6) <= last <= high + timedelta(70)
        assert (last + timedelta(1)).day == 1


def test_dates_before_all_bins_are_in_the_first(dated: Asker) -> None:
    found = suggested(dated, "hr.dated", "old")
    assert found.lower == (date(1800, 1, 1) - date(1970, 1, 1)).days


def test_bounds_of_all_columns_come_in_one_call_that_is_paid_once(dated: Asker) -> None:
    asked = "SELECT * FROM discreet.suggest_bounds('hr.dated', 96::numeric)"
    rows = dated.connection.execute(asked).fetchall()
    assert [row[0] for row in rows] == ["day", "at", "local", "old", "never", "height"]
    assert dated.spent("staff") == 96
    assert dated.connection.execute(asked).fetchall() == rows
    assert dated.spent("staff") == 96
    ((charge,),) = dated.connection.execute("SELECT question FROM discreet.charges").fetchall()
    assert charge == "SELECT * FROM discreet.suggest_bounds('hr.dated', 96)"
    found = {name: (lower, upper) for name, lower, upper, _ in rows}
    assert found["height"] == ("50", "500")
    # the statements declare just these
    for _, _, _, statement in rows:
        dated.admin.execute(statement)
    declared = "SELECT count(*) FROM discreet.protected_columns WHERE relation::text = 'hr.dated' AND lower IS NOT NULL"
    assert dated.truth(declared) == [(7,)]
    lower, upper = found["day"]
    within = f"SELECT avg((day BETWEEN '{lower}' AND '{upper}')::int) FROM hr.dated WHERE isfinite(day)"
    ((share,),) = dated.truth(within)
    assert share > 0.98
    with refused("DP001", "where no column needs any", "Bounds are of numbers"):
        dated.connection.execute(asked)


def test_every_date_has_one_bin() -> None:
    low, high = (CalendarBins(upper, seconds=False) for upper in (False, True))
    assert low.value(0) == (date(1800, 1, 1) - date(1970, 1, 1)).days
    assert high.value(4799) == (date(2199, 12, 31) - date(1970, 1, 1)).days
    width = Fraction(146_097, 4800)
    for place in range(4800):
        begin, end = (Fraction(low.value(0)) + n * width for n in (place, place + 1))
        assert low.value(place) <= begin < end <= high.value(place) + 1
        assert high.value(place) - low.value(place) < 94
    seconds = CalendarBins(True, seconds=True)
    assert seconds.value(7) == (high.value(7) + 1) * 86_400 - 1


def test_every_number_has_one_bin(analyst: Asker) -> None:
    """The native bins against the ends that are made of them."""
    low, high = LogarithmicBins(False), LogarithmicBins(True)
    numbers = [0, 1, -1, 3.5, -3.5, 100, 2**-20, 2**-21, 5e-324, 2.0**60 * 0.99, 2.0**60, 1.7e308, -1.7e308, 1e-6, 7e17]
    asked = ", ".join(f"({number!r}::float8)" for number in numbers)
    found = analyst.truth(f"SELECT x, {low.sql('x')} FROM (VALUES {asked}) v(x)")
    for number, place in found:
        assert 0 <= place < low.number
        if 2**-20 <= abs(number) < 2**60:
            assert low.value(place) <= number <= high.value(place)
    assert analyst.truth(f"SELECT {low.sql('x')} FROM (VALUES ('NaN'::float8), ('-Infinity')) v(x)") == [(None,)] * 2
    types = ", ".join(low.sql(f"-5::{name}") for name in ("int2", "int4", "int8", "numeric", "float4", "float8"))
    assert len(set(analyst.truth(f"SELECT {types}")[0])) == 1
