"""Random sources, exact integer noise, and the public lattice that records are rounded to."""

from shoal.noise.discrete_gaussian import discrete_gaussian
from shoal.noise.discrete_laplace import MAX_SCALE, discrete_laplace
from shoal.noise.finite_precision import corrected_epsilon
from shoal.noise.k_norm import k_norm
from shoal.noise.lattice import Lattice
from shoal.noise.source import RandomSource, SecureSource, SeededSource, as_source, is_seeded

__all__ = [
    "MAX_SCALE",
    "Lattice",
    "RandomSource",
    "SecureSource",
    "SeededSource",
    "as_source",
    "corrected_epsilon",
    "discrete_gaussian",
    "discrete_laplace",
    "is_seeded",
    "k_norm",
]
