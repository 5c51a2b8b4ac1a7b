"""A pattern that takes long for the text of one person: time would tell, and the session would hang."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

SLOW = [r"(a+)+$", r"(a|aa)*b{1,}(\1)", r"(x*)*y", r"(?=.*7)name", r"((n|a|m|e| )*)*7$", r"name (\d)\1{2,}"]


@pytest.mark.parametrize("pattern", SLOW)
@pytest.mark.parametrize("form", ["name ~ '{}'", "regexp_count(name, '{}') > 0", "regexp_replace(name, '{}', '') = ''"])
def test_it_is_refused(gated: Target, blind: Connection, form: str, pattern: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM hr.person WHERE {form.format(pattern)}") == "DP001"


def test_a_pattern_of_a_row_is_refused(gated: Target, blind: Connection) -> None:
    with gated.free():
        assert how_it_ends(blind, "SELECT count(*) FROM hr.person WHERE 'name 7' ~ name") == "DP001"
