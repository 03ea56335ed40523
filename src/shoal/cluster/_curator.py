"""Labels of both clusterers stay with the curator.

Labels of private records are private, and their number is the number of records. A notebook shows
every public attribute of a fitted estimator, a debugger all of ``vars``, and pickle, joblib and
skops write it to files that travel. So labels are no part of the estimator's state: they are kept
beside it, for whoever asks for ``labels_`` by name in the process that ran ``fit``.
"""

import weakref
from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin

from shoal._cluster_table import ShownWithClusters
from shoal._typing import Labels, TableLike

__all__ = ["CuratorsClusterer"]


class CuratorsClusterer(ShownWithClusters, ClusterMixin, BaseEstimator):
    """A clusterer whose labels are raw-data output: they stay with the curator's own process.

    They live as long as the fitted estimator, and no copy of it has them, by ``copy``, ``deepcopy``
    or ``clone`` no more than by pickle: ask the copy to ``predict``.
    """

    @property
    def labels_(self) -> Labels:
        """Cluster of each record passed to ``fit``: private, for the curator's eyes only."""
        whose, labels = _LABELS.get(id(self), (None, None))
        if whose is None or whose() is not self or labels is None:
            raise AttributeError(
                "labels_ are kept by the estimator that was fitted, for records in memory, and by "
                "none of its copies: use predict"
            )
        return labels

    def fit_predict(self, X: TableLike, y: Any = None, **kwargs: Any) -> Any:
        """Fit, which spends the budget, and return the cluster of each record; these are private.

        Parameters
        ----------
        X : array-like of shape (n, d), ArrowTable, Arrow dataset or Spark DataFrame
            Records.
        y : None
            Ignored.
        **kwargs
            Further arguments of ``fit``.

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            Cluster of each record, as ``predict`` returns it.
        """
        self.fit(X, **kwargs)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    def _keep_labels(self, labels: Labels | None) -> None:
        """Keep labels, or drop those of an earlier fit where records are not in memory."""
        key = id(self)
        if labels is None:
            _LABELS.pop(key, None)
        else:
            _LABELS[key] = weakref.ref(self, lambda _: _LABELS.pop(key, None)), labels

    def _take_labels(self, fitted: "CuratorsClusterer") -> None:
        """Take the labels of the copy that was fitted; those of an earlier fit are not of it."""
        self._keep_labels(fitted.labels_ if hasattr(fitted, "labels_") else None)

    def __dir__(self) -> Iterable[str]:
        # Notebooks and debuggers show the values of all names that they find here.
        return [name for name in super().__dir__() if name != "labels_"]


# By identity: a subclass may call two estimators equal, and then a copy would have the labels.
_LABELS: dict[int, tuple[weakref.ref[CuratorsClusterer], Labels]] = {}
