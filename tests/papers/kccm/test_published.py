"""DP-KCCM as published promises nothing, and the audit catches it."""

import numpy as np
import pytest
from sklearn.base import clone

from helpers.paper_data import FINE
from shoal.audit import epsilon_lower_bound
from shoal.exceptions import DataError, ParameterError
from shoal.papers.kccm import FORMULAS, PublishedKCCM, published_merge, real_rho, real_spend
from shoal.papers.kccm.published import merged_center

X = np.random.default_rng(3).uniform(-1, 1, (300, 2))
NOISES = ("average", "allocation", "gaussian")


@pytest.mark.parametrize(
    ("formula", "noise", "overcluster"),
    [
        ("pseudo-code", "average", 1),
        ("pseudo-code", "gaussian", 3),
        ("text", "allocation", 3),
        ("text", "gaussian", 1),
    ],
)
def test_nothing_is_promised_and_the_reason_names_the_spend(formula, noise, overcluster):
    method = PublishedKCCM(2, formula=formula, noise=noise, overcluster=overcluster, random_state=0)
    fitted = clone(method).fit(X)
    assert fitted.cluster_centers_.shape == (2, 2)
    assert np.abs(fitted.cluster_centers_).max() <= 1.0
    assert set(fitted.labels_) <= {0, 1}
    assert np.array_equal(fitted.cluster_centers_, clone(method).fit(X).cluster_centers_)
    for promise in (clone(method).guarantee_, fitted.guarantee_):
        assert promise.notion == "none"
        assert not promise.holds
        assert promise.reason.startswith("as published, no guarantee: ")
    if noise == "gaussian":
        assert f"rho = {real_rho(formula, columns=2):.4g}" in fitted.guarantee_.reason
    else:
        assert f"spend {real_spend(formula):.4g}" in fitted.guarantee_.reason


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("noise", NOISES)
def test_scales_of_the_noise(monkeypatch, formula, noise):
    """Delta = d + 1 = 3; the average scale costs in 12 rounds what the others do."""
    scales = []
    real = np.random.default_rng

    class Listening:
        def __init__(self, seed):
            self.generator = real(seed)

        def __getattr__(self, name):
            assert name == ("normal" if noise == "gaussian" else "laplace")

            def draw(location, scale, size):
                scales.append((scale, size))
                return getattr(self.generator, name)(location, scale, size)

            return draw

    monkeypatch.setattr(np.random, "default_rng", Listening)
    PublishedKCCM(2, formula=formula, noise=noise, random_state=0).fit(X)
    assert [size for _, size in scales] == [(6, 2), (6,)] * 12
    drawn = [scale for scale, _ in scales[::2]]
    assert drawn == [scale for scale, _ in scales[1::2]]
    if noise == "average":
        assert len(set(drawn)) == 1
        assert sum(3 / scale for scale in drawn) == pytest.approx(real_spend(formula))
    else:
        turns = np.arange(1, 13)
        assert drawn == pytest.approx(3 * turns if formula == "pseudo-code" else 3 / turns)


def test_printed_merge_is_the_weighted_mean():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, q = rng.uniform(-1, 1, (2, 5))
        q[0] = p[0]
        n, m = rng.uniform(1, 300, 2)
        assert merged_center(p, q, n, m) == pytest.approx((n * p + m * q) / (n + m), abs=1e-12)


def test_merging_keeps_the_total_and_takes_the_nearest():
    rng = np.random.default_rng(1)
    centers, sizes = rng.uniform(-1, 1, (9, 3)), rng.uniform(1, 50, 9)
    for k in range(1, 10):
        found, counts = published_merge(centers, sizes, k)
        assert found.shape == (k, 3)
        assert counts.sum() == pytest.approx(sizes.sum())
        # Weighted means of weighted means: the center of all is always the same.
        assert counts @ found == pytest.approx(sizes @ centers)
    pair, _ = published_merge(np.array([[0.0], [0.9], [-0.2]]), np.ones(3), 2)
    assert sorted(pair[:, 0].tolist()) == [-0.1, 0.9]


def test_the_text_formula_is_caught():
    """Two tables of one cluster, one record apart: no epsilon of 3 holds; seen 4.0.

    The last round alone costs 12. A bound is true with probability 0.999.
    """
    rng = np.random.default_rng(0)

    def sizes(table, n):
        method = PublishedKCCM(1, formula="text", overcluster=1, random_state=rng)
        found = [method.fit(table).cluster_sizes_ for _ in range(n)]
        return np.round(np.array(found) / FINE) * FINE

    one = np.zeros((20, 1))
    found = epsilon_lower_bound(sizes, one, one[1:], samples=1000, confidence=0.999)
    assert found.exceeds(3.0)


def test_bad_parameters(subtests):
    for method, message in [
        (PublishedKCCM(0), "n_clusters must be"),
        (PublishedKCCM(formula="code"), "formula must be 'pseudo-code' or 'text', got 'code'"),
        (PublishedKCCM(noise="adaptive"), "noise must be one of"),
        (PublishedKCCM(overcluster=1.5), "overcluster must be"),
        (PublishedKCCM(max_iter=0), "max_iter must be"),
        (PublishedKCCM(random_state="seed"), "random_state must be"),
    ]:
        with (
            subtests.test(method=method, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            method.fit(X)


def test_records_outside_the_box_are_refused():
    with pytest.raises(DataError, match=r"X must lie in \[-1, 1\] in every column"):
        PublishedKCCM().fit(2 * X)
