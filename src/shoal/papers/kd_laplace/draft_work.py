"""One cell of the drafts: fifty generated records, three clusterers, noise drawn again.

The corrected version moves reports to the side of a public box instead of drawing again, which
costs nothing, and takes its radius from that box (half the spread of uniform records in it).
"""

import math
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import DBSCAN, AffinityPropagation, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from shoal._typing import Ints
from shoal.audit.attacks._targets import Labels
from shoal.experiments.cell import Cell
from shoal.mechanisms import Laplace
from shoal.metrics import privacy_distance
from shoal.papers.kd_laplace import DraftLaplace
from shoal.papers.kd_laplace.agreement import agreement
from shoal.papers.kd_laplace.attacker import Attacker, learn_attacker
from shoal.papers.kd_laplace.utility_work import Seen
from shoal.remap import Clip

__all__ = ["DRAFT_CLUSTERERS", "DRAFT_LEVELS", "DRAFT_WIDTH", "draft_work"]

DRAFT_LEVELS = (0.05, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0)
DRAFT_WIDTH = 2  # the only results of the drafts
DRAFT_CLUSTERERS = ("KMeans", "AffinityPropagation", "DBSCAN")
RECORDS, CENTERS, DEVIATION = 50, 4, 0.6
BOX = (-14.0, 14.0)  # centers lie between -10 and 10, six deviations around them


class Drawn(NamedTuple):
    """Generated records and the center that each belongs to."""

    records: npt.NDArray[np.float64]
    labels: Labels


def draft_work(cell: Cell) -> Iterator[dict[str, Any]]:
    """Perturb the records both ways, cluster, compare, attack.

    Parameters
    ----------
    cell : Cell
        With a number of columns and, as epsilon, the drafts' level.

    Yields
    ------
    record : dict
        One for each version and clusterer.
    """
    assert cell.columns is not None
    drawn = _drawn(cell.columns)
    attacker = _attacker(cell.columns, cell.repeat)
    for version, reports in _reports(cell, drawn.records).items():
        rates, seen = attacker.rates(reports), Seen(reports)
        for clusterer in DRAFT_CLUSTERERS:
            plain = _labels(drawn.records, clusterer, cell)
            found = _labels(reports, clusterer, cell)
            yield {
                "version": version,
                "clusterer": clusterer,
                "ami": agreement(plain, found),
                "ari": float(adjusted_rand_score(plain, found)),
                **seen.quality(found),
                "distance": privacy_distance(drawn.records, reports),
                "advantage": rates.advantage,
                "tpr": rates.tpr,
            }


def _reports(cell: Cell, records: npt.NDArray[np.float64]) -> dict[str, Any]:
    draft = DraftLaplace(cell.epsilon, random_state=cell.seed)
    sides = np.full(records.shape[1], BOX[1] - BOX[0])
    radius = math.sqrt((sides**2 / 12).sum()) / 2
    laplace = Laplace(cell.epsilon / radius, bounds=BOX, random_state=cell.seed)
    ours = make_pipeline(laplace, Clip(bounds=BOX))
    return {"as published": draft.fit_transform(records), "corrected": ours.fit_transform(records)}


def _labels(points: npt.NDArray[np.float64], clusterer: str, cell: Cell) -> Ints:
    assert cell.columns is not None
    models = {
        "KMeans": KMeans(CENTERS, init="random", n_init=10, random_state=cell.repeat),
        "AffinityPropagation": AffinityPropagation(random_state=cell.repeat),
        "DBSCAN": DBSCAN(eps=0.9, min_samples=2 * cell.columns),
    }
    with warnings.catch_warnings():
        # Among very noisy reports it finds no centers: all points are then in no cluster.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # In their own unit: a radius of 0.9 fits deviations of 0.6, not standardized columns.
        labels: Ints = models[clusterer].fit_predict(points)
    return labels.astype(np.int64)


@lru_cache
def _drawn(columns: int) -> Drawn:
    records, centers = make_blobs(
        RECORDS, n_features=columns, centers=CENTERS, cluster_std=DEVIATION, random_state=0
    )
    return Drawn(records, Labels(centers.astype(np.int64), CENTERS))


@lru_cache(maxsize=32)
def _attacker(columns: int, repeat: int) -> Attacker:
    return learn_attacker(*_drawn(columns), np.random.default_rng([columns, repeat]))
