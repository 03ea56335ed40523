"""The worker: a process that runs analyses, one at a time, beside the server.

It claims a job by a lease, which it renews while the analysis runs on a thread of its own. A worker
that is killed renews nothing, so another claims the job when the lease is over; a worker whose
lease was lost stores nothing. It runs with a low priority and a limit of memory, and ends within a
second or two of SIGTERM, or when the server that started it is gone.

``python -m shoal.collector.worker URL`` runs one by itself; with ``-`` for the URL it is read from
the first line of the standard input, so that no list of processes shows a password, and the worker
ends with that input.
"""

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NamedTuple

import numpy as np

from shoal import _numbers
from shoal.collector.analysis import run_job
from shoal.collector.store import Analysis, Store
from shoal.exceptions import ShoalError, StoreUnavailableError
from shoal.privacy import Release
from shoal.service import EventLog, log_stray_errors, take_over_logging

if sys.platform != "win32":
    import resource

__all__ = ["Worker", "main"]

LEASE_SECONDS = 60
RENEWALS = 4  # within a lease
IDLE_SECONDS = 0.5  # between looks for a job
NICE = 10
MEMORY_MIB = 4096
LOST = "the lease was lost"
NO_MEMORY = "the analysis needs more memory than the worker may use: ask for fewer clusters"


class _Ended(NamedTuple):
    """What came of an analysis: a release, or why there is none."""

    release: Release | None
    error: str | None


class Worker:
    """Claims jobs and runs them, until it is told to stop.

    Parameters
    ----------
    store : Store
        Of the collector.
    lease : int, default=60
        Seconds after which the job of a worker that died is another's.
    run : callable, default=run_job
        Takes the store and a job, and returns a release.
    log : EventLog, default=None
        Where events go: names, versions and counts, no report; None is the standard error.

    Examples
    --------
    A worker without a job waits for one:

    >>> import tempfile
    >>> from shoal.collector import Store, Worker
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     Store.open(f"sqlite:///{folder}/reports.db") as store,
    ... ):
    ...     Worker(store).run_next()
    False
    """

    def __init__(
        self,
        store: Store,
        *,
        lease: int = LEASE_SECONDS,
        run: Callable[[Store, Analysis], Release] = run_job,
        log: EventLog | None = None,
    ) -> None:
        self._store = store
        self._lease = _numbers.count("lease", lease)
        self._run = run
        self._log = EventLog() if log is None else log
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Tell it to stop: a job that runs is given back."""
        self._stopping.set()

    def run_forever(self) -> None:
        """Run jobs until :meth:`stop`; a database that is away is waited for."""
        while not self._stopping.is_set():
            try:
                worked = self.run_next()
            except StoreUnavailableError as failure:
                self._log.write("worker waits", error=str(failure))
                self._stopping.wait(failure.retry_after)
            else:
                if not worked:
                    self._stopping.wait(IDLE_SECONDS)

    def run_next(self) -> bool:
        """Run the next job, if there is one.

        Returns
        -------
        worked : bool
            Whether there was one.
        """
        job = self._store.claim_analysis(self._lease)
        if job is None:
            return False
        named: dict[str, str | int] = {
            "campaign": job.campaign,
            "version": job.version,
            "method": job.method,
        }
        self._log.write(
            "analysis started", **named, reports=job.snapshot.n_reports, attempt=job.attempts
        )
        began = time.monotonic()
        ended = self._run_renewing(job)
        seconds = round(time.monotonic() - began, 3)
        if ended is None:
            self._log.write("analysis given up", **named, seconds=seconds)
            return True
        release = None if ended.release is None else ended.release.to_json()
        kept = self._store.finish_analysis(job, release=release, error=ended.error)
        error = ended.error if kept else LOST
        self._log.write("analysis ended", **named, seconds=seconds, error=error)
        return True

    def _run_renewing(self, job: Analysis) -> _Ended | None:
        """Run a job on a thread; None if it was given back or is another worker's by now."""
        results: list[_Ended] = []
        done = threading.Event()

        def work() -> None:
            try:
                with contextlib.suppress(StoreUnavailableError):  # it is tried again
                    results.append(_attempt(self._run, self._store, job))
            finally:
                done.set()

        # A daemon: whoever ends the process does not wait for it.
        threading.Thread(target=work, name="analysis", daemon=True).start()
        renewed = time.monotonic()
        while not done.wait(min(0.2, self._lease / RENEWALS)):
            if self._stopping.is_set():
                break
            if time.monotonic() - renewed >= self._lease / RENEWALS:
                with contextlib.suppress(StoreUnavailableError):  # there is time to try again
                    if not self._store.renew_analysis(job, self._lease):
                        self.stop()  # the thread cannot be ended, but the process can
                        return None
                    renewed = time.monotonic()
        if results:
            return results[0]
        with contextlib.suppress(StoreUnavailableError):  # then its lease ends by itself
            self._store.renew_analysis(job, 0)
        return None


def _attempt(run: Callable[[Store, Analysis], Release], store: Store, job: Analysis) -> _Ended:
    """Run an analysis; what is wrong with it becomes one line without a value of a report."""
    try:
        return _Ended(run(store, job), None)
    except MemoryError:
        return _Ended(None, NO_MEMORY)
    except StoreUnavailableError:
        raise
    except ShoalError as failure:
        return _Ended(None, str(failure).partition("\n")[0])
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as failure:
        kind = type(failure).__name__  # its text may quote numbers
        return _Ended(None, f"the analysis failed with {kind}: try other parameters")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a worker process until SIGTERM, or until the standard input ends.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Of the command line; None takes those of this process.

    Returns
    -------
    code : int
        0 when it was told to stop, else 1.
    """
    parser = argparse.ArgumentParser(
        prog="python -m shoal.collector.worker", description="Run analyses of a collector."
    )
    parser.add_argument("url", help="database, or - to read it from the standard input")
    parser.add_argument("--lease", type=int, default=LEASE_SECONDS, help="seconds; default 60")
    parser.add_argument(
        "--memory", type=int, default=MEMORY_MIB, help="most memory in MiB; default 4096"
    )
    given = parser.parse_args(arguments)
    _bound_process(given.memory)
    log = EventLog()
    take_over_logging(log)
    from_parent = given.url == "-"
    url = sys.stdin.readline().strip() if from_parent else given.url
    try:
        with log_stray_errors(log), Store.open(url) as store:
            worker = Worker(store, lease=given.lease, log=log)
            _stop_on_signals(worker)
            if from_parent:
                threading.Thread(target=_stop_at_end_of_input, args=(worker,), daemon=True).start()
            worker.run_forever()
    except ShoalError as failure:
        log.write("worker cannot run", error=str(failure))
        return 1
    return 0


def _bound_process(memory: int) -> None:
    """Lower the priority of this process, and limit its memory where the system can."""
    if sys.platform != "win32":
        os.nice(NICE)
        limit = memory << 20
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


def _stop_on_signals(worker: Worker) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        worker.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def _stop_at_end_of_input(worker: Worker) -> None:
    """Wait until the server that started this process is gone, however it ended."""
    while sys.stdin.readline():
        pass
    worker.stop()


if __name__ == "__main__":
    code = main()
    # An analysis that was given up may still run on its thread: it is not waited for.
    sys.stderr.flush()
    os._exit(code)
