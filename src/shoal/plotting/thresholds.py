"""How many clusters another threshold would give: a picture from a release alone."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from shoal.exceptions import ParameterError
from shoal.plotting._save import save
from shoal.plotting.style import COLOURS, panels

__all__ = ["draw_thresholds"]

Floats = npt.NDArray[np.float64]

TRIED = 60  # thresholds of the curve
FEWEST = 2  # cells of a cluster that is counted: single cells are mostly noise


def draw_thresholds(release: Any, path: Path) -> Path:
    """Draw the noisy cells of a WaveCluster, and clusters against the density threshold.

    Parameters
    ----------
    release : Release
        ``release_`` of a DPWaveCluster whose whole band was released (not of a sparse grid).
    path : Path
        PNG, PDF or SVG file to write.

    Returns
    -------
    path : Path
        The file written. Everything in it is post-processing of the release.

    Raises
    ------
    ParameterError
        If the release holds no band.
    """
    if "band" not in release.values:
        raise ParameterError(
            "release must hold the whole band, got one of a sparse grid: take a smaller grid"
        )
    band = np.asarray(release.values["band"], dtype=np.float64)
    chosen = release.values["threshold"]
    flat = band.ndim == 2  # cells can be seen in two columns only
    with panels(2 if flat else 1, width=10.5 if flat else 5.5, height=4.4) as (drawing, axes):
        if flat:
            _cells(axes[0], band, release.values)
        _curve(axes[-1], band, chosen)
        save(drawing, path)
    return path


def _cells(axes: Any, band: Floats, values: Any) -> None:
    (left, bottom), (right, top) = values["low"], values["high"]
    extent = (left, right, bottom, top)
    limit = max(float(np.quantile(np.abs(band), 0.99)), 1.0)
    # Rows of the band are the first column of the records, which a reader expects to go right.
    shown = axes.imshow(
        band.T,
        origin="lower",
        extent=extent,
        aspect="auto",
        cmap="PuOr_r",
        vmin=-limit,
        vmax=limit,
    )
    mask = np.zeros(band.size)
    mask[np.asarray(values["cells"], dtype=np.int64)] = 1.0
    # Twice as many points as cells, so that outlines run along the borders of cells.
    fine = np.kron(mask.reshape(band.shape), np.ones((4, 4)))
    axes.contour(
        fine.T, levels=[0.5], extent=extent, colors="black", linewidths=0.8, origin="lower"
    )
    axes.set(xlabel="column 1 (records' unit)", ylabel="column 2 (records' unit)")
    clusters = len(np.unique(values["clusters"]))
    axes.set_title(f"Noisy cells; outlined: what is kept (clusters: {clusters})")
    axes.figure.colorbar(shown, ax=axes, label="noisy value (records a cell)")


def _curve(axes: Any, band: Floats, chosen: float | None) -> None:
    top = max(float(band.max()), 2.0)
    tried = np.geomspace(1.0, top, TRIED)
    clusters, cells = zip(*(_count(band >= threshold) for threshold in tried), strict=True)
    axes.step(tried, clusters, where="post", color=COLOURS["central"], label="clusters")
    axes.set(xscale="log", xlabel="density threshold (records a cell)", ylabel="clusters")
    axes.set_ylim(0, max(*clusters, 1) * 1.1)
    twin = axes.twinx()
    twin.plot(tried, cells, color=COLOURS["local"], linestyle="--", label="significant cells")
    twin.set_ylabel("significant cells")
    twin.set_ylim(0, None)
    twin.spines["right"].set_visible(True)
    handles = [*axes.get_lines(), *twin.get_lines()]
    if chosen is not None and math.isfinite(chosen):
        handles.append(axes.axvline(chosen, color="0.3", linestyle=":", label="this release"))
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
    axes.set_title("What another threshold would keep")


def _count(mask: npt.NDArray[np.bool_]) -> tuple[int, int]:
    labels, _ = ndimage.label(mask, structure=np.ones((3,) * mask.ndim))
    sizes = np.bincount(labels.ravel())[1:]
    return int((sizes >= FEWEST).sum()), int(mask.sum())
