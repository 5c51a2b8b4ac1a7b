"""The mechanisms, in one place: everything that is released passes through one of them."""

from __future__ import annotations

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.choice import ExponentialChoice
from discreet.dp.threshold import ThresholdedRelease

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "ExponentialChoice", "ThresholdedRelease", "additive_noise"]
