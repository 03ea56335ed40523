"""The worker process from the server's side: started, watched, started again, stopped."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self

from shoal._processes import OWN_GROUP
from shoal.service import EventLog

__all__ = ["WorkerProcess"]

FIRST_PAUSE = 0.5  # seconds before it is started again
LONGEST_PAUSE = 30.0
LONG_LIFE = 60.0  # seconds after which an end is no sign that it cannot run
STOP_SECONDS = 5.0  # between asking it to end and ending it
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerProcess:
    """Keeps one worker process running while a block runs.

    The address of the database goes through a pipe, so no list of processes shows it. The worker
    ends when the pipe does: a server that is killed leaves none behind.

    Parameters
    ----------
    url : str
        Of the database.
    options : sequence of str, default=()
        More arguments of ``python -m shoal.collector.worker``.
    log : EventLog, default=None
        Where ends of the worker are noted; None is the standard error.
    """

    def __init__(
        self, url: str, options: tuple[str, ...] = (), *, log: EventLog | None = None
    ) -> None:
        self._url = url
        self._options = options
        self._log = EventLog() if log is None else log
        self._stopping = threading.Event()
        self._process = self._start()
        self._watcher = threading.Thread(target=self._watch, name="worker watcher", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """Number of the process that runs now, or ran last."""
        return self._process.pid

    def stop(self) -> None:
        """End the worker: a job that runs is given back for the next one."""
        self._stopping.set()
        _end(self._process)
        self._watcher.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "shoal.collector.worker", "-", *self._options]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
            **OWN_GROUP,
        )
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it has ended, which the watcher sees
                process.stdin.write(f"{self._url}\n".encode())
                process.stdin.flush()
        return process

    def _watch(self) -> None:
        """Start the worker again whenever it ends, at once at first, then less and less often."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = time.monotonic()
            code = self._process.wait()
            _close_pipe(self._process)
            if self._stopping.is_set():
                return
            self._log.write("worker ended", code=code)
            pause = FIRST_PAUSE if time.monotonic() - began > LONG_LIFE else pause
            if self._stopping.wait(pause):
                return
            pause = min(2 * pause, LONGEST_PAUSE)
            self._process = self._start()
            if self._stopping.is_set():  # it was told to stop while this one was started
                _end(self._process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask a process to end, and end it if it does not."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _close_pipe(process)


def _close_pipe(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # what it did not read is lost
            process.stdin.close()
