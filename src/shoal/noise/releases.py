"""The one function that turns exact statistics of the records into values that may be released.

Whoever releases a statistic names its noise and its budget: ``privatize(exact, noise, cost=budget,
source=source)``. Nothing else turns exact values into noisy ones in the central model, so an audit
that observes these calls (``observed``) sees every release: the exact value, the noise, and
what was released. :mod:`shoal.audit.replay` is that audit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from shoal.exceptions import ParameterError
from shoal.noise.source import RandomSource

__all__ = [
    "ApproximateNoise",
    "Noise",
    "Observer",
    "PrivacyMeasure",
    "current_part",
    "disjoint_part",
    "observed",
    "privatize",
]

#: The measure in which a budget is counted: epsilon of pure DP, or the square of mu of Gaussian DP.
PrivacyMeasure = Literal["epsilon", "mu^2"]

Exact = TypeVar("Exact")
Released = TypeVar("Released")
Exact_contra = TypeVar("Exact_contra", contravariant=True)
Released_co = TypeVar("Released_co", covariant=True)


class Noise(Protocol[Exact_contra, Released_co]):
    """A noise distribution, and the privacy loss between two exact values under it.

    Two are equal (``==``) if they are of the same kind and have the same scales.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import LaplaceNoise, Noise
    >>> noise: Noise = LaplaceNoise(scale=2.0)
    >>> noise.privacy_loss(np.array([7]), np.array([8]))
    0.5
    """

    @property
    def privacy_measure(self) -> PrivacyMeasure:
        """Return the measure of :meth:`privacy_loss`: epsilon, or mu^2 of GDP."""

    def sample(self, exact: Exact_contra, source: RandomSource) -> Released_co:
        """Draw noisy values for exact ones."""

    def privacy_loss(self, exact: Exact_contra, other: Exact_contra) -> float:
        """Return the largest privacy loss between two exact values; infinite if unbounded."""


@runtime_checkable
class ApproximateNoise(Noise[Exact_contra, Released_co], Protocol[Exact_contra, Released_co]):
    """Noise whose privacy loss is bounded except with probability delta.

    Its ``privacy_loss`` is infinite if that probability would exceed :attr:`delta`.

    Examples
    --------
    >>> from shoal.noise import ApproximateNoise, LaplaceNoise, ThresholdedNoise
    >>> noise: ApproximateNoise = ThresholdedNoise(LaplaceNoise(1.0), threshold=16, delta=1e-6)
    >>> noise.delta
    1e-06
    """

    @property
    def delta(self) -> float:
        """Return the largest probability that the privacy loss exceeds its bound."""


class Observer(Protocol):
    """Interface of an audit that observes every release of :func:`privatize`.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import LaplaceNoise, SeededSource, observed, privatize
    >>> class Costs(list):
    ...     def release(self, exact, noise, cost, released):
    ...         self.append(cost)
    ...         return released
    >>> costs = Costs()
    >>> with observed(costs):
    ...     noisy = privatize(np.array([7]), LaplaceNoise(2.0), cost=0.5, source=SeededSource(1))
    >>> costs
    [0.5]
    """

    def release(self, exact: Any, noise: Noise[Any, Any], cost: float, released: Any) -> Any:
        """Record a release, and return the value to release."""


_OBSERVER: ContextVar[Observer | None] = ContextVar("observer", default=None)


def privatize(
    exact: Exact, noise: Noise[Exact, Released], *, cost: float, source: RandomSource
) -> Released:
    """Add noise to exact statistics; every release of the central model goes through this function.

    Parameters
    ----------
    exact : object
        Exact values, in the form that the noise accepts.
    noise : Noise
        Distribution of the noise.
    cost : float
        Privacy loss of one person's records that the caller intends, in the privacy measure of the
        noise. Audits compare it with what they measure; it is not charged to any ledger.
    source : RandomSource
        Source of the random numbers.

    Returns
    -------
    released : object
        The noisy values, which may be released.

    Raises
    ------
    ParameterError
        If an audit observes the release (``observed``) and the noise is not seeded.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import LaplaceNoise, SeededSource, privatize
    >>> counts = np.array([310, 25, 298])
    >>> privatize(counts, LaplaceNoise(scale=2.0), cost=0.5, source=SeededSource(1)).shape
    (3,)
    """
    observer = _OBSERVER.get()
    if observer is not None and not source.seeded:
        raise ParameterError(
            "random_state must be a seed while an observer sees exact values, got none: what is "
            "released then would be called private"
        )
    released = noise.sample(exact, source)
    if observer is None:
        return released
    replaced: Released = observer.release(exact, noise, cost, released)
    return replaced


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Let an observer see every release of this thread within a ``with`` block.

    An observer sees exact values and may replace what is released: it is meant for audits with
    synthetic records. Noise must then come from a seed, so that no guarantee holds.

    Parameters
    ----------
    observer : Observer
        The observer.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import LaplaceNoise, SeededSource, privatize, observed
    >>> class Blunt:
    ...     def release(self, exact, noise, cost, released):
    ...         return exact
    >>> with observed(Blunt()):
    ...     privatize(np.array([7]), LaplaceNoise(1.0), cost=1.0, source=SeededSource(1)).tolist()
    [7]
    """
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


_PART: ContextVar[str] = ContextVar("part", default="")


@contextmanager
def disjoint_part(part: str) -> Iterator[None]:
    """Declare that the releases in a ``with`` block are about one of several disjoint parts.

    Each record is in only one part of the table, so all parts together cost as much as the most
    expensive one (parallel composition, McSherry 2009). An audit adds up costs accordingly, and
    checks the declaration against the releases.

    Parameters
    ----------
    part : str
        Name of the part, not empty.

    Examples
    --------
    >>> from shoal.noise import current_part, disjoint_part
    >>> with disjoint_part("stratum 1"):
    ...     current_part()
    'stratum 1'
    """
    token = _PART.set(part)
    try:
        yield
    finally:
        _PART.reset(token)


def current_part() -> str:
    """Return the part of the table that releases are currently about; empty for the whole table.

    Returns
    -------
    part : str
        Name given to :func:`disjoint_part`.

    Examples
    --------
    >>> from shoal.noise import current_part
    >>> current_part()
    ''
    """
    return _PART.get()
