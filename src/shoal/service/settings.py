"""Settings of a server: where it listens, and what it refuses."""

import ipaddress
import math
from dataclasses import dataclass, fields

from shoal.exceptions import ParameterError

__all__ = ["ServiceSettings"]


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """Settings that all servers of shoal have; each server adds its own in a subclass.

    Parameters
    ----------
    host : str, default="127.0.0.1"
        Address to listen on. If other machines can reach it, put a proxy with TLS in front.
    port : int, default=8000
        Port to listen on; 0 takes a free one.
    max_body_bytes : int, default=1048576
        Largest size of the body of a request, in bytes.
    max_requests, max_connections : int
        Largest number of simultaneous requests and connections; further ones are answered 503. One
        client address may have at most an eighth of the requests; further ones are answered 429.
    client_rate : float, default=50
        Largest number of requests per second from one client address; a burst may have four times
        as many. Localhost is not limited: behind a proxy, all clients would share its address.
    failure_rate : float, default=0.2
        Largest number of wrong guesses per second at one token or key from one client address,
        after a burst of ten.
    trusted_proxies : int, default=0
        Number of proxies in front that add an address to ``X-Forwarded-For``. With 0, the header is
        ignored.
    max_header_bytes : int, default=16384
        Largest size of the head of a request, in bytes.
    header_seconds, body_seconds, idle_seconds, send_seconds : float
        Longest time for a client to send the head and the body of a request, to send another
        request on an open connection, and to read a part of an answer.
    refresh_seconds : float, default=2
        Time after which a change, such as a revoked key, takes effect at the latest.
    stop_seconds : float, default=30
        Longest time for requests to finish when the server is stopped.

    Examples
    --------
    >>> from shoal.service import ServiceSettings
    >>> ServiceSettings(host="::1").is_loopback
    True
    """

    host: str = "127.0.0.1"
    port: int = 8000
    max_body_bytes: int = 1 << 20
    max_requests: int = 1024
    max_connections: int = 4096
    client_rate: float = 50.0
    failure_rate: float = 0.2
    trusted_proxies: int = 0
    max_header_bytes: int = 16_384
    header_seconds: float = 10.0
    body_seconds: float = 20.0
    idle_seconds: float = 60.0
    send_seconds: float = 60.0
    refresh_seconds: float = 2.0
    stop_seconds: float = 30.0

    def __post_init__(self) -> None:
        """Refuse numbers that no server can run with."""
        for field in fields(self):
            if field.type not in {int, float}:
                continue
            value = getattr(self, field.name)
            least = 1 if field.type is int else 1e-3
            least = 0 if field.name in {"port", "trusted_proxies"} else least
            kinds = int if field.type is int else int | float
            number = isinstance(value, kinds) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < least:
                kind = "a whole number" if field.type is int else "a number"
                raise ParameterError(
                    f"{field.name} must be {kind} of at least {least:g}, got {value!r}"
                )
        if self.port > 65_535:
            raise ParameterError(f"port must be at most 65535, got {self.port}")

    @property
    def is_loopback(self) -> bool:
        """Whether the server can be reached only from this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
