"""Periods of time, each with a budget of its own, and why what they promise holds.

A dataset with a period keeps an account for each period p, and one for the whole lifetime. A row with a time belongs to
the period of its time, in UTC. Rows whose time is NULL, infinite or outside the years 1 to 9999 are *undated*: a period
of their own. Rows of tables without a time are *timeless*. Two databases are neighbours in p if they differ in the rows
of one person in p; they are neighbours in the lifetime if they differ in the timeless rows of one person.

Theorem. What account p has paid bounds the privacy loss between neighbours in p, for all questions together; what the
account of the lifetime has paid bounds it between neighbours in the lifetime. (Block composition: Lécuyer et al. 2019,
Theorem 4.2; it also holds when each question is chosen after the answers to those before it.)

Proof. Composition adds up the losses of single questions, so it is enough to look at one question Q with price e that
charges the set C of periods.

1. *A period outside C.* Each scan of a dated table reads only rows whose time lies in periods of C, because the native
   SQL has this very condition around the scan (tree.Dated). So rows of p are read nowhere, Q has the same distribution
   on both databases, and the loss is 0. It does not matter how C was found: a wrong C costs rows of the answer, never
   privacy. Rows that come later into an old period are read only by questions that pay for this period. So it is
   also sound to read no period outside the bounds that a curator has declared of the time: what lies there is left out.
2. *A period in C, rows of several periods never meet* (`Charged.time` is known). Then the rows that are aggregated are
   the union of f(u, p) over persons u and periods p, where f reads rows of u dated p, timeless rows of u and public
   rows: each row is made of one dated row, and people.py shows that the rest is of the same person. Bounds count for
   each pair (u, p) apart, by run.py. Without the rows of u dated p, the pair is gone, and every other pair is what it
   was. So a pair takes the place of a person, and noise that hides one person hides one pair: the loss is at most e.
3. *A period in C, rows of several periods may meet within a person*: windows, groups by the person, two dated tables
   joined. Rows of a person are still f(all rows of u), so neighbours in p differ in the rows of one person, which
   change into others: a removal plus an addition. Noise is that for a change (`Charged.changes`): the loss is at most
   e. With one period in C and no timeless rows, the person has no rows without p: a mere removal.
4. *The lifetime.* Without the timeless rows of u, at most k = |C| pairs (u, p) change; where each of them is gone
   (inner joins alone), noise for a removal covers one of them, else it is that for a change. Going through them one by
   one, the loss is at most k e (group privacy), under zCDP k² times the amount (Bun & Steinke 2016, Proposition 1.9); a
   delta d grows to d (exp(k e) - 1) / (exp(e) - 1). Where a person is one unit, because rows meet, the loss is e, and
   k e is charged all the same. A question about timeless tables alone pays e.

A person with rows in many periods has the sum of what these periods and the lifetime have paid: the promise is for each
person and period, not for a person over all time (docs/limits.md).

That a row keeps its period is up to a trigger, which refuses an UPDATE that would move it to another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date

from discreet.core.errors import RefusedShapeError
from discreet.gate.tree import Expression

# the Monday from which periods of days are counted, so that weeks begin on Mondays; days since 0001-01-01
ANCHOR = date(2000, 1, 3).toordinal() - 1
# 10000-01-01, the end of all dates
END = date.max.toordinal()
# periods that one question may read; where nothing is declared of the times, it names none that is farther away than
# that from the time between the making of the dataset and today
MOST_PERIODS = 2000


@dataclass(frozen=True)
class Calendar:
    """Periods of so many whole months, or else days, by their numbers; days are counted from 0001-01-01, which is 0."""

    months: int = 0
    days: int = 0

    def number(self, day: int) -> int:
        """The period in which a day lies."""
        if not self.months:
            return (day - ANCHOR) // self.days
        found = date.fromordinal(day + 1)
        return (found.year * 12 + found.month - 1) // self.months

    def begin(self, number: int) -> int:
        """The first day of a period; that of the first one that there is, is 0, and after the last comes END."""
        if not self.months:
            return min(max(number * self.days + ANCHOR, 0), END)
        year, month = divmod(number * self.months, 12)
        if not 1 <= year <= 9999:
            return 0 if year < 1 else END
        return date(year, month + 1, 1).toordinal() - 1

    def first_day(self, number: int) -> date:
        """By which the ledger calls a period."""
        return date.fromordinal(self.begin(number) + 1)

    def spans(self, numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
        """The days of these periods, as spans that do not touch."""
        found: list[tuple[int, int]] = []
        for number in sorted(numbers):
            begin, end = self.begin(number), self.begin(number + 1)
            if found and found[-1][1] == begin:
                begin = found.pop()[0]
            found.append((begin, end))
        return tuple(found)


@dataclass(frozen=True)
class Opened:
    """A dataset's periods, the first and the last that the ledger has opened, and those of the day on which the dataset
    was made and of today.
    """

    calendar: Calendar
    first: int
    last: int
    made: int
    today: int

    def within(self, low: int | None, high: int | None, declared: range | None = None) -> range:
        """The periods that days from `low` to `high` touch; an end that is open reaches to those that were opened.

        `declared`: those in which all rows are said to be: no others are read.
        """
        first = self.first if low is None else self.calendar.number(low)
        last = self.last if high is None else self.calendar.number(high)
        if low is None:
            first = min(first, last)
        last = max(first, last)
        if declared is not None:
            first, last = max(first, declared[0]), min(last, declared[-1])
        return range(first, last + 1)

    def refuse_far(self, named: Iterable[int | None]) -> None:
        """What one question names is opened for all: questions without an end in time read it, too."""
        numbers = [self.calendar.number(day) for day in named if day is not None]
        if any(not self.made - MOST_PERIODS <= number <= self.today + MOST_PERIODS for number in numbers):
            raise RefusedShapeError(
                f"the question would open periods that lie more than {MOST_PERIODS} periods away",
                "Compare the time with dates that are nearer to those of the data, or let a curator declare its bounds:"
                " SELECT discreet.describe_column(table, column, lower => date, upper => date).",
            )

    def refuse_too_many(self, numbers: Collection[int]) -> None:
        if len(numbers) > MOST_PERIODS:
            raise RefusedShapeError(
                f"the question would read {len(numbers)} periods, more than {MOST_PERIODS}",
                "Compare the time with dates that are nearer to each other.",
            )


@dataclass(frozen=True)
class Charged:
    """The periods that pay for a question: their `numbers`, and whether undated rows do.

    `time`: the time of a row, where rows of several periods never meet. `changes`: a period that is taken away may
    change what is left of a person. `timeless`: tables without a time are read. `clipped`: conditions let rows through
    that no charged period holds.
    """

    calendar: Calendar
    numbers: tuple[int, ...]
    undated: bool = False
    time: Expression | None = None
    changes: bool = False
    timeless: bool = False
    clipped: bool = False

    @property
    def count(self) -> int:
        return len(self.numbers) + self.undated

    @property
    def key(self) -> tuple[object, ...]:
        """By which a measurement is stored."""
        return self.calendar, self.calendar.spans(self.numbers), self.undated, self.changes

    @property
    def lifetime(self) -> int:
        """How many numbers' worth the timeless rows of one person move."""
        return max(self.count, 1) if self.timeless else 0

    def covers(self, other: Charged) -> bool:
        """Whether all that another one would charge is charged."""
        numbers = set(other.numbers) <= set(self.numbers) and self.undated >= other.undated
        return numbers and self.lifetime >= other.lifetime

    def with_others(self, others: Iterable[Charged]) -> Charged:
        """All periods that one of several questions charges, each of which pays for all of them."""
        every = [self, *others]
        return Charged(
            self.calendar,
            tuple(sorted({number for one in every for number in one.numbers})),
            any(one.undated for one in every),
            next((one.time for one in every if one.time is not None), None),
            any(one.changes for one in every),
            any(one.timeless for one in every),
            any(one.clipped for one in every),
        )


def spans_text(calendar: Calendar, numbers: Iterable[int]) -> list[str]:
    """The days of periods, as people write them: 2026-01-01..2026-03-31."""
    spans = calendar.spans(numbers)
    return [f"{date.fromordinal(low + 1)}..{date.fromordinal(high)}" for low, high in spans]
