"""A measure over two columns, such as epsilon and dimension, with its numbers in the cells."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._numbers import readable
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._layout import LETTER, heading, label, shape, words
from shoal.plotting._tidy import Columns, distinct, finite, read_columns
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Cells, Scale
from shoal.plotting.save import check_path, save
from shoal.plotting.style import GROWING

__all__ = ["draw_heat_map"]


CELL_WIDTH, CELL_HEIGHT = 0.5, 0.32  # inches, enough for a number
WIDEST = 15.0  # inches
SMALL = 10.0  # numbers below it have two digits after the point


def draw_heat_map(
    path: Path,
    records: Any,
    *,
    rows: str,
    columns: str,
    value: str,
    panels: str | None = None,
    limits: tuple[float, float] | None = None,
    title: str | None = None,
    row_label: str | None = None,
    column_label: str | None = None,
    value_label: str | None = None,
) -> Path:
    """Draw means as colored cells with numbers; all panels share one scale.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    records : list of dict, dict of columns, or data frame
        One row a measurement; those of one cell are averaged. A cell without a finite number stays
        white.
    rows, columns : str
        Columns whose values are the rows and columns of the picture.
    value : str
        Column of numbers.
    panels : str, default=None
        Column with one panel a value, such as the mechanism. None = one panel.
    limits : tuple of float, default=None
        Ends of the colors' scale; None = smallest and largest mean.
    title, row_label, column_label, value_label : str, default=None
        Words; None = what is known of the columns.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If a column is missing or holds no numbers, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> cells = {"epsilon": [1, 1, 2, 2], "columns": [2, 3, 2, 3], "ami": [0.2, 0.1, 0.5, 0.3]}
    >>> file = Path(mkdtemp()) / "ami.png"
    >>> draw_heat_map(file, cells, rows="epsilon", columns="columns", value="ami").name
    'ami.png'
    """
    check_path(path)
    keys = {"rows": rows, "columns": columns, "panels": panels}
    read = finite(read_columns(records, keys=keys, numbers={"value": value}), value)
    downs, acrosses = distinct(read[rows]), distinct(read[columns])
    parts = distinct(read[panels]) if panels else [None]
    tables = [
        _means(
            read,
            read[panels] == part if panels else np.full(len(read[value]), True),
            rows=(rows, downs),
            columns=(columns, acrosses),
            value=value,
        )
        for part in parts
    ]
    scale = Scale(GROWING, _limits(limits, tables), label=label(value, value_label))
    wide = CELL_WIDTH * len(acrosses) + 0.5
    across = shape(len(parts), most=int(min(max(WIDEST // wide, 1), 4)))
    letters = max(len(words(down)) for down in downs)
    width = across.columns * wide + LETTER * letters + 1.5
    height = across.rows * (CELL_HEIGHT * len(downs) + 0.8) + 0.7
    chart = Chart(
        panels=tuple(
            Panel(
                marks=(_cells(table, downs, acrosses, scale),),
                x=_axis(label(columns, column_label), acrosses),
                y=_axis(label(rows, row_label), downs, down=True),
                title="" if panels is None else heading(panels, part),
                frame="ticks",
            )
            for part, table in zip(parts, tables, strict=True)
        ),
        columns=across.columns,
        width=max(width, 4.2),
        height=max(height, 2.6),
        title=words(title) if title is not None else "",
        shared=True,
    )
    return save(chart, path)


def _cells(table: Floats, downs: list[Any], acrosses: list[Any], scale: Scale) -> Cells:
    written = np.full(table.shape, "", dtype=object)
    notes = written.copy()
    for (row, column), mean in np.ndenumerate(table):
        if np.isfinite(mean):
            written[row, column] = _short(mean)
            place = f"{words(downs[row])} / {words(acrosses[column])}"
            notes[row, column] = f"{place}\n{scale.label}: {mean:.4g}"
    ends = (-0.5, len(acrosses) - 0.5), (-0.5, len(downs) - 0.5)
    return Cells(values=table, x=ends[0], y=ends[1], scale=scale, words=written, notes=notes)


def _axis(name: str, values: list[Any], *, down: bool = False) -> Axis:
    ends = (-0.5, len(values) - 0.5)
    return Axis(
        label=name,
        ticks=tuple(map(float, range(len(values)))),
        names=tuple(words(value) for value in values),
        limits=ends[::-1] if down else ends,
    )


def _means(
    read: Columns,
    inside: npt.NDArray[np.bool_],
    *,
    rows: tuple[str, list[Any]],
    columns: tuple[str, list[Any]],
    value: str,
) -> Floats:
    table = np.full((len(rows[1]), len(columns[1])), np.nan)
    for place, down in enumerate(rows[1]):
        for number, across in enumerate(columns[1]):
            cell = inside & (read[rows[0]] == down) & (read[columns[0]] == across)
            if cell.any():
                table[place, number] = read[value][cell].mean()
    return table


def _limits(limits: Any, tables: list[Floats]) -> tuple[float, float]:
    if limits is None:
        lowest, highest = float(np.nanmin(tables)), float(np.nanmax(tables))
        # One value alone has no scale.
        return (lowest, highest) if highest > lowest else (lowest - 0.5, lowest + 0.5)
    try:
        lowest, highest = (float(end) for end in limits)
    except (TypeError, ValueError):
        raise ParameterError(f"limits must be two numbers (low, high), got {limits!r}") from None
    if not (np.isfinite([lowest, highest]).all() and lowest < highest):
        raise ParameterError(f"limits must be finite with low < high, got {limits!r}")
    return lowest, highest


def _short(mean: float) -> str:
    if abs(mean) >= SMALL:
        return readable(mean)
    text = f"{mean:.2f}"
    return "0.00" if text == "-0.00" else text
