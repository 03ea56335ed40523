"""Flaws of shoal that broke promises, and the entries of a ledger that they concern.

The list is ``advisories.json``, beside this file. An advisory names what an entry records: the
version of shoal, and, where the flaw is no flaw of all of it, methods, kinds of events, notions and
platforms. Where an entry leaves open whether it is concerned, it is: a warning too much costs less
than a broken promise that nobody hears of.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from shoal import _numbers
from shoal.exceptions import ParameterError
from shoal.privacy._versions import parse_version
from shoal.privacy.entries import NOTIONS, Entry
from shoal.privacy.events import EVENT_NAMES, Composed, Event, Repeated

__all__ = ["Advisory", "read_advisories"]

FORMAT = 1
FILE = Path(__file__).with_name("advisories.json")
_METHOD = re.compile(r"\w+", re.ASCII)
_LISTS = ("methods", "events", "notions", "platforms")


@dataclass(frozen=True, kw_only=True)
class Advisory:
    """A flaw of some versions of shoal, because of which a promise does not hold.

    Parameters
    ----------
    id : str
        Its name, such as ``"SHOAL-2030-1"``.
    summary : str
        What is broken, in one sentence.
    advice : str
        What to do about it, in one sentence.
    introduced : str or None, default=None
        The first version that has the flaw, with all versions that led to it; None is the first
        one of all.
    fixed : str or None, default=None
        The first version without the flaw; None if there is none yet. A version that led to it,
        such as a release candidate, still has the flaw.
    methods : tuple of str, default=()
        Names with which the purposes of entries begin, such as ``"DPKMeans"``; all if empty.
    events : tuple of str, default=()
        Kinds of events, such as ``"GDPEvent"``; all if empty.
    notions : tuple of str, default=()
        Notions of the guarantee; all if empty.
    platforms : tuple of str, default=()
        Beginnings of an entry's platform, such as ``"win32"``; all if empty.

    Examples
    --------
    >>> from shoal.privacy import Ledger, PureEvent
    >>> entry = Ledger(epsilon=1.0).spend(PureEvent(epsilon=0.5), purpose="DPKMeans: counts")
    >>> flaw = {"id": "SHOAL-1", "summary": "Counts lack noise.", "advice": "Withdraw releases."}
    >>> Advisory(**flaw).concerns(entry), Advisory(**flaw, methods=("DPDensity",)).concerns(entry)
    (True, False)
    """

    id: str
    summary: str
    advice: str
    introduced: str | None = None
    fixed: str | None = None
    methods: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    notions: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every field: an advisory that matches nothing by mistake would be silent."""
        for name in ("id", "summary", "advice"):
            if not _numbers.printable(name, getattr(self, name)):
                raise _malformed(name, "a text that says something", getattr(self, name))
        first, last = (
            None if text is None else parse_version(text) for text in (self.introduced, self.fixed)
        )
        if first is not None and last is not None and not first < last:
            raise _malformed("fixed", f"after introduced, {self.introduced!r}", self.fixed)
        for name in _LISTS:
            given = getattr(self, name)
            if not isinstance(given, tuple) or not all(
                isinstance(one, str) and one for one in given
            ):
                raise _malformed(name, "a list of names", given)
        for name, known in (("events", EVENT_NAMES), ("notions", NOTIONS)):
            for one in getattr(self, name):
                _numbers.choice(name, one, tuple(known))

    def concerns(self, entry: Entry) -> bool:
        """Return whether the promise of an entry is broken by this flaw.

        Parameters
        ----------
        entry : Entry
            An entry of a ledger.

        Returns
        -------
        broken : bool
            Whether its version, method, events, notion and platform are those that are named.
        """
        version = parse_version(entry.version)
        if self.introduced is not None and version < parse_version(self.introduced).earliest:
            return False
        if self.fixed is not None and version >= parse_version(self.fixed):
            return False
        method = _METHOD.match(entry.purpose)
        return (
            (not self.methods or method is None or method[0] in self.methods)
            and (not self.events or not set(self.events).isdisjoint(_kinds(entry.event)))
            and (not self.notions or entry.notion in self.notions)
            and (not self.platforms or entry.platform.startswith(self.platforms))
        )

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Build an advisory from plain values; unknown fields are refused, as are missing ones."""
        known = {field.name for field in fields(cls)}
        if not isinstance(plain, dict) or not {"id", "summary", "advice"} <= set(plain) <= known:
            raise _malformed("advisories", f"objects with fields of {sorted(known)}", plain)
        lists = {name: tuple(plain[name]) for name in _LISTS if isinstance(plain.get(name), list)}
        return cls(**{**plain, **lists})


def read_advisories(path: Path = FILE) -> tuple[Advisory, ...]:
    """Return the advisories in a file; one that is malformed is an error, never left out."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as failure:
        raise ParameterError(
            f"advisories must be a JSON file that can be read, got {path.name!r}: {failure}",
            parameter="advisories",
            code="file",
        ) from None
    keys = {"shoal_advisories", "advisories"}
    whole = isinstance(plain, dict) and set(plain) == keys and plain["shoal_advisories"] == FORMAT
    if not whole or not isinstance(plain["advisories"], list):
        raise _malformed("advisories", f"a list of format {FORMAT}", plain)
    read = tuple(Advisory.from_dict(one) for one in plain["advisories"])
    if len({one.id for one in read}) < len(read):
        raise ParameterError(
            "advisories must have different ids, got one twice",
            parameter="advisories",
            code="duplicate",
        )
    return read


def _kinds(event: Event) -> Iterator[str]:
    """Yield the names of the kinds of all steps."""
    if isinstance(event, Composed):
        for child in event.events:
            yield from _kinds(child)
    elif isinstance(event, Repeated):
        yield from _kinds(event.event)
    else:
        yield type(event).__name__


def _malformed(name: str, rule: str, value: object) -> ParameterError:
    return ParameterError(
        f"{name} of an advisory must be {rule}, got {_numbers.shown(value)}",
        parameter=name,
        code="format",
    )
