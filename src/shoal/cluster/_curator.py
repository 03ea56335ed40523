"""What both clusterers do with labels: keep them with the curator."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

__all__ = ["CuratorsClusterer"]


class CuratorsClusterer(ClusterMixin, BaseEstimator):
    """A clusterer whose labels are raw-data output: they stay with the curator's own process."""

    labels_: npt.NDArray[np.int32]

    def fit_predict(self, X: Any, y: Any = None, **words: Any) -> Any:
        """Spend the budget, and find the cluster of each record; private.

        Parameters
        ----------
        X : array-like of shape (n, d), ArrowTable, Arrow dataset or Spark DataFrame
            Records.
        y : None
            Ignored.
        **words
            As for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            As ``predict`` gives them.
        """
        self.fit(X, **words)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    def _keep_labels(self, labels: npt.NDArray[np.int32] | None) -> None:
        """Set labels, or drop those of an earlier fit where records are not in memory."""
        if labels is not None:
            self.labels_ = labels
        elif hasattr(self, "labels_"):
            del self.labels_

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("labels_", None)
        return state
