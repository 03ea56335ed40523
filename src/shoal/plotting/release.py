"""What was released, drawn: centres and noisy sizes in the public box; no record is in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting._save import save
from shoal.plotting.style import COLOURS, panels
from shoal.plotting.thresholds import draw_thresholds

__all__ = ["draw_release"]

LARGEST = 900.0  # area of the largest cluster's dot, in points
SMALLEST = 12.0
MOST_NAMES = 16  # columns whose names still fit below a picture
SHORT = 24  # letters of a name


def draw_release(release: Any, columns: Sequence[str], path: Path) -> Path | None:
    """Draw what was released, and the public box around it.

    Parameters
    ----------
    release : Release
        Of a DPKMeans or a DPWaveCluster.
    columns : sequence of str
        Names of the columns.
    path : Path
        PNG, PDF or SVG file to write.

    Returns
    -------
    path : Path or None
        The file written; None where the release has nothing that can be drawn (the significant
        cells of a sparse grid).
    """
    values = release.values
    if "centres" not in values:
        return draw_thresholds(release, path) if "band" in values else None
    names = [_short(name) for name in columns]
    with panels(1, width=6.4, height=4.8) as (drawing, (axes,)):
        if len(names) > 2:
            _profiles(axes, values, names)
        else:
            _places(axes, values, names)
        mark = "" if release.guarantee.holds else " (nothing is promised: not to be published)"
        axes.set_title(f"Released centres and noisy sizes{mark}")
        save(drawing, path)
    return path


def _places(axes: Any, values: Any, names: Sequence[str]) -> None:
    """Show centres of one column on a line, of two in the plane."""

    def plane(points: Any) -> Any:
        return points if points.shape[1] == 2 else np.column_stack([points, np.zeros(len(points))])

    low, high = plane(np.stack([values["low"], values["high"]]))
    centres = plane(values["centres"])
    axes.scatter(
        *centres.T, s=_areas(values["sizes"]), color=COLOURS["central"], alpha=0.55, linewidths=0
    )
    for number, centre in enumerate(centres):
        axes.annotate(str(number), centre, ha="center", va="center", fontsize=8)
    (left, bottom), (right, top) = low, high
    axes.plot(
        [left, right, right, left, left],
        [bottom, bottom, top, top, bottom],
        color="0.6",
        linewidth=1,
        linestyle="--",
        label="box",
    )
    axes.set(xlabel=f"{names[0]} (records' unit)")
    if len(names) == 2:
        axes.set(ylabel=f"{names[1]} (records' unit)")
    else:
        axes.set(ylabel="", yticks=[])
    axes.margins(0.08)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13))


def _profiles(axes: Any, values: Any, names: Sequence[str]) -> None:
    """Show each centre as a line over the columns, each of which runs over its side of the box."""
    heights = (values["centres"] - values["low"]) / (values["high"] - values["low"])
    widths = 0.8 + 4.0 * np.sqrt(_areas(values["sizes"]) / LARGEST)
    places = np.arange(len(names))
    for number, (height, width) in enumerate(zip(heights, widths, strict=True)):
        axes.plot(
            places, height, color=COLOURS["central"], alpha=0.5, linewidth=width, marker="o", ms=3
        )
        axes.annotate(
            str(number),
            (places[-1], height[-1]),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    if len(names) <= MOST_NAMES:
        axes.set_xticks(places, names, rotation=30, ha="right")
    else:
        axes.set(xlabel="column")
    axes.set(ylabel="place in the box (0 = low, 1 = high)", ylim=(-0.02, 1.02))


def _areas(sizes: Any) -> Any:
    return np.maximum(LARGEST * np.asarray(sizes, float) / max(float(np.max(sizes)), 1.0), SMALLEST)


def _short(name: str) -> str:
    cut = name if len(name) <= SHORT else name[: SHORT - 1] + "…"
    return cut.replace("$", r"\$")  # which would start a formula
