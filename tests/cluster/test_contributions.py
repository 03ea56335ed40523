"""Weights and users: what counts, how much, and noise scaled to the most that one person adds."""

import numpy as np
import pandas as pd
import pytest

from helpers.kmeans_problems import blobs
from helpers.noise_recorder import recording
from shoal._registry import choices
from shoal.cluster import DPKMeans
from shoal.cluster._contributions import bounded_contributions
from shoal.exceptions import ShoalError
from shoal.metrics import nicv
from shoal.privacy import Ledger, PrivacyUnit
from shoal.tables import ArrayTable

X = blobs(3000)
METHODS = choices("DPKMeans", "method")


def model(**kwargs):
    return DPKMeans(5, **{"epsilon": 1.0, "bounds": (-1.0, 1.0), "random_state": 0, **kwargs})


def bits(fitted):
    parts = (fitted.cluster_centers_, fitted.cluster_sizes_, fitted.center_radius_)
    return b"".join(part.tobytes() for part in parts)


def scales(records, given, **kwargs):
    with recording() as tape:
        model(**kwargs).fit(records, **given)
    return np.array([draw.scale for draw in tape.draws])


@pytest.mark.parametrize("method", METHODS)
def test_records_of_weight_zero_do_not_matter(method):
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 0.75)
    kept = weights > 0
    kwargs = {"method": method, "epsilon": 3.0}
    one = model(**kwargs).fit(X, sample_weight=weights)
    two = model(**kwargs).fit(X[kept], sample_weight=weights[kept])
    assert bits(one) == bits(two)
    assert len(one.labels_) == len(X)
    assert (one.labels_[kept] == two.labels_).all()


@pytest.mark.parametrize("method", METHODS)
def test_weights_above_the_limit_count_as_the_limit(method):
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(X))
    kwargs = {"method": method, "weight_limit": 1.25}
    one = model(**kwargs).fit(X, sample_weight=weights)
    two = model(**kwargs).fit(X, sample_weight=np.minimum(weights, 1.25))
    assert bits(one) == bits(two)


@pytest.mark.parametrize("method", METHODS)
def test_only_weights_over_the_limit_matter(method):
    weights = np.random.default_rng(0).uniform(0.0, 1.0, len(X))
    one = model(method=method).fit(X, sample_weight=weights)
    two = model(method=method, weight_limit=64.0).fit(X, sample_weight=64 * weights)
    assert bits(one) == bits(two)


@pytest.mark.full
@pytest.mark.parametrize("method", ["grid", "lloyd"])
def test_equal_weights_are_as_none_in_distribution(method):
    # 40 seeds each: noise of the same law in finer steps, so typical cost and sizes agree.
    def typical(given):
        fits = [model(method=method, random_state=s).fit(X, **given) for s in range(40)]
        costs = [nicv(X, fitted.cluster_centers_) for fitted in fits]
        sizes = [fitted.cluster_sizes_.sum() for fitted in fits]
        return np.median(costs), np.median(sizes)

    plain, weighted = typical({}), typical({"sample_weight": np.ones(len(X))})
    assert weighted == pytest.approx(plain, rel=0.1)
    assert weighted[1] == pytest.approx(len(X), rel=0.05)


def test_heavier_records_pull_more():
    pair = np.repeat([[-0.5], [0.5]], 2000, axis=0)
    weights = np.repeat([1.0, 0.25], 2000)
    kwargs = {"epsilon": 20.0, "bounds": (-1.0, 1.0), "method": "lloyd", "random_state": 0}
    fitted = DPKMeans(1, **kwargs).fit(pair, sample_weight=weights)
    assert fitted.cluster_centers_[0, 0] == pytest.approx(-0.3, abs=0.01)
    assert fitted.cluster_sizes_[0] == pytest.approx(2500, rel=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_noise_is_scaled_to_what_a_person_adds(method, subtests):
    for delta in [0.0, 1e-6]:
        with subtests.test(delta=delta):
            kwargs = {"method": method, "delta": delta, "n_public": 2 * len(X)}
            if method == "kccm" and delta:
                kwargs["noise"] = "gaussian"
            if method == "lloyd":
                kwargs["max_iter"] = 3
            if method in ("grid", "tree", "ball"):  # whose plans depend on n / unit
                kwargs["n_public"] = None
                kwargs["epsilon"] = 1e5
            given = {"sample_weight": np.ones(len(X)), "user_ids": np.arange(len(X)) // 2}
            plain = scales(X, {}, **kwargs)
            both = scales(X, given, records_per_user=2, **kwargs)
            # The first draw is of the records' number, or of counts: 256 steps a record, 2 records.
            assert both[0] == pytest.approx(512 * plain[0])
            if method in ("lloyd", "kccm"):
                assert both == pytest.approx(512 * plain[: len(both)])


@pytest.mark.parametrize("method", METHODS)
def test_only_the_first_rows_of_each_user_count(method, subtests):
    for most in [1, 2, 5]:
        with subtests.test(most=most):
            users = np.random.default_rng(1).integers(0, 900, len(X))
            seen, kept = {}, []
            for row, user in enumerate(users):
                seen[user] = seen.get(user, 0) + 1
                if seen[user] <= most:
                    kept.append(row)
            kwargs = {"method": method, "records_per_user": most, "epsilon": 3.0}
            one = model(**kwargs).fit(X, user_ids=users)
            two = model(**kwargs).fit(X[kept], user_ids=users[kept])
            assert bits(one) == bits(two)
            assert one.labels_.shape == (len(X),)
            assert (one.labels_ == one.predict(X)).all()


def test_users_may_have_any_kind_of_name():
    users = np.arange(len(X)) % 700
    names = np.array([f"user {user:04d}" for user in users])
    expected = bits(model().fit(X, user_ids=users))
    for given in (names, names.tolist(), names.astype(object), pd.Series(users), users.tolist()):
        assert bits(model().fit(X, user_ids=given)) == expected


def test_guarantee_names_users():
    users = pd.Series(np.arange(len(X)) // 3, name="person")
    kwargs = {"records_per_user": 3, "random_state": None}
    fitted = model(**kwargs).fit(X, user_ids=users)
    assert fitted.guarantee_.holds
    assert fitted.guarantee_.privacy_unit == PrivacyUnit.user("person", max_rows=3)
    assert fitted.release_.guarantee == fitted.guarantee_
    assert "any one user (all rows with one value of 'person'" in str(fitted.guarantee_)
    named = model(user_column="person", **kwargs).fit(X, user_ids=users.to_list())
    assert named.guarantee_ == fitted.guarantee_
    unnamed = model(**kwargs).fit(X, user_ids=users.to_list())
    assert unnamed.guarantee_.privacy_unit == PrivacyUnit.user(max_rows=3)
    assert model(random_state=None).fit(X).guarantee_.privacy_unit == PrivacyUnit()


def test_a_ledger_counts_users_of_one_column():
    users = pd.Series(np.arange(len(X)) // 3, name="person")
    ledger = Ledger(epsilon=2.5, privacy_unit=PrivacyUnit.user("person"))
    for _ in range(2):
        model(ledger=ledger).fit(X, user_ids=users)
    assert ledger.used == pytest.approx(2.0 / 2.5)
    refused = [users.to_list(), users.rename("household"), None]
    for ids in refused:
        with pytest.raises(ShoalError):
            model(ledger=ledger, epsilon=0.1).fit(X, user_ids=ids)
    assert len(ledger) == 2
    by_row = Ledger(epsilon=2.5)
    model(ledger=by_row).fit(X, user_ids=users)
    assert by_row.used == pytest.approx(2.0 / 2.5)  # a row of a user costs twice


def test_what_one_person_adds():
    def contribution(**given):
        settings = {"sample_weight": None, "weight_limit": 1.0, "user_ids": None}
        table = ArrayTable(np.zeros((4, 1)))
        return bounded_contributions(table, records_per_user=3, **{**settings, **given})

    assert contribution()[2:4] == (1, 1)
    assert contribution(user_ids=[1, 1, 2, 1])[2:4] == (1, 3)
    assert contribution(sample_weight=[0, 1, 2, 0.5])[2:4] == (256, 256)
    both = contribution(sample_weight=[0, 1, 2, 0.5], user_ids=[1, 1, 1, 1])
    assert both[2:4] == (256, 768)
    assert both.weights.tolist() == [0, 256, 256]
