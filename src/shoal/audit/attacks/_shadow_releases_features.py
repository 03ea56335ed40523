"""A release as it looks from one record: numbers that being in it would have moved.

Only what is released is read. From centres and sizes: how near the nearest centre is, how large its
cluster, how dense the release is around the record. From cells: the record's own cell.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.exceptions import ParameterError
from shoal.remap._distances import squared_distances

__all__ = ["release_features", "released_values"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

TINY = 1e-3  # of the box or of the records' spread, so that a logarithm of a distance is finite


def released_values(model: Any) -> Mapping[str, Any]:
    """Return what a fitted estimator releases.

    Parameters
    ----------
    model : estimator
        With ``release_.values``; or, as a control without any promise, one of scikit-learn's with
        ``cluster_centers_``, which then releases these and the sizes of its clusters.

    Returns
    -------
    values : mapping
        By name.

    Raises
    ------
    ParameterError
        If there is neither.
    """
    values = getattr(getattr(model, "release_", None), "values", None)
    if isinstance(values, Mapping) and ("centres" in values or "cells" in values):
        return values
    centres = getattr(model, "cluster_centers_", None)
    if centres is None or values is not None:
        raise ParameterError(
            "estimator must release centres or cells in release_.values, or have cluster_centers_, "
            f"got {type(model).__name__} with neither"
        )
    labels = getattr(model, "labels_", None)
    sizes = None if labels is None else np.bincount(labels, minlength=len(centres))
    return {"centres": centres} if sizes is None else {"centres": centres, "sizes": sizes}


def release_features(model: Any, X: FloatArray, targets: IntArray) -> FloatArray:
    """Describe one release from the side of each target.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : ndarray of float64, shape (n, d)
        All records; the attacker knows them, but not which were in.
    targets : ndarray of int64, shape (t,)
        Rows of `X` that are asked about.

    Returns
    -------
    features : ndarray of float64, shape (t, f)
        Finite; f is the same for all releases of one estimator.
    """
    values = released_values(model)
    records = X[targets]
    if "centres" not in values:
        return _from_cells(values, records)
    unit = np.ones(X.shape[1])
    if "low" in values and "high" in values:
        # What counts as near was decided in units of the public box.
        unit = (np.asarray(values["high"]) - np.asarray(values["low"])) / 2
    centres = np.reshape(np.asarray(values["centres"], dtype=np.float64), (-1, X.shape[1])) / unit
    sizes = np.asarray(values.get("sizes", np.ones(len(centres))), dtype=np.float64)
    spread = float((X / unit).var(axis=0).mean()) or 1.0
    return _from_centres(centres, np.maximum(sizes, 0.0), records / unit, spread)


def _from_centres(
    centres: FloatArray, sizes: FloatArray, records: FloatArray, spread: float
) -> FloatArray:
    # Near zero: large common parts would cancel badly.
    middle = centres.mean(axis=0)
    squares = squared_distances(records - middle, centres - middle)
    nearest = squares.argmin(axis=1)
    distance = np.sqrt(squares[np.arange(len(records)), nearest])
    size = sizes[nearest]
    # k centres share the records' spread: about this much is left around each.
    width = spread * len(centres) ** (-2.0 / records.shape[1])
    dense = np.exp(-squares / (2 * width)) @ sizes
    columns = [
        -distance,
        -np.log(distance + TINY * np.sqrt(spread)),
        size,
        np.log1p(size),
        # Size times offset is about the sum that the centre was computed from.
        size * distance,
        np.log(dense + TINY),
    ]
    return np.stack(columns, axis=1)


def _from_cells(values: Mapping[str, Any], records: FloatArray) -> FloatArray:
    low, high = (np.asarray(values[name], dtype=np.float64) for name in ("low", "high"))
    shape = np.asarray(values["shape"], dtype=np.int64)
    grid = int(values["grid"])
    steps = np.floor((records - low) / (high - low) * grid)
    # As predict does: a cell of the band stands for a block of cells of the grid.
    block = np.maximum(grid // shape, 1)
    place = np.clip(steps, 0, grid - 1).astype(np.int64) // block
    code = np.ravel_multi_index(tuple(place.T), tuple(shape.tolist()))
    cells = np.asarray(values["cells"], dtype=np.int64)
    found = np.zeros(len(records))
    if len(cells):
        where = np.minimum(np.searchsorted(cells, code), len(cells) - 1)
        significant = cells[where] == code
        found[significant] = np.asarray(values["values"], dtype=np.float64)[where[significant]]
    else:
        significant = np.zeros(len(records), dtype=np.bool_)
    band = values.get("band")
    value = found if band is None else np.ravel(np.asarray(band, dtype=np.float64))[code]
    return np.stack([value, significant.astype(np.float64)], axis=1)
