"""Campaigns as intake sees them: read once, looked at again every few seconds."""

import asyncio
import contextlib

from starlette.concurrency import run_in_threadpool

from shoal.campaigns import Campaign
from shoal.collector.report_check import ReportCheck, ShuffledCheck
from shoal.collector.settings import Settings
from shoal.collector.store import Store
from shoal.exceptions import CampaignError, StoreError, StoreUnavailableError
from shoal.service import BucketTable, EventLog, LiveCampaign

__all__ = ["StoredCampaigns"]

MAX_LOOKS = 50  # a second, for campaigns that are not known: anybody can ask for those


class StoredCampaigns:
    """All campaigns of a store; changes are noticed within seconds, without a query a request.

    Parameters
    ----------
    store : Store
        Where campaigns are.
    settings : Settings
        How often to look.
    log : EventLog
        Where failures go.
    """

    def __init__(self, store: Store, settings: Settings, log: EventLog) -> None:
        self._store = store
        self._settings = settings
        self._log = log
        self._known: dict[str, LiveCampaign] = {}
        self._looks = BucketTable(MAX_LOOKS, MAX_LOOKS)
        self._looking = asyncio.Lock()
        self._stopping = asyncio.Event()

    def get(self, campaign: str) -> LiveCampaign | None:
        """Return a campaign that is known."""
        return self._known.get(campaign)

    async def find(self, campaign: str, digest: bytes | None = None) -> LiveCampaign | None:
        """Return a campaign; look again if it is unknown, or its document is not `digest`."""
        known = self._known.get(campaign)
        if known is not None and (digest is None or known.digest == digest):
            return known
        async with self._looking:
            if not self._looks.take(""):
                await self._look()
        return self._known.get(campaign)

    async def watch(self) -> None:
        """Look for changes until :meth:`stop`; a database that is away changes nothing."""
        while not self._stopping.is_set():
            try:
                async with self._looking:
                    await self._look()
            except StoreError as error:
                self._log.write("campaigns not read", reason=str(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.refresh_seconds):
                    await self._stopping.wait()

    def stop(self) -> None:
        """Let :meth:`watch` end, after a look that it may have begun."""
        self._stopping.set()

    async def _look(self) -> None:
        """Read the documents that are new."""
        digests = await run_in_threadpool(self._store.campaign_digests)
        known = {}
        for campaign, digest in digests.items():
            before = self._known.get(campaign)
            if before is not None and before.signed.digest == digest:
                known[campaign] = before
                continue
            try:
                signed = await run_in_threadpool(self._store.campaign, campaign)
            except (CampaignError, StoreError) as error:
                if isinstance(error, StoreUnavailableError):
                    raise
                self._log.write("campaign not read", campaign=campaign, reason=str(error))
                continue
            known[campaign] = LiveCampaign(signed, self._check(signed.campaign))
        self._known = known

    def _check(self, campaign: Campaign) -> ReportCheck | ShuffledCheck:
        """Return what refuses submissions of devices to a campaign."""
        if campaign.shuffler is not None:
            return ShuffledCheck()
        return ReportCheck(campaign.report_format, self._settings.max_batch)
