"""Bugs that a replay must find, each planted on purpose, and the words that it finds them with."""

import functools
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from shoal.audit import Neighbors, neighboring_datasets, replay_estimator
from shoal.cluster import DPKMeans, DPWaveCluster, _contributions, _engines, _noise
from shoal.cluster._budget import CountSum
from shoal.cluster._contributions import Users
from shoal.cluster._noise import GDPNoise, gaussian, pure
from shoal.cluster.kmeans import (
    _centered,
    _fitting,
    _grid,
    _lloyd,
    _place,
    dp_kmeans,
)
from shoal.cluster.wavecluster import _oneshot, _published
from shoal.cluster.wavecluster._problem import SignificantCells
from shoal.cluster.wavecluster._threshold import automatic_cells
from shoal.engines import HALF, nearest_statistics, total_weight, window_statistics
from shoal.noise import RoundedGaussianNoise, SeededSource, rounded_gaussian
from shoal.privacy import Guarantee, Ledger, PrivacyUnit, epsilon_to_gdp

BOX = (-1.0, 1.0)
GRID = DPKMeans(2, bounds=BOX, method="grid")
LLOYD = DPKMeans(2, bounds=BOX, method="lloyd", max_iter=2)
ANALYTIC = DPKMeans(2, bounds=BOX, method="lloyd", split="analytic", max_iter=2)
GAUSSIAN = DPKMeans(2, bounds=BOX, delta=1e-6, method="lloyd")
GAUSSIAN_ROUNDS = DPKMeans(2, bounds=BOX, delta=1e-6, method="lloyd", max_iter=2)
KCCM_GAUSSIAN = DPKMeans(2, bounds=BOX, delta=1e-6, method="kccm", noise="gaussian")
CENTERED = DPKMeans(2, bounds=BOX, method="centered", n_public=2000)
ONE_MEAN = DPKMeans(2, bounds=BOX, method="centered", n_public=1)
WAVE = DPWaveCluster(bounds=BOX, grid=16)


def findings(estimator):
    # Every other pair, once: a replay is exact, and each bug below shows on one of these.
    pairs = list(neighboring_datasets(BOX, n=20))[::2]
    return "\n".join(replay_estimator(estimator, pairs, repeats=1).findings)


@functools.cache
def found_without_a_bug(estimator):
    return findings(estimator)


@pytest.fixture(autouse=True)
def nothing_is_found_without_the_bug(request):
    """A check that is always red would show nothing; each estimator is looked at once."""
    for name in request.fixturenames:
        if name == "estimator":
            assert found_without_a_bug(request.getfixturevalue(name)) == ""


@pytest.mark.parametrize("estimator", [GRID, LLOYD, ANALYTIC, GAUSSIAN, WAVE])
def test_half_the_noise(estimator, monkeypatch):
    for module in (pure, gaussian):
        right = module.round_up
        monkeypatch.setattr(module, "round_up", lambda scale, right=right: right(scale) / 2)
    found = findings(estimator)
    assert "release 1 costs" in found
    assert "all releases cost" in found


@pytest.mark.parametrize("estimator", [LLOYD, ANALYTIC, GAUSSIAN])
def test_scales_swapped(estimator, monkeypatch):
    for law in (_noise.PureNoise, _noise.GDPNoise):
        right = law.scales

        def swapped(*a, right=right, **k):
            return CountSum(*reversed(right(*a, **k)))

        monkeypatch.setattr(law, "scales", swapped)
    assert "costs" in findings(estimator)


@pytest.mark.parametrize("estimator", [KCCM_GAUSSIAN])
def test_a_cube_taken_for_a_ball(estimator, monkeypatch):
    """Noise for a vector of length r where each of its columns may be r."""
    right = _noise.GDPNoise.scales
    monkeypatch.setattr(
        _noise.GDPNoise, "scales", lambda self, *a, **k: right(replace(self, cube=False), *a, **k)
    )
    assert ", declared" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID])
def test_offsets_unclipped(estimator, monkeypatch):
    right = _grid.nearest_statistics
    monkeypatch.setattr(
        _grid, "nearest_statistics", lambda e, c, **k: right(e, c, clip_radius=2**20)
    )
    assert ", declared" in findings(estimator)


@pytest.mark.parametrize("estimator", [LLOYD])
def test_one_round_that_nobody_pays_for(estimator, monkeypatch):
    right = _lloyd.noisy_rounds

    def longer(problem, start, budgets):
        return right(problem, start, [*budgets, budgets[-1]])

    monkeypatch.setattr(_lloyd, "noisy_rounds", longer)
    found = findings(estimator)
    assert "all releases cost epsilon 1.5, claimed 1" in found
    assert "all releases are declared to cost epsilon 1.5, claimed 1" in found


@pytest.mark.parametrize("estimator", [GAUSSIAN_ROUNDS])
def test_shares_of_mu_squared_that_add_up_to_more_than_all(estimator, monkeypatch):
    right = _lloyd.noisy_rounds

    def longer(problem, start, budgets):
        return right(problem, start, [*budgets, budgets[-1]])

    monkeypatch.setattr(_lloyd, "noisy_rounds", longer)
    found = findings(estimator)
    assert "all releases cost mu^2 0.08404, claimed 0.05603" in found
    assert "all releases are declared to cost mu^2 0.08404, claimed 0.05603" in found


@pytest.mark.parametrize("estimator", [GAUSSIAN_ROUNDS])
def test_budgets_of_mu_taken_for_those_of_its_square(estimator, monkeypatch):
    """Shares of mu add up to mu, and their squares to less: sigma = 1 / (share of mu) is too small.

    Three rounds of mu/3 would be mu^2/3 together; noise that takes a share of the budget for mu
    itself costs far more than it says.
    """
    monkeypatch.setattr(gaussian, "_sigma", lambda length, budget: length / budget**0.25)
    found = findings(estimator)
    assert "release 1 costs" in found
    assert "all releases cost mu^2" in found


class Moments(BaseEstimator):
    """Releases the sum of x x^T of its records."""

    def __init__(self, delta=1e-6, ledger=None, random_state=None):
        self.delta = delta
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X, y=None):
        noise = GDPNoise(epsilon_to_gdp(1.0, self.delta) ** 2)
        lattice = np.rint(4096 * X / max(1.0, X.shape[1] ** 0.5)).astype(np.int64)
        self.ledger.spend(noise.event("second moments"), seeded=True)
        self.moments_ = noise.second_moments(
            lattice.T @ lattice,
            noise.total_budget,
            clip_radius=4096,
            contribution=1,
            source=SeededSource(self.random_state),
        ).matrix
        self.guarantee_ = Guarantee("central", 1.0, self.delta, seeded=True, mu=noise.mu)
        return self


def moments_found():
    return "\n".join(
        replay_estimator(
            Moments(),
            neighboring_datasets(BOX, n=20),
            repeats=2,
            published=lambda model: {"moments": model.moments_},
        ).findings
    )


def test_second_moments_without_noise_on_the_diagonal(monkeypatch):
    assert moments_found() == ""

    class Bare(RoundedGaussianNoise):
        """Leaves the entries with the widest noise, those of the diagonal, as they are."""

        def __init__(self, sigmas):
            super().__init__(np.where(sigmas == np.max(sigmas), 0.0, sigmas))

        def sample(self, exact, source):
            noisy = exact.copy()
            hidden = self.sigmas > 0
            noisy[hidden] += rounded_gaussian(
                int(hidden.sum()), sigmas=self.sigmas[hidden], source=source
            )
            return noisy

    monkeypatch.setattr(gaussian, "RoundedGaussianNoise", Bare)
    assert "release 1 costs inf" in moments_found()


def test_second_moments_with_half_the_noise(monkeypatch):
    right = gaussian._sigma
    monkeypatch.setattr(gaussian, "_sigma", lambda *a: right(*a) / 2)
    assert "release 1 costs 0.22" in moments_found(), "four times 0.056, but for truncated lengths"


def test_second_moments_with_the_noise_of_the_diagonal_nowhere_else(monkeypatch):
    """Noise 1/2 as wide beside the diagonal: the Frobenius norm counts such an entry twice."""
    monkeypatch.setattr(gaussian, "INVERSE_ROOT", 0.5)
    assert "release 1 costs" in moments_found()


@pytest.mark.parametrize("estimator", [LLOYD])
def test_first_centers_from_the_records(estimator, monkeypatch):
    seen = []
    right = _engines.lattice_records

    def peeking(X, lattice, **words):
        seen[:] = right(X, lattice, **words)[:2]
        return right(X, lattice, **words)

    monkeypatch.setattr(_engines, "lattice_records", peeking)
    monkeypatch.setattr(
        _lloyd, "pack_spheres", lambda k, d, source: np.resize(np.array(seen), (k, d)) / 2**19
    )
    assert "centers differs although" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID])
def test_cells_from_the_true_number_of_records(estimator, monkeypatch):
    true_n, right, plan = [], total_weight, _grid.plan_grid
    monkeypatch.setattr(_fitting, "total_weight", lambda e: true_n.append(right(e)) or right(e))
    monkeypatch.setattr(
        _grid, "plan_grid", lambda *a, **k: plan(*a, **k)._replace(cells=10 + true_n[-1] % 2)
    )
    assert "costs inf" in findings(estimator)


@pytest.mark.parametrize("estimator", [ONE_MEAN, CENTERED])
def test_a_level_without_noise(estimator, monkeypatch):
    right = _place.release_level

    def exact(problem, budget, total):
        return right(replace(problem, noise=_noise.PureNoise(1e9)), 1e9, total)

    monkeypatch.setattr(_place, "release_level", exact)
    assert "all releases cost epsilon" in findings(estimator)


@pytest.mark.parametrize("estimator", [CENTERED])
def test_a_grid_around_the_true_mean(estimator, monkeypatch):
    right = _place.locate

    def peeking(problem, total, **budgets):
        place = right(problem, total, **budgets)
        center = np.zeros((1, problem.columns), dtype=np.int64)
        exact = nearest_statistics(problem.engine, center)
        return place._replace(mean=exact.sums[0] // max(int(exact.counts[0]), 1))

    monkeypatch.setattr(_centered, "locate", peeking)
    assert "costs" in findings(estimator)


@pytest.mark.parametrize("estimator", [CENTERED])
def test_windows_as_wide_as_the_true_distances(estimator, monkeypatch):
    right = _place.locate

    def peeking(problem, total, **budgets):
        place = right(problem, total, **budgets)
        center, radius = place.mean[None], np.array([problem.radius])
        exact = window_statistics(problem.engine, center, radius)
        return place._replace(length=place.length * (1 + abs(int(exact.moments[0])) % 97 / 100))

    monkeypatch.setattr(_centered, "locate", peeking)
    assert ", declared" in findings(estimator)


@pytest.mark.parametrize("estimator", [CENTERED])
def test_parts_that_add_up_to_more_than_the_budget(estimator, monkeypatch):
    right = _centered.plan_centered

    def generous(*args, **kwargs):
        plan = right(*args, **kwargs)
        return plan._replace(rounds=(*plan.rounds, plan.rounds[-1]))

    monkeypatch.setattr(_centered, "plan_centered", generous)
    assert "all releases cost" in findings(estimator)


@pytest.mark.parametrize("estimator", [ONE_MEAN])
def test_a_level_whose_noise_forgets_how_long_records_are(estimator, monkeypatch):
    monkeypatch.setattr(_place, "HALF", HALF // 2)
    assert ", declared" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID, WAVE])
def test_empty_cells_left_out(estimator, monkeypatch):
    right = _noise.PureNoise.counts

    def skipping(self, values, share, **words):
        return np.where(values == 0, 0, right(self, values, share, **words))

    monkeypatch.setattr(_noise.PureNoise, "counts", skipping)
    assert "differs although all noisy values are the same" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID])
def test_noise_that_depends_on_the_records(estimator, monkeypatch):
    """Less noise for larger tables, by their true size."""
    right = _noise.PureNoise.counts

    def tuned(self, values, share, **words):
        return right(self, values, share / (1 + 1 / (1 + values.sum())), **words)

    monkeypatch.setattr(_noise.PureNoise, "counts", tuned)
    assert "has other noise with one record more" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID, WAVE])
def test_released_again_where_counts_are_small(estimator, monkeypatch):
    right = _noise.PureNoise.counts

    def again(self, values, share, **words):
        if (values == 1).any():
            right(self, values, share, **words)
        return right(self, values, share, **words)

    monkeypatch.setattr(_noise.PureNoise, "counts", again)
    assert "what is released depends on the records" in findings(estimator)


class Counting(DPKMeans):
    """Publishes how many records there were."""

    def fit(self, X, y=None):
        super().fit(X)
        values = {**self.release_.values, "records": len(X)}
        self.release_ = replace(self.release_, values=values)
        return self


class Boxing(DPKMeans):
    """Takes the box from the records."""

    def fit(self, X, y=None):
        self.bounds = (X.min(axis=0) - 0.1, X.max(axis=0) + 0.1)
        return super().fit(X)


def test_a_true_number_in_the_release():
    assert "records differs although" in findings(Counting(2, bounds=BOX, method="lloyd"))


def test_the_box_from_the_records():
    assert "differs although" in findings(Boxing(2, bounds=BOX, method="lloyd"))


@pytest.mark.parametrize("estimator", [DPWaveCluster(bounds=BOX, grid=16, technique="thr-em")])
def test_thresholds_up_to_the_true_maximum(estimator, monkeypatch):
    """The flaw of the source: candidates that one table has and its neighbor lacks."""
    right = _published.noisy_counts

    def true_top(problem, share):
        noisy = right(problem, share)
        noisy.flat[0] = 4 * _published.exact_counts(problem).max()
        return noisy

    monkeypatch.setattr(_published, "noisy_counts", true_top)
    assert "costs inf" in findings(estimator)


@pytest.mark.parametrize("estimator", [DPWaveCluster(bounds=BOX, grid=16, threshold="auto")])
def test_an_automatic_threshold_from_raw_counts(estimator, monkeypatch):
    """Noisy values are published, cut at a threshold that the exact ones chose."""
    right = automatic_cells
    seen = []

    def watching(problem):
        seen[:] = [problem.band.dense(_published.exact_counts(problem)).astype(float)]
        return values_of(problem)

    def peeking(values, **words):
        threshold = right(seen[0], scale=0.0).threshold
        return SignificantCells.from_mask(values, values >= threshold, threshold)

    values_of = _oneshot.dense_values
    monkeypatch.setattr(_oneshot, "dense_values", watching)
    monkeypatch.setattr(_oneshot, "automatic_cells", peeking)
    assert "threshold differs although all noisy values are the same" in findings(estimator)


# Users


class OfUsers(DPKMeans):
    """Takes the first column for ids; those of 1,000 and more are -1."""

    def fit(self, X, y=None):
        ids = [-1 if one >= 1000 else 2**63 + int(one) for one in X[:, 0]]
        return super().fit(X[:, 1:], user_ids=ids)


def common_type(user_ids, n):
    return Users(np.unique(np.asarray(user_ids), return_inverse=True)[1], "")


def rows_by_number(users, most):
    """Choose the rows that count by how many rows there are in all."""
    return np.arange(len(users))[:: 2 - len(users) % 2]


@pytest.mark.parametrize(
    ("name", "bug"), [("read_users", common_type), ("_first_rows", rows_by_number)]
)
def test_one_user_changes_what_others_add(name, bug, monkeypatch):
    records = np.column_stack([np.arange(60.0), np.linspace(-1.0, 1.0, 60)])
    pair = Neighbors("one more user", records, [1000.0, 1.0])
    model = OfUsers(2, bounds=BOX, method="lloyd", max_iter=2)
    assert not replay_estimator(model, [pair], repeats=1).broken
    monkeypatch.setattr(_contributions, name, bug)
    found = replay_estimator(model, [pair], repeats=1)
    assert found.broken
    assert found.loss > 10


# Words


@pytest.mark.parametrize("estimator", [GRID])
def test_a_purpose_that_counts_records(estimator, monkeypatch):
    right = dp_kmeans.charge

    def telling(ledger, table, *rest, what, **words):
        return right(ledger, table, *rest, what=f"{what} of {table.rows} records", **words)

    monkeypatch.setattr(dp_kmeans, "charge", telling)
    assert "the ledger's entry differs" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID])
def test_a_warning_that_counts_records(estimator, monkeypatch):
    right = total_weight

    def telling(engine):
        if right(engine) > 20:
            warnings.warn("many records", stacklevel=2)
        return right(engine)

    monkeypatch.setattr(_fitting, "total_weight", telling)
    assert "a warning differs" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID])
def test_a_promise_that_counts_records(estimator, monkeypatch):
    """The largest number of rows of a user, taken from the table."""
    right = _contributions.bounded_contributions

    def telling(table, **words):
        unit = PrivacyUnit.user("id", max_rows=table.rows)
        return right(table, **words)._replace(privacy_unit=unit)

    monkeypatch.setattr(_contributions, "bounded_contributions", telling)
    assert "the guarantee differs" in findings(estimator)


# Spends


@pytest.mark.parametrize("estimator", [GRID, GAUSSIAN, WAVE])
def test_spend_skipped(estimator, monkeypatch):
    monkeypatch.setattr(Ledger, "spend", lambda self, event, **words: SimpleNamespace(receipt=None))
    assert "the ledger was not charged" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID, WAVE])
def test_spend_after_the_release(estimator, monkeypatch):
    kind = type(estimator)
    real = kind.fit

    def reversed_order(self, X, *rest):
        ledger, self.ledger = self.ledger, None
        real(self, X, *rest)
        self.ledger = ledger
        return real(self, X, *rest)

    monkeypatch.setattr(kind, "fit", reversed_order)
    assert "noise was drawn before the ledger was charged" in findings(estimator)


@pytest.mark.parametrize("estimator", [GRID])
def test_half_the_spend(estimator, monkeypatch):
    right = _noise.PureNoise.event
    monkeypatch.setattr(
        _noise.PureNoise, "event", lambda self, p: right(_noise.PureNoise(self.total_budget / 2), p)
    )
    assert "the ledger was charged epsilon 0.5, promised 1" in findings(estimator)


def test_one_record_is_enough():
    """With certainty, from two fits: sampling would need about e^epsilon of them."""
    model = DPKMeans(2, epsilon=30.0, bounds=BOX, method="lloyd", max_iter=1)
    pair = Neighbors("corner", [[-1.0, -1.0]], [1.0, 1.0])
    honest = replay_estimator(model, [pair], repeats=1)
    assert not honest.broken
    assert replay_estimator(model, [pair], repeats=1, claimed=29.9).broken
