"""Noise that a budget buys: pure epsilon, or mu^2 of Gaussian differential privacy."""

from shoal.cluster._noise.bodies import Body, NoisyParts, PartDeviations
from shoal.cluster._noise.budgeted import (
    BudgetedNoise,
    NoisyPairs,
    NoisyWindows,
    WindowDeviations,
    WindowWeights,
    round_up,
)
from shoal.cluster._noise.gaussian import GDPNoise, NoisyMatrix, noise_for
from shoal.cluster._noise.pure import PureNoise

__all__ = [
    "Body",
    "BudgetedNoise",
    "GDPNoise",
    "NoisyMatrix",
    "NoisyPairs",
    "NoisyParts",
    "NoisyWindows",
    "PartDeviations",
    "PureNoise",
    "WindowDeviations",
    "WindowWeights",
    "noise_for",
    "round_up",
]
