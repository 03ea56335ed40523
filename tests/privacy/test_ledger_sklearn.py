"""A ledger inside scikit-learn: clone, grid search, and worker processes."""

from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from shoal.exceptions import BudgetExceededError
from shoal.privacy import Ledger, PureEvent

X = np.arange(12.0).reshape(6, 2)


def make_spender() -> type[BaseEstimator]:
    # Defined in a function, so that worker processes receive the class itself.
    class Spender(BaseEstimator):
        def __init__(self, *, epsilon=0.1, ledger=None):
            self.epsilon = epsilon
            self.ledger = ledger

        def fit(self, X, y=None):
            from shoal.privacy import PureEvent

            self.ledger.spend(PureEvent(epsilon=self.epsilon), purpose="fit")
            self.fitted_ = True
            return self

        def score(self, X, y=None):
            return self.epsilon

    return Spender


Spender = make_spender()


def test_clones_share_the_ledger() -> None:
    ledger = Ledger(epsilon=1.0)
    estimator = Spender(ledger=ledger)
    assert clone(estimator).ledger is ledger
    assert clone(make_pipeline(estimator)).steps[0][1].ledger is ledger
    assert "Ledger(epsilon=1" in repr(estimator)


def test_a_grid_search_pays_for_every_fit() -> None:
    ledger = Ledger(epsilon=10.0)
    GridSearchCV(Spender(ledger=ledger), {"epsilon": [0.1, 0.2, 0.3]}, cv=2).fit(X)
    assert len(ledger) == 3 * 2 + 1
    assert ledger.spent[0].epsilon == pytest.approx(2 * (0.1 + 0.2 + 0.3) + 0.3)


def test_a_grid_search_stops_at_the_limit() -> None:
    ledger = Ledger(epsilon=0.5)
    search = GridSearchCV(
        Spender(ledger=ledger), {"epsilon": [0.1, 0.2, 0.3]}, cv=2, error_score="raise"
    )
    with pytest.raises(BudgetExceededError):
        search.fit(X)
    assert ledger.spent[0].epsilon <= 0.5


def test_worker_processes_share_a_file(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", epsilon=10.0)
    GridSearchCV(Spender(ledger=ledger), {"epsilon": [0.1, 0.2, 0.3]}, cv=2, n_jobs=2).fit(X)
    assert len(ledger) == 7
    assert ledger.spent[0].epsilon == pytest.approx(1.5)


def test_worker_processes_race_for_the_last_unit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", epsilon=1.0)

    def attempt(ledger: Ledger) -> int:
        won = 0
        for _ in range(10):
            try:
                ledger.spend(PureEvent(epsilon=0.1))
                won += 1
            except BudgetExceededError:
                pass
        return won

    results = joblib.Parallel(n_jobs=2)(joblib.delayed(attempt)(ledger) for _ in range(4))
    assert sum(results) == 10
    assert len(ledger) == 10


def test_memory_is_refused_by_worker_processes() -> None:
    ledger = Ledger(epsilon=10.0)
    with pytest.raises(Exception, match="pickle") as refusal:
        joblib.Parallel(n_jobs=2)(
            joblib.delayed(len)([ledger.spend(PureEvent(epsilon=0.1)), ledger]) for _ in range(2)
        )
    assert "Ledger(path=...)" in str(refusal.value.__cause__)
