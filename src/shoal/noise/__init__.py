"""Random sources, exact integer noise, and the public lattice that records are rounded to."""

from shoal.noise.box_norm import box_norm
from shoal.noise.discrete_gaussian import discrete_gaussian
from shoal.noise.discrete_laplace import MAX_SCALE, discrete_laplace
from shoal.noise.exceedances import Exceedances, exceedances
from shoal.noise.exponential_choice import exponential_choice
from shoal.noise.finite_precision import corrected_epsilon
from shoal.noise.k_norm import k_norm
from shoal.noise.lattice import Lattice
from shoal.noise.planar_laplace import planar_laplace
from shoal.noise.source import RandomSource, SecureSource, SeededSource, as_source, is_seeded
from shoal.noise.spherical_laplace import spherical_laplace
from shoal.noise.two_level import two_level
from shoal.noise.uniform_integers import uniform_integers

__all__ = [
    "MAX_SCALE",
    "Exceedances",
    "Lattice",
    "RandomSource",
    "SecureSource",
    "SeededSource",
    "as_source",
    "box_norm",
    "corrected_epsilon",
    "discrete_gaussian",
    "discrete_laplace",
    "exceedances",
    "exponential_choice",
    "is_seeded",
    "k_norm",
    "planar_laplace",
    "spherical_laplace",
    "two_level",
    "uniform_integers",
]
