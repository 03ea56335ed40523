"""Campaigns in the store: signed documents, every revision kept."""

import secrets
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, insert, select, text, update

from shoal.campaigns import Campaign, SignedCampaign, open_campaign
from shoal.collector.store._base import StoreBase
from shoal.collector.store.models import campaigns, documents, tallies
from shoal.exceptions import CampaignError, StoreError

__all__ = ["CampaignStore"]

SECRET_BYTES = 32


class _Document(NamedTuple):
    """A document as it is stored."""

    number: int
    revision: int
    digest: str
    public_key: str
    envelope: bytes

    def open(self) -> SignedCampaign:
        """Return the document as it was signed; its signature is checked again."""
        return open_campaign(self.envelope, self.public_key)


_DOCUMENTS = select(
    campaigns.c.number,
    documents.c.revision,
    documents.c.digest,
    documents.c.public_key,
    documents.c.envelope,
).join(documents, documents.c.campaign == campaigns.c.number)
_LATEST = (
    select(documents.c.campaign, func.max(documents.c.revision).label("revision"))
    .group_by(documents.c.campaign)
    .subquery()
)
_IN_FORCE = and_(
    _LATEST.c.campaign == documents.c.campaign, _LATEST.c.revision == documents.c.revision
)


class CampaignStore(StoreBase):
    """The part of the store that holds campaigns."""

    def add_campaign(self, signed: SignedCampaign) -> None:
        """Store a campaign, or a later revision of a stored one.

        Parameters
        ----------
        signed : SignedCampaign
            From :func:`shoal.campaigns.open_campaign`. Adding the current document again changes
            nothing.

        Raises
        ------
        CampaignError
            If a campaign with this identifier is stored and this is not a later revision of it by
            the same signer, with the same mechanism and a guarantee that is not weaker: devices
            would refuse it, and its reports could not be read together with the others.
        """
        new = signed.campaign
        with self._database.write() as connection:
            if not self._database.is_sqlite:  # two new campaigns of one id wait for each other
                connection.execute(text("LOCK TABLE campaigns IN SHARE ROW EXCLUSIVE MODE"))
            row = _find(connection, new.id)
            if row is not None and row.digest == signed.digest:
                return
            if row is None:
                number = _insert_campaign(connection, new)
            else:
                _check_revision(row.open(), signed)
                number = row.number
                connection.execute(
                    update(tallies)
                    .where(tallies.c.campaign == number)
                    .values(device_limit=_device_limit(new))
                )
            connection.execute(
                insert(documents).values(
                    campaign=number,
                    revision=new.revision,
                    digest=signed.digest,
                    public_key=str(signed.key),
                    envelope=signed.envelope,
                )
            )

    def campaign(self, campaign: str) -> SignedCampaign:
        """Return the current document of a campaign; StoreError if there is no such campaign."""
        with self._database.read() as connection:
            row = _find(connection, campaign)
        if row is None:
            raise StoreError(f"there is no campaign {campaign!r} in this database")
        return row.open()

    def revisions(self, campaign: str) -> list[SignedCampaign]:
        """Return all documents of a campaign, oldest first; StoreError if there is none."""
        number = self._campaign_key(campaign).number
        chosen = _DOCUMENTS.where(campaigns.c.number == number).order_by(documents.c.revision)
        with self._database.read() as connection:
            rows = [_Document(*row) for row in connection.execute(chosen)]
        return [row.open() for row in rows]

    def campaigns(self) -> list[SignedCampaign]:
        """Return the current documents of all campaigns, by identifier."""
        chosen = _DOCUMENTS.join(_LATEST, _IN_FORCE).order_by(campaigns.c.id)
        with self._database.read() as connection:
            rows = [_Document(*row) for row in connection.execute(chosen)]
        return [row.open() for row in rows]

    def campaign_digests(self) -> dict[str, str]:
        """Return the digest of the current document of every campaign, without parsing it."""
        chosen = _DOCUMENTS.join(_LATEST, _IN_FORCE).with_only_columns(
            campaigns.c.id, documents.c.digest
        )
        with self._database.read() as connection:
            return {row.id: row.digest for row in connection.execute(chosen)}


def _find(connection: Connection, campaign: str) -> _Document | None:
    """Return the document in force of one campaign."""
    chosen = _DOCUMENTS.join(_LATEST, _IN_FORCE).where(campaigns.c.id == campaign)
    row = connection.execute(chosen).one_or_none()
    return None if row is None else _Document(*row)


def _insert_campaign(connection: Connection, campaign: Campaign) -> int:
    """Store what never changes of a campaign, and an empty tally; return its number."""
    stored = connection.execute(
        insert(campaigns).values(
            id=campaign.id,
            secret=secrets.token_bytes(SECRET_BYTES),
            width=campaign.report_format.width,
        )
    )
    (number,) = stored.inserted_primary_key or (0,)
    connection.execute(
        insert(tallies).values(
            campaign=number,
            epoch=1,
            n_submissions=0,
            n_reports=0,
            device_limit=_device_limit(campaign),
        )
    )
    return int(number)


def _device_limit(campaign: Campaign) -> int | None:
    """Return how many reports of a device are taken, or None where nobody counts."""
    return campaign.reports_per_device if campaign.device_ids else None


def _check_revision(before: SignedCampaign, signed: SignedCampaign) -> None:
    """Refuse a document that cannot follow the one in force."""
    old, new = before.campaign, signed.campaign
    reasons = list(new.weaker_than(old))
    if signed.key != before.key:
        reasons.append("another key signed it")
    if reasons:
        raise CampaignError(
            f"campaign {new.id!r} revision {new.revision} cannot follow revision {old.revision}: "
            f"{'; '.join(reasons)}; give it a new id"
        )
