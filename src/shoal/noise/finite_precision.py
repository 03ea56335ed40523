"""The epsilon that is left when a continuous sampler runs in finite precision.

shoal's own samplers are exact and need no correction. A client that draws Laplace noise in plain
doubles and rounds the report to the public lattice (a browser, a phone) does: it must draw at the
smaller epsilon' given here to keep epsilon. One formula for every number of columns, that of
proofs/noise.md, theorem 6, after Andres, Bordenabe, Chatzikokolakis & Palamidessi (2013), theorem
4.1. Their own formula for the plane allows for half of what a sampler of that precision can do.
"""

import math

from shoal import _numbers
from shoal.exceptions import ParameterError

__all__ = ["corrected_epsilon"]

SMALLEST = 5e-324  # the smallest double above 0
LARGEST_LOG = 700.0  # whose exponential is a double; an eta so large keeps nothing anyway
ROUNDS = 200  # of bisection: the interval reaches neighboring doubles long before
ROUNDING = 2.0**-40  # relative, taken off the result: far more than doubles lose in the formula


def corrected_epsilon(
    epsilon: float, *, step: float, radius: float, precision: float, dimension: int = 2
) -> float:
    """Largest epsilon' at which a finite-precision sampler keeps metric epsilon.

    Parameters
    ----------
    epsilon : float
        The metric epsilon to keep, per unit of distance.
    step : float
        Distance between neighboring lattice points; records and reports are rounded to them.
    radius : float
        Largest noise that the sampler can draw. (With 53 bits to a uniform, an exponential is at
        most 36.8.)
    precision : float
        Largest error of a coordinate of the report before it is rounded to the lattice, relative
        to ``radius``, for every draw: of the noise and of the sum of record and noise (2^-52 for
        doubles at best).
    dimension : int, default=2
        Number of columns.

    Returns
    -------
    epsilon : float
        Draw with this one.

    Raises
    ------
    ParameterError
        If the lattice is so fine, or so coarse, that no epsilon' is left.

    Notes
    -----
    A sampler whose error is larger with some probability p, as where a uniform's last bits are
    missing in the tail, keeps epsilon but for a delta of p (1 + e^(epsilon r)) at distance r.

    Examples
    --------
    >>> from shoal.noise import corrected_epsilon
    >>> round(corrected_epsilon(1.0, step=2**-12, radius=64.0, precision=2**-50), 6)
    0.999992
    """
    for name, value in {"epsilon": epsilon, "step": step, "radius": radius}.items():
        _numbers.positive(name, value)
    _numbers.positive_probability("precision", precision)
    _numbers.count("dimension", dimension)
    error = radius * precision
    low, high = 0.0, epsilon
    if not _kept(low, step, error, dimension) < epsilon:
        raise ParameterError(
            f"step must be coarser, got {step!r}: it leaves no epsilon at precision {precision!r} "
            f"and radius {radius!r}; {_enough(epsilon, step, error, dimension):.3g} would do"
        )
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if _kept(middle, step, error, dimension) <= epsilon:
            low = middle
        else:
            high = middle
    if low == 0.0:
        raise ParameterError(f"step must be finer, got {step!r}: no noise can be drawn on it")
    return low * (1.0 - ROUNDING)


def _kept(drawn: float, step: float, error: float, dimension: int) -> float:
    """Epsilon that holds when the sampler draws at ``drawn``; infinite when nothing does."""
    wider = 2.0 * error / step  # of a cell, in cells
    if not wider < 1.0:
        return math.inf
    growth = math.expm1(dimension * min(math.log1p(wider), LARGEST_LOG / dimension))
    exponent = drawn * math.sqrt(dimension) * step * (1.0 + wider)
    log_eta = math.log(max(growth, SMALLEST)) + exponent
    if not log_eta < -ROUNDING:
        return math.inf
    eta = math.exp(log_eta)
    return drawn + (math.log1p(eta) - math.log1p(-eta)) / step


def _enough(epsilon: float, step: float, error: float, dimension: int) -> float:
    """Return a step that leaves half of epsilon for the noise, if it is not far too coarse."""
    while math.isfinite(step) and not _kept(0.0, step, error, dimension) <= epsilon / 2:
        step *= 2.0
    return step
