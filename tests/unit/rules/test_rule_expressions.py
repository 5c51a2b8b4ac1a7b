"""The text of a rule: what is let in, and what is refused before PostgreSQL sees it."""

from __future__ import annotations

import pytest

from discreet.core.errors import DiscreetError
from discreet.rules.expressions import Predicate, Rule, predicate, row_rule

COLUMNS = ("age", "salary", "position", 'Odd "x', "tags")


def computes(function: str) -> bool:
    return function in ("lower", "extract", "now")


def rule(text: str) -> Rule:
    return row_rule('rule "r"', text, COLUMNS, computes)


def counted(text: str) -> Predicate:
    return predicate('limit "l"', text, COLUMNS, computes)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("NEW.age < 150", "INSERT OR UPDATE"),
        ("new.salary <= 2 * OLD.salary", "UPDATE"),
        ("OLD.age > 3", "UPDATE OR DELETE"),
        ("lower(NEW.position) IN ('a', 'b') AND NOT NEW.age IS NULL", "INSERT OR UPDATE"),
        ("CASE WHEN NEW.age > 1 THEN NEW.salary BETWEEN 1 AND 2 ELSE coalesce(NEW.tags[1] = 'x', true) END", None),
        ("NEW.age = ANY (ARRAY[1, 2]) OR greatest(NEW.age, 3)::numeric(4, 1) > 1 -- a comment", None),
        ("NEW.salary > 1\n  AND now() > '2020-01-01'::timestamptz", None),
    ],
)
def test_a_rule_judges_the_statements_that_have_its_rows(text: str, events: str | None) -> None:
    assert rule(text).events == (events or "INSERT OR UPDATE")


def test_the_rule_is_printed_from_its_tree() -> None:
    assert rule('NEW."Odd ""x"/* ; */ > 1 --)').sql == '(new."Odd ""x" > 1)'


def test_a_predicate_is_said_of_both_rows() -> None:
    made = counted("position = 'CEO' AND age > 3")
    assert made.new_sql == "((new.\"position\" = 'CEO') AND (new.age > 3))"
    assert made.old_sql == "((old.\"position\" = 'CEO') AND (old.age > 3))"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not one SQL expression"),
        ("NEW.age <", "is no SQL expression: syntax error"),
        ("NEW.age < 1, NEW.age > 2", "is not one SQL expression"),
        ("NEW.age < 1; DROP TABLE x", "is not one SQL expression"),
        ("NEW.age < 1 FROM person", "is not one SQL expression"),
        ("NEW.age < 1 AS x", "is not one SQL expression"),
        ("NEW.age < 1 UNION SELECT true", "is not one SQL expression"),
        ("NEW.age < 1 LIMIT 1", "is not one SQL expression"),
        ("NEW.age) IS NULL OR (NEW.age", "is no SQL expression"),
        ("true", "names no column"),
        ("age < 150", "names age"),
        ("NEW IS NOT NULL", "names new"),
        ("NEW.* IS NOT NULL", "whole row"),
        ("other.age < 150", "names other.age"),
        ("NEW.weight < 1", 'names column "weight"'),
        ("NEW.ctid IS NULL", 'names column "ctid"'),
        ("NEW.age < (SELECT 1)", "holds a subquery"),
        ("EXISTS (SELECT FROM person)", "holds a subquery"),
        ("NEW.age < $1", "holds a parameter"),
        ("NEW.age < max(NEW.age) OVER ()", "aggregates with max"),
        ("count(*) > NEW.age", "aggregates with count"),
        ("public.lower(NEW.position) = 'a'", "calls public.lower"),
        ("pg_sleep(NEW.age) IS NULL", "calls pg_sleep"),
        ("NEW.age OPERATOR(public.=) 1", "uses operator public.="),
        ("NEW.age < 1 " + "+ 1" * 20 + " OR NEW.age < 1" * 1000, "longer than"),
        ("(" * 0 + "- " * 200 + "NEW.age < 1", "nested too deeply"),
    ],
)
def test_whatever_is_not_a_truth_about_one_row_is_refused(text: str, words: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        rule(text)
    assert words in caught.value.message
    assert 'rule "r"' in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("text", ["NEW.age < 1", "person.age < 1", "weight = 1", "1 = 1", "age < (SELECT 1)"])
def test_a_predicate_is_over_bare_columns(text: str) -> None:
    with pytest.raises(DiscreetError, match='limit "l"'):
        counted(text)


def test_a_rule_or_limit_that_would_judge_ciphertext_is_refused() -> None:
    sealed = frozenset(["salary"])
    assert row_rule('rule "r"', "NEW.age < 150", COLUMNS, computes, sealed).new
    assert predicate('limit "l"', "age < 150", COLUMNS, computes, sealed).sql
    for refused in (
        lambda: row_rule('rule "r"', "NEW.age < 150 OR OLD.salary IS NULL", COLUMNS, computes, sealed),
        lambda: predicate('limit "l"', "age > 3 AND salary > 3", COLUMNS, computes, sealed),
    ):
        with pytest.raises(DiscreetError, match='names column "salary", which belongs to sealed values'):
            refused()
