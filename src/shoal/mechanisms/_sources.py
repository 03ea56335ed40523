"""Where a mechanism's reports come from, and what those that are out promise."""

import numbers
import threading
from dataclasses import replace
from typing import Any

from shoal._typing import RandomState
from shoal.noise import RandomSource, as_source
from shoal.privacy import Guarantee

__all__ = ["SourceInUse", "fewest", "same_state", "weakest"]


class SourceInUse:
    """Where a mechanism's reports come from, whether from a seed, and what they promise."""

    def __init__(
        self,
        *,
        drew_seeded: bool = False,
        drawn: Guarantee | None = None,
        colors: int | None = None,
    ) -> None:
        self.drew_seeded = drew_seeded
        self.drawn = drawn
        self.colors = colors
        self._kept: tuple[Any, RandomSource] | None = None
        self._lock = threading.Lock()

    def note(self, source: RandomSource, promise: Guarantee, colors: int | None) -> None:
        """Note that reports are drawn; what another thread noted is never taken back."""
        with self._lock:
            self.colors = fewest(self.colors, colors)
            self.drew_seeded = self.drew_seeded or source.seeded
            self.drawn = promise if self.drawn is None else weakest(self.drawn, promise)

    def keep(self, random_state: RandomState) -> RandomSource:
        """Make a source whose stream goes on from one transform to the next."""
        source = as_source(random_state)
        self._kept = random_state, source
        return source

    def current(self, random_state: RandomState) -> RandomSource:
        """Return the source of this ``random_state``: the one kept, unless that was changed."""
        kept = self._kept  # once: another thread may change it
        if kept is None:
            return as_source(random_state)
        return kept[1] if same_state(kept[0], random_state) else self.keep(random_state)


def weakest(one: Guarantee, two: Guarantee) -> Guarantee:
    """Return what holds for reports with one promise and reports with the other."""
    if "none" in (one.notion, two.notion):
        return one if one.notion == "none" else two
    if one.unit != two.unit:
        return Guarantee.none(
            f"reports were drawn with an epsilon per {one.unit or 'unit'} and per "
            f"{two.unit or 'unit'}"
        )
    weaker = one if one.epsilon > two.epsilon else two
    uncounted = one.uncounted or two.uncounted
    return replace(weaker, slack=max(one.slack, two.slack), uncounted=uncounted)


def fewest(one: int | None, two: int | None) -> int | None:
    """Return the smaller of two numbers of colors, of which either may not be known."""
    return min((colors for colors in (one, two) if colors is not None), default=None)


def same_state(one: Any, two: Any) -> bool:
    """Return whether two random states are the same seed or the same object."""
    whole = isinstance(one, numbers.Integral) and isinstance(two, numbers.Integral)
    return one is two or (whole and int(one) == int(two))
