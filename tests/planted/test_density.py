"""Bugs of DPDensity that a replay must find, each planted on purpose."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.audit import neighboring_datasets, replay_estimator
from shoal.cluster import DPDensity
from shoal.cluster._noise import PureNoise, pure
from shoal.cluster.density import _cells, dp_density
from shoal.cluster.density._calibration import Chance

BOX = (-1.0, 1.0)


@pytest.fixture
def exact(monkeypatch):
    """Return the exact counts of every grid, as a bug would see them."""
    seen = []
    right = _cells.grid_counts

    def counting(engine, cells, half):
        counts = right(engine, cells, half)
        seen.append(counts)
        return counts

    monkeypatch.setattr(_cells, "grid_counts", counting)
    return seen


def findings(columns=2, **settings):
    # Every third pair, once: a replay is exact, and each bug below shows on one of these.
    pairs = list(neighboring_datasets(BOX, n=20, columns=columns))[::3]
    model = DPDensity(bounds=BOX, **settings)
    return "\n".join(replay_estimator(model, pairs, repeats=1).findings)


@pytest.mark.parametrize(
    ("columns", "settings"),
    [
        (1, {}),
        (2, {}),
        (2, {"n_clusters": 2}),
        pytest.param(2, {"epsilon": 20.0}, marks=pytest.mark.full),
        pytest.param(3, {}, marks=pytest.mark.full),
        pytest.param(4, {}, marks=pytest.mark.full),
    ],
)
def test_nothing_is_found_without_a_bug(columns, settings):
    assert findings(columns, **settings) == ""


def test_threshold_from_raw_counts(exact, monkeypatch):
    right = Chance.threshold
    monkeypatch.setattr(
        Chance, "threshold", lambda self, alpha: right(self, alpha) + exact[-1].sum() / 1000
    )
    assert "threshold" in findings()


def test_grid_from_the_true_number_of_records(exact, monkeypatch):
    monkeypatch.setattr(_cells, "choose_side", lambda *_: 8 + int(exact[-1].sum()) % 2)
    assert findings() != ""


def test_an_empty_cell_without_noise(monkeypatch):
    right = PureNoise.counts

    def skipping(self, values, *rest, **kwargs):
        noisy = right(self, values, *rest, **kwargs)
        return np.where(np.asarray(values) == 0, 0, noisy)

    monkeypatch.setattr(PureNoise, "counts", skipping)
    assert findings() != ""


def test_half_the_noise(monkeypatch):
    right = pure.round_up
    monkeypatch.setattr(pure, "round_up", lambda scale: right(scale) / 2)
    assert "costs" in findings()


def test_the_coarse_grid_is_not_paid_for(monkeypatch):
    right = dp_density.plan_budgets

    def all_twice(epsilon, columns):
        budgets = right(epsilon, columns)
        return type(budgets)(budgets.coarse_grid, epsilon)

    monkeypatch.setattr(dp_density, "plan_budgets", all_twice)
    assert "all releases cost" in findings()


def test_sizes_from_the_records(exact, monkeypatch):
    right = DPDensity._publish

    def telling(self, receipt):
        (found,) = self._clusters
        sizes = np.array([float(exact[-1].sum())])
        self._clusters = (replace(found, flat=found.flat._replace(sizes=sizes)),)
        right(self, receipt)

    monkeypatch.setattr(DPDensity, "_publish", telling)
    assert findings() != ""
