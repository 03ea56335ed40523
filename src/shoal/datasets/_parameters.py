"""Checks of the parameters that the generators share."""

import numbers
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError


def check_plane_or_space(n_features: Any) -> int:
    """Return 2 or 3, or refuse the number of columns.

    Parameters
    ----------
    n_features : object
        What the caller passed.

    Returns
    -------
    n_features : int

    Raises
    ------
    ParameterError
        If it is neither 2 nor 3.
    """
    if isinstance(n_features, bool) or n_features not in (2, 3):
        raise ParameterError(f"n_features must be 2 or 3, got {n_features!r}")
    return int(n_features)


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator to draw from: fresh for None, seeded for an integer.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        What the caller passed.

    Returns
    -------
    rng : numpy.random.Generator

    Raises
    ------
    ParameterError
        If it is something else, or a negative integer.
    """
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if (
        random_state is None
        or isinstance(random_state, np.random.Generator)
        or (whole and random_state >= 0)
    ):
        return np.random.default_rng(random_state)
    raise ParameterError(
        f"random_state must be None, an integer >= 0 or a numpy Generator, got {random_state!r}"
    )
