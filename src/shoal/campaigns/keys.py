"""Keys that sign campaigns: Ed25519 (RFC 8032), by the ``cryptography`` package."""

import os
from dataclasses import dataclass
from typing import Any, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519

from shoal.campaigns._key_forms import (
    KEY_BYTES,
    check_raw,
    load_pem,
    public_text,
    read_pem,
    read_public_text,
    save_pem,
    write_pem,
)
from shoal.exceptions import ParameterError

__all__ = ["PublicKey", "SigningKey"]

PREFIX = "ed25519:"
SIGNATURE_BYTES = 64
# Points of small order, apart from the sign: anybody can sign for such a key, as for one of zeros.
SMALL_ORDER = frozenset(
    bytes.fromhex(text)
    for text in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)


@dataclass(frozen=True)
class PublicKey:
    """Public key that verifies signatures of campaigns; it comes with the app on a device.

    Parameters
    ----------
    raw : bytes
        The 32 bytes of an Ed25519 public key.

    Examples
    --------
    >>> key = SigningKey.new().public
    >>> PublicKey.from_text(str(key)) == key
    True
    """

    raw: bytes

    def __post_init__(self) -> None:
        """Refuse what cannot be a key."""
        check_raw(self.raw)
        if self.raw[:-1] + bytes([self.raw[-1] & 0x7F]) in SMALL_ORDER:
            raise ParameterError("raw must be a public key that somebody owns, got a placeholder")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the key of a text that ``str`` of a key returned.

        Parameters
        ----------
        text : str
            ``ed25519:`` and the key in base64url, without padding.

        Returns
        -------
        key : PublicKey
            The key.
        """
        return cls(read_public_text(PREFIX, text))

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Return whether bytes were signed with the matching secret key.

        Parameters
        ----------
        signature : bytes
            64 bytes.
        message : bytes
            The bytes that should be signed.

        Returns
        -------
        valid : bool
            True only for a signature of these bytes by that key.
        """
        key = ed25519.Ed25519PublicKey.from_public_bytes(self.raw)
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def __str__(self) -> str:
        return public_text(PREFIX, self.raw)


class SigningKey:
    """Secret key that signs campaigns; it stays with the organizer.

    Parameters
    ----------
    raw : bytes
        The 32 secret bytes of an Ed25519 private key.

    Examples
    --------
    >>> key = SigningKey.new()
    >>> key.public.verify(key.sign(b"text"), b"text"), key.public.verify(key.sign(b"text"), b"Text")
    (True, False)
    """

    def __init__(self, raw: bytes) -> None:
        check_raw(raw)
        self._key: Any = ed25519.Ed25519PrivateKey.from_private_bytes(raw)

    @classmethod
    def new(cls) -> Self:
        """Draw a key from the operating system's randomness."""
        return cls(os.urandom(KEY_BYTES))

    @property
    def public(self) -> PublicKey:
        """Public key that verifies the signatures of this key."""
        return PublicKey(self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Sign bytes.

        Parameters
        ----------
        message : bytes
            Bytes to sign.

        Returns
        -------
        signature : bytes
            64 bytes.
        """
        signature: bytes = self._key.sign(message)
        return signature

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner may read.

        Parameters
        ----------
        path : path-like
            A PEM file (PKCS 8), not encrypted. An existing file is never replaced: without its key,
            a campaign cannot be revised.
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
        key : SigningKey
            The key.
        """
        return cls(load_pem(path, ed25519.Ed25519PrivateKey, "Ed25519"))

    def to_pem(self) -> str:
        """Return the content of the file that :meth:`save` writes, to store it elsewhere."""
        return write_pem(self._key).decode("ascii")

    @classmethod
    def from_pem(cls, text: str) -> Self:
        """Read a key from the content of its file.

        Parameters
        ----------
        text : str
            PEM text from :meth:`to_pem`.

        Returns
        -------
        key : SigningKey
            The key.

        Raises
        ------
        CampaignError
            If the text is not such a key; the message does not contain the text.

        Examples
        --------
        >>> key = SigningKey.new()
        >>> SigningKey.from_pem(key.to_pem()).public == key.public
        True
        """
        kind = ed25519.Ed25519PrivateKey
        return cls(read_pem(text.encode(), kind, "Ed25519", where="the signing key"))

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public})"

    def __reduce__(self) -> Any:
        raise ParameterError("a signing key must not be pickled: save it to a file of its own")
