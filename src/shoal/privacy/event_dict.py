"""Events as plain dictionaries and back, for the lines of a ledger."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from shoal.exceptions import UnknownEventError
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    KNormEvent,
    LaplaceEvent,
    MetricEvent,
    Parallel,
    PureEvent,
    Repeated,
    ZCDPEvent,
)

__all__ = ["event_from_dict", "event_to_dict"]

_BY_NAME: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        LaplaceEvent,
        DiscreteLaplaceEvent,
        GaussianEvent,
        DiscreteGaussianEvent,
        KNormEvent,
        PureEvent,
        ZCDPEvent,
        ApproximateEvent,
        MetricEvent,
        Composed,
        Parallel,
        Repeated,
    )
}


def event_to_dict(event: Event) -> dict[str, Any]:
    """Return a dictionary of plain values from which the event can be rebuilt.

    Parameters
    ----------
    event : Event
        One of the events of this module.

    Returns
    -------
    plain : dict
        The class name under ``"type"`` and one item per field.

    Raises
    ------
    UnknownEventError
        If the event is of a class that this module does not define.

    Examples
    --------
    >>> event_to_dict(PureEvent(epsilon=0.5, purpose="counts"))
    {'type': 'PureEvent', 'purpose': 'counts', 'epsilon': 0.5}
    """
    if type(event) not in _BY_NAME.values():
        raise UnknownEventError(f"an event must be one of {sorted(_BY_NAME)}, got {event!r}")
    plain: dict[str, Any] = {"type": type(event).__name__}
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, Event):
            value = event_to_dict(value)
        elif isinstance(value, tuple):
            value = [event_to_dict(child) for child in value]
        plain[field.name] = value
    return plain


def event_from_dict(plain: Mapping[str, Any]) -> Event:
    """Rebuild an event from :func:`event_to_dict`.

    Parameters
    ----------
    plain : mapping
        What :func:`event_to_dict` returned, possibly after a trip through JSON.

    Returns
    -------
    event : Event
        The same event.

    Raises
    ------
    UnknownEventError
        If the class is unknown, or fields are missing or too many.
    ParameterError
        If a number breaks its rule.

    Examples
    --------
    >>> event_from_dict({"type": "PureEvent", "purpose": "counts", "epsilon": 0.5})
    PureEvent(purpose='counts', epsilon=0.5)
    """
    if not isinstance(plain, Mapping) or plain.get("type") not in list(_BY_NAME):
        raise UnknownEventError(f"an event must be one of {sorted(_BY_NAME)}, got {plain!r}")
    kind = _BY_NAME[plain["type"]]
    expected = {field.name for field in fields(kind)}
    given = dict(plain)
    del given["type"]
    if set(given) != expected:
        raise UnknownEventError(
            f"{kind.__name__} must have the fields {sorted(expected)}, got {sorted(given)}"
        )
    if "event" in given:
        given["event"] = event_from_dict(given["event"])
    if "events" in given:
        if not isinstance(given["events"], list):
            raise UnknownEventError(f"events must be a list, got {given['events']!r}")
        given["events"] = tuple(event_from_dict(child) for child in given["events"])
    return kind(**given)
