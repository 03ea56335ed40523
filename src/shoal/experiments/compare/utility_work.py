"""One fit of one method at one epsilon, and how good its clusters are."""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_mutual_info_score, pairwise_distances_argmin

from shoal._typing import Floats
from shoal.experiments.cell import Cell
from shoal.experiments.compare.contender import BOX, Contender
from shoal.experiments.compare.frame import Frame, Records, random_rows
from shoal.metrics import cost_ratio
from shoal.reports import NoiseAwareKMeans

__all__ = ["MAX_REPORTS", "UtilityWork"]

Row = dict[str, Any]

MAX_REPORTS = 20_000  # that are clustered: taking noise out of more takes minutes
RESTARTS = 5


@dataclass(frozen=True)
class UtilityWork:
    """Work on a cell: fit, and measure on all records.

    Parameters
    ----------
    frame : Frame
        What is compared on.
    contenders : tuple of Contender
        By whose names the cells go.
    """

    frame: Frame
    contenders: tuple[Contender, ...]

    def __call__(self, cell: Cell) -> list[Row]:
        """Return a row for each clusterer that the method's output is given to."""
        (contender,) = (one for one in self.contenders if one.name == cell.mechanism.name)
        frame, data = self.frame, self.frame.load()
        method = contender.build(cell.epsilon, frame.columns, frame.clusters, seed=cell.seed)
        with warnings.catch_warnings():
            # Reports on a few points have fewer places than there are centers: nothing is wrong.
            warnings.simplefilter("ignore", ConvergenceWarning)
            if contender.kind == "reports":
                return list(self._from_reports(contender, method, data, cell.seed))
            return [self._central(contender, method, data)]

    def _central(self, contender: Contender, method: Any, data: Records) -> Row:
        start = time.perf_counter()
        method.fit(data.X)
        seconds = time.perf_counter() - start
        row = _row(contender.name, float(method.epsilon), seconds)
        if contender.kind == "centers":
            return self._judged(row, method.cluster_centers_, data)
        found = method.labels_
        row["ami"] = _ami(data.wave, found)
        row["ami_label"] = _ami(data.labels, found)
        row["clusters"] = int(method.n_clusters_)
        return row

    def _from_reports(
        self, contender: Contender, mechanism: Any, data: Records, seed: int
    ) -> Iterator[Row]:
        frame = self.frame
        some = data.X[random_rows(len(data.X), MAX_REPORTS)]
        start = time.perf_counter()
        reports = np.asarray(mechanism.fit_transform(some))
        perturbed = time.perf_counter() - start
        own = float(mechanism.epsilon)
        if contender.noise_aware:
            start = time.perf_counter()
            aware = NoiseAwareKMeans(frame.clusters, mechanism=mechanism, random_state=seed)
            centers = np.clip(aware.fit(reports).cluster_centers_, *BOX)
            seconds = perturbed + time.perf_counter() - start
            row = _row(f"{contender.name} + NoiseAwareKMeans", own, seconds)
            yield self._judged(row, centers, data)
        start = time.perf_counter()
        plain = KMeans(frame.clusters, n_init=RESTARTS, random_state=seed)
        # The box is public, and no record lies outside.
        centers = plain.fit(np.clip(reports, *BOX)).cluster_centers_
        seconds = perturbed + time.perf_counter() - start
        yield self._judged(_row(f"{contender.name} + KMeans", own, seconds), centers, data)

    def _judged(self, row: Row, centers: Floats, data: Records) -> Row:
        nearest = pairwise_distances_argmin(data.X, centers)
        row["cost"] = cost_ratio(data.X, centers, reference=self.frame.centers)
        row["ami"] = _ami(data.kmeans, nearest)
        row["ami_label"] = _ami(data.labels, nearest)
        row["clusters"] = len(centers)
        return row


def _row(method: str, own: float, seconds: float) -> Row:
    return {
        "method": method,
        "own_epsilon": own,
        "cost": None,
        "ami": None,
        "ami_label": None,
        "clusters": 0,
        "seconds": seconds,
    }


def _ami(true: Any, found: Any) -> float | None:
    return None if true is None else float(adjusted_mutual_info_score(true, found))
