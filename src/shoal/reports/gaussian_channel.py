"""Reports whose noise is Gaussian, made by somebody else: what is known about them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._typing import Bounds, Floats
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee

__all__ = ["GaussianChannel"]


UNKNOWN = "the reports were made elsewhere, and what they promise was not declared"


@dataclass(frozen=True)
class GaussianChannel:
    """Description of reports with Gaussian noise of known size, to find clusters from them.

    Use it as ``mechanism`` for reports that were made elsewhere. It makes no reports: it has no
    ``transform``.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, the same in every column.
    bounds : tuple (low, high)
        Public box of the records.
    guarantee : Guarantee, default=None
        Guarantee of the reports, if it is known.

    Examples
    --------
    >>> channel = GaussianChannel(0.5, bounds=(-1.0, 1.0))
    >>> float(channel.variance([[0.0, 0.0]])[0, 1])
    0.25
    """

    sigma: float
    bounds: Bounds | None = None
    guarantee: Guarantee | None = None

    def __post_init__(self) -> None:
        """Refuse noise without a size, and promises that are none."""
        _numbers.positive("sigma", self.sigma)
        if not (self.guarantee is None or isinstance(self.guarantee, Guarantee)):
            raise ParameterError(
                f"guarantee must be a Guarantee or None, got {self.guarantee!r}",
                parameter="guarantee",
                code="type",
            )

    @property
    def guarantee_(self) -> Guarantee:
        """Guarantee of the reports, as declared."""
        return Guarantee.none(UNKNOWN) if self.guarantee is None else self.guarantee

    def log_density(self, z: Any, x: Any) -> Floats:
        """Return the log-density of reports given the record.

        Parameters
        ----------
        z : array-like of shape (n, d)
            Reports.
        x : array-like of shape (d,) or (n, d)
            One record for all reports, or one record for each of them.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithms.
        """
        gaps = np.atleast_2d(np.asarray(z, dtype=np.float64)) - np.asarray(x, dtype=np.float64)
        squares = np.einsum("ij,ij->i", gaps, gaps) / self.sigma**2
        densities: Floats = -0.5 * squares - gaps.shape[1] * math.log(
            self.sigma * math.sqrt(2.0 * math.pi)
        )
        return densities

    def variance(self, X: Any = None) -> float | Floats:
        """Return the variance of one column of a report.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Records; with them, one variance is returned for each entry.

        Returns
        -------
        variance : float, or ndarray of the shape of X
            The same in every column and for every record.
        """
        return self.sigma**2 if X is None else np.full(np.shape(X), self.sigma**2)
