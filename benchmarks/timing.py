"""Time two things in one run, turn about, so that a busy machine slows both."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(sys.prefix) / "peers" / "bin" / "python"  # which has diffprivlib


@dataclass(frozen=True)
class Ratio:
    """How fast ours is beside theirs: 1 is the same, 2 is twice as fast."""

    name: str
    ours: float
    theirs: float
    target: float | None = None

    @property
    def value(self) -> float:
        """Their time over ours."""
        return self.theirs / self.ours

    def __str__(self) -> str:
        verdict = ""
        if self.target is not None:
            verdict = f"target {self.target:<5g} {'met' if self.value >= self.target else 'MISSED'}"
        return f"{self.name:<48}{self.ours:>9.1f}{self.theirs:>9.1f}{self.value:>8.2f}  {verdict}"


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    count: int,
    target: float | None = None,
    turns: int = 7,
    summary: Callable[[list[float]], float] = min,
) -> Ratio:
    """Best of several turns each, or another summary of them, in nanoseconds per item."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(turns):
        for times, run in zip(seconds, (ours, theirs), strict=True):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    mine, other = (summary(times) / count * 1e9 for times in seconds)
    return Ratio(name, mine, other, target)
