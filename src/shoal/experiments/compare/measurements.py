"""One method at one epsilon: how good its clusters are, and what an attacker learns from it.

From a central release: was this record in? (:func:`shoal.audit.attack_centers`.) From a report:
what was the record? (:func:`shoal.audit.reconstruct`, as well as anyone can who knows all records
but not whose report it is.) Either is measured as a gain from 0, nothing learned, to 1, all of it.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_mutual_info_score, pairwise_distances_argmin

from shoal._statistics import mean_interval
from shoal._typing import Floats
from shoal.audit import advantage_ceiling, attack_centers, reconstruct
from shoal.cluster import DPDensity
from shoal.experiments.compare.baseline import ComparedTable, random_rows
from shoal.experiments.compare.contender import BOX, Contender
from shoal.experiments.compare.equal_privacy import box_diameter
from shoal.experiments.trial import Trial
from shoal.mechanisms import KdLaplace, PartitionResponse
from shoal.metrics import cost_ratio, privacy_distance
from shoal.reports import NoiseAwareKMeans

__all__ = [
    "MAX_ATTACKED",
    "MAX_REPORTS",
    "AttackWork",
    "UtilityWork",
    "attack_without_privacy",
    "clustered_reports",
]

Row = dict[str, Any]

MAX_REPORTS = 20_000  # points that are clustered: taking noise out of more takes minutes
RESTARTS = 5
MAX_ATTACKED = 600  # records, of which each fit sees about half
RUNS, SHADOWS = 20, 64
ERROR = 0.05


@dataclass(frozen=True, eq=False)
class UtilityWork:
    """Run a trial: fit a method, and measure its clusters on all records.

    Parameters
    ----------
    table : ComparedTable
        What is compared on.
    contenders : tuple of Contender
        The methods, by whose names the trials go.
    """

    table: ComparedTable
    contenders: tuple[Contender, ...]

    def __call__(self, trial: Trial) -> list[Row]:
        """Return a row for each clusterer that the method's output is given to."""
        contender = _contender(self.contenders, trial)
        baseline = self.table.baseline
        method = contender.build(
            trial.epsilon, baseline.n_columns, baseline.n_clusters, seed=trial.seed
        )
        with warnings.catch_warnings():
            # Reports on a few points have fewer values than there are centers: nothing is wrong.
            warnings.simplefilter("ignore", ConvergenceWarning)
            if contender.output == "reports":
                return list(self._from_reports(contender, method, trial.seed))
            return [self._central(contender, method)]

    def _central(self, contender: Contender, method: Any) -> Row:
        table = self.table
        start = time.perf_counter()
        method.fit(table.X)
        seconds = time.perf_counter() - start
        row = _row(contender.name, float(method.epsilon), seconds)
        if contender.output == "centers":
            return self._judged(row, method.cluster_centers_)
        same = table.density if isinstance(method, DPDensity) else table.wave
        row["ami"] = _ami(same, method.labels_)
        row["ami_label"] = _ami(table.labels, method.labels_)
        row["clusters"] = int(method.n_clusters_)
        return row

    def _from_reports(self, contender: Contender, mechanism: Any, seed: int) -> Iterator[Row]:
        X, n_clusters = self.table.X, self.table.baseline.n_clusters
        some = X[random_rows(len(X), clustered_reports(contender, len(X)))]
        start = time.perf_counter()
        reports = np.asarray(mechanism.fit_transform(some))
        perturbed = time.perf_counter() - start
        own = float(mechanism.epsilon)
        if contender.noise_aware:
            start = time.perf_counter()
            aware = NoiseAwareKMeans(n_clusters, mechanism=mechanism, random_state=seed)
            centers = np.clip(aware.fit(reports).cluster_centers_, *BOX)
            seconds = perturbed + time.perf_counter() - start
            row = _row(f"{contender.label} + NoiseAwareKMeans", own, seconds)
            row["better_than_blind"] = bool(aware.better_than_blind_)
            yield self._judged(row, centers)
        if _are_colors(mechanism):
            return  # no points that k-means could take
        start = time.perf_counter()
        plain = KMeans(n_clusters, n_init=RESTARTS, random_state=seed)
        # The box is public, and no record lies outside.
        centers = plain.fit(np.clip(reports, *BOX)).cluster_centers_
        seconds = perturbed + time.perf_counter() - start
        yield self._judged(_row(f"{contender.label} + KMeans", own, seconds), centers)

    def _judged(self, row: Row, centers: Floats) -> Row:
        table = self.table
        nearest = pairwise_distances_argmin(table.X, centers)
        row["cost"] = cost_ratio(table.X, centers, reference=table.baseline.centers)
        row["ami"] = _ami(table.kmeans, nearest)
        row["ami_label"] = _ami(table.labels, nearest)
        row["clusters"] = len(centers)
        return row


def clustered_reports(contender: Contender, n_records: int) -> int:
    """Return how many reports are clustered: colors are counted first, so that all of them are."""
    if contender.make is PartitionResponse:
        return n_records
    return min(n_records, MAX_REPORTS)


def _are_colors(mechanism: Any) -> bool:
    return getattr(mechanism, "noise_kind", None) == "partition"


def _contender(contenders: Sequence[Contender], trial: Trial) -> Contender:
    (contender,) = (one for one in contenders if one.component == trial.mechanism)
    return contender


def _row(method: str, own: float, seconds: float) -> Row:
    return {
        "method": method,
        "own_epsilon": own,
        "cost": None,
        "ami": None,
        "ami_label": None,
        "clusters": 0,
        "better_than_blind": None,
        "seconds": seconds,
    }


def _ami(true: Any, clusters: Any) -> float | None:
    return None if true is None else float(adjusted_mutual_info_score(true, clusters))


@dataclass(frozen=True, eq=False)
class AttackWork:
    """Run a trial: attack a method.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The records that are attacked, see :meth:`of_table`.
    n_clusters : int
        Number of clusters.
    contenders : tuple of Contender
        The methods, by whose names the trials go.
    """

    X: Floats = field(repr=False)
    n_clusters: int
    contenders: tuple[Contender, ...] = ()

    @classmethod
    def of_table(cls, table: ComparedTable, contenders: tuple[Contender, ...]) -> "AttackWork":
        """Attack some random records of a table."""
        some = table.X[random_rows(len(table.X), MAX_ATTACKED)]
        return cls(some, table.baseline.n_clusters, contenders)

    def __call__(self, trial: Trial) -> list[Row]:
        """Return one row."""
        contender = _contender(self.contenders, trial)
        columns = self.X.shape[1]
        method = contender.build(trial.epsilon, columns, self.n_clusters, seed=trial.seed)
        if contender.output == "reports":
            return [_attack_reports(method, self.X, trial.seed)]
        return [_attack_release(method, self.X, trial.seed)]


def attack_without_privacy(table: ComparedTable) -> Row:
    """Attack the centers of k-means, as a control; return the gain and its limits."""
    work = AttackWork.of_table(table, ())
    return _attack_release(KMeans(work.n_clusters, n_init=1), work.X, seed=0)


def _attack_release(method: Any, X: Floats, seed: int) -> Row:
    result = attack_centers(method, X, runs=RUNS, shadows=SHADOWS, random_state=seed)
    low, high = result.interval(1 - ERROR)
    promise = getattr(method.fit(X), "guarantee_", None)
    ceiling = None
    if promise is not None and promise.notion != "none":
        ceiling = advantage_ceiling(promise)
    return {
        "attack": "membership",
        "gain": result.advantage,
        "low": low,
        "high": high,
        "ceiling": ceiling,
        "off": None,
        "off_without": None,
        "distance": None,
    }


def _attack_reports(mechanism: Any, X: Floats, seed: int) -> Row:
    reports = mechanism.fit_transform(X)
    # A remap sees reports only: whoever has these has all that it knows.
    channel = mechanism.mechanism_ if isinstance(mechanism, KdLaplace) else mechanism
    result = reconstruct(channel, X, prior="records", random_state=seed)
    # Where all records are alike there is nothing left to learn.
    gains = np.zeros(len(X))
    if result.error_without:
        gains = (result.distances_without - result.distances) / result.error_without
    low, high = mean_interval(gains, error=ERROR)
    diameter = box_diameter(X.shape[1])
    distance = None if _are_colors(mechanism) else privacy_distance(X, np.asarray(reports))
    return {
        "attack": "reconstruction",
        "gain": float(gains.mean()),
        "low": low,
        "high": high,
        "ceiling": None,
        "off": result.error / diameter,
        "off_without": result.error_without / diameter,
        "distance": None if distance is None else distance / diameter,
    }
