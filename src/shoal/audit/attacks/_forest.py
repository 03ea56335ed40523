"""The model under attack: a random forest, and what an attacker learns to do with one."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from shoal._typing import Floats, Ints

__all__ = ["Forest", "Scorer"]


class Forest:
    """A random forest of default settings with a column of probabilities for every class.

    scikit-learn's own has columns for the classes it was trained on, and a shadow model may have
    seen fewer than the model it imitates.

    Parameters
    ----------
    n_classes : int
        Classes are 0 to ``n_classes - 1``.
    n_features : int
        Number of columns.
    seed : int
        Fixes the forest.
    """

    def __init__(self, n_classes: int, n_features: int, *, seed: int) -> None:
        self.n_classes_ = n_classes
        self.n_features_in_ = n_features
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Train on records, or reports, and their classes."""
        self._forest = RandomForestClassifier(random_state=self.seed).fit(X, y)
        return self

    @property
    def n_trees(self) -> int:
        """Number of trees; a probability is a mean over them."""
        return len(self._forest.estimators_)

    def predict_proba(self, X: Any) -> Floats:
        """Return each class its probability; 0 for classes that were not seen."""
        probabilities = np.zeros((len(X), self.n_classes_))
        probabilities[:, self._forest.classes_] = self._forest.predict_proba(X)
        return probabilities

    def predict(self, X: Any) -> Ints:
        """Name the likeliest class."""
        labels: Ints = self.predict_proba(X).argmax(axis=1)
        return labels

    def __sklearn_clone__(self) -> "Forest":
        return Forest(self.n_classes_, self.n_features_in_, seed=self.seed)


# What an attacker has learned: from a model, records and their classes to scores.
Scorer = Callable[[Forest, Floats, Ints], Floats]
