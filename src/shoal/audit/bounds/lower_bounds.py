"""Lower bounds of epsilon from the outputs of a mechanism on two records.

Draw outputs of both records; on one half of them choose ONE event and ONE direction; on the other
half count it and put exact limits (Clopper-Pearson) on its two probabilities p and q. Differential
privacy says p <= e^epsilon q + delta, so epsilon is at least ln((p_low - delta) / q_high). The
choice never sees the half that is counted, so the bound is wrong with probability at most
1 - confidence however many events were tried.

Metric privacy (geo-indistinguishability) says p <= e^(epsilon ||x - x'||) q, so the bound of two
records divided by their distance bounds epsilon in nats per unit of Euclidean distance.
"""

import numbers
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.bounds._measure import as_vector, claimed_guarantee, measure
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
    """Return a statistical lower bound on the epsilon of a mechanism, from outputs on two records.

    A bound above the claimed epsilon shows that the claim is wrong; one below it proves nothing.

    Parameters
    ----------
    mechanism : object with ``transform`` or callable
        Either an object whose ``transform(X)`` randomizes each row of X independently (a local
        mechanism), or a callable ``f(record, n)`` that returns n independent outputs as an array of
        shape (n,) or (n, d). If it has ``log_density(z, x)``, that is used to find events.
    first, second : object
        Two neighboring inputs: numbers or vectors for ``transform``, anything for a callable.
    samples : int, default=100_000
        Number of outputs drawn for each input, at least 100. At the default confidence the bound
        cannot exceed about ``ln(samples / 15)``.
    delta : float, default=0.0
        The delta of an (epsilon, delta) claim.
    confidence : float, default=0.999
        Probability that the bound is true.
    score : callable, optional
        ``score(outputs, first, second)`` returns one number for each output; events are then
        thresholds on this score alone. By default the log-density ratio, distances, directions,
        columns, bins, exact values and lowest set bits are tried; the time grows with the number of
        columns.

    Returns
    -------
    result : AuditResult
        The bound, and the event that it comes from.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the outputs of the two inputs differ in shape.

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
    """Refuse parameters that break their rule."""
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


def metric_epsilon_lower_bound(
    mechanism: Any,
    first: Any,
    second: Any,
    *,
    samples: int = 400_000,
    confidence: float = 0.999,
    score: CustomScore | None = None,
) -> AuditResult:
    """Return a statistical lower bound on the metric epsilon of a mechanism, from two records.

    The bound is sharpest for two records with epsilon * distance between 1 and 3. The slack that
    the guarantee of the mechanism states beside epsilon is taken off before the division.

    Parameters
    ----------
    mechanism : object with ``transform`` or callable
        As in :func:`epsilon_lower_bound`.
    first, second : float or array-like of shape (d,)
        Two different records.
    samples : int, default=400_000
        Number of outputs drawn for each record, at least 100.
    confidence : float, default=0.999
        Probability that the bound is true.
    score : callable, optional
        As in :func:`epsilon_lower_bound`.

    Returns
    -------
    result : AuditResult
        The bound per unit of distance, with the distance.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the records are equal or differ in length.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def laplace(record, n):
    ...     return np.round(record + rng.laplace(scale=0.5, size=n), 3)
    >>> result = metric_epsilon_lower_bound(laplace, 0.0, 1.0)
    >>> result.distance, result.exceeds(2.0), result.exceeds(1.8)
    (1.0, False, True)
    """
    check_parameters(samples=samples, delta=0.0, confidence=confidence, score=score)
    vector_first = as_vector(first, name="first")
    vector_second = as_vector(second, name="second")
    if vector_first.size != vector_second.size:
        raise ParameterError(
            "first and second must have the same length, "
            f"got {vector_first.size} and {vector_second.size}"
        )
    distance = float(np.linalg.norm(vector_first - vector_second))
    if not 0.0 < distance < np.inf:
        raise ParameterError(
            "first and second must be two different records at a finite distance, "
            f"got distance {distance}"
        )
    result = epsilon_lower_bound(
        mechanism, first, second, samples=samples, confidence=confidence, score=score
    )
    slack = getattr(claimed_guarantee(mechanism, first), "slack", 0.0)
    return per_distance(result, distance, slack=slack)


def per_distance(result: AuditResult, distance: float, *, slack: float) -> AuditResult:
    """Turn a bound for two records into one per unit of distance, of what is above the slack."""
    claimed = None if result.claimed is None else (result.claimed - slack) / distance
    epsilon = max(0.0, result.epsilon - slack) / distance
    return replace(result, epsilon=epsilon, distance=distance, claimed=claimed)
