"""From noisy pairs to centers: shrinking, radii that cover exact means, centers of noise alone."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from helpers.kmeans_problems import FIVE, blobs, corners, problem
from shoal._registry import choices
from shoal.cluster import DPKMeans
from shoal.cluster._budget import CountSum
from shoal.cluster._noise import GDPNoise, NoisyPairs, PureNoise
from shoal.cluster.kmeans._grid import GridMethod, plan_grid
from shoal.cluster.kmeans._problem import (
    _norm_quantile,
    confidence_radii,
    noise_probabilities,
    shrunken_moves,
)
from shoal.engines import HALF, NearestStatistics, nearest_statistics, window_statistics
from shoal.noise import SeededSource
from shoal.privacy import Release

RNG = np.random.default_rng(0)


def pairs(counts, sums, counts_noise, sums_noise):
    counts, sums = np.asarray(counts, np.int64), np.asarray(sums, np.int64)
    return NoisyPairs(counts, sums, CountSum(counts_noise, sums_noise), np.ones(len(counts)))


def test_pure_noise_moves_nothing():
    noise = np.rint(RNG.normal(0.0, 1000.0, (200, 3)))
    moves = shrunken_moves(pairs(np.full(200, 50), noise, 5.0, 1000.0), 10**6)
    raw = noise / 50
    assert np.linalg.norm(moves) < 0.1 * np.linalg.norm(raw)


def test_tiny_noise_leaves_moves_as_they_are():
    sums = RNG.integers(-5000, 5000, (20, 3))
    moves = shrunken_moves(pairs(np.full(20, 50), sums, 1e-3, 1e-3), 10**6)
    assert moves == pytest.approx(sums / 50, rel=1e-6)


def test_shrinking_beats_the_raw_mean():
    # True moves of deviation 20 under noise of deviation 1000 / 50 = 20: half must go.
    true = RNG.normal(0.0, 20.0, (500, 2))
    noisy = np.rint(50 * true + RNG.normal(0.0, 1000.0, (500, 2)))
    moves = shrunken_moves(pairs(np.full(500, 50), noisy, 1.0, 1000.0), 10**6)
    assert ((moves - true) ** 2).mean() == pytest.approx(200.0, rel=0.15)
    assert ((noisy / 50 - true) ** 2).mean() == pytest.approx(400.0, rel=0.15)


def test_small_clusters_trust_their_place_more_than_large_ones():
    counts = np.array([2000, 2000, 20])
    sums = counts[:, None] * np.array([[100], [-100], [100]])
    moves = shrunken_moves(pairs(counts, sums, 5.0, 1000.0), 10**6)
    assert moves[0, 0] > 0.9 * 100
    assert moves[2, 0] < 0.9 * 100


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-100, 1e100])
def test_odd_pairs_give_finite_moves_without_warnings(scale):
    for counts in ([0, 0], [-5, 3], [-(2**60), 2**60]):
        for value in (0, 2**60):
            noisy = pairs(counts, np.full((2, 2), value), max(scale, 1e-9), scale)
            moves = shrunken_moves(noisy, 100)
            assert np.isfinite(moves).all()
            assert np.abs(moves).max() <= 100
            radii = confidence_radii(noisy, moves, np.full(2, 1000.0))
            assert ((radii >= 0) & ((radii < 1000) | np.isinf(radii))).all()


def test_quantile_serves_every_law():
    for columns in (1, 2, 5, 40):
        quantile = _norm_quantile(columns)
        draws = 40_000
        gamma = RNG.gamma(columns + 2, 1.0, (draws, 1))
        box = gamma * RNG.uniform(-1, 1, (draws, columns))
        laws = {
            "box": box / np.sqrt((columns + 2) * (columns + 3) / 3),
            "laplace": RNG.laplace(0.0, np.sqrt(0.5), (draws, columns)),
            "gaussian": RNG.standard_normal((draws, columns)),
        }
        for name, law in laws.items():
            # 2.5% with a standard error of 0.08%, and the quantile's own: 5 of both.
            assert (np.linalg.norm(law, axis=1) > quantile).mean() < 0.031, name


def exact_means(X, **kwargs):
    """Fit, and the means that the last look at the records had, in units of half the box."""
    seen = []

    def spy(engine, centers, **clip):
        exact = nearest_statistics(engine, centers, **clip)
        seen.append((centers if clip.get("clip_radius") else 0, exact))
        return exact

    def spy_windows(engine, centers, radii):
        seen.append((centers, window_statistics(engine, centers, radii)))
        return seen[-1][1]

    with (
        patch("shoal.cluster.kmeans._windows.window_statistics", spy_windows),
        patch("shoal.cluster.kmeans._tree.window_statistics", spy_windows),
        patch("shoal.cluster.kmeans._grid.nearest_statistics", spy),
        patch("shoal.cluster.kmeans._lloyd.nearest_statistics", spy),
        patch("shoal.cluster.kmeans._mixed.nearest_statistics", spy),
    ):
        model = DPKMeans(bounds=(-1.0, 1.0), **kwargs).fit(X)
    if not seen:  # a grid alone
        counts = np.bincount(model.labels_, minlength=len(model.cluster_centers_))
        sums = [np.bincount(model.labels_, x, minlength=len(counts)) for x in X.T]
        base, sums = 0, np.stack(sums, axis=1) * HALF
    else:
        base, exact = seen[-1]
        counts, sums = exact.counts, exact.sums
    full = counts > 0
    return model, full, (base + sums / np.maximum(counts, 1)[:, None]) / HALF


SETTINGS = {
    "grid": {"method": "grid", "epsilon": 0.5},
    "grid-gaussian": {"method": "grid", "epsilon": 0.5, "delta": 1e-6},
    "grid-alone": {"method": "grid", "epsilon": 0.05},
    "ball": {"method": "ball", "epsilon": 1.0},
    "lloyd": {"method": "lloyd", "epsilon": 1.0},
    "lloyd-analytic": {"method": "lloyd", "epsilon": 1.0, "split": "analytic"},
    "lloyd-gaussian": {"method": "lloyd", "epsilon": 1.0, "delta": 1e-6},
    "kccm": {"method": "kccm", "epsilon": 4.0, "overcluster": 1},
}


TRIED = [(name, d) for name in SETTINGS for d in (1, 2, 20) if d < 20 or "grid" not in name]
FEW = [*((name, 2) for name in SETTINGS), ("ball", 20), ("lloyd", 20)]


@pytest.mark.parametrize(
    ("name", "columns"),
    [pytest.param(*one, marks=() if one in FEW else pytest.mark.full) for one in TRIED],
)
def test_radii_cover_the_exact_means(name, columns):
    # 95% for each center, 240 or more of them: below 93% by chance with probability under 10%
    # if coverage were 95% exactly; it is a union of two bounds, and 95.5% to 100% were seen.
    centers = {1: FIVE[:, :1], 2: FIVE, 20: corners(20, 5)}[columns]
    X = blobs(1500, centers)
    inside, known = [], []
    for seed in range(50):
        model, full, means = exact_means(X, n_clusters=5, random_state=seed, **SETTINGS[name])
        gaps = np.linalg.norm(model.cluster_centers_ - means, axis=1)
        inside += list((gaps / 2 <= model.center_radius_ + 1e-12)[full])  # in a box 2 wide
        known += list(np.isfinite(model.center_radius_)[full])
    assert np.mean(inside) >= 0.93
    if columns < 20:
        assert np.mean(known) > 0.3, "radii that say nothing cover anything"


METHODS = choices("DPKMeans", "method")
LOW, HIGH = np.array([18.0, 0.0, 0.0]), np.array([100.0, 500_000.0, 500.0])


def people(seed, n):
    """Ages, and incomes and visits with heavy tails in bounds that hold all of them."""
    rng = np.random.default_rng(100 + seed)
    income = rng.lognormal(np.log(40e3), 0.9, n)
    visits = rng.lognormal(np.log(6.0), 1.2, n)
    return np.column_stack([rng.normal(45.0, 15.0, n), income, visits])


def fit_watched(X, **kwargs):
    """A fit, and the exact counts behind the last that it released."""
    seen = []

    def spy(engine, centers, **clip):
        seen.append(nearest_statistics(engine, centers, **clip))
        return seen[-1]

    def spy_windows(engine, centers, radii):
        seen.append(window_statistics(engine, centers, radii))
        return seen[-1]

    with (
        patch("shoal.cluster.kmeans._windows.window_statistics", spy_windows),
        patch("shoal.cluster.kmeans._tree.window_statistics", spy_windows),
        patch("shoal.cluster.kmeans._centered.window_statistics", spy_windows),
        patch("shoal.cluster.kmeans._grid.nearest_statistics", spy),
        patch("shoal.cluster.kmeans._lloyd.nearest_statistics", spy),
        patch("shoal.cluster.kmeans._mixed.nearest_statistics", spy),
    ):
        model = DPKMeans(**kwargs).fit(X)
    if not seen:  # clusters of leaves, and no statistic around their centers
        return model, np.bincount(model.labels_, minlength=len(model.cluster_centers_))
    return model, seen[-1].counts


NOISES = {
    "box": PureNoise(1.0),
    "laplace": PureNoise(1.0, "analytic"),
    "gaussian": GDPNoise(0.1),
    "gaussian in a cube": GDPNoise(0.1, "equal", cube=True),
}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_empty_clusters_are_seldom_as_full(noise, subtests):
    """Of 4,000 releases of 8 empty clusters, by chance more than 4.5 deviations above the stated
    rate: probability below 1e-5; and not far below it, or all would be called noise.
    """
    for contribution in [1, 300]:
        with subtests.test(contribution=contribution):
            runs, k = 4000, 8
            exact = NearestStatistics(
                np.zeros(runs * k, np.int64), np.zeros((runs * k, 3), np.int64)
            )
            pairs = noise.pairs(
                exact,
                noise.total_budget,
                clip_radius=1000,
                contribution=contribution,
                source=SeededSource(1),
            )
            least = np.array(
                [noise_probabilities(part).min() for part in pairs.tails.reshape(runs, k)]
            )
            for level in (0.3, 0.05, 0.01):
                margin = 4.5 * np.sqrt(level / runs)
                assert (least <= level).mean() <= level + margin
                assert (least <= level).mean() >= 0.5 * level - margin


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_empty_cells_are_seldom_as_full(delta):
    """A grid alone picks its regions by their noise; 100 grids, false alarm below 1e-5.

    All records lie in one corner, and every region without that corner is empty.
    """
    corner = np.full((60, 2), -1.0)
    least = []
    for seed in range(100):
        given = problem(corner, 5, epsilon=0.05, delta=delta, seed=seed)
        kwargs = {"noise": given.noise, "budget": given.budget, "half": given.half}
        assert plan_grid(given.n, 2, 5, **kwargs).steps == 0
        found = GridMethod(DPKMeans()).run(given)
        holds = nearest_statistics(given.engine, found.centers).counts > 0
        least.append(found.noise_probability[~holds].min())
    for level in (0.3, 0.05):
        assert (np.array(least) <= level).mean() <= level + 4.5 * np.sqrt(level / 100)


@pytest.mark.parametrize(("method", "columns"), [("grid", 3), ("grid", 12), ("centered", 8)])
def test_cells_shared_by_centers_make_none_certain(method, columns):
    """All records in one corner of the middle cell, next to the others: labels may be another's.

    A grid alone judged a center by a cell whose records were nearer to another one: in one of five
    fits a certain center had no record of its own.
    """
    rng = np.random.default_rng(0)
    for seed in range(25):
        X = -0.02 + 0.005 * rng.standard_normal((300, columns))
        kwargs = {"epsilon": 0.3, "method": method, "bounds": (-1.0, 1.0), "n_public": 300}
        model = DPKMeans(12, random_state=seed, **kwargs).fit(X)
        assert model.n_iter_ == 1
        held = np.bincount(model.labels_, minlength=len(model.cluster_centers_))
        assert (held[model.certain_] > 0).all()


def test_cells_that_belong_to_one_center_still_make_it_certain():
    X = np.concatenate([np.full((500, 2), -0.55), np.full((500, 2), 0.55)])
    kwargs = {"epsilon": 0.1, "method": "grid", "bounds": (-1.0, 1.0), "n_public": 1000}
    fits = [DPKMeans(2, random_state=seed, **kwargs).fit(X) for seed in range(10)]
    assert {model.n_iter_ for model in fits} == {1}
    assert np.mean([model.certain_.mean() for model in fits]) > 0.5


@pytest.mark.parametrize("columns", [16, 20, 32])
def test_no_radius_where_a_grid_has_more_cells_than_records_fill(columns):
    """Of 6 finite radii none covered the mean: 1.36 for a distance of 1.86 in 16 columns."""
    X = np.ones((2000, columns))
    X[::2, 0] = -1.0
    kwargs = {"epsilon": 0.02, "method": "grid", "bounds": (-1.0, 1.0), "n_public": 2000}
    model = DPKMeans(2, random_state=0, **kwargs).fit(X)
    for j in np.unique(model.labels_):
        mean = X[model.labels_ == j].mean(axis=0)
        distance = np.linalg.norm(mean - model.cluster_centers_[j]) / 2
        assert distance <= model.center_radius_[j]


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=() if method in ("ball", "grid", "tree") else pytest.mark.full)
        for method in METHODS
    ],
)
def test_whole_fits_seldom_call_empty_clusters_certain(method, subtests):
    """40 fits with 6 clusters of which most are empty; at 0.3, false alarm below 1e-5."""
    for delta in [0.0, 1e-6]:
        with subtests.test(delta=delta):
            X = np.concatenate([np.full((500, 2), -0.9), np.full((500, 2), -0.6)])
            kwargs = {
                "delta": delta,
                "noise": "gaussian" if delta else "allocation",
                "overcluster": 1,
            }
            kwargs |= {"method": method, "n_clusters": 6, "bounds": (-1.0, 1.0)}
            least, certain = [], []
            for seed in range(40):
                model, exact = fit_watched(X, random_state=seed, **kwargs)
                empty = exact == 0
                least.append(model.noise_probability_[empty].min(initial=1.0))
                certain.append(model.certain_[empty].any())
            assert np.mean(np.array(least) <= 0.3) <= 0.3 + 4.5 * np.sqrt(0.3 / 40)
            assert sum(certain) <= 1  # 40 in 1,000 at most have one; two are one in 1,000


@pytest.mark.parametrize("n", [2000, 20_000])
def test_ghost_segments_of_heavy_tails(n):
    """Wide bounds: most of 20 fits have a center of fewer than 50 people that may lie anywhere.

    None of these is certain; those that are hold nearly all people, and their sizes are right.
    """
    ghosts, held, errors = [], [], []
    for seed in range(20):
        kwargs = {"n_clusters": 6, "epsilon": 1.0, "bounds": (LOW, HIGH), "random_state": seed}
        model, exact = fit_watched(people(seed, n), method="grid", **kwargs)
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


def test_a_tree_has_few_ghost_segments_of_heavy_tails():
    """The same people: a grid has a ghost in most fits, a tree in few; what is certain is there."""
    ghosts = []
    for seed in range(20):
        kwargs = {"n_clusters": 6, "epsilon": 1.0, "bounds": (LOW, HIGH), "random_state": seed}
        model, exact = fit_watched(people(seed, 2000), method="tree", **kwargs)
        ghosts.append((exact < 5).any())
        assert (exact[model.certain_] > 0).all()
    assert sum(ghosts) <= 6


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_what_is_certain(method):
    kwargs = {"epsilon": 20.0, "bounds": (-1.0, 1.0), "method": method, "random_state": 0}
    model = DPKMeans(5, overcluster=1, **kwargs).fit(blobs(20_000))
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
    model = DPKMeans(6, bounds=(LOW, HIGH), method="grid", random_state=0).fit(frame)
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
