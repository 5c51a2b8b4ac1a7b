"""What the tests of the dp_ aggregates share: the aggregates, the types they take, and a look at the exact totals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction

from tests.databases import Connection

from discreet.dp.grid import Grid
from discreet.dp.totals import Histogram, Totals

BOUNDED = ["dp_sum", "dp_avg", "dp_variance", "dp_stddev", "dp_median", "dp_quantile"]


def call(aggregate: str, value: str, lower: str, upper: str, epsilon: str | None = "100") -> str:
    """The aggregate written out; a quantile is the upper quartile."""
    arguments = [value]
    if aggregate == "dp_quantile":
        arguments.append("0.75")
    if aggregate in BOUNDED:
        arguments += [lower, upper]
    if epsilon is not None:
        arguments.append(epsilon)
    return f"discreet.{aggregate}({', '.join(arguments)})"


# In place of the noise: says what it gets. Only a superuser can put it there, and only the database of the tests that
# look at exact totals has it. A notice, because nothing can be written beside parallel workers.
TEST_DOUBLE = """
    CREATE OR REPLACE FUNCTION discreet._release(kind text, totals text[]) RETURNS text LANGUAGE plpgsql VOLATILE
    PARALLEL UNSAFE AS $$
    BEGIN
        RAISE NOTICE '%', to_json(kind || totals);
        RETURN '0';
    END $$;
"""


@dataclass(frozen=True)
class Handed:
    """What one final function hands to Python."""

    function: str
    amount: str
    accounting: str
    neighbours: str
    filtered: bool
    totals: tuple[str, ...]

    @property
    def sums(self) -> Totals:
        count, total, squares, exponent, lower, upper = map(int, self.totals)
        return Totals(count, total, squares, Grid(exponent, lower, upper))

    @property
    def histogram(self) -> Histogram:
        _, lower, upper, bins, filled = self.totals
        counts = [0] * int(bins)
        for entry in filled.split(",")[:-1]:
            at, count = entry.split(":")
            counts[int(at)] += int(count)
        return Histogram(tuple(counts), Fraction(float(lower)), Fraction(float(upper)))


class Exact:
    """A session in the database whose noise is replaced by the test double."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._heard: list[str] = []
        connection.add_notice_handler(lambda notice: self._heard.append(notice.message_primary or ""))

    def handed(self, question: str, *parameters: object) -> list[Handed]:
        """What the aggregates of a statement hand over, in the order in which they are finished."""
        self._heard.clear()
        self.connection.execute(question, parameters or None)
        heard = [json.loads(text) for text in self._heard]
        return [Handed(*texts[:4], texts[4] == "true", tuple(texts[5:])) for texts in heard]  # type: ignore[call-arg]

    def one(self, question: str, *parameters: object) -> Handed:
        (handed,) = self.handed(question, *parameters)
        return handed
