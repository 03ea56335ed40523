"""A promise as one sentence for whoever has to decide on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shoal.privacy.adjacency import Adjacency

if TYPE_CHECKING:
    from shoal.privacy.guarantee import Guarantee

__all__ = ["guarantee_text"]

_SEEDED = "seeded: for tests and experiments only"
_CHANGE = {
    Adjacency.ADD_REMOVE: "adding or removing",
    Adjacency.SUBSTITUTE: "replacing",
}


def guarantee_text(guarantee: Guarantee) -> str:
    """Return a promise in words.

    Parameters
    ----------
    guarantee : Guarantee
        Any promise, or the absence of one.

    Returns
    -------
    sentence : str
        It names the notion, the numbers, the neighbors, and what they mean.

    Examples
    --------
    >>> from shoal.privacy import Guarantee
    >>> print(guarantee_text(Guarantee("metric", epsilon=2.0, unit="km").to_local(1.5)))
    ... # doctest: +NORMALIZE_WHITESPACE
    local differential privacy with epsilon = 3: exchanging a record for any other changes the
    probability of any report by a factor of at most e^3 = 20.1
    """
    sentence = {"central": _central, "local": _local, "metric": _metric, "none": _none}[
        guarantee.notion
    ](guarantee)
    notes = [guarantee.reason] if guarantee.reason and guarantee.notion != "none" else []
    return "; ".join([sentence, *notes, *([_SEEDED] if guarantee.seeded else [])])


def _central(guarantee: Guarantee) -> str:
    return (
        f"central differential privacy with {_numbers(guarantee)} ({guarantee.adjacency.value}): "
        f"{_CHANGE[guarantee.adjacency]} any one {guarantee.privacy_unit} changes the "
        f"probability of any release by {_factor(guarantee)}"
    )


def _local(guarantee: Guarantee) -> str:
    return (
        f"local differential privacy with {_numbers(guarantee)}: exchanging "
        f"{_values(guarantee)} for any other changes the probability of any report by "
        f"{_factor(guarantee)}"
    )


def _metric(guarantee: Guarantee) -> str:
    epsilon, unit = f"{guarantee.epsilon:g}", guarantee.unit
    times = f"r times {unit}" if unit[:1].isdigit() else f"r {unit or 'units'}"
    return (
        f"metric privacy with epsilon = {epsilon} per {unit or 'unit of distance'}: exchanging "
        f"{_values(guarantee)} for {_others(guarantee)} at a distance of {times} changes the "
        f"probability of any report by a factor of at most e^({epsilon} r)"
    )


def _values(guarantee: Guarantee) -> str:
    unit = guarantee.privacy_unit
    return "a record" if unit.kind == "record" else f"the records of a {unit}"


def _others(guarantee: Guarantee) -> str:
    return "one" if guarantee.privacy_unit.kind == "record" else "others, each"


def _none(guarantee: Guarantee) -> str:
    return f"no privacy guarantee: {guarantee.reason}"


def _numbers(guarantee: Guarantee) -> str:
    delta = f" and delta = {guarantee.delta:g}" if guarantee.delta > 0 else ""
    return f"epsilon = {guarantee.epsilon:g}{delta}"


def _factor(guarantee: Guarantee) -> str:
    epsilon = guarantee.epsilon
    meaning = f" = {math.exp(epsilon):.3g}" if epsilon <= 10 else " (next to no protection)"
    plus = f", plus at most {guarantee.delta:g}" if guarantee.delta > 0 else ""
    return f"a factor of at most e^{epsilon:g}{meaning}{plus}"
