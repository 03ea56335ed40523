"""A release as it looks from one record: numbers that being in it would have moved.

Only what is released is read. From centers and sizes: how near the nearest center is, how large its
cluster, how dense the release is around the record. From cells: the record's own cell.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.remap import squared_distances

__all__ = ["release_features", "released_values"]


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
    if isinstance(values, Mapping) and ("centers" in values or "cells" in values):
        return values
    centers = getattr(model, "cluster_centers_", None)
    if centers is None or values is not None:
        raise ParameterError(
            "estimator must release centers or cells in release_.values, or have cluster_centers_, "
            f"got {type(model).__name__} with neither"
        )
    labels = getattr(model, "labels_", None)
    sizes = None if labels is None else np.bincount(labels, minlength=len(centers))
    return {"centers": centers} if sizes is None else {"centers": centers, "sizes": sizes}


def release_features(model: Any, X: Floats, targets: Ints) -> Floats:
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
    if "centers" not in values:
        return _from_cells(values, records)
    unit = np.ones(X.shape[1])
    if "low" in values and "high" in values:
        # What counts as near was decided in units of the public box.
        unit = (np.asarray(values["high"]) - np.asarray(values["low"])) / 2
    centers = np.reshape(np.asarray(values["centers"], dtype=np.float64), (-1, X.shape[1])) / unit
    sizes = np.asarray(values.get("sizes", np.ones(len(centers))), dtype=np.float64)
    spread = float((X / unit).var(axis=0).mean()) or 1.0
    return _from_centers(centers, np.maximum(sizes, 0.0), records / unit, spread)


def _from_centers(centers: Floats, sizes: Floats, records: Floats, spread: float) -> Floats:
    # Near zero: large common parts would cancel badly.
    middle = centers.mean(axis=0)
    squares = squared_distances(records - middle, centers - middle)
    nearest = squares.argmin(axis=1)
    distance = np.sqrt(squares[np.arange(len(records)), nearest])
    size = sizes[nearest]
    # k centers share the records' spread: about this much is left around each.
    width = spread * len(centers) ** (-2.0 / records.shape[1])
    dense = np.exp(-squares / (2 * width)) @ sizes
    columns = [
        -distance,
        -np.log(distance + TINY * np.sqrt(spread)),
        size,
        np.log1p(size),
        # Size times offset is about the sum that the center was computed from.
        size * distance,
        np.log(dense + TINY),
    ]
    return np.stack(columns, axis=1)


def _from_cells(values: Mapping[str, Any], records: Floats) -> Floats:
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
