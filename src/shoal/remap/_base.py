"""What all remaps share: reports in, points of the public domain out, one row each."""

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal._records import validate_records
from shoal._typing import Floats

__all__ = ["Remap"]


class Remap(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of remaps: transformers that are fitted on reports and move reports.

    Subclasses define how parameters are checked, what is learned from reports, and where each
    report moves. ``needs_reports`` is False for remaps that use public values alone: they work
    without ``fit``.
    """

    needs_reports = False

    def fit(self, Z: Any, y: Any = None) -> Self:
        """Check the parameters and learn from reports, if the remap learns anything.

        Parameters
        ----------
        Z : array-like of shape (n, d)
            Reports.
        y : None
            Ignored.

        Returns
        -------
        self : Remap
            The fitted remap.
        """
        reports = validate_records(Z, estimator=self)
        self._check(reports.shape[1])
        self._learn(reports)
        return self

    def transform(self, Z: Any) -> Floats:
        """Move each report into the public box, or to the public points.

        Parameters
        ----------
        Z : array-like of shape (n, d)
            Reports.

        Returns
        -------
        points : ndarray of shape (n, d)
            One point for each report.
        """
        fitted = hasattr(self, "n_features_in_")
        if self.needs_reports:
            check_is_fitted(self, "n_features_in_")
        reports = validate_records(Z, estimator=self if fitted else None, reset=not fitted)
        if not self.needs_reports:
            self._check(reports.shape[1])
        return self._move(reports)

    @abstractmethod
    def _check(self, columns: int) -> None:
        """Refuse parameters that break their rule for this number of columns."""

    def _learn(self, reports: Floats) -> None:
        """Learn from checked reports; most remaps have nothing to learn."""

    @abstractmethod
    def _move(self, reports: Floats) -> Floats:
        """Return the remapped reports."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.needs_reports
        return tags
