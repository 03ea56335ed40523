"""Reports that only the analyst can read: sealed on the device, carried by a shuffler.

A shuffler hides who sent which report. It must not read them either, so a device seals its report
to the analyst's key by hybrid public key encryption (HPKE, RFC 9180) in base mode:
DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, by the ``cryptography`` package. A sealed
report is 48 bytes longer than the report: a key that is drawn for it alone (32), the report, and a
tag (16). Reports of a campaign are equally long, so sealed ones are too. The campaign's id is part
of the key: what was sealed for one campaign opens in no other.
"""

import os
from dataclasses import dataclass
from typing import Any, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric import x25519

from shoal.campaigns._key_forms import (
    KEY_BYTES,
    check_raw,
    load_pem,
    public_text,
    read_public_text,
    save_pem,
)
from shoal.exceptions import CampaignError, ParameterError

__all__ = ["SEALED_OVERHEAD", "SealingKey", "SealingPublicKey"]

PREFIX = "x25519:"
TAG_BYTES = 16
#: Number of bytes that encryption adds to a report.
SEALED_OVERHEAD = KEY_BYTES + TAG_BYTES
SUITE = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
PURPOSE = b"shoal report 1\n"  # and the campaign's id: what a sealed report is for


@dataclass(frozen=True)
class SealingPublicKey:
    """Public key to which devices encrypt (seal) reports; it is in the campaign's document.

    Parameters
    ----------
    raw : bytes
        The 32 bytes of an X25519 public key.

    Examples
    --------
    >>> from shoal.campaigns import SealingKey, SealingPublicKey
    >>> key = SealingKey.new()
    >>> sealed = SealingPublicKey.from_text(str(key.public)).seal(b"ab", "homes")
    >>> len(sealed), key.open(sealed, "homes")
    (50, b'ab')
    """

    raw: bytes

    def __post_init__(self) -> None:
        """Refuse what cannot be a key."""
        check_raw(self.raw)
        try:
            # With a point of small order everybody agrees on the same secret.
            x25519.X25519PrivateKey.generate().exchange(self._key)
        except ValueError:
            raise ParameterError(
                "raw must be a public key that somebody owns, got a placeholder"
            ) from None

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the key of a text that ``str`` of a key returned.

        Parameters
        ----------
        text : str
            ``x25519:`` and the key in base64url, without padding.

        Returns
        -------
        key : SealingPublicKey
            The key.
        """
        return cls(read_public_text(PREFIX, text))

    def seal(self, report: bytes, campaign: str) -> bytes:
        """Encrypt a report, so that only the owner of the secret key can read it.

        Parameters
        ----------
        report : bytes
            Report as encoded by its mechanism.
        campaign : str
            Identifier of the campaign.

        Returns
        -------
        sealed : bytes
            Encrypted report, 48 bytes longer and different each time.
        """
        sealed: bytes = SUITE.encrypt(report, self._key, info=_info(campaign))
        return sealed

    @property
    def _key(self) -> Any:
        return x25519.X25519PublicKey.from_public_bytes(self.raw)

    def __str__(self) -> str:
        return public_text(PREFIX, self.raw)


class SealingKey:
    """Secret key that decrypts (opens) sealed reports; for the analyst, never for the shuffler.

    Parameters
    ----------
    raw : bytes
        The 32 secret bytes of an X25519 private key.

    Examples
    --------
    >>> from shoal.campaigns import SealingKey
    >>> key = SealingKey.new()
    >>> key.open(key.public.seal(b"ab", "homes"), "homes")
    b'ab'
    """

    def __init__(self, raw: bytes) -> None:
        check_raw(raw)
        self._key: Any = x25519.X25519PrivateKey.from_private_bytes(raw)

    @classmethod
    def new(cls) -> Self:
        """Draw a key from the operating system's randomness."""
        return cls(os.urandom(KEY_BYTES))

    @property
    def public(self) -> SealingPublicKey:
        """Public key to which reports are encrypted."""
        return SealingPublicKey(self._key.public_key().public_bytes_raw())

    def open(self, sealed: bytes, campaign: str) -> bytes:
        """Decrypt a sealed report.

        Parameters
        ----------
        sealed : bytes
            Result of :meth:`SealingPublicKey.seal`.
        campaign : str
            Identifier of the campaign.

        Returns
        -------
        report : bytes
            The report.

        Raises
        ------
        CampaignError
            If it was encrypted to another key or for another campaign, or was changed.
        """
        try:
            report: bytes = SUITE.decrypt(sealed, self._key, info=_info(campaign))
        except (InvalidTag, ValueError):
            raise CampaignError(
                "a sealed report must open with the campaign's key, got one of another key or "
                "campaign, or one that was changed"
            ) from None
        return report

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner may read.

        Parameters
        ----------
        path : path-like
            A PEM file (PKCS 8), not encrypted. An existing file is never replaced: without its key,
            no report can be read.
        """
        save_pem(self._key, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a key that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
            A PEM file.

        Returns
        -------
        key : SealingKey
            The key.
        """
        return cls(load_pem(path, x25519.X25519PrivateKey, "X25519"))

    def __repr__(self) -> str:
        return f"SealingKey(public={self.public})"

    def __reduce__(self) -> Any:
        raise ParameterError("a sealing key must not be pickled: save it to a file of its own")


def _info(campaign: str) -> bytes:
    return PURPOSE + campaign.encode("ascii")
