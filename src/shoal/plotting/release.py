"""What was released, drawn: centers and noisy sizes in the public box; no record is in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal._numbers import readable
from shoal.plotting._layout import around
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Line, Mark, Points, Texts
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, DASH, GREY
from shoal.plotting.thresholds import draw_thresholds

__all__ = ["draw_release"]

LARGEST = 900.0  # area of the largest cluster's dot, in points
SMALLEST = 12.0
HOLLOW = 160.0  # of a dot that may be noise alone, at least: its number fits inside
MAX_NAMES = 16  # columns whose names still fit below a picture
SHORT = 24  # letters of a name


def draw_release(path: Path, release: Any, columns: Sequence[str]) -> Path | None:
    """Draw what was released, and the public box around it.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    release : Release
        Of a DPKMeans or a DPWaveCluster.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    path : Path or None
        The file written; None where the release has nothing that can be drawn (the significant
        cells of a sparse grid).
    """
    check_path(path)
    values = release.values
    if "centers" not in values:
        return draw_thresholds(path, release) if "band" in values else None
    names = [_short(name) for name in columns]
    mark = "" if release.guarantee.holds else " (nothing is promised: not to be published)"
    title = f"Released centers and noisy sizes{mark}"
    panel = (_profiles if len(names) > 2 else _places)(values, names, title)
    return save(Chart(panels=(panel,), width=6.4, height=4.8), path)


def _places(values: Any, names: Sequence[str], title: str) -> Panel:
    """Show centers of one column on a line, of two in the plane."""

    def plane(points: Any) -> Any:
        return points if points.shape[1] == 2 else np.column_stack([points, np.zeros(len(points))])

    low, high = plane(np.stack([values["low"], values["high"]]))
    centers = plane(np.asarray(values["centers"], dtype=np.float64))
    numbers = tuple(map(str, range(len(centers))))
    (left, bottom), (right, top) = low, high
    flat = len(names) == 1
    up = Axis(ticks=(), limits=(-1.0, 1.0)) if flat else _axis(names[1], centers, low, high, 1)
    return Panel(
        marks=(
            Line(
                x=np.array([left, right, right, left, left], dtype=np.float64),
                y=np.array([bottom, bottom, top, top, bottom], dtype=np.float64),
                color=GREY,
                dash=DASH,
                width=1.0,
                name="box",
            ),
            *_centers(values, centers),
            Texts(at=centers, words=numbers),
        ),
        x=_axis(names[0], centers, low, high, 0),
        y=up,
        title=title,
    )


def _centers(values: Any, centers: Any) -> list[Points]:
    """Mark centers by their sizes; those that may be noise alone are hollow and gray."""
    certain, notes = values["certain"], _notes(values)
    areas = np.maximum(_areas(values["sizes"]), np.where(certain, 0.0, HOLLOW))
    return [
        Points(
            at=centers[chosen],
            color=GREY if hollow else COLORS["central"],
            area=areas[chosen],
            hollow=hollow,
            alpha=1.0 if hollow else 0.55,
            name="may be noise alone" if hollow else "center",
            says="center",
            notes=tuple(notes[number] for number in np.flatnonzero(chosen)),
        )
        for chosen, hollow in ((certain, False), (~certain, True))
        if chosen.any()
    ]


def _axis(name: str, centers: Any, low: Any, high: Any, column: int) -> Axis:
    ends = around(np.array([*centers[:, column], low[column], high[column]]), 0.08)
    return Axis(label=f"{name} (records' unit)", limits=ends)


def _profiles(values: Any, names: Sequence[str], title: str) -> Panel:
    """Show each center as a line over the columns, each of which runs over its side of the box."""
    heights = (values["centers"] - values["low"]) / (values["high"] - values["low"])
    widths = 0.8 + 4.0 * np.sqrt(_areas(values["sizes"]) / LARGEST)
    places = np.arange(float(len(names)))
    notes = _notes(values)
    lines: list[Mark] = [
        Line(
            x=places,
            y=height,
            color=COLORS["central"] if certain else GREY,
            dash=() if certain else DASH,
            alpha=0.5 if certain else 1.0,
            width=float(width),
            marker="o",
            size=3.0,
            hollow=not certain,
            name="center" if certain else "may be noise alone",
            says=note,
            notes=tuple(names),
        )
        for height, width, note, certain in zip(
            heights, widths, notes, values["certain"], strict=True
        )
    ]
    last = np.column_stack([np.full(len(heights), places[-1]), heights[:, -1]])
    lines.append(Texts(at=last, words=tuple(map(str, range(len(heights)))), beside="right"))
    few = len(names) <= MAX_NAMES
    return Panel(
        marks=tuple(lines),
        x=Axis(ticks=tuple(places.tolist()), names=tuple(names), slant=True)
        if few
        else Axis(label="column"),
        y=Axis(label="place in the box (0 = low, 1 = high)", limits=(-0.02, 1.02)),
        title=title,
    )


def _notes(values: Any) -> tuple[str, ...]:
    return tuple(
        f"cluster {number}, noisy size {readable(float(size))}"
        + ("" if certain else ", may be noise alone")
        for number, (size, certain) in enumerate(
            zip(values["sizes"], values["certain"], strict=True)
        )
    )


def _areas(sizes: Any) -> Any:
    return np.maximum(LARGEST * np.asarray(sizes, float) / max(float(np.max(sizes)), 1.0), SMALLEST)


def _short(name: str) -> str:
    return name if len(name) <= SHORT else name[: SHORT - 1] + "…"
