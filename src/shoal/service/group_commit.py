"""Group commit: many requests, one writer, one flush of the disk for all that wait.

A commit costs a flush, and a flush takes as long for one row as for a thousand. While one group is
written, the next one gathers; nobody waits on purpose. A submission is acknowledged after the
commit that holds it.
"""

import asyncio
import contextlib
import enum
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from shoal.exceptions import StoreError, StoreUnavailableError

__all__ = ["GroupCommit", "Outcome", "Submission", "SubmissionSink"]

GROUP_SUBMISSIONS = 1024
GROUP_BYTES = 8 * 2**20
WAITING_SUBMISSIONS = 16_384
WAITING_BYTES = 64 * 2**20
RETRY_SECONDS = 1
BROKEN_SECONDS = 60  # a database that came back with other settings, and is refused
BROKEN = "the database cannot be used as it is"
ENDED = "the store takes no reports now: its writer has ended"


class Submission(NamedTuple):
    r"""The reports of one request.

    Parameters
    ----------
    campaign : str
        Id of the campaign.
    key : bytes
        Idempotency key: a submission that is sent again has the same key and the same body.
    body : bytes
        Reports in the wire format of the campaign, one after the other.
    n_reports : int
        Number of reports.
    device : bytes or None, default=None
        Identifier of the device, for campaigns that use them.

    Examples
    --------
    >>> Submission("steps", b"0123456789abcdef", b"\x00\x01" * 3, 3).n_reports
    3
    """

    campaign: str
    key: bytes
    body: bytes
    n_reports: int
    device: bytes | None = None


class Outcome(enum.Enum):
    """Outcome of a submission.

    ``STORED``: stored now. ``DUPLICATE``: the same key with the same bytes was stored before.
    ``CONFLICT``: the same key was stored with other bytes. ``OVER_LIMIT``: the device has no
    reports left. The last two are not stored.

    Examples
    --------
    >>> Outcome.DUPLICATE.is_stored, Outcome.CONFLICT.is_stored
    (True, False)
    """

    STORED = "stored"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    OVER_LIMIT = "over limit"

    @property
    def is_stored(self) -> bool:
        """Whether the submission is in the database, stored now or before."""
        return self in {Outcome.STORED, Outcome.DUPLICATE}


class SubmissionSink(Protocol):
    """What submissions are stored in."""

    def check_submission(self, submission: Submission) -> None:
        """Refuse a submission that cannot be stored, before it waits with others."""

    def append(self, group: Sequence[Submission]) -> list[Outcome]:
        """Store submissions in one transaction and say what became of each.

        When it returns, all of them are on the disk.
        """


class _Waiter(NamedTuple):
    """A submission, and where its outcome goes."""

    submission: Submission
    answer: asyncio.Future[Outcome]


class GroupCommit:
    """A writer thread that stores all waiting submissions in one transaction.

    Parameters
    ----------
    store : SubmissionSink
        Store that submissions are written to.
    group_submissions, group_bytes : int
        Largest number of submissions, and of bytes, in one transaction.
    waiting_submissions, waiting_bytes : int
        Largest number of submissions, and of bytes, that wait; further ones are refused at once.
    observe : callable, default=None
        Called in the writer's thread after each commit, with the number of submissions, the
        duration in seconds, and whether the commit succeeded.

    Examples
    --------
    >>> import asyncio
    >>> from shoal.service import GroupCommit, Outcome, Submission
    >>> class Kept(list):
    ...     def check_submission(self, submission):
    ...         pass
    ...     def append(self, group):
    ...         self.extend(group)
    ...         return [Outcome.STORED] * len(group)
    >>> async def send(submission):
    ...     async with GroupCommit(Kept()) as writer:
    ...         return await writer.submit(submission)
    >>> asyncio.run(send(Submission("steps", b"a key of a device", b"0", 1))).value
    'stored'
    """

    def __init__(
        self,
        store: SubmissionSink,
        *,
        group_submissions: int = GROUP_SUBMISSIONS,
        group_bytes: int = GROUP_BYTES,
        waiting_submissions: int = WAITING_SUBMISSIONS,
        waiting_bytes: int = WAITING_BYTES,
        observe: Callable[[int, float, bool], None] | None = None,
    ) -> None:
        self._store = store
        self._group_submissions = group_submissions
        self._group_bytes = group_bytes
        self._waiting_submissions = waiting_submissions
        self._waiting_bytes = waiting_bytes
        self._observe = observe
        self._waiting: deque[_Waiter] = deque()
        self._bytes = 0
        self._stopping = False
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="shoal-group-commit", daemon=True)

    def start(self) -> Self:
        """Start the writer; call it from the event loop that will submit."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Store all waiting submissions, then end the writer; new submissions are refused.

        It blocks until the last group is written: call it from a thread, or use ``async with``.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)

    @property
    def is_running(self) -> bool:
        """Whether submissions are accepted."""
        return self._thread.is_alive() and not self._stopping

    @property
    def n_waiting(self) -> int:
        """Number of submissions that wait for the writer."""
        return len(self._waiting)

    async def submit(self, submission: Submission) -> Outcome:
        """Store a submission together with all waiting ones, and return when it is on the disk.

        Parameters
        ----------
        submission : Submission
            Submission to store.

        Returns
        -------
        outcome : Outcome
            Outcome of the submission.

        Raises
        ------
        StoreUnavailableError
            If the database is locked, full or unreachable, too many submissions wait, or the writer
            has ended. Send the same submission again, whether or not this one was stored.
        ParameterError, StoreError
            If the submission is invalid, or its campaign does not exist.
        """
        self._store.check_submission(submission)
        waiter = _Waiter(submission, asyncio.get_running_loop().create_future())
        with self._changed:
            self._refuse_if_full(submission)
            self._waiting.append(waiter)
            self._bytes += len(submission.body)
            self._changed.notify()
        return await waiter.answer

    def _refuse_if_full(self, submission: Submission) -> None:
        """Refuse what cannot be stored soon, rather than let it wait."""
        if not self.is_running:
            raise StoreUnavailableError(ENDED, retry_after=RETRY_SECONDS)
        size = self._bytes + len(submission.body)
        full = len(self._waiting) >= self._waiting_submissions or size > self._waiting_bytes
        if full and self._waiting:
            raise StoreUnavailableError(
                f"the store takes no more reports now: {len(self._waiting)} submissions wait",
                retry_after=RETRY_SECONDS,
            )

    def _run(self) -> None:
        """Write group after group, until told to stop and nothing waits."""
        try:
            while group := self._take():
                self._write(group)
        finally:
            with self._changed:  # after an error that nobody foresaw, nobody waits for ever
                self._stopping = True
                left = list(self._waiting)
                self._waiting.clear()
            self._answer(left, StoreUnavailableError(ENDED, retry_after=RETRY_SECONDS))

    def _take(self) -> list[_Waiter]:
        """Wait for submissions, and take all that fit into one group; none at the end.

        Whoever gave up waiting is left out: their client will send it again.
        """
        with self._changed:
            while True:
                while not self._waiting and not self._stopping:
                    self._changed.wait()
                group: list[_Waiter] = []
                size = 0
                while self._waiting and len(group) < self._group_submissions:
                    length = len(self._waiting[0].submission.body)
                    if group and size + length > self._group_bytes:
                        break
                    waiter = self._waiting.popleft()
                    self._bytes -= length
                    if not waiter.answer.cancelled():
                        size += length
                        group.append(waiter)
                if group or (self._stopping and not self._waiting):
                    return group

    def _write(self, group: list[_Waiter]) -> None:
        """Store a group, and answer everyone in it."""
        answer: list[Outcome] | StoreUnavailableError
        answer = StoreUnavailableError(ENDED, retry_after=RETRY_SECONDS)
        started = time.perf_counter()
        try:
            answer = self._store.append([waiter.submission for waiter in group])
        except StoreUnavailableError as error:
            answer = error
        except StoreError:  # until somebody has looked after it; the writer goes on
            answer = StoreUnavailableError(BROKEN, retry_after=BROKEN_SECONDS)
        finally:
            self._answer(group, answer)
            if self._observe is not None:
                seconds = time.perf_counter() - started
                self._observe(len(group), seconds, isinstance(answer, list))

    def _answer(self, group: list[_Waiter], answer: list[Outcome] | StoreUnavailableError) -> None:
        """Hand answers to the event loop, all at once; if it is closed, nobody waits."""
        if group and self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_resolve, group, answer)


def _resolve(group: list[_Waiter], answer: list[Outcome] | StoreUnavailableError) -> None:
    """Answer everyone who still waits, errors each with one of their own."""
    for place, (_, waiting) in enumerate(group):
        if waiting.done():
            continue
        if isinstance(answer, StoreUnavailableError):
            error = StoreUnavailableError(answer.message, retry_after=answer.retry_after)
            waiting.set_exception(error)
        else:
            waiting.set_result(answer[place])
