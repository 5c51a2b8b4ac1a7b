"""Dimensions of a cross table and their hierarchies."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import InvalidParameterError
from discreet.release.dimensions import Dimension, Hierarchy, all_cells


def test_groups_and_the_total_are_sums_of_leaves() -> None:
    region = Dimension.of("region", {"a": ("North",), "b": ("North",), "c": ("South",)}, "Total")
    assert region.labels == ("a", "b", "c", "North", "South", "Total")
    assert region.parents == (3, 3, 4, 5, 5, -1)
    assert all_cells((region,), np.array([1, 2, 4])).tolist() == [1, 2, 4, 3, 4, 7]


def test_a_table_of_two_dimensions_has_all_its_margins() -> None:
    sex = Dimension.of("sex", {"f": (), "m": ()}, "all")
    table = all_cells((sex, sex), np.array([[1, 2], [3, 4]]))
    assert table.tolist() == [[1, 2, 3], [3, 4, 7], [4, 6, 10]]


@pytest.mark.parametrize(
    ("given", "rows", "labels"),
    [
        (None, [("x",), ("y",)], ("x", "y", "T")),
        ({"tree": {"G": ["x"], "H": {"I": ["y", "z"]}}}, [("x",), ("y",)], ("x", "y", "G", "I", "H", "T")),
        ({"columns": ["c"]}, [("x", "G"), ("y", "G")], ("x", "y", "G", "T")),
        ({"prefixes": [1, 2]}, [("123",), ("124",), ("2",)], ("123", "124", "2", "12*", "1*", "T")),
    ],
)
def test_hierarchies_name_groups(given: object, rows: list[tuple[str, ...]], labels: tuple[str, ...]) -> None:
    assert Hierarchy.of("d", given).dimension(rows, "T").labels == labels


@pytest.mark.parametrize(
    ("given", "rows", "message"),
    [
        ({"tree": {"G": ["x"]}}, [("y",)], "the tree of d has no y"),
        ({"tree": {"G": ["x"], "H": ["x"]}}, [("x",)], "stands twice"),
        ({"tree": {"G": [True]}}, [("x",)], "no text"),
        ({"tree": {"G": 3}}, [("x",)], "objects and lists"),
        ({"tree": {"G": {"x": ["x"]}}}, [("x",)], "x"),
        ({"columns": ["c"]}, [("x", "G"), ("x", "H")], "several groups"),
        ({"columns": ["c"]}, [("x", "x")], "x"),
        ({"prefixes": [0]}, [("x",)], "is none"),
        ({"prefixes": ["1"]}, [("x",)], "is none"),
        ({"tree": {}, "columns": []}, [("x",)], "is none"),
        (3, [("x",)], "is none"),
        (None, [("T",)], "T"),
        (None, [], "nothing in dimension"),
    ],
)
def test_hierarchies_that_make_no_tree_are_refused(given: object, rows: list[tuple[str, ...]], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Hierarchy.of("d", given).dimension(rows, "T")
