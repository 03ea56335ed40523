"""The result of a membership attack, and the largest advantage that a promise allows.

An attacker who must distinguish two neighboring tables (or two values of one record) by a release
has TPR - FPR at most the total variation distance of the two distributions, and a promise bounds
that.
"""

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from shoal import _numbers
from shoal._statistics import clopper_pearson, mean_interval
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.metrics import Roc, adversary_advantage, roc
from shoal.privacy import Guarantee, gdp_to_delta

__all__ = ["AttackResult", "advantage_ceiling"]


@dataclass(frozen=True, eq=False)
class AttackResult:
    """Scores and guesses of a membership attack; prints as one sentence.

    The result is computed from raw records and has no privacy guarantee: it is for the curator.

    Parameters
    ----------
    attack : str
        The attack in a short phrase.

    members, others : array-like of shape (n,)
        Scores of records that were in the data (members) and of records that were not, from all
        runs; the larger, the more like a member. Infinite scores are allowed.
    threshold : float
        Lowest score for which the attacker says "member"; chosen without knowing who is one.
    advantages : tuple of float
        True-positive rate minus false-positive rate of each run.

    See Also
    --------
    shoal.metrics.roc : True- and false-positive rates at all thresholds.

    Examples
    --------
    >>> scores = [([0.9, 0.4], [0.1, 0.2]), ([0.8, 0.7], [0.6, 0.3])]
    >>> result = AttackResult.from_runs("loss", scores, threshold=0.5)
    >>> result.tpr, result.fpr, result.advantages
    (0.75, 0.25, (0.5, 0.5))
    >>> print(result)
    loss: right about membership in 75 of 100 guesses; without the release, 50 (advantage 0.50)
    """

    attack: str
    members: Floats
    others: Floats
    threshold: float
    advantages: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the fields, and copy the arrays."""
        _numbers.text("attack", self.attack)
        object.__setattr__(self, "members", _scores("members", self.members))
        object.__setattr__(self, "others", _scores("others", self.others))
        if not isinstance(self.threshold, numbers.Real) or np.isnan(self.threshold):
            raise ParameterError(f"threshold must be a number, got {self.threshold!r}")
        advantages = tuple(float(advantage) for advantage in self.advantages)
        if not advantages or not all(-1 <= advantage <= 1 for advantage in advantages):
            raise ParameterError(
                f"advantages must be numbers from -1 to 1, one for each run, got {self.advantages}"
            )
        object.__setattr__(self, "advantages", advantages)

    @classmethod
    def from_runs(cls, attack: str, runs: Iterable[tuple[Any, Any]], *, threshold: float) -> Self:
        """Combine the scores of several runs into one result.

        Parameters
        ----------
        attack : str
            The attack in a short phrase.
        runs : iterable of tuple (members, others)
            Scores of members and others in each run; at least one run.
        threshold : float
            Lowest score for which the attacker says "member", the same in all runs.

        Returns
        -------
        result : AttackResult
            The combined result, with the advantage of each run.
        """
        scores = [(_scores("members", m), _scores("others", o)) for m, o in runs]
        if not scores:
            raise ParameterError("runs must hold at least one run, got none")
        advantages = (adversary_advantage(m >= threshold, o >= threshold) for m, o in scores)
        members, others = (np.concatenate(side) for side in zip(*scores, strict=True))
        return cls(attack, members, others, threshold, tuple(advantages))

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.advantages)

    @property
    def tpr(self) -> float:
        """True-positive rate: share of the members that the attacker calls members."""
        return float((self.members >= self.threshold).mean())

    @property
    def fpr(self) -> float:
        """False-positive rate: share of the others that the attacker calls members."""
        return float((self.others >= self.threshold).mean())

    @property
    def advantage(self) -> float:
        """``tpr - fpr`` over all runs: 0 for random guesses, 1 if all guesses are right."""
        return self.tpr - self.fpr

    @property
    def precision(self) -> float:
        """Share of members among the records called members; nan if there are none."""
        right = int((self.members >= self.threshold).sum())
        named = right + int((self.others >= self.threshold).sum())
        return right / named if named else float("nan")

    @property
    def right(self) -> float:
        """Share of right guesses if half of the records guessed about are members."""
        return (1.0 + self.advantage) / 2.0

    @property
    def roc(self) -> Roc:
        """Rates at every threshold; an attacker does not know which threshold is best."""
        return roc(self.members, self.others)

    def tpr_at(self, fpr: float) -> float:
        """Return the largest true-positive rate at a false-positive rate of at most ``fpr``.

        Parameters
        ----------
        fpr : float
            Largest share of the others that may be called members, from 0 to 1.

        Returns
        -------
        tpr : float
            The rate at the threshold that is best in hindsight.
        """
        return self.roc.tpr_at(fpr)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval of the mean advantage over splits, noise and models.

        It is Student's t interval over the runs; for a single run, the wider one from exact limits
        of its two rates (Clopper-Pearson). All runs use one table, so it says nothing about others.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the interval holds the mean.

        Returns
        -------
        limits : tuple (low, high)
            Ends of the interval, from -1 to 1.
        """
        error = 1.0 - _numbers.positive_probability("confidence", confidence)
        if self.runs == 1:
            true = self._limits(self.members, error / 4)
            false = self._limits(self.others, error / 4)
            return true[0] - false[1], true[1] - false[0]
        low, high = mean_interval(self.advantages, error=error)
        return max(-1.0, low), min(1.0, high)

    def _limits(self, scores: Floats, error: float) -> tuple[float, float]:
        hits = int((scores >= self.threshold).sum())
        limits = clopper_pearson(hits, len(scores), error=error)
        return float(limits.low), float(limits.high)

    def __str__(self) -> str:
        # Rounded first: a little less than nothing prints as 0.00, not as -0.00.
        advantage = round(self.advantage, 2) + 0.0
        return (
            f"{self.attack}: right about membership in {100 * self.right:.0f} of 100 guesses; "
            f"without the release, 50 (advantage {advantage:.2f})"
        )


def _scores(name: str, values: Any) -> Floats:
    try:
        scores = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be a list of scores, got {type(values).__name__}"
        ) from None
    if scores.ndim != 1 or scores.size == 0 or np.isnan(scores).any():
        raise ParameterError(
            f"{name} must be a list of at least one score without nan, got shape {scores.shape}"
        )
    return scores


def advantage_ceiling(guarantee: Guarantee, *, diameter: float | None = None) -> float | None:
    """Return the largest advantage (TPR - FPR) that a guarantee allows any attacker.

    Under a central guarantee the attacker tells two neighboring tables apart: those with and
    without a record, for add/remove. Under a local or metric guarantee the attacker tells two
    values of one record apart by its report. For (epsilon, delta) the ceiling is
    (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) (Kairouz, Oh & Viswanath 2015). A known zCDP
    parameter may lower it (Pinsker; Bretagnolle & Huber), and so may a known mu, to
    2 Phi(mu/2) - 1.

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee. If its noise was seeded, the attacker is assumed not to know the seed.
    diameter : float, optional
        Largest distance between two records, for a metric guarantee.

    Returns
    -------
    ceiling : float or None
        The ceiling, from 0 to 1; None if there is no guarantee, or a metric one comes without a
        diameter.

    Examples
    --------
    >>> from shoal.privacy import Guarantee
    >>> round(advantage_ceiling(Guarantee("central", epsilon=1.0)), 3)
    0.462
    >>> round(advantage_ceiling(Guarantee("metric", epsilon=0.5), diameter=2.0), 3)
    0.462
    """
    promise = guarantee
    if not isinstance(promise, Guarantee):
        raise ParameterError(f"guarantee must be a Guarantee, got {type(promise).__name__}")
    if promise.notion == "none":
        return None
    if promise.notion == "metric":
        if diameter is None:
            return None
        promise = promise.to_local(diameter)
    # Both written so that a large epsilon does not overflow.
    odds = math.exp(-promise.epsilon)
    ceiling = math.tanh(promise.epsilon / 2) + 2 * promise.delta * odds / (1 + odds)
    if promise.mu is not None:  # two normal distributions, told apart in the middle
        ceiling = min(ceiling, gdp_to_delta(promise.mu, 0.0))
    return min(1.0, ceiling)
