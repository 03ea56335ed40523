"""The arithmetic of a ledger: prices, totals, and the rule that decides.

A spend may be recorded while EITHER the epsilons, or the Rényi divergences of one fixed order, or
the squares of mu stay within the limit, and the deltas within their share. ``proofs/ledger.md``
shows that this is sound although each spend may be chosen after seeing the earlier releases: the
last two rules pay for themselves with a part of delta each. All sums are exact fractions.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from shoal.exceptions import BudgetExceededError, GuaranteeError
from shoal.privacy.accounting import (
    Batches,
    Cost,
    MetricCost,
    cost,
    leaves,
    metric_cost,
    readable_epsilon,
    shuffled_cost,
    upward,
)
from shoal.privacy.conversions import epsilon_to_zcdp, renyi_to_epsilon, zcdp_order
from shoal.privacy.distance_units import convert_epsilon
from shoal.privacy.entries import Limits
from shoal.privacy.events import Event
from shoal.privacy.gaussian_conversions import epsilon_to_gdp, gdp_to_pure
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit, group_size

__all__ = ["Account", "Price"]

_NOTIONS: tuple[Notion, ...] = ("central", "local", "shuffled", "metric")
_BEYOND = "the recorded spends cannot be expressed within these limits"
# Shares such as 0.1 and 0.7 are not exact in binary; a total may pass its limit by this fraction.
_TOLERANCE = 1 + Fraction(1, 10**12)
# The part of delta that a first Gaussian spend leaves to the Rényi divergences, which count pure
# spends beside it for less. It costs Gaussian noise alone about 1% of its limit.
_RENYI_PART = 0.1


@dataclass(frozen=True)
class Price:
    """What one entry adds to an account: single steps, or a metric cost in the ledger's unit.

    ``batches`` says what whoever sees the reports of a shuffled entry before the shuffler learns.
    """

    notion: Notion
    steps: tuple[tuple[Cost, int], ...] = ()
    total: Cost | None = None
    metric: MetricCost | None = None
    batches: Batches | None = None
    seeded: bool = False


@dataclass(frozen=True)
class Rule:
    """How delta is divided, and the Rényi order and the limits that follow; fixed for good.

    ``for_events`` is for events that bring a delta, ``for_renyi`` and ``for_gdp`` for converting
    Rényi divergences and mu to epsilon. A rule without its part has the limit 0 and does not count.
    """

    for_events: float
    for_renyi: float
    for_gdp: float
    order: float
    renyi: float
    mu_squared: float


class Account:
    """Running totals of a ledger.

    Parameters
    ----------
    limits : Limits
        What the totals may reach.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._epsilon: Fraction | float = Fraction(0)
        self._renyi: Fraction | float = Fraction(0)
        self._mu_squared: Fraction | float = Fraction(0)
        self._delta: Fraction | float = Fraction(0)
        self._metric = MetricCost(limits.metric_unit, Fraction(0), Fraction(0))
        self._rule: Rule | None = None
        self._by_notion: dict[Notion, _Notion] = {}

    def price(
        self,
        event: Event,
        adjacency: Adjacency,
        notion: Notion,
        privacy_unit: PrivacyUnit = RECORD,
        *,
        seeded: bool = False,
    ) -> Price:
        """Return what the event would add, or raise if this ledger cannot count it."""
        metric = metric_cost(event)
        if metric is None and notion == "metric":
            raise GuaranteeError("a metric spend needs a MetricEvent, with its unit")
        batches = shuffled_cost(event)
        if batches is None and notion == "shuffled":
            raise GuaranteeError("a shuffled spend needs a ShuffledEvent, with its batch")
        if metric is not None:
            notion = "metric"
        elif batches is not None:
            notion = "shuffled"
        size = group_size(
            privacy_unit,
            self.limits.privacy_unit,
            notion=notion,
            adjacency=adjacency,
            wanted_adjacency=self.limits.adjacency,
        )
        if metric is not None:
            epsilon = self._per_unit(metric.unit, metric.epsilon)
            price = MetricCost(self.limits.metric_unit, size * epsilon, size * metric.slack)
            return Price("metric", metric=price, seeded=seeded)
        steps, total = leaves(event, records=size), cost(event, records=size)
        if total.rho == 0:  # an iterator that was used up before, for one
            raise GuaranteeError("a spend needs at least one step, and this event holds none")
        if batches is not None:
            batches = Batches(size * batches.local_epsilon, batches.n)
        return Price(notion, tuple(steps.items()), total, batches=batches, seeded=seeded)

    def check(self, price: Price) -> None:
        """Raise BudgetExceededError if the spend would pass a limit."""
        if price.metric is not None:
            self._check_metric(price.metric)
        if price.total is None:
            return
        rule = self._rule or self._rule_after(price.total)
        added = _sums(price, rule)
        delta = self._delta + added.delta
        if delta > 0 and not _within(delta, rule.for_events):
            raise BudgetExceededError(self._delta_refusal(price.total, rule))
        fits = (
            _within(self._epsilon + added.epsilon, self.limits.epsilon)
            or _within_share(self._renyi + added.renyi, rule.renyi)
            or _within_share(self._mu_squared + added.mu_squared, rule.mu_squared)
        )
        if not fits:
            raise BudgetExceededError(self._refusal(price.total, rule))

    def add(self, price: Price) -> None:
        """Record the price; the caller has checked it, now or when it was first written."""
        own = self._by_notion.setdefault(price.notion, _Notion())
        own.seeded = own.seeded or price.seeded
        if price.metric is not None:
            epsilon = self._metric.epsilon + price.metric.epsilon
            slack = self._metric.slack + price.metric.slack
            self._metric = MetricCost(price.metric.unit, epsilon, slack)
        if price.total is None:
            return
        # Chosen before anything was released, so the first spend may settle the rule for good.
        self._rule = self._rule or self._rule_after(price.total)
        added = _sums(price, self._rule)
        self._epsilon += added.epsilon
        self._renyi += added.renyi
        self._mu_squared += added.mu_squared
        self._delta += added.delta
        own.epsilon += added.epsilon
        own.delta += added.delta
        if price.batches is not None:
            own.batches = own.with_batches(price.batches)

    @property
    def spent(self) -> tuple[Guarantee, ...]:
        """What is promised of the recorded spends, one guarantee a notion."""
        return tuple(
            self._promise(notion, self._by_notion[notion])
            for notion in _NOTIONS
            if notion in self._by_notion
        )

    @property
    def used(self) -> float:
        """The used part of the limit, by the rule that leaves most; metric spends apart."""
        parts = [float(self._epsilon / Fraction(self.limits.epsilon))]
        if self._rule is not None:
            shares = (self._renyi, self._rule.renyi), (self._mu_squared, self._rule.mu_squared)
            parts += [float(total / Fraction(limit)) for total, limit in shares if limit > 0]
        return min(parts)

    @property
    def remaining(self) -> float:
        """The largest epsilon that one more pure event may have."""
        by_epsilon = max(0.0, float(self.limits.epsilon - self._epsilon))
        rule = self._rule or self._rule_after(Cost(0.0, 0.0, 0.0, 0.0))
        divergence = max(0.0, float(rule.renyi - self._renyi))
        mu = math.sqrt(max(0.0, float(rule.mu_squared - self._mu_squared)))
        by_renyi = max(divergence, _pure_for(divergence / rule.order)) if divergence > 0 else 0.0
        return max(by_epsilon, by_renyi, gdp_to_pure(mu))

    def _promise(self, notion: Notion, own: "_Notion") -> Guarantee:
        """Return what a proof promises of the spends of one notion, whatever steered them."""
        limits, rule = self.limits, self._rule
        unit = limits.privacy_unit
        if notion == "metric":
            # The slack is no part of the limit, so nothing keeps its sum within the floats.
            slack = upward(self._metric.slack)
            if slack == math.inf:
                return Guarantee.none(_BEYOND)
            return Guarantee(
                "metric",
                float(self._metric.epsilon),
                unit=limits.metric_unit,
                privacy_unit=unit,
                seeded=own.seeded,
                slack=slack,
            )
        if rule is not None and own.delta > _most(rule.for_events):
            return Guarantee.none(_BEYOND)
        if own.epsilon <= _most(limits.epsilon):
            # A sure bound of every transcript; revealing steps are bounded by a constant only.
            epsilon, delta = float(own.epsilon), rule.for_events if rule and own.delta else 0.0
        elif rule is not None and (
            _within_share(self._renyi, rule.renyi)
            or _within_share(self._mu_squared, rule.mu_squared)
        ):
            epsilon, delta = limits.epsilon, limits.delta
        else:
            return Guarantee.none(_BEYOND)
        batches = own.batches
        return Guarantee(
            notion,
            epsilon,
            delta,
            limits.adjacency if batches is None else Adjacency.SUBSTITUTE,
            privacy_unit=unit,
            seeded=own.seeded,
            # The sum of groups' epsilons is rounded up, their local ones are exact.
            local_epsilon=None if batches is None else max(epsilon, float(batches.local_epsilon)),
            n_reports=None if batches is None else batches.n,
        )

    def _per_unit(self, unit: str, epsilon: Fraction) -> Fraction:
        limits = self.limits
        if limits.metric_epsilon is None:
            raise BudgetExceededError(
                f"this ledger allows no metric spend and {readable_epsilon(epsilon)} per "
                f"{unit or 'unit of distance'} was asked: nothing was recorded",
                parameter="metric_epsilon",
                in_python="declare Ledger(metric_epsilon=..., metric_unit=...)",
            )
        return convert_epsilon(epsilon, unit, limits.metric_unit)

    def _rule_after(self, first: Cost) -> Rule:
        limits = self.limits
        gaussian = first.delta == 0 and not math.isfinite(first.epsilon)
        left = limits.delta - (limits.gdp_delta or 0.0)
        if limits.approximate_delta is not None:
            for_events = limits.approximate_delta
        elif first.delta > 0 and math.isfinite(first.epsilon):
            for_events = left
        else:
            for_events = 0.0 if gaussian else left / 2
        left = max(0.0, left - for_events)
        if limits.gdp_delta is not None:
            return _rule(limits.epsilon, for_events, left, limits.gdp_delta)
        for part in (1 - _RENYI_PART, 1.0) if gaussian and left > 0 else ():
            rule = _rule(limits.epsilon, for_events, (1 - part) * left, part * left)
            if first.mu_squared <= _most(rule.mu_squared):
                return rule
        return _rule(limits.epsilon, for_events, left, 0.0)

    def _check_metric(self, price: MetricCost) -> None:
        limit, unit = self.limits.metric_epsilon or 0.0, self.limits.metric_unit
        if not _within(self._metric.epsilon + price.epsilon, limit):
            left = max(0.0, float(limit - self._metric.epsilon))
            raise BudgetExceededError(
                f"asked epsilon = {readable_epsilon(price.epsilon)} per {unit}, spent "
                f"{float(self._metric.epsilon):g} of {limit:g}, left {left:g}: nothing was recorded"
            )

    def _refusal(self, asked: Cost, rule: Rule) -> str:
        finite = math.isfinite(asked.epsilon)
        if not finite and self.limits.delta == 0:
            return (
                "this event has no pure epsilon and the ledger's delta is 0: nothing was recorded; "
                "declare Ledger(epsilon=..., delta=...) with delta > 0"
            )
        if not finite and rule.for_renyi == 0 and rule.for_gdp == 0:
            return (
                "this event has no pure epsilon and all of delta is for events that bring a delta: "
                "nothing was recorded; declare Ledger(approximate_delta=...) below delta, or "
                "spend an ApproximateEvent"
            )
        if rule.for_renyi == 0 and rule.for_gdp > 0 and not math.isfinite(asked.mu_squared):
            return (
                "this event has no mu and all of delta is for events that have one: nothing was "
                "recorded; declare Ledger(gdp_delta=...) below delta"
            )
        wish = f"epsilon = {asked.epsilon:g}"
        if not finite:
            known = math.isfinite(asked.mu_squared)
            wish = f"mu = {math.sqrt(asked.mu_squared):g}" if known else f"rho = {asked.rho:g}"
        spent = f"epsilon = {float(self._epsilon):g} of {self.limits.epsilon:g}"
        if rule.for_renyi > 0 or rule.for_gdp > 0:
            spent = f"{self.used:.1%} of epsilon = {self.limits.epsilon:g}"
        return (
            f"asked {wish}, spent {spent}, "
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


@dataclass
class _Notion:
    """What was spent on promises of one notion."""

    epsilon: Fraction | float = Fraction(0)
    delta: Fraction | float = Fraction(0)
    seeded: bool = False
    batches: Batches | None = None

    def with_batches(self, more: Batches) -> Batches:
        """Return what further shuffled batches make of those so far."""
        if self.batches is None:
            return more
        total = self.batches.local_epsilon + more.local_epsilon
        return Batches(total, min(self.batches.n, more.n))


@dataclass(frozen=True)
class _Sums:
    epsilon: Fraction | float
    renyi: Fraction | float
    mu_squared: Fraction | float
    delta: Fraction | float


def _sums(price: Price, rule: Rule) -> _Sums:
    """Return what a price adds to the four totals, exactly."""
    epsilon: Fraction | float = Fraction(0)
    renyi: Fraction | float = Fraction(0)
    mu_squared: Fraction | float = Fraction(0)
    delta: Fraction | float = Fraction(0)
    for step, times in price.steps:
        epsilon += times * _exact(step.epsilon)
        renyi += times * _exact(min(step.epsilon, rule.order * step.rho))
        mu_squared += times * _exact(step.mu_squared)
        delta += times * _exact(step.delta)
    return _Sums(epsilon, renyi, mu_squared, delta)


@lru_cache(maxsize=64)
def _rule(epsilon: float, for_events: float, for_renyi: float, for_gdp: float) -> Rule:
    """Return the rule whose order is the best one for Gaussian noise."""
    mu = epsilon_to_gdp(epsilon, for_gdp) if for_gdp > 0 else 0.0
    mu_squared = min(mu * mu, sys.float_info.max)
    if for_renyi <= 0:
        return Rule(for_events, 0.0, for_gdp, order=2.0, renyi=0.0, mu_squared=mu_squared)
    order = zcdp_order(epsilon_to_zcdp(epsilon, for_renyi), for_renyi)
    renyi = max(0.0, epsilon - renyi_to_epsilon(0.0, order, for_renyi))
    return Rule(for_events, for_renyi, for_gdp, order, renyi, mu_squared)


def _exact(value: float) -> Fraction | float:
    return Fraction(value) if math.isfinite(value) else value


def _within(total: Fraction | float, limit: float) -> bool:
    return total <= _most(limit)


def _within_share(total: Fraction | float, limit: float) -> bool:
    """Return whether a rule that has a part of delta allows this total."""
    return limit > 0 and _within(total, limit)


def _most(limit: float) -> Fraction:
    return Fraction(limit) * _TOLERANCE


def _pure_for(rho: float) -> float:
    """Return the pure epsilon whose rho is the one given: x tanh(x/2) = rho."""
    low, high = 0.0, rho + 2 * math.sqrt(rho) + 1
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return low
