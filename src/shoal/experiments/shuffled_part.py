"""What a relay adds to a demo: batches, the amplified promise, and who sees which bytes."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.campaigns import Campaign, Shuffler
from shoal.client import Answer, Request, UrlTransport
from shoal.exceptions import ReleaseError
from shoal.privacy import Guarantee, Release

if TYPE_CHECKING:
    from shoal.collector import Store

__all__ = ["DemoRelay", "Seen", "ShuffledPart", "Wiretap", "stored_by_relay", "wait_for_batches"]

OPERATOR = "another process of this demo"
HONEST_SHARE = 0.9
SHOWN = 4  # reports of a batch
BATCH_SECONDS = 60.0
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class DemoRelay:
    """Settings of the relay that a demo starts to shuffle reports.

    Parameters
    ----------
    address : str
        Address on which it will listen, such as ``"http://127.0.0.1:8001"``.
    batch_size : int
        Number of reports that it shuffles together.
    sealing_key : str
        Public key of the analyst, as text.
    database : Path
        File of its database.
    start : callable
        Function that starts the relay and waits until it is ready. It is called with the public key
        of the campaign's document and an ingest key of the collector, and returns an ingest key for
        the devices.

    Examples
    --------
    >>> from pathlib import Path
    >>> from shoal.campaigns import SealingKey
    >>> from shoal.experiments import DemoRelay
    >>> key = str(SealingKey.new().public)
    >>> file, address = Path("relay.db"), "http://127.0.0.1:8001"
    >>> relay = DemoRelay(address, 500, key, file, start=lambda public_key, ingest_key: "")
    >>> relay.shuffler.batch_size
    500
    """

    address: str
    batch_size: int
    sealing_key: str
    database: Path
    start: Callable[[str, str], str]

    @property
    def shuffler(self) -> Shuffler:
        """The shuffler as the campaign's document describes it."""
        return Shuffler(OPERATOR, self.batch_size, self.sealing_key)


class Seen(NamedTuple):
    """What one report is to each of those that it passes.

    Parameters
    ----------
    record : list of float
        On the device; made up.
    report : bytes
        As the device drew it.
    sent : bytes
        As it left the device, sealed.
    stored : dict of str to bytes
        What the relay kept while it waited, by column.
    """

    record: list[float]
    report: bytes
    sent: bytes
    stored: dict[str, bytes]


@dataclass(frozen=True)
class ShuffledPart:
    """The result of the relay in a demo.

    Parameters
    ----------
    n_batches : int
        Number of batches that it forwarded.
    n_waiting : int
        Number of reports that wait for a full batch.
    promise : dict
        What the release states about its batches, see
        ``shoal.collector.relay_trust.shuffled_promise``.
    seen : Seen
        The bytes of one report, as each party saw them.
    opened : list of bytes
        Some reports of a batch, as the analyst opened them.

    Examples
    --------
    >>> from shoal.experiments import ShuffledPart
    >>> from shoal.experiments.shuffled_part import Seen
    >>> seen = Seen([2.0, 3.0], b"report", b"sealed", {})
    >>> ShuffledPart(2, 5, {"guarantee": None}, seen, []).amplified is None
    True
    """

    n_batches: int
    n_waiting: int
    promise: dict[str, Any]
    seen: Seen
    opened: list[bytes]

    @property
    def amplified(self) -> Guarantee | None:
        """The guarantee if the relay is trusted; None if the shuffler adds nothing."""
        plain = self.promise["guarantee"]
        return None if plain is None else Guarantee.from_dict(plain)

    @classmethod
    def of_release(
        cls, release: Release, seen: Seen, *, n_waiting: int, stored: bytes
    ) -> "ShuffledPart":
        """Build the result from a release and some of the stored reports."""
        promise: dict[str, Any] = release.values["collection"]["shuffled"]
        width = len(seen.report)
        opened = [stored[at : at + width] for at in range(0, SHOWN * width, width)]
        return cls(int(promise["batches"]), n_waiting, promise, seen, opened)


class Wiretap:
    """Carries requests as ``UrlTransport`` does, and keeps the last report that it carried."""

    def __init__(self) -> None:
        self.body = b""
        self._transport = UrlTransport()

    def __call__(self, request: Request) -> Answer:
        """Return the answer to a request."""
        if request.method == "POST" and request.body is not None:
            self.body = request.body
        return self._transport(request)


def stored_by_relay(database: Path, sent: bytes) -> dict[str, bytes]:
    """Return the row of a report that waits, as whoever holds the relay's file can read it."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as file:
        found = file.execute("SELECT * FROM waiting WHERE body = ?", (sent,))
        names = [column[0] for column in found.description]
        return dict(zip(names, found.fetchone(), strict=True))


def wait_for_batches(store: "Store", campaign: Campaign, n_batches: int) -> None:
    """Wait until the collector has stored all full batches."""
    end = time.monotonic() + BATCH_SECONDS
    while (stored := store.batch_totals(campaign.id).n_batches) < n_batches:
        if time.monotonic() > end:
            raise ReleaseError(
                f"the relay must forward {n_batches} batches in {BATCH_SECONDS:g} s, got {stored}: "
                "see relay.log"
            )
        time.sleep(POLL_SECONDS)
