"""Clusters of cells side by side, such as as published, corrected and without privacy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal._bounds import Box, public_box
from shoal._typing import Ints
from shoal.exceptions import ParameterError
from shoal.plotting._clusters import MAX_NAMED, NOISE, cluster_look, cluster_name
from shoal.plotting._layout import column_names, shape, words
from shoal.plotting._outline import outline
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Cells, Line, Mark, Points, Scale
from shoal.plotting.save import check_path, save

__all__ = ["draw_cells"]


def draw_cells(
    path: Path,
    cells: Mapping[str, Any],
    *,
    bounds: Any = None,
    columns: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Draw grids of cells in the colors of their clusters, on the same axes.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    cells : mapping of str to array-like of int, of shape (first column, second column)
        Cluster of each cell by name of the grid, -1 = none, as ``cells_`` of
        :class:`shoal.cluster.DPWaveCluster`. Grids may differ in size.
    bounds : tuple (low, high), default=None
        Public box that the grids cover; None = cells are counted.
    columns : sequence of str, default=None
        Names of the two columns, with units.
    title : str, default=None
        Of the whole figure.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If a grid is not a table of whole numbers from -1, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> grid = np.array([[0, 0, -1], [-1, -1, -1], [-1, 1, 1]])
    >>> draw_cells(Path(mkdtemp()) / "cells.svg", {"corrected": grid}, bounds=(0.0, 1.0)).name
    'cells.svg'
    """
    check_path(path)
    grids = _grids(cells)
    names = column_names(columns, 2)
    if columns is None and bounds is None:
        names = ["column 1 (cells)", "column 2 (cells)"]
    found = sorted({int(one) for grid in grids.values() for one in np.unique(grid)} - {NOISE})
    across = shape(len(grids))
    chart = Chart(
        panels=tuple(
            _panel(name, grid, found, bounds=bounds, names=names) for name, grid in grids.items()
        ),
        columns=across.columns,
        width=max(3.9 * across.columns, 4.8),
        height=3.9 * across.rows + 0.6,
        title=words(title) if title is not None else "",
        key=_key(found),
    )
    return save(chart, path)


def _grids(cells: Any) -> dict[str, Ints]:
    if not isinstance(cells, Mapping) or not cells:
        kind = type(cells).__name__
        raise ParameterError(f"cells must be a dict of at least one grid, got {kind}")
    grids = {words(name): np.asarray(grid) for name, grid in cells.items()}
    for name, grid in grids.items():
        whole = grid.ndim == 2 and grid.size and grid.dtype.kind in "iu"
        if not whole or grid.min() < NOISE:
            raise ParameterError(
                "cells must be tables of whole numbers >= -1 with two columns of records, got "
                f"shape {grid.shape} of {grid.dtype} for {name!r}"
            )
    return {name: grid.astype(np.int64) for name, grid in grids.items()}


def _panel(
    name: str, grid: Ints, found: Sequence[int], *, bounds: Any, names: Sequence[str]
) -> Panel:
    counted = Box(np.zeros(2), np.array(grid.shape, dtype=np.float64))
    box = counted if bounds is None else public_box(bounds, 2)
    x, y = ((float(low), float(high)) for low, high in zip(*box, strict=True))
    # Rows of the grid are the first column of the records, which a reader expects to go right.
    turned = grid.T
    marks: list[Mark] = []
    if found:
        colors = tuple(cluster_look(cluster).color for cluster in found)
        scale = Scale(colors, (-0.5, len(found) - 0.5), steps=True)
        places = np.searchsorted(found, turned).astype(np.float64)
        places[turned == NOISE] = np.nan
        notes = np.array([[cluster_name(int(one)) for one in row] for row in turned], dtype=object)
        marks.append(Cells(values=places, x=x, y=y, scale=scale, notes=notes))
    border = outline(turned != NOISE, x=x, y=y)
    marks.append(Line(x=border.x, y=border.y, color="#262626", width=0.6, says="border"))
    kept = int((grid != NOISE).sum())
    clusters = len(np.unique(grid[grid != NOISE]))
    return Panel(
        marks=tuple(marks),
        x=Axis(label=names[0], limits=x),
        y=Axis(label=names[1], limits=y),
        title=f"{name} (clusters: {clusters}, cells: {kept})",
    )


def _key(found: Sequence[int]) -> tuple[Mark, ...]:
    if len(found) > MAX_NAMED:
        return ()
    none = np.empty((0, 2))
    return tuple(
        Points(at=none, color=cluster_look(one).color, marker="s", name=cluster_name(one))
        for one in found
    )
