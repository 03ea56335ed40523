"""What a ledger records: entries, changes of its limits, and the receipts that releases carry."""

import math
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Self

from shoal import __version__, _numbers
from shoal._numbers import rounded_up
from shoal.exceptions import ParameterError
from shoal.privacy._versions import parse_version
from shoal.privacy.accounting import cost, metric_cost, readable_epsilon, shuffled_cost, upward
from shoal.privacy.events import Event, event_from_dict, event_to_dict
from shoal.privacy.guarantee import Notion
from shoal.privacy.limits import Limits
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit

__all__ = ["NOTIONS", "Entry", "LimitChange", "Receipt"]

_HASH = re.compile("[0-9a-f]{64}")
NOTIONS: tuple[Notion, ...] = ("central", "local", "metric", "shuffled")
PLATFORM = f"{sys.platform} {platform.machine()}".strip()


@dataclass(frozen=True)
class Receipt:
    """The position of a ledger after a spend; every release that was charged carries one.

    It shows when a ledger was rolled back to an earlier state: such a ledger no longer has the
    entry with this number and hash.

    Parameters
    ----------
    count : int
        Number of entries after the spend.
    hash : str
        Hash of the last line of the ledger, 64 hexadecimal digits.

    Examples
    --------
    >>> print(Receipt(3, "0" * 64))
    3 entries, hash 0000000000000000
    """

    count: int
    hash: str

    def __post_init__(self) -> None:
        """Check both fields: a receipt may come from a file."""
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 0:
            raise ParameterError(
                f"count must be a whole number of at least 0, got {self.count!r}",
                parameter="count",
                code="whole",
            )
        if not isinstance(self.hash, str) or not _HASH.fullmatch(self.hash):
            raise ParameterError(
                "hash must be 64 hexadecimal digits", parameter="hash", code="format"
            )

    def __str__(self) -> str:
        noun = "entry" if self.count == 1 else "entries"
        return f"{self.count} {noun}, hash {self.hash[:16]}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        return {"count": self.count, "hash": self.hash}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild a receipt from :meth:`to_dict`; missing and unknown fields are refused."""
        if not isinstance(plain, Mapping) or set(plain) != {"count", "hash"}:
            raise ParameterError("a receipt must have the fields count and hash")
        return cls(plain["count"], plain["hash"])


@dataclass(frozen=True)
class Entry:
    """One spend, as a ledger records it.

    Parameters
    ----------
    time : str
        Time of the spend, in UTC and ISO 8601.
    event : Event
        What was done to the records.
    purpose : str
        What it was spent on, in words.
    adjacency : Adjacency
        Which tables count as neighbors in the event's sensitivities.
    notion : {"central", "local", "metric", "shuffled"}
        The notion of the guarantee.
    privacy_unit : PrivacyUnit
        What the guarantee protects: records or users.
    seeded : bool
        Whether the noise came from a seed, so that there is no guarantee.
    who : str
        Name of the person or account that spent.
    table : str
        The name that the curator gave to the records; never anything computed from them.
    columns : tuple of str
        The columns that were used, if they have names.
    output : str
        Where the release went.
    version : str
        Version of shoal that made it: a flaw that is found later concerns some versions.
    platform : str
        The system and the processor that it was made on, such as ``"linux x86_64"``.
    receipt : Receipt or None
        The ledger's count and hash after this entry; not part of the entry's own content.

    Examples
    --------
    >>> from shoal.privacy import Ledger, PureEvent
    >>> entry = Ledger(epsilon=1.0, table="people").spend(PureEvent(epsilon=0.5, purpose="counts"))
    >>> entry.purpose, entry.table, entry.receipt.count, entry.price
    ('counts', 'people', 1, 'epsilon 0.5')
    """

    time: str
    event: Event
    purpose: str
    adjacency: Adjacency
    notion: Notion
    privacy_unit: PrivacyUnit = RECORD
    seeded: bool = False
    who: str = ""
    table: str = ""
    columns: tuple[str, ...] = ()
    output: str = ""
    version: str = __version__
    platform: str = PLATFORM
    receipt: Receipt | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check what the event itself does not."""
        for name in ("time", "purpose", "who", "table", "output", "platform"):
            _numbers.text(name, getattr(self, name))
        parse_version(self.version)
        if self.notion not in NOTIONS:
            raise ParameterError(
                f"notion must be one of {NOTIONS} to count, got {self.notion!r}",
                parameter="notion",
                code="choice",
            )
        _numbers.instance("adjacency", self.adjacency, Adjacency)
        _numbers.instance("privacy_unit", self.privacy_unit, PrivacyUnit)
        _numbers.flag("seeded", self.seeded)
        if isinstance(self.columns, str) or not isinstance(self.columns, Iterable):
            raise ParameterError(
                f"columns must be a sequence of names, got {self.columns!r}",
                parameter="columns",
                code="type",
            )
        names = tuple(_numbers.text("columns", name) for name in self.columns)
        object.__setattr__(self, "columns", names)

    @property
    def price(self) -> str:
        """What was spent, as text such as ``"epsilon 0.5"``."""
        metric = metric_cost(self.event)
        if metric is not None:
            slack = f", slack {rounded_up(upward(metric.slack), 3)}" if metric.slack else ""
            unit = metric.unit or "unit of distance"
            return f"epsilon {readable_epsilon(metric.epsilon)} per {unit}{slack}"
        price = cost(self.event)
        if math.isfinite(price.epsilon):
            main = f"epsilon {rounded_up(price.epsilon)}"
        elif math.isfinite(price.mu_squared):
            main = f"mu {rounded_up(math.sqrt(price.mu_squared))}"
        else:
            main = f"rho {rounded_up(price.rho)}"
        parts = [main, f"delta {rounded_up(price.delta)}"] if price.delta > 0 else [main]
        batches = shuffled_cost(self.event)
        if batches is not None:
            parts.append(f"local {readable_epsilon(batches.local_epsilon)}, n {batches.n}")
        return ", ".join(parts)

    @staticmethod
    def now() -> str:
        """Return the current time in the format of ``time``."""
        return datetime.now(UTC).isoformat(timespec="microseconds")

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain values that JSON can hold, without its receipt."""
        plain = {name: getattr(self, name) for name in _fields()}
        return {
            **plain,
            "event": event_to_dict(self.event),
            "adjacency": self.adjacency.value,
            "privacy_unit": self.privacy_unit.to_dict(),
            "columns": list(self.columns),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], receipt: Receipt | None = None) -> Self:
        """Rebuild an entry from :meth:`to_dict`; missing and unknown fields are refused."""
        if set(plain) != set(_fields()):
            raise ParameterError(f"an entry must have the fields {_fields()}, got {sorted(plain)}")
        if not isinstance(plain["columns"], list):
            raise ParameterError(
                f"columns must be a list, got {plain['columns']!r}",
                parameter="columns",
                code="type",
            )
        return cls(
            **{
                **plain,
                "event": event_from_dict(plain["event"]),
                "adjacency": Adjacency(plain["adjacency"]),
                "privacy_unit": PrivacyUnit.from_dict(plain["privacy_unit"]),
                "columns": tuple(plain["columns"]),
            },
            receipt=receipt,
        )


def _fields() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Entry) if field.name != "receipt")


@dataclass(frozen=True)
class LimitChange:
    """A limit that was raised, or set where there was none, as a ledger records it.

    Parameters
    ----------
    time : str
        Time of the change, in UTC and ISO 8601.
    who : str
        Name of the person or account that answers for it.
    reason : str
        Why, in words.
    before, limits : Limits
        All limits until then, and from then on.
    version, platform : str
        As in an :class:`Entry`.
    receipt : Receipt or None
        The ledger's count and hash after this line; not part of its own content.

    Examples
    --------
    >>> from shoal.privacy import Ledger
    >>> ledger = Ledger(epsilon=1.0, who="ada")
    >>> change = ledger.set_limit(epsilon=1.5, reason="the board agreed to a second release")
    >>> change.who, change.limits.epsilon, change.receipt.count
    ('ada', 1.5, 1)
    """

    time: str
    who: str
    reason: str
    before: Limits
    limits: Limits
    version: str = __version__
    platform: str = PLATFORM
    receipt: Receipt | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse a change that nobody answers for, or for no reason."""
        for name in ("time", "who", "reason", "platform"):
            if not _numbers.text(name, getattr(self, name)).strip():
                raise ParameterError(
                    f"{name} of a limit that is changed must be given, got {getattr(self, name)!r}",
                    parameter=name,
                    code="missing",
                )
        for name in ("before", "limits"):
            _numbers.instance(name, getattr(self, name), Limits)
        parse_version(self.version)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain values that JSON can hold, without its receipt."""
        return {
            "time": self.time,
            "who": self.who,
            "reason": self.reason,
            "before": self.before.to_dict(),
            "limits": self.limits.to_dict(),
            "version": self.version,
            "platform": self.platform,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], receipt: Receipt | None = None) -> Self:
        """Rebuild a change from :meth:`to_dict`; missing and unknown fields are refused."""
        expected = {field.name for field in fields(cls)} - {"receipt"}
        if set(plain) != expected:
            raise ParameterError(
                f"a change of limits must have the fields {sorted(expected)}, got {sorted(plain)}"
            )
        limits = {name: Limits.from_dict(plain[name]) for name in ("before", "limits")}
        return cls(**{**plain, **limits}, receipt=receipt)
