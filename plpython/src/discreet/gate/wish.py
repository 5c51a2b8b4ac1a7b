"""How an asker wants a question answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from discreet.core.errors import RefusedShapeError

# of all questions together, none of which may come out above the price that is asked for
DIGITS = Decimal("1e-12")


@dataclass(frozen=True)
class Wish:
    """How the asker wants a question answered: at a price, or as exactly as `accuracy` says.

    `noisily`: audited tables as well, which the noisy policy stands in for. `named`: how many columns the caller names,
    by which it is told whether errors are among them, where the session wishes for them. `fresh`: by numbers that are
    drawn now, not by stored ones. `released`: the answers of the questions within it, once they are known.
    `sample`: the part of the people that it is to be answered from. `as_of`: what it takes for now(). `smallest`: of
    how many values averages are, at least, that are to be as exact as `accuracy` says.
    """

    epsilon: Decimal | None = None
    accuracy: Decimal | None = None
    parameters: tuple[str | None, ...] = ()
    with_error: bool = False
    noisily: bool = False
    named: int | None = None
    fresh: bool = False
    released: tuple[str | None, ...] | None = None
    sample: Decimal | None = None
    as_of: datetime | None = None
    smallest: int | None = None

    def shared(self, inner: int) -> Wish:
        """The wish for each of some questions, all but one of which are within that one.

        A price that is given for the whole is divided evenly; the session's own wish is one for each question.
        """
        if not inner:
            return self
        if self.accuracy is not None:
            raise RefusedShapeError(
                "accuracy is asked for, and a subquery about all people is a question of its own", "Give an epsilon."
            )
        if self.epsilon is None:
            return self
        return replace(self, epsilon=(self.epsilon / (inner + 1)).quantize(DIGITS, rounding="ROUND_DOWN"))

    def plainly(self) -> Wish:
        """The same price, for a number without an error beside it."""
        return replace(self, with_error=False, named=None)


def wish_of(
    epsilon: Decimal | None,
    accuracy: Decimal | None,
    parameters: list[str | None] | None,
    with_error: bool = False,
    fresh: bool = False,
    sample: Decimal | None = None,
    as_of: str | None = None,
    smallest_count: int | None = None,
) -> Wish:
    if not all(value is None or isinstance(value, str) for value in parameters or ()):
        raise RefusedShapeError("params is not a plain list", "Give one text per parameter: ARRAY['1', 'x'].")
    if accuracy is not None and sample is not None:
        raise RefusedShapeError(
            "how exact an answer from a sample is, is not known before", "Give epsilon and sample, or accuracy alone."
        )
    if smallest_count is not None and accuracy is None:
        raise RefusedShapeError(
            "smallest_count is given, and no accuracy is asked for",
            "It is the number of values from which on averages keep to accuracy: accuracy => 5, smallest_count => 100.",
        )
    if smallest_count is not None and smallest_count < 1:
        raise RefusedShapeError(
            f"smallest_count is {smallest_count}, which is below 1", "Give a number of values: 100."
        )
    moment = None if as_of is None else moment_of(as_of)
    return Wish(
        epsilon,
        accuracy,
        tuple(parameters or ()),
        with_error,
        fresh=fresh,
        sample=sample,
        as_of=moment,
        smallest=smallest_count,
    )


def moment_of(text: str) -> datetime:
    """A moment as PostgreSQL writes it in UTC."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise RefusedShapeError(
            f"as_of is {text}, which is not within the years 1 to 9999", "Give a moment: as_of => now()."
        ) from None
