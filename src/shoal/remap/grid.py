"""Remaps that learn nothing: to the nearest point of the public box, or of a public grid."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from shoal._bounds import Box, cells_per_column, given_bounds, public_box
from shoal._records import validate_records
from shoal._typing import Bounds, Floats
from shoal.exceptions import DataError, MissingBoundsError, ParameterError
from shoal.remap._base import Remap

__all__ = ["Clip", "GridRemap"]


class Clip(Remap):
    """Clip reports to the public box.

    This is post-processing: the guarantee of the reports is unchanged.

    Parameters
    ----------
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``; ``transform`` works without ``fit``.

    See Also
    --------
    GridRemap : Move reports to the points of a public grid.
    BayesRemap : Move reports to the expected position of the record, which is much nearer to it if
        the noise is large.

    Examples
    --------
    >>> from shoal.remap import Clip
    >>> Clip((0.0, 1.0)).fit_transform([[0.5, -3.0], [2.0, 0.25]]).tolist()
    [[0.5, 0.0], [1.0, 0.25]]
    """

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds

    def _check(self, columns: int) -> None:
        public_box(given_bounds(self), columns)

    def _move(self, reports: Floats) -> Floats:
        box = public_box(given_bounds(self), reports.shape[1])
        points: Floats = np.clip(reports, box.low, box.high)
        return points


CHUNK_VALUES = 1 << 17  # numbers rounded at a time, so that every pass stays in cache
CHUNK_QUERIES = 1 << 16  # reports asked of the tree at a time


class GridRemap(Remap):
    """Move each report to the nearest point of a public grid.

    Parameters
    ----------
    bounds : tuple (low, high), default=None
        Public box that the grid divides; two numbers, or one value per column in each.
    cells : int or sequence of int, default=64
        Number of cells in each column; one number, or one per column. The points of the grid are
        the centers of the cells: the first lies half a cell above ``low``, the last half a cell
        below ``high``.
    points : array-like of shape (m, d), default=None
        Irregular public points instead of a box, such as the stations of a town.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``; ``transform`` works without ``fit``.

    See Also
    --------
    BayesRemap : Move reports to the expected position of the record, given all reports.

    Notes
    -----
    The grid is public and the remap sees reports only, so the guarantee of the reports is
    unchanged (proofs/remap.md). A report half-way between two points moves to the upper one.

    Examples
    --------
    >>> from shoal.remap import GridRemap
    >>> GridRemap(bounds=(0.0, 1.0), cells=4).fit_transform([[0.3, 7.0]]).tolist()
    [[0.375, 0.875]]
    >>> GridRemap(points=[[0.0, 0.0], [5.0, 1.0]]).fit_transform([[3.0, 3.0]]).tolist()
    [[5.0, 1.0]]
    """

    def __init__(
        self, bounds: Bounds | None = None, *, cells: Any = 64, points: Any = None
    ) -> None:
        self.bounds = bounds
        self.cells = cells
        self.points = points

    def _check(self, columns: int) -> None:
        if self.points is None:
            if self.bounds is None:
                raise MissingBoundsError(
                    "bounds must be given, got none",
                    parameter="bounds",
                    in_python="pass public bounds=(low, high) for a regular grid or public points= "
                    "for an irregular one",
                )
            public_box(given_bounds(self), columns)
            cells_per_column(self.cells, columns)
            return
        if self.bounds is not None:
            raise ParameterError(
                f"bounds must be None where points are given, got {self.bounds!r}: pass one of "
                "them",
                parameter="bounds",
                code="unexpected",
            )
        self._points(columns)

    def _move(self, reports: Floats) -> Floats:
        columns = reports.shape[1]
        if self.points is None:
            box = public_box(given_bounds(self), columns)
            return round_to_cells(reports, box, cells_per_column(self.cells, columns))
        points = self._points(columns)
        tree = cKDTree(points)
        moved = np.empty_like(reports)
        for start in range(0, len(reports), CHUNK_QUERIES):
            part = slice(start, start + CHUNK_QUERIES)
            moved[part] = points[tree.query(reports[part], workers=-1)[1]]
        return moved

    def _points(self, columns: int) -> Floats:
        try:
            points = validate_records(self.points)
        except DataError as error:
            message = f"points {str(error).removeprefix('X ')}"
            raise ParameterError(
                message if "got" in message else f"{message}, got none",
                parameter="points",
                code=error.code,
            ) from None
        if points.shape[1] != columns:
            raise ParameterError(
                f"points must have one column per column of the reports ({columns}), "
                f"got {points.shape[1]}",
                parameter="points",
                code="columns",
            )
        return points


def round_to_cells(reports: Floats, box: Box, cells: npt.NDArray[np.int64]) -> Floats:
    """Return the center of the cell of each report, of the nearest cell for those outside."""
    n, columns = reports.shape
    rows = max(1, min(n, CHUNK_VALUES // columns))
    # Counted from the middle cell: from the first, a box as wide as the doubles would overflow.
    width = box.high / cells - box.low / cells
    middle = cells // 2
    columnwise = (
        1.0 / width,
        -box.low / width - middle,
        -1.0 * middle,
        cells - 1.0 - middle,
        width,
        box.low + middle * width + width / 2,
    )
    # One number where columns agree, else written out for a whole chunk: numpy's inner loops are
    # slow over a handful of columns.
    operands = [row[0] if (row == row[0]).all() else np.tile(row, (rows, 1)) for row in columnwise]
    points = np.empty((n, columns))
    with np.errstate(over="ignore"):  # a report so far away ends in the last cell
        for start in range(0, n, rows):
            part = points[start : start + rows]
            per_width, shift, first, last, step, center = (
                value[: len(part)] if np.ndim(value) else value for value in operands
            )
            np.multiply(reports[start : start + rows], per_width, out=part)
            part += shift
            np.floor(part, out=part)
            np.clip(part, first, last, out=part)
            part *= step
            part += center
    return points
