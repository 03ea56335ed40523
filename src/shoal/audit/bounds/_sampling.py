"""Outputs of a mechanism: many runs on one record."""

from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.exceptions import ParameterError

CHUNK_VALUES = 1 << 23  # Numbers handed to one call of `transform`: 64 MB.


def draw(mechanism: Any, record: Any, samples: int, *, name: str) -> Floats:
    """Run a mechanism `samples` times on one record.

    Parameters
    ----------
    mechanism : object with ``transform`` or callable
        As in :func:`shoal.audit.epsilon_lower_bound`.
    record : object
        The record; a number or a vector where `mechanism` has ``transform``.
    samples : int
        Number of outputs.
    name : str
        Name of the record's parameter, for messages.

    Returns
    -------
    outputs : ndarray of float64, shape (samples,) or (samples, d)
        Independent outputs, in the shape the mechanism gave them.

    Raises
    ------
    ParameterError
        If the mechanism cannot be run, or what it gives is not `samples` rows of numbers.
    """
    if hasattr(mechanism, "transform"):
        return _transform(mechanism, as_vector(record, name=name), samples)
    if callable(mechanism):
        return _as_outputs(mechanism(record, samples), samples)
    raise ParameterError(
        "mechanism must have transform, or be a callable of a record and a number, "
        f"got {type(mechanism).__name__}"
    )


def as_vector(record: Any, *, name: str) -> Floats:
    """Turn a number or a vector into a float64 vector, or refuse it.

    Parameters
    ----------
    record : object
        What the caller passed.
    name : str
        Name of the parameter, for messages.

    Returns
    -------
    vector : ndarray of float64, shape (d,)

    Raises
    ------
    ParameterError
        If it is not a number or a vector of finite numbers.
    """
    vector = numeric_vector(record)
    if vector is None:
        raise ParameterError(f"{name} must be a number or a vector of finite numbers")
    return vector


def numeric_vector(record: Any) -> Floats | None:
    """Turn a number or a vector of finite numbers into float64, or return None.

    Parameters
    ----------
    record : object
        What the caller passed.

    Returns
    -------
    vector : ndarray of float64, shape (d,), or None
    """
    try:
        values = np.asarray(record)
    except ValueError:
        return None
    if values.dtype.kind not in "biuf" or values.ndim > 1 or values.size == 0:
        return None
    vector = np.atleast_1d(values).astype(np.float64)
    return vector if np.isfinite(vector).all() else None


def _transform(mechanism: Any, record: Floats, samples: int) -> Floats:
    rows = max(1, CHUNK_VALUES // record.size)
    chunks: list[Floats] = []
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        tiled = np.tile(record, (count, 1))
        chunks.append(_as_outputs(mechanism.transform(tiled), count))
    if len(chunks) > 1:
        _refuse_repeats(chunks[0], chunks[1])
    return np.concatenate(chunks)


def _refuse_repeats(one: Floats, other: Floats) -> None:
    """Refuse noise that starts again with every call: its outputs are not independent."""
    head = one[: len(other)]
    # A mechanism without noise repeats itself too, and is for the audit to catch.
    if np.array_equal(head, other) and (head != head[0]).any():
        raise ParameterError(
            "mechanism must draw fresh noise in every call, got the same outputs twice",
            parameter="random_state",
            in_python="audit it with random_state=None or with fewer samples",
        )


def _as_outputs(values: Any, samples: int) -> Floats:
    try:
        outputs = np.asarray(values)
    except ValueError:
        outputs = np.empty(0, dtype=object)
    if outputs.dtype.kind not in "biuf":
        raise ParameterError(f"mechanism must give numbers, got {outputs.dtype}")
    if outputs.ndim not in (1, 2) or len(outputs) != samples or outputs.size == 0:
        raise ParameterError(
            f"mechanism must give {samples} outputs of shape (n,) or (n, d), "
            f"got shape {outputs.shape}"
        )
    return outputs.astype(np.float64)
