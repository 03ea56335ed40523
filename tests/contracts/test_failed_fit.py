"""A fit that fails leaves the estimator as the last one left it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from helpers.engine_equivalence import ESTIMATORS
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster
from shoal.exceptions import BudgetExceededError, DataError
from shoal.privacy import Ledger

FRAME = pd.DataFrame(np.repeat([[-5.0, 5.0], [5.0, -5.0]], 2000, axis=0), columns=["age", "income"])


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


def test_a_refused_fit_does_not_rename_the_columns():
    """Otherwise centers of (age, income) would be taken for those of (income, age)."""
    model = DPKMeans(2, epsilon=1.0, bounds=(-10.0, 10.0), ledger=Ledger(epsilon=1.0)).fit(FRAME)
    labels = model.predict(FRAME)
    with pytest.raises(BudgetExceededError):
        model.fit(FRAME[["income", "age"]])
    assert model.feature_names_in_.tolist() == ["age", "income"]
    assert (model.predict(FRAME) == labels).all()
    assert (model.labels_ == labels).all()
    with pytest.raises(DataError, match="feature names"):
        model.predict(FRAME[["income", "age"]])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_or_nothing(name, monkeypatch):
    model = clone(ESTIMATORS[name]).set_params(ledger=None)
    records = FRAME.to_numpy() / 10
    model.fit(records)
    before = state(model)
    with pytest.raises(DataError):
        model.fit(np.full((3, 3), np.nan))
    assert state(model) == before

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model), "_publish", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.fit(records)
    assert state(model) == before


@pytest.mark.parametrize("kind", [DPDensity, DPKMeans, DPWaveCluster])
def test_what_is_released_stays_where_labels_are_stopped(kind, monkeypatch):
    """It is paid for; the labels of an earlier fit are not its own."""
    model = kind(bounds=(-10.0, 10.0)).fit(FRAME)
    earlier, right = model.release_, type(model)._keep_labels

    def stopped(self, labels):
        if labels is not None:
            raise KeyboardInterrupt
        right(self, labels)

    monkeypatch.setattr(type(model), "_keep_labels", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.fit(FRAME)
    assert model.release_ is not earlier
    assert not hasattr(model, "labels_")
