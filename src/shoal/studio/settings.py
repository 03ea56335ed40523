"""Where the studio listens, who may open it, and which files it may use."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path

from shoal.exceptions import ParameterError
from shoal.service import ServiceSettings

__all__ = ["StudioSettings"]

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = ("0.0.0.0", "::")
TOKEN = re.compile("[A-Za-z0-9_-]{16,128}")
NAME = re.compile(r"[A-Za-z0-9.-]{1,253}")


@dataclass(frozen=True, kw_only=True)
class StudioSettings(ServiceSettings):
    """Settings of the studio.

    Parameters
    ----------
    port : int, default=8760
        Port to listen on; 0 takes a free one.
    max_body_bytes : int, default=536870912
        Largest size, in bytes, of a file that can be dropped on the page; it is kept in memory.
    body_seconds : float, default=300
        Longest time, in seconds, for such a file to arrive.
    stop_seconds : float, default=2
        Longest time, in seconds, for requests to finish when the studio is stopped.
    token : str, default=""
        Secret of at least 16 characters that the browser must send. Without one, every program on
        this machine can open the studio. Required if other machines can reach the address.
    names : tuple of str, default=()
        Further host names under which the studio may be opened. Requests for any other name are
        refused, so that no web page can reach the studio by its own host name (DNS rebinding).
    ledger : Path or None, default=None
        File of the ledger to charge; None keeps a ledger in memory for each name of a table.
    database : str, default=""
        URL of a collector's database, for the page of campaigns; empty until one is started there.
    folders : tuple of Path, default=()
        Folders to list that hold pages of ``shoal compare``, ``reproduce`` and other commands.

    Examples
    --------
    >>> from shoal.studio import StudioSettings
    >>> sorted(StudioSettings().allowed_names)
    ['127.0.0.1', '::1', 'localhost']
    """

    port: int = 8760
    max_body_bytes: int = 1 << 29
    body_seconds: float = 300.0
    stop_seconds: float = 2.0
    token: str = field(default="", repr=False)
    names: tuple[str, ...] = ()
    ledger: Path | None = None
    database: str = field(default="", repr=False)  # may hold a password
    folders: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what nobody could open, or everybody."""
        super().__post_init__()
        if self.token and not TOKEN.fullmatch(self.token):
            raise ParameterError(
                "token must have 16 to 128 letters, digits, - and _, got "
                f"{len(self.token)} characters"
            )
        if not self.is_loopback and not self.token:
            raise ParameterError(
                f"token must be given for a host that others can reach, got {self.host!r}: leave "
                "out host, or pass a token"
            )
        if self.host in ANY_ADDRESS and not self.names:
            raise ParameterError(
                f"names must be given with the host {self.host!r}: the host names under which "
                "browsers open the studio"
            )
        for name in self.names:
            if not NAME.fullmatch(name) and not _is_address(name):
                raise ParameterError(f"names must be host names without a port, got {name!r}")

    @property
    def allowed_names(self) -> frozenset[str]:
        """Host names that are accepted in requests."""
        own = LOOPBACK_NAMES if self.is_loopback else ()
        return frozenset(name.lower() for name in (self.host, *own, *self.names))


def _is_address(name: str) -> bool:
    """Return whether a name is an address of IP."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
