"""Local randomizers: each device perturbs its own record, and only the report leaves it."""

from shoal.mechanisms.duchi import Duchi
from shoal.mechanisms.hybrid import Hybrid
from shoal.mechanisms.kd_laplace import KdLaplace
from shoal.mechanisms.laplace import Laplace
from shoal.mechanisms.piecewise import Piecewise
from shoal.mechanisms.planar import PlanarLaplace
from shoal.mechanisms.spherical import SphericalLaplace
from shoal.mechanisms.square_wave import SquareWave

__all__ = [
    "Duchi",
    "Hybrid",
    "KdLaplace",
    "Laplace",
    "Piecewise",
    "PlanarLaplace",
    "SphericalLaplace",
    "SquareWave",
]
