"""The epsilon that is left when a continuous sampler runs in finite precision.

shoal's own samplers are exact and need no correction. A client that draws Laplace noise in plain
doubles and rounds the report to the public lattice (a browser, a phone) does: it must draw at the
smaller epsilon' given here to keep epsilon. Andres, Bordenabe, Chatzikokolakis & Palamidessi
(2013), theorem 4.1, and its form for d dimensions (proofs/noise.md, theorem 6).
"""

import math

from shoal.exceptions import ParameterError

__all__ = ["corrected_epsilon"]

ROUNDS = 200  # of bisection: the interval reaches neighbouring doubles long before


def corrected_epsilon(
    epsilon: float, *, step: float, radius: float, precision: float, dimension: int = 2
) -> float:
    """Largest epsilon' at which a finite-precision sampler keeps metric epsilon.

    Parameters
    ----------
    epsilon : float
        The metric epsilon to keep, per unit of distance.
    step : float
        Distance between neighbouring lattice points; records and reports are rounded to them.
    radius : float
        Largest distance of a report from its record, after clipping to the outer box.
    precision : float
        Largest error of a sampled coordinate, relative to ``radius`` (2^-52 for doubles at best).
    dimension : int, default=2
        Number of columns.

    Returns
    -------
    epsilon : float
        Draw with this one.

    Raises
    ------
    ParameterError
        If the lattice is so fine that no epsilon' is left.

    Examples
    --------
    >>> from shoal.noise import corrected_epsilon
    >>> round(corrected_epsilon(1.0, step=2**-12, radius=64.0, precision=2**-50), 6)
    0.999996
    """
    given = {"epsilon": epsilon, "step": step, "radius": radius, "precision": precision}
    for name, value in given.items():
        if not (math.isfinite(value) and value > 0):
            raise ParameterError(f"{name} must be a finite number above 0, got {value!r}")
    if dimension < 1:
        raise ParameterError(f"dimension must be at least 1, got {dimension!r}")
    ratio = step / (radius * precision)  # lattice step over the sampler's absolute error
    low, high = 0.0, epsilon
    if _kept(low, step, ratio, dimension) > epsilon:
        enough = math.sqrt(16 * dimension * radius * precision / epsilon)
        raise ParameterError(
            f"step must be coarser, got {step!r}: it leaves no epsilon at precision {precision!r} "
            f"and radius {radius!r}; {enough:.3g} would do"
        )
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if _kept(middle, step, ratio, dimension) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def _kept(drawn: float, step: float, ratio: float, dimension: int) -> float:
    """Epsilon that holds when the sampler draws at ``drawn``; infinite when nothing does."""
    if dimension == 2:
        eta = 2 / ratio * math.exp(drawn * step)
    else:
        spread = 1 + 2 / ratio
        growth = math.expm1(dimension * math.log1p(2 / ratio))
        eta = growth * math.exp(drawn * math.sqrt(dimension) * step * spread)
    if eta >= 1:
        return math.inf
    return drawn + (math.log1p(eta) - math.log1p(-eta)) / step
