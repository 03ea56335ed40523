"""Clusters in three dimensions: by PCA, by t-SNE, and in the columns that the source draws."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from shoal._typing import Floats
from shoal.experiments import Report
from shoal.papers.kccm.experiments import (
    CORRECTED,
    PLAIN,
    PUBLISHED,
    SHOWN_EPSILON,
    SOURCE_EPSILON,
    axis_names,
)
from shoal.papers.kccm.variants import AUTO
from shoal.papers.measurements import Measurement, select
from shoal.plotting import draw_scatter

__all__ = ["render_clusters"]

KCCM = "allocation nk"  # what the source calls DP-KCCM
NOISES = {"average nk": "average", KCCM: "adaptive", "gaussian nk": "Gaussian"}
DRAWN = (0, 2, 3)  # columns of the source's own pictures
NAMES = ("recency (scaled)", "monetary (scaled)", "time (scaled)")
RAW = "Raw records are in this figure: of private data it would be for the curator only."


def render_clusters(report: Report, rows: Sequence[Measurement], table: Floats) -> None:
    """Render the pictures of clusters."""
    plain = _centers(rows, table.shape[1], variant=PLAIN, epsilon=SHOWN_EPSILON)
    # One number and color for about the same cluster in all panels.
    panels = {
        name: _matched(centers, plain) for name, centers in _panels(rows, table.shape[1]).items()
    }
    labels = {name: cdist(table, centers).argmin(axis=1) for name, centers in panels.items()}
    report.section("The clusters, in three dimensions")
    report.text(
        "One fit each, at the source's k. The four columns become three by principal components "
        "(PCA) and by t-SNE, computed from the raw records; a record has the color of its nearest "
        "center. In these pictures the methods that keep a promise have epsilon "
        f"{SHOWN_EPSILON:g}; as published the noise takes no notice of it."
    )
    with threadpool_limits(1):
        projection = PCA(3, svd_solver="full").fit(table)
        near = TSNE(3, init="pca", random_state=0).fit_transform(table)
    report.figure(
        draw_scatter,
        "clusters_pca",
        {name: projection.transform(table) for name in panels},
        labels=labels,
        centers={name: projection.transform(centers) for name, centers in panels.items()},
        columns=[
            f"component {number} ({share:.0%})"
            for number, share in enumerate(projection.explained_variance_ratio_, 1)
        ],
        says="Records by PCA (in brackets: share of the variance), colored by their "
        f"nearest center. {RAW}",
    )
    report.figure(
        draw_scatter,
        "clusters_tsne",
        dict.fromkeys(panels, near.astype(np.float64)),
        labels=labels,
        columns=["t-SNE 1", "t-SNE 2", "t-SNE 3"],
        says="The same by t-SNE, which has no place for centers: it keeps neighbors together, and "
        f"its distances mean nothing. {RAW}",
    )
    _render_columns(report, rows, table, plain)


def _render_columns(
    report: Report, rows: Sequence[Measurement], table: Floats, plain: Floats
) -> None:
    """Draw the source's own pictures: three noises at its epsilon, beside the corrected ones."""
    panels: dict[str, Floats] = {}
    for variant, noise in NOISES.items():
        for version in (PUBLISHED, CORRECTED):
            some = select(rows, variant=variant, version=version, epsilon=SOURCE_EPSILON)
            name = f"{noise} noise, {version}, ε {some[0]['real_epsilon']:.3g}"
            panels[name] = _matched(_coordinates(some, table.shape[1]), plain)
    drawn = list(DRAWN)
    report.figure(
        draw_scatter,
        "clusters_columns",
        dict.fromkeys(panels, table[:, drawn]),
        labels={name: cdist(table, centers).argmin(axis=1) for name, centers in panels.items()},
        centers={name: centers[:, drawn] for name, centers in panels.items()},
        columns=NAMES,
        says=f"As the source draws them, asked for epsilon {SOURCE_EPSILON:g}, with merging: as "
        f"published (by the pseudo-code, with the epsilon it really spends) and corrected. {RAW}",
    )


def _panels(rows: Sequence[Measurement], columns: int) -> dict[str, Floats]:
    at: dict[str, Any] = {"epsilon": SHOWN_EPSILON}
    printed = select(rows, variant=KCCM, version=PUBLISHED, **at)
    return {
        PLAIN: _centers(rows, columns, variant=PLAIN, **at),
        f"DP-KCCM as published, really ε {printed[0]['real_epsilon']:.3g}": _coordinates(
            printed, columns
        ),
        f"DP-KCCM corrected, ε = {SHOWN_EPSILON:g}": _centers(
            rows, columns, variant=KCCM, version=CORRECTED, **at
        ),
        f"DPKMeans auto, ε = {SHOWN_EPSILON:g}": _centers(rows, columns, variant=AUTO, **at),
    }


def _centers(rows: Iterable[Measurement], columns: int, **wanted: Any) -> Floats:
    return _coordinates(select(rows, **wanted), columns)


def _coordinates(rows: Iterable[Measurement], columns: int) -> Floats:
    return np.array([[row[name] for name in axis_names(columns)] for row in rows])


def _matched(centers: Floats, plain: Floats) -> Floats:
    """Put centers in the order of those without privacy that they are nearest to."""
    _, order = linear_sum_assignment(cdist(plain, centers, metric="sqeuclidean"))
    ordered: Floats = centers[order]
    return ordered
