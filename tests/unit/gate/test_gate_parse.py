"""Text to tree: one SELECT, of a length and depth that the stack of a backend can bear; and names to relations."""

from __future__ import annotations

from fractions import Fraction

import pytest
from pglast import parse_sql

from discreet.core.errors import DiscreetError
from discreet.gate.parse import DEEPEST, LONGEST_QUESTION, depth, parse
from discreet.gate.schema import Combination, Family, named_relations, schema_from_json


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "DP001", "0 statements"),
        ("SELECT 1; SELECT 2", "DP001", "2 statements"),
        ("SELECT 'a", "DP001", "not SQL"),
        ("DROP TABLE t", "DP001", "DROP is no question"),
        ("TRUNCATE t", "DP001", "TRUNCATE is no question"),
        ("CREATE TABLE t AS SELECT 1", "DP001", "is no question"),
        ("SELECT 1\0", "22023", "zero byte"),
        ("SELECT " + "1" * LONGEST_QUESTION, "22023", "longer than"),
        ("SELECT 1" + "+1" * 9000, "DP001", "nested too deeply"),
        ("SELECT " + "NOT " * 4000 + "true", "DP001", "nested too deeply"),
        ("SELECT " + "(SELECT " * 200 + "1" + ")" * 200, "DP001", "nested too deeply"),
        ("SELECT " + "- " * 9000 + "a", "DP001", "nested too deeply"),
        ("SELECT a" + "::int" * 3000, "DP001", "nested too deeply"),
    ],
)
def test_what_is_not_one_select_is_refused(text: str, code: str, words: str) -> None:
    with pytest.raises(DiscreetError, match=words) as refusal:
        parse(text)
    assert refusal.value.sqlstate == code


def test_depth_counts_levels_not_lengths() -> None:
    flat = parse_sql("SELECT 1 WHERE " + " AND ".join(["a = 1"] * 1000))[0].stmt
    assert depth(flat) < 10
    assert depth(parse_sql("SELECT 1" + "+1" * 50)[0].stmt) > 50
    assert parse("SELECT 1" + "+1" * (DEEPEST - 10)).targetList


def test_every_name_of_a_tree_is_found_once() -> None:
    tree = parse("WITH a AS (SELECT FROM s.t) SELECT FROM a JOIN (SELECT FROM s.t, u) x ON true")
    assert sorted(named_relations(tree), key=str) == [("s", "t"), (None, "a"), (None, "u")]


def test_what_the_ledger_describes_becomes_a_schema() -> None:
    column = {
        "lower": None,
        "upper": None,
        "categories": None,
        "hidden": False,
        "identifies": False,
        "public": False,
        "not_null": True,
        "number": 1,
        "others": None,
    }
    kept = {
        "dataset": "d", "unit": "id", "policy": "noisy", "max_groups": 2, "max_rows": 3, "max_epsilon": "0.5",
        "max_delta": None, "single": True, "may_ask": True, "min_group": 10, "fallback": None, "relation": 1,
        "max_total_rows": 4, "people": ["s.t.id"], "wrong_unit": None,
    }  # fmt: skip
    described = {
        "relations": [
            {
                "asked_schema": None, "asked_name": "t", "schema": "s", "name": "t", "unique_keys": [["id"]],
                "combinations": [{"columns": ["x", "y"], "nulls": True}],
                "columns": [
                    column | {"name": "id", "type": "bigint", "identifies": True},
                    column | {"name": "x", "type": "real", "lower": "0.1", "upper": "2e3"},
                    column | {"name": "y", "type": "hr.mood", "categories": ["sad"]},
                ],
                "protection": kept, "row_security": False,
            }
        ],
        "datasets": [
            {
                "dataset": "d", "accounting": "zcdp", "neighbours": "bounded", "delta_limit": "1e-6", "diagnose": "0",
                "response_quantum": "1.5", "tables": 1,
            }
        ],
    }  # fmt: skip
    schema = schema_from_json(described)
    (relation,) = schema.relations.values()
    assert relation.protection is not None
    assert (relation.protection.max_epsilon, relation.protection.max_total_rows) == (Fraction(1, 2), 4)
    assert relation.protection.people == {"s.t.id"}
    assert relation.columns["x"].bounds == (Fraction(1, 10), Fraction(2000))
    assert [relation.columns[name].family for name in "xy"] == [Family.FLOAT, Family.OTHER]
    assert relation.combinations == (Combination(frozenset("xy"), nulls=True),)
    assert schema.datasets["d"].response_quantum == 1.5


def relation_with(**changed: object) -> dict[str, object]:
    kept = {
        "dataset": "d", "unit": "id", "policy": "noisy", "max_groups": 1, "max_rows": 1, "max_epsilon": None,
        "max_delta": None, "single": True, "may_ask": True, "min_group": 10, "fallback": None, "relation": 1,
        "max_total_rows": None, "people": None, "wrong_unit": None,
    }  # fmt: skip
    entry: dict[str, object] = {"asked_schema": None, "asked_name": "t", "schema": "s", "name": "t", "columns": []}
    keys: dict[str, object] = {"unique_keys": [], "combinations": [], "row_security": False}
    return {"relations": [entry | keys | {"protection": kept | changed}], "datasets": []}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"may_ask": False}, "DP004"),
        ({"may_ask": False, "wrong_unit": "it names orders"}, "DP004"),
        ({"wrong_unit": "it names orders"}, "DP001"),
        ({"policy": "audited"}, "DP001"),
        ({"policy": "new"}, "DP001"),
    ],
)
def test_a_policy_that_is_not_known_here_is_refused(changed: dict[str, object], code: str) -> None:
    (node,) = parse("SELECT FROM t").fromClause
    with pytest.raises(DiscreetError) as refusal:
        schema_from_json(relation_with(**changed)).relation(node)
    assert refusal.value.sqlstate == code
    assert refusal.value.hint
