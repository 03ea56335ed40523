"""How keys are written: public ones as a line of text, secret ones as a file of their owner."""

import base64
import binascii
import os
from pathlib import Path
from typing import Any

from shoal import _numbers
from shoal.exceptions import CampaignError, ParameterError

__all__ = [
    "KEY_BYTES",
    "check_raw",
    "load_pem",
    "public_text",
    "read_pem",
    "read_public_text",
    "save_pem",
    "write_pem",
]

KEY_BYTES = 32


def check_raw(raw: Any) -> None:
    """Refuse what cannot be a key."""
    if not isinstance(raw, bytes) or len(raw) != KEY_BYTES:
        raise ParameterError(f"raw must be {KEY_BYTES} bytes, got something else")


def public_text(prefix: str, raw: bytes) -> str:
    """Write a public key: a prefix, and its bytes in base64url without padding."""
    return prefix + base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def read_public_text(prefix: str, text: Any) -> bytes:
    """Read a key that :func:`public_text` wrote; each key has one text."""
    rule = f"a public key must be {prefix!r} and 43 letters of base64url"
    if not isinstance(text, str) or not text.startswith(prefix):
        raise ParameterError(f"{rule}, got {_numbers.shown(text)}")
    try:
        raw = base64.urlsafe_b64decode(text.removeprefix(prefix) + "=")
    except (binascii.Error, ValueError):
        raise ParameterError(f"{rule}, got {_numbers.shown(text)}") from None
    if len(raw) != KEY_BYTES or public_text(prefix, raw) != text:
        raise ParameterError(f"{rule}, got {_numbers.shown(text)}")
    return raw


def write_pem(key: Any) -> bytes:
    """Write a secret key as the text of a file."""
    # Not for a device, which reads no key: this takes longer to load than all else of the package.
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415

    pem: bytes = key.private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
    )
    return pem


def save_pem(key: Any, path: str | os.PathLike[str]) -> None:
    """Write a secret key to a new file that only its owner may read; none is ever replaced."""
    target = Path(path)
    pem = write_pem(key)
    try:
        # Of two at the same moment one makes the file, and the other is refused.
        opened = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise ParameterError(
            f"path must not exist yet, got {str(target)!r}: keep that key"
        ) from None
    except OSError as failure:
        raise CampaignError(f"{target} cannot be written: {failure.strerror}") from failure


def load_pem(path: str | os.PathLike[str], kind: Any, name: str) -> bytes:
    """Return the secret bytes of a key that :func:`save_pem` wrote."""
    try:
        pem = Path(path).read_bytes()
    except OSError as failure:
        raise CampaignError(f"{path} cannot be read: {failure.strerror}") from failure
    return read_pem(pem, kind, name, where=str(path))


def read_pem(pem: bytes, kind: Any, name: str, *, where: str) -> bytes:
    """Return the secret bytes of a key that :func:`write_pem` wrote."""
    # Not for a device, which reads no key: this takes longer to load than all else of the package.
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415

    try:
        key = forms.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, kind):
        raise CampaignError(f"{where} must hold an {name} key in PEM, got something else")
    raw: bytes = key.private_bytes_raw()
    return raw
