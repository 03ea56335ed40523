"""Lower bound of epsilon for metric privacy: nats per unit of Euclidean distance.

Metric privacy (geo-indistinguishability) says p <= e^(epsilon ||x - x'||) q, so the bound of
:func:`shoal.audit.epsilon_lower_bound` divided by the distance bounds epsilon.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.bounds._sampling import as_vector
from shoal.audit.bounds._scores import CustomScore
from shoal.audit.bounds.epsilon import check_parameters, epsilon_lower_bound
from shoal.audit.bounds.result import AuditResult
from shoal.exceptions import ParameterError


def metric_epsilon_lower_bound(
    mechanism: Any,
    first: Any,
    second: Any,
    *,
    samples: int = 400_000,
    confidence: float = 0.999,
    score: CustomScore | None = None,
) -> AuditResult:
    """Find a lower bound of the metric epsilon of a mechanism from its outputs on two records.

    Two records with epsilon * distance between 1 and 3 show most. On a mechanism that rounds its
    input to a lattice, take two points of the lattice: the distance it promises for is measured
    between those.

    Parameters
    ----------
    mechanism : object with ``transform`` or callable
        As in :func:`epsilon_lower_bound`.
    first, second : float or array-like of shape (d,)
        Two different records.
    samples : int, default=400_000
        Number of outputs of each record, at least 100.
    confidence : float, default=0.999
        Probability with which the bound must be true.
    score : callable, optional
        As in :func:`epsilon_lower_bound`.

    Returns
    -------
    result : AuditResult
        The bound per unit of distance, with the distance.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, or the records are the same or differ in length.

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
    found = epsilon_lower_bound(
        mechanism, first, second, samples=samples, confidence=confidence, score=score
    )
    return per_distance(found, distance)


def per_distance(found: AuditResult, distance: float) -> AuditResult:
    """Turn a bound for two records into one per unit of distance.

    Parameters
    ----------
    found : AuditResult
        The bound in nats.
    distance : float
        Euclidean distance of the two records, > 0.

    Returns
    -------
    result : AuditResult
    """
    return replace(
        found,
        epsilon=found.epsilon / distance,
        distance=distance,
        claimed=None if found.claimed is None else found.claimed / distance,
    )
