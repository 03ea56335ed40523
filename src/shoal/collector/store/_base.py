"""What all parts of the store share: the database, the clock, and campaigns by their id."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from shoal.collector.store.models import campaigns
from shoal.exceptions import StoreError
from shoal.service import Database

__all__ = ["CampaignKey", "StoreBase"]

HASH_BYTES = 16  # keyed, so that nobody outside can look for two texts with one hash


class CampaignKey(NamedTuple):
    """What never changes of a stored campaign."""

    number: int
    secret: bytes
    width: int

    def hash_key(self, key: bytes) -> bytes:
        """Return what is stored of an idempotency key."""
        return self._hash(key, b"idempotency key")

    def hash_device(self, device: bytes) -> bytes:
        """Return what is stored of a device's identifier."""
        return self._hash(device, b"device")

    def hash_batch(self, number: int) -> bytes:
        """Return the key that a batch is stored under."""
        return self._hash(b"%d" % number, b"batch")

    def hash_seal(self, one_time_key: bytes) -> bytes:
        """Return what is stored of the one-time key of a sealed report."""
        return self._hash(one_time_key, b"sealed report")

    def _hash(self, content: bytes, person: bytes) -> bytes:
        return hashlib.blake2b(
            content, digest_size=HASH_BYTES, key=self.secret, person=person
        ).digest()


class StoreBase:
    """Base class of the parts of a store: the database, the clock, and the list of campaigns."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._campaign_keys: dict[str, CampaignKey] = {}

    def _now(self) -> int:
        """Return the time in seconds since 1970."""
        return int(self._clock().timestamp())

    def _campaign_key(self, campaign: str, connection: Connection | None = None) -> CampaignKey:
        """Return what never changes of a campaign; StoreError if it is not there."""
        known = self._campaign_keys.get(campaign)
        if known is not None:
            return known
        if connection is None:
            with self._database.read() as opened:
                return self._campaign_key(campaign, opened)
        columns = (campaigns.c.number, campaigns.c.secret, campaigns.c.width)
        row = connection.execute(select(*columns).where(campaigns.c.id == campaign)).one_or_none()
        if row is None:
            raise StoreError(f"there is no campaign {campaign!r} in this database")
        self._campaign_keys[campaign] = CampaignKey(*row)
        return self._campaign_keys[campaign]


def utc_now() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)
