"""A collector on this machine: ``shoal collect serve`` in a process of its own.

The studio never mounts it: it takes reports of devices, and must not share a process with a table
of records. It ends with the studio, however the studio ends.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from shoal.client import Request, UrlTransport
from shoal.exceptions import ParameterError, StoreError
from shoal.service import ServerProcess

__all__ = ["LocalCollector"]

FILE, LOG = "reports.db", "collector.log"
LIMITS = ("refresh_seconds=0.2", "client_rate=500.0")  # all devices here have one address
KNOWN_SECONDS, POLL_SECONDS = 10.0, 0.05


class LocalCollector:
    """A collector that the studio started.

    Parameters
    ----------
    database : str, default=""
        URL of a database that is there; empty makes a file of SQLite.
    folder : str, default=""
        Folder for that file; empty takes a temporary one, which is deleted at the end.
    port : int, default=0
        Port on the loopback address; 0 takes a free one.

    Raises
    ------
    ParameterError
        If the folder is not there.
    """

    def __init__(self, *, database: str = "", folder: str = "", port: int = 0) -> None:
        if folder and not Path(folder).expanduser().is_dir():
            raise ParameterError(f"folder must be an existing folder, got {folder!r}")
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if folder:
            home = Path(folder).expanduser().resolve()
        else:
            self._temporary = tempfile.TemporaryDirectory(prefix="shoal-studio-")
            home = Path(self._temporary.name)
        self.database = database or f"sqlite:///{home / FILE}"
        self.kept = bool(folder or database)
        self.folder = str(home) if folder else ""
        self.address = ""
        arguments = ["collect", "serve", "--port", str(port)]
        for limit in LIMITS:
            arguments += ["--set", limit]
        self._process = ServerProcess(arguments, home / LOG, SHOAL_DB=self.database)

    def wait_until_ready(self) -> str:
        """Return its address, once it takes requests."""
        try:
            self.address = self._process.wait_for_address()
        except StoreError:
            self.stop()
            raise StoreError(
                "the collector did not start: is another one using its port or its folder?"
            ) from None
        return self.address

    def wait_until_known(self, campaign: str) -> None:
        """Wait until it takes reports of a campaign that was just added."""
        ask, end = UrlTransport(timeout=5.0), time.monotonic() + KNOWN_SECONDS
        request = Request("GET", f"{self.address}/v1/campaigns/{campaign}", max_bytes=1 << 22)
        while time.monotonic() < end:
            try:
                if ask(request).status == 200:
                    return
            except OSError:
                pass
            time.sleep(POLL_SECONDS)
        raise StoreError("the collector on this machine does not answer: start it again")

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.is_running

    def to_dict(self) -> dict[str, Any]:
        """Return what pages say about it."""
        return {
            "address": self.address,
            "running": self.is_running,
            "kept": self.kept,
            "folder": self.folder,
            "pid": self._process.pid,
        }

    def stop(self) -> None:
        """End it, with its worker, and delete what was temporary."""
        self._process.stop()
        if self._temporary is not None:
            self._temporary.cleanup()
