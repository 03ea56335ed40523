"""Random sources, exact integer noise, the door where values are hidden, and the public lattice."""

from shoal.noise.box_norm import box_norm
from shoal.noise.discrete_gaussian import discrete_gaussian
from shoal.noise.discrete_laplace import MAX_SCALE, discrete_laplace
from shoal.noise.exceedances import Exceedances, exceedances
from shoal.noise.exponential_choice import exponential_choice
from shoal.noise.finite_precision import corrected_epsilon
from shoal.noise.hide import Currency, Law, Witness, hide, witnessed
from shoal.noise.k_norm import k_norm
from shoal.noise.lattice import Lattice
from shoal.noise.laws import BoxLaw, ChoiceLaw, GaussianLaw, LaplaceLaw
from shoal.noise.planar_laplace import planar_laplace
from shoal.noise.source import RandomSource, SecureSource, SeededSource, as_source, is_seeded
from shoal.noise.sparse_laplace import SparseCounts, SparseLaplaceLaw
from shoal.noise.spherical_laplace import spherical_laplace
from shoal.noise.two_level import two_level
from shoal.noise.uniform_integers import uniform_integers

__all__ = [
    "MAX_SCALE",
    "BoxLaw",
    "ChoiceLaw",
    "Currency",
    "Exceedances",
    "GaussianLaw",
    "LaplaceLaw",
    "Lattice",
    "Law",
    "RandomSource",
    "SecureSource",
    "SeededSource",
    "SparseCounts",
    "SparseLaplaceLaw",
    "Witness",
    "as_source",
    "box_norm",
    "corrected_epsilon",
    "discrete_gaussian",
    "discrete_laplace",
    "exceedances",
    "exponential_choice",
    "hide",
    "is_seeded",
    "k_norm",
    "planar_laplace",
    "spherical_laplace",
    "two_level",
    "uniform_integers",
    "witnessed",
]
