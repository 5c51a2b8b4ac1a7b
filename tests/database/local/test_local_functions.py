"""The mechanisms and estimators of local differential privacy, as SQL sees them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import psycopg
import pytest
from tests.databases import Connection
from tests.messages import refused

EPSILONS = [1e-6, 1e-5, 0.001, 0.1, 0.5, 1.0, 1.0986122886681098, 2.0, 5.0, 10.0, 30.0, 40.0, 44.0, 45.0, 80.0, 100.0]
CHOICES = [2, 3, 5, 17, 256, 1000, 65536]


def value(connection: Connection, query: str, *arguments: object) -> object:
    return connection.execute(query, list(arguments) or None).fetchall()[0][0]


def test_no_coin_spends_more_than_its_epsilon(calculator: Connection) -> None:
    """From the exact number of lies among 2^64 draws, to 60 digits; libm's last digits cannot break the promise."""
    with localcontext(prec=60):
        for choices in CHOICES:
            for epsilon in EPSILONS:
                lies = Decimal(str(value(calculator, "SELECT discreet._rr_lies(%s, %s)", epsilon, choices)))
                assert lies == lies.to_integral_value()
                assert 1 <= lies < 2**64
                ratio = (2**64 - lies) * (choices - 1) / lies
                assert abs(ratio.ln()) <= Decimal(epsilon)
                assert epsilon > 20 or Decimal(epsilon) - ratio.ln() < Decimal("1e-9")
                # and nearly all of it is used, as far as 2^64 draws can
                at_best = min(Decimal(epsilon), Decimal((2**64 - 1) * (choices - 1)).ln())
                slack = at_best * Decimal("1e-13") + 2 * choices * Decimal(2) ** -48
                # one draw more or less is a large step where lies are few
                assert ratio.ln() >= at_best - slack - 2 / lies


@pytest.mark.parametrize("epsilon", ["0", "-1", "1e-7", "100.1", "'NaN'", "'Infinity'", "'-Infinity'", "5e-324"])
@pytest.mark.parametrize(
    "call",
    [
        "rr(true, {})",
        "rr('a', '{{a,b}}', {})",
        "rr_bits('a', '{{a,b}}', {})",
        "cms_encode('a', {})",
        "rr_estimate(true, {})",
        "rr_stderr(true, {})",
        "rr_frequencies('a', '{{a,b}}', {})",
        "rr_bits_frequencies('01', '{{a,b}}', {})",
        "cms_estimate('\\x', '{{a,b}}', {})",
    ],
)
def test_an_epsilon_out_of_range_is_refused(calculator: Connection, call: str, epsilon: str) -> None:
    with refused("22023", "epsilon of a randomised response must be from 1e-06 to 100", "At epsilon 1"):
        calculator.execute("SELECT discreet." + call.format(epsilon))


@pytest.mark.parametrize(
    "call", ["rr(NULL::boolean, 1)", "rr(NULL, '{a,b}', 1)", "rr_bits(NULL, '{a,b}', 1)", "cms_encode(NULL, 1)"]
)
def test_no_answer_stays_no_answer(calculator: Connection, call: str) -> None:
    assert value(calculator, f"SELECT discreet.{call}") is None


@pytest.mark.parametrize(
    "call",
    ["rr(true, NULL)", "rr('a', NULL, 1)", "rr('a', '{a,b}', NULL)", "rr_bits('a', NULL, 1)", "cms_encode('a', NULL)"],
)
def test_what_a_value_is_randomised_with_must_be_known(calculator: Connection, call: str) -> None:
    with refused("22004", "only the value may be NULL", None):
        calculator.execute(f"SELECT discreet.{call}")


@pytest.mark.parametrize(
    ("domain", "sqlstate", "message"),
    [
        ("{}", "22023", "0 values are listed, but must be from 2"),
        ("{a}", "22023", "1 values are listed"),
        ("{a,b,a}", "22023", 'value "a" is listed twice'),
        ("{a,NULL}", "22004", "must not be NULL"),
        ("{{a,b},{c,d}}", "22023", "one dimension"),
        ("{b,c}", "22023", "the value is none of its domain"),
    ],
)
def test_a_domain_that_makes_no_sense_is_refused(
    calculator: Connection, domain: str, sqlstate: str, message: str
) -> None:
    for call in ("rr", "rr_bits"):
        with pytest.raises(Exception, match=message) as caught:
            calculator.execute(f"SELECT discreet.{call}('a', %s, 1)", [domain])
        assert getattr(caught.value, "sqlstate", None) == sqlstate


def test_a_value_outside_the_domain_is_not_repeated_in_the_error(calculator: Connection) -> None:
    with pytest.raises(Exception, match="none of its domain") as caught:
        calculator.execute("SELECT discreet.rr('secret', '{a,b}', 1)")
    assert "secret" not in str(caught.value)


def test_an_array_that_changes_from_row_to_row_is_read_anew(calculator: Connection) -> None:
    rows = calculator.execute(
        """
        SELECT bool_and(discreet.rr(v, d, 90) = v), bool_and(length(discreet.rr_bits(v, d, 90)) = cardinality(d))
        FROM (SELECT 'v' || n AS v, array(SELECT 'v' || i FROM generate_series(n, n + 1 + n % 3) i) AS d
              FROM generate_series(1, 100) n) x
        """
    ).fetchall()
    assert rows == [(True, True)]


def test_at_a_huge_epsilon_the_truth_is_told(calculator: Connection) -> None:
    assert value(calculator, "SELECT discreet.rr_bits('Zoë', ARRAY['', 'a', 'Zoë', '\"{'], 90)::text") == "0010"
    domain = ["", "a", "Zoë", '"{', "NULL"]
    for each in domain:
        assert value(calculator, "SELECT discreet.rr(%s, %s, 90)", each, domain) == each


def test_estimates_are_what_the_formulas_say(calculator: Connection) -> None:
    """60 of 100 say yes: (0.6 - q) / (p - q), and its standard error from the variance of one report."""
    for epsilon in (0.5, 1.0, 3.0):
        lies = Fraction(str(value(calculator, "SELECT discreet._rr_lies(%s, 2)", epsilon))) / 2**64
        share, error = calculator.execute(
            "SELECT discreet.rr_estimate(n <= 60, %s), discreet.rr_stderr(n <= 60, %s) FROM generate_series(1, 100) n",
            [epsilon, epsilon],
        ).fetchall()[0]
        gain = 1 - 2 * lies
        assert share == pytest.approx(float((Fraction(6, 10) - lies) / gain), rel=1e-12)
        assert error == pytest.approx((0.6 * 0.4 / 99) ** 0.5 / float(gain), rel=1e-12)


def test_shares_of_all_values_add_up_to_one(calculator: Connection) -> None:
    found = value(
        calculator,
        "SELECT sum((s.value->>'share')::float8) FROM jsonb_each((SELECT discreet.rr_frequencies("
        " chr(97 + n % 3), '{a,b,c,d}', 0.7) FROM generate_series(1, 100) n)) s",
    )
    assert found == pytest.approx(1, abs=1e-9)


def test_bits_and_sketches_are_counted_where_they_are_set(calculator: Connection) -> None:
    domain = [f"value {n}" for n in range(100)]
    for number in (0, 7, 8, 63, 64, 99):
        found = value(
            calculator,
            "SELECT jsonb_object_agg(s.key, s.value->'share') FROM jsonb_each((SELECT discreet.rr_bits_frequencies("
            " discreet.rr_bits(%s, %s, 90), %s, 90) FROM generate_series(1, 700))) s"
            " WHERE (s.value->>'share')::float8 > 0.5",
            domain[number], domain, domain,
        )  # fmt: skip
        assert found == {domain[number]: pytest.approx(1)}
    found = value(
        calculator,
        "SELECT (discreet.cms_estimate(discreet.cms_encode('😀', 90), '{😀}', 90))->'😀'->>'share'"
        " FROM generate_series(1, 50)",
    )
    assert float(str(found)) == pytest.approx(1)


def test_nobody_no_estimate_and_of_one_no_error(calculator: Connection) -> None:
    none = calculator.execute(
        "SELECT discreet.rr_estimate(NULL::boolean, 1), discreet.rr_stderr(NULL, 1),"
        " discreet.rr_frequencies(NULL, '{a,b}', 1),"
        " discreet.rr_bits_frequencies(NULL, '{a,b}', 1), discreet.cms_estimate(NULL, '{a}', 1)"
    ).fetchall()
    assert none == [(None,) * 5]
    assert value(calculator, "SELECT discreet.rr_estimate(true, 1) FROM generate_series(1, 0)") is None
    assert value(calculator, "SELECT discreet.rr_stderr(true, 1)") is None
    one: object = value(calculator, "SELECT discreet.rr_frequencies('a', '{a,b}', 1)->'a'->'stderr'")
    assert one is None
    # rows without a response take no part
    assert value(calculator, "SELECT discreet.rr_estimate(x, 1) > 1 FROM (VALUES (true), (NULL)) v(x)") is True


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("rr_frequencies('z', '{a,b}', 1)", 'response "z" is none of the domain'),
        ("rr_bits_frequencies('011', '{a,b}', 1)", "a report has 3 bits, but the domain has 2 values"),
        ("cms_estimate('\\x00', '{a}', 1)", "was not made by cms_encode"),
        ("cms_estimate('\\xffff0000', '{a}', 1)", "was not made by cms_encode"),
        ("cms_estimate('\\x0000000000', '{a}', 1)", "was not made by cms_encode"),
        ("rr_estimate(true, n)", "epsilon must be the same"),
        ("rr_frequencies('a', ARRAY['a', n::text], 1)", "list of values must be the same"),
        ("cms_estimate(discreet.cms_encode('a', 1, 10, 8 << n), '{a}', 1)", "reports are 16 and 32 bits wide"),
    ],
)
def test_reports_that_do_not_belong_together_are_refused(calculator: Connection, query: str, message: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=message):
        calculator.execute(f"SELECT discreet.{query} FROM generate_series(1, 2) n")


@pytest.mark.parametrize(("hashes", "width"), [(0, 64), (4097, 64), (1, 8), (1, 100), (1, 65536)])
def test_the_shape_of_a_sketch_has_limits(calculator: Connection, hashes: int, width: int) -> None:
    with refused("22023", "must be", None):
        calculator.execute("SELECT discreet.cms_encode('a', 1, %s, %s)", [hashes, width])


def test_estimators_run_in_parallel_workers_with_the_same_result(admin: Connection) -> None:
    admin.execute(
        """
        CREATE TABLE answers AS
            SELECT n % 2 AS part, n % 3 = 0 AS yes, chr(97 + n % 5) AS letter,
                   discreet.rr_bits(chr(97 + n % 5), '{a,b,c,d,e}', 2) AS bits,
                   discreet.cms_encode(chr(97 + n % 5), 2, 8, 64) AS sketch
            FROM generate_series(1, 30000) n;
        ANALYZE answers;
        """
    )
    question = """
        SELECT part, discreet.rr_estimate(yes, 1), discreet.rr_stderr(yes, 1),
               discreet.rr_frequencies(letter, '{a,b,c,d,e}', 1),
               discreet.rr_bits_frequencies(bits, '{a,b,c,d,e}', 2), discreet.cms_estimate(sketch, '{a,e,z}', 2)
        FROM answers GROUP BY part ORDER BY part
    """
    alone = admin.execute(question).fetchall()
    admin.execute(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
        " SET max_parallel_workers_per_gather = 2"
    )
    plan = "\n".join(str(line) for (line,) in admin.execute("EXPLAIN " + question).fetchall())
    assert "Partial" in plan
    assert "Workers Planned: 2" in plan
    assert admin.execute(question).fetchall() == alone


def test_a_moving_window_estimates_anew(calculator: Connection) -> None:
    rows = calculator.execute(
        "SELECT discreet.rr_estimate(n > 2, 1) OVER (ORDER BY n ROWS 1 PRECEDING) FROM generate_series(1, 4) n"
    ).fetchall()
    assert rows[0] == rows[1] < rows[2] < rows[3]


def test_epsilons_of_mechanisms(calculator: Connection) -> None:
    row = calculator.execute(
        "SELECT discreet.rr_epsilon(0.75), discreet.rr_epsilon(0.5, 3), discreet.rr_epsilon(1),"
        " discreet.mechanism_epsilon('{{0.75,0.25},{0.25,0.75}}'), discreet.mechanism_epsilon('{{1,0},{0.9,0.1}}')"
    ).fetchall()[0]
    assert row == (
        pytest.approx(1.0986122886681098),
        pytest.approx(0.6931471805599453),
        float("inf"),
        pytest.approx(1.0986122886681098),
        float("inf"),
    )
    with refused("22023", "row 2 of the matrix adds up to 1.1, not to 1", "some output comes"):
        calculator.execute("SELECT discreet.mechanism_epsilon('{{1,0},{1,0.1}}')")
    with refused("22023", "p is 2.0, but must be from 0 to 1", None):
        calculator.execute("SELECT discreet.rr_epsilon(2)")
