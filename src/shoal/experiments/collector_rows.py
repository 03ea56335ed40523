"""What a collection is worth: centers and labels beside the truth, and other epsilons."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from shoal._typing import Floats, Ints
from shoal.datasets import Dataset
from shoal.mechanisms import PartitionResponse
from shoal.metrics import cost_ratio, match_centers
from shoal.privacy import Release
from shoal.reports import NoiseAwareKMeans, label_on_device, spread_over_box

__all__ = [
    "BOUNDS",
    "COLLECTED",
    "EPSILON",
    "N_CLUSTERS",
    "SIDE",
    "EpsilonRow",
    "measure_rows",
    "pair_centers",
    "published_centers",
    "true_centers",
]

EPSILON = 4.0  # with 2,000 devices: clear at 4, rough at 2, nothing to be seen at 1
OTHER_EPSILONS = (1.0, 2.0)
N_CLUSTERS = 6
SIDE = 20.0  # km
BOUNDS = ([0.0, 0.0], [SIDE, SIDE])
COLLECTED = "collected from the devices"
DRAWN = "drawn for comparison"
BLIND = "none, points spread over the box"
PLAIN = "none, k-means sees the records"


class EpsilonRow(NamedTuple):
    """Quality of the published clusters at one epsilon.

    Parameters
    ----------
    epsilon : float
        Epsilon of the one report of each device; 0 or infinity if there are no reports.
    source : str
        Where the reports come from.
    cost : float
        Cost of the centers divided by that of k-means without privacy; 1 is no loss.
    agreement : float
        Adjusted mutual information between the devices' labels and the true clusters.
    informative : bool
        Whether held-out reports distinguish the estimate from evenly spread records.

    Examples
    --------
    >>> from shoal.experiments import EpsilonRow
    >>> EpsilonRow(4.0, "collected", cost=1.25, agreement=0.875, informative=True).has_reports
    True
    """

    epsilon: float
    source: str
    cost: float
    agreement: float
    informative: bool

    @property
    def has_reports(self) -> bool:
        """Whether the row comes from reports."""
        return 0.0 < self.epsilon < math.inf


def true_centers(data: Dataset) -> Floats:
    """Return the means of the true clusters that have records."""
    return np.array(
        [data.X[data.y == cluster].mean(axis=0) for cluster in np.unique(np.asarray(data.y))]
    )


def published_centers(release: Release) -> Floats:
    """Return the centers of a release."""
    return np.asarray(release.values["centers"])


def pair_centers(truth: Floats, release: Release) -> Ints:
    """Return for each true center the published one that it is paired with."""
    return match_centers(truth, published_centers(release)).second


def measure_rows(data: Dataset, release: Release, labels: Sequence[int]) -> tuple[EpsilonRow, ...]:
    """Measure this collection, others at other epsilons, and what is known without reports."""
    plain = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(data.X).cluster_centers_

    def row(
        epsilon: float, source: str, centers: Floats, found: Any, *, better: bool
    ) -> EpsilonRow:
        cost = cost_ratio(data.X, centers, reference=plain)
        agreement = float(adjusted_mutual_info_score(data.y, found))
        return EpsilonRow(epsilon, source, cost, agreement, better)

    better = bool(release.values["better_than_blind"])
    rows = [row(EPSILON, COLLECTED, published_centers(release), labels, better=better)]
    for epsilon in OTHER_EPSILONS:
        mechanism = PartitionResponse(epsilon, bounds=BOUNDS, n_clusters=N_CLUSTERS)
        reports = mechanism.fit_transform(data.X)
        model = NoiseAwareKMeans(N_CLUSTERS, mechanism=mechanism, random_state=0).fit(reports)
        found = label_on_device(model.release_, data.X)
        better = bool(model.better_than_blind_)
        rows.append(row(epsilon, DRAWN, model.cluster_centers_, found, better=better))
    blind = spread_over_box(N_CLUSTERS, BOUNDS)
    for epsilon, source, centers in ((0.0, BLIND, blind), (math.inf, PLAIN, plain)):
        nearest = ((data.X[:, None, :] - centers) ** 2).sum(axis=2).argmin(axis=1)
        rows.append(row(epsilon, source, centers, nearest, better=epsilon > 0))
    return tuple(sorted(rows, key=lambda one: one.epsilon))
