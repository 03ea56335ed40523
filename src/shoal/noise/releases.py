"""The one function that turns exact statistics of the records into values that may be released.

Whoever releases a statistic names its noise and its budget: ``privatize(exact, noise, cost=budget,
source=source)``. Nothing else turns exact values into noisy ones in the central model, so an audit
that observes these calls (:func:`observed`) sees every release: the exact value, the noise, and
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

#: In what a budget is counted: epsilon of pure DP, rho of zCDP, or the square of mu of Gaussian
#: DP.
PrivacyMeasure = Literal["epsilon", "rho", "mu^2"]

Exact = TypeVar("Exact")
Released = TypeVar("Released")
Exact_contra = TypeVar("Exact_contra", contravariant=True)
Released_co = TypeVar("Released_co", covariant=True)


class Noise(Protocol[Exact_contra, Released_co]):
    """A distribution of noise, and how well two tables can be told apart by its output.

    Compared with ``==``: the same kind and the same scales.

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
        """Return the unit of :meth:`privacy_loss`: epsilon, rho of zCDP, or mu^2 of GDP."""

    def sample(self, exact: Exact_contra, source: RandomSource) -> Released_co:
        """Draw the noisy values of exact ones."""

    def privacy_loss(self, exact: Exact_contra, other: Exact_contra) -> float:
        """Return the largest privacy loss between these two; infinite if it has no bound."""


@runtime_checkable
class ApproximateNoise(Noise[Exact_contra, Released_co], Protocol[Exact_contra, Released_co]):
    """Noise whose privacy loss has its bound except with a probability.

    Its ``privacy_loss`` is infinite where that probability would be above :attr:`delta`.

    Examples
    --------
    >>> from shoal.noise import ApproximateNoise, LaplaceNoise, ThresholdedNoise
    >>> noise: ApproximateNoise = ThresholdedNoise(LaplaceNoise(1.0), threshold=16, delta=1e-6)
    >>> noise.delta
    1e-06
    """

    @property
    def delta(self) -> float:
        """Return the largest probability with which the loss may have no bound."""


class Observer(Protocol):
    """What an audit puts beside :func:`privatize`.

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
    """Return noisy values of exact ones.

    Parameters
    ----------
    exact : object
        Exact values, as the noise takes them.
    noise : Noise
        Distribution of the noise.
    cost : float
        What one person's records are meant to cost here, in the noise's privacy measure. It is a
        declaration: audits hold it against what they see, and nothing is spent by it.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    released : object
        What may be released.

    Raises
    ------
    ParameterError
        If an audit observes the release (:func:`observed`) and the noise is not seeded.

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
    """Let an observer see every release that this thread makes inside the block.

    An observer sees exact values of the records and may replace what is released: audits of made-up
    records are what it is for. Noise must then come from a seed, so that no guarantee holds.

    Parameters
    ----------
    observer : Observer
        Who takes note.

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
    """Say that what is released inside the block is of one of several disjoint parts of a table.

    One record is in one of them, so that together they cost what the dearest one does (parallel
    composition, McSherry 2009). It is a declaration: an audit adds up costs by it, and holds it
    against what it sees of one record in the parts.

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
    """Return the part of the table that releases are of now; empty for all of it.

    Returns
    -------
    part : str
        As named by :func:`disjoint_part`.

    Examples
    --------
    >>> from shoal.noise import current_part
    >>> current_part()
    ''
    """
    return _PART.get()
