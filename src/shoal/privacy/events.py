"""What was done to the records, as frozen events that accountants interpret.

An event says which noise was added and how far one record could move the noiseless value. It holds
no result and no record, so it can be stored and shown. Pure functions turn it into numbers:
:func:`shoal.privacy.accounting.cost` and :func:`shoal.privacy.compose`.

``sensitivity`` is always stated for the adjacency that the promise names.
"""

from dataclasses import dataclass, fields
from typing import Any

from shoal import _numbers
from shoal.exceptions import ParameterError
from shoal.privacy.distance_units import parse_unit

__all__ = [
    "ApproximateEvent",
    "Composed",
    "DiscreteGaussianEvent",
    "DiscreteLaplaceEvent",
    "Event",
    "GaussianEvent",
    "KNormEvent",
    "LaplaceEvent",
    "MetricEvent",
    "Parallel",
    "PureEvent",
    "Repeated",
    "ZCDPEvent",
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One access to private records; use its subclasses.

    Parameters
    ----------
    purpose : str, default=""
        What it is spent on, in a few words, for the ledger's table.

    Examples
    --------
    >>> LaplaceEvent(scale=2.0, sensitivity=1.0, purpose="counts").purpose
    'counts'
    """

    purpose: str = ""

    def __post_init__(self) -> None:
        """Check every field, and turn numpy's numbers into Python's."""
        for field in fields(self):
            check = _CHECKS[field.name]
            object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))


@dataclass(frozen=True, kw_only=True)
class LaplaceEvent(Event):
    """Independent Laplace noise on each entry.

    Parameters
    ----------
    scale : float
        Scale of the noise.
    sensitivity : float
        How far one record moves the noiseless value, in L1.
    dimension : int, default=1
        Number of entries.

    Examples
    --------
    >>> LaplaceEvent(scale=4.0, sensitivity=2.0, dimension=3).scale
    4.0
    """

    scale: float
    sensitivity: float
    dimension: int = 1


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplaceEvent(Event):
    """Independent two-sided geometric noise, P(z) ~ exp(-|z|/scale), on integers.

    Parameters
    ----------
    scale : float
        Scale of the noise, in steps of the lattice.
    sensitivity : float
        How far one record moves the noiseless value, in L1 and in steps of the lattice. (The noise
        may live on a finer lattice as long as that one contains the integers.)
    dimension : int, default=1
        Number of entries.

    Examples
    --------
    >>> DiscreteLaplaceEvent(scale=10.0, sensitivity=1).dimension
    1
    """

    scale: float
    sensitivity: float
    dimension: int = 1


@dataclass(frozen=True, kw_only=True)
class GaussianEvent(Event):
    """Independent normal noise on each entry, of any number of entries.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise.
    sensitivity : float
        How far one record moves the noiseless value, in L2.

    Examples
    --------
    >>> GaussianEvent(sigma=4.0, sensitivity=1.0).sigma
    4.0
    """

    sigma: float
    sensitivity: float


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussianEvent(Event):
    """Independent noise P(z) ~ exp(-z^2/(2 sigma^2)) on integers.

    Parameters
    ----------
    sigma : float
        Parameter of the noise, in steps of the lattice.
    sensitivity : float
        How far one record moves the noiseless value, in L2 and in steps of the lattice.
    dimension : int, default=1
        Number of entries. A single entry has a tighter account than a vector.

    Examples
    --------
    >>> DiscreteGaussianEvent(sigma=4.0, sensitivity=1, dimension=8).dimension
    8
    """

    sigma: float
    sensitivity: float
    dimension: int = 1


@dataclass(frozen=True, kw_only=True)
class KNormEvent(Event):
    """Noise of density ~ exp(-||z||/scale) in any norm.

    Parameters
    ----------
    scale : float
        Scale of the noise.
    sensitivity : float
        How far one record moves the noiseless value, in that norm.

    Examples
    --------
    >>> KNormEvent(scale=2.0, sensitivity=1.0).scale
    2.0
    """

    scale: float
    sensitivity: float


@dataclass(frozen=True, kw_only=True)
class PureEvent(Event):
    """Any step that is epsilon-differentially private.

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
class ZCDPEvent(Event):
    """Any steps that are together rho-zero-concentrated differentially private.

    Parameters
    ----------
    rho : float
        The zCDP parameter.

    Examples
    --------
    >>> ZCDPEvent(rho=0.1).rho
    0.1
    """

    rho: float


@dataclass(frozen=True, kw_only=True)
class ApproximateEvent(Event):
    """Any step that is (epsilon, delta)-differentially private.

    Parameters
    ----------
    epsilon : float
        The epsilon.
    delta : float
        The delta, > 0; without one it is a :class:`PureEvent`.

    Examples
    --------
    >>> ApproximateEvent(epsilon=1.0, delta=1e-6).delta
    1e-06
    """

    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class MetricEvent(Event):
    """A step with metric privacy.

    Parameters
    ----------
    epsilon : float
        Epsilon per unit of Euclidean distance.
    unit : str
        Name of the unit, such as ``"km"`` or ``"80 m"``; units that cannot be compared do not add
        up.

    Examples
    --------
    >>> MetricEvent(epsilon=0.5, unit="km").unit
    'km'
    """

    epsilon: float
    unit: str


@dataclass(frozen=True, kw_only=True)
class Composed(Event):
    """Steps on the same records, one after the other: all of them count.

    Parameters
    ----------
    events : sequence of Event
        The steps.

    Examples
    --------
    >>> step = PureEvent(epsilon=0.5)
    >>> len(Composed(events=[step, step]).events)
    2
    """

    events: tuple[Event, ...]


@dataclass(frozen=True, kw_only=True)
class Parallel(Event):
    """Steps on disjoint parts of the records: the worst one counts.

    Valid under add/remove, where one record lies in one part. A substituted record may leave one
    part and enter another, so account under add/remove and convert the result.

    Parameters
    ----------
    events : sequence of Event
        One event per part.

    Examples
    --------
    >>> len(Parallel(events=[PureEvent(epsilon=0.5)] * 3).events)
    3
    """

    events: tuple[Event, ...]


@dataclass(frozen=True, kw_only=True)
class Repeated(Event):
    """The same step several times on the same records.

    Parameters
    ----------
    event : Event
        The step.
    times : int
        How often.

    Examples
    --------
    >>> Repeated(event=PureEvent(epsilon=0.5), times=3).times
    3
    """

    event: Event
    times: int


def _one_event(name: str, value: Any) -> Event:
    if not isinstance(value, Event):
        raise ParameterError(f"{name} must be an Event, got {value!r}")
    return value


def _many_events(name: str, value: Any) -> tuple[Event, ...]:
    if isinstance(value, Event) or not hasattr(value, "__iter__"):
        raise ParameterError(f"{name} must be a sequence of events, got {value!r}")
    return tuple(_one_event(f"each of {name}", child) for child in value)


def _distance_unit(name: str, value: Any) -> str:
    parse_unit(_numbers.text(name, value))
    return str(value)


_CHECKS = {
    "purpose": _numbers.text,
    "unit": _distance_unit,
    "scale": _numbers.positive,
    "sigma": _numbers.positive,
    "sensitivity": _numbers.positive,
    "epsilon": _numbers.positive,
    "rho": _numbers.positive,
    "delta": _numbers.positive_probability,
    "dimension": _numbers.count,
    "times": _numbers.count,
    "event": _one_event,
    "events": _many_events,
}
