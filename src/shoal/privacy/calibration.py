"""How much noise a schedule needs: the inverse of composition."""

import math
from collections.abc import Callable, Sequence

from shoal import _numbers
from shoal.exceptions import GuaranteeError
from shoal.privacy.composition import compose
from shoal.privacy.events import Event

__all__ = ["scale_to_fit"]

_MAX_DOUBLINGS = 40


def scale_to_fit(
    schedule: Callable[[float], Sequence[Event]],
    epsilon: float,
    delta: float = 0.0,
    *,
    tolerance: float = 1e-4,
) -> float:
    """Return the smallest noise multiplier whose schedule keeps within (epsilon, delta).

    Parameters
    ----------
    schedule : callable
        Maps a multiplier > 0 to events; more must mean more noise.
    epsilon : float
        The epsilon to keep within, > 0.
    delta : float, default=0.0
        The delta to keep within, in [0, 1).
    tolerance : float, default=1e-4
        How far above the smallest multiplier the answer may be, as a fraction.

    Returns
    -------
    multiplier : float
        ``compose(schedule(multiplier), delta=delta).epsilon <= epsilon``, as checked. Calls cost up
        to a few seconds for long mixed schedules: keep the answer.

    Raises
    ------
    GuaranteeError
        If no multiplier up to 2^40 is enough.

    Examples
    --------
    >>> from shoal.privacy import GaussianEvent
    >>> sigma = scale_to_fit(lambda m: [GaussianEvent(sigma=m, sensitivity=1.0)], 1.0, 1e-6)
    >>> round(sigma, 2)
    4.23
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
