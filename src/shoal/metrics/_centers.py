"""Cluster centers as an argument of the measures."""

from typing import Any

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import DataError, ParameterError


def as_centers(
    centers: Any, *, name: str, n_features: int | None = None, like: str = "X"
) -> Floats:
    """Turn cluster centers into float64, or refuse them.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Centers.
    name : str
        Name of the parameter, for messages.
    n_features : int or None, default=None
        Number of columns they must have; None for any.
    like : str, default="X"
        Name of what has that many columns, for messages.

    Returns
    -------
    centers : ndarray of float64, shape (k, d)

    Raises
    ------
    ParameterError
        If they are not a table of k >= 1 rows of finite numbers, `n_features` of them.

    Examples
    --------
    >>> as_centers([[0, 1]], name="centers", n_features=2).tolist()
    [[0.0, 1.0]]
    """
    try:
        table = validate_records(centers)
    except DataError:
        shape = "one center a row" if n_features is None else f"{n_features} columns, as {like} has"
        raise ParameterError(f"{name} must be a table of finite numbers, {shape}") from None
    if n_features is not None and table.shape[1] != n_features:
        raise ParameterError(
            f"{name} must have {n_features} columns, as {like} has, got {table.shape[1]}"
        )
    return table
