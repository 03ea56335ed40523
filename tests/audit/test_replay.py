"""Replays clear what keeps its word, and catch published methods and peers that do not."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from shoal.audit import (
    Neighbors,
    ReplayAudit,
    ReplayedPair,
    neighboring_datasets,
    replay_estimator,
)
from shoal.cluster import DPKMeans, DPWaveCluster, _noise
from shoal.cluster._budget import CountSum, split_pure
from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace
from shoal.noise import (
    LaplaceNoise,
    RoundedGaussianNoise,
    SeededSource,
    privatize,
)
from shoal.papers.kccm import PublishedKCCM, real_rho, real_spend
from shoal.privacy import epsilon_to_gdp, pure_to_gdp
from subjects import having, subject

CENTRAL = [one.name for one in having("estimator", "clusterer")]
METHODS = {
    "auto": {},
    "auto-delta": {"delta": 1e-6},
    "grid": {"method": "grid"},
    "lloyd": {"method": "lloyd"},
    "lloyd-analytic": {"method": "lloyd", "split": "analytic"},
    "lloyd-gaussian": {"method": "lloyd", "delta": 1e-6},
    "centered": {"method": "centered"},
    "centered-gaussian": {"method": "centered", "delta": 1e-6},
    "ball": {"method": "ball"},
    "ball-gaussian": {"method": "ball", "delta": 1e-6},
    "kccm": {"method": "kccm"},
    "kccm-average": {"method": "kccm", "noise": "average"},
    "kccm-gaussian": {"method": "kccm", "noise": "gaussian", "delta": 1e-6},
    "private-k": {"n_clusters": "private"},
}
CORNER = [Neighbors("corner", np.zeros((3, 2)), [1.0, -1.0])]


def centers_and_sizes(model):
    return {"centers": model.cluster_centers_, "sizes": model.cluster_sizes_}


def corner(columns):
    """The record that moves a sum the most: alone with one other, in the corner."""
    return [Neighbors("corner", np.zeros((1, columns)), np.ones(columns))]


# Nothing is found where the promise is kept


@pytest.mark.parametrize("method", ["grid", "lloyd", "ball", "kccm"])
def test_gaussian_noise_is_counted_in_mu_and_used_up(method):
    """The worst record costs all of mu^2: the proof is tight, also for users and weights."""
    settings = {"noise": "gaussian"} if method == "kccm" else {}
    model = DPKMeans(2, bounds=(-1.0, 1.0), delta=1e-6, method=method, n_public=3, **settings)
    audit = replay_estimator(model, repeats=2)
    assert audit.privacy_measure == "mu^2"
    assert audit.budget == epsilon_to_gdp(1.0, 1e-6) ** 2
    assert not audit.broken, str(audit)
    assert 0.9 * audit.budget < audit.loss <= audit.budget
    assert "one record costs up to mu^2 0.056" in str(audit)


class Weighted(DPKMeans):
    """Takes the first column for weights."""

    def fit(self, X, y=None):
        return super().fit(X[:, 1:], sample_weight=X[:, 0])


class OfUsers(DPKMeans):
    """Takes the first column for ids."""

    def fit(self, X, y=None):
        return super().fit(X[:, 1:], user_ids=X[:, 0].astype(int))


def test_gaussian_noise_covers_weights_and_users():
    """A record of the largest weight costs all of mu^2; one of m rows of a user a part 1/m^2."""
    words = {"bounds": (-1.0, 1.0), "delta": 1e-6, "method": "lloyd", "n_public": 3}
    rest = np.column_stack([np.ones(3), np.zeros((3, 2))])
    heavy = Neighbors("corner", rest, [1.0, 1.0, -1.0])
    audit = replay_estimator(Weighted(2, **words), [heavy])
    assert not audit.broken, str(audit)
    assert 0.9 * audit.budget < audit.loss <= audit.budget
    light = replay_estimator(Weighted(2, **words), [Neighbors("half", rest, [0.5, 1.0, -1.0])])
    assert light.loss == pytest.approx(audit.loss / 4, rel=0.01)
    row = Neighbors("corner", np.column_stack([np.arange(3.0), np.zeros((3, 2))]), [9.0, 1.0, -1.0])
    users = replay_estimator(OfUsers(2, records_per_user=3, **words), [row])
    assert not users.broken, str(users)
    assert users.loss == pytest.approx(audit.loss / 9, rel=0.01)


class Mixed(BaseEstimator):
    """Releases a count under each of the noises it is given, at a cost of mu^2 or epsilon."""

    def __init__(self, noises=(), random_state=None):
        self.noises = noises
        self.random_state = random_state

    def fit(self, X, y=None):
        source = SeededSource(self.random_state)
        count = np.array([len(X)])
        for noise in self.noises:
            cost = noise.privacy_loss(count, count + 1)
            privatize(count, noise, cost=cost, source=source)
        return self


@pytest.mark.parametrize(
    ("noises", "measure", "loss"),
    [
        ((LaplaceNoise(2.0),), "epsilon", 0.5),
        ((LaplaceNoise(2.0), RoundedGaussianNoise(4.0)), "mu^2", pure_to_gdp(0.5) ** 2 + 1 / 16),
    ],
)
def test_pure_noise_beside_gaussian_noise_is_counted_in_mu(noises, measure, loss):
    audit = replay_estimator(
        Mixed(noises), CORNER, claimed=1.0, delta=1e-6, published=lambda model: {}
    )
    assert audit.privacy_measure == measure
    assert audit.loss == pytest.approx(loss)


@pytest.mark.full  # the contracts replay them too, on other pairs
@pytest.mark.parametrize("name", CENTRAL)
def test_clears_every_estimator(name):
    estimator = subject(name).make(bounds=(-1.0, 1.0))
    audit = replay_estimator(estimator, repeats=1)
    assert not audit.broken, str(audit)
    assert 0 < audit.loss <= audit.budget * (1 + 1e-9)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("columns", [3, 12, pytest.param(50, marks=pytest.mark.full)])
def test_clears_every_method_of_kmeans_in_many_columns(name, columns):
    _assert_cleared(name, columns)


def _assert_cleared(name, columns):
    words = {"n_clusters": 3, "epsilon": 0.7, "bounds": (-1.0, 1.0), **METHODS[name]}
    if words.get("method") == "grid" and columns > 10:
        words["method"] = "auto"  # a grid has at most 10 columns
    pairs = list(neighboring_datasets((-1.0, 1.0), n=20, columns=columns))[::2]
    audit = replay_estimator(DPKMeans(**words), pairs, repeats=1)
    assert not audit.broken, str(audit)
    # Some record uses what was paid for: no budget is left unused, but for what projections and
    # windows truncate to whole lattice steps.
    unused = 1e-9 if words.get("method") in ("lloyd", "kccm") else 1e-5
    assert audit.loss == pytest.approx(audit.budget, rel=0.35 if "delta" in words else unused)


def test_clears_more_columns_than_one_box_holds():
    """Two boxes of noise, which share what a round may cost."""
    model = DPKMeans(1, bounds=(-1.0, 1.0), method="lloyd", n_public=2, max_iter=1)
    audit = replay_estimator(model, corner(300), repeats=1)
    assert not audit.broken, str(audit)
    assert [r.declared for r in audit.pairs["corner"].releases] == pytest.approx([0.5, 0.5])


@pytest.mark.full
@pytest.mark.parametrize("technique", ["oneshot", "thr", "thr-em", "qt", "density"])
def test_clears_wavelets(technique):
    for wavelet in ("haar", "db2"):
        model = DPWaveCluster(bounds=(-1.0, 1.0), grid=16, technique=technique, wavelet=wavelet)
        audit = replay_estimator(model, repeats=1)
        assert not audit.broken, str(audit)


def test_clears_a_sparse_grid():
    """Which cells hold records is hidden too, although only those are visited."""
    pairs = list(neighboring_datasets((-1.0, 1.0), n=20, columns=6))
    audit = replay_estimator(DPWaveCluster(bounds=(-1.0, 1.0), grid=64), pairs, repeats=1)
    assert not audit.broken, str(audit)
    assert audit.loss == pytest.approx(1.0)


# Published methods and peers


@pytest.mark.parametrize("noise", ["allocation", "average"])
@pytest.mark.parametrize(("formula", "spend"), [("pseudo-code", 3.1032), ("text", 78.0)])
def test_flaw_6_real_spend_of_dp_kccm(formula, spend, noise):
    """Claim 1: the pseudo-code spends 1 + 1/2 + ... + 1/12, the text 1 + 2 + ... + 12."""
    model = PublishedKCCM(2, formula=formula, noise=noise)
    words = {"claimed": 1.0, "published": centers_and_sizes}
    for columns in (1, 4, 10):
        audit = replay_estimator(model, corner(columns), **words)
        assert audit.loss == pytest.approx(spend, abs=1e-3)
        assert audit.loss == pytest.approx(real_spend(formula))
        assert any("all releases cost epsilon" in finding for finding in audit.findings)
    kept = replay_estimator(DPKMeans(2, bounds=(-1.0, 1.0), method="kccm", noise=noise), corner(4))
    assert not kept.broken, str(kept)
    assert kept.loss == pytest.approx(1.0)


def test_flaw_6_with_gaussian_noise():
    model = PublishedKCCM(2, noise="gaussian")
    audit = replay_estimator(model, corner(4), claimed=0.1, delta=1e-6, published=centers_and_sizes)
    assert audit.privacy_measure == "mu^2"
    assert audit.loss == pytest.approx(2 * real_rho(columns=4))
    assert audit.broken
    pure = replay_estimator(model, corner(4), claimed=100.0, published=centers_and_sizes)
    assert pure.broken, "no epsilon covers Gaussian noise without a delta"


def swap_as_diffprivlib(monkeypatch):
    """The share of one column of the sums on the counts, that of the counts on each column."""

    def swapped(self, budget, *, columns, clip_radius, contribution):
        budgets = split_pure(budget, columns, self.split)
        return CountSum(
            contribution / (budgets.sums / columns), contribution * clip_radius / budgets.counts
        )

    monkeypatch.setattr(_noise.PureNoise, "scales", swapped)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 10, 20, 50])
def test_flaw_8_swapped_shares(columns, monkeypatch):
    """Spends (d q + 1) / (d + q) of epsilon: less than all of it up to 4 columns, more from 5 on.

    Below 5 columns the promise holds by luck; the count still costs more than its share.
    """
    swap_as_diffprivlib(monkeypatch)
    model = DPKMeans(2, bounds=(-1.0, 1.0), method="lloyd", split="analytic", n_public=2)
    audit = replay_estimator(model, corner(columns))
    q = (4 * columns * 0.225**2) ** (1 / 3)
    assert audit.loss == pytest.approx((columns * q + 1) / (columns + q))
    over = any("all releases cost epsilon" in finding for finding in audit.findings)
    assert over == (columns >= 5)
    if columns > 1:
        assert any(", declared " in finding for finding in audit.findings)


def test_flaw_8_spends_of_the_peer(monkeypatch):
    """The figures of the peer: 1.21 epsilon at 10 columns, 2.66 epsilon at 100."""
    swap_as_diffprivlib(monkeypatch)
    model = DPKMeans(2, bounds=(-1.0, 1.0), method="lloyd", split="analytic", n_public=2)
    for columns, spend in ((10, 1.21), (100, 2.66)):
        assert replay_estimator(model, corner(columns)).loss == pytest.approx(spend, abs=0.005)


# What it returns, and what it refuses


def test_result():
    model = DPKMeans(2, bounds=(-1.0, 1.0), method="lloyd", max_iter=2, n_public=4)
    audit = replay_estimator(model, CORNER)
    assert isinstance(audit, ReplayAudit)
    assert (audit.claimed, audit.delta, audit.budget, audit.privacy_measure) == (
        1.0,
        0.0,
        1.0,
        "epsilon",
    )
    assert audit.worst == "corner"
    (pair,) = audit.pairs.values()
    assert isinstance(pair, ReplayedPair)
    assert [release.declared for release in pair.releases] == pytest.approx([0.5, 0.5])
    assert str(pickle.loads(pickle.dumps(audit))) == str(audit)


def test_same_seed_same_result():
    model = DPKMeans(2, bounds=(-1.0, 1.0), delta=1e-6, method="lloyd")
    losses = [replay_estimator(model, CORNER, random_state=seed).loss for seed in (1, 1)]
    assert losses[0] == losses[1]


def test_spends_nothing_of_the_estimators_own_ledger():
    from shoal.privacy import Ledger

    ledger = Ledger(epsilon=1.0)
    model = DPKMeans(2, bounds=(-1.0, 1.0), ledger=ledger)
    replay_estimator(model, CORNER)
    assert len(ledger) == 0
    assert model.ledger is ledger
    assert not hasattr(model, "release_")


def test_a_witness_is_gone_after_the_replay():
    replay_estimator(DPKMeans(2, bounds=(-1.0, 1.0), method="lloyd"), CORNER)
    drawn = [
        privatize(np.zeros(50, np.int64), LaplaceNoise(9.0), cost=1.0, source=SeededSource(seed))
        for seed in (1, 2)
    ]
    assert (drawn[0] != drawn[1]).any()


class InRho(RoundedGaussianNoise):
    """Counts its loss in a measure that no audit knows: half of mu^2."""

    privacy_measure = "rho"

    def privacy_loss(self, exact, other):
        return super().privacy_loss(exact, other) / 2


@pytest.mark.parametrize("others", [(), (RoundedGaussianNoise(4.0),), (LaplaceNoise(2.0),)])
def test_a_loss_in_an_unknown_measure_is_not_taken_for_epsilon(others):
    with pytest.raises(ParameterError, match="privacy_measure") as refused:
        replay_estimator(Mixed((*others, InRho(2.0))), CORNER, claimed=1.0, delta=1e-6)
    assert (refused.value.parameter, refused.value.code) == ("estimator", "unsupported")


class Blunt(BaseEstimator):
    """Publishes the exact mean."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self


def test_no_noise_at_all():
    audit = replay_estimator(Blunt(), CORNER, claimed=1.0, published=lambda m: {"mean": m.mean_})
    assert any("nothing passed privatize" in finding for finding in audit.findings)
    assert any("mean differs" in finding for finding in audit.findings)


@pytest.mark.parametrize(
    ("estimator", "words", "text"),
    [
        (DPKMeans(bounds=(-1.0, 1.0)), {"repeats": 0}, "repeats must be"),
        (DPKMeans(bounds=(-1.0, 1.0)), {"claimed": 0.0}, "claimed must be"),
        (DPKMeans(bounds=(-1.0, 1.0)), {"claimed": 1.0, "delta": 1.0}, "delta must be"),
        (DPKMeans(), {}, "must have public bounds to be audited"),
        (object(), {"pairs": CORNER}, "estimator must have"),
        (Laplace(1.0, bounds=(-1.0, 1.0)), {"pairs": CORNER}, "estimator must"),
    ],
)
def test_refusals(estimator, words, text):
    with pytest.raises(ParameterError, match=text):
        replay_estimator(estimator, **words)
