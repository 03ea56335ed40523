"""The search for the event that separates two records best.

Every score is cut at many thresholds, from both sides, in both directions; what counts is the lower
bound that the cut would give. The search sees one half of the outputs only, and returns one event.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from shoal._statistics import clopper_pearson
from shoal._typing import Floats, Ints
from shoal.audit.bounds._scores import Score

EVEN_RANKS = 65  # Thresholds spread over the whole range ...
TAIL_RANKS = 48  # ... and more and more densely toward each end.
SHORTLIST = 32  # Cuts of a score that get exact limits.


@dataclass(frozen=True)
class Event:
    """A set of outputs, and the record under which it is expected to be likelier.

    Parameters
    ----------
    score : Score
        What is compared.
    column : int
        Which of the score's numbers.
    relation : str
        One of ``>=``, ``<``, ``>``, ``<=``.
    threshold : float
        What it is compared with.
    toward_first : bool
        Whether the event was likelier under the first record.
    bound : float
        The lower bound that the search outputs gave, which is too high: it was the best of many.
    """

    score: Score
    column: int
    relation: str
    threshold: float
    toward_first: bool
    bound: float

    def values(self, outputs: Floats) -> Floats:
        """Score outputs (n, d): one number each, to be compared with the threshold."""
        return self.score(outputs)[:, self.column]

    def hits(self, outputs: Floats) -> int:
        """Count the outputs (n, d) in the event."""
        return self.count(self.values(outputs))

    def count(self, values: Floats) -> int:
        """Count the values that :meth:`values` gave in the event."""
        counts = _count(np.sort(values), np.array([self.threshold]))
        return int(counts[RELATIONS.index(self.relation)][0])

    def __str__(self) -> str:
        record = "first" if self.toward_first else "second"
        name = self.score.names[self.column]
        # Adding 0.0 turns -0.0 into 0.0.
        cut = f"{name} {self.relation} {self.threshold + 0.0:.6g}"
        return f"{cut}, more likely under the {record} record"


RELATIONS = (">=", "<", ">", "<=")


def best_event(
    scores: list[Score], first: Floats, second: Floats, *, delta: float, error: float
) -> Event:
    """Choose the event with the largest lower bound."""
    events = []
    for score in scores:
        start = len(first) // 2 if score.learned else 0
        of_first, of_second = score(first[start:]), score(second[start:])
        for column in range(len(score.names)):
            event = _best_cut(
                score, column, of_first[:, column], of_second[:, column], delta=delta, error=error
            )
            events.append(event)
    return max(events, key=lambda event: event.bound)


def _best_cut(
    score: Score,
    column: int,
    of_first: Floats,
    of_second: Floats,
    *,
    delta: float,
    error: float,
) -> Event:
    of_first, of_second = np.sort(of_first), np.sort(of_second)
    ranks = _ranks(len(of_first))
    thresholds = np.unique(np.concatenate([of_first[ranks], of_second[ranks]]))
    hits_first, hits_second = _count(of_first, thresholds), _count(of_second, thresholds)
    # Only the record with more hits can give a bound above 0, so one direction a cut is enough.
    likely, unlikely = np.maximum(hits_first, hits_second), np.minimum(hits_first, hits_second)
    trials = len(of_first)
    # Exact limits take most of the search's time: only the cuts that look best are worth them.
    about = _about(likely.ravel(), unlikely.ravel(), trials, delta=delta, error=error)
    best = np.argsort(-about, kind="stable")[:SHORTLIST]
    bounds = log_ratio_bound(
        likely.ravel()[best], unlikely.ravel()[best], trials, delta=delta, error=error
    )
    chosen = int(np.argmax(bounds))
    relation, cut = np.unravel_index(best[chosen], likely.shape)
    return Event(
        score=score,
        column=column,
        relation=RELATIONS[relation],
        threshold=float(thresholds[cut]),
        toward_first=bool(hits_first[relation, cut] >= hits_second[relation, cut]),
        bound=float(bounds[chosen]),
    )


def log_ratio_bound(
    likely: npt.ArrayLike, unlikely: npt.ArrayLike, trials: int, *, delta: float, error: float
) -> Floats:
    """Bound ln((p - delta) / q) from below, from hits under two distributions.

    The bound is wrong with probability at most `error`; ``-inf`` where p may be as small as delta.


    >>> float(log_ratio_bound(750, 250, 1000, delta=0.0, error=0.05).round(3))
    0.954
    """
    low = clopper_pearson(likely, trials, error=error / 2).low - delta
    high = clopper_pearson(unlikely, trials, error=error / 2).high
    with np.errstate(divide="ignore"):
        return np.where(low > 0, np.log(np.maximum(low, 0.0)) - np.log(high), -np.inf)


def _about(likely: Ints, unlikely: Ints, trials: int, *, delta: float, error: float) -> Floats:
    """Approximate log_ratio_bound, many times faster (Wilson, JASA 22, 1927)."""
    deviations = float(ndtri(1.0 - error / 2))
    square = deviations**2

    def limit(hits: Ints, sign: int) -> Floats:
        spread = np.sqrt(hits * (trials - hits) / trials + square / 4)
        limits: Floats = (hits + square / 2 + sign * deviations * spread) / (trials + square)
        return limits

    low = limit(likely, -1) - delta
    with np.errstate(divide="ignore"):
        return np.where(low > 0, np.log(np.maximum(low, 0.0)) - np.log(limit(unlikely, 1)), -np.inf)


def _count(values: Floats, thresholds: Floats) -> Ints:
    """Count sorted values on each side of each threshold, in the order of RELATIONS."""
    below = np.searchsorted(values, thresholds, side="left")
    up_to = np.searchsorted(values, thresholds, side="right")
    return np.stack([values.size - below, below, values.size - up_to, up_to])


def _ranks(size: int) -> npt.NDArray[np.int64]:
    tail = np.geomspace(1, size, TAIL_RANKS) - 1
    ranks = np.concatenate([np.linspace(0, size - 1, EVEN_RANKS), tail, size - 1 - tail])
    return np.unique(np.clip(ranks.round(), 0, size - 1).astype(np.int64))
