"""Submissions for tests of the collector's store: what is in them follows from their number."""

import hashlib

from helpers.campaigns import WIDTH
from shoal.collector.store import Submission


def body_of(text: str, n_reports: int = 1) -> bytes:
    """Return bytes that are those of no other text."""
    return hashlib.shake_128(text.encode()).digest(n_reports * WIDTH)


def submission(campaign, number, *, n_reports=4, device=None, body=None) -> Submission:
    """Return the submission with this number: the same key and body every time."""
    content = body_of(f"{number}", n_reports) if body is None else body
    key = f"key-{number}".encode().ljust(16, b"_")
    return Submission(campaign, key, content, len(content) // WIDTH, device)
