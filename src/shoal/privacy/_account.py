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

from shoal._numbers import rounded_down, rounded_up
from shoal.exceptions import BudgetExceededError, GuaranteeError, ParameterError
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
from shoal.privacy.entries import NOTIONS
from shoal.privacy.events import Event
from shoal.privacy.gaussian_conversions import epsilon_to_gdp, gdp_to_pure
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.limits import Limits
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit, group_size

__all__ = ["Account", "Price", "check_larger", "counted_as"]

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


def counted_as(event: Event, notion: Notion) -> tuple[Notion, MetricCost | None, Batches | None]:
    """Return the notion of an event, with its metric price or its batches if it has some."""
    metric = metric_cost(event)
    if metric is None and notion == "metric":
        raise GuaranteeError("a metric spend needs a MetricEvent, with its unit")
    batches = shuffled_cost(event)
    if batches is None and notion == "shuffled":
        raise GuaranteeError("a shuffled spend needs a ShuffledEvent, with its batch")
    if metric is not None:
        return "metric", metric, None
    return ("shuffled" if batches is not None else notion), None, batches


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
        # What limits that were changed since leave of the present ones: `change` closes them.
        self._closed_epsilon = self._closed_delta = Fraction(0)
        self._metric = MetricCost(limits.metric_unit, Fraction(0), Fraction(0))
        self._by_notion: dict[Notion, _Notion] = {}
        self._begin()

    def _begin(self) -> None:
        """Count from zero under the limits that are left."""
        self._epsilon: Fraction | float = Fraction(0)
        self._renyi: Fraction | float = Fraction(0)
        self._mu_squared: Fraction | float = Fraction(0)
        self._delta: Fraction | float = Fraction(0)
        self._rule: Rule | None = None

    @property
    def _open_epsilon(self) -> float:
        """The part of the limit on epsilon that earlier limits did not use up."""
        return max(0.0, float(Fraction(self.limits.epsilon) - self._closed_epsilon))

    @property
    def _open_delta(self) -> float:
        return max(0.0, float(Fraction(self.limits.delta) - self._closed_delta))

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
        notion, metric, batches = counted_as(event, notion)
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
            raise self._delta_refusal(price.total, rule)
        fits = (
            _within(self._epsilon + added.epsilon, self._open_epsilon)
            or _within_share(self._renyi + added.renyi, rule.renyi)
            or _within_share(self._mu_squared + added.mu_squared, rule.mu_squared)
        )
        if not fits:
            raise self._refusal(price.total, rule)

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

    def change(self, limits: Limits) -> "Account":
        """Go on under larger limits, whoever chose them after whatever was released.

        What was spent before counts with what holds of it: its sum of epsilons while that is
        within the old limit, or else the old limit, and the old delta. What is left of the new
        limits is for what follows, whose rule the next spend settles (``proofs/ledger.md``).
        """
        check_larger(limits, self.limits)
        if self._rule is not None:
            for own in self._by_notion.values():
                own.close(self._rule, holds=self._holds(own))
            self._closed_epsilon += Fraction(min(self._epsilon, self._open_epsilon))
            self._closed_delta = Fraction(self.limits.delta)
            self._begin()
        self.limits = limits
        return self

    def open_with(self, before: Guarantee) -> None:
        """Count what was spent before there was a limit, if the limit covers it."""
        self._closed_epsilon += Fraction(before.epsilon)
        self._closed_delta += Fraction(before.delta)
        for name, spent in (("epsilon", self._closed_epsilon), ("delta", self._closed_delta)):
            if not _within(spent, getattr(self.limits, name)):
                raise BudgetExceededError(
                    f"{name} must be at least what was spent so far, "
                    f"{rounded_up(float(spent))}, got {getattr(self.limits, name)!r}",
                    parameter=name,
                )
        own = self._by_notion[before.notion] = _Notion(Fraction(before.epsilon))
        own.seeded, own.revealing = before.seeded, before.delta
        if before.local_epsilon is not None and before.n_reports is not None:
            own.batches = Batches(Fraction(before.local_epsilon), before.n_reports)

    def open_metric(self, spent: MetricCost, *, seeded: bool) -> None:
        """Count what metric events cost before there was a limit, in its unit."""
        self._check_metric(spent)
        self.add(Price("metric", metric=spent, seeded=seeded))

    @property
    def spent(self) -> tuple[Guarantee, ...]:
        """What is promised of the recorded spends, one guarantee a notion."""
        return tuple(
            self._promise(notion, self._by_notion[notion])
            for notion in NOTIONS
            if notion in self._by_notion
        )

    @property
    def used(self) -> float:
        """The used part of the limit, by the rule that leaves most; metric spends apart."""
        shares = [(self._epsilon, self._open_epsilon)]
        if self._rule is not None:
            shares += [(self._renyi, self._rule.renyi), (self._mu_squared, self._rule.mu_squared)]
        parts = [float(total / Fraction(limit)) for total, limit in shares if limit > 0]
        whole = Fraction(self.limits.epsilon)
        closed = float(self._closed_epsilon / whole)
        return closed + (1 - closed) * min(parts, default=0.0)

    @property
    def remaining(self) -> float:
        """The largest epsilon that one more pure event may have."""
        by_epsilon = max(0.0, float(self._open_epsilon - self._epsilon))
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
        if not own.held or (rule is not None and own.delta > _most(rule.for_events)):
            return Guarantee.none(_BEYOND)
        if own.epsilon <= _most(limits.epsilon):
            # A sure bound of every transcript; revealing steps are bounded by a constant only.
            epsilon, delta = float(own.epsilon), own.revealing
            delta += rule.for_events if rule and own.delta else 0.0
        elif rule is None or self._holds(own):
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

    def _holds(self, own: "_Notion") -> bool:
        """Return whether the spends since the last change of limits are within a rule."""
        rule = self._rule
        return rule is None or (
            own.delta <= _most(rule.for_events)
            and (
                _within(self._epsilon, self._open_epsilon)
                or _within_share(self._renyi, rule.renyi)
                or _within_share(self._mu_squared, rule.mu_squared)
            )
        )

    def _per_unit(self, unit: str, epsilon: Fraction) -> Fraction:
        limits = self.limits
        if limits.metric_epsilon is None:
            raise _refused(
                "metric_epsilon",
                f"this ledger allows no metric spend and {readable_epsilon(epsilon)} per "
                f"{unit or 'unit of distance'} was asked",
            )
        return convert_epsilon(epsilon, unit, limits.metric_unit)

    def _rule_after(self, first: Cost) -> Rule:
        # Shares of delta were declared for the first limits.
        declared = self.limits if not self._closed_delta else Limits(epsilon=1.0)
        gaussian = first.delta == 0 and not math.isfinite(first.epsilon)
        epsilon, left = self._open_epsilon, self._open_delta - (declared.gdp_delta or 0.0)
        if declared.approximate_delta is not None:
            for_events = declared.approximate_delta
        elif first.delta > 0 and math.isfinite(first.epsilon):
            for_events = left
        else:
            for_events = 0.0 if gaussian else left / 2
        left = max(0.0, left - for_events)
        if declared.gdp_delta is not None:
            return _rule(epsilon, for_events, left, declared.gdp_delta)
        for part in (1 - _RENYI_PART, 1.0) if gaussian and left > 0 else ():
            rule = _rule(epsilon, for_events, (1 - part) * left, part * left)
            if first.mu_squared <= _most(rule.mu_squared):
                return rule
        return _rule(epsilon, for_events, left, 0.0)

    def _check_metric(self, price: MetricCost) -> None:
        limit, unit = self.limits.metric_epsilon or 0.0, self.limits.metric_unit
        spent = self._metric.epsilon
        if not _within(spent + price.epsilon, limit):
            left = rounded_down(max(0.0, float(limit - spent)))
            raise _refused(
                "metric_epsilon",
                f"asked epsilon = {readable_epsilon(price.epsilon)} per {unit}, spent "
                f"{rounded_up(float(spent))} of {rounded_up(limit)}, left {left}",
            )

    def _refusal(self, asked: Cost, rule: Rule) -> BudgetExceededError:
        finite = math.isfinite(asked.epsilon)
        if not finite and self._open_delta == 0:
            return _delta_needed("no pure epsilon", self.limits.delta)
        if not finite and rule.for_renyi == 0 and rule.for_gdp == 0:
            return _refused(
                "delta",
                "this event has no pure epsilon and all of delta is for events that bring a delta",
            )
        if rule.for_renyi == 0 and rule.for_gdp > 0 and not math.isfinite(asked.mu_squared):
            return _refused(
                "delta", "this event has no mu and all of delta is for events that have one"
            )
        wish = f"epsilon = {rounded_up(asked.epsilon)}"
        if not finite:
            known = math.isfinite(asked.mu_squared)
            mu = rounded_up(math.sqrt(asked.mu_squared)) if known else ""
            wish = f"mu = {mu}" if known else f"rho = {rounded_up(asked.rho)}"
        limit = rounded_up(self.limits.epsilon)
        total = self._closed_epsilon + self._epsilon
        spent = f"epsilon = {rounded_up(float(total))} of {limit}"
        if rule.for_renyi > 0 or rule.for_gdp > 0:
            spent = f"{self.used:.1%} of epsilon = {limit}"
        left = rounded_down(self.remaining)
        return _refused("epsilon", f"asked {wish}, spent {spent}, left {left} for a pure spend")

    def _delta_refusal(self, asked: Cost, rule: Rule) -> BudgetExceededError:
        wish = rounded_up(asked.delta)
        if self._open_delta == 0:
            return _delta_needed(f"delta = {wish}", self.limits.delta)
        left = rounded_down(max(0.0, float(rule.for_events - self._delta)))
        return _refused(
            "delta",
            f"asked delta = {wish}, spent {rounded_up(float(self._delta))} of the "
            f"{rounded_up(rule.for_events)} that is for events with a delta, left {left}",
        )


def _refused(name: str, why: str) -> BudgetExceededError:
    """Return the refusal of a spend; the way out forgets nothing of what was spent."""
    larger = "metric_epsilon" if name == "metric_epsilon" else f"a larger {name}"
    return BudgetExceededError(
        f"{why}; nothing was recorded",
        parameter=name,
        in_python=f"ask for less, or pass {larger} and a reason to Ledger.set_limit",
    )


def _delta_needed(what: str, limit: float) -> BudgetExceededError:
    """Return the refusal of what no part of delta is left for."""
    state = "is 0" if limit == 0 else "is used up by what was spent before its limit was raised"
    return _refused("delta", f"this event has {what} and the ledger's delta {state}")


@dataclass
class _Notion:
    """What was spent on promises of one notion."""

    epsilon: Fraction | float = Fraction(0)
    delta: Fraction | float = Fraction(0)
    seeded: bool = False
    batches: Batches | None = None
    revealing: float = 0.0  # of limits that were changed since
    held: bool = True  # under each of them

    def close(self, rule: Rule, *, holds: bool) -> None:
        """Keep what holds under limits that end."""
        self.held = self.held and holds
        self.revealing += rule.for_events if self.delta else 0.0
        self.delta = Fraction(0)

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


def check_larger(limits: Limits, before: Limits) -> None:
    """Refuse limits that are no larger, or that differ in more than their size; or none."""
    if limits.unlimited:
        raise ParameterError(
            "epsilon of a limit must be finite, got inf", parameter="epsilon", code="finite"
        )
    size = ("epsilon", "delta", "metric_epsilon", "metric_unit")
    for name in limits.differences(before, ignore_defaults=False):
        new, old = getattr(limits, name), getattr(before, name)
        if name not in size or (name == "metric_unit" and before.metric_epsilon is not None):
            raise ParameterError(
                f"{name} of a ledger cannot be changed, from {old!r} to {new!r}",
                parameter=name,
                code="conflict",
            )
        first = old is None or name == "metric_unit" or (name == "epsilon" and before.unlimited)
        if not first and (new is None or new < old):
            raise ParameterError(
                f"{name} of a ledger can be raised only, and is {old!r}, got {new!r}",
                parameter=name,
                code="range",
            )


@lru_cache(maxsize=64)
def _rule(epsilon: float, for_events: float, for_renyi: float, for_gdp: float) -> Rule:
    """Return the rule whose order is the best one for Gaussian noise."""
    if epsilon <= 0:  # earlier limits took all of it
        return Rule(0.0, 0.0, 0.0, order=2.0, renyi=0.0, mu_squared=0.0)
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
