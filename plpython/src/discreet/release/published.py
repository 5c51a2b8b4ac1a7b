"""A cross table as it was published, with margins and hidden cells, to be audited by any reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError
from discreet.core.syntax import Json
from discreet.release.dimensions import Dimension, tree_paths


@dataclass(frozen=True)
class Published:
    """Cells that are not there count as hidden; values are integers of 10^-scale, 0 where hidden."""

    dimensions: tuple[Dimension, ...]
    values: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    scale: int

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        rows: Sequence[tuple[tuple[str, ...], Decimal | None]],
        hierarchies: Json,
        total: str,
    ) -> Published:
        if not isinstance(hierarchies, dict) or set(hierarchies) - set(names):
            raise InvalidParameterError(
                "hierarchies must be an object whose keys are dimensions", 'Give for instance {"city": {"tree": …}}.'
            )
        dimensions = []
        for axis, name in enumerate(names):
            seen = sorted({cell[axis] for cell, _ in rows} - {total})
            given = hierarchies.get(name)
            if given is None:
                paths: dict[str, tuple[str, ...]] = dict.fromkeys(seen, ())
            elif isinstance(given, dict) and set(given) == {"tree"}:
                paths = tree_paths(name, given["tree"])
                unknown = set(seen) - set(paths) - {group for path in paths.values() for group in path}
                if unknown:
                    raise InvalidParameterError(
                        f"the tree of {name} has no {min(unknown)}", "Name every value that is in the column."
                    )
            else:
                raise InvalidParameterError(f"the hierarchy of {name} is no tree", 'Give {"tree": …}.')
            dimensions.append(Dimension.of(name, paths, total))
        numbers = [value for _, value in rows if value is not None]
        if any(not number.is_finite() or number < 0 for number in numbers):
            raise InvalidParameterError("a cell is negative, infinite or NaN", "Cells must be numbers from 0 on.")
        scale = max((0, *(-int(number.normalize().as_tuple().exponent) for number in numbers)))
        shape = [len(each.labels) for each in dimensions]
        values, hidden = np.zeros(shape, dtype=np.int64), np.ones(shape, dtype=np.bool_)
        number_of = [{label: n for n, label in enumerate(each.labels)} for each in dimensions]
        for cell, value in rows:
            if value is not None:
                at = tuple(number_of[axis][label] for axis, label in enumerate(cell))
                if not hidden[at]:
                    raise InvalidParameterError(f"the cell ({', '.join(cell)}) is there twice", "Give each cell once.")
                values[at], hidden[at] = int(value.scaleb(scale)), False
        return cls(tuple(dimensions), values, hidden, scale)
