"""The terms of a question: what it pays, how much one person can change it, and the noise that follows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.combined import CombinedNoise
from discreet.dp.exact import sqrt_above
from discreet.dp.joint import JointNoise, JointPart
from discreet.dp.mode import ModeChoice
from discreet.dp.price import Accounting, Price
from discreet.dp.quantile import QuantileChoice, QuantileEnd
from discreet.dp.sampling import PoissonSample
from discreet.dp.sensitivity import Neighbours
from discreet.dp.threshold import ThresholdedRelease
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.shares import PEOPLE as PEOPLE
from discreet.gate.shares import ROWS, Division, Number, divided_among, without_joint_noise, worths

Noise = DiscreteLaplace | DiscreteGaussian | JointPart


@dataclass(frozen=True)
class Terms:
    """What a question pays, per grouping set, and what that covers: `reach` groups that one person can change.
    `sample`: the part of the people that numbers are of; they are scaled to all of them once they are released.
    `keys`: those that the set groups by, one set of `several`; `known`: its groups are. `measured`: what is to be
    measured under these terms; `paid`: what has been paid for measurements, now or before, and `drawn`: those that had
    joint noise. `stated`: the noise of those whose numbers were estimated from several draws (gate/consistent.py).

    The price is divided among the measurements that have no epsilon of their own, by their `worths` (gate/shares.py),
    and is None where all have; what is charged is the sum of all (sequential composition). Noise of one measurement is
    calibrated to the whole vector of its groups; measurements of `together` have joint noise, for their parts of the
    price together. One person has at most `rows` rows in each of at most `groups` groups, and `total` rows in all
    of them: changes at most `groups` numbers by at most s, the sensitivity for `rows`, and all together by at most S,
    that for `total`. So with n = S / s ≤ groups, to which it comes where `total` = rows · groups, the change is at most
    n · s in L1; and since Σ x² ≤ max |x| · Σ |x| ≤ s · S, at most √n · s in L2.

    Under bounded neighbours, and where periods meet within a person (gate/periods.py), a change is a removal plus an
    addition (`acts` = 2): twice as much in L1. In L2 it depends. Where all contributions of a person lie between 0 and
    the most, those of the removed and of the added person differ in a group by no more than the larger, so the squares
    add up to no more than those of both: √2 √n · s. (Cut squares may be below 0, but even then differ by no more than
    what the sensitivity for the larger number of rows says.) Where contributions can have both signs, the same group
    may change by 2 s: 2 √n · s. A sum to which each person adds a value changes less: by the width of the bounds, in
    its one group (gate/presence.py).

    The choice of a quantile's bin in a group costs in proportion to the change of its losses, or to its square under
    zcdp; losses change by at most the sensitivity for `rows` · `acts` in a group, and all together by at most n times
    as much, so each group has the n-th part of the price.

    Joint noise (dp/joint.py) is for measurements under a pure price that one statement reads, which chooses the groups
    of a person once for all of them. So a person changes the numbers of at most `reach` groups, and each of them by at
    most its width w = s · acts. The largest parts max |change| / w of all groups add up to at most `groups`: under
    bounded neighbours, one person's removal and another one's addition change each by s at most. They add up to no
    less where `total` is below `rows` · `groups`, since rows of one measurement may count in one group, and those of
    another in the next. Of what every person adds a value to, w is the width of that change, in the one group. Distinct
    values are read by statements of their own, which may choose other groups, unless there is one group of all.
    """

    price: Price | None
    delta: Fraction
    groups: int
    acts: int
    rows: int
    total: int
    single: bool
    worths: tuple[tuple[Measurement, Fraction, Fraction], ...]
    accounting: str
    keys: tuple[int, ...] = ()
    measured: tuple[Measurement, ...] = ()
    paid: tuple[tuple[Measurement, Price], ...] = ()
    drawn: tuple[tuple[Measurement, JointPart], ...] = ()
    known: bool = True
    stated: tuple[tuple[Measurement, CombinedNoise], ...] = ()
    sample: PoissonSample | None = None
    several: bool = False

    @classmethod
    def of(cls, plan: Plan, price: Price | None, delta: Fraction, keys: tuple[int, ...]) -> Terms:
        limits = plan.source.limits
        groups = limits.max_groups if keys and not plan.source.single else 1
        changes = plan.charged is not None and plan.charged.changes
        doubled = 2 if plan.dataset.neighbours == Neighbours.BOUNDED or changes else 1
        rows, total = (1, 1) if plan.source.single else (limits.rows(), limits.rows(groups))
        if plan.personal is not None:  # noise is for one row: who has more of them pays for each
            groups = rows = total = 1
        single, accounting = plan.source.single, plan.dataset.accounting
        return cls(
            price, delta, groups, doubled, rows, total, single, worths(plan), accounting, keys, plan.measurements,
            known=plan.knows_groups(keys), sample=None if plan.sample is None else plan.sample.people,
            several=len(plan.grouping.sets) > 1,
        )  # fmt: skip

    @property
    def reach(self) -> int:
        """The most groups that change."""
        return self.groups * self.acts

    def in_group(self, measurement: Measurement) -> int:
        """s: the most that adding or removing one person changes the number of one group."""
        return measurement.sensitivity(self.rows, self.single)

    def in_all(self, measurement: Measurement) -> int:
        """S: the most that it changes the numbers of all groups, added up."""
        return measurement.sensitivity(self.total, self.single, self.groups)

    @cached_property
    def division(self) -> Division:
        """The shares of the price, and which measurements have joint noise."""
        numbers = tuple(
            Number(measurement, *self.squared_errors(measurement, worth), float(favoured))
            for measurement, worth, favoured in self.worths
        )
        if self.accounting != Accounting.PURE:
            return without_joint_noise(numbers, 2)
        found = divided_among(numbers, may_copy=not self.several)
        return found if not found.joint or self.joint_noise(found) else without_joint_noise(numbers, 3)

    def squared_errors(self, measurement: Measurement, worth: Fraction) -> tuple[float, float | None]:
        """Those of noise of its own, and of joint noise if it may have that, for worth 1 where one person changes one
        group by no more than the sensitivity.
        """
        if measurement.quantity is Quantity.QUANTILE:
            return float(worth) * (self.acts * math.ceil(Fraction(self.total, self.rows))) ** 2, None
        least = self.in_group(measurement)
        alone = float(worth) * float(self.norm(measurement) / least) ** 2
        if not self.may_be_joint(measurement):
            return alone, None
        return alone, float(worth) * float(Fraction(self.width(measurement) * self.groups, least)) ** 2

    def joint_noise(self, division: Division) -> JointNoise | None:
        assert self.price is not None
        shares = dict(division.shares)
        part = sum((shares[measurement] for measurement, _ in division.joint), Fraction(0))
        widths = [self.width(measurement) for measurement, copies in division.joint for _ in range(copies)]
        price = replace(self.price, amount=self.price.amount * part)
        return JointNoise.for_price(widths, Fraction(self.groups), self.reach, price)

    def share_of(self, measurement: Measurement) -> Fraction:
        """The part of the price; the number of rows is that of people where that is measured in its place."""
        alias = measurement == ROWS and measurement not in self._shares
        return self._shares[PEOPLE if alias else measurement]

    @cached_property
    def _shares(self) -> dict[Measurement, Fraction]:
        return dict(self.division.shares)

    @cached_property
    def _paid(self) -> dict[Measurement, Price]:
        return dict(self.paid)

    @cached_property
    def all_paid(self) -> Terms:
        """These terms, once all of it is paid for now."""
        parts = ((measurement, self.joint_part(measurement)) for measurement in self.measured)
        drawn = tuple((measurement, part) for measurement, part in parts if part is not None)
        return replace(self, paid=tuple((m, self.price_of(m)) for m in self.measured), drawn=drawn)

    def price_of(self, measurement: Measurement) -> Price:
        if measurement in self._paid:
            return self._paid[measurement]
        if measurement.own is not None:
            return measurement.own.price(self.accounting)
        assert self.price is not None
        return replace(self.price, amount=self.price.amount * self.share_of(measurement))

    def stated_noise(self, measurement: Measurement) -> Noise | CombinedNoise:
        """The noise of the number that is shown."""
        return self._stated.get(measurement) or self.noise(measurement)

    @cached_property
    def _stated(self) -> dict[Measurement, CombinedNoise]:
        return dict(self.stated)

    @cached_property
    def _noises(self) -> dict[Measurement, Noise]:
        return {}

    def noise(self, measurement: Measurement) -> Noise:
        if measurement not in self._noises:
            self._noises[measurement] = self._noise(measurement)
        return self._noises[measurement]

    def _noise(self, measurement: Measurement) -> Noise:
        part = self.joint_part(measurement)
        if part is not None:
            return part
        return additive_noise(self.norm(measurement), self.price_of(measurement), self.reach)

    def joint_part(self, measurement: Measurement) -> JointPart | None:
        """The noise of a measurement that is drawn, or was, together with others."""
        drawn = dict(self.drawn)
        if measurement in drawn or measurement in self._paid:
            return drawn.get(measurement)
        for parts, _ in self.together:
            if measurement in parts:
                return parts[measurement]
        return None

    @cached_property
    def together(self) -> list[tuple[dict[Measurement, JointPart], JointNoise]]:
        """Measurements that have joint noise, each with its part of it.

        Not those that are chosen by it: bins, and which of unknown groups are shown.
        """
        if self.price is None or not self.worths or any(measurement in self._paid for measurement, *_ in self.worths):
            return []
        noise = self.joint_noise(self.division) if self.division.joint else None
        if noise is None:
            return []
        parts: dict[Measurement, JointPart] = {}
        place = 0
        for measurement, copies in self.division.joint:
            parts[measurement] = noise.of_number(place, copies)
            place += copies
        return [(parts, noise)]

    def may_be_joint(self, measurement: Measurement) -> bool:
        if measurement.quantity is Quantity.QUANTILE or (measurement == PEOPLE and not self.known):
            return False
        distinct = measurement.quantity in (Quantity.DISTINCT, Quantity.DISTINCT_TOTAL)
        return self.single or not self.keys or not distinct

    def width(self, measurement: Measurement) -> int:
        """The most that one person changes the number of one group."""
        changes = self.acts == 2 and measurement.changed is not None
        return measurement.changed or 1 if changes else self.in_group(measurement) * self.acts

    def touched(self, measurement: Measurement) -> Fraction:
        """n: in so many groups one person changes the number by its width, added up."""
        return Fraction(self.in_all(measurement), self.in_group(measurement))

    def norm(self, measurement: Measurement) -> Fraction:
        """The most that one person changes the vector of all groups: in L1 for a pure price, in L2 for one of zcdp."""
        if self.acts == 2 and measurement.changed is not None:
            return Fraction(measurement.changed)
        sensitivity = Fraction(self.in_group(measurement))
        groups = self.touched(measurement)
        if self.accounting == Accounting.PURE:
            return sensitivity * self.acts * groups
        if measurement.quantity in (Quantity.TOTAL, Quantity.CENTRED, Quantity.PRODUCTS, Quantity.DISTINCT_TOTAL):
            return sensitivity * self.acts * sqrt_above(groups)
        return sensitivity * sqrt_above(self.acts * groups)

    def threshold(self) -> ThresholdedRelease:
        return ThresholdedRelease(self.price_of(PEOPLE), self.delta, self.reach)

    def choice(self, measurement: Measurement) -> QuantileChoice | QuantileEnd | ModeChoice:
        """Of a quantile, of a value on one side of it, or of the most frequent value."""
        price = self.price_of(measurement).split(math.ceil(Fraction(self.total, self.rows)))[0]
        if measurement.fraction is None:
            return ModeChoice.of(price, self.rows * self.acts)
        if measurement.side is not None:
            return QuantileEnd.of(measurement.fraction, measurement.side, price, self.rows * self.acts)
        return QuantileChoice.of(measurement.fraction, price, rows=self.rows * self.acts)

    def check(self, measurement: Measurement) -> None:
        """Raises what measuring would raise, before anything is paid."""
        if measurement.quantity is Quantity.QUANTILE:
            self.choice(measurement)
        else:
            self.noise(measurement)
