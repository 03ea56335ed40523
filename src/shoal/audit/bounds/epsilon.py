"""Lower bound of epsilon for two records, with a confidence that is honest.

Draw outputs of both records; on one half of them choose ONE event and ONE direction; on the other
half count it and put exact limits (Clopper-Pearson) on its two probabilities p and q. Differential
privacy says p <= e^epsilon q + delta, so epsilon is at least ln((p_low - delta) / q_high). The
choice never sees the half that is counted, so the bound is wrong with probability at most
1 - confidence however many events were tried.
"""

import numbers
from typing import Any

from shoal.audit.bounds._measure import measure
from shoal.audit.bounds._scores import CustomScore
from shoal.audit.bounds.result import AuditResult
from shoal.exceptions import ParameterError

MIN_SAMPLES = 100


def epsilon_lower_bound(
    mechanism: Any,
    first: Any,
    second: Any,
    *,
    samples: int = 100_000,
    delta: float = 0.0,
    confidence: float = 0.999,
    score: CustomScore | None = None,
) -> AuditResult:
    """Find a lower bound of the epsilon of a mechanism from its outputs on two records.

    Parameters
    ----------
    mechanism : object with ``transform`` or callable
        Either an object whose ``transform(X)`` randomizes each row of X on its own (a local
        mechanism), or a callable ``f(record, n)`` that gives n independent outputs as an array of
        shape (n,) or (n, d). Where it has ``log_density(z, x)``, that is used to find events.
    first, second : object
        Two neighboring inputs: numbers or vectors for ``transform``; anything the callable takes.
    samples : int, default=100_000
        Number of outputs of each record, at least 100. No bound can pass about
        ``ln(samples / 15)`` at the default confidence.
    delta : float, default=0.0
        The delta of an (epsilon, delta) claim.
    confidence : float, default=0.999
        Probability with which the bound must be true.
    score : callable, optional
        ``score(outputs, first, second)`` gives one number an output; events are then cuts of this
        score alone. Without it the log-density ratio, distances, directions, columns, bins, exact
        values and lowest set bits are tried; the time taken grows with the number of columns.

    Returns
    -------
    result : AuditResult
        The bound, and the event that gave it.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, or the outputs of the two records differ in shape.

    Examples
    --------
    Randomized response that lies with probability 1/4 has epsilon ln 3 = 1.0986:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> result = epsilon_lower_bound(lambda bit, n: bit ^ (rng.random(n) < 0.25), 0, 1)
    >>> result.exceeds(np.log(3)), result.exceeds(1.0)
    (False, True)
    """
    check_parameters(samples=samples, delta=delta, confidence=confidence, score=score)
    return measure(
        mechanism,
        first,
        second,
        samples=samples,
        delta=delta,
        confidence=confidence,
        score=score,
    ).result


def check_parameters(
    *, samples: int, delta: float, confidence: float, score: CustomScore | None
) -> None:
    """Refuse parameters that break their rule.

    Parameters
    ----------
    samples, delta, confidence, score
        As in :func:`epsilon_lower_bound`.

    Raises
    ------
    ParameterError
        If one breaks its rule.
    """
    if isinstance(samples, bool) or not isinstance(samples, numbers.Integral):
        raise ParameterError(f"samples must be an integer >= {MIN_SAMPLES}, got {samples!r}")
    if samples < MIN_SAMPLES:
        raise ParameterError(f"samples must be an integer >= {MIN_SAMPLES}, got {samples!r}")
    if not _is_number(delta) or not 0.0 <= delta < 1.0:
        raise ParameterError(f"delta must be in [0, 1), got {delta!r}")
    if not _is_number(confidence) or not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must be between 0 and 1, got {confidence!r}")
    if score is not None and not callable(score):
        raise ParameterError(f"score must be a callable or None, got {score!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
