"""Labels where the record is: the published clusters travel to the device, the label does not.

A release says by which metric its clusters were made, and labels follow that metric and no other:

* ``"bounds"`` (DPKMeans): Euclidean distance in units of the bounds, on the lattice of the fit;
* ``"schema"`` (DPKMeans): the same, of records encoded by the schema that the release carries;
* ``"cosine"`` (DPKMeans): the same, of records brought to length 1;
* ``"euclidean"`` (NoiseAwareKMeans): Euclidean distance in the unit of the records;
* ``"cells"`` (DPWaveCluster, DPDensity, NoiseAwareDensity): the cluster of the record's cell, or
  -1;
* ``"boxes"`` (DPDensity): the same, of cells of several sizes;
* ``"strata"`` (DPDensity): the same, among the cells of the record's stratum.

Each gives the labels of the estimator's own ``predict``, bit for bit.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._bounds import public_box
from shoal._boxes import find_boxes
from shoal._directions import unit_length
from shoal._frames import is_pandas_series
from shoal._numbers import raise_alone
from shoal._records import (
    NO_RECORDS,
    ONE_NUMBER_EACH,
    column_names,
    validate_records,
    values_by_name,
)
from shoal._typing import Floats, Labels
from shoal.exceptions import DataError, ParameterError
from shoal.labels.release_form import check_labels
from shoal.noise import Lattice
from shoal.privacy import Release
from shoal.schema import Schema

__all__ = ["center_distances", "label_encoded", "label_on_device", "nearest_centers"]

BLOCK_VALUES = 1 << 18  # distances held at a time


def nearest_centers(rows: Floats, centers: Floats) -> npt.NDArray[np.int32]:
    """Find the nearest center of each row in Euclidean distance; ties go to the lowest index.

    Each label depends on its own row alone, to the last bit: squares are added column by column,
    whereas the order of additions in a matrix product depends on the number of rows. On lattice
    indices all sums are exact integers (squares below 2^40, at most 8,192 columns).

    Parameters
    ----------
    rows : ndarray of float64, shape (n, d)
        Records or reports.
    centers : ndarray of float64, shape (k, d)
        Centers, in the same unit.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        Index of the nearest center of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.labels import nearest_centers
    >>> nearest_centers(np.array([[4.0], [5.0], [6.0]]), np.array([[0.0], [10.0]])).tolist()
    [0, 0, 1]
    """
    labels = np.empty(len(rows), dtype=np.int32)
    step = max(1, BLOCK_VALUES // len(centers))
    for start in range(0, len(rows), step):
        squares = _squared_distances(rows[start : start + step], centers)
        labels[start : start + step] = squares.argmin(axis=1)
    return labels


def _squared_distances(rows: Floats, centers: Floats) -> Floats:
    squares = np.zeros((len(rows), len(centers)))
    with np.errstate(over="ignore"):  # too far for a double: infinitely far
        for column, values in zip(rows.T, centers.T, strict=True):
            gaps = column[:, None] - values
            gaps *= gaps
            squares += gaps
    return squares


Values = Mapping[str, Any]

TABLE = 2  # dimensions of one


def label_on_device(release: Any, x: Any, *, metric: str | None = None) -> int | Labels:
    """Find the published cluster of a true record, on the device that holds the record.

    No ledger is charged, because nothing is released: the label is as private as the record. That
    holds as long as the label stays on the device, and so does any behavior that depends on it and
    that others can see. A label that is sent back reveals the cluster of the record.

    Parameters
    ----------
    release : Release or array-like of shape (k, d)
        A release of ``DPKMeans``, ``DPDensity``, ``DPWaveCluster``, ``NoiseAwareKMeans`` or
        ``NoiseAwareDensity``, which contains the metric of its clusters; or only the centers, with
        ``metric``.
    x : array-like of shape (d,) or (n, d), dict, pandas Series, or pandas, polars or Arrow table
        The record, or all records on the device. Named columns are put into the order of the
        release if it has names; an array must have this order. If the release has a schema: a data
        frame, a dict of columns or of the values of one record, or rows, in the units of the table.
    metric : {"euclidean"}, default=None
        Distance to centers that are not part of a release, in the unit of the records. A release
        has its own metric.

    Returns
    -------
    label : int, or ndarray of shape (n,)
        The same as the ``predict`` of the estimator: the index of the nearest center (of equally
        near ones, the lowest); or the cluster of the record's cell, -1 for none.

    Raises
    ------
    ParameterError
        If the metric is not that of the release.
    ReleaseError
        If the release contains no metric, or no clusters by it.
    DataError
        If the record does not have the columns of the release, or not finite numbers in them.

    Examples
    --------
    Distance is in units of the bounds, so a bound's width weighs its column:

    >>> import numpy as np
    >>> from shoal import DPKMeans, label_on_device
    >>> X = np.repeat([[25.0, 30_000.0], [60.0, 90_000.0]], 500, axis=0)
    >>> model = DPKMeans(2, bounds=([18.0, 0.0], [100.0, 500_000.0]), random_state=0).fit(X)
    >>> older = label_on_device(model.release_, [60.0, 30_000.0])
    >>> older == label_on_device(model.release_, [60.0, 90_000.0])
    True
    >>> label_on_device([[0.0, 0.0], [1.0, 1.0]], [0.9, 0.7], metric="euclidean")
    1
    """
    values = _values(release, metric)
    records, single = _given_records(x, values)
    labels = _labels(values, records)
    return int(labels[0]) if single else labels


def label_encoded(release: Release, records: Floats) -> Labels:
    """Find the clusters of records that have already been encoded by the schema of the release.

    Parameters
    ----------
    release : Release
        A release of clusters, with or without a schema.
    records : ndarray of float64, shape (n, d)
        Encoded records, in the columns of the release.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        The same labels as from :func:`label_on_device`.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import DPKMeans
    >>> from shoal.labels import label_encoded
    >>> from shoal.schema import Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120)])
    >>> table = {"age": np.repeat([25.0, 60.0], 500)}
    >>> model = DPKMeans(2, schema=schema, random_state=0).fit(table)
    >>> labels = label_encoded(model.release_, schema.encode(table))
    >>> (labels == model.predict(table)).all()
    np.True_
    """
    return _labels(_values(release, None), records)


def center_distances(release: Release, x: Any) -> Floats:
    """Return the distance of records to each center, in the metric of the release.

    Parameters
    ----------
    release : Release
        A release with centers.
    x : array-like of shape (d,) or (n, d), or table
        The record, or all records on the device, as for :func:`label_on_device`.

    Returns
    -------
    distances : ndarray of shape (k,) or (n, k)
        Distances, as private as the records.

    Raises
    ------
    ParameterError
        If the release has cells instead of centers.

    Examples
    --------
    >>> from shoal.labels import center_distances
    >>> from shoal.privacy import Guarantee, Release
    >>> values = {"metric": "euclidean", "centers": [[0.0, 0.0], [3.0, 4.0]]}
    >>> release = Release("NoiseAwareKMeans", values, Guarantee("local", epsilon=1.0))
    >>> center_distances(release, [0.0, 0.0]).tolist()
    [0.0, 5.0]
    """
    values = _values(release, None)
    if values["metric"] not in POINTS:
        raise ParameterError(
            f"transform must be of a release with centers, got cells of {release.kind}, which have "
            "no distance: use predict",
            parameter="release",
            code="unsupported",
        )
    records, single = _given_records(x, values)
    rows, centers, unit = POINTS[values["metric"]](values, records)
    distances = np.sqrt(_squared_distances(rows, centers)) * unit
    return distances[0] if single else distances


def _labels(values: Values, records: Floats) -> Labels:
    columns = _columns(values)
    if records.shape[1] != columns:
        raise DataError(
            f"X must have the {columns} columns of the release, got {records.shape[1]}",
            code="columns",
        )
    if values["metric"] in POINTS:
        rows, centers, _ = POINTS[values["metric"]](values, records)
        return nearest_centers(rows, centers)
    return CELLS[values["metric"]](values, records)


class _Points(NamedTuple):
    """Records and centers where distance is Euclidean, and how long 1 of that distance is."""

    rows: Floats
    centers: Floats
    unit: float


def _in_bounds(values: Values, records: Floats) -> _Points:
    lattice = _lattice(values, records.shape[1])
    rows, centers = (lattice.encode(points) for points in (records, _centers(values["centers"])))
    widest = 1.0
    if values["metric"] == "schema":
        widest = float(np.max(values["high"]))
    elif "column_weights" in values:
        widest = math.sqrt(np.max(values["column_weights"]))
    step = widest / (2 * int(lattice.high.max()))
    return _Points(rows.astype(np.float64), centers.astype(np.float64), step)


def _by_cosine(values: Values, records: Floats) -> _Points:
    return _in_bounds(values, unit_length(records.T).T)


def _euclidean(values: Values, records: Floats) -> _Points:
    return _Points(records, _centers(values["centers"]), 1.0)


def _in_cells(values: Values, records: Floats) -> Labels:
    half, grid, shape = values["half"], values["grid"], values["shape"]
    grids = [grid] * len(shape) if isinstance(grid, int) else grid  # one for each column
    codes = np.zeros(len(records), dtype=np.int64)
    indices = _lattice(values, records.shape[1]).encode(records)
    for column, side, fine in zip(indices.T, shape, grids, strict=True):
        cell = np.minimum((column + half) * fine // (2 * half), fine - 1)
        codes = codes * side + cell // (fine // side)
    significant = np.asarray(values["cells"], dtype=np.int64)
    clusters = np.append(np.asarray(values["clusters"], dtype=np.int32), np.int32(-1))
    index = np.searchsorted(significant, codes)
    known = np.append(significant, -1)[index] == codes
    return np.where(known, clusters[index], np.int32(-1))


def _in_boxes(values: Values, records: Floats) -> Labels:
    points = _lattice(values, records.shape[1]).encode(records)
    boxes = find_boxes(values["cell_low"], values["cell_high"], points)
    # One more: a point that no box holds has the index -1.
    clusters = np.full(len(values["cell_low"]) + 1, -1, dtype=np.int32)
    clusters[np.asarray(values["cells"], dtype=np.int64)] = values["clusters"]
    labels: Labels = clusters[boxes]
    return labels


def _in_strata(values: Values, records: Floats) -> Labels:
    """Find the stratum of each record by its categories, and its cell among those of it."""
    stratum = np.zeros(len(records), dtype=np.int64)
    for first, last in values["category_blocks"]:
        stratum = stratum * (last - first) + records[:, first:last].argmax(axis=1)
    labels = np.full(len(records), -1, dtype=np.int32)
    numbered = 0  # clusters of the strata before
    for index, one in enumerate(values["strata"]):
        inside = stratum == index
        placed = {**values, **one}
        found = CELLS[one["metric"]](placed, records[np.ix_(inside, values["cell_columns"])])
        labels[inside] = np.where(found >= 0, found + np.int32(numbered), found)
        numbered += len(one["sizes"])
    return labels


POINTS: dict[str, Callable[[Values, Floats], _Points]] = {
    "bounds": _in_bounds,
    "schema": _in_bounds,
    "cosine": _by_cosine,
    "euclidean": _euclidean,
}
CELLS: dict[str, Callable[[Values, Floats], Labels]] = {
    "cells": _in_cells,
    "boxes": _in_boxes,
    "strata": _in_strata,
}


def _values(release: Any, metric: str | None) -> Values:
    """Return what labels are computed from: a release's values, or bare centers and a metric."""
    if not isinstance(release, Release):
        centers = _centers(release)
        if metric != "euclidean":
            raise ParameterError(
                'metric must be "euclidean" for bare centers, which do not say how distance was '
                f"measured, got {metric!r}: pass the release, which does",
                parameter="metric",
                code="conflict",
            )
        return {"metric": metric, "centers": centers}
    values, named = release.values, release.values.get("metric")
    if metric not in (None, named):
        raise ParameterError(
            f"metric must be that of the release, {named!r}, got {metric!r}",
            parameter="metric",
            code="conflict",
        )
    check_labels(release)
    return values


def _columns(values: Values) -> int:
    """Return how many columns a record of this release has."""
    if "centers" in values:
        return int(_centers(values["centers"]).shape[1])
    if "strata" in values:
        return Schema.from_dict(values["schema"]).space.columns
    if "cell_low" in values:
        return int(np.shape(values["cell_low"])[1])
    return len(values["shape"])


def _given_records(x: Any, values: Values) -> tuple[Floats, bool]:
    """Return records as the metric takes them, and whether it is a single one."""
    if "schema" not in values:
        return _records(x, values.get("columns"))
    if is_pandas_series(x):
        x, single = x.to_frame().T, True
    elif isinstance(x, Mapping):
        single = not any(_is_column(value) for value in x.values())
        x = {name: [value] for name, value in x.items()} if single else x
    else:
        single = isinstance(x, list | tuple | np.ndarray) and not any(map(_is_column, x))
        x = [x] if single else x
    records = Schema.from_dict(values["schema"]).encode(x)
    if not len(records):
        raise DataError(NO_RECORDS, code="empty")
    return records, single


def _is_column(value: Any) -> bool:
    """Return whether it holds several values."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _records(x: Any, columns: list[str] | None) -> tuple[Floats, bool]:
    """Return records in the order of the release's columns, and whether it is a single one."""
    if isinstance(x, Mapping):
        x = values_by_name(x, columns)
    if is_pandas_series(x):
        records, single = x.to_frame().T, True
    else:
        try:
            single = np.ndim(x) == 1
        except ValueError:  # of numpy, about lists among the values
            raise_alone(DataError(ONE_NUMBER_EACH))
        records = np.asarray(x)[None, :] if single else x
    names, table = column_names(records), validate_records(records)
    if columns is None or names is None or names == columns:
        return table, single
    if sorted(names) != sorted(columns):
        raise DataError(
            f"X must have the columns of the release, {columns}, got {len(names)} columns that are "
            "not these",
            code="columns",
        )
    return table[:, [names.index(name) for name in columns]], single


def _lattice(values: Values, columns: int) -> Lattice:
    half = values["half"]  # of all columns, or of each where they have weights
    box = public_box((values["low"], values["high"]), columns)
    return Lattice.box(*box, half=np.array(half) if isinstance(half, list) else half)


def _centers(given: Any) -> Floats:
    try:
        centers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        centers = np.empty(0)
    if centers.ndim != TABLE or not centers.size or not np.isfinite(centers).all():
        raise ParameterError(
            "release must be a Release with centers or a table of finite centers, one a row, "
            f"got {type(given).__name__}",
            parameter="release",
            code="type",
        )
    return centers
