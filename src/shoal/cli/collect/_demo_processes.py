"""Processes of the demo: the commands that an operator runs, ended with the block."""

import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from shoal.service import ServerProcess

__all__ = ["Servers", "ended_by_signals", "free_port"]


class Servers:
    """Commands of shoal that print their address, run while the block lasts, ended together."""

    def __init__(self) -> None:
        self._started: list[ServerProcess] = []

    def start(self, arguments: Sequence[str], log: Path, **variables: str) -> Callable[[], str]:
        """Start a command and return what waits for its address."""
        from shoal.service import ServerProcess

        process = ServerProcess(arguments, log, **variables)
        self._started.append(process)
        return process.wait_for_address

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self._started:
            process.terminate()
        for process in self._started:
            process.stop()


@contextmanager
def free_port() -> Iterator[int]:
    """Keep a port free for a server that is started in the block."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port = int(holder.getsockname()[1])
        if sys.platform != "linux":  # elsewhere nobody may bind it again while it is held
            holder.close()
        yield port


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """End the block by SIGTERM as by Ctrl-C, so that no server is left behind."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
