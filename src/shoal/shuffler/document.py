"""The campaign of a relay: its signed document, checked with a pinned key, and looked at again.

A relay is told where the document is: a file, or an address at the collector. Somebody who changes
it there can neither make the relay serve another campaign, nor smaller batches, nor another key of
the analyst: a newer document must be signed, and weaken nothing.
"""

import asyncio
import threading
from pathlib import Path

from shoal.campaigns import Campaign, SignedCampaign, open_campaign
from shoal.client import Request, Retries, Transport, UrlTransport, ask
from shoal.exceptions import CampaignError, DeliveryError, ParameterError
from shoal.service import BucketTable, EventLog, LiveCampaign, RefusedError

__all__ = ["RelayedCampaign", "fetch_document"]

MAX_BYTES = 8 << 20  # as open_campaign takes them
LOOK_SECONDS = 2.0  # between two looks that requests ask for: anybody can send another digest


def fetch_document(
    place: str, public_key: str, transport: Transport | None = None
) -> SignedCampaign:
    """Read the signed document of a campaign with a shuffler.

    Parameters
    ----------
    place : str
        A file, or an address such as ``https://collect.example.org/v1/campaigns/homes``.
    public_key : str
        Public key of the required signer.
    transport : Transport, default=None
        Sends the request; None is ``UrlTransport()``.

    Returns
    -------
    signed : SignedCampaign
        The signed document.

    Raises
    ------
    ParameterError
        If there is no document, or its campaign has no shuffler.
    CampaignError
        If the document is not signed by this key.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from shoal.campaigns import Campaign, SealingKey, Shuffler, SigningKey, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.shuffler import fetch_document
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://relay.example.org/v1/campaigns/homes/reports",
    ...     results_url="https://collect.example.org/v1/campaigns/homes/results",
    ...     shuffler=Shuffler("a relay of our own", 500, str(SealingKey.new().public)),
    ... )
    >>> key = SigningKey.new()
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "homes.campaign.json"
    >>> _ = file.write_bytes(sign_campaign(campaign, key))
    >>> fetch_document(str(file), str(key.public)).campaign.shuffler.batch_size
    500
    >>> folder.cleanup()
    """
    signed = open_campaign(_read(place, transport or UrlTransport()), public_key)
    if signed.campaign.shuffler is None:
        raise ParameterError(
            f"campaign must name a shuffler, got {signed.campaign.id!r} without one: its devices "
            "send reports to the collector, nobody would be hidden by this relay"
        )
    return signed


def _read(place: str, transport: Transport) -> bytes:
    if "://" not in place:
        try:
            return Path(place).read_bytes()
        except OSError as failure:
            raise ParameterError(
                f"campaign must be a file that can be read, got {place!r}: {failure.strerror}"
            ) from None
    answer = ask(transport, Request("GET", place, max_bytes=MAX_BYTES), Retries(attempts=1))
    if answer.status != 200:
        raise ParameterError(
            f"campaign must be the address of a document, got {place!r} with status {answer.status}"
        )
    return answer.body


class SealedCheck:
    """Takes bodies that are one sealed report: all of a campaign have the same length.

    Parameters
    ----------
    campaign : Campaign
        With a shuffler.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._width = campaign.body_bytes

    def check_bytes(self, body: bytes) -> int:
        """Return 1 for a sealed report; refuse any other length."""
        if len(body) != self._width:
            raise RefusedError(
                "wrong-shape", f"The body must be one sealed report of {self._width} bytes."
            )
        return 1

    def encode_json(self, body: bytes) -> tuple[bytes, int]:
        """Refuse JSON: what is sealed is bytes."""
        raise RefusedError(
            "unsupported-media-type", "A sealed report must be application/octet-stream."
        )


class RelayedCampaign:
    """The campaign of a relay, which follows newer revisions of its document.

    A newer document is noticed at once if a device reports by it.

    Parameters
    ----------
    place, public_key : str
        As for :func:`fetch_document`.
    log : EventLog
        Log of refused documents.
    transport : Transport, default=None
        Sends requests; None is ``UrlTransport()``.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from shoal.campaigns import Campaign, SealingKey, Shuffler, SigningKey, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.service import EventLog
    >>> from shoal.shuffler import RelayedCampaign
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://relay.example.org/v1/campaigns/homes/reports",
    ...     results_url="https://collect.example.org/v1/campaigns/homes/results",
    ...     shuffler=Shuffler("a relay of our own", 500, str(SealingKey.new().public)),
    ... )
    >>> key = SigningKey.new()
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "homes.campaign.json"
    >>> _ = file.write_bytes(sign_campaign(campaign, key))
    >>> relayed = RelayedCampaign(str(file), str(key.public), EventLog())
    >>> relayed.get("homes").is_open
    True
    >>> folder.cleanup()
    """

    def __init__(
        self, place: str, public_key: str, log: EventLog, transport: Transport | None = None
    ) -> None:
        self._source = (place, public_key, transport)
        self._log = log
        self._looks = BucketTable(1.0 / LOOK_SECONDS, 1.0)
        self._changing = threading.Lock()
        self._use(fetch_document(*self._source))

    def _use(self, signed: SignedCampaign) -> None:
        self.signed = signed
        self.live = LiveCampaign(signed, SealedCheck(signed.campaign))

    def get(self, campaign: str) -> LiveCampaign | None:
        """Return the campaign if it has this identifier."""
        return self.live if campaign == self.live.id else None

    async def find(self, campaign: str, digest: bytes | None = None) -> LiveCampaign | None:
        """Return the campaign; read its document again if the digest is not `digest`."""
        known = self.get(campaign)
        if known is None or digest is None or known.digest == digest:
            return known
        if not self._looks.take(""):
            await asyncio.to_thread(self.look)
        return self.live

    def look(self) -> None:
        """Read the document again; it is ignored unless it is newer and protects no less."""
        try:
            found = fetch_document(*self._source)
        except (CampaignError, DeliveryError, ParameterError) as error:
            self._log.write("document not read", reason=str(error))
            return
        with self._changing:  # requests and the forwarder look
            now, newer = self.signed.campaign, found.campaign
            if newer.id != now.id or newer.revision <= now.revision:
                return
            weaker = newer.weaker_than(now)
            if weaker:
                self._log.write("document refused", reason="; ".join(weaker))
                return
            self._use(found)
        self._log.write("document changed", revision=newer.revision)
