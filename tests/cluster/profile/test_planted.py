"""Bugs of a profile that a replay must notice, each planted on purpose."""

import numpy as np
import pandas as pd
import pytest

from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import ClusterProfile, DPKMeans, _contributions
from shoal.cluster._contributions import bounded_contributions
from shoal.cluster.profile import _coding, _plan, cluster_profile
from shoal.cluster.profile._counts import exact_counts, noisy_counts
from shoal.schema import Category, Field, Number, Schema

SCHEMA = Schema([Number("x", minimum=0, maximum=10), Category("kind", [1, 2, 3], role="describe")])
USERS = Schema([*SCHEMA.fields, Field("who", role="user")])
TWO = DPKMeans(2, bounds=(0, 10), random_state=0).fit(np.repeat([[1.0], [9.0]], 500, axis=0))
MODEL = ClusterProfile(TWO.release_, schema=SCHEMA, epsilon=0.5)
OF_USERS = ClusterProfile(TWO.release_, schema=USERS, epsilon=0.5, records_per_user=2)


class Pair(Neighbors):
    """Two frames of made-up rows; the added ones are all of one person."""

    def __init__(self, rows, added):
        columns = ["x", "kind", "who"][: len(rows[0])]
        object.__setattr__(self, "name", "a person")
        object.__setattr__(self, "records", pd.DataFrame(rows, columns=columns))
        object.__setattr__(self, "added", pd.DataFrame(added, columns=columns))

    @property
    def with_added(self):
        return pd.concat([self.added, self.records], ignore_index=True)


RECORD = Pair([[1, 1], [9, 2], [9, 2]], [[9, 3]])
# Five rows of one person, in both clusters: two count.
PERSON = Pair([[1, 1, "a"], [9, 2, "b"]], [[1, 1, "c"], [9, 2, "c"], [9, 3, "c"], [1, 3, "c"]])


def found(model, pair):
    return "\n".join(replay_estimator(model, [pair], repeats=2).findings)


@pytest.mark.parametrize(("model", "pair"), [(MODEL, RECORD), (OF_USERS, PERSON)])
def test_nothing_is_found_without_a_bug(model, pair):
    audit = replay_estimator(model, [pair], repeats=2)
    assert audit.findings == ()
    assert audit.loss == pytest.approx(0.5)


def test_each_cluster_takes_the_whole_budget(monkeypatch):
    """Clusters are disjoint, so they share a budget; each with its own is two releases."""

    def each(table, given, plan, clusters, source):
        return [noisy_counts(table, given, plan, clusters, source) for _ in range(2)][-1]

    monkeypatch.setattr(cluster_profile, "noisy_counts", each)
    assert "all releases cost epsilon 1, claimed 0.5" in found(MODEL, RECORD)


def test_budget_as_if_a_person_were_in_one_cluster(monkeypatch):
    """Rows in several clusters, each taken for the only one of its person."""
    monkeypatch.setattr(
        _contributions,
        "bounded_contributions",
        lambda *a, **k: bounded_contributions(*a, **k)._replace(max_contribution=1),
    )
    assert "all releases cost epsilon 1, claimed 0.5" in found(OF_USERS, PERSON)


def test_rows_of_a_person_are_not_bounded(monkeypatch):
    monkeypatch.setattr(cluster_profile, "counted_rows", lambda table, given: table)
    assert "all releases cost epsilon 1, claimed 0.5" in found(OF_USERS, PERSON)


def test_a_field_whose_budget_is_not_counted(monkeypatch):
    """One of two fields is paid for, and both get the noise of the whole budget."""
    right = _plan.plan_profile

    def free(*a, **k):
        plan = right(*a, **k)
        whole = plan.noise.total_budget
        return plan._replace(fields=tuple(one._replace(budget=whole) for one in plan.fields))

    monkeypatch.setattr(cluster_profile, "plan_profile", free)
    assert "all releases cost epsilon 1, claimed 0.5" in found(MODEL, RECORD)


def test_counts_without_noise(monkeypatch):
    monkeypatch.setattr(
        cluster_profile,
        "noisy_counts",
        lambda table, given, plan, clusters, source: exact_counts(
            table, clusters, [len(one.histogram.levels) for one in plan.fields]
        ),
    )
    assert "nothing passed privatize" in found(MODEL, RECORD)


def test_levels_from_the_data(monkeypatch):
    """Categories that are there, in place of those that were declared."""
    right = _coding.Coding.encode

    def learned(self, X):
        coded = right(self, X)
        coded[:, 2] = np.unique(coded[:, 2], return_inverse=True)[1]
        return coded

    monkeypatch.setattr(_coding.Coding, "encode", learned)
    # The others move to another level: more than one record can.
    assert "costs" in found(MODEL, Pair([[1, 2], [9, 2], [9, 2]], [[9, 1]]))


def test_bins_from_the_data(monkeypatch):
    right = _coding.Histogram.codes

    def rescaled(self, values):
        return right(self, values / np.max(values) * 10) if self.edges else right(self, values)

    monkeypatch.setattr(_coding.Histogram, "codes", rescaled)
    assert "costs" in found(MODEL, Pair([[1, 1], [4, 2], [3, 2]], [[9, 3]]))
