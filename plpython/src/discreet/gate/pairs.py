"""Aggregates of two numbers of a row: covariance, correlation, regression.

All are functions of six sums over the rows in which both numbers have a value: how many there are, the centred sums of
both, of their squares, and of their products. Each is measured with noise, and the rest is post-processing. With
x and y on grids of whole numbers, X = 2 x - c lies between -w and w, where c is the sum of the bounds and w the width
of the grid; so X Y lies between -w w' and w w', and one row changes the sum of the products by no more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

from discreet.dp.grid import Grid
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.tree import BOOLEAN, Case, Constant, Expression, NullTest

# as many digits as a double has
SHOWN = Context(prec=17)


def both(one: Expression, other: Expression) -> Expression:
    """A number, where the other has a value, too."""
    known = NullTest(other, negated=True, type=BOOLEAN, nullable=False)
    nothing = Constant(None, type=one.type)
    return Case((known,), (one, nothing), type=one.type, interval=one.interval)


def measurements(
    y: Expression, x: Expression, grids: tuple[Grid, Grid], condition: Expression | None
) -> tuple[Measurement, ...]:
    """How many, centred y and x, their squares, their products."""
    of_y, of_x = Subject(both(y, x), condition, grids[0]), Subject(both(x, y), condition, grids[1])
    products = Subject(of_y.argument, condition, grids[0], other=of_x.argument, other_grid=grids[1])
    return (
        Measurement(Quantity.VALUES, of_y),
        Measurement(Quantity.CENTRED, of_y),
        Measurement(Quantity.CENTRED, of_x),
        Measurement(Quantity.SQUARES, of_y),
        Measurement(Quantity.SQUARES, of_x),
        Measurement(Quantity.PRODUCTS, products),
    )


class Sums:
    """The six sums, brought to what six sums of numbers within the grids can be: n, means, and sums of squares."""

    def __init__(self, parts: tuple[int, ...], grids: tuple[Grid, Grid]) -> None:
        count, *sums = parts
        self.n = max(count, 0)
        (self.mean_y, self.syy), (self.mean_x, self.sxx) = (
            self.moments(grid, sums[place], sums[place + 2]) for place, grid in enumerate(grids)
        )
        step = grids[0].step * grids[1].step / 4
        moved = sums[4] - Fraction(self.within(grids[0], sums[0]) * self.within(grids[1], sums[1]), max(self.n, 1))
        self.sxy = moved * step

    def within(self, grid: Grid, centred: int) -> int:
        return min(max(centred, -grid.width * self.n), grid.width * self.n)

    def moments(self, grid: Grid, centred: int, squares: int) -> tuple[Fraction, Fraction]:
        n = max(self.n, 1)
        centred = self.within(grid, centred)
        squares = min(max(squares, 0), grid.width**2 * self.n)
        mean = Fraction(centred + (grid.lower + grid.upper) * n, 2 * n) * grid.step
        return mean, max(Fraction(squares) - Fraction(centred**2, n), Fraction(0)) * grid.step**2 / 4

    @property
    def slope(self) -> Fraction | None:
        return self.sxy / self.sxx if self.sxx else None

    @property
    def correlation(self) -> Fraction | None:
        """From -1 to 1."""
        if not self.sxx or not self.syy:
            return None
        product = self.sxx * self.syy
        root = SHOWN.sqrt(SHOWN.divide(Decimal(product.numerator), Decimal(product.denominator)))
        return min(max(self.sxy / Fraction(root), Fraction(-1)), Fraction(1)) if root else None


def intercept(sums: Sums) -> Fraction | None:
    return None if sums.slope is None else sums.mean_y - sums.slope * sums.mean_x


def determination(sums: Sums) -> Fraction | None:
    """The share of the variance of y that the line explains: all of it where y is constant."""
    if not sums.sxx:
        return None
    return Fraction(1) if not sums.syy else None if sums.correlation is None else sums.correlation**2


# what each is of the sums; None where PostgreSQL has NULL, too
KINDS: dict[str, Callable[[Sums], Fraction | int | None]] = {
    "corr": lambda sums: sums.correlation,
    "covar_pop": lambda sums: sums.sxy / sums.n,
    "covar_samp": lambda sums: sums.sxy / (sums.n - 1) if sums.n > 1 else None,
    "regr_avgx": lambda sums: sums.mean_x,
    "regr_avgy": lambda sums: sums.mean_y,
    "regr_count": lambda sums: sums.n,
    "regr_intercept": intercept,
    "regr_r2": determination,
    "regr_slope": lambda sums: sums.slope,
    "regr_sxx": lambda sums: sums.sxx,
    "regr_sxy": lambda sums: sums.sxy,
    "regr_syy": lambda sums: sums.syy,
}


def put_together(kind: str, parts: tuple[int, ...], grids: tuple[Grid, Grid]) -> Decimal | int | None:
    """The aggregate, from released sums."""
    sums = Sums(parts, grids)
    if kind == "regr_count":
        return sums.n
    found = KINDS[kind](sums) if sums.n else None
    return None if found is None else SHOWN.divide(Decimal(found.numerator), Decimal(found.denominator))
