"""Lower bound of epsilon for two records, with a confidence that is honest.

Draw outputs of both records; on one half of them choose ONE event and ONE direction; on the other
half count it and put exact limits (Clopper-Pearson) on its two probabilities p and q. Differential
privacy says p <= e^epsilon q + delta, so epsilon is at least ln((p_low - delta) / q_high). The
choice never sees the half that is counted, so the bound is wrong with probability at most
1 - confidence however many events were tried.
"""

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from shoal.audit.bounds._claim import claimed_epsilon
from shoal.audit.bounds._intervals import clopper_pearson, log_ratio_bound
from shoal.audit.bounds._learned import learned_scores
from shoal.audit.bounds._sampling import draw, numeric_vector
from shoal.audit.bounds._scores import FloatArray, Score, custom_score, fixed_scores
from shoal.audit.bounds._search import best_event
from shoal.audit.bounds.result import AuditResult, Frequency
from shoal.exceptions import ParameterError

MIN_SAMPLES = 100

CustomScore = Callable[[FloatArray, Any, Any], npt.ArrayLike]


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
        Either an object whose ``transform(X)`` randomises each row of X on its own (a local
        mechanism), or a callable ``f(record, n)`` that gives n independent outputs as an array of
        shape (n,) or (n, d). Where it has ``log_density(z, x)``, that is used to find events.
    first, second : object
        Two neighbouring inputs: numbers or vectors for ``transform``; anything the callable takes.
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
    Randomised response that lies with probability 1/4 has epsilon ln 3 = 1.0986:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> result = epsilon_lower_bound(lambda bit, n: bit ^ (rng.random(n) < 0.25), 0, 1)
    >>> result.exceeds(np.log(3)), result.exceeds(1.0)
    (False, True)
    """
    check_parameters(samples=samples, delta=delta, confidence=confidence, score=score)
    outputs_first = draw(mechanism, first, samples, name="first")
    outputs_second = draw(mechanism, second, samples, name="second")
    if outputs_first.shape != outputs_second.shape:
        raise ParameterError(
            "mechanism must give outputs of one shape for both records, "
            f"got {outputs_first.shape} and {outputs_second.shape}"
        )
    flat = outputs_first.ndim == 1
    table_first = outputs_first.reshape(samples, -1)
    table_second = outputs_second.reshape(samples, -1)

    half = samples // 2
    search_first, search_second = table_first[:half], table_second[:half]
    if score is None:
        quarter = half // 2
        scores = fixed_scores(
            mechanism, numeric_vector(first), numeric_vector(second), table_first.shape[1]
        )
        scores += learned_scores(search_first[:quarter], search_second[:quarter])
    else:
        scores = [custom_score(score, first, second, flat=flat)]
    result = _measure(
        scores,
        (search_first, search_second),
        (table_first[half:], table_second[half:]),
        delta=delta,
        confidence=confidence,
    )
    return replace(result, claimed=claimed_epsilon(mechanism, first, second, delta=delta))


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


def _measure(
    scores: list[Score],
    search: tuple[FloatArray, FloatArray],
    held_out: tuple[FloatArray, FloatArray],
    *,
    delta: float,
    confidence: float,
) -> AuditResult:
    """Choose the event on `search`, then count it on `held_out`, in this order."""
    error = 1.0 - confidence
    event = best_event(scores, *search, delta=delta, error=error)
    trials = len(held_out[0])
    hits_first, hits_second = event.hits(held_out[0]), event.hits(held_out[1])
    likely, unlikely = (
        (hits_first, hits_second) if event.towards_first else (hits_second, hits_first)
    )
    bound = float(log_ratio_bound(likely, unlikely, trials, delta=delta, error=error))
    return AuditResult(
        epsilon=max(bound, 0.0),
        confidence=float(confidence),
        samples=len(search[0]) + trials,
        event=str(event),
        p_first=_frequency(hits_first, trials, error=error),
        p_second=_frequency(hits_second, trials, error=error),
    )


def _frequency(hits: int, trials: int, *, error: float) -> Frequency:
    low, high = clopper_pearson(hits, trials, error=error / 2)
    return Frequency(value=hits / trials, low=float(low), high=float(high))
