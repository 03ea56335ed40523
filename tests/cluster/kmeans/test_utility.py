"""What privacy costs: medians over seeds, on clusters whose best cost is known."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from helpers.kmeans_problems import FIVE, blobs, corners
from shoal.cluster import DPKMeans
from shoal.metrics import cost_ratio

TABLES = {
    "two columns": (blobs(10_000), 5),
    "six columns": (blobs(10_000, corners(6, 5), spread=0.1), 5),
    "twenty columns": (blobs(10_000, corners(20, 5), spread=0.1), 5),
    "unequal": (blobs(10_000, FIVE[[0, 0, 0, 0, 1, 1, 2, 3, 4]]), 5),
}
BEST = {
    name: KMeans(k, n_init=10, random_state=0).fit(X).cluster_centers_
    for name, (X, k) in TABLES.items()
}


def typical_cost(name, seeds=9, **kwargs):
    """Median over seeds: a bad start costs k-means more than noise does."""
    X, k = TABLES[name]
    fits = [DPKMeans(k, bounds=(-1.0, 1.0), random_state=s, **kwargs).fit(X) for s in range(seeds)]
    costs = [cost_ratio(X, fit.cluster_centers_, reference=BEST[name]) for fit in fits]
    return float(np.median(costs))


@pytest.mark.parametrize("name", TABLES)
def test_auto_beats_lloyd_and_kccm(name):
    auto = typical_cost(name, epsilon=1.0)
    assert auto < typical_cost(name, epsilon=1.0, method="lloyd")
    assert auto < typical_cost(name, epsilon=1.0, method="kccm")


def test_auto_is_near_the_best_in_few_columns():
    assert typical_cost("two columns", epsilon=1.0) < 1.02
    assert typical_cost("six columns", epsilon=1.0) < 1.05


@pytest.mark.full
@pytest.mark.parametrize(("method", "limit"), [("grid", 1.001), ("ball", 1.1)])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_cost_falls_with_epsilon_toward_that_of_plain_k_means(method, limit, delta):
    kwargs = {"method": method, "delta": delta}
    costs = [typical_cost("two columns", epsilon=e, **kwargs) for e in (0.01, 0.3, 50.0)]
    assert costs[0] > costs[1] > costs[2]
    assert costs[2] < limit


def test_rounds_get_better_with_epsilon():
    # Towards what public starts allow, which is not the best; without merging not even that.
    costs = [typical_cost("two columns", epsilon=e, method="kccm") for e in (0.05, 50.0)]
    assert costs[0] > costs[1]
