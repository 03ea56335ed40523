"""A collector in this process, on a real port: campaigns, keys and tokens, and requests to it."""

import io
import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import uvicorn
from fastapi import FastAPI

from helpers.campaigns import SEALING_KEY, shuffled_campaign, signed_campaign
from shoal.campaigns import SealingKey
from shoal.collector import Settings, Store, create_app
from shoal.service import EventLog, ServiceSettings, listen, server_config

LATER = datetime(2035, 1, 1, tzinfo=UTC)
OCTETS = "application/octet-stream"
REPORT = b"\x07\x01"  # a report of `helpers.campaigns.MECHANISM`
NUMBERS = itertools.count()


@dataclass
class RunningCollector:
    """A collector that answers on `address`."""

    address: str
    app: FastAPI
    store: Store
    log: io.StringIO
    client: httpx.Client

    def add_campaign(self, **changed) -> str:
        """Add a campaign, open to everybody unless told otherwise; return its id."""
        name = f"campaign-{next(NUMBERS)}"
        self.store.add_campaign(signed_campaign(name, **{"open_intake": True, **changed}))
        return name

    def add_shuffled(self, **changed) -> str:
        """Add a campaign whose reports come in batches; return its id."""
        name = f"campaign-{next(NUMBERS)}"
        self.store.add_campaign(shuffled_campaign(name, **changed))
        return name

    def token(self, *scopes: str) -> dict[str, str]:
        """Return the header of a new token."""
        return {"Authorization": f"Bearer {self.store.add_token('Ada', scopes, LATER)}"}

    def headers(self, campaign: str, **changed: str | None) -> dict[str, str]:
        """Return the headers of a new submission; None leaves one out."""
        headers = {
            "Content-Type": OCTETS,
            "Idempotency-Key": f"key-of-a-test-{next(NUMBERS):06d}",
            "Shoal-Campaign": self.store.campaign(campaign).digest,
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        return {name: value for name, value in headers.items() if value is not None}

    def send(self, campaign: str, body: bytes = REPORT, **changed: str | None) -> httpx.Response:
        """Send a submission."""
        url = f"/v1/campaigns/{campaign}/reports"
        return self.client.post(url, content=body, headers=self.headers(campaign, **changed))

    def send_batch(
        self, campaign: str, number: int | str, body: bytes, **changed: str | None
    ) -> httpx.Response:
        """Forward a batch, with an ingest key of the campaign unless told otherwise."""
        if "Authorization" not in changed:
            changed["Authorization"] = f"Bearer {self.store.add_ingest_key(campaign)}"
        headers = self.headers(campaign, Idempotency_Key=None, **changed)
        url = f"/v1/campaigns/{campaign}/batches/{number}"
        return self.client.post(url, content=body, headers=headers)


def sealed(campaign: str, *reports: bytes) -> bytes:
    """Return reports as devices seal them, one after the other."""
    return b"".join(SEALING_KEY.public.seal(report, campaign) for report in reports)


def is_problem(answer: httpx.Response, name: str) -> bool:
    """Return whether an answer is a whole problem document of a kind."""
    from shoal.service import PROBLEMS

    problem = PROBLEMS[name]
    found = answer.json()
    return (
        answer.headers["content-type"] == "application/problem+json"
        and answer.status_code == problem.status
        and list(found) == ["type", "title", "status", "detail"]
        and found == problem.document(found["detail"])
        and bool(found["detail"])
    )


@contextmanager
def running_collector(
    url: str,
    *,
    log: io.StringIO | None = None,
    sealing_keys: Sequence[SealingKey] = (SEALING_KEY,),
    **settings,
) -> Iterator[RunningCollector]:
    """Run a collector on a database, in a thread."""
    chosen = Settings(url, port=0, analysis_worker=False, **{"refresh_seconds": 0.2, **settings})
    log = io.StringIO() if log is None else log
    with Store.open(url) as store:
        app = create_app(store, chosen, log=EventLog(log), sealing_keys=sealing_keys)
        with running_app(app, chosen) as (address, client):
            yield RunningCollector(address, app, store, log, client)


@contextmanager
def running_app(app: FastAPI, settings: ServiceSettings) -> Iterator[tuple[str, httpx.Client]]:
    """Run an application in a thread; yields its address and a client of it."""
    with listen(settings) as listener:
        server = uvicorn.Server(server_config(app, settings))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
                yield address, client
        finally:
            server.should_exit = True
            thread.join()
