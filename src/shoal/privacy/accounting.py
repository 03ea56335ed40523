"""What an event costs, in the four accounts that add up.

Pure functions over :mod:`shoal.privacy.events`. An event that is not known here is an error, never
a free lunch. The formulas are proved in ``proofs/composition.md`` and ``proofs/gdp.md``.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

from shoal._numbers import rounded_up
from shoal.exceptions import GuaranteeError, ParameterError, UnknownEventError
from shoal.privacy.conversions import group, pure_to_zcdp
from shoal.privacy.distance_units import convert_epsilon
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    Event,
    GDPEvent,
    MetricEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
)
from shoal.privacy.gaussian_conversions import pure_to_gdp

__all__ = [
    "Cost",
    "MetricCost",
    "cost",
    "leaves",
    "metric_cost",
    "readable_epsilon",
    "shuffled_cost",
    "upward",
]


# The least square of mu: smaller ones have lost digits, or all of them, and no step is free.
_LEAST = 2.0**-1000


@dataclass(frozen=True)
class Cost:
    """The cost of an event as (epsilon, delta), as rho of zCDP and as mu of GDP.

    All three statements hold: the event is (epsilon, delta)-differentially private,
    delta-approximately rho-zCDP (with the same delta), and mu-GDP. ``epsilon`` is infinite for
    Gaussian noise, whose cost is in the others. Hence the Rényi divergence of order a is at most
    ``min(epsilon, a * rho)``.

    Parameters
    ----------
    epsilon : float
        The epsilon, which adds up under basic composition.
    rho : float
        The parameter of zero-concentrated differential privacy (zCDP), which adds up too.
    delta : float
        The sum of the deltas of :class:`~shoal.privacy.events.ApproximateEvent`.
    mu_squared : float
        The square of the parameter of Gaussian differential privacy (GDP), which adds up too;
        infinite if no mu is known, for events with a delta.

    Examples
    --------
    >>> cost(PureEvent(epsilon=2.0)).epsilon
    2.0
    """

    epsilon: float
    rho: float
    delta: float
    mu_squared: float


def cost(event: Event, *, records: int = 1) -> Cost:
    """Return the cost of an event, in every unit that adds up.

    Parameters
    ----------
    event : Event
        Any event but a metric one.
    records : int, default=1
        Number of records that change together: 2 turns an add/remove cost into one for
        substitution.

    Returns
    -------
    cost : Cost
        The epsilon, rho, delta and mu^2 of the event.

    Raises
    ------
    UnknownEventError
        If the event is not of a class of this package.
    GuaranteeError
        If it is, or contains, a metric event, whose epsilon is per unit of distance.
    ParameterError
        If its steps add up to more than a float64 holds.

    Examples
    --------
    >>> cost(GDPEvent(mu=0.5))
    Cost(epsilon=inf, rho=0.125, delta=0.0, mu_squared=0.25)
    >>> cost(GDPEvent(mu=0.5), records=2)
    Cost(epsilon=inf, rho=0.5, delta=0.0, mu_squared=1.0)
    """
    prices = leaves(event, records=records)
    return Cost(*(_total(prices, field.name) for field in fields(Cost)))


def _total(prices: Counter[Cost], name: str) -> float:
    """Return what all steps cost together in one unit; infinite if one of them is."""
    parts = [(times, getattr(price, name)) for price, times in prices.items()]
    try:
        return math.fsum(times * part for times, part in parts)
    except OverflowError:  # of the sum, or of a number of steps whose sum may be small
        pass
    if math.inf in (part for _, part in parts):
        return math.inf
    exact = sum((times * Fraction(part) for times, part in parts), Fraction(0))
    if exact > sys.float_info.max:
        raise ParameterError(
            f"event must add up to a float64, got a {name} beyond 1e308: take fewer "
            "steps, or smaller ones",
            parameter="event",
            code="finite",
        )
    return float(exact)


def leaves(event: Event, *, records: int = 1) -> Counter[Cost]:
    """Return the prices of the single steps in an event, with how often each occurs."""
    if isinstance(event, Composed):
        total: Counter[Cost] = Counter()
        for child in event.events:
            total.update(leaves(child, records=records))
        return total
    if isinstance(event, Repeated):
        inner = leaves(event.event, records=records).items()
        return Counter({price: times * event.times for price, times in inner})
    rule = _RULES.get(type(event))
    if rule is None:
        raise UnknownEventError(f"no accountant understands {event!r}: use an event of shoal")
    return Counter([rule(event, records)])


def _pure(event: PureEvent, records: int) -> Cost:
    epsilon = records * event.epsilon
    return Cost(epsilon, _rho(epsilon), 0.0, _mu_squared(epsilon))


def _approximate(event: ApproximateEvent, records: int) -> Cost:
    loss = group(event.epsilon, event.delta, size=records)
    return Cost(loss.epsilon, _rho(loss.epsilon), loss.delta, math.inf)


def _shuffled(event: ShuffledEvent, records: int) -> Cost:
    loss = group(event.epsilon, event.delta, size=records)
    mu_squared = math.inf if loss.delta > 0 else _mu_squared(loss.epsilon)
    return Cost(loss.epsilon, _rho(loss.epsilon), loss.delta, mu_squared)


def _gdp(event: GDPEvent, records: int) -> Cost:
    return _shifted(records * event.mu)


def _shifted(mu: float) -> Cost:
    """Return the price of N(0, 1) against N(mu, 1)."""
    square = max(mu * mu, _LEAST)
    return Cost(math.inf, square / 2, 0.0, square)


def _metric(event: MetricEvent, records: int) -> Cost:
    raise GuaranteeError(
        f"a metric epsilon is per {event.unit or 'unit of distance'} and has no plain one",
        in_python="convert with metric_to_local(epsilon, diameter)",
    )


def _rho(epsilon: float) -> float:
    return max(pure_to_zcdp(epsilon), math.ulp(0.0)) if math.isfinite(epsilon) else math.inf


def _mu_squared(epsilon: float) -> float:
    if not math.isfinite(epsilon):
        return math.inf
    mu = pure_to_gdp(epsilon)
    return max(mu * mu, _LEAST)


_RULES: dict[type[Event], Callable[[Any, int], Cost]] = {
    GDPEvent: _gdp,
    PureEvent: _pure,
    ApproximateEvent: _approximate,
    MetricEvent: _metric,
    ShuffledEvent: _shuffled,
}


class MetricCost(NamedTuple):
    """What metric events cost together: an epsilon per unit of distance, and a slack beside it."""

    unit: str
    epsilon: Fraction
    slack: Fraction


def metric_cost(event: Event) -> MetricCost | None:
    """Return the cost of a metric event, or None for any other event."""
    if isinstance(event, MetricEvent):
        return MetricCost(event.unit, Fraction(event.epsilon), Fraction(event.slack))
    if isinstance(event, Repeated):
        inner = metric_cost(event.event)
        times = event.times
        return inner and MetricCost(inner.unit, times * inner.epsilon, times * inner.slack)
    if not isinstance(event, Composed):
        return None
    prices = [metric_cost(child) for child in event.events]
    metric = [price for price in prices if price is not None]
    if not metric:
        return None
    if len(metric) < len(prices):
        raise GuaranteeError(
            "metric events add up with metric events only",
            in_python="spend them apart, or convert with metric_to_local(epsilon, diameter)",
        )
    unit = metric[0].unit
    same = [
        price.epsilon
        if price.unit == unit  # which may have no name
        else convert_epsilon(price.epsilon, price.unit, unit)
        for price in metric
    ]
    slack = sum((price.slack for price in metric), Fraction(0))
    return MetricCost(unit, sum(same, Fraction(0)), slack)


class Batches(NamedTuple):
    """What is known of shuffled batches apart from their price."""

    local_epsilon: Fraction
    n: int


def shuffled_cost(event: Event) -> Batches | None:
    """Return the local epsilon and the smallest batch of a shuffled event, or None for others."""
    if isinstance(event, ShuffledEvent):
        return Batches(Fraction(event.local_epsilon), event.n)
    if isinstance(event, Repeated):
        inner = shuffled_cost(event.event)
        return inner and Batches(event.times * inner.local_epsilon, inner.n)
    if not isinstance(event, Composed):
        return None
    prices = [shuffled_cost(child) for child in event.events]
    batches = [price for price in prices if price is not None]
    if not batches:
        return None
    if len(batches) < len(prices):
        raise GuaranteeError(
            "shuffled events compose with shuffled events only: spend them apart, a report as its "
            "shuffled event or as its local one"
        )
    total = sum((batch.local_epsilon for batch in batches), Fraction(0))
    return Batches(total, min(batch.n for batch in batches))


def upward(total: Fraction) -> float:
    """Return the least float that is not below an exact total, infinite where there is none."""
    if total > sys.float_info.max:
        return math.inf
    nearest = float(total)
    return math.nextafter(nearest, math.inf) if nearest < total else nearest


def readable_epsilon(epsilon: Fraction) -> str:
    """Write an exact epsilon, which may be too large for a float."""
    return rounded_up(float(epsilon)) if epsilon < 10**300 else "more than 1e300"
