"""Membership inference: a control gives its members away, noise does not, nothing is spent."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

from helpers.attack_data import coin_classes, few_trees, needs_toolbox
from shoal.audit.attacks import attack_centers, membership_inference
from shoal.audit.attacks._forests import split_records
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import KdLaplace, Laplace
from shoal.privacy import Ledger
from shoal.remap import BayesRemap

BOX = (-1.0, 1.0)
ATTACKS = [pytest.param("shadow", marks=needs_toolbox), "yeom", "label-only"]
RUNS = 2
TREES = 20  # of 100: enough to learn coin tosses by heart


class Noise(TransformerMixin, BaseEstimator):
    """Reports that have nothing to do with the records, and notes of what was asked for."""

    seen: list = []  # noqa: RUF012  # clones share it

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        self.seen.append((len(X), self.random_state))
        return np.random.default_rng(self.random_state).uniform(-1.0, 1.0, X.shape)


@pytest.mark.parametrize("attack", ATTACKS)
def test_control_is_attacked(attack, monkeypatch):
    """The forest without privacy learns coin tosses by heart: nothing else is there to learn.

    Seen: 0.62 (shadow models), 0.41 (loss), 0.46 (label only).
    """
    few_trees(monkeypatch, TREES)
    X, y = coin_classes(800)
    found = membership_inference(None, X, attack=attack, y=y, runs=RUNS, random_state=0)
    assert found.advantage > 0.3
    assert found.roc.auc > 0.7
    assert len(found.members) == len(found.others) == 100 * RUNS


@pytest.mark.parametrize("attack", ATTACKS)
def test_reports_of_pure_noise_tell_nothing(attack, monkeypatch):
    """At chance TPR - FPR has a standard deviation of at most 0.05 here: 5 of them, 1e-6."""
    few_trees(monkeypatch, TREES)
    X, y = coin_classes(800)
    found = membership_inference(Noise(), X, attack=attack, y=y, runs=RUNS, random_state=0)
    assert abs(found.advantage) < 0.25


def test_privacy_helps(monkeypatch):
    few_trees(monkeypatch, TREES)
    X, y = coin_classes(800)
    settings = {"attack": "yeom", "y": y, "runs": 3, "shadow_models": 1, "random_state": 0}
    strong, weak, none = (
        membership_inference(target, X, **settings).roc.auc
        for target in (Laplace(0.5, bounds=BOX), Laplace(200.0, bounds=BOX), None)
    )
    assert strong < 0.6 < weak <= none + 0.02


@pytest.mark.parametrize(
    "target",
    [
        DPKMeans(4, epsilon=1.0, bounds=BOX),
        DPDensity(epsilon=1.0, bounds=BOX, n_clusters=2),
        DPWaveCluster(epsilon=1.0, bounds=BOX, grid=8),
        DPKMeans(1, epsilon=1.0, bounds=BOX),
        KMeans(4, n_init=1),
        KdLaplace(2.0, bounds=BOX),
        make_pipeline(Laplace(2.0, bounds=BOX), BayesRemap(Laplace(2.0, bounds=BOX))),
        make_pipeline(Laplace(2.0, bounds=BOX), KMeans(3, n_init=1)),
    ],
    ids=lambda target: type(target).__name__,
)
def test_every_kind_of_target(target, monkeypatch):
    few_trees(monkeypatch)
    X, _ = coin_classes(160)
    settings = {"attack": "yeom", "runs": 2, "shadow_models": 1, "random_state": 0}
    found = membership_inference(target, X, **settings)
    assert found.runs == 2
    assert len(found.members) == len(found.others) == 40
    # The target itself is left as it is, not fitted.
    assert not [name for name in vars(target) if name.endswith("_")]


@needs_toolbox
def test_one_cluster_tells_nothing(monkeypatch):
    few_trees(monkeypatch)
    X, _ = coin_classes(80)
    found = membership_inference(DPKMeans(1, bounds=BOX), X, runs=2, random_state=0)
    assert found.advantage == 0.0


def test_nothing_is_spent(monkeypatch):
    few_trees(monkeypatch)
    X, y = coin_classes(80)
    targets = [
        lambda ledger: Laplace(0.5, unit="m", bounds=BOX, ledger=ledger, random_state=3),
        lambda ledger: KdLaplace(0.5, unit="m", bounds=BOX, ledger=ledger),
        lambda ledger: DPKMeans(2, epsilon=0.5, bounds=BOX, ledger=ledger),
        lambda ledger: make_pipeline(
            Laplace(0.5, unit="m", bounds=BOX, ledger=ledger), KMeans(2, n_init=1)
        ),
    ]
    for make in targets:
        ledger = Ledger(epsilon=1.0)
        target = make(ledger)
        membership_inference(target, X, y=y, attack="yeom", runs=2, shadow_models=1)
        assert len(ledger.entries) == 0
        held = target[0] if hasattr(target, "steps") else target
        assert held.ledger is ledger


def test_members_alone_report_each_run_with_other_noise(monkeypatch):
    few_trees(monkeypatch)
    X, y = coin_classes(160)
    Noise.seen.clear()
    settings = {"attack": "yeom", "shadow_models": 1}
    membership_inference(Noise(7), X, y=y, **settings, runs=4, random_state=0)
    sizes, seeds = zip(*Noise.seen, strict=True)
    assert sizes == (20,) * 4
    assert len(set(seeds)) == 4
    Noise.seen.clear()
    membership_inference(Noise(7), X, y=y, **settings, runs=2, max_records=80)
    assert Noise.seen == [(10, None), (10, None)]


@pytest.mark.full
def test_one_seed_fixes_everything():
    X, y = coin_classes(80)
    target = Laplace(5.0, bounds=BOX)
    settings = {"attack": "label-only", "runs": 2, "shadow_models": 1, "max_records": 60}
    first = membership_inference(target, X, y=y, **settings, random_state=4)
    again = membership_inference(target, X, y=y, **settings, random_state=4, n_jobs=2)
    other = membership_inference(target, X, y=y, **settings, random_state=5)
    assert np.array_equal(first.members, again.members)
    assert np.array_equal(first.others, again.others)
    assert not np.array_equal(first.members, other.members)
    settings = {"attack": "yeom", "runs": 1, "shadow_models": 1}
    fresh = [membership_inference(None, X, **settings).members for _ in range(2)]
    assert not np.array_equal(*fresh)


@needs_toolbox
def test_one_seed_fixes_the_toolbox(monkeypatch):
    few_trees(monkeypatch)
    X, y = coin_classes(80)
    first, again = (
        membership_inference(Laplace(5.0, bounds=BOX), X, y=y, runs=1, random_state=4).members
        for _ in range(2)
    )
    assert np.array_equal(first, again)


def test_progress_and_tables(monkeypatch):
    few_trees(monkeypatch)
    X, y = coin_classes(80)
    calls = []
    table = pd.DataFrame(X, columns=["a", "b"])
    names = pd.Series(np.where(y == 1, "yes", "no"))
    settings = {"attack": "yeom", "runs": 3, "shadow_models": 1, "random_state": 0}
    found = membership_inference(
        None, table, y=names, **settings, progress=lambda *done: calls.append(done)
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]
    plain = membership_inference(None, X, y=y, **settings)
    assert np.array_equal(found.members, plain.members)


def test_centers_is_the_attack_on_the_release():
    X, _ = coin_classes(40)
    found = membership_inference(KMeans(3, n_init=1), X, attack="centers", runs=3, random_state=0)
    direct = attack_centers(KMeans(3, n_init=1), X, runs=3, random_state=0)
    assert str(found) == str(direct)
    assert np.array_equal(found.members, direct.members)


def test_a_rare_class_is_no_obstacle(monkeypatch):
    few_trees(monkeypatch)
    X, y = coin_classes(64)
    y[0] = 9
    for attack in ("yeom", "label-only"):
        found = membership_inference(None, X, y=y, attack=attack, runs=2, random_state=0)
        assert np.isfinite([*found.members, *found.others]).all()


def test_split_is_disjoint_and_shares_out_the_classes():
    rng = np.random.default_rng(0)
    for n in (8, 15, 16, 210, 2126):
        strata = rng.integers(3, size=n)
        split = split_records(strata, rng)
        assert len(split.members) == len(split.others) == n // 8
        assert sorted(np.concatenate(split)) == list(range(n))
        chosen = np.bincount(strata[np.concatenate(split[:2])], minlength=3)
        expected = np.bincount(strata, minlength=3) * (2 * (n // 8)) / n
        assert np.abs(chosen - expected).max() < 2


def test_every_record_is_a_member_as_often():
    """8000 draws of 2 of 20: 5 standard deviations for 40 counts, false alarms below 1e-4."""
    rng = np.random.default_rng(0)
    strata = np.repeat([0, 1, 2], [1, 7, 12])
    members, others = np.zeros(20), np.zeros(20)
    for _ in range(8000):
        split = split_records(strata, rng)
        members[split.members] += 1
        others[split.others] += 1
    reach = 5 * np.sqrt(8000 * 0.1 * 0.9)
    assert np.abs(members - 800).max() < reach
    assert np.abs(others - 800).max() < reach


class Wider(Noise):
    def transform(self, X):
        return np.hstack([X, X])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"attack": "magic"},
            "attack must be one of shadow, yeom, label-only, centers, got 'magic'",
        ),
        ({"runs": 0}, "runs must be a whole number from 1"),
        ({"shadow_models": 0}, "shadow_models must be a whole number from 1"),
        ({"max_records": 7}, "max_records must be None or at least 8, got 7"),
        ({"random_state": -1}, "random_state must be None"),
        ({"target": object()}, "target must be a mechanism with fit_transform, .* got object"),
        ({"target": Laplace}, "target must be a mechanism .* got Laplace"),
        ({"target": Wider()}, r"target must give a report .* \(10, 4\) for \(10, 2\)"),
    ],
)
def test_bad_parameters(change, message):
    X, y = coin_classes(80)
    call = {"target": None, "X": X, "y": y, "attack": "yeom", "runs": 1}
    with pytest.raises(ParameterError, match=message):
        membership_inference(**{**call, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((7, 2)), "y": None}, "X must hold at least 8 records, got 7"),
        ({"X": np.full((80, 2), 1e31)}, "X must lie within -1e.30 and 1e.30: rescale"),
        ({"X": np.full((80, 2), np.nan)}, "X must hold finite numbers"),
        ({"y": [0, 1]}, r"y must be one class for each record, 80 in all, got shape \(2,\)"),
        ({"y": np.full(80, np.nan)}, "y must be free of NaN"),
        ({"y": np.array(["a", 1] * 40, dtype=object)}, "y must be classes of one type"),
    ],
)
def test_bad_data(change, message):
    X, y = coin_classes(80)
    call = {"target": None, "X": X, "y": y, "attack": "yeom", "runs": 1}
    with pytest.raises(DataError, match=message):
        membership_inference(**{**call, **change})


def test_more_clusters_than_members_are_refused():
    with pytest.raises(ParameterError) as refused:
        membership_inference(KMeans(9, n_init=1), np.eye(64, 2), runs=1, random_state=0)
    assert (refused.value.parameter, refused.value.code) == ("n_clusters", "range")
