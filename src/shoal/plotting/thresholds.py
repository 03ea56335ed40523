"""How many clusters another threshold would give: a picture from a release alone."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._outline import outline
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Cells, Level, Line, Scale
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, DARK_GREY, DASH, DIVERGING, FINE

__all__ = ["draw_thresholds"]


TRIED = 60  # thresholds of the curve
FEWEST = 2  # cells of a cluster that is counted: single cells are mostly noise


def draw_thresholds(path: Path, release: Any) -> Path:
    """Draw the noisy cells of a WaveCluster, and clusters against the density threshold.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    release : Release
        ``release_`` of a DPWaveCluster whose whole band was released (not of a sparse grid).

    Returns
    -------
    path : Path
        The file written. Everything in it is post-processing of the release.

    Raises
    ------
    ParameterError
        If the release holds no band.
    """
    check_path(path)
    if "band" not in release.values:
        raise ParameterError(
            "release must hold the whole band, got one of a sparse grid: take a smaller grid"
        )
    band = np.asarray(release.values["band"], dtype=np.float64)
    chosen = release.values["threshold"]
    # Cells can be seen in two columns only.
    panels = (_cells(band, release.values),) if band.ndim == 2 else ()
    chart = Chart(
        panels=(*panels, _curve(band, chosen)),
        columns=len(panels) + 1,
        width=10.5 if panels else 5.5,
        height=4.6,
        legend="panels",
    )
    return save(chart, path)


def _cells(band: Floats, values: Any) -> Panel:
    low, high = (np.asarray(values[end], dtype=np.float64).tolist() for end in ("low", "high"))
    ends = (low[0], high[0]), (low[1], high[1])
    limit = max(float(np.quantile(np.abs(band), 0.99)), 1.0)
    kept = np.zeros(band.size, dtype=bool)
    kept[np.asarray(values["cells"], dtype=np.int64)] = True
    # Rows of the band are the first column of the records, which a reader expects to go right.
    mask = kept.reshape(band.shape).T
    scale = Scale(DIVERGING, (-limit, limit), label="noisy value (records a cell)")
    border = outline(mask, x=ends[0], y=ends[1])
    clusters = len(np.unique(values["clusters"]))
    return Panel(
        marks=(
            Cells(values=band.T, x=ends[0], y=ends[1], scale=scale),
            Line(x=border.x, y=border.y, color="#000000", width=0.8, name="what is kept"),
        ),
        x=Axis(label="column 1 (records' unit)", limits=ends[0]),
        y=Axis(label="column 2 (records' unit)", limits=ends[1]),
        title=f"Noisy cells; outlined: what is kept (clusters: {clusters})",
    )


def _curve(band: Floats, chosen: float | None) -> Panel:
    top = max(float(band.max()), 2.0)
    tried = np.geomspace(1.0, top, TRIED)
    clusters, cells = np.array([_count(band >= threshold) for threshold in tried], dtype=float).T
    blue, orange = COLORS["central"], COLORS["local"]
    known = chosen is not None and math.isfinite(chosen)
    return Panel(
        marks=(
            Line(x=tried, y=clusters, color=blue, step=True, name="clusters"),
            Line(x=tried, y=cells, color=orange, dash=DASH, second=True, name="significant cells"),
            *(
                [
                    Level(
                        at=float(chosen),
                        name="this release",
                        upright=True,
                        color=DARK_GREY,
                        dash=FINE,
                        width=1.5,
                    )
                ]
                if known and chosen is not None
                else []
            ),
        ),
        x=Axis(label="density threshold (records a cell)", log=True),
        y=Axis(label="clusters", limits=(0.0, max(float(clusters.max()), 1.0) * 1.1)),
        second=Axis(label="significant cells", limits=(0.0, max(float(cells.max()), 1.0) * 1.05)),
        title="What another threshold would keep",
    )


def _count(mask: npt.NDArray[np.bool_]) -> tuple[int, int]:
    labels, _ = ndimage.label(mask, structure=np.ones((3,) * mask.ndim))
    sizes = np.bincount(labels.ravel())[1:]
    return int((sizes >= FEWEST).sum()), int(mask.sum())
