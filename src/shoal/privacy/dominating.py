"""The steps that stand in for events when losses are convolved: dominating pairs.

A step is a pair of laws that is at least as easy to tell apart as the event on any two neighboring
tables, so whatever bounds the step bounds the event. Proof: ``proofs/composition.md``, section 3.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from shoal.exceptions import UnknownEventError
from shoal.privacy.accounting import cost, dominating_laplace, ratio
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    KNormEvent,
    LaplaceEvent,
    Parallel,
    PureEvent,
    Repeated,
    ZCDPEvent,
)

__all__ = ["Step", "steps"]

_WIDEST_LATTICE = 1000.0  # lattice laws wider than this would take seconds to tabulate


class Step(NamedTuple):
    """A dominating pair: its kind and up to two numbers.

    ``laplace`` (epsilon), ``gaussian`` (sensitivity / sigma), ``response`` (epsilon, delta: the
    worst pair of an (epsilon, delta) promise), ``lattice laplace`` (scale, steps),
    ``lattice gaussian`` (sigma, steps), ``zcdp`` (rho, delta: no pair is known, only its rho).
    """

    kind: str
    first: float
    second: float = 0.0


def steps(event: Event) -> Counter[Step]:
    """Return the dominating pairs of an event, with how often each occurs.

    Parameters
    ----------
    event : Event
        Any event but metric ones.

    Returns
    -------
    steps : Counter of Step
        Their composition dominates the event.

    Examples
    --------
    >>> steps(Repeated(event=LaplaceEvent(scale=2.0, sensitivity=1.0), times=3))
    Counter({Step(kind='laplace', first=0.5, second=0.0): 3})
    """
    rule = _RULES.get(type(event))
    if rule is None:
        raise UnknownEventError(f"no loss distribution is known for {event!r}")
    return Counter(rule(event))


def _composed(event: Composed) -> Counter[Step]:
    total: Counter[Step] = Counter()
    for child in event.events:
        total.update(steps(child))
    return total


def _repeated(event: Repeated) -> Counter[Step]:
    return Counter({step: times * event.times for step, times in steps(event.event).items()})


def _parallel(event: Parallel) -> Counter[Step]:
    """Return one schedule that dominates every part."""
    parts = [steps(child) for child in event.events]
    if all(part == parts[0] for part in parts):
        return parts[0] if parts else Counter()
    single = [next(iter(part)) for part in parts if part.total() == 1]
    if len(single) == len(parts):
        kinds = {step.kind for step in single}
        if kinds in ({"laplace"}, {"gaussian"}):
            return Counter([max(single)])
    price = cost(event)
    if math.isfinite(price.epsilon):
        return Counter([Step("response", price.epsilon, price.delta)])
    return Counter([Step("zcdp", price.rho, price.delta)])


def _laplace(event: LaplaceEvent | KNormEvent) -> list[Step]:
    return [Step("laplace", ratio(event.sensitivity, event.scale))]


def _discrete_laplace(event: DiscreteLaplaceEvent) -> list[Step]:
    if not event.sensitivity.is_integer():
        return [Step("response", ratio(event.sensitivity, event.scale))]
    if event.sensitivity > _WIDEST_LATTICE:
        return [Step("laplace", dominating_laplace(event))]
    return [Step("lattice laplace", event.scale, event.sensitivity)]


def _discrete_gaussian(event: DiscreteGaussianEvent) -> list[Step]:
    narrow = 0.1 <= event.sigma <= _WIDEST_LATTICE and event.sensitivity <= 8 * event.sigma
    if event.dimension == 1 and event.sensitivity.is_integer() and narrow:
        return [Step("lattice gaussian", event.sigma, event.sensitivity)]
    return [Step("zcdp", cost(event).rho)]


_RULES: dict[type[Event], Callable[[Any], Counter[Step] | list[Step]]] = {
    LaplaceEvent: _laplace,
    KNormEvent: _laplace,
    DiscreteLaplaceEvent: _discrete_laplace,
    GaussianEvent: lambda event: [Step("gaussian", ratio(event.sensitivity, event.sigma))],
    DiscreteGaussianEvent: _discrete_gaussian,
    PureEvent: lambda event: [Step("response", event.epsilon)],
    ApproximateEvent: lambda event: [Step("response", event.epsilon, event.delta)],
    ZCDPEvent: lambda event: [Step("zcdp", event.rho)],
    Composed: _composed,
    Parallel: _parallel,
    Repeated: _repeated,
}
