"""The currency of a dataset: epsilon under 'pure' accounting, rho under 'zcdp'."""

from __future__ import annotations

from decimal import Decimal

from discreet.core.declarations import Dataset


def conversion_delta(delta: Decimal) -> Decimal:
    """Half of a dataset's delta turns rho into epsilon; the other half is for thresholds of unknown keys."""
    return delta / 2


def amount_limit(dataset: Dataset, epsilon: Decimal) -> Decimal:
    """What a limit of `epsilon` is worth in the dataset's currency, never more than it allows."""
    if dataset.accounting == "pure":
        return epsilon
    from discreet.dp.composition import gaussian_rho

    return gaussian_rho(epsilon, conversion_delta(dataset.delta))


def epsilon_spent(rho: Decimal, delta: Decimal) -> Decimal:
    """What `rho` has cost as epsilon, at the delta of its dataset, never less than it cost."""
    from discreet.dp.composition import zcdp_epsilon
    from discreet.dp.exact import exact

    # without rho there may be no delta either
    return Decimal(0) if exact(rho, "rho") == 0 else zcdp_epsilon(rho, conversion_delta(delta))
