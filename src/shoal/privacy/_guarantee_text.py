"""A promise as one plain sentence, with its conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from shoal._numbers import rounded_up
from shoal.privacy.privacy_unit import Adjacency

if TYPE_CHECKING:
    from shoal.privacy.guarantee import Guarantee

__all__ = ["guarantee_text"]

_SMALLEST_EXCESS = Decimal("1e-12")  # of a factor over 1 that is written out
_SEEDED = "seeded: for tests and experiments only"
_CHANGE = {
    Adjacency.ADD_REMOVE: "adding or removing",
    Adjacency.SUBSTITUTE: "replacing",
}


def guarantee_text(guarantee: Guarantee) -> str:
    """Return a promise in words."""
    sentence = _SENTENCES[guarantee.notion](guarantee)
    notes = [guarantee.reason] if guarantee.reason and guarantee.notion != "none" else []
    return "; ".join([sentence, *notes, *([_SEEDED] if guarantee.seeded else [])])


def _central(guarantee: Guarantee) -> str:
    return (
        f"central differential privacy with {_parameters(guarantee)} "
        f"({guarantee.adjacency.value}): "
        f"{_CHANGE[guarantee.adjacency]} any one {guarantee.privacy_unit} of the table given to "
        f"fit changes the probability of any release by {_factor(guarantee)}"
    )


def _local(guarantee: Guarantee) -> str:
    return (
        f"local differential privacy with {_parameters(guarantee)}: exchanging "
        f"{_values(guarantee)} for any other changes the probability of any report by "
        f"{_factor(guarantee)}"
    )


def _metric(guarantee: Guarantee) -> str:
    epsilon, unit = rounded_up(guarantee.epsilon), guarantee.unit
    times = f"r times {unit}" if unit[:1].isdigit() else f"r {unit or 'units'}"
    slack = f" + {rounded_up(guarantee.slack, 3)}" if guarantee.slack else ""
    return (
        f"metric privacy with epsilon = {epsilon} per {unit or 'unit of distance'}: exchanging "
        f"{_values(guarantee)} for {_others(guarantee)} at a distance of {times} changes the "
        f"probability of any report by a factor of at most e^({epsilon} r{slack})"
    )


def _shuffled(guarantee: Guarantee) -> str:
    return (
        f"shuffled differential privacy with {_parameters(guarantee)} "
        f"({guarantee.adjacency.value}): exchanging {_values(guarantee)} for any other changes the "
        f"probability of any shuffled batch by {_factor(guarantee)}, if the batch has at least "
        f"{guarantee.n_reports:,} {_batch(guarantee)} of one mechanism "
        "and without metadata, and the shuffler does not collude; two rounds are two batches, and "
        "a person's cost is that of the worse; without the shuffler, and for reports that are sent "
        f"again, only local epsilon = {rounded_up(guarantee.local_epsilon or 0.0)} holds"
    )


def _batch(guarantee: Guarantee) -> str:
    if guarantee.privacy_unit.kind == "record":
        # Several reports of a device are named in the reason, as the whole that is promised for.
        return f"honest and independent reports,{'' if guarantee.reason else ' one a device,'}"
    return "honest and independent users, with all of their reports in this batch,"


def _values(guarantee: Guarantee) -> str:
    unit = guarantee.privacy_unit
    values = "a record" if unit.kind == "record" else f"the records of a {unit}"
    return f"{values} given to the mechanism"


def _others(guarantee: Guarantee) -> str:
    return "one" if guarantee.privacy_unit.kind == "record" else "others, each"


def _none(guarantee: Guarantee) -> str:
    return f"no privacy guarantee: {guarantee.reason}"


def _parameters(guarantee: Guarantee) -> str:
    delta = f" and delta = {rounded_up(guarantee.delta)}" if guarantee.delta > 0 else ""
    return f"epsilon = {rounded_up(guarantee.epsilon)}{delta}"


def _factor(guarantee: Guarantee) -> str:
    epsilon = guarantee.epsilon
    meaning = f" = {_exp_rounded_up(epsilon)}" if epsilon <= 10 else " (next to no protection)"
    plus = f", plus at most {rounded_up(guarantee.delta)}" if guarantee.delta > 0 else ""
    return f"a factor of at most e^{rounded_up(epsilon)}{meaning}{plus}"


def _exp_rounded_up(epsilon: float) -> str:
    """Return e^epsilon with three digits, and with two of what it is above 1.

    Rounded up: a factor that is a little smaller would promise more than what holds.
    """
    factor, excess = Decimal(math.exp(epsilon)), Decimal(math.expm1(epsilon))
    if not excess:
        return "1"
    if excess < _SMALLEST_EXCESS:
        return f"{1 + _SMALLEST_EXCESS:f}"
    place = min(factor.adjusted() - 2, excess.adjusted() - 1)
    rounded = factor.quantize(Decimal(1).scaleb(place), rounding=ROUND_CEILING)
    return f"{rounded.normalize():f}"


_SENTENCES: dict[str, Callable[[Guarantee], str]] = {
    "central": _central,
    "local": _local,
    "metric": _metric,
    "shuffled": _shuffled,
    "none": _none,
}
