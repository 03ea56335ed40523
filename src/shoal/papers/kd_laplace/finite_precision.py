"""The epsilon that is left for Laplace noise drawn in doubles and rounded to a lattice.

Andres et al. (2013, theorem 4.1), whose planar Laplace mechanism the thesis extends, count half of
what the rounding may cost; proofs/noise.md, theorem 6, has all of it, in any number of columns. The
mechanisms of shoal draw exactly and need no correction.
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
    """Return the epsilon to draw floating-point noise with, so that metric epsilon still holds.

    Rounding errors of a sampler in finite precision cost privacy; a smaller epsilon makes up for
    them.

    Parameters
    ----------
    epsilon : float
        The metric epsilon to guarantee, per unit of distance.
    step : float
        Distance between neighboring lattice points, to which records and reports are rounded.
    radius : float
        Length of the largest noise that the sampler can draw. (With uniforms of 53 bits, an
        exponential is at most 36.8.)
    precision : float
        Largest error of a coordinate of any report before it is rounded to the lattice, divided by
        ``radius``: that of the noise and that of adding it to the record (2^-52 for doubles at
        best).
    dimension : int, default=2
        Number of columns.

    Returns
    -------
    epsilon : float
        Epsilon to draw the noise with.

    Raises
    ------
    ParameterError
        If the lattice is so fine, or so coarse, that no such epsilon exists.

    Notes
    -----
    If the error of a sampler is larger with some probability p, for instance because the last bits
    of a uniform are missing in the tail, epsilon holds except for a delta of
    p (1 + e^(epsilon r)) at distance r.

    Examples
    --------
    >>> from shoal.papers.kd_laplace import corrected_epsilon
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
            f"and radius {radius!r}; {_enough(epsilon, step, error, dimension):.3g} would do",
            parameter="step",
            code="resolution",
        )
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if _kept(middle, step, error, dimension) <= epsilon:
            low = middle
        else:
            high = middle
    if low == 0.0:
        raise ParameterError(
            f"step must be finer, got {step!r}: no noise can be drawn on it",
            parameter="step",
            code="resolution",
        )
    return low * (1.0 - ROUNDING)


def _kept(drawn: float, step: float, error: float, dimension: int) -> float:
    """Return the epsilon that holds when the sampler draws at ``drawn``, or infinity."""
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
