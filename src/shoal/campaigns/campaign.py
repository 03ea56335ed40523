"""The campaign: what is asked of devices, by which mechanism, how often and until when.

The document is JSON. It holds the mechanism with all its public parameters and the format of a
report in bytes, so that a client in any language needs nothing else. It is read strictly: a field
more or less is refused, and so is a report format that does not follow from the mechanism. The
promise is in it as numbers: a sentence of ours is no part of what is signed, compared or digested.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import urlsplit

from shoal import _numbers
from shoal._json_text import read_json
from shoal._numbers import rounded_up
from shoal.campaigns.sealing import SEALED_OVERHEAD
from shoal.campaigns.shuffler import Shuffler
from shoal.exceptions import ParameterError
from shoal.mechanisms import Mechanism, ReportColumn, ReportFormat, load_mechanism
from shoal.mechanisms.documents import promise_to_dict
from shoal.privacy import Guarantee

__all__ = ["Campaign"]

VERSION = 1
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
UNITS = ("device", "person")
MAX_REPORTS = 1_000_000  # a device
DERIVED = ("guarantee", "report_format")  # in the document, for other readers


@dataclass(frozen=True)
class Campaign:
    """Public description of a collection of reports: the content of a campaign's document.

    Parameters
    ----------
    id : str
        Identifier of up to 64 lower-case letters, digits and hyphens.
    title, purpose : str
        What people are asked, and for what purpose, in plain words.
    mechanism : Mechanism
        Mechanism that perturbs the record on the device, without a ledger and without a seed.
    closes : datetime
        Time from which no more reports are accepted; with a time zone.
    reports_url, results_url : str
        Addresses that reports are sent to and where results are published: https, or http for
        localhost.
    unit : {"device", "person"}, default="device"
        Privacy unit that the budget belongs to.
    reports_per_device : int, default=1
        Number of different reports that a unit may send; sending the same one again costs nothing.
    revision : int, default=1
        Revision number, which increases with each change of the document.
    device_ids : bool, default=False
        Whether reports carry a random identifier of the device. The collector stores a keyed hash
        of it.
    origins : tuple of str, default=()
        Origins of web pages that may send reports, such as ``"https://example.org"``.
    open_intake : bool, default=False
        Whether reports are accepted without an ingest key.
    shuffler : Shuffler, default=None
        The relay between devices and the collector, if any. ``reports_url`` is then its address,
        reports are encrypted, and the collector sees them in shuffled batches only.

    Raises
    ------
    ParameterError
        If a field is invalid.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2030, 1, 1, tzinfo=UTC), reports_per_device=2,
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> campaign.report_format.width, campaign.guarantee.epsilon
    (2, 2.0)
    """

    id: str
    title: str
    purpose: str
    mechanism: Mechanism
    closes: datetime
    reports_url: str
    results_url: str
    unit: str = "device"
    reports_per_device: int = 1
    revision: int = 1
    device_ids: bool = False
    origins: tuple[str, ...] = ()
    open_intake: bool = False
    shuffler: Shuffler | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        if not isinstance(self.id, str) or not ID.fullmatch(self.id):
            raise ParameterError(
                "id must be small letters, digits and hyphens, at most 64, got "
                f"{_numbers.shown(self.id)}"
            )
        for name in ("title", "purpose"):
            if not _numbers.printable(name, getattr(self, name)):
                raise ParameterError(f"{name} must say something, got ''")
        for name in ("reports_url", "results_url"):
            _numbers.web_address(name, getattr(self, name))
        _numbers.choice("unit", self.unit, UNITS)
        if _numbers.count("reports_per_device", self.reports_per_device) > MAX_REPORTS:
            raise ParameterError(
                f"reports_per_device must be at most {MAX_REPORTS}, got {self.reports_per_device!r}"
            )
        _numbers.count("revision", self.revision)
        for name in ("device_ids", "open_intake"):
            _numbers.flag(name, getattr(self, name))
        if not isinstance(self.closes, datetime) or self.closes.tzinfo is None:
            raise ParameterError(f"closes must be a time with its zone, got {self.closes!r}")
        _check_shuffler(self.shuffler, device_ids=self.device_ids)
        object.__setattr__(self, "closes", self.closes.astimezone(UTC).replace(microsecond=0))
        object.__setattr__(self, "origins", _checked_origins(self.origins))
        # A copy: a parameter that is changed later would change a document that is signed.
        object.__setattr__(self, "mechanism", _checked_mechanism(self.mechanism))

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee for one unit of all its reports together; their epsilons and slacks add up."""
        one, times = self.mechanism.guarantee_, self.reports_per_device
        return replace(one, epsilon=times * one.epsilon, slack=times * one.slack)

    @property
    def report_format(self) -> ReportFormat:
        """Byte format of a report."""
        return self.mechanism.report_format()

    @property
    def body_bytes(self) -> int:
        """Number of bytes of a report as a device sends it, encrypted if there is a shuffler."""
        return self.report_format.width + (0 if self.shuffler is None else SEALED_OVERHEAD)

    @property
    def mechanism_digest(self) -> str:
        """SHA-256 of all that defines the meaning of a report; a device draws once for each."""
        meaning = [self.mechanism.to_dict(), self.report_format.to_dict()]
        text = json.dumps(meaning, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def is_open(self, now: datetime | None = None) -> bool:
        """Return whether reports are still accepted.

        Parameters
        ----------
        now : datetime, default=None
            Time to check, with a time zone; None takes the clock of this machine.

        Returns
        -------
        open : bool
            True before the closing time.
        """
        return (datetime.now(UTC) if now is None else now) < self.closes

    def weaker_than(self, earlier: "Campaign") -> tuple[str, ...]:
        """Return the reasons why a device that agreed to an earlier document must refuse this one.

        Parameters
        ----------
        earlier : Campaign
            The document that the device agreed to.

        Returns
        -------
        reasons : tuple of str
            Empty if this document asks for no more and protects no less.
        """
        reasons = []
        if self.id != earlier.id:
            reasons.append("it is another campaign")
        if self.revision < earlier.revision:
            reasons.append(f"revision {self.revision} is older than {earlier.revision}")
        if self.revision == earlier.revision and self != earlier:
            reasons.append(f"revision {self.revision} was something else before")
        if self.purpose != earlier.purpose:
            reasons.append("it has another purpose")
        if self.unit != earlier.unit:
            reasons.append(f"its budget is that of a {self.unit}, not of a {earlier.unit}")
        if self.device_ids and not earlier.device_ids:
            reasons.append("it asks for a number of the device")
        if earlier.shuffler is not None and self.shuffler is None:
            reasons.append("its reports are no longer shuffled")
        elif self.shuffler != earlier.shuffler:
            # Also larger batches, or the first ones: results speak of all reports alike.
            reasons.append("its reports are shuffled by others, in other batches or for other eyes")
        elif self.shuffler is not None and self.reports_url != earlier.reports_url:
            # The operator's name is a word; the address is where reports go, with their senders'.
            reasons.append("its reports go elsewhere, not to the relay that was agreed to")
        if self.shuffler is not None and self.open_intake and not earlier.open_intake:
            reasons.append("anybody may fill its batches, without a key")
        reasons.extend(_weaker_promise(self, earlier))
        return tuple(reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as values that JSON can hold.

        Returns
        -------
        document : dict
            Version, all fields, the guarantee in numbers, and the report format.
        """
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            "version": VERSION,
            **own,
            "mechanism": self.mechanism.to_dict(),
            "closes": self.closes.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "origins": list(self.origins),
            "shuffler": None if self.shuffler is None else self.shuffler.to_dict(),
            "guarantee": promise_to_dict(self.guarantee),
            "report_format": self.report_format.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the campaign that a document describes; an invalid document is an error.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        campaign : Campaign
            A campaign equal to the original.

        Raises
        ------
        ParameterError
            If it is not a valid document of a campaign.
        """
        names = [field.name for field in fields(cls)]
        expected = {"version", *names, *DERIVED}
        if not isinstance(plain, Mapping) or set(plain) != expected:
            raise ParameterError(
                f"a campaign must have the fields {', '.join(sorted(expected))} and no other"
            )
        if plain["version"] != VERSION or isinstance(plain["version"], bool):
            raise ParameterError(
                f"version must be {VERSION}, got {_numbers.shown(plain['version'])}: read it with "
                "the version of shoal that wrote it"
            )
        own = {name: plain[name] for name in names}
        origins = own["origins"]
        own["origins"] = tuple(origins) if isinstance(origins, list) else origins
        own["closes"] = _read_time(plain["closes"])
        if own["shuffler"] is not None:
            own["shuffler"] = Shuffler.from_dict(own["shuffler"])
        own["mechanism"] = load_mechanism(_mapping(plain["mechanism"]))
        campaign = cls(**own)
        again = campaign.to_dict()
        for name in (*DERIVED, "mechanism", "closes"):  # one text a campaign
            if again[name] != plain[name]:
                raise ParameterError(
                    f"{name} must follow from the other fields of a campaign, got another: read "
                    "it with the version of shoal that wrote it"
                )
        return campaign

    def to_bytes(self) -> bytes:
        """Return the document as JSON text, the bytes that are signed."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False).encode("utf-8")

    @classmethod
    def from_bytes(cls, document: bytes) -> Self:
        """Return the campaign that the JSON text of a document describes.

        Parameters
        ----------
        document : bytes
            What :meth:`to_bytes` returned.

        Returns
        -------
        campaign : Campaign
            A campaign equal to the original.

        Raises
        ------
        ParameterError
            If it is not a valid document of a campaign.
        """
        try:
            plain = read_json(document.decode("utf-8"))
        except (ValueError, RecursionError):
            raise ParameterError("a campaign must be JSON text, got something else") from None
        return cls.from_dict(plain)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Campaign):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.id, self.revision))


def _weaker_promise(new: Campaign, old: Campaign) -> list[str]:
    """Say what a new document promises less of, one report and all of them."""
    one, before = new.mechanism.guarantee_, old.mechanism.guarantee_
    reasons = []
    if (one.notion, one.unit, one.adjacency) != (before.notion, before.unit, before.adjacency):
        reasons.append(f"its promise is {one.notion}, not {before.notion}, or of another unit")
    if one.epsilon > before.epsilon:
        reasons.append(
            f"epsilon of a report is {rounded_up(one.epsilon)}, above {rounded_up(before.epsilon)}"
        )
    if new.guarantee.epsilon > old.guarantee.epsilon:
        reasons.append(
            f"epsilon of all reports is {rounded_up(new.guarantee.epsilon)}, above "
            f"{rounded_up(old.guarantee.epsilon)}"
        )
    if one.slack > before.slack:
        reasons.append(
            f"slack of a report is {rounded_up(one.slack)}, above {rounded_up(before.slack)}"
        )
    if new.guarantee.slack > old.guarantee.slack:
        reasons.append(
            f"slack of all reports is {rounded_up(new.guarantee.slack)}, above "
            f"{rounded_up(old.guarantee.slack)}"
        )
    if one.delta > before.delta:
        reasons.append(f"delta is {rounded_up(one.delta)}, above {rounded_up(before.delta)}")
    if _question(new) != _question(old):
        reasons.append("it asks for another record")
    if new.mechanism_digest != old.mechanism_digest:
        # Also one with a smaller epsilon, or with 1.0 for 1: each value would be drawn again.
        reasons.append("its reports come from another mechanism")
    return reasons


def _question(campaign: Campaign) -> Any:
    """Return what a device is asked about: columns, their bounds and the schema."""
    plain = campaign.mechanism.to_dict()
    parameters = plain["parameters"]
    return [plain["columns"], plain["names"], parameters.get("bounds"), parameters.get("schema")]


def _checked_mechanism(mechanism: Any) -> Mechanism:
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(
            f"mechanism must be one whose reports can be sent, got {type(mechanism).__name__}"
        )
    if mechanism.ledger is not None or mechanism.random_state is not None:
        raise ParameterError(
            "mechanism must leave ledger and random_state to the device, got one of them"
        )
    try:
        mechanism.report_format()
    except AttributeError:  # as scikit-learn says that something is not fitted
        raise ParameterError(
            "mechanism must know its columns, got bounds of two numbers: give bounds one value "
            "for each column, or a schema"
        ) from None
    if not mechanism.guarantee_.holds:
        raise ParameterError(f"mechanism must promise something, got {mechanism.guarantee_}")
    if not all(_is_told_apart(column) for column in mechanism.report_format().columns):
        raise ParameterError(
            "mechanism must have reports that are different doubles, got bounds that are too "
            "narrow for so far from 0: subtract a constant from that column"
        )
    return load_mechanism(mechanism.to_dict())


def _is_told_apart(column: ReportColumn) -> bool:
    """Return whether the points of a lattice, where they are coarsest, are different doubles."""
    last = column.first + column.stride * (column.levels - 1)
    for index in {column.first, column.first + column.stride, last - column.stride, last}:
        position = (column.origin + column.step * index - column.origin) / column.step
        if not math.isfinite(position) or round(position) != index:
            return False
    return True


def _check_shuffler(shuffler: Any, *, device_ids: bool) -> None:
    if not (shuffler is None or isinstance(shuffler, Shuffler)):
        raise ParameterError(f"shuffler must be a Shuffler or None, got {type(shuffler).__name__}")
    if shuffler is not None and device_ids:
        raise ParameterError(
            "device_ids must be False for reports that are shuffled, got True: a number of the "
            "device would undo it"
        )


def _checked_origins(origins: Any) -> tuple[str, ...]:
    if not isinstance(origins, tuple | list):
        raise ParameterError(
            f"origins must be a tuple of web origins, got {_numbers.shown(origins)}"
        )
    for origin in origins:
        _numbers.printable("origins", origin)
        try:
            parts = urlsplit(origin)
        except ValueError:  # of a host that cannot be
            parts = urlsplit("")
        if origin != f"{parts.scheme}://{parts.netloc}" or parts.scheme not in ("http", "https"):
            raise ParameterError(
                "origins must be such as 'https://example.org', without a path, got "
                f"{_numbers.shown(origin)}"
            )
    return tuple(origins)


def _read_time(text: Any) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except (TypeError, ValueError):
        raise ParameterError(
            f"closes must be a time such as '2030-01-31T12:00:00Z', got {_numbers.shown(text)}"
        ) from None


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError("mechanism must be the document of a mechanism, got something else")
    return value
