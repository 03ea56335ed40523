"""``shoal-device``: take part in campaigns from a shell, for devices without Python code.

The file of the device is ``--file``; the key is needed once, after that the file knows it. The
ingest key comes from a file or from SHOAL_INGEST_KEY: arguments of a command can be seen by all
users of a machine. Records come from a file or from the standard input, for the same reason.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal._numbers import rounded_up
from shoal.client.device import Device
from shoal.client.receipts import CampaignStatus
from shoal.exceptions import ParameterError, ShoalError

__all__ = ["main"]

INGEST_KEY = "SHOAL_INGEST_KEY"
INPUT = "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, or 1 after one line about what is wrong."""
    given = _parser().parse_args(arguments)
    try:
        device = Device(
            given.file,
            public_key=given.public_key,
            ingest_key=_ingest_key(given.ingest_key_file),
            epsilon_limit=given.epsilon_limit,
        )
        for line in given.run(device, given):
            sys.stdout.write(f"{line}\n")
    except ShoalError as refused:
        sys.stderr.write(f"shoal-device: {refused}\n")
        return 1
    return 0


def _join(device: Device, given: argparse.Namespace) -> list[str]:
    campaign = device.join(given.url)
    return [campaign.title, campaign.purpose, str(campaign.guarantee), f"joined {campaign.id}"]


def _report(device: Device, given: argparse.Namespace) -> list[str]:
    record = _record(given.record)
    if given.keep:
        receipt = device.draw(record, campaign=given.campaign)
    else:
        receipt = device.report(record, campaign=given.campaign)
    spent = "reported before, nothing was spent" if receipt.duplicate else "new report"
    return [f"{receipt.campaign}: {spent}, {'sent' if receipt.sent else 'kept'}"]


def _send(device: Device, given: argparse.Namespace) -> list[str]:
    outcome = device.send_pending()
    return [f"sent {outcome.sent}, kept {outcome.kept}", *outcome.reasons]


def _label(device: Device, given: argparse.Namespace) -> list[str]:
    record = _record(given.record)
    return [str(device.label(record, campaign=given.campaign, refresh=given.refresh))]


def _status(device: Device, given: argparse.Namespace) -> list[str]:
    rows = [_plain(row) for row in device.status()]
    if given.json:
        return [json.dumps(rows, indent=2)]
    return [
        f"{row['id']} (revision {row['revision']}, {'open' if row['open'] else 'closed'}): "
        f"{row['drawn']} of {row['reports_per_device']} reports drawn, {row['acknowledged']} "
        f"arrived; epsilon {rounded_up(row['epsilon'])} of {rounded_up(row['epsilon_limit'])} "
        f"{row['notion']}"
        for row in rows
    ]


def _plain(row: CampaignStatus) -> dict[str, Any]:
    campaign = row.campaign
    return {
        "id": campaign.id,
        "title": campaign.title,
        "purpose": campaign.purpose,
        "revision": campaign.revision,
        "digest": row.digest,
        "open": campaign.is_open(),
        "closes": campaign.closes.isoformat(),
        "reports_per_device": campaign.reports_per_device,
        "drawn": row.drawn,
        "acknowledged": row.acknowledged,
        "notion": campaign.guarantee.notion,
        "epsilon": row.epsilon,
        "slack": row.slack,
        "epsilon_limit": campaign.guarantee.epsilon,
    }


def _record(source: str) -> Any:
    """Read one record: a list of its values, or an object by the names of its columns."""
    try:
        text = sys.stdin.read() if source == INPUT else Path(source).read_text(encoding="utf-8")
        record = json.loads(text)
    except OSError as failure:
        raise ParameterError(
            f"record must be a file or '-', got {source!r}: {failure.strerror}"
        ) from None
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, list | dict):
        raise ParameterError("record must be a JSON list of values or an object, got another text")
    return record


def _ingest_key(path: str | None) -> str | None:
    if path is None:
        return os.environ.get(INGEST_KEY)
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        raise ParameterError(f"ingest-key-file must be a file of text, got {path!r}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shoal-device",
        description="Take part in signed campaigns; only reports leave the device.",
    )
    parser.add_argument("--file", required=True, help="the one file of this device")
    parser.add_argument("--public-key", help="who may ask (ed25519:...); needed the first time")
    parser.add_argument("--ingest-key-file", help=f"file of the ingest key (else {INGEST_KEY})")
    parser.add_argument(
        "--epsilon-limit", type=float, help="what all campaigns together may cost (else: one only)"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    join = commands.add_parser("join", help="fetch, check and agree to a campaign's document")
    join.add_argument("url")
    join.set_defaults(run=_join)
    report = commands.add_parser("report", help="report a record, the same report if it was before")
    report.add_argument("--keep", action="store_true", help="draw and keep, send later")
    report.set_defaults(run=_report)
    send = commands.add_parser("send", help="send what was kept and has not arrived")
    send.set_defaults(run=_send)
    label = commands.add_parser("label", help="print the published cluster of a record")
    label.add_argument("--refresh", action="store_true", help="look for newer results")
    label.set_defaults(run=_label)
    for command in (report, label):
        command.add_argument(
            "record", nargs="?", default=INPUT, help="JSON file of one record; default: input"
        )
        command.add_argument("--campaign", help="id, where there are several")
    status = commands.add_parser("status", help="what was agreed to and spent")
    status.add_argument("--json", action="store_true")
    status.set_defaults(run=_status)
    return parser
