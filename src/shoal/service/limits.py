"""Rate limits: token buckets of campaigns and of client addresses.

A client's address is used for nothing else. The table has its keyed hash, the key lives in the
memory of this process and is never written anywhere, and the table is bounded.
"""

import hashlib
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import Scope

__all__ = ["BucketTable", "ClientAddresses"]

MAX_CLIENTS = 65_536
HASH_BYTES = 12
IPV6_PREFIX = 64  # a household has that many addresses, and one limit


class BucketTable:
    """Rate limits by key: token buckets that allow a burst, then a number of takes per second.

    Parameters
    ----------
    rate : float
        Number of tokens that a bucket gains per second.
    burst : float
        Number of tokens in a full bucket.
    max_keys : int
        Largest number of buckets. The least recently used one is dropped first; a dropped bucket
        counts as full.
    clock : callable, default=time.monotonic
        Returns the time in seconds.

    Examples
    --------
    >>> from shoal.service import BucketTable
    >>> buckets = BucketTable(rate=1.0, burst=2.0, clock=lambda: 0.0)
    >>> [buckets.take("a client") for _ in range(3)]  # seconds to wait
    [0.0, 0.0, 1.0]
    """

    def __init__(
        self,
        rate: float,
        burst: float,
        *,
        max_keys: int = MAX_CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = rate
        self._burst = max(burst, 1.0)
        self._max_keys = max_keys
        self._clock = clock
        self._buckets: OrderedDict[bytes | str, tuple[float, float]] = OrderedDict()

    def take(self, key: bytes | str) -> float:
        """Take a token and return 0.0, or return the seconds until there is one."""
        level, now = self._level(key)
        if level < 1.0:
            return (1.0 - level) / self._rate
        self._buckets[key] = (level - 1.0, now)
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._max_keys:
            self._buckets.popitem(last=False)
        return 0.0

    def wait(self, key: bytes | str) -> float:
        """Return the seconds until a token can be taken, without taking it."""
        level, _ = self._level(key)
        return 0.0 if level >= 1.0 else (1.0 - level) / self._rate

    def _level(self, key: bytes | str) -> tuple[float, float]:
        """Return how full a bucket is, and the time."""
        now = self._clock()
        level, before = self._buckets.get(key, (self._burst, now))
        return min(self._burst, level + (now - before) * self._rate), now

    def __len__(self) -> int:
        return len(self._buckets)


class ClientAddresses:
    """Identifies clients by a keyed hash of their address, only to limit them.

    Parameters
    ----------
    trusted_proxies : int
        Number of proxies in front that add an address to ``X-Forwarded-For``; with 0, the header is
        ignored.

    Examples
    --------
    >>> from shoal.service import ClientAddresses
    >>> clients = ClientAddresses(trusted_proxies=0)
    >>> scope = {"client": ("192.0.2.1", 50000), "headers": []}
    >>> clients.find(scope) == clients.find(scope), b"192" in clients.find(scope)
    (True, False)
    """

    def __init__(self, trusted_proxies: int) -> None:
        self._trusted = trusted_proxies
        self._key = secrets.token_bytes(32)
        self._last: tuple[str, bytes | None] = ("", None)

    def find(self, scope: Scope) -> bytes | None:
        """Return the identifier of a client; None for localhost, which is not limited."""
        client = scope.get("client")
        text = client[0] if client else ""
        if self._trusted:
            text = self._forwarded(scope) or text
        if text == self._last[0]:
            return self._last[1]
        name = self._hash(text)
        self._last = (text, name)
        return name

    def _forwarded(self, scope: Scope) -> str | None:
        """Return the address that the outermost trusted proxy saw."""
        values = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        hops = b",".join(values).decode("latin-1").split(",")
        return _without_port(hops[-self._trusted].strip()) if len(hops) >= self._trusted else None

    def _hash(self, text: str) -> bytes | None:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            packed = text.encode("utf-8", "replace")
        else:
            if address.is_loopback:
                return None
            packed = address.packed
            if isinstance(address, ipaddress.IPv6Address):
                mapped = address.ipv4_mapped
                if mapped is not None and mapped.is_loopback:
                    return None
                packed = packed[: IPV6_PREFIX // 8] if mapped is None else mapped.packed
        return hashlib.blake2b(packed, digest_size=HASH_BYTES, key=self._key).digest()


def _without_port(text: str) -> str:
    """Return an address as some proxies write it, without the port that each connection changes."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
