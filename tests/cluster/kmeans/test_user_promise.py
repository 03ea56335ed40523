"""The promise to users, replayed: one user more costs what is claimed, whatever the ids are."""

import numpy as np
import pytest

from helpers.user_ids import LARGE, SETS
from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPKMeans
from shoal.exceptions import GuaranteeError
from shoal.privacy import Ledger, PrivacyUnit


class OfUsers(DPKMeans):
    """Reads ids of rows from a list, by the numbers in the first column; or has these for ids."""

    ids = ()

    def fit(self, X, y=None):
        users = [self.ids[int(place)] if self.ids else int(place) for place in X[:, 0]]
        return super().fit(X[:, 1:], user_ids=users)


@pytest.mark.parametrize("method", ["grid", "lloyd"])
def test_one_more_user_costs_what_is_claimed(method, subtests):
    """The replayed cost was 1,990 where one id merged the others."""
    for name, one_more in [("near", 7), ("near", "7"), ("large", -1), ("text", 7)]:
        with subtests.test(name=name, one_more=one_more):

            class Audited(OfUsers):
                pass

            ids = SETS[name]
            Audited.ids = [*ids, one_more]
            places = np.arange(float(len(ids)))
            records = np.column_stack([places, np.linspace(-1.0, 1.0, len(ids))])
            pair = Neighbors("one more user", records, [float(len(ids)), 1.0])
            model = Audited(2, epsilon=1.0, bounds=(-1.0, 1.0), method=method)
            audit = replay_estimator(model, [pair], repeats=2)
            assert not audit.broken, str(audit)


@pytest.mark.parametrize("method", ["grid", "lloyd"])
def test_what_one_row_of_a_user_costs(method, subtests):
    """One more row, before those of a user who has enough: one comes in, and another goes out."""
    for most, n_public, cost in [
        # The number of rows that count stays, and what its noise costs is left over.
        (1, None, 1.96),
        (1, 50, 2.0),
        (2, None, 0.98),
        (2, 50, 1.0),
        (4, 50, 0.5),
    ]:
        with subtests.test(most=most, n_public=n_public, cost=cost):
            users = np.repeat(np.arange(25.0), 4)
            records = np.column_stack([users, np.where(users > 0, 0.3, -1.0)])
            pair = Neighbors("one more row of user 0", records, [0.0, 1.0])
            kwargs = {"method": method, "n_public": n_public, "records_per_user": most}
            model = OfUsers(2, epsilon=1.0, bounds=(-1.0, 1.0), **kwargs)
            audit = replay_estimator(model, [pair], repeats=2)
            assert audit.loss == pytest.approx(cost, rel=1e-6)
            assert audit.broken == (cost > 1)


@pytest.mark.parametrize("one_more", ["7", -1])
def test_sizes_do_not_tell_that_a_user_came(one_more):
    """Sizes above 500 told the tables apart in 100 of 100 fits; noise alone would need 1,500."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (2001, 2))

    def large(ids):
        model = DPKMeans(3, epsilon=1.0, bounds=(-1.0, 1.0), random_state=0)
        return model.fit(X[: len(ids)], user_ids=ids).cluster_sizes_.sum() > 500

    assert large(LARGE)
    assert large([*LARGE, one_more])


def fit_for_users(ledger, **kwargs):
    """One fit of epsilon 1 for 40 people with 5 rows each, of which 3 count."""
    model = DPKMeans(2, bounds=(-1.0, 1.0), records_per_user=3, ledger=ledger, **kwargs)
    return model.fit(np.linspace(-1.0, 1.0, 200)[:, None], user_ids=np.arange(200) // 5)


def test_the_ledger_counts_whose_promise_it_is():
    """A fit for users and one for records were "2 for any one record", which held for neither."""
    contribution = PrivacyUnit.user("person", max_rows=3)
    records = Ledger(epsilon=3.0)
    fit_for_users(records, user_column="person")
    DPKMeans(2, bounds=(-1.0, 1.0), ledger=records).fit(np.zeros((20, 1)))
    assert [entry.privacy_unit for entry in records.entries] == [contribution, PrivacyUnit()]
    assert records.spent[0].epsilon == 3.0
    users = Ledger(epsilon=1.0, privacy_unit=PrivacyUnit.user("person"))
    model = fit_for_users(users, user_column="person")
    assert users.spent[0].epsilon == 1.0
    assert model.release_.ledger == users.receipt
    assert model.guarantee_.privacy_unit == users.entries[0].privacy_unit == contribution
    for kwargs in ({"user_column": "household"}, {}):
        other = Ledger(epsilon=1.0, privacy_unit=PrivacyUnit.user("person"))
        with pytest.raises(GuaranteeError, match="same id column"):
            fit_for_users(other, **kwargs)
        assert len(other) == 0
