"""Checks of the public values that kernels are made from."""

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.engines.engine import HALF
from shoal.exceptions import ParameterError

__all__ = ["lattice_points", "whole"]


def lattice_points(name: str, points: npt.NDArray[Any], columns: int) -> npt.NDArray[np.int64]:
    """Return ``points`` as int64 of shape (at least 1, columns), within the lattice."""
    if points.ndim != 2 or points.shape[1] != columns or len(points) == 0:
        raise ParameterError(f"{name} must have shape (1 or more, {columns}), got {points.shape}")
    if points.dtype.kind not in "iu":
        raise ParameterError(f"{name} must be integers, got {points.dtype}: round them first")
    if not (points.min() >= -HALF and points.max() <= HALF):
        raise ParameterError(f"{name} must lie between {-HALF} and {HALF}: clip them first")
    return points.astype(np.int64, copy=False)


def whole(name: str, value: Any, most: int) -> int:
    """Return ``value`` as an int from 1 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")
    if not 1 <= value <= most:
        raise ParameterError(f"{name} must be from 1 to {most}, got {value!r}")
    return int(value)
