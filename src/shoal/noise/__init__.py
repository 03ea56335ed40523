"""Exact noise: random sources, samplers of integers, noise with its privacy loss, the lattice.

Estimators and mechanisms use this package; you need it only to build your own. Samplers such as
``discrete_laplace`` draw integers with exactly the distribution that their proof is about;
:func:`privatize` adds noise to exact statistics; :class:`Lattice` rounds records to integers first.
"""

from shoal.noise.box_norm_sampler import MAX_COLUMNS, box_norm
from shoal.noise.distributions import (
    BoxNoise,
    ExponentialMechanism,
    LaplaceNoise,
    RoundedGaussianNoise,
    SparseCounts,
    SparseLaplaceNoise,
)
from shoal.noise.elliptic_noise import EllipticNoise
from shoal.noise.exponential_sampler import exponential_choice
from shoal.noise.k_norm_sampler import elliptic_k_norm, k_norm
from shoal.noise.keyed_counts import KeyCounts, ThresholdedNoise, key_threshold
from shoal.noise.laplace_sampler import MAX_SCALE, discrete_laplace
from shoal.noise.lattice import WIDE, Lattice
from shoal.noise.noisy_cells import NoisyCells, noisy_cells_above
from shoal.noise.normal_sampler import rounded_gaussian
from shoal.noise.planar_sampler import planar_laplace
from shoal.noise.releases import (
    ApproximateNoise,
    Noise,
    Observer,
    PrivacyMeasure,
    current_part,
    disjoint_part,
    observed,
    privatize,
)
from shoal.noise.response_sampler import keep_threshold, odds_between, randomized_response
from shoal.noise.source import RandomSource, SecureSource, SeededSource, as_source, is_seeded
from shoal.noise.spherical_sampler import spherical_laplace
from shoal.noise.tree_shape import TreeShape, TreeShapeNoise, tree_shape_loss
from shoal.noise.two_level_sampler import two_level
from shoal.noise.uniform_sampler import uniform_integers

__all__ = [
    "MAX_COLUMNS",
    "MAX_SCALE",
    "WIDE",
    "ApproximateNoise",
    "BoxNoise",
    "EllipticNoise",
    "ExponentialMechanism",
    "KeyCounts",
    "LaplaceNoise",
    "Lattice",
    "Noise",
    "NoisyCells",
    "Observer",
    "PrivacyMeasure",
    "RandomSource",
    "RoundedGaussianNoise",
    "SecureSource",
    "SeededSource",
    "SparseCounts",
    "SparseLaplaceNoise",
    "ThresholdedNoise",
    "TreeShape",
    "TreeShapeNoise",
    "as_source",
    "box_norm",
    "current_part",
    "discrete_laplace",
    "disjoint_part",
    "elliptic_k_norm",
    "exponential_choice",
    "is_seeded",
    "k_norm",
    "keep_threshold",
    "key_threshold",
    "noisy_cells_above",
    "observed",
    "odds_between",
    "planar_laplace",
    "privatize",
    "randomized_response",
    "rounded_gaussian",
    "spherical_laplace",
    "tree_shape_loss",
    "two_level",
    "uniform_integers",
]
