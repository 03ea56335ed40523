"""The arithmetic of a ledger: prices, totals, and the rule that decides.

A spend may be recorded while EITHER the epsilons, or the Rényi divergences of one fixed order, stay
within the limit, and the deltas within their share. ``proofs/ledger.md`` shows that this is sound
although each spend may be chosen after seeing the earlier releases. All sums are exact fractions.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from shoal.exceptions import BudgetExceededError, GuaranteeError
from shoal.privacy.accounting import Cost, cost, has_parallel, leaves
from shoal.privacy.adjacency import Adjacency
from shoal.privacy.conversions import epsilon_to_zcdp, renyi_to_epsilon, zcdp_order
from shoal.privacy.events import Event
from shoal.privacy.groups import Loss
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.limits import Limits
from shoal.privacy.metric import metric_cost

__all__ = ["Account", "Price"]

# Shares such as 0.1 and 0.7 are not exact in binary; a total may pass its limit by this fraction.
_SLACK = 1 + Fraction(1, 10**12)
_REPORTED_ORDERS = tuple(1 + 10 ** (exponent / 8) for exponent in range(-16, 49))


@dataclass(frozen=True)
class Price:
    """What one entry adds to an account: single steps, or a metric epsilon per unit."""

    notion: Notion
    steps: tuple[tuple[Cost, int], ...] = ()
    total: Cost | None = None
    unit: str = ""
    metric_epsilon: float = 0.0


@dataclass(frozen=True)
class Rule:
    """How delta is divided, and the Rényi order and limit that follow; fixed for good.

    ``for_events`` is for events that bring a delta, ``for_conversion`` for the conversion to
    epsilon. Without the latter the limit is 0 and only epsilons count.
    """

    for_events: float
    for_conversion: float
    order: float
    limit: float


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
        self._renyi: Fraction | float = Fraction(0)
        self._delta: Fraction | float = Fraction(0)
        self._steps: Counter[Cost] = Counter()
        self._rule: Rule | None = None
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
        records = 2 if twice else 1
        steps = leaves(event, records=records)
        return Price(notion, tuple(steps.items()), cost(event, records=records))

    def check(self, price: Price) -> None:
        """Raise BudgetExceededError if the spend would pass a limit."""
        if price.total is None:
            self._check_metric(price)
            return
        rule = self._rule or self._rule_after(price.total)
        added = _sums(price, rule)
        delta = self._delta + added.delta
        if delta > 0 and not _within(delta, rule.for_events):
            raise BudgetExceededError(self._delta_refusal(price.total, rule))
        by_renyi = rule.for_conversion > 0 and _within(self._renyi + added.renyi, rule.limit)
        if not (by_renyi or _within(self._epsilon + added.epsilon, self.limits.epsilon)):
            raise BudgetExceededError(self._refusal(price.total, rule))

    def add(self, price: Price) -> None:
        """Record the price; the caller has checked it, now or when it was first written."""
        if price.total is None:
            total = self._metric.get(price.unit, Fraction(0))
            self._metric[price.unit] = total + _exact(price.metric_epsilon)
            return
        # Chosen before anything was released, so the first spend may settle the rule for good.
        self._rule = self._rule or self._rule_after(price.total)
        added = _sums(price, self._rule)
        self._epsilon += added.epsilon
        self._renyi += added.renyi
        self._delta += added.delta
        self._steps.update(dict(price.steps))
        self._only_local = self._only_local and price.notion == "local"

    @property
    def spent(self) -> Guarantee:
        """What the recorded spends add up to."""
        rule, delta = self._rule, float(self._delta)
        rho = math.fsum(times * step.rho for step, times in self._steps.items())
        best = Loss(float(self._epsilon), delta)
        if rule is not None and rule.for_conversion > 0 and math.isfinite(rho):
            converted = self._converted(rho, rule)
            # A smaller delta is worth more than the last tenth of a percent of epsilon.
            if converted < 0.999 * best.epsilon:
                best = Loss(converted, delta + rule.for_conversion)
        if not math.isfinite(best.epsilon):
            return Guarantee.none("the recorded spends cannot be expressed within these limits")
        return Guarantee(
            "local" if self._only_local and rule is not None else "central",
            epsilon=best.epsilon,
            delta=best.delta,
            adjacency=self.limits.adjacency,
            rho=rho if delta == 0 and math.isfinite(rho) else None,
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
        by_epsilon = max(0.0, float(self.limits.epsilon - self._epsilon))
        rule = self._rule or self._rule_after(Cost(0.0, 0.0, 0.0))
        if rule.for_conversion == 0:
            return by_epsilon
        divergence = max(0.0, float(rule.limit - self._renyi))
        return max(by_epsilon, divergence, _pure_for(divergence / rule.order))

    def _converted(self, rho: float, rule: Rule) -> float:
        """Return the epsilon of everything recorded, through the best of some Rényi orders."""

        def through(order: float) -> float:
            steps = self._steps.items()
            bound = math.fsum(times * min(step.epsilon, order * step.rho) for step, times in steps)
            return renyi_to_epsilon(bound, order, rule.for_conversion)

        orders = (rule.order, zcdp_order(rho, rule.for_conversion), *_REPORTED_ORDERS)
        return max(0.0, min(map(through, orders)))

    def _rule_after(self, first: Cost) -> Rule:
        epsilon, delta = self.limits.epsilon, self.limits.delta
        declared = self.limits.approximate_delta
        if declared is not None:
            return _rule(epsilon, declared, delta - declared)
        if first.delta > 0 and math.isfinite(first.epsilon):
            return _rule(epsilon, delta, 0.0)
        if first.delta == 0 and not math.isfinite(first.epsilon):
            return _rule(epsilon, 0.0, delta)
        return _rule(epsilon, delta / 2, delta / 2)

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

    def _refusal(self, asked: Cost, rule: Rule) -> str:
        finite = math.isfinite(asked.epsilon)
        if not finite and self.limits.delta == 0:
            return (
                "this event has no pure epsilon and the ledger's delta is 0: nothing was recorded; "
                "declare Ledger(epsilon=..., delta=...) with delta > 0"
            )
        if not finite and rule.for_conversion == 0:
            return (
                "this event has no pure epsilon and all of delta is for events that bring a delta: "
                "nothing was recorded; declare Ledger(approximate_delta=...) below delta, or "
                "spend an ApproximateEvent"
            )
        wish = f"epsilon = {asked.epsilon:g}" if finite else f"rho = {asked.rho:g}"
        return (
            f"asked {wish}, spent epsilon = {self.spent.epsilon:g} of {self.limits.epsilon:g}, "
            f"left {self.remaining:g} for a pure spend: nothing was recorded; ask for less, or "
            "start a ledger with a larger limit"
        )

    def _delta_refusal(self, asked: Cost, rule: Rule) -> str:
        if self.limits.delta == 0:
            return (
                f"this event has delta = {asked.delta:g} and the ledger's delta is 0: nothing was "
                "recorded; declare Ledger(epsilon=..., delta=...) with delta > 0"
            )
        left = max(0.0, float(rule.for_events - self._delta))
        return (
            f"asked delta = {asked.delta:g}, spent {float(self._delta):g} of the "
            f"{rule.for_events:g} that is for events with a delta, left {left:g}: nothing was "
            "recorded; declare Ledger(approximate_delta=...) to divide delta differently"
        )


@dataclass(frozen=True)
class _Sums:
    epsilon: Fraction | float
    renyi: Fraction | float
    delta: Fraction | float


def _sums(price: Price, rule: Rule) -> _Sums:
    """Return what a price adds to the three totals, exactly."""
    epsilon: Fraction | float = Fraction(0)
    renyi: Fraction | float = Fraction(0)
    delta: Fraction | float = Fraction(0)
    for step, times in price.steps:
        epsilon += times * _exact(step.epsilon)
        renyi += times * _exact(min(step.epsilon, rule.order * step.rho))
        delta += times * _exact(step.delta)
    return _Sums(epsilon, renyi, delta)


@lru_cache(maxsize=64)
def _rule(epsilon: float, for_events: float, for_conversion: float) -> Rule:
    """Return the rule whose order is the best one for Gaussian noise."""
    if for_conversion <= 0:
        return Rule(for_events, 0.0, order=2.0, limit=0.0)
    rho = epsilon_to_zcdp(epsilon, for_conversion)
    order = zcdp_order(rho, for_conversion)
    limit = epsilon - renyi_to_epsilon(0.0, order, for_conversion)
    return Rule(for_events, for_conversion, order, max(0.0, limit))


def _exact(value: float) -> Fraction | float:
    return Fraction(value) if math.isfinite(value) else value


def _within(total: Fraction | float, limit: float) -> bool:
    return total <= Fraction(limit) * _SLACK


def _pure_for(rho: float) -> float:
    """Return the pure epsilon whose rho is the one given: x tanh(x/2) = rho."""
    low, high = 0.0, rho + 2 * math.sqrt(rho) + 1
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return low
