"""The cells of a relation, added up by PostgreSQL, and the cross table that is written from them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from discreet.core.declarations import document, given
from discreet.core.errors import DiscreetError, InvalidParameterError, LimitExceededError, UnsafeReleaseError
from discreet.core.quoting import identifier
from discreet.core.syntax import Json, SqlValue
from discreet.server.plpy import Plpy, run
from discreet.server.release_publish import Column, Original, array

MOST_CELLS = 250_000
MISSING = "(none)"
WHOLE_NUMBERS = {"smallint", "integer", "bigint"}


def too_many_cells() -> DiscreetError:
    return LimitExceededError(
        f"the table has more than {MOST_CELLS} cells with its margins", "Leave out a dimension, or merge values."
    )


class Cells:
    """The cells of a relation, added up by PostgreSQL: Python sees one number for each combination of values."""

    def __init__(
        self, plpy: Plpy, relation: str | None, names: list[str] | None, value: str | None, hierarchies: str | None,
        total: str | None,
    ) -> None:  # fmt: skip
        from discreet.release.dimensions import Hierarchy

        self.plpy = plpy
        self.source = Original.of(plpy, relation)
        self.columns = self.source.some(names, "dimensions")
        self.value = None if value is None else self.source.column(value, "value")
        if self.value is not None and self.value.category != "N":
            raise InvalidParameterError(f"column {value} holds no numbers", "Name a column of numbers as value.")
        self.total = given("total", total)
        spec = {} if hierarchies is None else document("hierarchies", hierarchies)
        known = [column.name for column in self.columns]
        if not isinstance(spec, dict) or set(spec) - set(known):
            raise InvalidParameterError(
                "hierarchies must be an object whose keys are dimensions", 'Give for instance {"city": {"tree": …}}.'
            )
        self.hierarchies = [Hierarchy.of(name, spec.get(name)) for name in known]

    @property
    def value_name(self) -> str:
        return "count" if self.value is None else self.value.name

    def leaf(self, column: Column) -> str:
        return f"coalesce({column.quoted}::pg_catalog.text, '{MISSING}')"

    @property
    def summed(self) -> str:
        return "1::numeric" if self.value is None else f"{self.value.quoted}::pg_catalog.numeric"

    def holds_whole_numbers(self) -> bool:
        return self.value is not None and self.value.type in WHOLE_NUMBERS

    def may_hold_counts(self) -> bool:
        """Whether the values can be numbers of people: whole numbers, one row for each cell, no column that names rows.

        Otherwise the rows are records, of which the values are added up: each of them is then a contributor.
        """
        if self.value is None or not self.holds_whole_numbers():
            return False
        used = {self.value.name, *(column.name for column in self.columns)}
        cell = ", ".join(column.quoted for column in self.columns)
        others = [column.quoted for column in self.source.columns if column.name not in used]
        named = "".join(f", count(DISTINCT {other}::pg_catalog.text) AS o{n}" for n, other in enumerate(others))
        found = self.plpy.execute(
            f"SELECT count(*) AS rows, count(DISTINCT ROW({cell})) AS cells{named} FROM {self.source.name}"
        )[0]
        return found["cells"] == found["rows"] and all(found[f"o{n}"] < found["rows"] for n in range(len(others)))

    def require_no_namesakes(self, columns: list[Column]) -> None:
        """What stands for NULL must not be a value as well: both would be one cell."""
        both = ", ".join(
            f"bool_or({column.quoted} IS NULL) AND bool_or({column.quoted}::pg_catalog.text = '{MISSING}') AS c{n}"
            for n, column in enumerate(columns)
        )
        found = self.plpy.execute(f"SELECT {both} FROM {self.source.name}")[0]
        for n, column in enumerate(columns):
            if found[f"c{n}"]:
                raise InvalidParameterError(
                    f"column {column.name} has rows with '{MISSING}', which stands for NULL, and rows with NULL",
                    "Write another word for one of them, in a view over the cells.",
                )

    def read(self) -> None:
        """Dimensions, and the whole table in integers of 10^-scale."""
        import numpy as np

        from discreet.release.dimensions import all_cells

        groups = [self.source.some(each.columns, "hierarchies") if each.columns else [] for each in self.hierarchies]
        self.require_no_namesakes([*self.columns, *(column for each in groups for column in each)])
        shown = [self.leaf(column) for column in self.columns]
        above = [self.leaf(column) for each in groups for column in each]
        names = [*(f"d{n}" for n in range(len(shown))), *(f"g{n}" for n in range(len(above)))]
        keys = ", ".join(f"{text} AS {name}" for text, name in zip((*shown, *above), names, strict=True))
        rows = self.plpy.execute(
            f"SELECT {keys}, coalesce(sum({self.summed}), 0) AS total FROM {self.source.name}"
            f" GROUP BY {', '.join(str(n + 1) for n in range(len(names)))} LIMIT {MOST_CELLS + 1}"
        )
        if len(rows) > MOST_CELLS:
            raise too_many_cells()
        values = [row["total"] for row in rows]
        if any(not number.is_finite() or number < 0 for number in values):
            raise InvalidParameterError(
                "a cell is negative, infinite or NaN", "Cells must be numbers from 0 on: it is known that they are."
            )
        start = 0
        dimensions = []
        for axis, (hierarchy, each) in enumerate(zip(self.hierarchies, groups, strict=True)):
            paths = [(row[f"d{axis}"], *(row[f"g{start + n}"] for n in range(len(each)))) for row in rows]
            dimensions.append(hierarchy.dimension(paths, self.total))
            start += len(each)
        self.dimensions = tuple(dimensions)
        shape = tuple(len(each.labels) for each in self.dimensions)
        if Fraction(np.prod(shape, dtype=np.float64)) > MOST_CELLS:
            raise too_many_cells()
        self.scale = max((0, *(-int(number.normalize().as_tuple().exponent) for number in values)))
        number_of = [{label: n for n, label in enumerate(each.labels)} for each in self.dimensions]
        leaves = np.zeros([each.leaves for each in self.dimensions], dtype=np.int64)
        if sum(values) * 10**self.scale >= 2**53:
            raise InvalidParameterError(
                "the numbers have too many digits to be added up exactly", "Round them, or use larger units."
            )
        for row, number in zip(rows, values, strict=True):
            at = tuple(number_of[axis][row[f"d{axis}"]] for axis in range(len(shape)))
            leaves[at] += int(number.scaleb(self.scale))
        self.values = all_cells(self.dimensions, leaves)

    def contributions(self, contributor: Column | None, top: int) -> Iterator[tuple[tuple[int, ...], SqlValue]]:
        """Of each cell, groups and totals included, how many contribute and how much the largest do.

        Without a column that names them, each row is one.
        """
        from discreet.release.rules import Contributions

        size = range(len(self.columns))
        joins = " ".join(
            f"JOIN ROWS FROM (unnest(:leaves{n}::text[]), unnest(:nodes{n}::int[])) AS n{n}(leaf, node)"
            f" ON n{n}.leaf = p.l{n}"
            for n in size
        )
        leaves = ", ".join(f"{self.leaf(column)} AS l{n}" for n, column in enumerate(self.columns))
        who = "row_number() OVER ()" if contributor is None else contributor.quoted
        nodes = ", ".join(f"a{n}" for n in size)
        arguments: dict[str, Json] = {}
        for n, dimension in enumerate(self.dimensions):
            pairs = [(leaf, node) for leaf in range(dimension.leaves) for node in dimension.sums[leaf].nonzero()[0]]
            arguments[f"leaves{n}"] = [dimension.labels[leaf] for leaf, _ in pairs]
            arguments[f"nodes{n}"] = array(node for _, node in pairs)
        rows = run(
            self.plpy,
            f"""
            WITH part AS (
                SELECT {", ".join(f"l{n}" for n in size)}, who, coalesce(sum(amount), 0) AS amount
                FROM (SELECT {leaves}, {who} AS who, {self.summed} AS amount FROM {self.source.name}) AS row
                GROUP BY {", ".join(f"l{n}" for n in size)}, who),
            whole AS (
                SELECT {", ".join(f"n{n}.node AS a{n}" for n in size)}, p.who, sum(p.amount) AS amount
                FROM part p {joins} GROUP BY {nodes}, p.who),
            ranked AS (
                SELECT {nodes}, amount, row_number() OVER (PARTITION BY {nodes} ORDER BY amount DESC) AS rank
                FROM whole)
            SELECT {nodes}, count(*) FILTER (WHERE amount > 0) AS people, min(amount) AS least,
                   coalesce(max(amount) FILTER (WHERE rank = 1), 0) AS largest,
                   coalesce(max(amount) FILTER (WHERE rank = 2), 0) AS second,
                   coalesce(sum(amount) FILTER (WHERE rank <= {top}), 0) AS top
            FROM ranked GROUP BY {nodes}
            """,
            **arguments,
        )
        for row in rows:
            if row["least"] is not None and row["least"] < 0:
                raise InvalidParameterError("a contribution is negative", "Contributions must be numbers from 0 on.")
            # exact, with more digits than the totals may have
            amounts = [Fraction(row[name]) * 10**self.scale for name in ("largest", "second", "top")]
            yield tuple(row[f"a{n}"] for n in size), Contributions(row["people"], *amounts)

    def write(self, release: str, values: SqlValue, hidden: SqlValue = None) -> None:
        """One row for each cell; a hidden one has no value. What was written is read again and compared."""
        import numpy as np

        names = [column.name for column in self.columns]
        taken = [*names, self.value_name] + ([] if hidden is None else ["suppressed"])
        if len(set(taken)) < len(taken):
            raise InvalidParameterError(f"the release would have two columns of the same name: {', '.join(taken)}",
                                        "Rename a dimension in a view over the cells.")  # fmt: skip
        kind = "int8" if self.scale == 0 else "numeric"
        columns = [f"{identifier(name)} pg_catalog.text NOT NULL" for name in names]
        columns.append(f"{identifier(self.value_name)} pg_catalog.{kind}")
        if hidden is not None:
            columns.append("suppressed pg_catalog.bool NOT NULL")
        self.plpy.execute(f"CREATE TABLE {release} ({', '.join(columns)})")
        places = np.indices(values.shape).reshape(len(names), -1)
        flat = values.reshape(-1).tolist()
        gone = [False] * len(flat) if hidden is None else hidden.reshape(-1).tolist()
        texts = [
            None if off else str(Decimal(number).scaleb(-self.scale)) for number, off in zip(flat, gone, strict=True)
        ]
        arguments: dict[str, Json] = {
            f"d{axis}": [dimension.labels[node] for node in places[axis].tolist()]
            for axis, dimension in enumerate(self.dimensions)
        }
        sources = ", ".join(f"unnest(:{name}::text[])" for name in (*arguments, "texts"))
        listed = ", ".join(f"t.{name}" for name in arguments)
        flag = "" if hidden is None else ", t.texts IS NULL"
        run(
            self.plpy,
            f"INSERT INTO {release} SELECT {listed}, t.texts::pg_catalog.{kind}{flag}"
            f" FROM ROWS FROM ({sources}) AS t({', '.join((*arguments, 'texts'))})",
            **arguments,
            texts=texts,
        )
        written = self.plpy.execute(
            f"SELECT count(*) AS cells, count({identifier(self.value_name)}) AS shown,"
            f" coalesce(sum({identifier(self.value_name)}), 0) AS total FROM {release}"
        )[0]
        expected = sum((number for number, off in zip(flat, gone, strict=True) if not off), 0)
        if (written["cells"], written["shown"], Decimal(written["total"]).scaleb(self.scale)) != (
            len(flat), gone.count(False), expected
        ):  # fmt: skip
            raise UnsafeReleaseError(
                "what was written is not what was checked", "A trigger or rule may have changed it."
            )
