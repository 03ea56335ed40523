"""What all local randomisers share: check, spend, perturb, in this order.

A mechanism runs on the device that holds the record. It learns nothing from records: ``fit`` only
notes how many columns there are, and ``transform`` works without it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shoal import _numbers
from shoal._bounds import public_box
from shoal._records import validate_records
from shoal.exceptions import ParameterError
from shoal.noise import Lattice, RandomSource, as_source
from shoal.privacy import Adjacency, Event, Guarantee, Ledger

__all__ = ["Mechanism"]

Floats = npt.NDArray[np.float64]

CHUNK_VALUES = 1 << 16  # numbers perturbed at a time


class Mechanism(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """A local randomiser: records in, reports out, one row each.

    Subclasses store ``epsilon``, ``bounds``, ``ledger`` and ``random_state``, and say how records
    are perturbed, what that costs and what it promises.
    """

    epsilon: float
    bounds: Any
    ledger: Ledger | None
    random_state: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and note the columns; nothing else is taken from the records.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        y : None
            Ignored.

        Returns
        -------
        self : Mechanism
            The mechanism.
        """
        records = validate_records(X, estimator=self)
        self._check(records.shape[1])
        # A seed's stream goes on from one transform to the next and starts again at fit.
        self._source = as_source(self.random_state)
        return self

    def transform(self, X: Any) -> Floats:
        """Perturb each record once; the ledger is charged before anything is drawn.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records; those outside the bounds are clipped.

        Returns
        -------
        Z : ndarray of shape (n, d)
            Reports.
        """
        fitted = hasattr(self, "n_features_in_")
        # Without fit there are no columns to compare with, and transform must not note any.
        records = validate_records(X, estimator=self if fitted else None, reset=not fitted)
        self._check(records.shape[1])
        source = getattr(self, "_source", None) or as_source(self.random_state)
        if self.ledger is not None:
            self.ledger.spend(
                self._event(),
                purpose=f"{type(self).__name__} reports",
                adjacency=Adjacency.SUBSTITUTE,
                notion=self.guarantee_.notion,
            )
        return self._perturb(records, source)

    def randomise(self, x: Any) -> Floats:
        """Perturb one record.

        Parameters
        ----------
        x : array-like of shape (d,)
            The record.

        Returns
        -------
        z : ndarray of shape (d,)
            Its report.
        """
        report: Floats = self.transform(np.atleast_2d(x))[0]
        return report

    @property
    @abstractmethod
    def guarantee_(self) -> Guarantee:
        """What each report promises to the one it is about."""

    @abstractmethod
    def log_density(self, z: Any, x: Any) -> Floats:
        """Log-density of reports given a record."""

    @abstractmethod
    def variance(self, X: Any = None) -> float | Floats:
        """Variance of one column of a report: the worst over the box, or that of each entry."""

    @abstractmethod
    def lattice(self, columns: int) -> Lattice:
        """Give the public lattice that reports lie on."""

    @abstractmethod
    def _event(self) -> Event:
        """Say what one report costs the one it is about."""

    @abstractmethod
    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        """Draw the reports of checked records."""

    def _check(self, columns: int) -> None:
        self._check_epsilon()
        if not (self.ledger is None or isinstance(self.ledger, Ledger)):
            raise ParameterError(f"ledger must be a Ledger or None, got {self.ledger!r}")
        public_box(self.bounds, columns)
        self.lattice(columns)  # a box that no lattice fits is refused before anything is spent

    def _check_epsilon(self) -> None:
        _numbers.positive("epsilon", self.epsilon)

    def _in_chunks(self, records: Floats) -> Iterator[tuple[slice, Floats]]:
        """Cut records into blocks small enough for every intermediate to stay in cache."""
        rows = max(1, CHUNK_VALUES // records.shape[1])
        for start in range(0, len(records), rows):
            block = slice(start, start + rows)
            yield block, records[block]

    def __getstate__(self) -> dict[str, Any]:
        # The source holds a key: it stays in this process.
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("_source", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.non_deterministic = True
        return tags
