"""What an estimator does, in order, as its own arguments see it: spends and random words.

Nothing is patched: the ledger and the source of random words are given to the estimator, as any
caller may give them.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.noise import SecureSource, SeededSource, privatize
from shoal.privacy import Ledger


@dataclass(frozen=True)
class Words:
    """Random words that were drawn at once, inside of the door or not, and which module drew."""

    count: int
    inside: bool
    module: str


@dataclass
class Order:
    """Spends (events) and words, in their order."""

    entries: list[Any] = field(default_factory=list)

    @property
    def words(self) -> list[Words]:
        """All draws of words."""
        return [one for one in self.entries if isinstance(one, Words)]

    @property
    def spends(self) -> list[Any]:
        """All events that were spent."""
        return [one for one in self.entries if not isinstance(one, Words)]

    def total(self, *, inside: bool) -> int:
        """Return how many words were drawn inside of the door, or outside of it."""
        return sum(one.count for one in self.words if one.inside == inside)


def _callers() -> Iterator[Any]:
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


class TapedSource:
    """A source of random words, by a seed or not, that writes down each draw."""

    def __init__(self, order: Order, seed: int | None = None) -> None:
        self.seeded = seed is not None
        self._source = SecureSource() if seed is None else SeededSource(seed)
        self._order = order

    def words(self, count: int) -> Any:
        """Draw words, and note who drew them."""
        # Whether the door is among the callers: a sampler that is called past it has no such frame.
        inside = any(frame.f_code is privatize.__code__ for frame in _callers())
        module = sys._getframe(1).f_globals["__name__"]
        self._order.entries.append(Words(count, inside, module))
        return self._source.words(count)

    def __deepcopy__(self, memo: Any) -> "TapedSource":
        # Copies of an estimator go on with the same stream.
        return self


class TapedLedger(Ledger):
    """A ledger that writes down each event that it accepted."""

    def __init__(self, order: Order, **limits: Any) -> None:
        super().__init__(**limits)
        self._order = order

    def spend(self, event: Any, **kwargs: Any) -> Any:
        """Spend, and note it."""
        entry = super().spend(event, **kwargs)
        self._order.entries.append(event)
        return entry


class MeddlingLedger(Ledger):
    """A ledger that changes parameters of an estimator as soon as it has charged it.

    It stands for a hook and for another thread: both may run between the charge and the draw.
    Which parameters, all or those named, is said when it is given its ``target``.
    """

    target: Any
    named: tuple[str, ...] = ()

    def spend(self, event: Any, **kwargs: Any) -> Any:
        """Spend, then change."""
        entry = super().spend(event, **kwargs)
        given = self.target.get_params(deep=False)
        self.target.set_params(**{one: _another(given[one]) for one in self.named or given})
        return entry


def _another(value: Any) -> Any:
    """Return what any reader would take for another value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 3
    if isinstance(value, float):
        return 20 * value if value else 7.0  # no delta: whoever reads it fails
    if isinstance(value, tuple | np.ndarray):
        return tuple(np.multiply(20.0, corner) for corner in value)
    return f"not {value}" if isinstance(value, str) else 3 if value is None else None
