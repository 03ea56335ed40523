"""What was done to the records, as frozen events that accountants interpret.

An event says what an access costs, for the adjacency that the promise names. It holds no result and
no record, so it can be stored and shown. :func:`shoal.privacy.cost` turns it into numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from shoal import _numbers
from shoal.exceptions import GuaranteeError, ParameterError, UnknownEventError
from shoal.privacy.distance_units import parse_unit

if TYPE_CHECKING:
    from shoal.privacy.guarantee import Guarantee

__all__ = [
    "EVENT_NAMES",
    "ApproximateEvent",
    "Composed",
    "Event",
    "GDPEvent",
    "MetricEvent",
    "PureEvent",
    "Repeated",
    "ShuffledEvent",
    "event_from_dict",
    "event_to_dict",
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One access to private records; the base class of all events.

    Parameters
    ----------
    purpose : str, default=""
        What the budget is spent on, in a few words, for the ledger.

    Examples
    --------
    >>> PureEvent(epsilon=0.5, purpose="counts").purpose
    'counts'
    """

    purpose: str = ""

    def __post_init__(self) -> None:
        """Check every field, and turn numpy's numbers into Python's."""
        checks = {**_CHECKS, **_OWN_CHECKS.get(type(self), {})}
        for field in fields(self):
            check = checks[field.name]
            object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))


@dataclass(frozen=True, kw_only=True)
class PureEvent(Event):
    """Any access that is epsilon-differentially private.

    Parameters
    ----------
    epsilon : float
        The pure epsilon.

    Examples
    --------
    >>> PureEvent(epsilon=0.5, purpose="threshold").epsilon
    0.5
    """

    epsilon: float


@dataclass(frozen=True, kw_only=True)
class GDPEvent(Event):
    """Any accesses that are together mu-Gaussian differentially private (GDP).

    Parameters
    ----------
    mu : float
        The GDP parameter; the squares of several mu add up.

    Examples
    --------
    >>> GDPEvent(mu=0.2).mu
    0.2
    """

    mu: float


@dataclass(frozen=True, kw_only=True)
class ApproximateEvent(Event):
    """Any access that is (epsilon, delta)-differentially private.

    Parameters
    ----------
    epsilon : float
        The epsilon.
    delta : float
        The delta, > 0; for delta = 0 use :class:`PureEvent`.

    Examples
    --------
    >>> ApproximateEvent(epsilon=1.0, delta=1e-6).delta
    1e-06
    """

    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class MetricEvent(Event):
    """An access with metric privacy, whose epsilon is per unit of distance.

    Parameters
    ----------
    epsilon : float
        Epsilon per unit of Euclidean distance.
    unit : str
        Name of the unit, such as ``"km"`` or ``"80 m"``; epsilons per different kinds of units
        cannot be added.
    slack : float, default=0.0
        What is added to epsilon times the distance, as in :class:`Guarantee`.

    Examples
    --------
    >>> MetricEvent(epsilon=0.5, unit="km").unit
    'km'
    """

    epsilon: float
    unit: str
    slack: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ShuffledEvent(Event):
    """A report that reaches the analyst in a shuffled batch; replaces the report's local event.

    It holds the privacy loss toward both observers: (epsilon, delta) toward the analyst, and the
    local epsilon toward anyone who sees reports before they are shuffled.

    Parameters
    ----------
    epsilon : float
        The epsilon of the shuffled batch, as :func:`amplify` returns it.
    delta : float
        The delta of the shuffled batch; 0 where shuffling gains nothing.
    local_epsilon : float
        The local epsilon of the report, at least ``epsilon``.
    n : int
        Smallest number of honest, independent reports in the batch.

    Examples
    --------
    >>> from shoal.privacy import Guarantee, amplify
    >>> promise = amplify(Guarantee("local", 1.0), 10_000, 1e-6, n_colors=4)
    >>> event = ShuffledEvent.of(promise, purpose="homes")
    >>> round(event.epsilon, 3), event.local_epsilon, event.n
    (0.034, 1.0, 10000)
    """

    epsilon: float
    delta: float
    local_epsilon: float
    n: int

    def __post_init__(self) -> None:
        """Check every field, and that shuffling takes nothing away."""
        super().__post_init__()
        if self.local_epsilon < self.epsilon:
            raise ParameterError(
                f"local_epsilon must be at least epsilon = {self.epsilon!r}, got "
                f"{self.local_epsilon!r}"
            )

    @classmethod
    def of(cls, guarantee: Guarantee, *, purpose: str = "") -> Self:
        """Return the event of a shuffled guarantee.

        Parameters
        ----------
        guarantee : Guarantee
            A guarantee of notion ``"shuffled"``, for records.
        purpose : str, default=""
            What the budget is spent on.

        Returns
        -------
        event : ShuffledEvent
            The event, with the numbers of the guarantee.

        Raises
        ------
        GuaranteeError
            If the guarantee is of another notion, or of seeded reports.
        """
        if guarantee.local_epsilon is None or guarantee.n_reports is None:
            raise GuaranteeError(
                f"a shuffled event needs a shuffled promise, this one is {guarantee.notion!r}",
                in_python="call amplify(guarantee, n, delta) first",
            )
        if guarantee.seeded:  # an event does not hold it, and a ledger would promise it
            raise GuaranteeError(
                "a shuffled event needs a promise that holds, this one is of seeded reports",
                in_python="draw reports with random_state=None",
            )
        return cls(
            epsilon=guarantee.epsilon,
            delta=guarantee.delta,
            local_epsilon=guarantee.local_epsilon,
            n=guarantee.n_reports,
            purpose=purpose,
        )


@dataclass(frozen=True, kw_only=True)
class Composed(Event):
    """Several accesses to the same records; the costs of all of them count.

    Parameters
    ----------
    events : sequence of Event
        The events.

    Examples
    --------
    >>> step = PureEvent(epsilon=0.5)
    >>> len(Composed(events=[step, step]).events)
    2
    """

    events: tuple[Event, ...]


@dataclass(frozen=True, kw_only=True)
class Repeated(Event):
    """The same access to the same records, repeated.

    Parameters
    ----------
    event : Event
        The event that is repeated.
    times : int
        Number of repetitions.

    Examples
    --------
    >>> Repeated(event=PureEvent(epsilon=0.5), times=3).times
    3
    """

    event: Event
    times: int


def _one_event(name: str, value: Any) -> Event:
    return _numbers.instance(name, value, Event)


def _many_events(name: str, value: Any) -> tuple[Event, ...]:
    if isinstance(value, Event) or not hasattr(value, "__iter__"):
        raise ParameterError(
            f"{name} must be a sequence of events, got {value!r}", parameter=name, code="type"
        )
    events = tuple(value)
    for child in events:
        if not isinstance(child, Event):
            raise ParameterError(
                f"each of {name} must be an Event, got {child!r}", parameter=name, code="type"
            )
    return events


def _distance_unit(name: str, value: Any) -> str:
    parse_unit(_numbers.text(name, value))
    return str(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "purpose": _numbers.text,
    "unit": _distance_unit,
    "epsilon": _numbers.positive,
    "slack": _numbers.non_negative,
    "mu": _numbers.positive,
    "delta": _numbers.positive_probability,
    "local_epsilon": _numbers.positive,
    "n": _numbers.count,
    "times": _numbers.count,
    "event": _one_event,
    "events": _many_events,
}


_OWN_CHECKS: dict[type[Event], dict[str, Callable[[str, Any], Any]]] = {
    ShuffledEvent: {"delta": _numbers.probability}
}

_BY_NAME: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        PureEvent,
        GDPEvent,
        ApproximateEvent,
        MetricEvent,
        ShuffledEvent,
        Composed,
        Repeated,
    )
}

EVENT_NAMES = tuple(_BY_NAME)


def event_to_dict(event: Event) -> dict[str, Any]:
    """Return a dictionary of plain values from which the event can be rebuilt."""
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
    """Rebuild an event from :func:`event_to_dict`."""
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
