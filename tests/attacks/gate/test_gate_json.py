"""Json that cannot be read, or is of another kind, on one row."""

import pytest
from tests.attacks.gate.asking import assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "length((CASE WHEN {} THEN '[' ELSE '[]' END)::json::text)",
    "jsonb_array_length(CASE WHEN {} THEN '1'::jsonb ELSE '[]'::jsonb END)",
    "(('{\"a\": \"' || name || '\"}')::json->>'a')::int",
    "jsonb_path_match('[]', CASE WHEN {} THEN '$.a' ELSE 'true' END::jsonpath)::int",
    "length(jsonb_set('1', '{a}', CASE WHEN {} THEN '1' ELSE NULL END)::text)",
    "(to_jsonb(name)::text)::int",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["22P02", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_json_is_an_oracle(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)
