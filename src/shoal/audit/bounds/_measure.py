"""From two inputs to a bound: draw, choose the event on one half, count it on the other."""

from dataclasses import replace
from typing import Any, NamedTuple

from shoal._typing import Floats
from shoal.audit.bounds._claim import claimed_epsilon
from shoal.audit.bounds._intervals import clopper_pearson, log_ratio_bound
from shoal.audit.bounds._learned import learned_scores
from shoal.audit.bounds._sampling import draw, numeric_vector
from shoal.audit.bounds._scores import CustomScore, Score, custom_score, fixed_scores
from shoal.audit.bounds._search import best_event
from shoal.audit.bounds.evidence import Evidence
from shoal.audit.bounds.result import AuditResult, Frequency
from shoal.exceptions import ParameterError


class Measured(NamedTuple):
    """A bound, and the numbers behind it."""

    result: AuditResult
    evidence: Evidence


def measure(
    mechanism: Any,
    first: Any,
    second: Any,
    *,
    samples: int,
    delta: float = 0.0,
    confidence: float,
    score: CustomScore | None = None,
) -> Measured:
    """Bound epsilon from outputs on two inputs.

    Parameters
    ----------
    mechanism, first, second, samples, delta, confidence, score
        As in :func:`shoal.audit.epsilon_lower_bound`, checked already.

    Returns
    -------
    measured : Measured

    Raises
    ------
    ParameterError
        If the mechanism cannot be run, or its outputs for the two differ in shape.
    """
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
    result, evidence = _bound(
        scores,
        (search_first, search_second),
        (table_first[half:], table_second[half:]),
        delta=delta,
        confidence=confidence,
    )
    claimed = claimed_epsilon(mechanism, first, second, delta=delta)
    return Measured(replace(result, claimed=claimed), evidence)


def _bound(
    scores: list[Score],
    search: tuple[Floats, Floats],
    held_out: tuple[Floats, Floats],
    *,
    delta: float,
    confidence: float,
) -> Measured:
    """Choose the event on `search`, then count it on `held_out`, in this order."""
    error = 1.0 - confidence
    event = best_event(scores, *search, delta=delta, error=error)
    trials = len(held_out[0])
    values_first, values_second = (event.values(outputs) for outputs in held_out)
    hits_first, hits_second = event.count(values_first), event.count(values_second)
    likely, unlikely = (
        (hits_first, hits_second) if event.toward_first else (hits_second, hits_first)
    )
    bound = float(log_ratio_bound(likely, unlikely, trials, delta=delta, error=error))
    result = AuditResult(
        epsilon=max(bound, 0.0),
        confidence=float(confidence),
        samples=len(search[0]) + trials,
        event=str(event),
        p_first=_frequency(hits_first, trials, error=error),
        p_second=_frequency(hits_second, trials, error=error),
    )
    evidence = Evidence(
        event.score.names[event.column],
        event.relation,
        event.threshold,
        values_first,
        values_second,
    )
    return Measured(result, evidence)


def _frequency(hits: int, trials: int, *, error: float) -> Frequency:
    low, high = clopper_pearson(hits, trials, error=error / 2)
    return Frequency(value=hits / trials, low=float(low), high=float(high))
