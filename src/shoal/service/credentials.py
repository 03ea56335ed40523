"""The form of credentials: tokens of people and ingest keys of devices.

A credential is ``shoal_token_<id>_<secret>`` or ``shoal_key_<id>_<secret>``, so that scanners of
repositories and logs can recognize it. The secret has 256 random bits: one SHA-256 keeps it, a slow
hash would add nothing.
"""

import hashlib
import secrets

__all__ = ["KEY_PREFIX", "TOKEN_PREFIX", "credential_id", "hash_credential", "new_credential"]

ID_BYTES = 6
SECRET_BYTES = 32
#: Prefix of tokens of operators and analysts.
TOKEN_PREFIX = "shoal_token"
#: Prefix of ingest keys of devices.
KEY_PREFIX = "shoal_key"


def new_credential(prefix: str) -> tuple[str, str, bytes]:
    """Create a credential, and return its identifier, text and hash.

    Examples
    --------
    >>> from shoal.service import KEY_PREFIX, credential_id, hash_credential, new_credential
    >>> identifier, text, digest = new_credential(KEY_PREFIX)
    >>> credential_id(text, KEY_PREFIX) == identifier, hash_credential(text) == digest
    (True, True)
    """
    identifier = secrets.token_hex(ID_BYTES)
    text = f"{prefix}_{identifier}_{secrets.token_urlsafe(SECRET_BYTES)}"
    return identifier, text, hash_credential(text)


def hash_credential(text: str) -> bytes:
    """Return the hash of a credential, the only part of its secret that is stored.

    Examples
    --------
    >>> from shoal.service import hash_credential
    >>> len(hash_credential("shoal_key_0a1b2c3d4e5f_secret"))
    32
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def credential_id(text: str, prefix: str) -> str | None:
    """Return the public identifier of a credential, or None if the text is not of this kind.

    Examples
    --------
    >>> from shoal.service import KEY_PREFIX, credential_id
    >>> credential_id("shoal_key_0a1b2c3d4e5f_secret", KEY_PREFIX)
    '0a1b2c3d4e5f'
    >>> credential_id("something else", KEY_PREFIX) is None
    True
    """
    start, _, rest = text.partition(f"{prefix}_")
    identifier, _, secret = rest.partition("_")
    right = (
        not start
        and len(identifier) == 2 * ID_BYTES
        and secret
        and text.isascii()
        and text.isprintable()
    )
    return identifier if right else None
