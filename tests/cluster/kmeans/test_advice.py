"""Advice before any budget is spent: near what fits then give."""

import os
import re

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.cluster import DPKMeans
from shoal.cluster._noise import noise_for
from shoal.cluster.kmeans._advice import MAX_ROWS, SPREAD
from shoal.cluster.kmeans._auto import delta_advice
from shoal.datasets import load
from shoal.engines import WindowStatistics
from shoal.exceptions import ParameterError
from shoal.metrics import cost_ratio
from shoal.noise import SeededSource

FOLDER = os.environ.get("SHOAL_DATA")
needs_files = pytest.mark.skipif(
    not FOLDER, reason="set SHOAL_DATA to the folder of data files to run this"
)


def made_up(n, d, k, seed):
    """Like the advice's own tables, made here again: round clusters with k^(1/d) to a side."""
    rng = np.random.default_rng(seed)
    spread = SPREAD / k ** (1 / d)
    centers = rng.uniform(-1 + spread, 1 - spread, (k, d))
    X = centers[rng.integers(0, k, n)] + spread * rng.standard_normal((n, d))
    return np.clip(X, -1.0, 1.0)


def ratios(X, k, *, bounds=(-1.0, 1.0), seeds=8, **kwargs):
    best = KMeans(k, n_init=2, random_state=0).fit(X).cluster_centers_
    fits = [DPKMeans(k, bounds=bounds, random_state=s, **kwargs).fit(X) for s in range(seeds)]
    return [cost_ratio(X, fitted.cluster_centers_, reference=best) for fitted in fits]


@pytest.mark.parametrize(
    ("n", "d", "k", "epsilon", "delta"),
    [
        (5000, 2, 15, 1.0, 0.0),
        pytest.param(5000, 2, 15, 0.2, 0.0, marks=pytest.mark.full),
        (2000, 4, 3, 0.5, 0.0),
        pytest.param(5000, 20, 5, 2.0, 0.0, marks=pytest.mark.full),
        (5000, 20, 5, 2.0, 1e-6),
        (20_000, 2, 8, 0.1, 0.0),
    ],
)
def test_advice_is_near_what_fits_give(n, d, k, epsilon, delta):
    advice = DPKMeans.advise(n, d, k, epsilon, delta=delta)
    seen = [
        ratio
        for seed in range(3)
        for ratio in ratios(made_up(n, d, k, seed), k, epsilon=epsilon, delta=delta, seeds=3)
    ]
    # What is above 1 is the price; it is told within a factor of 2, or within 10% of the cost.
    extra, told = np.mean(seen) - 1, advice.cost_ratio - 1
    assert told <= 2 * extra + 0.1
    assert extra <= 2 * told + 0.1
    assert advice.low <= advice.cost_ratio <= advice.high
    model = DPKMeans(k, epsilon=epsilon, delta=delta, bounds=(-1.0, 1.0), random_state=0)
    fitted = model.fit(made_up(n, d, k, 0))
    # Only the records say whether they crowd enough for a tree.
    assert fitted.reason_.startswith(advice.reason)
    assert fitted.method_ in (advice.method, "grid" if advice.method == "tree" else None)


@needs_files
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_advice_for_s1(epsilon):
    X = load("s1").X
    box = (X.min(axis=0), X.max(axis=0))
    advice = DPKMeans.advise(*X.shape, 15, epsilon)
    seen = np.mean(ratios(X, 15, bounds=box, epsilon=epsilon))
    # S1's clusters are as large as each other, those made up are not: S1 is the easier table.
    assert advice.low - 0.05 <= seen <= advice.high + 0.05


def test_it_can_be_repeated_and_reads_as_a_sentence():
    one, two = (DPKMeans.advise(1000, 2, 3, 0.5) for _ in range(2))
    assert one == two
    assert DPKMeans.advise(1000, 2, 3, 0.5, random_state=1) != one
    assert str(one).startswith(f"{one.method}: about ")
    assert "times the cost of k-means without privacy" in str(one)


def test_it_looks_at_no_record_and_spends_nothing():
    before = np.random.get_state()[1].copy()
    DPKMeans.advise(500, 2, 3, 1.0)
    assert (np.random.get_state()[1] == before).all()


def test_odd_sizes(subtests):
    for sizes in [(1, 1, 1), (1, 2, 5), (5, 1, 5), (20, 3, 40), (2**53, 2, 3)]:
        with subtests.test(sizes=sizes):
            advice = DPKMeans.advise(*sizes, 1.0)
            assert np.isfinite(advice.cost_ratio)
            assert advice.cost_ratio >= 0.99


def test_more_records_cost_less():
    costs = [DPKMeans.advise(n, 2, 5, 0.5).cost_ratio for n in (100, 1000, MAX_ROWS, 10**6)]
    assert costs == sorted(costs, reverse=True)


def test_bad_parameters_are_named(subtests):
    for kwargs, name in [
        ({"n": 0}, "n"),
        ({"n": 2.5}, "n"),
        ({"d": 0}, "d"),
        ({"k": -1}, "k"),
        ({"k": "private"}, "k"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"random_state": "x"}, "random_state"),
        ({"random_state": 1.5}, "random_state"),
    ]:
        with (
            subtests.test(kwargs=kwargs, name=name),
            pytest.raises(ParameterError, match=f"^{name} must"),
        ):
            DPKMeans.advise(**{"n": 100, "d": 2, "k": 3, "epsilon": 1.0, **kwargs})


def told_gain(reasons):
    """Return the exponent of delta, how many times smaller, and both lengths of the noise."""
    (found,) = re.findall(
        r"with delta = 1e-(\d+) the noise of a center would be (\S+) times smaller, (\S+) in "
        r"place of (\S+) radii of a cluster",
        reasons,
    )
    return int(found[0]), *map(float, found[1:])


@pytest.mark.parametrize(
    ("n", "d", "k", "epsilon", "digits"),
    [(50_000, 100, 32, 1.0, 6), (60_000, 784, 10, 4.0, 6), (10_000_000, 40, 5, 0.1, 8)],
)
def test_what_delta_buys_in_many_columns(n, d, k, epsilon, digits):
    """Against draws of both noises: four rounds, all clusters alike. 3% for 400 lengths."""
    (said,) = delta_advice(n, d, k, epsilon)
    told = told_gain(said)
    assert told[0] == digits
    rows, radius = 400, 1000
    zeros = WindowStatistics(
        np.zeros(rows, np.int64), np.zeros((rows, d), np.int64), np.zeros(rows, np.int64)
    )
    lengths = []
    for noise in (noise_for(epsilon, 10.0**-digits), noise_for(epsilon, 0.0)):
        noisy = noise.windows(
            zeros,
            np.full(rows, radius),
            noise.total_budget / 4,
            contribution=1,
            source=SeededSource(0),
        )
        squares = (noisy.sums.astype(float) ** 2).sum(axis=1)
        lengths.append(np.sqrt(squares.mean()) / (radius * n / k))
    assert told[1] == pytest.approx(lengths[1] / lengths[0], rel=0.05)
    assert told[2:] == pytest.approx(lengths, rel=0.08)


def test_few_columns_and_large_epsilon_are_told_nothing():
    assert delta_advice(5000, 2, 15, 1.0) == []
    assert delta_advice(500, 30, 3, 1000.0) == [], "pure noise is no larger then"


def test_fits_and_advice_say_what_delta_buys():
    advice = DPKMeans.advise(3000, 30, 4, 1.0)
    model = DPKMeans(4, epsilon=1.0, bounds=(-1.0, 1.0), n_public=3000, random_state=0)
    model.fit(made_up(3000, 30, 4, 0))
    assert told_gain(advice.reason) == told_gain(model.reason_)
    assert told_gain(str(advice))[1] > 1.5
    model.set_params(delta=1e-6).fit(made_up(3000, 30, 4, 0))
    assert "would be" not in model.reason_
    model.set_params(delta=0.0).fit(made_up(3000, 3, 4, 0))
    assert "would be" not in model.reason_
