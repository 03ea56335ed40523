"""Events are frozen, checked, hashable, and survive a trip through JSON."""

import dataclasses
import json

import numpy as np
import pytest

from helpers.cases import case
from shoal.exceptions import GuaranteeError, ParameterError, UnknownEventError
from shoal.privacy import (
    Adjacency,
    ApproximateEvent,
    Composed,
    Event,
    GDPEvent,
    Guarantee,
    MetricEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
)
from shoal.privacy.events import event_from_dict, event_to_dict

LEAVES = [
    PureEvent(epsilon=0.25, purpose="sums"),
    GDPEvent(mu=1e-300 / 3),
    PureEvent(epsilon=0.1),
    GDPEvent(mu=0.2),
    ApproximateEvent(epsilon=1.0, delta=1e-9),
    MetricEvent(epsilon=0.5, unit="km"),
    ShuffledEvent(epsilon=0.1, delta=1e-9, local_epsilon=2.0, n=1000),
    ShuffledEvent(epsilon=2.0, delta=0.0, local_epsilon=2.0, n=1),
]
NESTED = Composed(
    events=(Composed(events=LEAVES[:3]), Repeated(event=LEAVES[3], times=4)), purpose='"é\n'
)


def test_survives_json_exactly() -> None:
    for event in [*LEAVES, NESTED]:
        with case(event=event):
            again = event_from_dict(json.loads(json.dumps(event_to_dict(event))))
            assert again == event
            assert hash(again) == hash(event)


def test_is_frozen() -> None:
    for event in [*LEAVES, NESTED]:
        with case(event=event), pytest.raises(dataclasses.FrozenInstanceError):
            event.purpose = "other"  # type: ignore[misc]


def test_bad_numbers_are_named() -> None:
    for kind, fields in [
        (PureEvent, {"epsilon": 1.0}),
        (GDPEvent, {"mu": 1.0}),
        (ApproximateEvent, {"epsilon": 1.0}),
        (MetricEvent, {"epsilon": 1.0}),
    ]:
        with case(kind=kind, fields=fields):
            rest = {ApproximateEvent: {"delta": 0.1}, MetricEvent: {"unit": "m"}}.get(kind, {})
            for name in fields:
                for bad in (0, -1.0, float("nan"), float("inf"), "1", None, True, 10**400, 1j):
                    with pytest.raises(ParameterError, match=name):
                        kind(**{**fields, **rest, name: bad})  # type: ignore[arg-type]


def test_other_fields_are_checked() -> None:
    step = PureEvent(epsilon=1.0)
    for bad in (0.0, 1.0, -0.1, 2):
        with pytest.raises(ParameterError, match="delta"):
            ApproximateEvent(epsilon=1.0, delta=bad)
    for bad in (0, 1.5, True, -1, 2**60):
        with pytest.raises(ParameterError, match="times"):
            Repeated(event=step, times=bad)  # type: ignore[arg-type]
    for events in (3, "ab", [step, 1], step):
        with pytest.raises(ParameterError, match="events"):
            Composed(events=events)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="event"):
        Repeated(event="x", times=2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="purpose"):
        PureEvent(epsilon=1.0, purpose=3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="unit"):
        MetricEvent(epsilon=1.0, unit=None)  # type: ignore[arg-type]


def test_shuffled_events_are_checked() -> None:
    good = {"epsilon": 0.1, "delta": 1e-6, "local_epsilon": 2.0, "n": 10}
    for name, bad in [("epsilon", 0.0), ("delta", 1.0), ("local_epsilon", 0.05), ("n", 0)]:
        with pytest.raises(ParameterError, match=name):
            ShuffledEvent(**{**good, name: bad})
    promise = Guarantee(
        "shuffled", 0.1, 1e-6, Adjacency.SUBSTITUTE, local_epsilon=2.0, n_reports=10
    )
    assert ShuffledEvent.of(promise, purpose="x") == ShuffledEvent(**good, purpose="x")
    with pytest.raises(GuaranteeError, match="this one is 'local'"):
        ShuffledEvent.of(Guarantee("local", 1.0))
    with pytest.raises(GuaranteeError, match="this one is of seeded reports"):
        ShuffledEvent.of(dataclasses.replace(promise, seeded=True))


def test_numpy_numbers_become_plain_ones() -> None:
    event = ShuffledEvent(
        epsilon=np.float32(0.5), delta=np.float64(1e-6), local_epsilon=np.int64(2), n=np.int8(3)
    )
    kinds = [type(v) for v in (event.epsilon, event.delta, event.local_epsilon, event.n)]
    assert kinds == [float, float, float, int]
    assert event == ShuffledEvent(epsilon=0.5, delta=1e-6, local_epsilon=2.0, n=3)


def test_positional_arguments_are_refused() -> None:
    with pytest.raises(TypeError):
        PureEvent(1.0)  # type: ignore[misc, call-arg]


def test_unknown_dictionaries_are_refused() -> None:
    for plain in [
        {},
        {"type": "Nothing"},
        {"type": ["PureEvent"]},
        "PureEvent",
        None,
        {"type": "PureEvent", "epsilon": 1.0},
        {"type": "PureEvent", "epsilon": 1.0, "purpose": "", "more": 1},
        {"type": "Event", "purpose": ""},
        {"type": "Composed", "events": {"a": 1}, "purpose": ""},
        {"type": "Composed", "events": [1], "purpose": ""},
    ]:
        with case(plain=plain), pytest.raises(UnknownEventError):
            event_from_dict(plain)  # type: ignore[arg-type]


def test_a_foreign_event_is_refused() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(Event):
        pass

    with pytest.raises(UnknownEventError):
        event_to_dict(Mine())
    with pytest.raises(UnknownEventError):
        event_to_dict(Composed(events=[Mine()]))
