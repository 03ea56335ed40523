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

    It is computed from raw records whose membership is known, so it is for the curator: no
    guarantee covers it.

    Parameters
    ----------
    attack : str
        The attack in a short phrase.
    members, others : array-like of shape (n,)
        Scores of records that were in, and of records that were not, all runs together; larger
        means more like a member. Infinite scores are allowed.
    threshold : float
        The attacker says "member" for scores from here on; fixed without looking at who is one.
    advantages : tuple of float
        True-positive rate minus false-positive rate of each run.

    See Also
    --------
    shoal.metrics.roc : The curve over all thresholds.

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
        """Put the scores of several runs together.

        Parameters
        ----------
        attack : str
            The attack in a short phrase.
        runs : iterable of tuple (members, others)
            Scores of each run; at least one run.
        threshold : float
            As in the class, the same in all runs.

        Returns
        -------
        result : AttackResult
            With the advantage of each run.
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
        """Share of the members that the attacker calls members."""
        return float((self.members >= self.threshold).mean())

    @property
    def fpr(self) -> float:
        """Share of the others that the attacker calls members."""
        return float((self.others >= self.threshold).mean())

    @property
    def advantage(self) -> float:
        """``tpr - fpr`` of all runs together: 0 for guessing, 1 for knowing."""
        return self.tpr - self.fpr

    @property
    def precision(self) -> float:
        """Share of members among the records called members; nan if the attacker names none."""
        right = int((self.members >= self.threshold).sum())
        named = right + int((self.others >= self.threshold).sum())
        return right / named if named else float("nan")

    @property
    def right(self) -> float:
        """Share of right guesses when half of the records asked about are members."""
        return (1.0 + self.advantage) / 2.0

    @property
    def roc(self) -> Roc:
        """Rates at every threshold, the best of which an attacker does not know."""
        return roc(self.members, self.others)

    def tpr_at(self, fpr: float) -> float:
        """Find the largest true-positive rate at no more than some false-positive rate.

        Parameters
        ----------
        fpr : float
            Largest share of others that may be called members, from 0 to 1.

        Returns
        -------
        tpr : float
            With the best threshold in hindsight.
        """
        return self.roc.tpr_at(fpr)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return limits of the mean advantage over splits, noise and models.

        Student's interval over the runs; with a single run, exact limits of its two rates (Clopper
        and Pearson), which are wider. Runs share one table, so nothing is said about other tables.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability with which both limits are meant to hold.

        Returns
        -------
        limits : tuple (low, high)
            Within -1 and 1.
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
    """Return the largest TPR - FPR that a promise allows an attacker.

    For a central promise the attacker tells two tables apart that are neighbors as the promise has
    it: with and without a record under add/remove. For a local or metric promise the attacker tells
    two values of one record apart from its report. With (epsilon, delta) the ceiling is
    (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) (Kairouz, Oh & Viswanath 2015); a known zCDP
    parameter may lower it (Pinsker; Bretagnolle & Huber), and so may a mu, 2 Phi(mu/2) - 1.

    Parameters
    ----------
    guarantee : Guarantee
        The promise. That its noise was seeded changes nothing: an attacker is assumed not to know
        the seed.
    diameter : float, optional
        Largest distance of two records, for a metric promise.

    Returns
    -------
    ceiling : float or None
        From 0 to 1; None where nothing is promised, or a metric promise comes without a diameter.

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
    if promise.rho is not None:
        pinsker = math.sqrt(promise.rho / 2)
        ceiling = min(ceiling, pinsker, math.sqrt(-math.expm1(-promise.rho)))
    if promise.mu is not None:  # two normal distributions, told apart in the middle
        ceiling = min(ceiling, gdp_to_delta(promise.mu, 0.0))
    return min(1.0, ceiling)
