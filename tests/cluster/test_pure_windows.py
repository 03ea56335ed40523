"""Windows at pure epsilon: what one record costs, replayed; deviations and tails against draws."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.audit import neighboring_datasets, replay_estimator
from shoal.cluster import DPKMeans
from shoal.cluster._noise import PureNoise, WindowDeviations, WindowWeights
from shoal.cluster._noise.budgeted import window_table
from shoal.engines import MOMENT_UNIT, ArrayEngine, WindowStatistics, window_statistics
from shoal.noise import EllipticNoise, SeededSource, observed

RADII = np.array([1000, 70, 2**24])


class Releases:
    """Whatever was released, and how."""

    def __init__(self):
        self.all = []

    def release(self, *what):
        self.all.append(what)
        return what[-1]


class Shown:
    """The same values again, whatever the exact ones are."""

    def __init__(self, values):
        self.values, self.exact = iter(values), []

    def release(self, exact, *_):
        self.exact.append(exact)
        return next(self.values)


def release(exact, radii, budget, *, contribution=1):
    """Return the exact table, its noise and its declared cost."""
    releases = Releases()
    with observed(releases):
        PureNoise(1.0).windows(
            exact, radii, budget, contribution=contribution, source=SeededSource(0)
        )
    ((table, noise, cost, _),) = releases.all
    return table, noise, cost


def test_worst_records_cost_the_budget_and_never_more():
    """As far from a center as its window reaches, with all the weight that a person may have."""
    for columns in [1, 2, 16, 102, 784]:
        zeros = WindowStatistics(
            np.zeros(3, np.int64), np.zeros((3, columns), np.int64), np.zeros(3, np.int64)
        )
        for budget, contribution in [(0.05, 1), (1e-4, 7), (3.0, 256)]:
            exact, noise, cost = release(zeros, RADII, budget, contribution=contribution)
            assert isinstance(noise, EllipticNoise)
            assert (cost, exact.shape, noise.privacy_measure) == (
                budget,
                (3, columns + 2),
                "epsilon",
            )
            for cell, radius in enumerate(RADII):
                move = [contribution * int(part) for part in (1, radius, MOMENT_UNIT // 2)]
                scales = noise.scales[cell, [0, 1, -1]]
                square = sum(
                    Fraction(m) ** 2 / Fraction(float(s)) ** 2
                    for m, s in zip(move, scales, strict=True)
                )
                paid = Fraction(budget) ** 2
                assert paid * (1 - Fraction(1, 10**13)) <= square <= paid
            assert (noise.scales[:, 1:-1] == noise.scales[:, 1:2]).all()


def replayed_losses(weight=1):
    """Loss of one record more, of many records near and far, with the same centers and windows."""
    rng = np.random.default_rng(3)
    records = rng.integers(-(2**19), 2**19, (60, 5))
    centers = np.array([[0] * 5, [300_000] * 5, [-400_000, 0, 0, 0, 200_000]])
    radii = np.array([250_000, 9_000, 120_000])
    far = centers[2] - np.array([120_000, 0, 0, 0, 0])
    extra = np.vstack([rng.integers(-(2**19), 2**19, (80, 5)), centers, [far], [[2**19] * 5]])
    _, noise, cost = release(
        window_statistics(ArrayEngine(records), centers, radii), radii, 0.4, contribution=weight
    )
    losses = []
    for record in extra:
        tables = [
            window_table(window_statistics(engine, centers, radii))
            for engine in (
                ArrayEngine(records),
                ArrayEngine(np.vstack([records, record]), np.array([*[1] * 60, weight])),
            )
        ]
        losses.append(noise.privacy_loss(*tables))
    return np.array(losses), cost


def check_replay():
    for weight in (1, 5):
        losses, cost = replayed_losses(weight)
        assert (losses <= cost).all()
        assert losses.max() >= 0.999 * cost


def test_replayed_records_never_cost_more_and_the_worst_one_all_of_it():
    check_replay()


def half_length(monkeypatch):
    monkeypatch.setattr(
        WindowWeights,
        "length",
        property(lambda self: math.sqrt(1 + self.counts**2 + self.moments**2 / 4) / 2),
    )


def smallest_window(monkeypatch):
    right = WindowDeviations.table
    monkeypatch.setattr(
        WindowDeviations,
        "table",
        lambda self, columns: right(
            self._replace(sums=np.full_like(self.sums, self.sums.min())), columns
        ),
    )


def next_window(monkeypatch):
    right = WindowDeviations.table
    monkeypatch.setattr(
        WindowDeviations,
        "table",
        lambda self, columns: right(self._replace(sums=np.roll(self.sums, 1)), columns),
    )


def no_moment(monkeypatch):
    monkeypatch.setattr(
        WindowWeights, "length", property(lambda self: math.sqrt(1 + self.counts**2))
    )


@pytest.mark.parametrize("bug", [half_length, smallest_window, next_window, no_moment])
def test_planted_bugs_are_noticed(bug, monkeypatch):
    """Half the noise; a window's noise from another one's radius; moments that nobody pays for."""
    bug(monkeypatch)
    with pytest.raises(AssertionError):
        check_replay()


def test_deviations_and_tails_are_those_of_draws():
    rows = 50_000  # standard error of a deviation: below 0.4%; 5 of them
    for columns in (1, 6):
        exact = WindowStatistics(
            np.zeros(rows, int), np.full((rows, columns), -3), np.full(rows, 5)
        )
        radii = np.where(np.arange(rows) % 2 == 0, 50, 5000)
        noisy = PureNoise(1.0).windows(exact, radii, 0.5, contribution=2, source=SeededSource(1))
        said = noisy.deviations
        assert noisy.counts.std() == pytest.approx(said.counts, rel=0.02)
        assert np.std(noisy.moments - 5) == pytest.approx(said.moments, rel=0.02)
        assert np.std((noisy.sums + 3) / said.sums[:, None], axis=0) == pytest.approx(1, rel=0.02)
        # Of empty cells: P[tail <= p] <= p, and not much less. 5 standard errors.
        for p in (0.5, 0.05, 0.002):
            below = (noisy.tails <= p).mean()
            assert 0.8 * p - 5 * math.sqrt(p / rows) < below <= p + 5 * math.sqrt(p / rows)


def test_elliptic_windows_are_smaller_than_a_box_around_them():
    """Of the sums, from 2 columns on; a box of (1, radius, ..., 1/2) has sqrt((m+1)(m+2)/3)."""
    for columns in (1, 2, 3, 10, 100):
        said = PureNoise(1.0).window_deviations(
            0.5, columns=columns, radii=np.array([1000]), contribution=1
        )
        m = columns + 2
        box = math.sqrt((m + 1) * (m + 2) / 3) * 1000 / 0.5
        assert said.sums[0] < box
        # Error of a center that its records' mean is half a radius away from.
        errors = [
            columns * sums**2 + (counts * 500) ** 2
            for counts, sums in ((said.counts, said.sums[0]), (box / 1000, box))
        ]
        assert (errors[0] < errors[1]) == (columns >= 2)


FIT = {"n_clusters": 3, "epsilon": 0.7, "bounds": (-1.0, 1.0), "method": "ball"}


def replayed_fit(columns, **kwargs):
    pairs = list(neighboring_datasets((-1.0, 1.0), n=20, columns=columns))
    return replay_estimator(DPKMeans(**FIT, **kwargs), pairs, repeats=1)


@pytest.mark.parametrize("columns", [12, pytest.param(60, marks=pytest.mark.full)])
@pytest.mark.parametrize("n_public", [None, 400, 100_000])
def test_a_whole_fit_costs_its_epsilon_and_never_more(columns, n_public):
    """One round, several, and several with merged cells."""
    audit = replayed_fit(columns, n_public=n_public)
    assert not audit.broken, str(audit)
    assert audit.privacy_measure == "epsilon"
    assert 0.9 * 0.7 <= audit.loss <= 0.7 * (1 + 1e-9)


@pytest.mark.parametrize("bug", [half_length, smallest_window, no_moment])
def test_bugs_in_a_fit_are_noticed(bug, monkeypatch):
    bug(monkeypatch)
    found = "\n".join(replayed_fit(12, n_public=100_000).findings)
    assert ", declared" in found
    assert "all releases cost" in found


def test_users_and_weights_cost_no_more():
    """A user's rows in several cells, with the largest weights."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 12))
    ids = np.arange(40) // 2
    model = DPKMeans(3, epsilon=0.7, bounds=(-1.0, 1.0), method="ball", records_per_user=2)
    releases = Releases()
    weights = np.full(40, 1.0)
    with observed(releases):
        model.set_params(random_state=0).fit(X, user_ids=ids, sample_weight=weights)
    others = Shown([released for *_, released in releases.all])
    with observed(others):
        model.fit(X[2:], user_ids=ids[2:], sample_weight=weights[2:])
    losses = [
        noise.privacy_loss(first, second)
        for (first, noise, _, _), second in zip(releases.all, others.exact, strict=True)
    ]
    costs = [cost for _, _, cost, _ in releases.all]
    assert all(loss <= cost * (1 + 1e-9) for loss, cost in zip(losses, costs, strict=True))
    assert math.fsum(costs) <= 0.7 * (1 + 1e-9)
