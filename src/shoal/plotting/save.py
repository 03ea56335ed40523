"""A chart into a file, whole or not at all."""

import os
from pathlib import Path

from shoal._files import atomic_write
from shoal.exceptions import ParameterError
from shoal.plotting import _matplotlib, _plotly
from shoal.plotting.chart import Chart

__all__ = ["check_path", "save"]

PICTURES = (".png", ".svg", ".pdf")  # of matplotlib
PAGE, FIGURE = ".html", ".json"  # of Plotly
ENDINGS = (*PICTURES, PAGE, FIGURE)


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path if a chart can be written in the format that it ends with."""
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise ParameterError(f"path must end with {', '.join(ENDINGS)}, got {file.name!r}")
    return file


def save(chart: Chart, path: str | os.PathLike[str]) -> Path:
    """Write a chart in the format that the path ends with.

    Parameters
    ----------
    chart : Chart
        What to draw.
    path : path
        PNG, SVG or PDF file, drawn by matplotlib; HTML page, drawn by Plotly, that needs nothing
        else; or JSON file with the figure for Plotly, for pages that hold Plotly already.

    Returns
    -------
    path : Path
        The file written; the same for the same chart.

    Raises
    ------
    ParameterError
        If the file has another ending or cannot be written; an older file is then as it was.
    MissingPackageError
        If the drawing library is not installed.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> from shoal.plotting import Axis, Line, Panel
    >>> line = Line(x=np.array([0.0, 1.0]), y=np.array([1.0, 3.0]), color="#0b3c5d", name="cost")
    >>> panel = Panel(marks=(line,), x=Axis(label="epsilon"), y=Axis(label="cost"))
    >>> chart = Chart(panels=(panel,), width=4.0, height=3.0)
    >>> save(chart, Path(mkdtemp()) / "cost.svg").name
    'cost.svg'
    """
    file = check_path(path)
    content = _content(chart, file.suffix.lower())
    try:
        with atomic_write(file) as part:
            part.write_bytes(content)
    except OSError as failure:
        raise ParameterError(
            f"path must be a file that can be written, got {str(file)!r}: {failure.strerror}"
        ) from None
    return file


def _content(chart: Chart, ending: str) -> bytes:
    if ending in PICTURES:
        return _matplotlib.render(chart, ending)
    return (_plotly.page(chart) if ending == PAGE else _plotly.as_json(chart)).encode()
