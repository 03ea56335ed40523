"""Structured logs: one JSON object a line, nothing about who asked or what was sent.

A line of a request has its method, the template of its route, status, duration and an id made
here. Texts of other packages are logged without their arguments, and exceptions by their type and
the lines of code they went through: both can quote addresses and values.
"""

import asyncio
import contextlib
import json
import logging
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import Any, TextIO

__all__ = ["EventLog", "log_loop_errors", "log_stray_errors", "take_over_logging"]

OTHERS = ("asyncio", "sqlalchemy", "uvicorn", "uvicorn.error", "uvicorn.access", "alembic")
MAX_FRAMES = 12


class EventLog:
    """Writes events as lines of JSON.

    Parameters
    ----------
    stream : file object, default=None
        Stream to write to; None is the standard error of this process.

    Examples
    --------
    >>> import io, json
    >>> from shoal.service import EventLog
    >>> stream = io.StringIO()
    >>> EventLog(stream).write("batch", reports=500)
    >>> json.loads(stream.getvalue())["reports"]
    500
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._second = 0
        self._stamp = ""

    def write(self, event: str, **values: str | int | float | list[str] | None) -> None:
        """Write one event."""
        line = {"time": self._time(), "event": event, **values}
        self._put(json.dumps(line) + "\n", flush=True)

    def write_request(
        self, identifier: str, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Write a line for a request; `method` and `route` are from fixed sets."""
        self._put(
            f'{{"time": "{self._time()}", "event": "request", "id": "{identifier}", '
            f'"method": "{method}", "route": "{route}", "status": {status}, '
            f'"ms": {1000 * seconds:.3f}}}\n'
        )

    def write_error(
        self, event: str, error: BaseException | None, **values: str | int | float | None
    ) -> None:
        """Write an exception by its type and the lines of code of its traceback, not its text."""
        name = None if error is None else type(error).__name__
        trace = None if error is None else error.__traceback__
        self.write(event, **values, error=name, lines=_lines(error, trace))

    def _put(self, line: str, *, flush: bool = False) -> None:
        """Write a line; a disk that is full or a stream that is closed refuses no report."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(line)
            if flush:
                self._stream.flush()

    def _time(self) -> str:
        """Return the time in UTC, to the second."""
        now = int(time.time())
        if now != self._second:
            self._stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
            self._second = now
        return self._stamp


class _OtherPackages(logging.Handler):
    """Writes what other packages log: the template of the text, never its arguments."""

    def __init__(self, log: EventLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        text = str(record.msg).partition("\n")[0] if record.name != "asyncio" else "asyncio"
        kind, error, trace = record.exc_info or (None, None, None)
        self._log.write(
            "log",
            logger=record.name,
            level=record.levelname.lower(),
            text=text,
            error=None if kind is None else kind.__name__,
            lines=_lines(error, trace),
        )


def take_over_logging(log: EventLog) -> None:
    """Redirect warnings and errors that imported packages log to `log`.

    Examples
    --------
    >>> import io, json, logging
    >>> from shoal.service import EventLog, take_over_logging
    >>> stream = io.StringIO()
    >>> take_over_logging(EventLog(stream))  # for the whole process
    >>> logging.getLogger("uvicorn.error").warning("%s is gone", "203.0.113.9")
    >>> json.loads(stream.getvalue())["text"]
    '%s is gone'
    """
    handler = _OtherPackages(log)
    for name in OTHERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.WARNING)
        logger.propagate = False
    # An access log would have addresses.
    logging.getLogger("uvicorn.access").handlers = []


@contextlib.contextmanager
def log_stray_errors(log: EventLog) -> Iterator[None]:
    """Context manager that logs uncaught errors of threads and all warnings, by type and place.

    Otherwise Python writes their texts to the standard error, and these may contain private values.

    Examples
    --------
    >>> import io, warnings
    >>> from shoal.service import EventLog, log_stray_errors
    >>> stream = io.StringIO()
    >>> with log_stray_errors(EventLog(stream)), warnings.catch_warnings():
    ...     warnings.simplefilter("always")
    ...     warnings.showwarning("secret", UserWarning, "file.py", 3)
    >>> "UserWarning" in stream.getvalue(), "secret" in stream.getvalue()
    (True, False)
    """

    def warn(
        message: Warning | str, category: type[Warning], filename: str, line: int, *_: Any
    ) -> None:
        log.write("warning", kind=category.__name__, lines=[f"{filename}:{line}"])

    def unraisable(told: Any) -> None:
        log.write_error("unraisable error", told.exc_value)

    before = threading.excepthook, sys.unraisablehook, warnings.showwarning
    threading.excepthook = lambda told: log.write_error("thread error", told.exc_value)
    sys.unraisablehook = unraisable
    warnings.showwarning = warn  # type: ignore[assignment]
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook, warnings.showwarning = before


def log_loop_errors(log: EventLog) -> None:
    """Log errors of callbacks in the running event loop, by their type only.

    Examples
    --------
    >>> import asyncio, io
    >>> from shoal.service import EventLog, log_loop_errors
    >>> stream = io.StringIO()
    >>> async def fail():
    ...     log_loop_errors(EventLog(stream))
    ...     asyncio.get_running_loop().call_exception_handler({"exception": ValueError("secret")})
    >>> asyncio.run(fail())
    >>> "ValueError" in stream.getvalue(), "secret" in stream.getvalue()
    (True, False)
    """

    def handle(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        log.write_error("loop error", context.get("exception"))

    asyncio.get_running_loop().set_exception_handler(handle)


def _lines(error: BaseException | None, trace: TracebackType | None) -> list[str]:
    """Return where an exception passed: file, line and function, the last ones."""
    if error is None:
        return []
    frames = traceback.extract_tb(trace)[-MAX_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
