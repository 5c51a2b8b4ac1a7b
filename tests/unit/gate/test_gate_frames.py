"""Frames of windows: which rows they have is read once, into the tree, and decides where ties must be broken."""

from __future__ import annotations

from itertools import product

import pytest
from pglast import parse_sql
from tests.corpus.sample import planned

from discreet.core.errors import RefusedShapeError
from discreet.core.printing import meaning
from discreet.gate.plan import Plan
from discreet.gate.printer import frame
from discreet.gate.schema import Family
from discreet.gate.tree import Edge, Frame, FrameEnd, FrameMode, Placed, Window, Within, every_node
from discreet.gate.values import number_constant

# SQL of each end of a frame, and whether it can be the start or the end
EDGES = {
    "UNBOUNDED PRECEDING": FrameEnd(Edge.FIRST_ROW),
    "2 PRECEDING": FrameEnd(Edge.BEFORE, number_constant(2, Family.INT)),
    "CURRENT ROW": FrameEnd(Edge.THIS_ROW),
    "3 FOLLOWING": FrameEnd(Edge.AFTER, number_constant(3, Family.INT)),
    "UNBOUNDED FOLLOWING": FrameEnd(Edge.LAST_ROW),
}
MODES: tuple[FrameMode, ...] = ("ROWS", "RANGE", "GROUPS")
# as PostgreSQL allows them: no frame begins after its end
FRAMES = {
    f"{mode} BETWEEN {start} AND {end}": Frame(mode, EDGES[start], EDGES[end])
    for mode, start, end in product(MODES, EDGES, EDGES)
    if list(EDGES).index(start) <= list(EDGES).index(end) and start != "UNBOUNDED FOLLOWING"
    and end != "UNBOUNDED PRECEDING"
}  # fmt: skip
SHORT = {
    "ROWS UNBOUNDED PRECEDING": "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE CURRENT ROW": "RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
    "GROUPS 2 PRECEDING": "GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW",
}


def asked(call: str, rows: str, order: str = "cost") -> Plan:
    """A question about a window function over the visits of each person."""
    over = f"{call} OVER (PARTITION BY patient_id ORDER BY {order} {rows})"
    return planned(f"SELECT count(*) FROM (SELECT patient_id, ward, {over} AS w FROM clinic.visit) v WHERE w > 1")


def window_of(plan: Plan) -> Window:
    windows = [one.window for one in every_node(plan.conditions) if isinstance(one, Placed | Within)]
    assert len(set(windows)) == 1
    assert windows[0] is not None
    return windows[0]


@pytest.mark.parametrize("written", FRAMES)
def test_a_frame_is_read_and_written_as_it_was(written: str) -> None:
    expected = FRAMES[written]
    assert window_of(asked("sum(cost)", written)).frame == expected
    (mine, theirs) = (parse_sql(f"SELECT sum(a) OVER (ORDER BY a {text})")[0] for text in (frame(expected), written))
    assert meaning(mine) == meaning(theirs)


@pytest.mark.parametrize("short", SHORT)
def test_two_ways_to_write_a_frame_are_one_measurement(short: str) -> None:
    keys = {store_key(asked("sum(cost)", text)) for text in (short, SHORT[short])}
    assert len(keys) == 1


def store_key(plan: Plan) -> str:
    (measurement,) = plan.measurements
    return plan.key_of(measurement, ())


def test_other_frames_are_other_measurements() -> None:
    assert len({store_key(asked("sum(cost)", written)) for written in FRAMES}) == len(FRAMES)


@pytest.mark.parametrize("written", FRAMES)
def test_rows_are_told_apart_where_a_frame_may_end_between_those_of_equal_rank(written: str) -> None:
    """With RANGE and GROUPS, a frame has all rows of a rank or none; with ROWS, it could depend on where they lie."""
    assert bool(window_of(asked("sum(cost)", written)).ties) == written.startswith("ROWS")


@pytest.mark.parametrize("name", ["first_value", "last_value", "nth_value"])
@pytest.mark.parametrize("written", FRAMES)
def test_the_value_of_a_row_of_the_frame_depends_on_no_tie(name: str, written: str) -> None:
    """What is first or last among rows of equal rank is decided by ties, which change the ends of other frames."""
    start, end = written.partition(" BETWEEN ")[2].split(" AND ")
    from_first = start == "UNBOUNDED PRECEDING"
    safe = written.startswith("ROWS") or (from_first and (name == "first_value" or end == "UNBOUNDED FOLLOWING"))
    call = f"{name}(cost{', 2' if name == 'nth_value' else ''})"
    if safe:
        assert window_of(asked(call, written)).ties
    else:
        with pytest.raises(RefusedShapeError, match="ends among rows of equal rank"):
            asked(call, written)


def test_a_distance_stands_just_where_there_is_one() -> None:
    number = number_constant(1, Family.INT)
    for edge in Edge:
        with pytest.raises(ValueError, match=edge.value):
            FrameEnd(edge, None if edge in (Edge.BEFORE, Edge.AFTER) else number)
