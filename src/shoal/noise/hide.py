"""The one door through which exact values of the records become values that may be shown.

Whoever releases a statistic names its law and what it is meant to cost: ``hide(exact, law,
cost=share, source=source)``. Nothing else turns exact values into noisy ones in the central model,
so an audit that stands at this door (:func:`witnessed`) sees every release: what was hidden, under
which law, and what was shown. :mod:`shoal.audit.replay` is that audit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol, TypeVar

from shoal.exceptions import ParameterError
from shoal.noise.source import RandomSource

__all__ = ["Currency", "Law", "Witness", "hide", "witnessed"]

Currency = Literal["epsilon", "rho"]

Exact = TypeVar("Exact")
Shown = TypeVar("Shown")
Exact_contra = TypeVar("Exact_contra", contravariant=True)
Shown_co = TypeVar("Shown_co", covariant=True)


class Law(Protocol[Exact_contra, Shown_co]):
    """How exact values become shown ones, and how well two tables can be told apart by them.

    Laws are compared with ``==``: the same law has the same kind and the same scales.
    """

    @property
    def currency(self) -> Currency:
        """Whether :meth:`loss` is an epsilon, or rho of zero-concentrated privacy."""

    def show(self, exact: Exact_contra, source: RandomSource) -> Shown_co:
        """Draw what is shown of exact values."""

    def loss(self, exact: Exact_contra, other: Exact_contra) -> float:
        """Most that one shown value can tell between these two; infinite where all of it."""


class Witness(Protocol):
    """Who stands at the door during an audit."""

    def release(self, exact: Any, law: Law[Any, Any], cost: float, shown: Any) -> Any:
        """Take note of a release, and return what is to be shown."""


_WITNESS: ContextVar[Witness | None] = ContextVar("witness", default=None)


def hide(exact: Exact, law: Law[Exact, Shown], *, cost: float, source: RandomSource) -> Shown:
    """Show exact values under a law that hides one person's part in them.

    Parameters
    ----------
    exact : object
        Exact values, as the law takes them.
    law : Law
        How they are hidden.
    cost : float
        What one person's records are meant to cost here, in the law's currency. It is a
        declaration: audits hold it against what they see, and nothing is spent by it.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    shown : object
        What may be released.

    Raises
    ------
    ParameterError
        If somebody looks on (:func:`witnessed`) although the noise is meant to hide something.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import LaplaceLaw, SeededSource, hide
    >>> counts = np.array([310, 25, 298])
    >>> hide(counts, LaplaceLaw(scale=2.0), cost=0.5, source=SeededSource(1)).shape
    (3,)
    """
    witness = _WITNESS.get()
    if witness is not None and not source.seeded:
        raise ParameterError(
            "random_state must be a seed while a witness sees exact values, got none: what is "
            "shown then would be called private"
        )
    shown = law.show(exact, source)
    if witness is None:
        return shown
    replaced: Shown = witness.release(exact, law, cost, shown)
    return replaced


@contextmanager
def witnessed(witness: Witness) -> Iterator[None]:
    """Let a witness see every release that this thread makes inside the block.

    A witness sees exact values of the records and may replace what is shown: audits of made-up
    records are what it is for. Noise must then come from a seed, so that no guarantee holds.

    Parameters
    ----------
    witness : Witness
        Who takes note.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.noise import LaplaceLaw, SeededSource, hide, witnessed
    >>> class Blunt:
    ...     def release(self, exact, law, cost, shown):
    ...         return exact
    >>> with witnessed(Blunt()):
    ...     hide(np.array([7]), LaplaceLaw(1.0), cost=1.0, source=SeededSource(1)).tolist()
    [7]
    """
    token = _WITNESS.set(witness)
    try:
        yield
    finally:
        _WITNESS.reset(token)
