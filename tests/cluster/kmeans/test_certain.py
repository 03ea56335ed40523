"""Centers that noise alone explains are marked, and those that are not marked hold people."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from cluster.tables import blobs, problem
from shoal.cluster import DPKMeans
from shoal.cluster._noise import PureNoise, ZCDPNoise
from shoal.cluster.kmeans._grid import grid_kmeans, plan_grid
from shoal.cluster.kmeans._pairs import noise_probabilities
from shoal.engines import NearestStatistics, nearest_statistics
from shoal.noise import SeededSource
from shoal.privacy import Release

METHODS = ["grid", "lsh", "lloyd", "kccm"]
LOW, HIGH = np.array([18.0, 0.0, 0.0]), np.array([100.0, 500_000.0, 500.0])


def people(seed, n):
    """Ages, and incomes and visits with heavy tails in bounds that hold all of them."""
    rng = np.random.default_rng(100 + seed)
    income = rng.lognormal(np.log(40e3), 0.9, n)
    visits = rng.lognormal(np.log(6.0), 1.2, n)
    return np.column_stack([rng.normal(45.0, 15.0, n), income, visits])


def fit_watched(X, **words):
    """A fit, and the exact counts behind the last that it released."""
    seen = []

    def spy(engine, centers, **clip):
        seen.append(nearest_statistics(engine, centers, **clip))
        return seen[-1]

    with (
        patch("shoal.cluster.kmeans._grid.nearest_statistics", spy),
        patch("shoal.cluster.kmeans._lloyd.nearest_statistics", spy),
    ):
        model = DPKMeans(**words).fit(X)
    return model, seen[-1].counts


NOISES = {
    "box": PureNoise(1.0),
    "laplace": PureNoise(1.0, "analytic"),
    "gaussian": ZCDPNoise(0.1),
    "gaussian in a cube": ZCDPNoise(0.1, "equal", cube=True),
}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("unit", [1, 300])
def test_empty_clusters_are_seldom_as_full(noise, unit):
    """Of 4,000 releases of 8 empty clusters, by chance more than 4.5 deviations above the stated
    rate: probability below 1e-5; and not far below it, or all would be called noise.
    """
    runs, k = 4000, 8
    exact = NearestStatistics(np.zeros(runs * k, np.int64), np.zeros((runs * k, 3), np.int64))
    pairs = noise.pairs(exact, noise.budget, reach=1000, unit=unit, source=SeededSource(1))
    least = np.array([noise_probabilities(part).min() for part in pairs.tails.reshape(runs, k)])
    for level in (0.3, 0.05, 0.01):
        margin = 4.5 * np.sqrt(level / runs)
        assert (least <= level).mean() <= level + margin
        assert (least <= level).mean() >= 0.5 * level - margin


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_empty_cells_are_seldom_as_full(delta):
    """A grid alone picks its regions by their noise; 150 grids, false alarm below 1e-5.

    All records lie in one corner, and every region without that corner is empty.
    """
    corner = np.full((60, 2), -1.0)
    least = []
    for seed in range(150):
        given = problem(corner, 5, epsilon=0.05, delta=delta, seed=seed)
        words = {"noise": given.noise, "share": given.share, "half": given.half}
        assert plan_grid(given.n, 2, 5, **words).steps == 0
        found = grid_kmeans(given)
        holds = nearest_statistics(given.engine, found.centers).counts > 0
        least.append(found.noise_probability[~holds].min())
    for level in (0.3, 0.05):
        assert (np.array(least) <= level).mean() <= level + 4.5 * np.sqrt(level / 150)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_whole_fits_seldom_call_empty_clusters_certain(method, delta):
    """40 fits with 6 clusters of which most are empty; at 0.3, false alarm below 1e-5."""
    X = np.concatenate([np.full((500, 2), -0.9), np.full((500, 2), -0.6)])
    words = {"delta": delta, "noise": "gaussian" if delta else "allocation", "overcluster": 1}
    words |= {"method": method, "n_clusters": 6, "bounds": (-1.0, 1.0)}
    least, certain = [], []
    for seed in range(40):
        model, exact = fit_watched(X, random_state=seed, **words)
        empty = exact == 0
        least.append(model.noise_probability_[empty].min(initial=1.0))
        certain.append(model.certain_[empty].any())
    assert np.mean(np.array(least) <= 0.3) <= 0.3 + 4.5 * np.sqrt(0.3 / 40)
    assert not any(certain)  # 40 in 1,000 at most would not be


@pytest.mark.parametrize("n", [2000, 20_000])
def test_ghost_segments_of_heavy_tails(n):
    """Wide bounds: most of 20 fits have a center of fewer than 50 people that may lie anywhere.

    None of these is certain; those that are hold nearly all people, and their sizes are right.
    """
    ghosts, held, errors = [], [], []
    for seed in range(20):
        words = {"n_clusters": 6, "epsilon": 1.0, "bounds": (LOW, HIGH), "random_state": seed}
        model, exact = fit_watched(people(seed, n), **words)
        small = (model.cluster_sizes_ < 50) & np.isinf(model.center_radius_)
        ghosts.append(small.any())
        assert not (small & model.certain_).any()
        assert (exact[model.certain_] > 0).all()
        held.append(exact[model.certain_].sum() / n)
        sizes = model.cluster_sizes_[model.certain_]
        errors += list(np.abs(sizes - exact[model.certain_]) / sizes)
    assert sum(ghosts) >= 11  # otherwise this table shows nothing
    assert min(held) > 0.98
    assert np.quantile(errors, 0.95) < 0.1
    assert max(errors) < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_what_is_certain(method):
    words = {"epsilon": 20.0, "bounds": (-1.0, 1.0), "method": method, "random_state": 0}
    model = DPKMeans(5, overcluster=1, **words).fit(blobs(20_000))
    full = model.cluster_sizes_ > 1000
    assert model.certain_[full].all()
    assert (model.noise_probability_[full] < 1e-9).all()
    assert model.certain_.dtype == bool
    values = Release.from_json(model.release_.to_json()).values
    assert (values["certain"] == model.certain_).all()
    assert (values["noise_probability"] == model.noise_probability_).all()
    assert (values["certain"] == (values["noise_probability"] <= 0.001)).all()


def test_a_center_that_may_lie_anywhere_has_no_radius():
    model = DPKMeans(3, epsilon=0.01, bounds=(0.0, 1000.0), method="lloyd", random_state=0)
    model.fit(np.full((20, 2), 500.0))
    assert np.isinf(model.center_radius_).all()
    assert not model.certain_.any()
    assert np.isinf(Release.from_json(model.release_.to_json()).values["radii"]).all()
    assert model.advice_ == (
        "3 of 3 centers may be noise alone: raise epsilon, bring more records, or narrow the bounds"
    )


def test_advice_names_bounds_that_look_too_wide():
    frame = pd.DataFrame(people(0, 20_000), columns=["age", "income", "visits"])
    model = DPKMeans(6, bounds=(LOW, HIGH), random_state=0).fit(frame)
    uncertain = int((~model.certain_).sum())
    assert uncertain > 0
    assert model.advice_.startswith(
        f"{uncertain} of 6 centers may be noise alone: most of the box looks empty, for the other "
        "centers span at most "
    )
    assert "of visits" in model.advice_
    assert model.advice_.endswith(
        f"narrow these bounds, have them learned, or ask for {6 - uncertain} clusters"
    )
    learned = DPKMeans(6, bounds="private", random_state=0).fit(frame)
    assert "learned" not in learned.advice_
    assert DPKMeans(5, bounds=(-1.0, 1.0), random_state=0).fit(blobs(20_000)).advice_ == ""
