"""Run a server: listen, say when it takes requests, end when it is told to."""

import contextlib
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from fastapi import FastAPI

from shoal.exceptions import ParameterError
from shoal.service.connections import make_protocol
from shoal.service.logs import EventLog, take_over_logging
from shoal.service.settings import ServiceSettings

__all__ = ["end_on_signals", "listen", "run_app", "server_config", "start_log"]

BACKLOG = 2048
SWITCH_SECONDS = 0.0005  # the writer waits no longer for its turn while requests are read
WARNING = (
    "warning: {host} can be reached from other machines, and this server speaks plain HTTP: put a "
    "proxy with TLS in front, or listen on 127.0.0.1\n"
)


def start_log(settings: ServiceSettings) -> EventLog:
    """Return the log of a server, which replaces all others; warn if it is open to the network.

    Examples
    --------
    >>> from shoal.service import ServiceSettings, start_log
    >>> log = start_log(ServiceSettings())  # for the whole process
    >>> type(log).__name__
    'EventLog'
    """
    log = EventLog()
    take_over_logging(log)
    if not settings.is_loopback:
        sys.stderr.write(WARNING.format(host=settings.host))
    return log


def run_app(
    app: FastAPI,
    settings: ServiceSettings,
    listener: socket.socket,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Run an application until it receives a signal to stop (SIGINT or SIGTERM).

    Parameters
    ----------
    app : FastAPI
        Application to run.
    settings : ServiceSettings
        Limits of the application.
    listener : socket
        Socket from :func:`listen`.
    announce : callable, default=None
        Called once with the address, such as ``"http://127.0.0.1:8000"``, when the server is ready;
        None writes the line ``ready http://127.0.0.1:8000`` to the standard output.

    Examples
    --------
    >>> import signal
    >>> from fastapi import FastAPI
    >>> from shoal.service import ServiceSettings, end_on_signals, listen, run_app
    >>> settings = ServiceSettings(port=0)
    >>> def stop(address):  # as Ctrl-C does
    ...     print("takes requests")
    ...     signal.raise_signal(signal.SIGINT)
    >>> with listen(settings) as listener, end_on_signals():
    ...     run_app(FastAPI(), settings, listener, announce=stop)
    takes requests
    """
    host, port = listener.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    server = _AnnouncedServer(
        server_config(app, settings), lambda: (announce or _write_ready)(address)
    )
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        server.run(sockets=[listener])
    finally:
        sys.setswitchinterval(before)


def server_config(app: FastAPI, settings: ServiceSettings) -> uvicorn.Config:
    """Return the configuration of uvicorn, which logs no addresses and hides the server's name.

    Examples
    --------
    >>> from fastapi import FastAPI
    >>> from shoal.service import ServiceSettings, server_config
    >>> server_config(FastAPI(), ServiceSettings()).access_log
    False
    """
    return uvicorn.Config(
        app,
        loop="asyncio" if sys.platform == "win32" else "uvloop",  # which Windows has not
        http=make_protocol(settings),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=round(settings.idle_seconds),
        timeout_graceful_shutdown=round(settings.stop_seconds),
    )


class _AnnouncedServer(uvicorn.Server):
    """A server that says when it takes requests."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def _write_ready(address: str) -> None:
    sys.stdout.write(f"ready {address}\n")
    sys.stdout.flush()


def listen(settings: ServiceSettings) -> socket.socket:
    """Return a socket that is bound to the address of the settings.

    Examples
    --------
    >>> from shoal.service import ServiceSettings, listen
    >>> with listen(ServiceSettings(port=0)) as listener:
    ...     print(listener.getsockname()[0])
    127.0.0.1
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    address = (settings.host, settings.port)
    try:
        listener = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as failure:
        raise ParameterError(
            f"host and port must be an address to listen on, got {settings.host} port "
            f"{settings.port} ({failure.strerror}): choose another port, or 0 for a free one"
        ) from None
    if sys.platform == "linux":  # ends connections whose client does not read, closed ones too
        wait = round(1000 * settings.send_seconds)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, wait)
    return listener


@contextlib.contextmanager
def end_on_signals() -> Iterator[None]:
    """Context manager that ends its block, not the process, when uvicorn passes on a signal.

    Examples
    --------
    >>> from shoal.service import end_on_signals
    >>> with end_on_signals():
    ...     raise KeyboardInterrupt
    >>> print("after the block")
    after the block
    """

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
