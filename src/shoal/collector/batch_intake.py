"""Intake of batches: what a relay forwards, opened with the analyst's key, stored as one.

A batch has exactly as many sealed reports as the campaign's document says, and the number after the
one before. Sending the same bytes again is always safe. Reports that do not open, that are none of
the mechanism, or that were opened before are dropped and counted; the rest of the batch is kept. A
server without the key of a campaign takes no batch of it, rather than drop all.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope

from shoal.campaigns import Campaign, SealingKey
from shoal.collector.report_check import ReportCheck
from shoal.collector.store import BatchOutcome, OpenedBatch, Store, StoredBatch
from shoal.exceptions import CampaignError
from shoal.service import (
    BucketTable,
    CampaignRoute,
    Gatekeeper,
    LiveCampaign,
    LiveCampaigns,
    RefusedError,
    Taken,
    is_json,
    read_body,
    read_headers,
    unavailable,
)

__all__ = ["GRACE", "MAX_BATCH_BYTES", "PATH", "BatchIntake", "open_batch"]

PATH = "/v1/campaigns/{campaign}/batches/{number}"
NUMBER = re.compile(r"[1-9][0-9]{0,9}")
MAX_NUMBER = 2**31 - 1
MAX_BATCH_BYTES = 64 << 20  # of any campaign; the limit of one is that of its document
GRACE = timedelta(days=30)  # a batch that was full at the closing time may have to wait for a relay
NO_KEY_SECONDS = 60  # until somebody has started the server with the key
BUSY_SECONDS = 1
KEY_BYTES = 32  # of a sealed report: the key that was drawn for it alone


class BatchIntake(CampaignRoute):
    """The route that a relay sends batches to.

    Parameters
    ----------
    store : Store
        Where batches go.
    keys : sequence of SealingKey
        Those of the campaigns whose batches are taken.
    campaigns, gatekeeper, rates, count
        As for :class:`shoal.service.CampaignRoute`.
    """

    path = PATH
    pattern = re.compile(PATH.format(campaign="(?P<campaign>[^/]+)", number="(?P<number>[^/]+)"))

    def __init__(
        self,
        store: Store,
        keys: Sequence[SealingKey],
        *,
        campaigns: LiveCampaigns,
        gatekeeper: Gatekeeper,
        rates: BucketTable,
        count: Callable[[str, str, int], None],
    ) -> None:
        super().__init__(campaigns, gatekeeper, rates, count, MAX_BATCH_BYTES)
        self._store = store
        self._keys = {str(key.public): key for key in keys}
        self._busy: set[str] = set()

    def _needs_key(self, campaign: LiveCampaign) -> bool:
        return True  # open intake is for devices, which send nothing here

    async def _take(self, campaign: LiveCampaign, scope: Scope, receive: Receive) -> Taken:
        """Check, open and store one batch."""
        headers = read_headers(scope["headers"])
        await self._check_key(campaign, scope, headers)
        number = _read_number(scope["path_params"]["number"])
        campaign = await self._agreed(campaign, headers.get(b"shoal-campaign"))
        document = (await run_in_threadpool(self._store.campaign, campaign.id)).campaign
        key = self._find_key(document)
        if datetime.now(UTC) - GRACE >= document.closes:  # which may be the last day there is
            raise RefusedError(
                "closed", f"Batches are taken until {GRACE.days} days after the closing time."
            )
        if is_json(headers):
            raise RefusedError(
                "unsupported-media-type", "A batch must be application/octet-stream."
            )
        if campaign.id in self._busy:
            raise unavailable("Another batch of this campaign is being stored.", BUSY_SECONDS)
        self._busy.add(campaign.id)  # so that one batch of a campaign is in memory
        try:
            body = await _read_batch(receive, document)
            outcome, stored = await run_in_threadpool(
                store_batch, self._store, document, key, number, body
            )
        finally:
            self._busy.discard(campaign.id)
        return _answer(outcome, stored)

    def _find_key(self, campaign: Campaign) -> SealingKey:
        """Return the key that opens the reports of a campaign, or refuse."""
        if campaign.shuffler is None:
            raise RefusedError("not-shuffled", "The campaign's document names no relay.")
        key = self._keys.get(campaign.shuffler.key)
        if key is None:
            raise unavailable(
                "This server was started without the sealing key of the campaign.", NO_KEY_SECONDS
            )
        return key


def store_batch(
    store: Store, campaign: Campaign, key: SealingKey, number: int, body: bytes
) -> tuple[BatchOutcome, StoredBatch | None]:
    """Open a batch and store it, unless it is there already or out of order.

    Parameters
    ----------
    store : Store
        Where to.
    campaign : Campaign
        Its document.
    key : SealingKey
        Opens its reports.
    number : int
        Of the batch.
    body : bytes
        The sealed reports.

    Returns
    -------
    outcome : BatchOutcome
        What became of it.
    stored : StoredBatch or None
        The batch of this number that is there now.
    """
    digest = hashlib.sha256(body).hexdigest()
    found = store.find_batch(campaign.id, number, digest)
    if found[0] is not BatchOutcome.STORED:
        return found
    return store.append_batch(campaign.id, number, open_batch(campaign, key, body))


def open_batch(campaign: Campaign, key: SealingKey, body: bytes) -> OpenedBatch:
    """Open the reports of a batch, and sort out those that are none.

    Parameters
    ----------
    campaign : Campaign
        Its document.
    key : SealingKey
        Opens its reports.
    body : bytes
        Sealed reports, one after the other.

    Returns
    -------
    batch : OpenedBatch
        In the order of `body`.
    """
    width = campaign.body_bytes
    check = ReportCheck(campaign.report_format, max_batch=1)
    reports, n_unopened, n_invalid = [], 0, 0
    for start in range(0, len(body), width):
        sealed = body[start : start + width]
        try:
            report = key.open(sealed, campaign.id)
            check.check_bytes(report)
        except CampaignError:
            n_unopened += 1
        except RefusedError:
            n_invalid += 1
        else:
            reports.append((sealed[:KEY_BYTES], report))
    return OpenedBatch(hashlib.sha256(body).hexdigest(), reports, n_unopened, n_invalid)


def _read_number(text: str) -> int:
    number = int(text) if NUMBER.fullmatch(text) else 0
    if not 1 <= number <= MAX_NUMBER:
        raise RefusedError(
            "invalid-parameter", f"number must be a whole number from 1 to {MAX_NUMBER}."
        )
    return number


async def _read_batch(receive: Receive, campaign: Campaign) -> bytes:
    """Return a body that has as many bytes as a batch, and hold no more of any other."""
    assert campaign.shuffler is not None
    length = campaign.shuffler.batch_size * campaign.body_bytes
    body = await read_body(receive, length)
    if len(body) != length:
        raise RefusedError(
            "wrong-shape",
            f"A batch has {campaign.shuffler.batch_size} sealed reports of {campaign.body_bytes} "
            f"bytes: {length} in all.",
        )
    return body


def _answer(outcome: BatchOutcome, stored: StoredBatch | None) -> Taken:
    """Return the acknowledgement of a batch, or refuse it."""
    if outcome is BatchOutcome.CONFLICT:
        raise RefusedError("batch-differs", "The batch of this number was stored with other bytes.")
    if stored is None:
        raise RefusedError("batch-missing", "The batch before this number was not stored yet.")
    new = outcome is BatchOutcome.STORED
    plain = {
        "batch": stored.number,
        "stored": stored.n_reports,
        "dropped": stored.n_dropped,
        "duplicate": not new,
    }
    answer = json.dumps(plain).encode("ascii")
    kept = stored.n_reports if new else 0
    return Taken(f"batch {outcome.value}", kept, 201 if new else 200, answer)
