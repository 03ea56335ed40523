"""A spend happens once, however often it is asked for.

A page shows a **price** first: what would be bought, what it costs, the ledger before and after.
Its key is a digest of the table, the settings and how often the same was bought before, so that a
double click, a reload and two tabs all ask for the same purchase and get the same release. To buy
the same once more is another price with another key, which a page asks for on purpose. A purchase
names the number of entries that the ledger had when its price was shown; if anything was spent
since, it is refused, and the page shows the price again.

One purchase of a table is made at a time, and one of a ledger, which tables may share: what was
shown with the price is still so when it is charged. What fails after its charge stays charged: the
ledger has an entry more then, so the same order is refused, and nobody pays twice without seeing
it. A table of which something was bought is forgotten on purpose only.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.privacy import Ledger
from shoal.service import RefusedError
from shoal.studio.jobs import Job, JobProgress, Jobs

__all__ = ["Price", "Purchases"]

SPENT_SINCE = "Something was spent since this price was shown: check the new price."
OTHER_LEDGER = "The ledger changed since this price was shown: check the new price."
FORGOTTEN = "The table was forgotten since this price was shown: open the file again."
OTHER_ORDER = "The order does not match the price that was shown: check the price again."
UNDER_WAY = "Another purchase for this table is in progress: wait until it ends, then try again."
_charging: dict[str | int, threading.Lock] = {}  # of ledgers, by their files or as objects


@dataclass(frozen=True)
class Price:
    """What would be bought, and what it costs.

    Parameters
    ----------
    key : str
        Of the purchase.
    entries : int
        Entries of the ledger when the price was made.
    bought : bool
        Whether the purchase was made: asking for it again costs nothing.
    job : Job or None
        That makes the purchase now, or made it.
    """

    key: str
    entries: int
    bought: bool
    job: Job | None = None

    @property
    def ordered(self) -> bool:
        """Whether the purchase was made, or is under way."""
        return self.bought or (self.job is not None and self.job.state == "running")

    def to_dict(self) -> dict[str, Any]:
        """Return the price as pages read it."""
        job = None if self.job is None else self.job.to_dict()
        return {"key": self.key, "entries": self.entries, "bought": self.bought, "job": job}


class Purchases:
    """All that was bought for one table.

    Parameters
    ----------
    table : str
        Identifier of the table.
    ledger : callable
        Returns the ledger that the table is charged to now.
    """

    def __init__(self, table: str, ledger: Callable[[], Ledger | None]) -> None:
        self._table = table
        self._ledger = ledger
        self._ordering = threading.Lock()  # held for moments
        self._buying = threading.Lock()  # held while something is bought
        self._forgotten = False
        self._bought: dict[str, Any] = {}
        self._jobs: dict[str, Job] = {}

    @property
    def count(self) -> int:
        """How much was bought so far."""
        return len(self._bought)

    def price(self, ledger: Ledger, what: str, settings: Mapping[str, Any], repeat: int) -> Price:
        """Return the price of a purchase.

        Parameters
        ----------
        ledger : Ledger
            Which would be charged.
        what : str
            Kind of the purchase, such as "release".
        settings : mapping
            All that decides what is released, as plain JSON.
        repeat : int
            How often the same was bought before, on purpose; 0 at first.

        Returns
        -------
        price : Price
            To be shown, and sent back with the order.
        """
        key = self._key(what, settings, repeat)
        return Price(key, len(ledger.entries), key in self._bought, self._jobs.get(key))

    def buy(
        self,
        ledger: Ledger,
        what: str,
        settings: Mapping[str, Any],
        repeat: int,
        *,
        key: str,
        entries: int,
        release: Callable[[], Any],
    ) -> Any:
        """Spend and release, once; the same order again returns the same.

        Parameters
        ----------
        ledger, what, settings, repeat
            As for :meth:`price`.
        key, entries
            Of the price that was shown.
        release : callable
            Charges the ledger and returns what was released. If it fails, nothing was bought; what
            it had charged by then stays charged, so that the same order is refused.

        Returns
        -------
        result : object
            What `release` returned, now or the first time.
        """
        self._check_key(key, what, settings, repeat)
        with self._buying:  # a second click waits for the first, and gets its release
            if key not in self._bought:
                with _charging.setdefault(ledger.path or id(ledger), threading.Lock()):
                    self._check_ledger(ledger, entries)
                    self._bought[key] = release()
            return self._bought[key]

    def order(
        self,
        jobs: Jobs,
        ledger: Ledger,
        what: str,
        settings: Mapping[str, Any],
        repeat: int,
        *,
        key: str,
        entries: int,
        release: Callable[[JobProgress], Any],
    ) -> Job:
        """Start a purchase as a job, once; the same order again returns the same job.

        Parameters
        ----------
        jobs : Jobs
            Of the studio.
        ledger, what, settings, repeat, key, entries
            As for :meth:`buy`.
        release : callable
            As for :meth:`buy`, called with the progress of the job; what it returns is the result
            of the job, in plain JSON.

        Returns
        -------
        job : Job
            Running, or done.
        """
        self._check_key(key, what, settings, repeat)
        with self._ordering:
            job = self._jobs.get(key)
            if job is not None and job.state in ("running", "done"):
                return job
            if key not in self._bought:
                self._check_idle()
                self._check_ledger(ledger, entries)

            def work(progress: JobProgress) -> Any:
                return self.buy(
                    ledger,
                    what,
                    settings,
                    repeat,
                    key=key,
                    entries=entries,
                    release=lambda: release(progress),
                )

            self._jobs[key] = jobs.start(what, work)
            return self._jobs[key]

    def bought(self, key: str) -> Any:
        """Return what was bought by a key, or None."""
        return self._bought.get(key)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Let nothing be bought meanwhile, such as while the ledger is changed; refuse if it is."""
        with self._ordering:
            self._check_idle()
            if not self._buying.acquire(blocking=False):
                raise RefusedError("ledger-changed", UNDER_WAY)
            try:
                yield
            finally:
                self._buying.release()

    def forget(self, *, bought: bool) -> bool:
        """Let nothing be bought any more; False, and nothing changes, while something is.

        Parameters
        ----------
        bought : bool
            Whether to do so though something was bought, which is lost then.

        Returns
        -------
        forgotten : bool
            Whether no order will be charged from now on.
        """
        if self.is_under_way or not self._buying.acquire(blocking=False):
            return False
        try:
            self._forgotten = bought or not self._bought
            return self._forgotten
        finally:
            self._buying.release()

    @property
    def is_under_way(self) -> bool:
        """Whether something is being bought."""
        return any(job.state == "running" for job in tuple(self._jobs.values()))

    def _check_idle(self) -> None:
        if self.is_under_way:
            raise RefusedError("ledger-changed", UNDER_WAY)

    def _check_ledger(self, ledger: Ledger, entries: int) -> None:
        if self._forgotten:
            raise RefusedError("ledger-changed", FORGOTTEN)
        if self._ledger() is not ledger:
            raise RefusedError("ledger-changed", OTHER_LEDGER)
        if len(ledger.entries) != entries:
            raise RefusedError("ledger-changed", SPENT_SINCE)

    def _check_key(self, key: str, what: str, settings: Mapping[str, Any], repeat: int) -> None:
        if key != self._key(what, settings, repeat):
            raise RefusedError("ledger-changed", OTHER_ORDER)

    def _key(self, what: str, settings: Mapping[str, Any], repeat: int) -> str:
        plain = json.dumps([self._table, what, settings, repeat], sort_keys=True, allow_nan=False)
        return hashlib.sha256(plain.encode()).hexdigest()[:32]
