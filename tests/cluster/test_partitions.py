"""Partition selection: who adds what, what shows, and bugs that a replay must find."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import _partitions
from shoal.cluster._noise import GDPNoise, PureNoise, noise_for
from shoal.cluster._partitions import select_partitions, selection_noise
from shoal.exceptions import ParameterError
from shoal.noise import KeyCounts, LaplaceNoise, SeededSource, key_threshold, observed
from shoal.privacy import ApproximateEvent, Guarantee

EPSILON, DELTA = 1.0, 1e-6


class Blunt:
    """Shows exact counts: tests look at these."""

    def release(self, exact, noise, cost, released):
        return exact


def exact_counts(rows, *, max_keys, users=None):
    codes = None if users is None else np.array(users)
    with observed(Blunt()):
        shown = select_partitions(
            rows,
            PureNoise(1.0),
            1.0,
            max_keys=max_keys,
            delta=DELTA,
            source=SeededSource(0),
            users=codes,
        )
    return dict(zip(shown.keys, shown.counts.tolist(), strict=True))


def test_each_person_adds_one_to_each_key_of_theirs():
    rows = [["tea", "tea"], ["tea", "milk"], [], ["milk"]]
    assert exact_counts(rows, max_keys=2) == {"milk": 2, "tea": 2}
    assert exact_counts(rows, max_keys=2, users=[5, 5, 6, 5]) == {"milk": 1, "tea": 1}
    pairs = [[(1, "tea")], [(0, "tea")], [(1, "tea")]]
    assert exact_counts(pairs, max_keys=1) == {(0, "tea"): 1, (1, "tea"): 2}


def test_a_person_with_more_keys_adds_max_keys_of_them():
    many = [f"word {i}" for i in range(50)]
    kept = exact_counts([many], max_keys=7)
    assert sum(kept.values()) == len(kept) == 7
    # Neither the order of the rows nor other people change which.
    assert exact_counts([many[::-1]], max_keys=7) == kept
    assert exact_counts([many[:30], many[30:]], max_keys=7, users=[0, 0]) == kept
    assert exact_counts([["other"], many], max_keys=7) == {**kept, "other": 1}


def test_no_key_is_preferred():
    """Of two keys and one own key each, half of the people keep each; 4 deviations: 6e-5."""
    people = [["a", "b", f"own {i}"] for i in range(3000)]
    kept = exact_counts(people, max_keys=1)
    assert abs(kept["a"] - 1000) < 4 * (3000 * 2 / 9) ** 0.5
    assert abs(kept["b"] - 1000) < 4 * (3000 * 2 / 9) ** 0.5


@pytest.mark.parametrize("noise", [PureNoise(1.0), noise_for(1.0, 5e-7)])
def test_frequent_keys_show_sorted_and_rare_ones_do_not(noise):
    rows = [["zebra", f"only {i}"] for i in range(300)] + [["ant"]] * 200
    shown = select_partitions(
        rows, noise, noise.total_budget, max_keys=2, delta=DELTA, source=SeededSource(1)
    )
    assert shown.keys == ("ant", "zebra")
    assert np.abs(shown.counts - [200, 300]).max() < 8 * shown.deviation
    assert shown.counts.min() >= shown.threshold


def test_gaussian_noise_helps_where_people_have_many_keys():
    gaussian = noise_for(EPSILON, DELTA / 2)
    assert isinstance(gaussian, GDPNoise)
    thresholds = {
        keys: (
            selection_noise(PureNoise(EPSILON), EPSILON, max_keys=keys, delta=DELTA).threshold,
            selection_noise(
                gaussian, gaussian.total_budget, max_keys=keys, delta=DELTA / 2
            ).threshold,
        )
        for keys in (1, 10)
    }
    assert thresholds == {1: (15, 23), 10: (156, 76)}


class Selection(BaseEstimator):
    """Keys of numbers: each row is a person, each column a key; negative numbers are none."""

    def __init__(
        self,
        max_keys=2,
        *,
        delta=DELTA,
        gaussian=False,
        charged=DELTA,
        ledger=None,
        random_state=None,
    ):
        self.max_keys = max_keys
        self.delta = delta
        self.gaussian = gaussian
        self.charged = charged
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X):
        noise = noise_for(EPSILON, self.delta / 2 if self.gaussian else 0.0)
        own = self.delta / 2 if self.gaussian else self.delta
        self.guarantee_ = Guarantee("central", EPSILON, self.delta, seeded=True)
        self.ledger.spend(ApproximateEvent(epsilon=EPSILON, delta=self.charged))
        rows = [[f"{int(value)}" for value in row if value >= 0] for row in X]
        shown = select_partitions(
            rows,
            noise,
            noise.total_budget,
            max_keys=self.max_keys,
            delta=own,
            source=SeededSource(self.random_state),
        )
        self.release_ = SimpleNamespace(values={"keys": shown.keys, "counts": shown.counts})
        return self


CROWD = np.array([[0.0, 1.0, -1.0]] * 60 + [[2.0, -1.0, -1.0]] * 40)
PAIRS = [
    Neighbors("keys of others", CROWD, [0.0, 1.0, -1.0]),
    Neighbors("new keys", CROWD, [7.0, 8.0, -1.0]),
    Neighbors("too many keys", CROWD, [0.0, 1.0, 2.0]),
    Neighbors("one new key", CROWD, [0.0, 9.0, -1.0]),
    Neighbors("only one person", CROWD[:1], [5.0, 6.0, -1.0]),
]


def found(**params):
    return "\n".join(replay_estimator(Selection(**params), PAIRS, repeats=1).findings)


@pytest.mark.parametrize("gaussian", [False, True])
def test_replay_counts_a_selection(gaussian):
    audit = replay_estimator(Selection(gaussian=gaussian), PAIRS, repeats=2)
    assert audit.findings == ()
    assert audit.loss == pytest.approx(audit.budget, rel=1e-9)


@pytest.mark.parametrize("gaussian", [False, True])
def test_planted_threshold_too_low(monkeypatch, gaussian):
    right = key_threshold
    monkeypatch.setattr(_partitions, "key_threshold", lambda *a, **kw: right(*a, **kw) - 1)
    assert "new keys: release 1 costs inf" in found(gaussian=gaussian)


def test_planted_threshold_for_one_key_only(monkeypatch):
    right = functools.partial(key_threshold, max_keys=1)
    monkeypatch.setattr(
        _partitions, "key_threshold", lambda noise, *, max_keys, delta: right(noise, delta=delta)
    )
    assert "new keys: release 1 costs inf" in found()


def test_planted_keys_of_a_person_not_counted(monkeypatch):
    monkeypatch.setattr(_partitions, "_bounded", lambda keys, most: keys)
    assert "too many keys: release 1 costs 1.5, declared 1" in found()
    monkeypatch.undo()
    # Noise for one key, where a person has two.
    monkeypatch.setattr(_partitions, "LaplaceNoise", lambda scale: LaplaceNoise(scale / 2))
    assert "keys of others: release 1 costs 2, declared 1" in found()


def test_planted_delta_not_charged():
    assert "the ledger was charged delta 1e-07 for 1e-06" in found(charged=1e-7)


def test_planted_order_of_the_records(monkeypatch):
    monkeypatch.setattr(
        KeyCounts,
        "of",
        classmethod(lambda cls, counts: cls(tuple(counts), np.array([*counts.values()]))),
    )
    with pytest.raises(ParameterError, match="ascend"):
        exact_counts([["b"], ["a"]], max_keys=1)
