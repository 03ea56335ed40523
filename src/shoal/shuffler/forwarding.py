"""Form batches and forward them, one after the other, until the collector has each.

A batch is formed when enough reports wait, and only then: not earlier, not when the campaign ends,
not when the relay is stopped. It is one body from then on, and the same bytes are sent until the
collector acknowledges them, across crashes of either.
"""

import json
import threading
import time
from collections.abc import Callable
from typing import Protocol

from shoal.client import Answer, Request, Retries, Transport, UrlTransport, ask
from shoal.exceptions import DeliveryError, StoreError
from shoal.service import EventLog
from shoal.shuffler.document import RelayedCampaign
from shoal.shuffler.store import Batch, RelayStore

__all__ = ["ForwardedCounts", "Forwarder"]

FIRST_WAIT = 1.0  # seconds after a first failure
MAX_NAMED_WAIT = 3600.0  # seconds that the collector may ask for: no slip of it lasts for years
LOOK_SECONDS = 5.0  # for the closing time, and for what another process stored
DOCUMENT_SECONDS = 30.0  # between two looks for a later document: pages wait for its origins
JOIN_SECONDS = 5.0  # a request on its way may be cut off: it is sent again
TIMEOUT = 60.0  # seconds for a batch and its answer
ENDED = "forwarding has ended by an error: start the relay again"
STOPPED = "forwarding has stopped: the collector has another batch of this number"


class ForwardedCounts(Protocol):
    """Counts what the forwarder does, in whole batches."""

    def count_formed(self) -> None:
        """Count a batch that was formed."""

    def count_forwarded(self) -> None:
        """Count a batch that the collector has acknowledged."""

    def count_failure(self) -> None:
        """Count an attempt that was not acknowledged."""

    def stop(self) -> None:
        """Note that forwarding has stopped."""


class Forwarder:
    """A thread that forms batches and forwards them.

    Parameters
    ----------
    store : RelayStore
        Where reports wait.
    campaign : RelayedCampaign
        Whose reports.
    to : str
        Address of the collector, such as ``https://collect.example.org``.
    log : EventLog
        Gets a line for each batch, and none for a report.
    counts : ForwardedCounts
        Counts batches.
    key : str, default=None
        The relay's ingest key of the collector.
    transport : Transport, default=None
        Carries requests; None is ``UrlTransport(timeout=60)``.
    retry_seconds : float, default=120
        Longest wait after failures.
    clock : callable, default=time.time
        Seconds since 1970.
    """

    def __init__(
        self,
        store: RelayStore,
        campaign: RelayedCampaign,
        to: str,
        log: EventLog,
        counts: ForwardedCounts,
        *,
        key: str | None = None,
        transport: Transport | None = None,
        retry_seconds: float = 120.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._campaign = campaign
        self._to = to.rstrip("/")
        self._log = log
        self._counts = counts
        self._key = key
        self._transport = UrlTransport(timeout=TIMEOUT) if transport is None else transport
        self._retries = Retries(
            attempts=1, first_wait=min(FIRST_WAIT, retry_seconds), max_wait=retry_seconds
        )
        self._clock = clock
        self._changed = threading.Event()
        self._stopping = False
        self._failures = 0
        self._not_before = 0.0
        self._next_look = time.monotonic() + DOCUMENT_SECONDS
        self._thread = threading.Thread(target=self._run, name="shoal-forwarder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Look for a full batch now: reports were stored."""
        self._changed.set()

    def close(self) -> None:
        """End the thread; a batch on its way is sent again by the next relay."""
        self._stopping = True
        self._changed.set()
        self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        """Work until told to end; a database or a collector that is away is waited for."""
        try:
            while not self._stopping:
                self._changed.clear()
                try:
                    wait = self.step()
                except StoreError as error:
                    self._log.write("relay waits", reason=str(error))
                    wait = LOOK_SECONDS
                self._changed.wait(wait)
        finally:
            if not self._stopping:  # after an error that nobody foresaw, nothing is taken
                self._store.stop(ENDED)

    def step(self) -> float:
        """Form what is full, forward one batch; return the seconds until there is more to do."""
        self._follow_document()
        while (number := self._store.form_batch()) is not None:
            self._counts.count_formed()
            self._log.write("batch formed", batch=number)
        self._drop_at_the_end()
        pause = self._not_before - time.monotonic()
        if pause > 0.0:
            return min(pause, LOOK_SECONDS)
        batch = self._store.next_batch()
        if batch is None:
            return LOOK_SECONDS
        self._forward(batch)
        return 0.0

    def _follow_document(self) -> None:
        """Look for a later document now and then, whether or not anybody answers it."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + DOCUMENT_SECONDS
            self._campaign.look()

    def _is_over(self) -> bool:
        return self._clock() >= self._campaign.signed.campaign.closes.timestamp()

    def _drop_at_the_end(self) -> None:
        """Delete what is fewer than a batch after the closing time: it is never forwarded."""
        if not self._is_over() or not self._store.counts().n_waiting:
            return
        self._campaign.look()  # a later document may have a later closing time
        if not self._is_over():
            return
        dropped = self._store.drop_waiting()
        if dropped:
            self._log.write("campaign closed: reports of no full batch deleted", reports=dropped)

    def _forward(self, batch: Batch) -> None:
        """Send a batch once, and forget it if the collector has it."""
        wait, answer = None, None
        try:
            answer = ask(self._transport, self._request(batch), self._retries)
            reason = f"status {answer.status}"
        except DeliveryError as error:
            wait, reason = error.wait, str(error)
        if answer is not None and _acknowledges(answer, batch.number):
            self._store.forget_batch(batch.number)
            self._failures = 0
            self._counts.count_forwarded()
            self._log.write("batch forwarded", batch=batch.number)
            return
        self._counts.count_failure()
        if answer is not None and answer.status == 409:
            self._stop(batch.number)
            return
        if answer is not None and answer.status == 412:
            self._campaign.look()
        wait = max(min(wait or 0.0, MAX_NAMED_WAIT), self._retries.wait(self._failures))
        self._failures += 1
        self._not_before = time.monotonic() + wait
        self._log.write(
            "batch not acknowledged", batch=batch.number, reason=reason, attempt=self._failures
        )

    def _request(self, batch: Batch) -> Request:
        """Return the request that hands a batch over."""
        signed = self._campaign.signed
        headers = {"Content-Type": "application/octet-stream", "Shoal-Campaign": signed.digest}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        url = f"{self._to}/v1/campaigns/{signed.campaign.id}/batches/{batch.number}"
        return Request("POST", url, headers, batch.body)

    def _stop(self, number: int) -> None:
        """Stop for good: sending on would lose reports, or send some twice."""
        self._not_before = float("inf")
        self._counts.stop()
        self._store.stop(STOPPED)
        self._log.write("FORWARDING STOPPED: the collector has another batch", batch=number)


def _acknowledges(answer: Answer, number: int) -> bool:
    """Return whether the collector says that it has this batch; any other page does not."""
    if answer.status not in (200, 201):
        return False
    try:
        plain = json.loads(answer.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and plain.get("batch") == number and "stored" in plain
