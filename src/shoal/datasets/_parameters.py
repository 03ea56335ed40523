"""Checks of the parameters that the generators share."""

import numbers
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError


def check_columns(n_features: Any) -> int:
    """Return the number of columns of a shape, at least 2, or refuse it.

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
        If it is no whole number, or the shape needs more columns.
    """
    whole = isinstance(n_features, numbers.Integral) and not isinstance(n_features, bool)
    if not whole or n_features < 2:
        raise ParameterError(f"n_features must be a whole number >= 2, got {n_features!r}")
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
