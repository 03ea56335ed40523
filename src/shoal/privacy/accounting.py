"""What an event costs, in the three accounts that add up.

Pure functions over :mod:`shoal.privacy.events`. An event that is not known here is an error, never
a free lunch. The formulas are proved in ``proofs/composition.md``.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shoal.exceptions import GuaranteeError, UnknownEventError
from shoal.privacy.conversions import laplace_to_zcdp, pure_to_zcdp
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    KNormEvent,
    LaplaceEvent,
    MetricEvent,
    Parallel,
    PureEvent,
    Repeated,
    ZCDPEvent,
)
from shoal.privacy.groups import group, group_zcdp

__all__ = ["Cost", "cost", "leaves", "pure_epsilon", "zcdp_rho"]


@dataclass(frozen=True)
class Cost:
    """The price of an event: it is (epsilon, delta)-private and delta-approximately rho-zCDP.

    Both statements hold, with the same delta. ``epsilon`` is infinite for Gaussian noise, which is
    priced by ``rho`` alone. Hence the Rényi divergence of order a is at most
    ``min(epsilon, a * rho)``.

    Parameters
    ----------
    epsilon : float
        What basic composition adds.
    rho : float
        What concentrated composition adds.
    delta : float
        The sum of the deltas of :class:`~shoal.privacy.events.ApproximateEvent`.

    Examples
    --------
    >>> cost(PureEvent(epsilon=2.0)).epsilon
    2.0
    """

    epsilon: float
    rho: float
    delta: float


def cost(event: Event, *, records: int = 1) -> Cost:
    """Return the price of an event.

    Parameters
    ----------
    event : Event
        Any event but metric ones.
    records : int, default=1
        How many records change together: 2 turns an add/remove price into one for substitution.

    Returns
    -------
    cost : Cost
        The three accounts.

    Raises
    ------
    UnknownEventError
        If the event's class is not one of shoal's.
    GuaranteeError
        If a metric event is in it: its epsilon has a unit.

    Examples
    --------
    >>> cost(GaussianEvent(sigma=2.0, sensitivity=1.0))
    Cost(epsilon=inf, rho=0.125, delta=0.0)
    >>> cost(GaussianEvent(sigma=2.0, sensitivity=1.0), records=2)
    Cost(epsilon=inf, rho=0.5, delta=0.0)
    """
    prices = leaves(event, records=records).items()
    return Cost(
        math.fsum(times * price.epsilon for price, times in prices),
        math.fsum(times * price.rho for price, times in prices),
        math.fsum(times * price.delta for price, times in prices),
    )


def leaves(event: Event, *, records: int = 1) -> Counter[Cost]:
    """Return the prices of the single steps in an event, with how often each occurs.

    Parameters
    ----------
    event : Event
        Any event but metric ones.
    records : int, default=1
        How many records change together.

    Returns
    -------
    prices : Counter of Cost
        They add up to :func:`cost`; parallel parts are one step with the worst price.

    Examples
    --------
    >>> leaves(Repeated(event=GaussianEvent(sigma=2.0, sensitivity=1.0), times=3))
    Counter({Cost(epsilon=inf, rho=0.125, delta=0.0): 3})
    """
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


def pure_epsilon(event: Event) -> float:
    """Return the pure epsilon of an event, infinite where it has none.

    Parameters
    ----------
    event : Event
        Any event but metric ones.

    Returns
    -------
    epsilon : float
        With delta = 0.

    Examples
    --------
    >>> pure_epsilon(LaplaceEvent(scale=4.0, sensitivity=1.0))
    0.25
    >>> pure_epsilon(GaussianEvent(sigma=4.0, sensitivity=1.0))
    inf
    """
    price = cost(event)
    return price.epsilon if price.delta == 0 else math.inf


def zcdp_rho(event: Event) -> float:
    """Return the zCDP parameter of an event, infinite where it has none.

    Parameters
    ----------
    event : Event
        Any event but metric ones.

    Returns
    -------
    rho : float
        The event is rho-zCDP.

    Examples
    --------
    >>> zcdp_rho(Repeated(event=GaussianEvent(sigma=2.0, sensitivity=1.0), times=4))
    0.5
    >>> zcdp_rho(ApproximateEvent(epsilon=1.0, delta=1e-6))
    inf
    """
    price = cost(event)
    return price.rho if price.delta == 0 else math.inf


def ratio(sensitivity: float, spread: float) -> float:
    """Return sensitivity / spread, never zero: underflow must not make a step free."""
    return max(sensitivity / spread, math.ulp(0.0))


def has_parallel(event: Event) -> bool:
    """Return whether disjoint parts occur anywhere in the event."""
    if isinstance(event, Repeated):
        return has_parallel(event.event)
    if isinstance(event, Composed):
        return any(has_parallel(child) for child in event.events)
    return isinstance(event, Parallel)


def dominating_laplace(event: DiscreteLaplaceEvent) -> float:
    """Return the epsilon of the continuous Laplace noise that is at least as revealing.

    It is infinite where the sensitivity is no whole number of steps: the lattice is then unknown.
    """
    if not event.sensitivity.is_integer():
        return math.inf
    step = 1 / event.scale
    # 2 ln((1 + e^step) / 2), without overflow for large steps and without loss for small ones.
    if step < 1:
        per_step = 2 * math.log1p(math.expm1(step) / 2)
    else:
        per_step = 2 * (step + math.log1p(math.exp(-step)) - math.log(2))
    return event.sensitivity * per_step


def _pure(event: PureEvent, records: int) -> Cost:
    epsilon = records * event.epsilon
    return Cost(epsilon, _rho(pure_to_zcdp, epsilon), 0.0)


def _zcdp(event: ZCDPEvent, records: int) -> Cost:
    return Cost(math.inf, group_zcdp(event.rho, size=records), 0.0)


def _approximate(event: ApproximateEvent, records: int) -> Cost:
    loss = group(event.epsilon, event.delta, size=records)
    return Cost(loss.epsilon, _rho(pure_to_zcdp, loss.epsilon), loss.delta)


def _laplace(event: LaplaceEvent | KNormEvent, records: int) -> Cost:
    epsilon = records * ratio(event.sensitivity, event.scale)
    return Cost(epsilon, _rho(laplace_to_zcdp, epsilon), 0.0)


def _discrete_laplace(event: DiscreteLaplaceEvent, records: int) -> Cost:
    epsilon = records * ratio(event.sensitivity, event.scale)
    continuous = records * dominating_laplace(event)
    return Cost(epsilon, min(_rho(pure_to_zcdp, epsilon), _rho(laplace_to_zcdp, continuous)), 0.0)


def _gaussian(event: GaussianEvent | DiscreteGaussianEvent, records: int) -> Cost:
    scaled = records * ratio(event.sensitivity, event.sigma)
    return Cost(math.inf, max(scaled * scaled / 2, math.ulp(0.0)), 0.0)


def _parallel(event: Parallel, records: int) -> Cost:
    # Records in different parts cost no more than the same number in the worst part.
    prices = [cost(child, records=records) for child in event.events]
    return Cost(
        max((price.epsilon for price in prices), default=0.0),
        max((price.rho for price in prices), default=0.0),
        max((price.delta for price in prices), default=0.0),
    )


def _metric(event: MetricEvent, records: int) -> Cost:
    raise GuaranteeError(
        f"a metric epsilon is per {event.unit or 'unit of distance'} and has no plain one",
        in_python="convert with metric_to_local(epsilon, diameter)",
    )


def _rho(convert: Callable[[float], float], epsilon: float) -> float:
    return max(convert(epsilon), math.ulp(0.0)) if math.isfinite(epsilon) else math.inf


_RULES: dict[type[Event], Callable[[Any, int], Cost]] = {
    LaplaceEvent: _laplace,
    KNormEvent: _laplace,
    DiscreteLaplaceEvent: _discrete_laplace,
    GaussianEvent: _gaussian,
    DiscreteGaussianEvent: _gaussian,
    PureEvent: _pure,
    ZCDPEvent: _zcdp,
    ApproximateEvent: _approximate,
    Parallel: _parallel,
    MetricEvent: _metric,
}
