"""Documents that a device agreed to: who signed them, and that none promises less than before.

A device agrees to what the app tells it to join. After that, the collector may have a new document;
the device follows it if it is signed by the pinned key and asks for nothing more, and refuses it
otherwise, whatever the collector says.
"""

import secrets
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from shoal import _numbers
from shoal.campaigns import Campaign, SignedCampaign, open_campaign
from shoal.client.delivery import Retries, ask, refusal
from shoal.client.device_file import Agreed, DeviceFile, Published, Rows
from shoal.client.transport import Request, Transport
from shoal.exceptions import CampaignError, DeliveryError, ParameterError

__all__ = ["TOKEN_BYTES", "Agreements", "Followed", "check_open", "now"]

MAX_DOCUMENT = 8 << 20  # bytes, as open_campaign takes them
TOKEN_BYTES = 24  # 32 letters: of idempotency keys and of device ids


class Followed(NamedTuple):
    """A document whose signature was checked, and the digest of its mechanism.

    Its mechanism draws, so it stays here: callers get copies of the campaign, which has a mechanism
    of its own in each (``dataclasses.replace``).
    """

    campaign: Campaign
    digest: str
    mechanism: str


class Agreements:
    """The documents of one device.

    Parameters
    ----------
    file : DeviceFile
        Where they are kept.
    transport : Transport
        Fetches them.
    retries : Retries
        How often.
    several : bool
        Whether there is a limit over all campaigns, without which one is all.
    """

    def __init__(
        self, file: DeviceFile, transport: Transport, retries: Retries, *, several: bool
    ) -> None:
        self._file = file
        self._transport = transport
        self._retries = retries
        self._several = several
        self._opened: dict[str, Followed] = {}
        self._last: str | None = None

    def join(self, url: str) -> Campaign:
        """Fetch a document and agree to it."""
        campaign = self._agree(self._fetch(url), url).campaign
        self._last = campaign.id
        return replace(campaign)

    def join_envelope(self, envelope: bytes, url: str | None) -> Campaign:
        """Agree to a document that came with the app."""
        if url is not None:
            _numbers.web_address("url", url)
        campaign = self._agree(open_campaign(envelope, self._file.public_key), url).campaign
        self._last = campaign.id
        return replace(campaign)

    def _fetch(self, url: str) -> SignedCampaign:
        _numbers.web_address("url", url)
        request = Request("GET", url, {"Accept": "application/json"}, None, MAX_DOCUMENT)
        answer = ask(self._transport, request, self._retries)
        if answer.status != 200:
            raise refusal(request, answer)
        return open_campaign(answer.body, self._file.public_key)

    def _agree(self, signed: SignedCampaign, url: str | None) -> Followed:
        """Follow a document from now on, unless it asks for more than the one before."""
        campaign = signed.campaign
        with self._file.transaction(write=True) as rows:
            earlier = rows.campaign(campaign.id)
            if earlier is None:
                self._check_new(campaign, rows)
                device_id = secrets.token_urlsafe(TOKEN_BYTES)
            else:
                if reasons := campaign.weaker_than(self.open(earlier).campaign):
                    raise CampaignError(
                        f"campaign {campaign.id!r} must promise no less than the document that was "
                        f"agreed to: {'; '.join(reasons)}; nothing was sent"
                    )
                device_id = earlier.device_id
                url = earlier.url if url is None else url
            rows.agree(Agreed(campaign.id, signed.digest, signed.envelope, url, device_id))
        return self._follow(signed)

    def _check_new(self, campaign: Campaign, rows: Rows) -> None:
        check_open(campaign)
        others = [agreed.id for agreed in rows.campaigns()]
        if others and not self._several:
            raise CampaignError(
                f"a device without epsilon_limit takes part in one campaign, {others[0]!r}, got "
                f"{campaign.id!r}: give epsilon_limit, what all campaigns together may cost"
            )

    def find(self, name: str | None) -> Agreed:
        """Return a campaign of this device: by name, or the one that is meant."""
        with self._file.transaction(write=False) as rows:
            known = {agreed.id: agreed for agreed in rows.campaigns()}
        chosen = name or self._last
        if chosen is None and len(known) == 1:
            (chosen,) = known
        if chosen is None or chosen not in known:
            raise ParameterError(
                f"campaign must be one that was joined, of {sorted(known)}, got {chosen!r}: call "
                "join first"
            )
        return known[chosen]

    def holds(self, published: Published) -> bool:
        """Return whether results answer a document that was agreed to."""
        with self._file.transaction(write=False) as rows:
            return published.digest in rows.digests(published.campaign)

    def open(self, agreed: Agreed) -> Followed:
        """Return the document of a campaign; its signature is checked once in a process."""
        if agreed.digest in self._opened:
            return self._opened[agreed.digest]
        return self._follow(open_campaign(agreed.envelope, self._file.public_key))

    def _follow(self, signed: SignedCampaign) -> Followed:
        campaign = signed.campaign
        if signed.digest not in self._opened:
            followed = Followed(campaign, signed.digest, campaign.mechanism_digest)
            self._opened[signed.digest] = followed
        return self._opened[signed.digest]

    def renew(self, agreed: Agreed) -> Followed:
        """Fetch the document that the collector has now, and agree to it or refuse."""
        if agreed.url is None:
            raise DeliveryError(
                f"the collector has another document of campaign {agreed.id!r}: join it, the "
                "report is kept",
                final=True,
            )
        signed = self._fetch(agreed.url)
        if signed.campaign.id != agreed.id:
            raise CampaignError(
                f"{agreed.url} must have campaign {agreed.id!r}, got {signed.campaign.id!r}: "
                "nothing was sent"
            )
        return self._agree(signed, agreed.url)


def check_open(campaign: Campaign) -> None:
    """Refuse a campaign that is closed."""
    if not campaign.is_open(now()):
        raise CampaignError(
            f"campaign {campaign.id!r} must be open, got one that closed at "
            f"{campaign.closes:%Y-%m-%d %H:%M} UTC by the clock of this device: nothing was drawn "
            "or sent"
        )


def now() -> datetime:
    """Return the time by the clock of this device."""
    return datetime.now(UTC)
