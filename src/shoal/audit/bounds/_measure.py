"""From two inputs to a bound: draw outputs, choose the event on one half, count it on the other."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from shoal._report_channel import ReportChannel, promise_of_reports
from shoal._statistics import clopper_pearson
from shoal._typing import Floats
from shoal.audit.bounds._scores import (
    CustomScore,
    Score,
    custom_score,
    fixed_scores,
    learned_scores,
)
from shoal.audit.bounds._search import best_event, log_ratio_bound
from shoal.audit.bounds.result import AuditResult, Evidence, Frequency
from shoal.exceptions import ParameterError

CHUNK_VALUES = 1 << 23  # Numbers handed to one call of `transform`: 64 MB.


def draw(mechanism: Any, record: Any, samples: int, *, name: str) -> Floats:
    """Run a mechanism `samples` times on one record."""
    if hasattr(mechanism, "transform"):
        return _transform(mechanism, as_vector(record, name=name), samples)
    if callable(mechanism):
        return _as_outputs(mechanism(record, samples), samples)
    raise ParameterError(
        "mechanism must have transform, or be a callable of a record and a number, "
        f"got {type(mechanism).__name__}"
    )


def as_vector(record: Any, *, name: str) -> Floats:
    """Turn a number or a vector into a float64 vector, or refuse it."""
    vector = numeric_vector(record)
    if vector is None:
        raise ParameterError(f"{name} must be a number or a vector of finite numbers")
    return vector


def numeric_vector(record: Any) -> Floats | None:
    """Turn a number or a vector of finite numbers into float64, or return None."""
    try:
        values = np.asarray(record)
    except ValueError:
        return None
    if values.dtype.kind not in "biuf" or values.ndim > 1 or values.size == 0:
        return None
    vector = np.atleast_1d(values).astype(np.float64)
    return vector if np.isfinite(vector).all() else None


def _transform(mechanism: Any, record: Floats, samples: int) -> Floats:
    rows = max(1, CHUNK_VALUES // record.size)
    chunks: list[Floats] = []
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        tiled = np.tile(record, (count, 1))
        chunks.append(_as_outputs(mechanism.transform(tiled), count))
    if len(chunks) > 1:
        _refuse_repeats(chunks[0], chunks[1])
    return np.concatenate(chunks)


def _refuse_repeats(one: Floats, other: Floats) -> None:
    """Refuse noise that starts again with every call: its outputs are not independent."""
    head = one[: len(other)]
    # A mechanism without noise repeats itself too, and is for the audit to catch.
    if np.array_equal(head, other) and (head != head[0]).any():
        raise ParameterError(
            "mechanism must draw fresh noise in every call, got the same outputs twice",
            parameter="random_state",
            code="seeded",
            in_python="audit it with random_state=None or with fewer samples",
        )


def _as_outputs(values: Any, samples: int) -> Floats:
    try:
        outputs = np.asarray(values)
    except ValueError:
        outputs = np.empty(0, dtype=object)
    if outputs.dtype.kind not in "biuf":
        raise ParameterError(f"mechanism must give numbers, got {outputs.dtype}")
    if outputs.ndim not in (1, 2) or len(outputs) != samples or outputs.size == 0:
        raise ParameterError(
            f"mechanism must give {samples} outputs of shape (n,) or (n, d), "
            f"got shape {outputs.shape}"
        )
    return outputs.astype(np.float64)


def claimed_epsilon(mechanism: Any, first: Any, second: Any, *, delta: float) -> float | None:
    """Read what ``mechanism.guarantee_`` promises for two records.

    >>> from types import SimpleNamespace
    >>> promise = SimpleNamespace(notion="metric", epsilon=2.0, delta=0.0)
    >>> claimed_epsilon(SimpleNamespace(guarantee_=promise), [0.0], [3.0], delta=0.0)
    6.0
    """
    guarantee = claimed_guarantee(mechanism, first)
    notion = getattr(guarantee, "notion", None)
    epsilon = getattr(guarantee, "epsilon", None)
    if epsilon is None or getattr(guarantee, "delta", 0.0) > delta:
        return None
    # The notion is text or an enumeration whose value is that text.
    notion = getattr(notion, "value", notion)
    if notion in ("central", "local"):
        return float(epsilon)
    if notion == "metric":
        vectors = numeric_vector(first), numeric_vector(second)
        if vectors[0] is not None and vectors[1] is not None:
            distance = np.linalg.norm(vectors[0] - vectors[1])
            return float(epsilon * distance + getattr(guarantee, "slack", 0.0))
    return None


def claimed_guarantee(mechanism: Any, record: Any) -> Any:
    """Return the guarantee of a mechanism for records such as this one, or None without any."""
    vector = numeric_vector(record)
    if isinstance(mechanism, ReportChannel) and vector is not None:
        return promise_of_reports(mechanism, vector.size)
    return getattr(mechanism, "guarantee_", None)


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
    """Bound epsilon from outputs on two inputs."""
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
    result, evidence = bound_event(
        scores,
        (search_first, search_second),
        (table_first[half:], table_second[half:]),
        delta=delta,
        confidence=confidence,
    )
    claimed = claimed_epsilon(mechanism, first, second, delta=delta)
    return Measured(replace(result, claimed=claimed), evidence)


def bound_event(
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
