"""The store: all that a collector keeps, behind one object."""

from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from shoal.collector.store._base import utc_now
from shoal.collector.store.analyses import AnalysisStore
from shoal.collector.store.batches import BatchStore
from shoal.collector.store.campaigns import CampaignStore
from shoal.collector.store.migrations import is_current, upgrade_tables
from shoal.collector.store.reading import ReportReader
from shoal.collector.store.submissions import SubmissionStore
from shoal.collector.store.tokens import CredentialStore
from shoal.exceptions import StoreError
from shoal.service import Database

__all__ = ["Store"]


class Store(
    CampaignStore, SubmissionStore, BatchStore, ReportReader, CredentialStore, AnalysisStore
):
    r"""Database of a collector, with campaigns, reports, credentials and analyses.

    Every method runs one or more transactions; any number of threads and processes may use the same
    database. Open it with :meth:`Store.open`.

    Parameters
    ----------
    database : Database
        Database with the tables of this version of shoal.
    clock : callable
        Returns the current time, with a time zone.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
    >>> from shoal.collector.store import GroupCommit, Store, Submission
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2030, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> signed = open_campaign(sign_campaign(campaign, key), key.public)
    >>> async def send(store, *submissions):
    ...     async with GroupCommit(store) as writer:
    ...         return await asyncio.gather(*map(writer.submit, submissions))
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     Store.open(f"sqlite:///{folder}/reports.db") as store,
    ... ):
    ...     store.add_campaign(signed)
    ...     one = Submission("homes", b"a key of a device", b"\x01\x02", 1)
    ...     [outcome.value for outcome in asyncio.run(send(store, one, one))]
    ...     store.count("homes"), list(store.blocks("homes"))
    ['stored', 'duplicate']
    (1, [b'\x01\x02'])
    """

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], datetime] = utc_now) -> Self:
        """Open a database, and create or upgrade its tables.

        Parameters
        ----------
        url : str
            ``sqlite:///path`` or ``postgresql+psycopg://user:password@host/name``. A missing file
            of SQLite is created, readable by its owner only.
        clock : callable, default=the clock of this machine
            Returns the current time, with a time zone.

        Returns
        -------
        store : Store
            Open store; close it, or use it in a ``with`` statement.

        Raises
        ------
        ParameterError
            If the URL is not that of such a database.
        StoreUnavailableError
            If the database cannot be reached now.
        StoreError
            If the database would not keep what it acknowledged, or a later version of shoal wrote
            it.
        """
        database = Database(url)
        try:
            upgrade_tables(database)
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    def ping(self) -> None:
        """Check that reports can be stored now, by taking the write lock; else raise StoreError.

        The tables must be those of this version of shoal: another process may have upgraded them.
        """
        with self._database.write() as connection:
            if not is_current(connection):
                raise StoreError("the tables are those of another version of shoal: open it again")

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
