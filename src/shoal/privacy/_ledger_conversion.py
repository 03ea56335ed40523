"""A ledger of format 1 as one of this format.

Format 1 did not say whom its entries protect, and let metric spends go without a unit. What is
missing is declared by the curator, and the new ledger counts the old entries under it.
"""

import json
import os
from pathlib import Path
from typing import Any

from shoal._files import hidden_sibling
from shoal.exceptions import LedgerFileError, ParameterError, ShoalError
from shoal.privacy._ledger_file import START, decode_line
from shoal.privacy.entries import Entry
from shoal.privacy.events import event_from_dict
from shoal.privacy.ledger import Ledger
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit

__all__ = ["convert_ledger"]

_ENTRY = {"time", "event", "purpose", "adjacency", "notion"}


def convert_ledger(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    privacy_unit: PrivacyUnit = RECORD,
    metric_unit: str = "",
    table: str = "",
) -> Ledger:
    r"""Convert a ledger file of format 1 to the current format.

    Parameters
    ----------
    old : str or path-like
        File of a ledger of format 1; it is not changed.
    new : str or path-like
        File of the new ledger; it must not exist yet.
    privacy_unit : PrivacyUnit, default=PrivacyUnit()
        What every old entry protects, which format 1 did not record: single records, unless all
        fits were given user ids.
    metric_unit : str, default=""
        Unit of distance of metric entries that have none, and of the metric limit.
    table : str, default=""
        Name of the records.

    Returns
    -------
    ledger : Ledger
        The new ledger, with the entries and the limits of the old one, for ``privacy_unit``.

    Raises
    ------
    LedgerFileError
        If the old file is not a ledger of format 1 or is damaged, or the new file exists.
    ParameterError
        If metric spends are allowed and ``metric_unit`` is missing.

    Notes
    -----
    Format 1 did not record which noise came from a seed either; the new ledger assumes that none
    did. Use only the new ledger from now on: it does not know what is spent on the old one, or on a
    second conversion of it.

    Examples
    --------
    The old ledger is written here: its first line has the limits, and a hash of itself.

    >>> import hashlib, json, tempfile
    >>> from pathlib import Path
    >>> from shoal.privacy import convert_ledger
    >>> limits = {"epsilon": 3.0, "delta": 0.0, "metric_epsilon": None}
    >>> limits |= {"adjacency": "add/remove", "approximate_delta": None}
    >>> line = json.dumps({"shoal_ledger": 1, **limits}, separators=(",", ":"))
    >>> digest = hashlib.sha256(("0" * 64 + line).encode()).hexdigest()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = Path(folder, "old.ledger"), Path(folder, "new.ledger")
    ...     _ = old.write_bytes(f'{line[:-1]},"hash":"{digest}"}}\n'.encode())
    ...     ledger = convert_ledger(old, new, table="people")
    ...     print(ledger.remaining, ledger.table)
    3.0 people
    """
    limits, entries = _read(Path(old))
    if Path(new).exists() or Path(f"{new}.head").exists():
        raise LedgerFileError(f"{new} and {new}.head must not exist yet: choose another path")
    if limits.get("metric_epsilon") is not None and not metric_unit:
        raise ParameterError(
            "metric_unit must be given, because the old ledger has a limit on metric spends "
            "without a unit, got ''"
        )
    if limits.get("metric_epsilon") is None:
        metric_unit = ""
    adjacency = Adjacency(limits.pop("adjacency"))
    converted = [_entry(plain, privacy_unit, metric_unit, table) for plain in entries]
    target = Path(new).resolve()
    part = hidden_sibling(target)
    try:
        Ledger(
            part,
            **limits,
            gdp_delta=0.0,  # format 1 counted Gaussian noise by zCDP
            adjacency=adjacency,
            privacy_unit=privacy_unit,
            metric_unit=metric_unit,
            table=table,
        )._adopt(converted)
        # The head first: a crash in between leaves a ledger that is refused, none that lacks lines.
        Path(f"{part}.head").rename(f"{target}.head")
        part.rename(target)
    finally:
        for left in (part, Path(f"{part}.head")):
            left.unlink(missing_ok=True)
    return Ledger(target, table=table)


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as failure:
        raise LedgerFileError(f"{path} cannot be read: {failure.strerror}") from None
    contents, previous = [], START
    for number, line in enumerate(lines, start=1):
        try:
            content, previous = decode_line(line, previous)
        except (ValueError, TypeError, RecursionError) as damage:
            raise LedgerFileError(f"{path} is damaged at line {number} ({damage})") from None
        contents.append(content)
    if not contents or contents[0].pop("shoal_ledger", None) != 1:
        raise LedgerFileError(f"{path} is not a ledger of format 1")
    return contents[0], contents[1:]


def _entry(plain: dict[str, Any], privacy_unit: PrivacyUnit, metric_unit: str, table: str) -> Entry:
    try:
        if set(plain) != _ENTRY:
            raise ParameterError(f"an entry must have the fields {sorted(_ENTRY)}")
        event = _with_unit(plain["event"], metric_unit)
        return Entry(
            time=plain["time"],
            event=event_from_dict(event),
            purpose=plain["purpose"],
            adjacency=Adjacency(plain["adjacency"]),
            notion=plain["notion"],
            privacy_unit=privacy_unit,
            table=table,
        )
    except (ValueError, TypeError, KeyError, ShoalError) as damage:
        raise LedgerFileError(f"an entry of the old ledger cannot be read: {damage}") from None


def _with_unit(event: dict[str, Any], unit: str) -> dict[str, Any]:
    """Name the unit of metric events that have none, however deep they are."""
    named: dict[str, Any] = json.loads(
        json.dumps(event),
        object_hook=lambda part: {**part, "unit": unit} if part.get("unit") == "" else part,
    )
    return named
