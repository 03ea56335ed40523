"""The arithmetic of a ledger: prices, totals, and the rule that decides.

Three sums are kept exactly, as fractions: epsilon, zCDP rho and delta (:class:`Cost`). A spend may
be recorded while EITHER the epsilons or the rhos stay within the limit; ``proofs/ledger.md`` shows
that this is sound although each spend may be chosen after seeing the earlier releases.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from shoal.exceptions import BudgetExceededError, GuaranteeError
from shoal.privacy.accounting import Cost, cost, has_parallel, metric_cost
from shoal.privacy.adjacency import Adjacency
from shoal.privacy.conversions import epsilon_to_zcdp, zcdp_to_epsilon
from shoal.privacy.events import Event
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.limits import Limits

__all__ = ["Account", "Price"]

# Shares such as 0.1 and 0.7 are not exact in binary; a total may pass its limit by this fraction.
_SLACK = 1 + Fraction(1, 10**12)


@dataclass(frozen=True)
class Price:
    """What one entry adds to an account: a cost, or a metric epsilon per unit."""

    notion: Notion
    cost: Cost | None = None
    unit: str = ""
    metric_epsilon: float = 0.0


class Account:
    """Running totals of a ledger.

    Parameters
    ----------
    limits : Limits
        What the totals may reach.

    Examples
    --------
    >>> from shoal.privacy.events import PureEvent
    >>> account = Account(Limits(epsilon=1.0))
    >>> price = account.price(PureEvent(epsilon=0.3), Adjacency.ADD_REMOVE, "central")
    >>> account.check(price)
    >>> account.add(price)
    >>> account.spent.epsilon
    0.3
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._epsilon: Fraction | float = Fraction(0)
        self._rho: Fraction | float = Fraction(0)
        self._delta: Fraction | float = Fraction(0)
        self._shares: tuple[float, float] | None = None
        self._metric: dict[str, Fraction | float] = {}
        self._only_local = True

    def price(self, event: Event, adjacency: Adjacency, notion: Notion) -> Price:
        """Return what the event would add, or raise if this ledger cannot count it."""
        metric = metric_cost(event)
        if metric is not None:
            return Price("metric", unit=metric[0], metric_epsilon=metric[1])
        if notion == "metric":
            raise GuaranteeError("a metric spend needs a MetricEvent, with its unit")
        substitution = adjacency is Adjacency.SUBSTITUTE or notion == "local"
        if substitution and has_parallel(event):
            raise GuaranteeError(
                "parallel parts share one epsilon under add/remove only, because a substituted "
                "record can change two parts: state the event for Adjacency.ADD_REMOVE"
            )
        mine = self.limits.adjacency
        if notion == "central" and substitution and mine is Adjacency.ADD_REMOVE:
            raise GuaranteeError(
                "a promise for substitution does not cover adding a record: state the event for "
                "Adjacency.ADD_REMOVE, or keep a Ledger(adjacency=Adjacency.SUBSTITUTE)"
            )
        twice = notion == "central" and not substitution and mine is Adjacency.SUBSTITUTE
        return Price(notion, cost(event, records=2 if twice else 1))

    def check(self, price: Price) -> None:
        """Raise BudgetExceededError if the spend would pass a limit."""
        if price.cost is None:
            self._check_metric(price)
            return
        epsilon = self._epsilon + _exact(price.cost.epsilon)
        rho = self._rho + _exact(price.cost.rho)
        delta = self._delta + _exact(price.cost.delta)
        for_events, for_zcdp = self._shares or self._shares_after(price.cost)
        if delta > 0 and not _within(delta, for_events):
            raise BudgetExceededError(self._delta_refusal(price.cost, for_events))
        by_rho = for_zcdp > 0 and _within(rho, _rho_limit(self.limits.epsilon, for_zcdp))
        if not (by_rho or _within(epsilon, self.limits.epsilon)):
            raise BudgetExceededError(self._refusal(price.cost))

    def add(self, price: Price) -> None:
        """Record the price; the caller has checked it, now or when it was first written."""
        if price.cost is None:
            total = self._metric.get(price.unit, Fraction(0))
            self._metric[price.unit] = total + _exact(price.metric_epsilon)
            return
        # Chosen before anything was released, so the first spend may settle the shares for good.
        self._shares = self._shares or self._shares_after(price.cost)
        self._epsilon += _exact(price.cost.epsilon)
        self._rho += _exact(price.cost.rho)
        self._delta += _exact(price.cost.delta)
        self._only_local = self._only_local and price.notion == "local"

    @property
    def spent(self) -> Guarantee:
        """What the recorded spends add up to."""
        epsilon, rho, delta = float(self._epsilon), float(self._rho), float(self._delta)
        candidates = [(epsilon, delta)] if math.isfinite(epsilon) else []
        for_zcdp = self._shares[1] if self._shares else 0.0
        if for_zcdp > 0 and math.isfinite(rho):
            candidates.append((zcdp_to_epsilon(rho, for_zcdp), delta + for_zcdp))
        if not candidates:
            return Guarantee.none("the recorded spends cannot be expressed within these limits")
        best = min(candidates)
        return Guarantee(
            "local" if self._only_local and self._shares else "central",
            epsilon=best[0],
            delta=best[1],
            adjacency=self.limits.adjacency,
            rho=rho if delta == 0 else None,
        )

    @property
    def spent_metric(self) -> dict[str, Guarantee]:
        """Per unit of distance, what the metric spends add up to."""
        return {
            unit: Guarantee("metric", float(total), unit=unit)
            for unit, total in sorted(self._metric.items())
        }

    @property
    def remaining(self) -> float:
        """The largest epsilon that one more pure event may have."""
        limit = self.limits.epsilon
        by_epsilon = max(0.0, float(limit - self._epsilon))
        for_zcdp = (self._shares or self._shares_after(Cost(0.0, 0.0, 0.0)))[1]
        if for_zcdp == 0 or not math.isfinite(self._rho):
            return by_epsilon
        rho = max(0.0, float(_rho_limit(limit, for_zcdp) - self._rho))
        return max(by_epsilon, _pure_for(rho))

    def _shares_after(self, price: Cost) -> tuple[float, float]:
        """How delta is divided: for events that bring a delta, and for the zCDP conversion."""
        delta, declared = self.limits.delta, self.limits.approximate_delta
        if declared is not None:
            return declared, delta - declared
        if price.delta > 0 and math.isfinite(price.epsilon):
            return delta, 0.0
        if price.delta == 0 and not math.isfinite(price.epsilon):
            return 0.0, delta
        return delta / 2, delta / 2

    def _check_metric(self, price: Price) -> None:
        limit, unit = self.limits.metric_epsilon, price.unit or "unit of distance"
        if limit is None:
            raise BudgetExceededError(
                f"this ledger allows no metric spend and {price.metric_epsilon:g} per {unit} was "
                "asked: nothing was recorded; declare Ledger(metric_epsilon=...)"
            )
        spent = self._metric.get(price.unit, Fraction(0))
        if not _within(spent + _exact(price.metric_epsilon), limit):
            left = max(0.0, float(limit - spent))
            raise BudgetExceededError(
                f"asked epsilon = {price.metric_epsilon:g} per {unit}, spent {float(spent):g} of "
                f"{limit:g}, left {left:g}: nothing was recorded"
            )

    def _refusal(self, price: Cost) -> str:
        limits = self.limits
        if not math.isfinite(price.epsilon) and limits.delta == 0:
            return (
                "this event has no pure epsilon and the ledger's delta is 0: nothing was recorded; "
                "declare Ledger(epsilon=..., delta=...) with delta > 0"
            )
        finite = math.isfinite(price.epsilon)
        if not finite and self._shares and self._shares[1] == 0:
            return (
                "this event has no pure epsilon and the first spend gave all of delta to events "
                "with a delta: nothing was recorded; declare Ledger(approximate_delta=...) below "
                "delta, or spend an ApproximateEvent"
            )
        asked = f"epsilon = {price.epsilon:g}" if finite else f"rho = {price.rho:g}"
        return (
            f"asked {asked}, spent epsilon = {self.spent.epsilon:g} of {limits.epsilon:g}, left "
            f"{self.remaining:g}: nothing was recorded; ask for less, or start a ledger "
            "with a larger limit"
        )

    def _delta_refusal(self, price: Cost, share: float) -> str:
        if self.limits.delta == 0:
            return (
                f"this event has delta = {price.delta:g} and the ledger's delta is 0: nothing was "
                "recorded; declare Ledger(epsilon=..., delta=...) with delta > 0"
            )
        left = max(0.0, float(share - self._delta))
        return (
            f"asked delta = {price.delta:g}, spent {float(self._delta):g} of the {share:g} that is "
            f"for events with a delta, left {left:g}: nothing was recorded; declare "
            "Ledger(approximate_delta=...) to divide delta differently"
        )


@lru_cache(maxsize=64)
def _rho_limit(epsilon: float, delta: float) -> Fraction:
    return Fraction(epsilon_to_zcdp(epsilon, delta))


def _exact(value: float) -> Fraction | float:
    return Fraction(value) if math.isfinite(value) else value


def _within(total: Fraction | float, limit: float | Fraction) -> bool:
    return total <= Fraction(limit) * _SLACK


def _pure_for(rho: float) -> float:
    """Return the pure epsilon whose rho is the one given: x tanh(x/2) = rho."""
    low, high = 0.0, rho + 2 * math.sqrt(rho) + 1
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return low
