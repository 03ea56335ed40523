"""Run the studio: listen, open a browser, end when told to."""

import contextlib
import html
import signal
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from shoal.service import listen, log_stray_errors, run_app, start_log
from shoal.studio.app import create_studio
from shoal.studio.settings import StudioSettings
from shoal.studio.workspace import Workspace

__all__ = ["serve_studio"]


def serve_studio(
    settings: StudioSettings,
    *,
    workspace: Workspace | None = None,
    path: str = "/",
    open_browser: bool = False,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Run the studio until it is stopped by Ctrl-C or SIGTERM.

    It then cancels running work and forgets all records.

    Parameters
    ----------
    settings : StudioSettings
        Port, token and limits.
    workspace : Workspace, default=None
        Workspace with tables to start with; None starts with an empty one.
    path : str, default="/"
        Path of the page to open first, with its query.
    open_browser : bool, default=False
        Whether to open that page in the user's browser.
    announce : callable, default=None
        Called once with the address of that page, including the token, when the studio is ready;
        None writes ``ready ADDRESS`` to the standard output.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, once everything has ended. SIGTERM ends it without an error.

    Examples
    --------
    It runs until it is told to stop: here as soon as requests are taken.

    >>> import signal
    >>> from shoal.studio import StudioSettings, serve_studio
    >>> def stop(address):
    ...     print("takes requests")
    ...     signal.raise_signal(signal.SIGTERM)
    >>> serve_studio(StudioSettings(port=0), announce=stop)
    takes requests
    """
    listener = listen(settings)
    log = start_log(settings)
    app = create_studio(Workspace(settings, log) if workspace is None else workspace)

    def started(address: str) -> None:
        opened = address + path
        if settings.token:
            opened += ("&" if "?" in path else "?") + f"token={settings.token}"
        if announce is not None:
            announce(opened)
        else:
            sys.stdout.write(f"ready {opened}\n")
            sys.stdout.flush()
        if open_browser:  # not waited for: some browsers run until they are closed
            way = _write_way(own_folder(), opened) if settings.token else opened
            threading.Thread(target=webbrowser.open, args=(way,), daemon=True).start()

    def own_folder() -> str:
        return ending.enter_context(tempfile.TemporaryDirectory(prefix="shoal-studio-"))

    with ExitStack() as ending, listener, log_stray_errors(log), _ended_by_sigterm():
        run_app(app, settings, listener, announce=started)


def _write_way(folder: str, address: str) -> str:
    """Return a page of the user's own that leads to an address with a token.

    Everybody on this machine can read with which address a browser was started, and the token is
    there to keep them out.
    """
    page = Path(folder) / "open.html"
    page.touch(mode=0o600)
    page.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">',
        encoding="utf-8",
    )
    return page.as_uri()


class _EndedError(BaseException):
    """SIGTERM came, and uvicorn has passed it on."""


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Go on after the block, rather than end the process, when SIGTERM ended the server."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise _EndedError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        with contextlib.suppress(_EndedError):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
