"""A private copy: its promise, its likeness to the records, and bugs that a replay must find."""

import pickle

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.audit import Neighbors, neighboring_datasets, replay_estimator
from shoal.cluster import PrivateCopy, private_copy
from shoal.cluster._leaves import NoisyLeaves
from shoal.cluster._noise import pure
from shoal.cluster._synthetic import CellPlan
from shoal.engines import total_weight
from shoal.exceptions import BudgetExceededError, DataError, ParameterError
from shoal.metrics import cost_ratio
from shoal.privacy import Ledger, Release

BOX = (-1.0, 1.0)
MODEL = PrivateCopy(bounds=BOX)


def blobs(n, columns, *, seed=0):
    """Three clusters: two in opposite corners, one in another corner or in the middle."""
    rng = np.random.default_rng(seed)
    third = [(-1.0) ** j * (j > 0) for j in range(columns)]
    middles = 0.6 * np.array([[-1.0] * columns, [1.0] * columns, third])
    return np.clip(middles[np.arange(n) % 3] + rng.normal(scale=0.1, size=(n, columns)), *BOX)


CROWD = blobs(6000, 2) / 40 + 0.37  # three clusters in a fortieth of the box


def audit(model=MODEL, columns=2):
    return replay_estimator(model, neighboring_datasets(BOX, n=20, columns=columns), repeats=1)


# The promise


@pytest.mark.parametrize(
    ("columns", "n_public"),
    [(1, 20), (2, None), (3, 20), (10, None), pytest.param(40, 9, marks=pytest.mark.full)],
)
def test_replay_clears_it(columns, n_public):
    found = audit(PrivateCopy(0.7, bounds=BOX, n_public=n_public), columns)
    assert not found.broken, str(found)
    # Some record uses all that was paid for.
    assert found.loss == pytest.approx(0.7)


def test_replay_clears_a_full_table():
    """Many cells and bins, and a record where there was none."""
    X = blobs(3000, 3)
    pairs = [Neighbors("corner", X, [1.0, -1.0, 1.0]), Neighbors("among others", X, X[0])]
    found = replay_estimator(PrivateCopy(2.0, bounds=BOX), pairs, repeats=3)
    assert not found.broken, str(found)


def test_replay_finds_half_the_noise(monkeypatch):
    monkeypatch.setattr(pure, "round_up", lambda scale: scale / 2)
    text = str(audit())
    assert "release 1 costs 0.04, declared 0.02" in text
    assert "all releases cost epsilon 2, claimed 1" in text


def test_replay_finds_empty_cells_left_out(monkeypatch):
    right = private_copy.column_counts

    def filled(engine, bins):
        return [counts[counts > 0] for counts in right(engine, bins)]

    monkeypatch.setattr(private_copy, "column_counts", filled)
    monkeypatch.setattr(
        private_copy, "plan_cells", lambda likely, n, budget: one_cell(likely.shape)
    )
    monkeypatch.setattr(private_copy, "bins_of_columns", lambda n, columns, budget: 4)
    monkeypatch.setattr(private_copy.np, "stack", padded)
    assert "costs inf" in str(audit())


def one_cell(shape):
    return CellPlan(np.ones(shape[0], dtype=np.int64), np.zeros(shape, dtype=np.int64))


def padded(rows):
    width = max(map(len, rows))
    return np.array([np.pad(row, (0, width - len(row))) for row in rows])


def test_replay_finds_exact_numbers_of_records(monkeypatch):
    """Bins chosen from how many there are."""

    def exact(engine, noise, budgets, n_public, source):
        return 100.0 * total_weight(engine) - 2000.0

    monkeypatch.setattr(private_copy, "_release_n", exact)
    assert audit().broken


def test_replay_finds_one_budget_for_every_column(monkeypatch):
    monkeypatch.setattr(private_copy, "COLUMNS_PART", 0.76)
    right = private_copy.CopyBudgets

    def twice(records, columns, cells):
        return right(records, columns=columns, cells=cells + columns / 2)

    monkeypatch.setattr(private_copy, "CopyBudgets", twice)
    assert "all releases cost epsilon 1.38, claimed 1" in str(audit(columns=4))


def test_a_refused_spend_releases_nothing():
    ledger = Ledger(epsilon=0.5)
    model = PrivateCopy(1.0, bounds=BOX, ledger=ledger)
    with pytest.raises(BudgetExceededError):
        model.fit(blobs(50, 2))
    assert not hasattr(model, "release_")
    assert ledger.spent == ()


def test_samples_cost_nothing():
    ledger = Ledger(epsilon=1.0)
    model = PrivateCopy(1.0, bounds=BOX, ledger=ledger).fit(blobs(500, 4))
    assert model.sample(10).shape == (10, 4)
    assert model.sample(20).shape == (20, 4)
    assert len(ledger) == 1
    assert ledger.entries[0].purpose == "PrivateCopy: records 2%, columns 38%, cells 60%"


def test_a_ledger_of_few_columns_does_not_say_what_was_chosen():
    ledger = Ledger(epsilon=2.0)
    for X in (CROWD, blobs(4000, 2)):
        PrivateCopy(1.0, bounds=BOX, ledger=ledger).fit(X)
    purposes = {entry.purpose for entry in ledger.entries}
    assert purposes == {"PrivateCopy: records 2%, tree or grid 98%"}


def test_pickle_and_release_hold_no_record():
    X = blobs(777, 2)
    model = PrivateCopy(1.0, bounds=BOX, random_state=1).fit(X)
    twin = pickle.loads(pickle.dumps(model))
    assert (twin.sample(5, random_state=0) == model.sample(5, random_state=0)).all()
    release = Release.from_json(model.release_.to_json())
    assert release == model.release_
    sizes = {np.size(value) for value in release.values.values()}
    assert not sizes & {777, 2 * 777}


def test_a_release_of_leaves_comes_back():
    model = PrivateCopy(1.0, bounds=BOX, random_state=1).fit(CROWD)
    release = Release.from_json(model.release_.to_json())
    assert release == model.release_
    values = release.values
    assert set(values) == {
        *("records", "noisy_leaves", "leaf_low", "leaf_widths", "leaves", "low", "high")
    }
    assert values["leaf_low"].shape == values["leaf_widths"].shape == (len(values["leaves"]), 2)
    # The leaves fill the box, none twice.
    assert values["leaf_widths"].prod(axis=1).sum() == 1.0
    assert values["leaves"].sum() == pytest.approx(1.0)
    same = PrivateCopy(1.0, bounds=BOX, random_state=1).fit(CROWD)
    assert same.release_ == model.release_
    assert (same.sample(50, random_state=2) == model.sample(50, random_state=2)).all()
    assert (same.sample(50, random_state=2) != model.sample(50, random_state=3)).any()


# The promise of a tree: so few records do not crowd by themselves

TREE = PrivateCopy(60.0, bounds=BOX)


def tree_findings(columns=2):
    return str(audit(TREE, columns))


@pytest.fixture
def crowd(monkeypatch):
    monkeypatch.setattr(private_copy, "CROWDED", -1.0)
    assert "leaves" in TREE.fit(blobs(20, 2)).release_.values


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_replay_clears_a_tree(columns):
    found = audit(TREE, columns)
    assert not found.broken, str(found)


@pytest.mark.parametrize("added", [[0.37, 0.37], [1.0, -1.0], CROWD[0]])
def test_replay_clears_a_crowd(added):
    for epsilon in (0.5, 2.0):
        model = PrivateCopy(epsilon, bounds=BOX)
        found = replay_estimator(model, [Neighbors("added", CROWD, added)], repeats=3)
        assert not found.broken, str(found)
        assert 0.5 * epsilon < found.loss <= epsilon * (1 + 1e-12)


@pytest.mark.usefixtures("crowd")
def test_replay_finds_leaves_without_noise(monkeypatch):
    def exact(planned, noise, budget, *, contribution, source):
        low, high, depths, counts = planned
        return NoisyLeaves(low, high, depths, counts, counts.astype(float), 1.0)

    monkeypatch.setattr(private_copy, "release_leaves", exact)
    assert "differs although all noisy values are the same" in tree_findings()


@pytest.mark.usefixtures("crowd")
def test_replay_finds_a_crowd_told_without_noise(monkeypatch):
    def exact(engine, n, noise, budget, source):
        return total_weight(engine) > 20

    monkeypatch.setattr(private_copy, "_crowded", exact)
    assert audit(TREE).broken


@pytest.mark.usefixtures("crowd")
def test_replay_finds_a_tree_of_more_than_its_budget(monkeypatch):
    monkeypatch.setattr(private_copy, "SHAPE_PART", 0.0225)
    right = private_copy.release_shape

    def twice(engine, n, budget, **kwargs):
        return right(engine, n, 20 * budget, **kwargs)

    monkeypatch.setattr(private_copy, "release_shape", twice)
    assert "all releases cost epsilon" in tree_findings()


# Its likeness to the records


@pytest.mark.parametrize(("columns", "epsilon"), [(1, 0.5), (2, 0.5), (3, 1.0)])
def test_a_crowd_has_its_clusters_in_the_copy(columns, epsilon):
    """Medians of 20 seeds: 1.0, 4.0 and 1.0; of histograms and cells alone 25, 35 and 31."""
    X = blobs(6000, columns) / 40 + 0.37
    plain = KMeans(3, n_init=5, random_state=0).fit(X).cluster_centers_
    costs = []
    for seed in range(5):
        model = PrivateCopy(epsilon, bounds=BOX, random_state=seed).fit(X)
        sample = model.sample(random_state=0)
        centers = KMeans(3, n_init=5, random_state=0).fit(sample).cluster_centers_
        costs.append(cost_ratio(X, centers, reference=plain))
    assert np.median(costs) < 6.0, costs


def test_spread_records_and_few_records_have_histograms_and_cells():
    for X in (blobs(6000, 2), CROWD[:200], np.column_stack([CROWD, CROWD])):
        values = PrivateCopy(1.0, bounds=BOX, random_state=0).fit(X).release_.values
        assert "cells" in values
        assert "leaves" not in values


@pytest.mark.parametrize(("columns", "epsilon"), [(1, 0.5), (2, 0.5), (4, 1.0), (8, 2.0)])
def test_clusters_of_the_copy_are_those_of_the_records(columns, epsilon):
    """Largest cost of 20 seeds: 1.01, 1.03, 1.12 and 1.27."""
    X = blobs(6000, columns)
    model = PrivateCopy(epsilon, bounds=BOX, random_state=3).fit(X)
    centers = KMeans(3, n_init=5, random_state=0).fit(model.sample(random_state=0)).cluster_centers_
    plain = KMeans(3, n_init=5, random_state=0).fit(X).cluster_centers_
    assert cost_ratio(X, centers, reference=plain) < 1.5


def test_columns_keep_their_histograms():
    """A spike in one column stays one; bins are 1/64 of the box or finer."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(rng.random(20_000) < 0.9, -1.0, 0.5), rng.uniform(*BOX, 20_000)])
    sample = PrivateCopy(1.0, bounds=BOX, random_state=0).fit(X).sample(random_state=0)
    assert np.mean(sample[:, 0] < -1 + 2 / 64) == pytest.approx(0.9, abs=0.02)
    assert np.quantile(sample[:, 1], [0.25, 0.75]) == pytest.approx([-0.5, 0.5], abs=0.05)


def test_number_of_records():
    X = blobs(2000, 2)
    assert PrivateCopy(bounds=BOX, n_public=1500).fit(X).sample().shape == (1500, 2)
    noisy = PrivateCopy(1.0, bounds=BOX, random_state=0).fit(X).n_records_
    assert noisy != 2000
    assert abs(noisy - 2000) < 50 * np.log(1e6)  # false alarm 1e-6
    assert len(PrivateCopy(0.01, bounds=BOX, random_state=0).fit(X[:1]).sample()) >= 1


def test_records_stay_in_the_box():
    low, high = np.array([0.0, -5.0]), np.array([1e6, 5.0])
    X = np.random.default_rng(0).normal(scale=1e6, size=(500, 2))
    sample = PrivateCopy(bounds=(low, high)).fit(X).sample(2000)
    assert (sample >= low).all()
    assert (sample <= high).all()


# Bad input


def test_bad_samples():
    model = PrivateCopy(bounds=BOX).fit(blobs(50, 2))
    with pytest.raises(ParameterError, match="n must be a whole number"):
        model.sample(0)
    with pytest.raises(ParameterError, match="random_state must"):
        model.sample(5, random_state="zero")
    with pytest.raises(DataError):
        PrivateCopy(bounds=BOX).fit([[np.nan, 0.0]])
