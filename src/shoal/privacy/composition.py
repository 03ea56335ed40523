"""The promise of a schedule of events that was fixed before the first of them ran.

The best of four ways of counting: adding epsilons, zCDP parameters (Bun and Steinke 2016) or
squares of mu (Dong, Roth and Su 2022), and convolving privacy-loss distributions (Koskela, Jälkö
and Honkela 2020; Doroshenko et al. 2022). Proof: ``proofs/composition.md``. For spends that are
chosen one after the other, in the light of earlier releases, use :class:`shoal.privacy.Ledger`.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from shoal import _numbers
from shoal.exceptions import GuaranteeError
from shoal.privacy._loss_distributions import epsilon_by_losses, steps
from shoal.privacy.accounting import Cost, cost, metric_cost, shuffled_cost
from shoal.privacy.conversions import Loss, zcdp_to_epsilon
from shoal.privacy.events import Composed, Event
from shoal.privacy.gaussian_conversions import gdp_to_epsilon
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.privacy_unit import Adjacency

__all__ = ["compose", "scale_to_fit"]

# A smaller delta is worth more than the last tenth of a percent of epsilon.
_WORTH_A_DELTA = 0.999
_TOO_SMALL_A_DELTA = 1e-4
_NOTIONS = ("central", "local", "metric", "shuffled")


def compose(
    events: Iterable[Event],
    *,
    delta: float = 0.0,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    notion: Notion = "central",
) -> Guarantee:
    """Return the guarantee of all events together, at least as strong as adding their epsilons.

    Parameters
    ----------
    events : iterable of Event
        All events of a schedule that was fixed in advance: which events, how often, with which
        noise. Earlier results may influence what is computed next, but not the schedule; if they
        do, use a :class:`Ledger`.
    delta : float, default=0.0
        The delta of the guarantee. At 0 the pure epsilons add up.
    adjacency : Adjacency, default=Adjacency.ADD_REMOVE
        Which tables count as neighbors in the events' sensitivities.
    notion : {"central", "local", "metric", "shuffled"}, default="central"
        The notion of the guarantee. Metric events always give ``"metric"``, and shuffled events,
        which are about substitution, ``"shuffled"``.

    Returns
    -------
    guarantee : Guarantee
        The guarantee. Its ``delta`` is below the one asked for if a smaller one gives the same
        epsilon: a pure total keeps delta = 0.

    Raises
    ------
    GuaranteeError
        If the events have no guarantee of this kind; the message says what to do.

    Examples
    --------
    >>> from shoal.privacy import GaussianEvent, PureEvent, Repeated
    >>> step = PureEvent(epsilon=0.1)
    >>> compose([step, step]).epsilon
    0.2
    >>> many = compose([Repeated(event=step, times=100)], delta=1e-6)
    >>> round(many.epsilon, 2)  # adding gives 10
    4.77
    >>> round(compose([GaussianEvent(sigma=4.0, sensitivity=1.0)], delta=1e-6).epsilon, 3)
    1.061
    """
    delta = _numbers.probability("delta", delta)
    _numbers.instance("adjacency", adjacency, Adjacency)
    _numbers.choice("notion", notion, _NOTIONS)
    schedule = Composed(events=tuple(events) if isinstance(events, Iterable) else events)
    metric = metric_cost(schedule)
    if metric is not None:
        try:
            total = float(metric[1])
        except OverflowError:
            raise GuaranteeError("the metric epsilons add up to more than a float holds") from None
        return Guarantee("metric", total, adjacency=adjacency, unit=metric[0])
    if notion == "metric":
        raise GuaranteeError("a metric promise needs metric events: give MetricEvent with a unit")
    batches = shuffled_cost(schedule)
    if batches is None and notion == "shuffled":
        raise GuaranteeError("a shuffled promise needs shuffled events: give ShuffledEvent")
    price = cost(schedule)
    best = _best(schedule, price, delta)
    if batches is not None:
        return Guarantee(
            "shuffled",
            best.epsilon,
            best.delta,
            Adjacency.SUBSTITUTE,
            local_epsilon=max(best.epsilon, float(batches.local_epsilon)),
            n_reports=batches.n,
        )
    rho = price.rho if price.delta == 0 and math.isfinite(price.rho) else None
    mu = math.sqrt(price.mu_squared) if math.isfinite(price.mu_squared) else None
    return Guarantee(notion, best.epsilon, best.delta, adjacency, rho=rho, mu=mu)


def _best(schedule: Composed, price: Cost, delta: float) -> Loss:
    if price.delta > delta:
        raise GuaranteeError(
            f"delta must be at least the {price.delta:g} that the events bring along, got {delta:g}"
        )
    if delta == 0 and not math.isfinite(price.epsilon):
        raise GuaranteeError("Gaussian events have no pure epsilon: give delta > 0")
    added = Loss(price.epsilon, price.delta)
    parts = steps(schedule)
    # Alone, a pure step gains about 2 delta of epsilon from a delta.
    nothing_to_gain = parts.total() <= 1 and delta <= _TOO_SMALL_A_DELTA * price.epsilon < math.inf
    if delta == 0 or nothing_to_gain:
        return added
    traded = min(
        _zcdp_epsilon(price, delta), _gdp_epsilon(price, delta), epsilon_by_losses(parts, delta)
    )
    if traded < _WORTH_A_DELTA * added.epsilon:
        return Loss(traded, delta)
    if not math.isfinite(added.epsilon):
        raise GuaranteeError(
            f"the events have no finite epsilon at delta = {delta:g}: give a larger delta or more "
            "noise"
        )
    return added


def _zcdp_epsilon(price: Cost, delta: float) -> float:
    left = delta - price.delta
    if left <= 0 or not math.isfinite(price.rho):
        return math.inf
    return zcdp_to_epsilon(price.rho, left)


def _gdp_epsilon(price: Cost, delta: float) -> float:
    if not math.isfinite(price.mu_squared):
        return math.inf
    return gdp_to_epsilon(math.sqrt(price.mu_squared), delta)


_MAX_DOUBLINGS = 40


def scale_to_fit(
    schedule: Callable[[float], Sequence[Event]],
    epsilon: float,
    delta: float = 0.0,
    *,
    tolerance: float = 1e-4,
) -> float:
    """Return the smallest noise multiplier with which a schedule stays within (epsilon, delta).

    Parameters
    ----------
    schedule : callable
        Function from a multiplier > 0 to events; a larger multiplier must mean more noise.
    epsilon : float
        Upper limit on epsilon, > 0.
    delta : float, default=0.0
        Upper limit on delta, in [0, 1).
    tolerance : float, default=1e-4
        How far above the smallest multiplier the result may be, as a fraction of it.

    Returns
    -------
    multiplier : float
        A multiplier for which ``compose(schedule(multiplier), delta=delta).epsilon <= epsilon`` was
        checked. For long mixed schedules this takes up to a few seconds: keep the result.

    Raises
    ------
    GuaranteeError
        If even a multiplier of 2^40 is too small.

    Examples
    --------
    >>> from shoal.privacy import GaussianEvent
    >>> sigma = scale_to_fit(lambda m: [GaussianEvent(sigma=m, sensitivity=1.0)], 1.0, 1e-6)
    >>> round(sigma, 2)
    4.22
    """
    epsilon = _numbers.positive("epsilon", epsilon)
    delta = _numbers.probability("delta", delta)
    tolerance = _numbers.positive("tolerance", tolerance)

    def fits(multiplier: float) -> bool:
        try:
            return compose(schedule(multiplier), delta=delta).epsilon <= epsilon
        except GuaranteeError:
            return False  # too little noise for any promise at this delta

    high = 1.0
    if fits(high):
        low = high / 2
        while fits(low) and low > 2.0**-_MAX_DOUBLINGS:
            low, high = low / 2, low
    else:
        low, high = high, 2 * high
        while not fits(high):
            if high >= 2.0**_MAX_DOUBLINGS:
                _refuse(schedule(high), epsilon, delta)
            low, high = high, 2 * high
    while high / low > 1 + tolerance:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _refuse(events: Sequence[Event], epsilon: float, delta: float) -> None:
    reached = compose(events, delta=delta).epsilon  # raises the reason where there is no promise
    raise GuaranteeError(
        f"epsilon must be above {reached:g}, which the schedule costs with any noise, got "
        f"{epsilon:g}"
    )
