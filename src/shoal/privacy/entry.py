"""One line of a ledger: when, what, what for, and under which reading."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from shoal import _numbers
from shoal.exceptions import ParameterError
from shoal.privacy.adjacency import Adjacency
from shoal.privacy.event_dict import event_from_dict, event_to_dict
from shoal.privacy.events import Event
from shoal.privacy.guarantee import Notion

__all__ = ["Entry"]

_FIELDS = ("time", "event", "purpose", "adjacency", "notion")
_NOTIONS = ("central", "local", "metric")


@dataclass(frozen=True)
class Entry:
    """One recorded spend.

    Parameters
    ----------
    time : str
        When, in UTC and ISO 8601.
    event : Event
        What was done.
    purpose : str
        What for.
    adjacency : Adjacency
        Which neighbours the event's sensitivities are about.
    notion : {"central", "local", "metric"}
        The kind of promise it was spent on.

    Examples
    --------
    >>> from shoal.privacy import Ledger, PureEvent
    >>> entry = Ledger(epsilon=1.0).spend(PureEvent(epsilon=0.5, purpose="counts"))
    >>> entry.purpose, entry.notion
    ('counts', 'central')
    """

    time: str
    event: Event
    purpose: str
    adjacency: Adjacency
    notion: Notion

    @classmethod
    def now(cls, event: Event, *, purpose: str, adjacency: Adjacency, notion: Notion) -> Self:
        """Return the entry of a spend that happens now."""
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        return cls(time, event, purpose, adjacency, notion)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain values that JSON can hold."""
        return {
            "time": self.time,
            "event": event_to_dict(self.event),
            "purpose": self.purpose,
            "adjacency": self.adjacency.value,
            "notion": self.notion,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild an entry from :meth:`to_dict`, strictly."""
        if set(plain) != set(_FIELDS):
            raise ParameterError(f"an entry must have the fields {_FIELDS}, got {sorted(plain)}")
        if plain["notion"] not in _NOTIONS:
            raise ParameterError(f"notion must be one of {_NOTIONS}, got {plain['notion']!r}")
        return cls(
            time=_numbers.text("time", plain["time"]),
            event=event_from_dict(plain["event"]),
            purpose=_numbers.text("purpose", plain["purpose"]),
            adjacency=Adjacency(plain["adjacency"]),
            notion=plain["notion"],
        )
