"""Long work in threads: how far it is, how to end it, and what came of it.

Work is a function of a :class:`JobProgress`, which it calls after every step; a canceled job ends
at its next step. Threads do: what takes long runs in processes of its own or outside the
interpreter's lock, and the pages stay usable meanwhile. Results are kept in memory, so many of them
and so many bytes; an error that nobody foresaw is logged by its type and lines of code, since its
text may hold a value of a record.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from shoal.exceptions import ShoalError
from shoal.service import EventLog, RefusedError

__all__ = ["Job", "JobCanceledError", "JobProgress", "Jobs"]

State = Literal["running", "done", "failed", "canceled"]
MAX_KEPT = 64  # finished jobs whose results can still be read
MAX_KEPT_BYTES = 1 << 26  # of all results together, as JSON; the last one is kept whatever its size
MAX_RUNNING = 8
STOP_SECONDS = 1.5  # what running jobs have to come to their next step when the studio ends
FAILED = (
    "The studio hit an unexpected error. If this was a purchase, check the ledger: what was "
    "charged stays charged."
)


class JobCanceledError(Exception):
    """Somebody canceled the job; raised at its next step."""


class JobProgress:
    """What a job calls after each step: ``progress(done, total)``, perhaps with a partial result.

    Parameters
    ----------
    job : Job
        Whose steps these are.
    """

    def __init__(self, job: "Job") -> None:
        self._job = job

    def __call__(self, done: int, total: int) -> None:
        """Note a step; raise JobCanceledError if the job was canceled."""
        self.note(done, total)
        self.check()

    def note(self, done: int, total: int) -> None:
        """Note a step that is not given up any more, such as one that was paid for."""
        self._job.done, self._job.total = done, total

    def check(self) -> None:
        """Raise JobCanceledError if the job was canceled."""
        if self._job.cancel_asked.is_set():
            raise JobCanceledError

    def show(self, partial: Any) -> None:
        """Let pages draw a part of the result already."""
        self._job.partial = partial


class Job:
    """One piece of work and its state.

    Parameters
    ----------
    kind : str
        What it is, for pages.
    log : EventLog
        Where an error that nobody foresaw is written.
    """

    def __init__(self, kind: str, log: EventLog) -> None:
        self.id = secrets.token_hex(8)
        self.kind = kind
        self.state: State = "running"
        self.done = 0
        self.total = 0
        self.partial: Any = None
        self.result: Any = None
        self.result_bytes = 0
        self.error = ""
        self.cancel_asked = threading.Event()
        self.finished = threading.Event()
        self._log = log
        self._started = time.monotonic()
        self._seconds = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the job as pages read it."""
        state = self.state  # read once: the thread may end meanwhile
        running = state == "running"
        return {
            "id": self.id,
            "kind": self.kind,
            "state": state,
            "canceling": running and self.cancel_asked.is_set(),
            "done": self.done,
            "total": self.total,
            "seconds": time.monotonic() - self._started if running else self._seconds,
            "partial": self.partial if running else None,
            "result": None if running else self.result,
            "error": self.error,
        }

    def run(self, work: Callable[[JobProgress], Any]) -> None:
        """Do the work, and note how it ended; raises nothing."""
        state: State = "failed"
        try:
            result = work(JobProgress(self))
            # Checked here: one that is no JSON would fail in every answer.
            self.result_bytes = len(json.dumps(result, allow_nan=False))
            self.result = result
            state = "done"
        except JobCanceledError:
            state = "canceled"
        except ShoalError as error:
            self.error = error.message
        except RefusedError as error:
            self.error = error.detail
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise it to
            self.error = FAILED
            self._log.write_error("job failed", error, job=self.kind)
        finally:
            self.partial = None
            self._seconds = time.monotonic() - self._started
            self.state = state  # last: whoever sees it sees the result as well
            self.finished.set()


class Jobs:
    """All jobs of a studio; finished ones are kept for a while.

    Parameters
    ----------
    log : EventLog, default=None
        For errors that nobody foresaw; None is the standard error of this process.
    """

    def __init__(self, log: EventLog | None = None) -> None:
        self._log = EventLog() if log is None else log
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._ending = False

    def start(self, kind: str, work: Callable[[JobProgress], Any]) -> Job:
        """Start work in a thread of its own.

        Parameters
        ----------
        kind : str
            What it is, for pages.
        work : callable
            Called with a :class:`JobProgress`; what it returns must be plain JSON.

        Returns
        -------
        job : Job
            Running.
        """
        job = Job(kind, self._log)
        with self._lock:
            if self._ending:
                raise RefusedError(
                    "unavailable", "The studio is shutting down: nothing new is started."
                )
            running = sum(one.state == "running" for one in self._jobs.values())
            if running >= MAX_RUNNING:
                raise RefusedError(
                    "unavailable",
                    f"{running} jobs are running: cancel one, or wait for one to end.",
                    headers={"Retry-After": "5"},
                )
            self._forget_old()
            self._jobs[job.id] = job
        threading.Thread(target=job.run, args=(work,), name=f"job {kind}", daemon=True).start()
        return job

    def _forget_old(self) -> None:
        """Drop the oldest finished jobs, so that another one is within the limits."""
        finished = [job for job in self._jobs.values() if job.state != "running"]
        kept, held = 0, 0
        for job in reversed(finished):
            kept, held = kept + 1, held + job.result_bytes
            if kept >= MAX_KEPT or (held > MAX_KEPT_BYTES and kept > 1):
                del self._jobs[job.id]

    def get(self, identifier: str) -> Job:
        """Return a job, or refuse."""
        with self._lock:
            job = self._jobs.get(identifier)
        if job is None:
            raise RefusedError("not-found", "There is no such job: start a new one.")
        return job

    def cancel(self, identifier: str) -> Job:
        """Ask a job to end at its next step; to ask twice, or after its end, changes nothing."""
        job = self.get(identifier)
        job.cancel_asked.set()
        return job

    def end(self, seconds: float = STOP_SECONDS) -> bool:
        """Ask every job to end, start no other, and wait; return whether all have ended.

        Parameters
        ----------
        seconds : float, default=1.5
            How long to wait for all of them together; their threads end with the process.
        """
        with self._lock:
            self._ending = True
            running = [job for job in self._jobs.values() if job.state == "running"]
        for job in running:
            job.cancel_asked.set()
        until = time.monotonic() + seconds
        return all(job.finished.wait(max(0.0, until - time.monotonic())) for job in running)
