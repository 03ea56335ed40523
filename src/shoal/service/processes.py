"""Servers of shoal in processes of their own, started by another program and ended with it.

A server that somebody else started must not outlive that program, however it ends: its standard
input is a pipe that nobody writes to, and when the other end is gone it ends as by SIGTERM.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from shoal._processes import OWN_GROUP, kill_group
from shoal.exceptions import StoreError

__all__ = ["ServerProcess"]

SHOAL = """
import os, signal, sys, threading
def end():
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=end, daemon=True).start()
sys.argv[0] = 'shoal'
from shoal.cli import main
main()
"""
STOP_SECONDS = 40


class ServerProcess:
    """Process of a shoal command that runs a server until it is told to stop.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of the command, such as ``["collect", "serve", "--port", "0"]``.
    log : Path
        File for the standard error of the process.
    **variables : str
        Environment variables of the process. Pass secrets here: they do not appear in a list of
        processes.

    Examples
    --------
    If a server does not start, its log tells why.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.exceptions import StoreError
    >>> from shoal.service import ServerProcess
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "log")
    ...     process = ServerProcess(["collect", "serve", "--port", "-1"], log)
    ...     try:
    ...         print(process.wait_for_address())  # such as http://127.0.0.1:8000
    ...     except StoreError:
    ...         process.stop()
    ...         print("--port" in log.read_text(encoding="utf-8"))
    True
    """

    def __init__(self, arguments: Sequence[str], log: Path, **variables: str) -> None:
        self._log = log
        with log.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SHOAL, *arguments],
                env={**os.environ, **variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                **OWN_GROUP,
            )

    @property
    def pid(self) -> int:
        """Identifier (PID) of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def wait_for_address(self) -> str:
        """Wait until the server accepts requests; StoreError if it ends instead."""
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        word, _, address = line.partition(" ")
        if word != "ready":
            raise StoreError(f"the server did not start: see {self._log}")
        return address.strip()

    def terminate(self) -> None:
        """Tell the server to stop, without waiting for its end."""
        self._process.terminate()

    def stop(self) -> None:
        """Tell the server to stop and wait for its end; kill it and its worker if it does not."""
        self.terminate()
        with suppress(BrokenPipeError), self._process:
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                kill_group(self._process.pid)
