"""The epsilon a mechanism claims for two records, read from its own guarantee."""

from typing import Any

import numpy as np

from shoal.audit.bounds._sampling import numeric_vector


def claimed_epsilon(mechanism: Any, first: Any, second: Any, *, delta: float) -> float | None:
    """Read what ``mechanism.guarantee_`` promises for two records.

    Parameters
    ----------
    mechanism : object
        Anything; only one with a ``guarantee_`` that has a notion and an epsilon claims something.
    first, second : object
        The two records.
    delta : float
        The delta of the audit; a claim with a larger one is about other events.

    Returns
    -------
    claimed : float or None
        The epsilon that bounds the two records; None where nothing comparable is claimed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> promise = SimpleNamespace(notion="metric", epsilon=2.0, delta=0.0)
    >>> claimed_epsilon(SimpleNamespace(guarantee_=promise), [0.0], [3.0], delta=0.0)
    6.0
    """
    guarantee = getattr(mechanism, "guarantee_", None)
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
            return float(epsilon * np.linalg.norm(vectors[0] - vectors[1]))
    return None
