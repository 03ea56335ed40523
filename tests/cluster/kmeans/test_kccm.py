"""DP-KCCM with its promise kept: shares, merging, and what every variant draws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.cluster import KMeans

from helpers.noise_recorder import recording
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans import _kccm, _lloyd
from shoal.cluster.kmeans._kccm import KCCM_NOISE, merge_nearest, round_budgets
from shoal.datasets import make_gaussians
from shoal.exceptions import ParameterError
from shoal.metrics import cost_ratio
from shoal.privacy import GDPEvent, Ledger, PureEvent, epsilon_to_gdp

HALF = 2**19
DELTA = 1e-5
X = make_gaussians(2000, n_clusters=3, spread=0.05, random_state=1).X


def model(noise="allocation", **kwargs):
    settings = {"epsilon": 4.0, "n_public": len(X), "random_state": 0, **kwargs}
    if noise == "gaussian":
        settings.setdefault("delta", DELTA)
    return DPKMeans(3, method="kccm", noise=noise, bounds=(-1.0, 1.0), **settings)


def drawn_rounds(noise, **kwargs):
    """Scales of counts and sums, round by round."""
    with recording() as tape:
        model(noise, **kwargs).fit(X)
    if noise == "gaussian":  # counts and sums are one release
        return [(draw.scales[0], draw.scales[1]) for draw in tape.draws], tape
    assert [len(draw.shape) for draw in tape.draws] == [1, 2] * (len(tape.draws) // 2)
    scales = [draw.scale for draw in tape.draws]
    return list(zip(scales[::2], scales[1::2], strict=True)), tape


def merged_by_hand(centers, sizes, k):
    """Search all pairs at each step; a cluster is the list of what went into it."""
    clusters = [([i], list(centers[i]), sizes[i]) for i in range(len(centers))]
    while len(clusters) > k:
        a, b = min(
            itertools.combinations(range(len(clusters)), 2),
            key=lambda pair: math.dist(clusters[pair[0]][1], clusters[pair[1]][1]),
        )
        (left, here, n), (right, there, m) = clusters[a], clusters[b]
        w, v = max(n, 1.0), max(m, 1.0)
        place = [(w * x + v * y) / (w + v) for x, y in zip(here, there, strict=True)]
        clusters[a] = (left + right, place, n + m)
        del clusters[b]
    return clusters


@pytest.mark.parametrize("noise", KCCM_NOISE)
def test_shares_add_up(noise):
    for rounds in range(1, 51):
        budgets = round_budgets(0.7, rounds, noise)
        assert len(budgets) == rounds
        assert math.fsum(budgets) == pytest.approx(0.7, rel=1e-14)
        if noise == "allocation":
            assert (np.diff(budgets) > 0).all()
            assert budgets == pytest.approx([turn * budgets[0] for turn in range(1, rounds + 1)])
        else:
            assert len(set(budgets)) == 1


def test_merging_as_by_hand():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m, d = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        k = int(rng.integers(1, m + 1))
        centers, sizes = rng.uniform(-9, 9, (m, d)), rng.normal(20, 30, m)
        kept = centers.copy(), sizes.copy()
        found = merge_nearest(centers, sizes, k)
        expected = merged_by_hand(centers, sizes, k)
        assert [sorted(group) for group in found.members] == [sorted(one[0]) for one in expected]
        assert found.centers == pytest.approx(np.array([one[1] for one in expected]))
        assert found.sizes == pytest.approx(np.array([one[2] for one in expected]))
        assert found.sizes.sum() == pytest.approx(sizes.sum())
        assert np.array_equal(centers, kept[0])
        assert np.array_equal(sizes, kept[1])


def test_as_many_as_wanted_are_left_alone():
    centers, sizes = np.array([[3.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), np.array([-4.0, 0.0, 5.0])
    found = merge_nearest(centers, sizes, 3)
    assert np.array_equal(found.centers, centers)
    assert np.array_equal(found.sizes, sizes)
    assert found.members == [[0], [1], [2]]


def test_of_equal_gaps_the_first_is_closed():
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    found = merge_nearest(square, np.ones(4), 3)
    assert found.members == [[0, 1], [2], [3]]
    assert merge_nearest(square, np.ones(4), 2).members == [[0, 1], [2, 3]]
    twins = merge_nearest(np.zeros((4, 2)), np.arange(4.0), 1)
    assert twins.members == [[0, 1, 2, 3]]
    assert np.array_equal(twins.centers, [[0.0, 0.0]])


def test_sizes_below_one_weigh_one():
    found = merge_nearest(np.array([[0.0], [4.0]]), np.array([-50.0, 3.0]), 1)
    assert found.centers[0, 0] == 3.0
    assert found.sizes[0] == -47.0


@pytest.mark.parametrize("noise", KCCM_NOISE)
def test_every_variant_pays_the_whole_budget_and_no_more(noise, subtests):
    """In exact fractions: one record moves a count by 1 and each of 2 columns by at most half."""
    for overcluster in [1, 3]:
        for rounds in [1, 5, 12]:
            with subtests.test(overcluster=overcluster, rounds=rounds):
                epsilon = 0.7
                scales, tape = drawn_rounds(
                    noise, epsilon=epsilon, overcluster=overcluster, max_iter=rounds
                )
                assert len(scales) == rounds
                assert {draw.shape[0] for draw in tape.draws} == {3 * overcluster}
                if noise == "gaussian":
                    assert {draw.sampler for draw in tape.draws} == {"rounded_gaussian"}
                    budget = epsilon_to_gdp(epsilon, DELTA) ** 2
                    costs = [
                        1 / Fraction(one) ** 2 + 2 * HALF**2 / Fraction(two) ** 2
                        for one, two in scales
                    ]
                else:
                    assert {draw.sampler for draw in tape.draws} == {"discrete_laplace"}
                    budget = epsilon
                    costs = [1 / Fraction(one) + 2 * HALF / Fraction(two) for one, two in scales]
                assert sum(costs) <= Fraction(budget)
                assert float(sum(costs)) == pytest.approx(budget, rel=1e-12)


def test_count_and_columns_are_noised_alike():
    """Laplace of scale (d + 1) / epsilon_t on each number, in units of half the box."""
    scales, _ = drawn_rounds("average", epsilon=6.0)
    for one, two in scales:
        assert one == pytest.approx((2 + 1) / (6.0 / 12))
        assert two == pytest.approx(HALF * (2 + 1) / (6.0 / 12))


def test_later_rounds_are_less_noisy_with_allocation_only():
    scales, _ = drawn_rounds("allocation", epsilon=1.0)
    expected = [3 / (turn / 78) for turn in range(1, 13)]
    assert [one for one, _ in scales] == pytest.approx(expected)
    assert [two for _, two in scales] == pytest.approx([HALF * scale for scale in expected])
    for noise in ("average", "gaussian"):
        scales, _ = drawn_rounds(noise, epsilon=1.0)
        assert len(set(scales)) == 1


def test_gaussian_noise_by_its_l2_sensitivity():
    scales, _ = drawn_rounds("gaussian", epsilon=1.0)
    sigma = math.sqrt(2 + 1) / math.sqrt(epsilon_to_gdp(1.0, DELTA) ** 2 / 12)
    for one, two in scales:
        assert one == pytest.approx(sigma)
        assert two == pytest.approx(HALF * sigma)


@pytest.mark.parametrize("noise", KCCM_NOISE)
def test_one_entry_of_the_ledger_before_any_noise(noise):
    ledger = Ledger(epsilon=4.0, delta=DELTA)
    with recording() as tape:
        fitted = model(noise, ledger=ledger).fit(X)
    (entry,) = ledger.entries
    assert tape.entries[0] is entry.event
    if noise == "gaussian":
        assert isinstance(entry.event, GDPEvent)
        assert entry.event.mu == pytest.approx(epsilon_to_gdp(4.0, DELTA), rel=1e-15)
    else:
        assert isinstance(entry.event, PureEvent)
        assert entry.event.epsilon == 4.0
    assert entry.purpose.startswith("DPKMeans(3, kccm): ")
    assert fitted.guarantee_.epsilon == 4.0
    assert fitted.guarantee_.delta == (DELTA if noise == "gaussian" else 0.0)
    assert fitted.n_iter_ == 12


def test_gaussian_noise_without_delta_is_refused_and_spends_nothing():
    ledger = Ledger(epsilon=4.0, delta=DELTA)
    with (
        recording() as tape,
        pytest.raises(ParameterError, match='delta must be > 0 for noise "gaussian"'),
    ):
        model("gaussian", delta=0.0, ledger=ledger).fit(X)
    assert tape.entries == []
    assert len(ledger) == 0


def test_overcluster_one_merges_nothing(monkeypatch):
    """The released sizes are the noisy counts of the last round, one to one."""
    seen = []

    def watched(centers, sizes, k):
        seen.append(merge_nearest(centers, sizes, k))
        return seen[-1]

    monkeypatch.setattr(_kccm, "merge_nearest", watched)
    alone = model("average", overcluster=1).fit(X)
    merged = model("average", overcluster=4).fit(X)
    assert [len(group) for group in seen[0].members] == [1, 1, 1]
    assert sum(len(group) for group in seen[1].members) == 12
    for fitted, found in zip((alone, merged), seen, strict=True):
        assert np.array_equal(fitted.cluster_sizes_, np.maximum(found.sizes, 0))


@pytest.mark.parametrize("noise", KCCM_NOISE)
def test_with_a_large_budget_the_clusters_are_found(noise):
    """The median of nine seeds: some starts end in a local optimum whatever the noise."""
    plain = KMeans(3, n_init=10, random_state=0).fit(X).cluster_centers_

    def cost(seed):
        fitted = model(noise, epsilon=500.0, overcluster=1, random_state=seed).fit(X)
        return cost_ratio(X, fitted.cluster_centers_, reference=plain)

    assert np.median([cost(seed) for seed in range(9)]) < 1.02


@pytest.mark.parametrize("noise", ["average", "gaussian"])
def test_radius_covers_the_exact_mean_of_what_was_merged(monkeypatch, noise):
    """95% of centers: fewer than 90% of 120 come by chance in one of 100 runs; seen 100%."""
    exact, members = [], []

    def counted(engine, centers):
        exact.append(statistics(engine, centers))
        return exact[-1]

    def watched(centers, sizes, k):
        members.append(merge_nearest(centers, sizes, k).members)
        return merge_nearest(centers, sizes, k)

    statistics = _lloyd.nearest_statistics
    monkeypatch.setattr(_lloyd, "nearest_statistics", counted)
    monkeypatch.setattr(_kccm, "merge_nearest", watched)
    inside = []
    for seed in range(40):
        fitted = model(noise, epsilon=3.0, random_state=seed).fit(X)
        last = exact[-1]
        for j, group in enumerate(members[-1]):
            count = last.counts[group].sum()
            if count:
                mean = last.sums[group].sum(axis=0) / count / HALF
                gap = np.linalg.norm(fitted.cluster_centers_[j] - mean)
                inside.append(gap / 2 <= fitted.center_radius_[j])  # in a box 2 wide
    assert len(inside) > 100
    assert np.mean(inside) >= 0.9
    assert fitted.center_radius_.min() < 0.25  # it says something
