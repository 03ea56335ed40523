"""Run a collector: one process that takes reports, and one beside it that runs analyses."""

import contextlib
from collections.abc import Callable, Sequence

from shoal.campaigns import SealingKey
from shoal.collector.app import create_app
from shoal.collector.settings import Settings
from shoal.collector.store import Store
from shoal.collector.worker_process import WorkerProcess
from shoal.service import end_on_signals, listen, log_stray_errors, run_app, start_log

__all__ = ["serve"]


def serve(
    settings: Settings,
    *,
    announce: Callable[[str], None] | None = None,
    sealing_keys: Sequence[SealingKey] = (),
) -> None:
    """Run a collector until it receives a signal to stop (SIGINT or SIGTERM).

    Reports that wait to be stored at that time are stored and acknowledged first.

    Parameters
    ----------
    settings : Settings
        Database, address and limits.
    announce : callable, default=None
        Called once with the address, such as ``"http://127.0.0.1:8000"``, when the server is ready;
        None writes the line ``ready http://127.0.0.1:8000`` to the standard output.
    sealing_keys : sequence of SealingKey, default=()
        Secret keys of shuffled campaigns, to decrypt their batches here.

    Raises
    ------
    ParameterError
        If the server cannot listen on the address.
    StoreError
        If the database cannot be used.

    Examples
    --------
    It runs until Ctrl-C, which is sent here as soon as requests are taken.

    >>> import signal, tempfile
    >>> from shoal.collector import Settings, serve
    >>> def stop(address):
    ...     print("takes requests")
    ...     signal.raise_signal(signal.SIGINT)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/reports.db"
    ...     serve(Settings(url, port=0, analysis_worker=False), announce=stop)
    takes requests
    """
    log = start_log(settings)
    with (
        Store.open(settings.database) as store,
        listen(settings) as listener,
        log_stray_errors(log),
        end_on_signals(),
    ):
        app = create_app(store, settings, log=log, sealing_keys=sealing_keys)
        analyses: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        if settings.analysis_worker:
            analyses = WorkerProcess(settings.database, log=log)
        with analyses:
            run_app(app, settings, listener, announce)
