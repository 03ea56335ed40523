"""A relay in this process, on a real port, and a collector of batches that does as it is told."""

import hashlib
import io
import itertools
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import httpx
from fastapi import FastAPI

from helpers.campaigns import KEY, shuffled_campaign
from helpers.collector import OCTETS, running_app
from shoal.campaigns import SEALED_OVERHEAD, SignedCampaign
from shoal.client import Answer, Request
from shoal.service import EventLog
from shoal.shuffler import (
    FileCredentials,
    RelayedCampaign,
    RelayStore,
    Settings,
    create_app,
    forwarding,
    open_store,
)

NUMBERS = itertools.count()
PATIENCE = 60.0
SIZE = 5
WIDTH = 2 + SEALED_OVERHEAD  # of sealed reports of `helpers.campaigns.MECHANISM`


def relayed_campaign(batch_size: int = SIZE, **changed) -> SignedCampaign:
    """Return a signed campaign with a shuffler, open to everybody unless told otherwise."""
    return shuffled_campaign(**{"batch_size": batch_size, "open_intake": True, **changed})


def body_of(number: int) -> bytes:
    """Return the bytes of a sealed report; they begin with the number."""
    return number.to_bytes(8, "big") + hashlib.shake_128(b"%d" % number).digest(WIDTH - 8)


def numbers_of(batch: bytes) -> list[int]:
    """Return the numbers of the reports of a batch, in its order."""
    reports = [batch[start : start + WIDTH] for start in range(0, len(batch), WIDTH)]
    numbers = [int.from_bytes(report[:8], "big") for report in reports]
    assert [body_of(number) for number in numbers] == reports
    return numbers


class BatchCollector:
    """Takes batches by the rules of a collector; a transport, or served by `stub_collector`.

    `plan` holds what to answer instead, first one first. With `failing`, that share of requests
    fails at random, half of them after the batch was stored.
    """

    def __init__(self, failing: float = 0.0, seed: int = 0):
        self.batches: dict[int, bytes] = {}
        self.requests: list[Request] = []
        self.plan: list[int | Answer | Exception] = []
        self.documents: dict[str, bytes] = {}
        self.conflicts = 0
        self.duplicates = 0
        self.failed = 0
        self._failing = failing
        self._random = random.Random(seed)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if request.method == "GET":
                found = self.documents.get(urlsplit(request.url).path)
                return Answer(404, {}, b"{}") if found is None else Answer(200, {}, found)
            if self.plan:
                step = self.plan.pop(0)
                if isinstance(step, Exception):
                    raise step
                return step if isinstance(step, Answer) else Answer(step, {}, b"{}")
            fails = self._random.random() < self._failing
            if fails and self._random.random() < 0.5:
                self.failed += 1
                return Answer(503, {"retry-after": "0"}, b"{}")
            answer = self._store(request)
            if fails:
                self.failed += 1
                raise ConnectionResetError("stored, and never said so")
            return answer

    def _store(self, request: Request) -> Answer:
        number = int(urlsplit(request.url).path.rpartition("/")[2])
        known = self.batches.get(number)
        if (known is None and number != len(self.batches) + 1) or known not in (None, request.body):
            self.conflicts += 1
            return Answer(409, {}, b"{}")
        self.batches[number] = request.body
        self.duplicates += known is not None
        content = {"stored": len(request.body) // WIDTH, "batch": number}
        return Answer(201 if known is None else 200, {}, json.dumps(content).encode())

    @property
    def posts(self) -> list[Request]:
        return [request for request in self.requests if request.method == "POST"]


@dataclass
class RunningRelay:
    """A relay that answers on `address`."""

    address: str
    app: FastAPI
    store: RelayStore
    log: io.StringIO
    client: httpx.Client
    collector: BatchCollector
    campaign: RelayedCampaign
    keys: Path
    digest: str = field(init=False)

    def __post_init__(self):
        self.digest = self.campaign.signed.digest

    def add_campaign(self) -> str:
        """Return the one campaign of the relay, as `RunningCollector` returns a new one."""
        return self.campaign.live.id

    def headers(self, **changed: str | None) -> dict[str, str]:
        """Return the headers of a new report; None leaves one out."""
        headers = {
            "Content-Type": OCTETS,
            "Idempotency-Key": f"key-of-a-test-{next(NUMBERS):06d}",
            "Shoal-Campaign": self.digest,
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        return {name: value for name, value in headers.items() if value is not None}

    def send(
        self, campaign: str = "homes", body: bytes | None = None, **changed: str | None
    ) -> httpx.Response:
        """Send a report; a new one, unless its bytes are given."""
        body = body_of(next(NUMBERS)) if body is None else body
        url = f"/v1/campaigns/{campaign}/reports"
        return self.client.post(url, content=body, headers=self.headers(**changed))

    def credentials(self) -> tuple[str, str]:
        """Return the ingest key and the token that the relay made."""
        key, token = self.keys.read_text().split()
        return key, token

    def wait_for(self, batches: int) -> None:
        """Wait until the collector has so many batches and the relay has forgotten them."""
        wait_until(lambda: self.store.counts().n_forwarded >= batches)

    def events(self) -> list[dict]:
        """Return the lines of the log."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


def wait_until(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def running_relay(
    folder: Path,
    *,
    signed: SignedCampaign | None = None,
    collector: BatchCollector | None = None,
    to: str | None = None,
    **settings,
) -> Iterator[RunningRelay]:
    """Run a relay in a thread, with files in a folder; `to` names a collector on a port."""
    signed = relayed_campaign() if signed is None else signed
    document = folder / "homes.campaign.json"
    document.write_bytes(signed.envelope)
    collector = BatchCollector() if collector is None else collector
    log = io.StringIO()
    campaign = RelayedCampaign(str(document), str(KEY.public), EventLog(log))
    chosen = Settings(
        str(folder / "relay.db"),
        to or "http://127.0.0.1:9",
        port=0,
        **{"refresh_seconds": 0.2, "retry_seconds": 0.02, **settings},
    )
    keys = folder / "relay.keys"
    quick = mock.patch.object(forwarding, "LOOK_SECONDS", 0.02)
    with quick, open_store(chosen, campaign) as store:
        credentials = FileCredentials(keys)
        app = create_app(
            store,
            campaign,
            credentials,
            chosen,
            log=EventLog(log),
            transport=collector if to is None else None,
        )
        with running_app(app, chosen) as (address, client):
            yield RunningRelay(address, app, store, log, client, collector, campaign, keys)
