"""Public bounds of the records: given by the caller, never computed from records."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.exceptions import MissingBoundsError, ParameterError

__all__ = ["Box", "bounded_columns", "public_box"]

Floats = npt.NDArray[np.float64]


class Box(NamedTuple):
    """Two opposite corners of the public domain."""

    low: Floats
    high: Floats


def public_box(bounds: Any, columns: int) -> Box:
    """Check public bounds and spread them over the columns.

    Parameters
    ----------
    bounds : tuple (low, high)
        Two numbers, or one value per column in each.
    columns : int
        Number of columns of the records.

    Returns
    -------
    box : Box
        Low and high corner, each of shape (columns,).

    Raises
    ------
    MissingBoundsError
        If there are none.
    ParameterError
        If they are not finite, not in order, or of another length.
    """
    if bounds is None:
        raise MissingBoundsError(
            "bounds must be given, got none",
            parameter="bounds",
            in_python="pass public bounds=(low, high), two numbers or one value per column, known "
            "without looking at the records",
        )
    try:
        low, high = (np.array(corner, dtype=np.float64) for corner in bounds)
    except (TypeError, ValueError):
        raise ParameterError(
            f"bounds must be a low and a high number, or one of each per column, got {bounds!r}",
            parameter="bounds",
            in_python="pass a pair (low, high)",
        ) from None
    for name, corner in (("low", low), ("high", high)):
        if corner.shape not in ((), (columns,)):
            raise ParameterError(
                f"bounds must have one value or {columns} values (one per column) in {name}, "
                f"got {' x '.join(map(str, corner.shape))}"
            )
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ParameterError(f"bounds must be finite, got {bounds!r}")
    if not (low < high).all():
        raise ParameterError(f"bounds must have low < high in every column, got {bounds!r}")
    shape = (columns,)
    return Box(np.broadcast_to(low, shape).copy(), np.broadcast_to(high, shape).copy())


def bounded_columns(bounds: Any, *, default: int) -> int:
    """Tell how many columns public bounds are for.

    Parameters
    ----------
    bounds : tuple (low, high)
        Two numbers or one value per column in each.
    default : int
        What two numbers are taken for.

    Returns
    -------
    columns : int
        As many as they have values.

    Raises
    ------
    ParameterError
        If they are no pair.
    """
    if not isinstance(bounds, str):
        try:
            return max((len(corner) for corner in bounds if np.ndim(corner)), default=default)
        except TypeError:
            pass
    raise ParameterError(f"bounds must be a pair (low, high), got {bounds!r}")
