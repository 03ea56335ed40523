"""Files and answers from outside that are bytes, of every kind, as ``outside_documents``."""

from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from contracts.outside_documents import LEDGER_USES
from contracts.outside_kinds import BOX, Kind, from_file, shows
from contracts.outside_releases import plain_release, small_clusters
from helpers.campaigns import KEY, MECHANISM, SEALING_KEY, shuffled_campaign, signed_campaign
from shoal.campaigns import PublicKey, SealingKey, SealingPublicKey, SigningKey, open_campaign
from shoal.cli._input import parse_bounds_file
from shoal.cli._reports import read_reports
from shoal.client import Answer, Device, Retries
from shoal.client.commands import _record
from shoal.client.delivery import acknowledged
from shoal.client.published import fetch_results, label_record
from shoal.collector.batch_intake import open_batch
from shoal.mechanisms import Laplace
from shoal.privacy import Ledger, PureEvent
from shoal.shuffler import FileCredentials, fetch_document
from shoal.tables import open_array

__all__ = ["file_kinds"]

CAMPAIGN = signed_campaign()
SHUFFLED = shuffled_campaign()
REPORTS = Laplace(2.0, bounds=BOX, random_state=0).fit(np.zeros((1, 2)))


def _pem(key: Any) -> Callable[[Path], list[bytes]]:
    def content(folder: Path) -> list[bytes]:
        path = folder / "key.pem"
        path.unlink(missing_ok=True)
        key.save(path)
        return [path.read_bytes()]

    return content


def _credentials(folder: Path) -> list[bytes]:
    path = folder / "fresh.keys"
    path.unlink(missing_ok=True)
    FileCredentials(path)
    return [path.read_bytes()]


def _ledger(folder: Path) -> list[bytes]:
    path = folder / "whole.ledger"
    for one in (path, Path(f"{path}.head")):
        one.unlink(missing_ok=True)
    ledger = Ledger(path, epsilon=5.0, delta=1e-6)
    ledger.spend(PureEvent(epsilon=0.5, purpose="counts"))
    return [path.read_bytes()]


def _open_ledger(path: Path) -> Any:
    head = path.parent / "whole.ledger.head"
    Path(f"{path}.head").write_bytes(head.read_bytes())
    return Ledger(path)


def _open_head(path: Path) -> Any:
    ledger = path.parent / "of_head.ledger"
    ledger.write_bytes((path.parent / "whole.ledger").read_bytes())
    Path(f"{ledger}.head").write_bytes(path.read_bytes())
    return Ledger(ledger)


def _head(folder: Path) -> list[bytes]:
    _ledger(folder)
    return [(folder / "whole.ledger.head").read_bytes()]


def _device(folder: Path) -> list[bytes]:
    path = folder / "device.db"
    path.unlink(missing_ok=True)
    device = Device(path, public_key=KEY.public, transport=_silent)
    device.join_envelope(CAMPAIGN.envelope, url=None)
    device.draw([0.5, 0.5])
    return [path.read_bytes()]


def _silent(request: Any) -> Answer:
    return Answer(404, {}, b"")


def _read_device(path: Path) -> Any:
    Path(f"{path}-journal").unlink(missing_ok=True)
    return Device(path, transport=_silent)


def _results(folder: Path) -> list[Any]:
    return [{"digest": CAMPAIGN.digest, "release": plain_release(small_clusters())}]


def _fetched(content: bytes) -> Any:
    return fetch_results(CAMPAIGN.campaign, lambda request: Answer(200, {}, content), Retries())


def _array(folder: Path) -> list[bytes]:
    file = BytesIO()
    np.save(file, np.zeros((4, 2)))
    return [file.getvalue()]


def _archive(folder: Path) -> list[bytes]:
    file = BytesIO()
    np.savez(file, vectors=np.zeros((4, 2)))
    return [file.getvalue()]


def _csv(folder: Path) -> list[bytes]:
    reports = REPORTS.transform(np.zeros((4, 2)))
    return [b"x,y\n" + b"".join(b"%r,%r\n" % (float(x), float(y)) for x, y in reports)]


def file_kinds(folder: Path) -> list[Kind]:
    """Return all kinds, with a folder for files."""
    file = partial(from_file, folder)

    def kind(name: str, make: Callable[[Path], list[Any]], read: Any, *uses: Any) -> Kind:
        return Kind(name, lambda: make(folder), read, (shows, *uses), text=True)

    return [
        kind("signing key", _pem(KEY), file(SigningKey.load)),
        kind("sealing key", _pem(SEALING_KEY), file(SealingKey.load)),
        kind(
            "public key",
            lambda folder: [str(KEY.public).encode()],
            lambda content: PublicKey.from_text(content.decode("latin-1")),
        ),
        kind(
            "sealing public key",
            lambda folder: [str(SEALING_KEY.public).encode()],
            lambda content: SealingPublicKey.from_text(content.decode("latin-1")),
            lambda key: key.seal(b"ab", "homes"),
        ),
        kind(
            "sealed report",
            lambda folder: [SEALING_KEY.public.seal(b"ab", "homes")],
            lambda content: SEALING_KEY.open(content, "homes"),
        ),
        kind(
            "batch",
            lambda folder: [SHUFFLED.campaign.shuffler.seal(b"\0\0", "homes") * 4],
            lambda content: open_batch(SHUFFLED.campaign, SEALING_KEY, content),
        ),
        kind(
            "encoded reports",
            lambda folder: [MECHANISM.encode([[0.0, 1.0], [3.0, 0.0]])],
            MECHANISM.decode,
        ),
        kind("reports file", _csv, file(lambda path: read_reports(path, ("x", "y"), "Laplace"))),
        kind("credentials", _credentials, file(FileCredentials)),
        kind(
            "bounds file", lambda folder: [{"x": [0, 1], "y": [-2.5, 3]}], file(parse_bounds_file)
        ),
        kind("ledger file", _ledger, file(_open_ledger, "a.ledger"), *LEDGER_USES),
        kind("ledger head", _head, file(_open_head), *LEDGER_USES),
        kind("device file", _device, file(_read_device), lambda device: device.status()),
        kind(
            "document of a relay",
            lambda folder: [SHUFFLED.envelope],
            file(lambda path: fetch_document(str(path), str(KEY.public))),
        ),
        kind(
            "document of a device",
            lambda folder: [CAMPAIGN.envelope],
            lambda content: open_campaign(content, KEY.public),
        ),
        kind("record", lambda folder: [[0.5, 0.5]], file(lambda path: _record(str(path)))),
        kind("acknowledgement", lambda folder: [{"stored": 1}], _acknowledged),
        kind(
            "results",
            _results,
            _fetched,
            lambda published: label_record(published, CAMPAIGN.campaign, [0.5, 0.5]),
        ),
        kind("array", _array, file(open_array, "a.npy")),
        kind("archive", _archive, file(open_array, "a.npz")),
    ]


def _acknowledged(content: bytes) -> bool:
    return acknowledged(Answer(200, {}, content))
