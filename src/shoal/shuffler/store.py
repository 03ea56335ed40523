"""The database of a relay: sealed reports that wait, batches on their way, keys that were used.

**What it does not hold.** No time, no address, no number that counts arrivals. A report waits under
the hash of its idempotency key, keyed with a secret of this database: rows are in a random order.
When enough of them wait, one transaction draws a batch among them in random order, writes it as one
body, and keeps of each report two hashes: of its key, so that a late retry is known, and of key and
body, so that another report under the same key is refused. Neither says which report it was to
whoever does not hold the key, which the device drew at random and alone keeps. A third hash, of the
sealed bytes alone and beside no key, keeps what somebody caught on its way from being sent again
under another key: a report in two batches would hide in neither.

**Below the tables** SQLite knows more: pages and the write-ahead log follow arrival until they are
written again. So deleted content is overwritten (``secure_delete``) and the log is emptied after
every batch. The hashes of a batch are stored in their own order, not in that of the batch. Whoever
can copy the files while reports wait can still tell which came late: keep the files from them.
"""

import contextlib
import hashlib
import json
import random
import secrets
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self

from sqlalchemy import Connection

from shoal.exceptions import ParameterError, StoreError, StoreUnavailableError
from shoal.service import Database, Outcome, Submission

__all__ = ["Batch", "RelayCounts", "RelayStore"]

VERSION = 1
SECRET_BYTES = 32
HASH_BYTES = 16
STOPPED_SECONDS = 60
PRAGMAS = {"secure_delete": 1, "temp_store": 2}  # overwrite what is deleted; no temporary files
STATE = "campaign, secret, width, batch_size, n_waiting, n_formed, n_forwarded, n_dropped"
DRAWN = "hex(key) NOT IN (SELECT value FROM json_each(?))"  # all but those that are left
TABLES = (
    """CREATE TABLE relay (
        campaign TEXT NOT NULL, secret BLOB NOT NULL, width INTEGER NOT NULL,
        batch_size INTEGER NOT NULL, n_waiting INTEGER NOT NULL, n_formed INTEGER NOT NULL,
        n_forwarded INTEGER NOT NULL, n_dropped INTEGER NOT NULL)""",
    """CREATE TABLE waiting (
        key BLOB PRIMARY KEY, tag BLOB NOT NULL, body BLOB NOT NULL) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX waiting_bodies ON waiting (body)",
    "CREATE TABLE taken (key BLOB PRIMARY KEY, tag BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE seals (seal BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE batches (number INTEGER PRIMARY KEY, body BLOB NOT NULL)",
)


# What is known of a key, and, without a tag, of sealed bytes.
KNOWN = """
    SELECT tag FROM waiting WHERE key = ? UNION ALL SELECT tag FROM taken WHERE key = ?
    UNION ALL SELECT NULL FROM waiting WHERE body = ?
    UNION ALL SELECT NULL FROM seals WHERE seal = ?
"""


class Batch(NamedTuple):
    """A shuffled batch on its way to the collector.

    Parameters
    ----------
    number : int
        Number of the batch: 1, 2 and so on.
    body : bytes
        Encrypted reports, one after the other.

    Examples
    --------
    >>> Batch(1, b"").number
    1
    """

    number: int
    body: bytes


class RelayCounts(NamedTuple):
    """Counts of a relay: reports waiting, batches formed and forwarded, reports dropped.

    Examples
    --------
    >>> RelayCounts(3, 2, 1, 0).n_formed
    2
    """

    n_waiting: int
    n_formed: int
    n_forwarded: int
    n_dropped: int


class _State(NamedTuple):
    """The row of this relay."""

    campaign: str
    secret: bytes
    width: int
    batch_size: int
    n_waiting: int
    n_formed: int
    n_forwarded: int
    n_dropped: int


class RelayStore:
    r"""Database of a relay: the encrypted reports of one campaign until they are forwarded.

    Any number of threads may use it. Open it with :meth:`RelayStore.open`.

    Parameters
    ----------
    database : Database
        Database with the tables of a relay.
    source : random.Random, default=secrets.SystemRandom()
        Random numbers to draw batches; anything but the default is for tests.

    Examples
    --------
    >>> import tempfile
    >>> from shoal.service import Submission
    >>> from shoal.shuffler import RelayStore
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     RelayStore.open(f"{folder}/relay.db", "homes", width=2, batch_size=3) as store,
    ... ):
    ...     sent = [Submission("homes", b"key %d of a device" % n, b"%d!" % n, 1) for n in range(4)]
    ...     [outcome.value for outcome in store.append([*sent, sent[0]])]
    ...     store.form_batch(), store.form_batch()
    ...     len(store.next_batch().body), store.counts().n_waiting
    ['stored', 'stored', 'stored', 'stored', 'duplicate']
    (1, None)
    (6, 1)
    """

    def __init__(self, database: Database, source: random.Random | None = None) -> None:
        self._database = database
        self._source = secrets.SystemRandom() if source is None else source
        with database.read() as connection:
            self._fixed = _read_state(connection)
        self._stopped: str | None = None

    @classmethod
    def open(
        cls,
        path: str,
        campaign: str,
        *,
        width: int,
        batch_size: int,
        source: random.Random | None = None,
    ) -> Self:
        """Open or create the database of a relay.

        Parameters
        ----------
        path : str
            Path of an SQLite file; a missing one is created, readable by its owner only.
        campaign : str
            Identifier of the campaign.
        width : int
            Number of bytes of an encrypted report.
        batch_size : int
            Number of reports in a batch.
        source : random.Random, default=None
            Random numbers to draw batches; None takes the operating system's entropy.

        Returns
        -------
        store : RelayStore
            Open store; close it, or use it in a ``with`` statement.

        Raises
        ------
        ParameterError
            If the file belongs to another campaign, or is not that of a relay.
        StoreError
            If the database cannot be used.
        """
        database = Database(f"sqlite:///{path}", pragmas=PRAGMAS)
        try:
            with database.write() as connection:
                _make_tables(connection, campaign, width, batch_size)
            store = cls(database, source)
            found = (store._fixed.campaign, store._fixed.width, store._fixed.batch_size)
            if found != (campaign, width, batch_size):
                raise ParameterError(
                    f"the database of a relay must be that of its campaign, got {path} of "
                    f"{found[0]!r} with batches of {found[2]}: choose another file"
                )
        except BaseException:
            database.close()
            raise
        return store

    def check_submission(self, submission: Submission) -> None:
        """Refuse what cannot be an encrypted report, and everything once forwarding has stopped."""
        if self._stopped is not None:
            raise StoreUnavailableError(self._stopped, retry_after=STOPPED_SECONDS)
        if submission.campaign != self._fixed.campaign or submission.n_reports != 1:
            raise ParameterError("a submission must be one report of the relay's campaign")
        if len(submission.body) != self._fixed.width or not submission.key:
            raise ParameterError(
                f"body must be a sealed report of {self._fixed.width} bytes with a key, got "
                f"{len(submission.body)} bytes"
            )

    def append(self, group: Sequence[Submission]) -> list[Outcome]:
        """Store reports in one transaction, and return the outcome of each.

        Parameters
        ----------
        group : sequence of Submission
            Submissions of one encrypted report each. Of two with the same key, the first counts.

        Returns
        -------
        outcomes : list of Outcome
            Outcomes in the order of `group`; when they are returned, all reports are on the disk.

        Raises
        ------
        StoreUnavailableError
            If the database is locked or full; none is stored.
        """
        with self._database.write() as connection:
            outcomes = [self._append(connection, submission) for submission in group]
            connection.exec_driver_sql(
                "UPDATE relay SET n_waiting = n_waiting + ?", (outcomes.count(Outcome.STORED),)
            )
        return outcomes

    def _append(self, connection: Connection, submission: Submission) -> Outcome:
        key = self._hash(submission.key, b"key")
        tag = self._hash(submission.key + b"\0" + submission.body, b"report")
        seal = self._hash(submission.body, b"sealed")
        found = connection.exec_driver_sql(KNOWN, (key, key, submission.body, seal)).all()
        tags = [row[0] for row in found if row[0] is not None]
        if tags:
            return Outcome.DUPLICATE if tags == [tag] else Outcome.CONFLICT
        if found:  # the same bytes under another key: of a report, an honest device has one
            return Outcome.DUPLICATE
        connection.exec_driver_sql(
            "INSERT INTO waiting (key, tag, body) VALUES (?, ?, ?)", (key, tag, submission.body)
        )
        return Outcome.STORED

    def form_batch(self) -> int | None:
        """Draw a batch from the waiting reports, if there are enough, and store it as one body.

        All choices and orders of reports are equally likely, independent of the time of arrival.

        Returns
        -------
        number : int or None
            Number of the batch; None if too few reports wait, and then nothing changes.
        """
        size = self._fixed.batch_size
        with self._database.write() as connection:
            state = _read_state(connection)
            if state.n_waiting < size:
                return None
            rows = connection.exec_driver_sql("SELECT key, body FROM waiting").all()
            chosen = self._source.sample(rows, size)
            number = state.n_formed + 1
            connection.exec_driver_sql(
                "INSERT INTO batches (number, body) VALUES (?, ?)",
                (number, b"".join(row[1] for row in chosen)),
            )
            left = {row[0] for row in rows}.difference(row[0] for row in chosen)
            keys = json.dumps(sorted(key.hex().upper() for key in left))
            # In the order of hashes: places on the disk must not follow the order of the batch.
            connection.exec_driver_sql(
                f"INSERT INTO taken SELECT key, tag FROM waiting WHERE {DRAWN} ORDER BY key",
                (keys,),
            )
            seals = sorted(self._hash(row[1], b"sealed") for row in chosen)
            connection.exec_driver_sql(
                "INSERT INTO seals (seal) VALUES (?)", [(seal,) for seal in seals]
            )
            connection.exec_driver_sql(f"DELETE FROM waiting WHERE {DRAWN}", (keys,))
            connection.exec_driver_sql(
                "UPDATE relay SET n_waiting = n_waiting - ?, n_formed = ?", (size, number)
            )
        self._empty_log()
        return number

    def next_batch(self) -> Batch | None:
        """Return the next batch to forward, the first one that was not acknowledged."""
        statement = "SELECT number, body FROM batches ORDER BY number LIMIT 1"
        with self._database.read() as connection:
            row = connection.exec_driver_sql(statement).one_or_none()
        return None if row is None else Batch(*row)

    def forget_batch(self, number: int) -> None:
        """Delete the body of a batch that the collector has acknowledged."""
        with self._database.write() as connection:
            gone = connection.exec_driver_sql("DELETE FROM batches WHERE number = ?", (number,))
            connection.exec_driver_sql(
                "UPDATE relay SET n_forwarded = n_forwarded + ?", (gone.rowcount,)
            )
        self._empty_log()

    def drop_waiting(self) -> int:
        """Delete the waiting reports once the campaign is closed, and return their number.

        They are fewer than a batch and could not be hidden in one. If there are enough for a batch,
        because some were stored just now, they are kept to be forwarded.
        """
        with self._database.write() as connection:
            if _read_state(connection).n_waiting >= self._fixed.batch_size:
                return 0
            count = connection.exec_driver_sql("DELETE FROM waiting").rowcount
            connection.exec_driver_sql(
                "UPDATE relay SET n_waiting = 0, n_dropped = n_dropped + ?", (count,)
            )
        if count:
            self._empty_log()
        return count

    def counts(self) -> RelayCounts:
        """Return the counts of waiting, forwarded and dropped reports."""
        with self._database.read() as connection:
            return RelayCounts(*_read_state(connection)[4:])

    def stop(self, reason: str) -> None:
        """Accept no more reports, as they could not be forwarded."""
        self._stopped = reason

    def ping(self) -> None:
        """Check that reports can be stored now, by taking the write lock; else raise StoreError."""
        if self._stopped is not None:
            raise StoreUnavailableError(self._stopped, retry_after=STOPPED_SECONDS)
        with self._database.write():
            pass

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

    def _hash(self, content: bytes, person: bytes) -> bytes:
        return hashlib.blake2b(
            content, digest_size=HASH_BYTES, key=self._fixed.secret, person=person
        ).digest()

    def _empty_log(self) -> None:
        """Move the write-ahead log into the file and cut it; a busy one is cut the next time."""
        with contextlib.suppress(StoreUnavailableError):
            self._database.empty_log()


def _read_state(connection: Connection) -> _State:
    return _State(*connection.exec_driver_sql(f"SELECT {STATE} FROM relay").one())


def _make_tables(connection: Connection, campaign: str, width: int, batch_size: int) -> None:
    """Create what a new file needs; refuse a file of something else."""
    version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
    if version == VERSION:
        return
    used = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    if version or used:
        raise StoreError(
            "the database of a relay must be its own, made by this version of shoal: choose "
            "another file"
        )
    for statement in TABLES:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(
        f"INSERT INTO relay ({STATE}) VALUES (?, ?, ?, ?, 0, 0, 0, 0)",
        (campaign, secrets.token_bytes(SECRET_BYTES), width, batch_size),
    )
    connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")
