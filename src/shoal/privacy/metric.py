"""What metric events cost: an epsilon per unit of distance, in an account of its own."""

from fractions import Fraction

from shoal.exceptions import GuaranteeError
from shoal.privacy.distance_units import convert_epsilon
from shoal.privacy.events import Composed, Event, MetricEvent, Parallel, Repeated

__all__ = ["metric_cost", "readable_epsilon"]


def metric_cost(event: Event) -> tuple[str, Fraction] | None:
    """Return the unit and the epsilon of a metric event, or None for any other event.

    Parameters
    ----------
    event : Event
        Metric events of one kind of unit, possibly composed, or events without any metric one.

    Returns
    -------
    price : (str, Fraction) or None
        The unit of distance of the first of them, and the total epsilon per that unit, exact.

    Raises
    ------
    GuaranteeError
        If metric events meet other events, or units that cannot be compared.

    Examples
    --------
    >>> metric_cost(Repeated(event=MetricEvent(epsilon=0.5, unit="km"), times=2))
    ('km', Fraction(1, 1))
    """
    if isinstance(event, MetricEvent):
        return event.unit, Fraction(event.epsilon)
    if isinstance(event, Repeated):
        inner = metric_cost(event.event)
        return None if inner is None else (inner[0], event.times * inner[1])
    if not isinstance(event, Composed | Parallel):
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
    unit = metric[0][0]
    if all(other == unit for other, _ in metric):
        same = [epsilon for _, epsilon in metric]
    else:
        same = [convert_epsilon(epsilon, other, unit) for other, epsilon in metric]
    # A record holder's reports all tell about one record, so parallel parts add up as well.
    return unit, sum(same, Fraction(0))


def readable_epsilon(epsilon: Fraction) -> str:
    """Write an exact epsilon, which may be too large for a float."""
    return f"{float(epsilon):g}" if epsilon < 10**300 else "more than 1e300"
