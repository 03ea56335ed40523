"""Privacy-loss distributions of a fixed schedule, composed numerically and from above.

Each event is replaced by a dominating pair of distributions: a pair at least as easy to tell apart
as the event on any two neighboring tables, so whatever bounds the pair bounds the event.
:mod:`dp_accounting` convolves their losses. All rounding there is toward more loss, and what the
Fourier transform may err is taken off delta beforehand (``proofs/composition.md``, sections 3, 4).
"""

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from shoal._optional import require
from shoal.exceptions import UnknownEventError
from shoal.privacy.accounting import cost, ratio
from shoal.privacy.conversions import pure_to_zcdp, zcdp_to_epsilon
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    Event,
    GaussianEvent,
    GDPEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
    ZCDPEvent,
)
from shoal.privacy.gaussian_conversions import gdp_to_epsilon

__all__ = ["Step", "epsilon_by_losses", "steps"]

_WIDEST_LATTICE = 1000.0  # lattice distributions wider than this would take seconds to tabulate


class Step(NamedTuple):
    """A dominating pair: its kind and up to two numbers.

    ``gaussian`` (sensitivity / sigma), ``response`` (epsilon, delta: the worst pair of an
    (epsilon, delta) promise), ``lattice gaussian`` (sigma, steps), ``zcdp`` (rho, delta: no pair is
    known, only its rho).
    """

    kind: str
    first: float
    second: float = 0.0


def steps(event: Event) -> Counter[Step]:
    """Return the dominating pairs of an event, with how often each occurs."""
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


def _discrete_gaussian(event: DiscreteGaussianEvent) -> list[Step]:
    narrow = 0.1 <= event.sigma <= _WIDEST_LATTICE and event.sensitivity <= 8 * event.sigma
    if event.dimension == 1 and event.sensitivity.is_integer() and narrow:
        return [Step("lattice gaussian", event.sigma, event.sensitivity)]
    return [Step("zcdp", cost(event).rho)]


_RULES: dict[type[Event], Callable[[Any], Counter[Step] | list[Step]]] = {
    GaussianEvent: lambda event: [Step("gaussian", ratio(event.sensitivity, event.sigma))],
    DiscreteGaussianEvent: _discrete_gaussian,
    GDPEvent: lambda event: [Step("gaussian", event.mu)],
    PureEvent: lambda event: [Step("response", event.epsilon)],
    ApproximateEvent: lambda event: [Step("response", event.epsilon, event.delta)],
    ShuffledEvent: lambda event: [Step("response", event.epsilon, event.delta)],
    ZCDPEvent: lambda event: [Step("zcdp", event.rho)],
    Composed: _composed,
    Repeated: _repeated,
}


_LARGEST_EPSILON = 50.0  # beyond it a step is no protection, and its losses would not fit a grid
_LARGEST_REACH = 300.0  # exp(-loss) must stay a normal number
_SMALLEST_GRAIN = 1e-9
_SMALLEST_PROMISE = 1e-6
_LARGEST_RATIO = 1e3
_MAX_STEPS = 100_000
_FOURIER_ERROR = 2.0**-48  # per step, and for about a thousand steps' worth of other rounding
_KEPT_DELTA = 0.999
_GRID = 50_000
_FINEST_GRID = 200_000


def epsilon_by_losses(schedule: Counter[Step], delta: float) -> float:
    """Return an epsilon for which the composed steps are (epsilon, delta)-private."""
    return _epsilon(tuple(sorted(schedule.items())), delta)


@functools.lru_cache(maxsize=256)
def _epsilon(schedule: tuple[tuple[Step, int], ...], delta: float) -> float:
    merged = _merge(schedule)
    if not merged:
        return 0.0
    if list(merged) == ["gaussian"]:
        mu = merged["gaussian"][0][0].first
        return gdp_to_epsilon(mu, delta) if mu <= _LARGEST_RATIO else math.inf
    total = sum(times for _, times in schedule)
    largest = max(_pure(step) for step, _ in schedule)
    smallest = min(_grain(step) for step, _ in schedule)
    error = _FOURIER_ERROR * (total + 1000)
    if total > _MAX_STEPS or 10 * error > delta:
        return math.inf
    if largest > _LARGEST_EPSILON or smallest < _SMALLEST_GRAIN:
        return math.inf
    kept = _KEPT_DELTA * delta - error
    if "zcdp" in merged:
        response = _zcdp_response(merged.pop("zcdp"), schedule, kept)
        if response is None or not merged:
            return math.inf
        merged.setdefault("response", []).append((response, 1))
    return _convolved_epsilon([item for items in merged.values() for item in items], kept)


def _merge(
    schedule: tuple[tuple[Step, int], ...],
) -> dict[str, list[tuple[Step, int]]]:
    """Sort by kind; Gaussian steps compose into one, exactly."""
    kinds: dict[str, list[tuple[Step, int]]] = {}
    for step, times in schedule:
        kinds.setdefault(step.kind, []).append((step, times))
    if "gaussian" in kinds:
        squares = math.fsum(times * step.first * step.first for step, times in kinds["gaussian"])
        kinds["gaussian"] = [(Step("gaussian", math.sqrt(squares)), 1)]
    return kinds


def _zcdp_response(
    items: list[tuple[Step, int]], schedule: tuple[tuple[Step, int], ...], delta: float
) -> Step | None:
    """Turn all zCDP steps into one (epsilon, delta) promise that takes half of what delta is left.

    Which half is taken is settled here, before anything is released.
    """
    left = delta - math.fsum(
        times * step.second for step, times in schedule if step.kind in ("response", "zcdp")
    )
    if left <= 0:
        return None
    rho = math.fsum(times * step.first for step, times in items)
    epsilon = max(zcdp_to_epsilon(rho, left / 2), _SMALLEST_PROMISE)
    if epsilon > _LARGEST_EPSILON:
        return None
    return Step("response", epsilon, left / 2 + math.fsum(n * step.second for step, n in items))


def _convolved_epsilon(items: list[tuple[Step, int]], delta: float) -> float:
    # The sums stay within this range but for a probability far below delta.
    rho = math.fsum(times * _rho(step) for step, times in items)
    pure = math.fsum(times * (_pure(step) or math.inf) for step, times in items)
    reach = min(pure, rho + 2 * math.sqrt(rho * -math.log(1e-15)))
    if reach > _LARGEST_REACH:
        return math.inf
    # A grid wider than a step's own losses would count the step for much more than it is.
    interval = min(reach / _GRID, min(_grain(step) for step, _ in items) / 4)
    interval = max(interval, reach / _FINEST_GRID)
    composed: Any = None
    for step, times in items:
        repeated = _distribution(step, interval).self_compose(times)
        composed = repeated if composed is None else composed.compose(repeated)
    return float(composed.get_epsilon_for_delta(delta))


def _distribution(step: Step, interval: float) -> Any:
    """Return the pessimistic loss distribution of a dominating pair, on multiples of interval."""
    # Importing dp_accounting takes over a second, and few programs get here.
    pld: Any = require("dp_accounting.pld.privacy_loss_distribution", extra="")
    options = {"value_discretization_interval": interval, "use_connect_dots": True}
    match step.kind:
        case "gaussian":
            return pld.from_gaussian_mechanism(1 / step.first, **options)
        case "lattice gaussian":
            return pld.from_discrete_gaussian_mechanism(
                step.first, sensitivity=int(step.second), **options
            )
        case _:
            return _response_distribution(step.first, step.second, interval)


def _response_distribution(epsilon: float, delta: float, interval: float) -> Any:
    """Return the losses of the worst (epsilon, delta) pair: its curve through four grid points.

    The curve has kinks at -epsilon and epsilon only, so interpolating beside them is almost exact,
    where rounding both losses up would cost an interval per step.
    """
    pld_pmf: Any = require("dp_accounting.pld.pld_pmf", extra="")
    pld: Any = require("dp_accounting.pld.privacy_loss_distribution", extra="")
    below = math.floor(epsilon / interval)
    points = sorted({-below - 1, -below, below, below + 1})
    high, low = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    curve = []
    for point in points:
        factor = math.exp(point * interval)
        gap = max(0.0, high - factor * low) + max(0.0, low - factor * high)
        curve.append(delta + (1 - delta) * gap)
    return pld.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots(interval, points, curve)
    )


def _pure(step: Step) -> float:
    """Return the pure epsilon of a step, 0 where it has none."""
    return step.first if step.kind == "response" else 0.0


def _rho(step: Step) -> float:
    match step.kind:
        case "gaussian":
            return step.first * step.first / 2
        case "lattice gaussian":
            return (step.second / step.first) ** 2 / 2
        case _:
            return pure_to_zcdp(_pure(step))


def _grain(step: Step) -> float:
    """Return how finely a step's losses are spread."""
    return step.second / step.first if step.kind == "lattice gaussian" else step.first
