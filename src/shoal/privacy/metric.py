"""What metric events cost: an epsilon per unit of distance, in an account of its own."""

import math

from shoal.exceptions import GuaranteeError
from shoal.privacy.events import Composed, Event, MetricEvent, Parallel, Repeated

__all__ = ["metric_cost"]


def metric_cost(event: Event) -> tuple[str, float] | None:
    """Return the unit and the epsilon of a metric event, or None for any other event.

    Parameters
    ----------
    event : Event
        Metric events of one unit, possibly composed, or events without any metric one.

    Returns
    -------
    price : (str, float) or None
        The unit of distance and the total epsilon.

    Raises
    ------
    GuaranteeError
        If metric events meet other events, or metric events of another unit.

    Examples
    --------
    >>> metric_cost(Repeated(event=MetricEvent(epsilon=0.5, unit="km"), times=2))
    ('km', 1.0)
    """
    if isinstance(event, MetricEvent):
        return event.unit, event.epsilon
    if isinstance(event, Repeated):
        inner = metric_cost(event.event)
        return None if inner is None else (inner[0], event.times * inner[1])
    if not isinstance(event, Composed | Parallel):
        return None
    prices = [metric_cost(child) for child in event.events]
    metric = [price for price in prices if price is not None]
    if not metric:
        return None
    units = {unit for unit, _ in metric}
    if len(metric) < len(prices) or len(units) > 1:
        raise GuaranteeError(
            "metric events add up with metric events of the same unit only: spend them apart, or "
            "convert with metric_to_local(epsilon, diameter)"
        )
    # A record holder's reports all tell about one record, so parallel parts add up as well.
    return units.pop(), math.fsum(epsilon for _, epsilon in metric)
