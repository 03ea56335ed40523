"""Tokens of analysts and ingest keys of campaigns: shown once, stored as hashes.

A credential is found by its id and compared in constant time.
"""

import hmac
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import insert, select, update

from shoal.collector.store._base import StoreBase
from shoal.collector.store.models import campaigns, ingest_keys, tokens
from shoal.exceptions import ParameterError, StoreError
from shoal.service import (
    KEY_PREFIX,
    TOKEN_PREFIX,
    credential_id,
    hash_credential,
    new_credential,
)

__all__ = ["SCOPES", "CredentialStore", "IngestKey", "Token"]

SCOPES = ("read", "analyze", "publish", "metrics")


class Token(NamedTuple):
    """What is known of an analyst's token; not the token itself.

    Parameters
    ----------
    id : str
        Its public part, to revoke it by.
    name : str
        Who has it.
    scopes : frozenset of str
        What it allows: some of "read", "analyze", "publish", "metrics".
    expires : datetime
        When it ends, in UTC.
    revoked : bool, default=False
        Whether it was ended before.

    Examples
    --------
    >>> token = Token("0a1b2c3d4e5f", "Ada", frozenset({"read"}), datetime(2030, 1, 1, tzinfo=UTC))
    >>> "publish" in token.scopes
    False
    """

    id: str
    name: str
    scopes: frozenset[str]
    expires: datetime
    revoked: bool = False


class IngestKey(NamedTuple):
    """What is known of an ingest key; not the key itself.

    Parameters
    ----------
    id : str
        Its public part, to revoke it by.
    campaign : str
        The campaign it is for.
    revoked : bool, default=False
        Whether it was ended.

    Examples
    --------
    >>> IngestKey("0a1b2c3d4e5f", "steps").revoked
    False
    """

    id: str
    campaign: str
    revoked: bool = False


class CredentialStore(StoreBase):
    """The part of the store that holds tokens of analysts and ingest keys of devices."""

    def add_token(self, name: str, scopes: Iterable[str], expires: datetime) -> str:
        """Create a token for an analyst, and return its text, which cannot be shown again.

        Parameters
        ----------
        name : str
            Name of the analyst.
        scopes : iterable of str
            Scopes: the actions that the token allows.
        expires : datetime
            Time at which it expires, with a time zone and in the future.

        Returns
        -------
        text : str
            Text of the form ``shoal_token_<id>_<secret>``.
        """
        chosen = sorted(set(scopes))
        if not chosen or not set(chosen) <= set(SCOPES):
            raise ParameterError(f"scopes must be some of {', '.join(SCOPES)}, got {chosen}")
        if expires.tzinfo is None or int(expires.timestamp()) <= self._now():
            raise ParameterError(
                f"expires must be a time in the future with its time zone, got {expires}"
            )
        if not name.strip():
            raise ParameterError("name must say who the token is for, got an empty text")
        identifier, text, digest = new_credential(TOKEN_PREFIX)
        with self._database.write() as connection:
            connection.execute(
                insert(tokens).values(
                    id=identifier,
                    digest=digest,
                    name=name,
                    scopes=" ".join(chosen),
                    expires=int(expires.timestamp()),
                )
            )
        return text

    def find_token(self, text: str) -> Token | None:
        """Return the token of a text, or None if it is unknown, expired or revoked."""
        identifier = credential_id(text, TOKEN_PREFIX)
        if identifier is None:
            return None
        with self._database.read() as connection:
            row = connection.execute(select(tokens).where(tokens.c.id == identifier)).one_or_none()
        if row is None or not hmac.compare_digest(row.digest, hash_credential(text)):
            return None
        if row.revoked or row.expires <= self._now():
            return None
        return Token(*_token_fields(row.id, row.name, row.scopes, row.expires), row.revoked)

    def tokens(self) -> list[Token]:
        """Return all tokens, including expired and revoked ones."""
        with self._database.read() as connection:
            rows = connection.execute(select(tokens).order_by(tokens.c.name, tokens.c.id)).all()
        return [
            Token(*_token_fields(row.id, row.name, row.scopes, row.expires), row.revoked)
            for row in rows
        ]

    def revoke_token(self, identifier: str) -> None:
        """Revoke a token at once; StoreError if there is none with this identifier."""
        with self._database.write() as connection:
            ended = connection.execute(
                update(tokens).where(tokens.c.id == identifier).values(revoked=True)
            )
        if not ended.rowcount:
            raise StoreError(f"there is no token with id {identifier!r}")

    def add_ingest_key(self, campaign: str) -> str:
        """Create an ingest key of a campaign, and return its text, which cannot be shown again."""
        number = self._campaign_key(campaign).number
        identifier, text, digest = new_credential(KEY_PREFIX)
        with self._database.write() as connection:
            connection.execute(
                insert(ingest_keys).values(id=identifier, campaign=number, digest=digest)
            )
        return text

    def ingest_key_ok(self, campaign: str, text: str) -> bool:
        """Return whether this is an ingest key of the campaign that has not been revoked."""
        identifier = credential_id(text, KEY_PREFIX)
        if identifier is None:
            return False
        chosen = select(ingest_keys).where(
            ingest_keys.c.id == identifier,
            ingest_keys.c.campaign == self._campaign_key(campaign).number,
        )
        with self._database.read() as connection:
            row = connection.execute(chosen).one_or_none()
        return (
            row is not None
            and hmac.compare_digest(row.digest, hash_credential(text))
            and not row.revoked
        )

    def ingest_keys(self, campaign: str) -> list[IngestKey]:
        """Return all ingest keys of a campaign, including revoked ones."""
        chosen = (
            select(ingest_keys.c.id, campaigns.c.id, ingest_keys.c.revoked)
            .join(campaigns)
            .where(campaigns.c.number == self._campaign_key(campaign).number)
            .order_by(ingest_keys.c.id)
        )
        with self._database.read() as connection:
            return [IngestKey(*row) for row in connection.execute(chosen)]

    def revoke_ingest_key(self, identifier: str) -> None:
        """Revoke an ingest key at once; StoreError if there is none with this identifier."""
        with self._database.write() as connection:
            ended = connection.execute(
                update(ingest_keys).where(ingest_keys.c.id == identifier).values(revoked=True)
            )
        if not ended.rowcount:
            raise StoreError(f"there is no ingest key with id {identifier!r}")


def _token_fields(
    identifier: str, name: str, scopes: str, expires: int
) -> tuple[str, str, frozenset[str], datetime]:
    """Return the fields of a token as they are stored."""
    return identifier, name, frozenset(scopes.split()), datetime.fromtimestamp(expires, UTC)
