"""k-means around the noisy mean: its plans, what it releases, and the mean where that is all."""

import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from helpers.kmeans_problems import blobs, corners, problem
from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPKMeans
from shoal.cluster._noise import GDPNoise, PureNoise
from shoal.cluster.kmeans._centered import (
    CenteredMethod,
    plan_centered,
    smaller_noise,
    suits_centered,
)
from shoal.cluster.kmeans._place import Place, locate, release_level, spread_centers
from shoal.engines import HALF
from shoal.metrics import nicv
from shoal.privacy import Release
from shoal.reports import label_on_device

NOISES = {"pure": PureNoise(1.0), "gaussian": GDPNoise(1.0)}
WINE = load_wine().data
WINE = 2 * (WINE - WINE.min(axis=0)) / np.ptp(WINE, axis=0) - 1


def model(k=3, **kwargs):
    settings = {"epsilon": 1.0, "bounds": (-1.0, 1.0), "method": "centered", "random_state": 0}
    return DPKMeans(k, **{**settings, **kwargs})


def plan(n, columns=13, k=3, budget=1.0, noise=NOISES["pure"], **kwargs):
    return plan_centered(n, columns, k, noise=noise, budget=budget, **kwargs)


def kind(made):
    """How much a plan tries: the mean, a grid that is doubted, a grid, rounds."""
    if made.rounds:
        return 3
    return 0 if not made.grid else 1 if made.doubtful else 2


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("counted", [False, True])
def test_every_plan_spends_the_budget_and_no_more(noise, counted):
    for columns, n, k, budget in itertools.product(
        (1, 5, 13, 30, 300), (-1e9, 0.0, 1.0, 178.0, 1e5, 1e15), (1, 3, 50), (1e-6, 0.1, 1.0, 1e9)
    ):
        made = plan(n, columns, k, budget, noise, counted=counted)
        parts = [made.level, made.mean, made.grid, *made.rounds]
        assert min(parts) >= 0
        assert made.level >= CenteredMethod(DPKMeans()).smallest_budget(1.0)
        assert all(part > 0.01 for part in parts if part)
        assert sum(parts) == pytest.approx(1.0, abs=1e-12)
        if counted and made.rounds and k > 1:
            assert made.grid


def test_more_records_or_epsilon_never_try_less():
    for columns, k in [(5, 4), (13, 3), (30, 2), (8, 10)]:
        numbers = np.exp(np.linspace(0, 14, 80))
        by_n = [kind(plan(n, columns, k, 0.5)) for n in numbers]
        by_budget = [kind(plan(500.0, columns, k, budget)) for budget in numbers / 500]
        for tried in (by_n, by_budget):
            assert tried == sorted(tried)
            assert {tried[0], tried[-1]} == {0, 3}


def test_it_suits_columns_in_between_and_noise_that_is_not_small():
    small = {"noise": PureNoise(1.0), "budget": 1.0}
    assert [suits_centered(500, d, 3, **small) for d in (2, 4, 5, 13, 32, 33)] == [
        *[False] * 2,
        *[True] * 3,
        False,
    ]
    assert not suits_centered(1e5, 13, 3, **small)
    normal = {"noise": GDPNoise(1.0), "budget": 1.0}
    assert suits_centered(100, 13, 3, **normal)
    assert not suits_centered(1e6, 13, 3, **normal)


def test_normal_noise_is_for_many_columns_and_not_for_one_mean():
    assert not smaller_noise(1000, 13, 3, 1.0, 0.0).approximate
    chosen = [smaller_noise(1000, d, 3, 1.0, 1e-6).approximate for d in (1, 5, 13, 30)]
    assert chosen == sorted(chosen)
    assert chosen[0] < chosen[-1]
    assert not smaller_noise(100, 30, 3, 0.01, 1e-6).approximate


# What is learned of the place


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_level_and_mean_are_those_of_the_records(delta):
    X = blobs(500, np.linspace(-0.8, 0.2, 9)[None], spread=0.1)
    given = problem(X, 3, epsilon=1e4, delta=delta)
    level = release_level(given, given.budget, len(X))
    assert len(set(level.tolist())) == 1
    assert level[0] / HALF == pytest.approx(X.mean(), abs=1e-3)
    half = given.budget / 2
    place = locate(given, len(X), level_budget=half, mean_budget=half)
    assert place.mean / HALF == pytest.approx(X.mean(axis=0), abs=1e-3)
    length = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    # Never taken for shorter than an eighth of the box.
    assert place.length / HALF == pytest.approx(max(length, np.sqrt(0.02 * 9)), rel=1e-2)


def test_a_level_that_is_noise_stays_in_the_middle():
    given = problem(np.full((3, 8), 0.9), 2, epsilon=1e-4)
    assert np.abs(release_level(given, given.budget, 3.0)).max() < 0.01 * HALF


@pytest.mark.parametrize(("k", "columns"), [(1, 4), (2, 4), (4, 4), (5, 4), (9, 4), (3, 13)])
def test_public_starts_lie_around_the_mean(k, columns):
    given = problem(np.zeros((10, columns)), k)
    place = Place(np.full(columns, HALF // 4), float(HALF) / 4)
    centers = spread_centers(given, place)
    assert centers.shape == (k, columns)
    if k <= columns + 1:
        gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)[~np.eye(k, dtype=bool)]
        assert np.ptp(gaps) < 4 if k > 1 else not gaps.size
        assert centers.mean(axis=0) == pytest.approx(place.mean, abs=1)


# Where the mean is all


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_one_mean_is_published_where_noise_leaves_no_more(delta):
    fitted = model(3, epsilon=0.1, delta=delta, n_public=178).fit(WINE)
    assert fitted.cluster_centers_.shape == (1, 13)
    assert fitted.cluster_sizes_.tolist() == [178]
    assert fitted.certain_.tolist() == [False]
    assert fitted.noise_probability_.tolist() == [1.0]
    assert np.isinf(fitted.center_radius_).all()
    assert not fitted.labels_.any()
    assert not fitted.predict(WINE[:5]).any()
    assert fitted.score(WINE) < 0
    assert fitted.reason_ == "asked for; noise leaves one mean"
    assert fitted.advice_ == (
        "one mean is all that can be had: 3 clusters need about 4.4 times as many records, or as "
        "large an epsilon"
    )


def test_auto_says_that_one_mean_is_left():
    for epsilon, words in [(0.1, "noise leaves one mean"), (1.0, "around the mean")]:
        fitted = model(3, epsilon=epsilon, n_public=178, method="auto").fit(WINE)
        assert fitted.method_ == "centered"
        assert words in fitted.reason_


def test_the_advice_about_one_mean_holds():
    """So many times the records, or epsilon, and there are clusters."""
    few = model(3, epsilon=0.1, n_public=178).fit(WINE)
    times = few.release_.values["records_short"]
    more = model(3, epsilon=0.1 * times, n_public=178).fit(WINE)
    assert len(more.cluster_centers_) == 3
    many = model(3, epsilon=0.1, n_public=round(178 * times)).fit(np.tile(WINE, (9, 1)))
    assert len(many.cluster_centers_) == 3


def test_a_release_of_one_mean_comes_back_and_labels_devices():
    release = model(3, epsilon=0.1, n_public=178).fit(WINE).release_
    back = Release.from_json(release.to_json())
    assert (back.values["clusters_asked"], back.values["method"]) == (3, "centered")
    assert label_on_device(back, WINE[0]) == 0


def test_a_number_of_clusters_that_was_to_be_chosen_is_one():
    fitted = model("private", epsilon=0.1, n_public=100).fit(WINE)
    assert len(fitted.cluster_centers_) == 1
    assert fitted.advice_.startswith("one mean is all that can be had: several clusters need")


def test_one_cluster_that_was_asked_for_needs_no_advice():
    fitted = model(1, epsilon=1.0, n_public=178).fit(WINE)
    assert fitted.certain_.all()
    assert fitted.advice_ == ""
    gap = np.linalg.norm(fitted.cluster_centers_[0] - WINE.mean(axis=0))
    assert gap < 2 * fitted.center_radius_[0]


def test_a_doubtful_grid_is_published_only_if_uneven():
    """Of tables with nothing to see, most get the mean (a false alarm: below 1 in 1,000)."""
    n = 300
    assert plan(n, 10, 4, 0.1).doubtful
    flat = np.random.default_rng(0).uniform(-1.0, 1.0, (n, 10))
    heaps = blobs(n, corners(10, 2), spread=0.01)
    seeds = range(40)

    def clustered(X):
        models = [model(4, epsilon=0.1, n_public=n, random_state=seed) for seed in seeds]
        return sum(len(one.fit(X).cluster_centers_) == 4 for one in models)

    assert clustered(flat) < 20 < clustered(heaps)


def test_an_unknown_number_of_records_is_taken_as_small():
    """Noise of the number itself must not make a table look large."""
    kinds = {
        len(model(3, epsilon=0.05, random_state=s).fit(WINE).cluster_centers_) for s in range(9)
    }
    assert kinds <= {1, 3}
    assert 1 in kinds


# What it costs


@pytest.mark.parametrize(
    ("epsilon", "peer"), [(0.1, 2.33), (0.5, 2.17), (1.0, 1.62), (2.0, 1.44), (4.0, 1.24)]
)
def test_wine_costs_less_than_with_the_best_peer(epsilon, peer):
    """The cheapest of EUGkM (pure) and FastLloyd (delta 1/(n ln n)) at each epsilon."""
    best = KMeans(3, n_init=10, random_state=0).fit(WINE).inertia_ / len(WINE)
    fits = [model(epsilon=epsilon, n_public=178, random_state=seed) for seed in range(12)]
    costs = [nicv(WINE, one.fit(WINE).cluster_centers_) / best for one in fits]
    assert np.mean(costs) < peer


def test_skewed_columns_cost_less_than_in_the_whole_box():
    rng = np.random.default_rng(0)
    X = np.exp(
        0.6
        * (
            rng.standard_normal((4, 8))[rng.integers(0, 4, 400)]
            + 0.6 * rng.standard_normal((400, 8))
        )
    )
    X = 2 * X / X.max(axis=0) - 1

    def cost(method):
        fits = [model(4, n_public=400, method=method, random_state=seed) for seed in range(9)]
        return np.median([nicv(X, one.fit(X).cluster_centers_) for one in fits])

    assert cost("centered") < 0.9 * cost("grid")


# What it promises


PLANS = {
    "one mean": {"epsilon": 0.1, "n_public": 20},
    "doubtful grid": {"epsilon": 0.1, "n_public": 300},
    "grid": {"epsilon": 0.3, "n_public": 300},
    "grid and a round": {"epsilon": 1.0, "n_public": 1000},
    "grid and rounds": {"epsilon": 1.0, "n_public": 10_000},
    "rounds": {"epsilon": 1.0, "delta": 1e-6, "n_public": 1000},
    "normal grid": {"epsilon": 1.0, "delta": 1e-6, "n_public": 10_000},
    "unknown n": {"epsilon": 1.0},
}
TIGHT = {"one mean": 0.999, "doubtful grid": 0.999, "grid": 0.9, "unknown n": 0.02}


# What a plan does is the same in more columns: of those, one is replayed.
REPLAYED = [(name, columns) for columns in (5, 13) for name in PLANS]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        pytest.param(*one, marks=() if one[1] == 5 or one == ("rounds", 13) else pytest.mark.full)
        for one in REPLAYED
    ],
)
def test_a_replay_of_every_plan_costs_what_is_claimed(name, columns):
    rng = np.random.default_rng(1)
    table = rng.uniform(-1.0, 1.0, (30, columns))
    pairs = [
        Neighbors("corner", table, np.ones(columns)),
        Neighbors("corner, one other", np.zeros((1, columns)), np.ones(columns)),
        Neighbors("among others", table, np.full(columns, 0.1)),
        Neighbors("far", table, 50.0 * rng.standard_normal(columns)),
    ]
    audit = replay_estimator(model(3, **PLANS[name]), pairs, repeats=2)
    assert not audit.broken, str(audit)
    assert audit.loss <= audit.budget * (1 + 1e-9)
    assert audit.loss >= TIGHT.get(name, 0.5) * audit.budget
