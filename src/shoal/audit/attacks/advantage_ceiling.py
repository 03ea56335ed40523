"""The largest advantage of any attacker that a promise allows, whatever the attack.

An attacker who must tell two neighboring tables (or two values of one record) apart from a release
has TPR - FPR at most the total variation distance of the two laws, and a promise bounds that.
"""

import math

from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee

__all__ = ["advantage_ceiling"]


def advantage_ceiling(guarantee: Guarantee, *, diameter: float | None = None) -> float | None:
    """Return the largest TPR - FPR that a promise allows an attacker.

    For a central promise the attacker tells two tables apart that are neighbors as the promise has
    it: with and without a record under add/remove. For a local or metric promise the attacker tells
    two values of one record apart from its report. With (epsilon, delta) the ceiling is
    (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) (Kairouz, Oh & Viswanath 2015); a known zCDP
    parameter may lower it (Pinsker; Bretagnolle & Huber).

    Parameters
    ----------
    guarantee : Guarantee
        The promise. That its noise was seeded changes nothing: an attacker is assumed not to know
        the seed.
    diameter : float, optional
        Largest distance of two records, for a metric promise.

    Returns
    -------
    ceiling : float or None
        From 0 to 1; None where nothing is promised, or a metric promise comes without a diameter.

    Examples
    --------
    >>> from shoal.privacy import Guarantee
    >>> round(advantage_ceiling(Guarantee("central", epsilon=1.0)), 3)
    0.462
    >>> round(advantage_ceiling(Guarantee("metric", epsilon=0.5), diameter=2.0), 3)
    0.462
    """
    promise = guarantee
    if not isinstance(promise, Guarantee):
        raise ParameterError(f"guarantee must be a Guarantee, got {type(promise).__name__}")
    if promise.notion == "none":
        return None
    if promise.notion == "metric":
        if diameter is None:
            return None
        promise = promise.to_local(diameter)
    # Both written so that a large epsilon does not overflow.
    odds = math.exp(-promise.epsilon)
    ceiling = math.tanh(promise.epsilon / 2) + 2 * promise.delta * odds / (1 + odds)
    if promise.rho is not None:
        pinsker = math.sqrt(promise.rho / 2)
        ceiling = min(ceiling, pinsker, math.sqrt(-math.expm1(-promise.rho)))
    return min(1.0, ceiling)
