"""The lines of a ledger: JSON, each with the SHA-256 of the line before it and of itself.

An edit anywhere but at the end breaks the chain. What a removed end breaks is the head: the number
of lines and the last hash, kept beside the lines. Every line holds random digits of its own, so
that hashes shown with releases tell nothing about the lines, not even those of two neighbors: with
digits in the header alone, whoever knew one hash could try out guesses of the next line.
"""

import hashlib
import json
import secrets
from typing import Any, NamedTuple

from shoal.privacy.entry import Receipt

__all__ = ["FORMAT", "START", "Head", "decode_line", "encode_line", "new_header", "open_header"]

FORMAT = 2
START = "0" * 64


class Head(NamedTuple):
    """How many lines there are, the header among them, and the hash of the last one."""

    lines: int = 0
    hash: str = START

    @property
    def receipt(self) -> Receipt:
        """What a release carries: the number of entries, and the hash."""
        return Receipt(self.lines - 1, self.hash)

    def after(self, content: dict[str, Any]) -> tuple[bytes, "Head"]:
        """Return the next line, salted, and the head with it."""
        line, digest = encode_line({**content, "salt": secrets.token_hex(16)}, self.hash)
        return line, Head(self.lines + 1, digest)

    def to_json(self) -> str:
        """Return the content of the head's file."""
        return json.dumps({"shoal_ledger_head": FORMAT, "lines": self.lines, "hash": self.hash})

    @classmethod
    def from_json(cls, text: str) -> "Head":
        """Rebuild a head, strictly; ValueError if it is none."""
        plain = json.loads(text)
        if not isinstance(plain, dict) or plain.get("shoal_ledger_head") != FORMAT:
            raise ValueError("no head of this format")
        head = cls(plain.get("lines", 0), plain.get("hash", ""))
        if head.to_json() != text.strip():
            raise ValueError("no head of this format")
        return head


def new_header(limits: dict[str, Any]) -> dict[str, Any]:
    """Return the first line of a ledger with these limits."""
    return {"shoal_ledger": FORMAT, **limits}


def open_header(content: dict[str, Any]) -> dict[str, Any]:
    """Return the limits in a header; ValueError if it is none of this format."""
    limits = dict(content)
    if limits.pop("shoal_ledger", None) != FORMAT:
        raise ValueError("no header that this version of shoal understands")
    return limits


def encode_line(content: dict[str, Any], previous: str) -> tuple[bytes, str]:
    """Return a line with its hash, and the hash."""
    plain = json.dumps(content, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256((previous + plain).encode()).hexdigest()
    return f'{plain[:-1]},"hash":"{digest}"}}\n'.encode(), digest


def decode_line(line: bytes, previous: str) -> tuple[dict[str, Any], str]:
    """Return the content and the hash of a line; ValueError if it does not follow."""
    content = json.loads(line)
    if not isinstance(content, dict) or content.pop("hash", None) is None:
        raise ValueError("no hash")
    again, digest = encode_line(content, previous)
    # Comparing the bytes, not only the hash, leaves no room for a second spelling of a line.
    if again != line + b"\n":
        raise ValueError("its hash does not follow from the lines before it")
    return content, digest
