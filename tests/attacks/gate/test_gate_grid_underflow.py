"""Numbers so near to zero that a double has no place for them, and 0 times infinity is no number."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

TINY = "salary" + " * 1e-60" * 6


@pytest.mark.parametrize("aggregate", ["sum", "avg", "stddev", "max"])
def test_numbers_nearer_to_zero_than_any_use_are_refused(gated: Target, blind: Connection, aggregate: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT {aggregate}({TINY}) * 1e60 FROM hr.person") == "DP001"


def test_the_grid_lets_nothing_past_its_ends(gated: Target) -> None:
    """The native function itself, with the smallest steps that a double has, and with less."""
    places = "SELECT discreet._on_grid(x, -1000, -5, 5) FROM unnest('{0,1e-300,-1e-300,5e-324,1e308}'::float8[]) x"
    assert [row[0] for row in gated.admin.execute(places).fetchall()] == [0, 5, -5, 0, 5]
    with pytest.raises(Exception, match="no place on a grid"):
        gated.admin.execute("SELECT discreet._on_grid(0.0::float8, -1100, -5, 5)")


def test_whole_numbers_stay_between_their_bounds(gated: Target) -> None:
    for kind, values in {
        "int2": "{-32768,0,32767,NULL}",
        "int4": "{-2147483648,0,2147483647,NULL}",
        "int8": "{-9223372036854775808,0,9223372036854775807,NULL}",
    }.items():
        clamped = f"SELECT discreet._clamped(x, -5, 5) FROM unnest('{values}'::{kind}[]) x"
        assert [row[0] for row in gated.admin.execute(clamped).fetchall()] == [-5, 0, 5, None]
    with pytest.raises(Exception, match="no whole numbers"):
        gated.admin.execute("SELECT discreet._clamped(0.5::float8, -5, 5)")
