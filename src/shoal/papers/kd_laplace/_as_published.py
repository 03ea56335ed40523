"""What the published methods share: they keep the raw table and read it for every report.

``fit`` takes the table of raw records that the method reads; ``transform`` perturbs records as
members of that table. That is not how a private mechanism is built, and it is the point: two tables
that differ in one record can be audited through the report of another.
"""

from abc import ABC, abstractmethod
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shoal import _numbers
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import DataError, ParameterError
from shoal.privacy import Guarantee

__all__ = ["AsPublished", "Floats", "Source", "check_source"]

Source = Literal["thesis", "code"]

LABEL = "as published, no guarantee"


class AsPublished(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """A published method: records in, reports out, nothing promised."""

    random_state: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the raw table that the method reads, and start the stream of noise.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Raw records.
        y : None
            Ignored.

        Returns
        -------
        self : AsPublished
            The method.
        """
        records = validate_records(X, estimator=self)
        self._check(records.shape[1])
        self._raw = records.copy()
        self._generator = _generator(self.random_state)
        return self

    def transform(self, X: Any) -> Floats:
        """Perturb each record once, as a member of the table given to ``fit``.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Raw records.

        Returns
        -------
        Z : ndarray of shape (m, d)
            What the method reports.
        """
        if not hasattr(self, "_raw"):
            raise DataError(
                f"{type(self).__name__} reads the raw table: call fit(X) first, in this process"
            )
        records = validate_records(X, estimator=self, reset=False)
        self._check(records.shape[1])
        return self._perturb(records, self._raw, self._generator)

    @property
    def guarantee_(self) -> Guarantee:
        """Nothing is promised; the reason names the flaw."""
        columns: int | None = getattr(self, "n_features_in_", None)
        return Guarantee.none(f"{LABEL}: {self._flaw(columns)}")

    @abstractmethod
    def _flaw(self, columns: int | None) -> str:
        """Say why nothing is promised; columns are not known before ``fit``."""

    @abstractmethod
    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        """Draw the reports of checked records."""

    def _check(self, columns: int) -> None:
        """Check the parameters for a table of so many columns."""
        if hasattr(self, "epsilon"):
            _numbers.positive("epsilon", self.epsilon)
        if hasattr(self, "source"):
            check_source(self.source)

    def __getstate__(self) -> dict[str, Any]:
        # Raw records and the generator stay in this process.
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("_raw", None)
        state.pop("_generator", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def check_source(source: Any) -> Source:
    """Return ``source`` if it names the thesis or its code.

    Parameters
    ----------
    source : object
        What the caller passed.

    Returns
    -------
    source : {"thesis", "code"}
        The same.
    """
    if source not in ("thesis", "code"):
        raise ParameterError(f"source must be 'thesis' or 'code', got {source!r}")
    return cast(Source, source)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state must be None, a whole number >= 0 or a generator, got {random_state!r}"
        ) from None
