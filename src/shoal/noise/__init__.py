"""Random sources, exact integer noise, the door where values are hidden, and the public lattice."""

from shoal.noise._privatize import Noise, Observer, PrivacyMeasure, observed, privatize
from shoal.noise.box_norm import box_norm
from shoal.noise.discrete_gaussian import discrete_gaussian
from shoal.noise.discrete_laplace import MAX_SCALE, discrete_laplace
from shoal.noise.distributions import BoxNoise, ExponentialMechanism, GaussianNoise, LaplaceNoise
from shoal.noise.exponential_choice import exponential_choice
from shoal.noise.finite_precision import corrected_epsilon
from shoal.noise.k_norm import k_norm
from shoal.noise.lattice import Lattice
from shoal.noise.noisy_cells import NoisyCells, noisy_cells_above
from shoal.noise.planar_laplace import planar_laplace
from shoal.noise.source import RandomSource, SecureSource, SeededSource, as_source, is_seeded
from shoal.noise.sparse_laplace import SparseCounts, SparseLaplaceNoise
from shoal.noise.spherical_laplace import spherical_laplace
from shoal.noise.two_level import two_level
from shoal.noise.uniform_integers import uniform_integers

__all__ = [
    "MAX_SCALE",
    "BoxNoise",
    "ExponentialMechanism",
    "GaussianNoise",
    "LaplaceNoise",
    "Lattice",
    "Noise",
    "NoisyCells",
    "Observer",
    "PrivacyMeasure",
    "RandomSource",
    "SecureSource",
    "SeededSource",
    "SparseCounts",
    "SparseLaplaceNoise",
    "as_source",
    "box_norm",
    "corrected_epsilon",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_choice",
    "is_seeded",
    "k_norm",
    "noisy_cells_above",
    "observed",
    "planar_laplace",
    "privatize",
    "spherical_laplace",
    "two_level",
    "uniform_integers",
]
