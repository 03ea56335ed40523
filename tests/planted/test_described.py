"""Bugs of tables with a schema, each planted on purpose: what is learned from others is noticed.

Two checks must see them: every record is encoded as if it were alone, and a replay of neighboring
tables, one of which has one more person, finds that this person costs what was claimed.
"""

import numpy as np
import pandas as pd
import pytest

from helpers.mixed_tables import SCHEMA as WIDE
from helpers.mixed_tables import mixed_columns
from shoal.audit import Neighbors, audit_estimator, replay_estimator
from shoal.cluster import ClusterProfile, DPKMeans, _contributions
from shoal.cluster.kmeans import _mixed, dp_kmeans
from shoal.schema import Category, Date, Field, Flag, Number, Schema, measures

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=100),
        Number("income", minimum=0, maximum=1e6, scale="log", missing="fill", fill=1000),
        Category("city", ["A", "B", "1", "no"], weight=2.0),
        Flag("member"),
        Date("joined", minimum="2010-01-01", maximum="2030-01-01"),
    ]
)
USERS = Schema([*SCHEMA.fields, Field("who", role="user")])
COLUMNS = [field.name for field in USERS]
EPSILON = 0.5
MODEL = DPKMeans(2, epsilon=EPSILON, schema=SCHEMA, n_public=4)
OF_USERS = DPKMeans(2, epsilon=EPSILON, schema=USERS, n_public=4, records_per_user=2)
METHODS = {
    "mixed": MODEL,
    "lloyd": DPKMeans(2, epsilon=EPSILON, schema=SCHEMA, method="lloyd", max_iter=2, n_public=4),
    "gaussian": DPKMeans(2, epsilon=EPSILON, delta=1e-6, schema=SCHEMA, n_public=4),
    "users": OF_USERS,
}


class Pair(Neighbors):
    """Two frames; the added rows, which come first, are all of one person."""

    def __init__(self, name, rows, added):
        names = COLUMNS[: len(rows[0])]
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "records", pd.DataFrame(rows, columns=names, dtype=object))
        object.__setattr__(self, "added", pd.DataFrame(added, columns=names, dtype=object))

    @property
    def with_added(self):
        return pd.concat([self.added, self.records], ignore_index=True)


OTHERS = [
    [30, 2e4, "A", True, "2020-01-01"],
    [40, None, 1, False, None],
    [None, 1e5, "A", None, "2015-05-05"],
]
ADDED = {
    "another city": [30, 2e4, "B", True, "2020-01-01"],
    "a city nobody knows": [30, 2e4, "elsewhere", True, "2020-01-01"],
    "nothing at all": [None] * 5,
    "the highest of all": [1e308, float("inf"), "B", 1, "9999-12-31"],
    "the lowest of all": [-1e308, -5, "", 0, "0001-01-01"],
    "what is equal to another": [30, 2e4, True, True, "2020-01-01"],
}
PAIRS = [Pair(name, OTHERS, [row]) for name, row in ADDED.items()]
PERSON = Pair(
    "a person in both clusters",
    [[*row, str(index)] for index, row in enumerate(OTHERS)],
    [[*ADDED[name], "me"] for name in ("the lowest of all", "the highest of all", "another city")],
)


def findings(model, pairs=PAIRS):
    return "\n".join(replay_estimator(model, pairs, repeats=1).findings)


def encoded_alone(schema=SCHEMA, rows=None):
    """Assert that each record is encoded as if it were the only one."""
    rows = [*OTHERS, *ADDED.values()] if rows is None else rows
    whole = schema.encode(rows)
    for row, found in zip(rows, whole, strict=True):
        assert schema.encode([row])[0].tobytes() == found.tobytes()


def noticed(pairs=PAIRS):
    """Expect both checks to go red."""
    with pytest.raises(AssertionError):
        encoded_alone()
    return findings(MODEL, pairs) != ""


# Nothing is found without a bug


def test_records_are_encoded_alone():
    encoded_alone()
    columns = mixed_columns(7)
    encoded_alone(WIDE, [list(row) for row in zip(*columns.values(), strict=True)])


@pytest.mark.parametrize("name", METHODS)
def test_a_person_costs_no_more_than_claimed(name):
    pairs = [PERSON] if name == "users" else PAIRS
    audit = replay_estimator(METHODS[name], pairs, repeats=1)
    assert audit.findings == ()
    assert audit.loss <= audit.budget * (1 + 1e-9)
    assert audit.loss > 0.3 * audit.budget


def test_a_bound_from_samples_is_below_the_claim():
    """Sampled releases, at 99.9% confidence: one record more, in a category of its own."""
    model = DPKMeans(1, epsilon=EPSILON, schema=SCHEMA, n_public=1, method="lloyd", max_iter=1)
    pairs = [Neighbors("alone", np.array([[30.0]]), [60.0])]

    class OfAges(DPKMeans):
        def fit(self, X, y=None):
            return super().fit([[age, 2e4, "A", True, None] for age in X[:, 0]])

    of_ages = OfAges(**model.get_params())
    assert not audit_estimator(of_ages, pairs, runs=100, search=False, random_state=0).exceeds()


# What is learned from other records


def test_categories_from_the_data(monkeypatch):
    right = Category.read

    def learned(self, columns, words):
        return np.unique(right(self, columns, words), return_inverse=True)[1]

    monkeypatch.setattr(Category, "read", learned)
    with pytest.raises(AssertionError):
        encoded_alone()
    # A city between those that are there moves three others to the next level.
    rows = [[30, 2e4, city, True, None] for city in ("A", "1", "1", "1")]
    assert "costs" in findings(MODEL, [Pair("a city", rows, [ADDED["another city"]])])


def test_missing_values_are_filled_with_the_mean(monkeypatch):
    right = measures._Measured._bounded

    def mean(self, values, fill):
        known = np.clip(values[~np.isnan(values)], *self.limits)
        return right(self, values, known.mean() if len(known) else 0.0)

    monkeypatch.setattr(measures._Measured, "_bounded", mean)
    assert noticed()


def test_numbers_between_the_smallest_and_the_largest(monkeypatch):
    def scaled(self, values):
        low, high = np.nanmin(values), np.nanmax(values)
        return (values - low) / (high - low) if high > low else np.zeros_like(values)

    monkeypatch.setattr(measures._Measured, "position", scaled)
    assert noticed()


# What is paid for


def test_rows_of_a_person_in_two_clusters_taken_for_one(monkeypatch):
    right = _contributions.bounded_contributions
    monkeypatch.setattr(
        _contributions,
        "bounded_contributions",
        lambda *a, **k: right(*a, **k)._replace(max_contribution=1),
    )
    assert "all releases cost" in findings(OF_USERS, [PERSON])


def test_all_rows_of_a_person_count(monkeypatch):
    monkeypatch.setattr(dp_kmeans, "counted_rows", lambda table, given: table)
    assert "costs" in findings(OF_USERS, [PERSON])


def test_every_round_takes_the_whole_budget(monkeypatch):
    monkeypatch.setattr(_mixed, "_growing", lambda budget, rounds: [budget] * (rounds + 1))
    assert "claimed 0.5" in findings(MODEL)


def test_the_mean_is_not_paid_for(monkeypatch):
    right = _mixed.MixedMethod.run

    def twice(self, problem):
        origin = np.zeros((1, problem.columns))
        _mixed._take_round(problem, origin, problem.budget, origin[0])
        return right(self, problem)

    monkeypatch.setattr(_mixed.MixedMethod, "run", twice)
    assert "all releases cost epsilon" in findings(MODEL)


def test_a_profile_of_a_mixed_table_costs_what_is_claimed():
    clusters = DPKMeans(2, schema=USERS, random_state=0).fit(PERSON.with_added)
    profile = ClusterProfile(clusters.release_, epsilon=EPSILON, records_per_user=2)
    audit = replay_estimator(profile, [PERSON], repeats=1)
    assert audit.findings == ()
    assert audit.loss == pytest.approx(EPSILON)
