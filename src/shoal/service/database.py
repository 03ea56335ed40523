"""One door to the database: SQLite or PostgreSQL, durable or refused, errors in plain words.

Every connection is made to flush a commit to the disk before it returns (`synchronous=FULL` in
SQLite, `synchronous_commit` in PostgreSQL) and is asked whether it does; one that does not is never
used. Statements wait a bounded time for locks and networks.
"""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from sqlite3 import OperationalError as SQLiteOperationalError

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from shoal._optional import require
from shoal.exceptions import ParameterError, StoreError, StoreUnavailableError

__all__ = ["LOCK_SECONDS", "Database"]

LOCK_SECONDS = 5.0  # how long a statement waits for another writer
DISK_RETRY_SECONDS = 30  # space is made by people, locks and connections come back by themselves
RETRY_SECONDS = 1

# What SQLite is told on every connection, and then asked. A checkpoint flushes twice: one for
# 16 MB of log is rare enough, and small enough to read a log of that size again after a crash.
SQLITE_PRAGMAS: dict[str, str | int] = {
    "busy_timeout": int(LOCK_SECONDS * 1000),
    "journal_mode": "wal",
    "synchronous": 2,  # FULL: the log is flushed at every commit
    "fullfsync": 1,  # macOS flushes the drive only when told so
    "wal_autocheckpoint": 4096,
    "journal_size_limit": 64 * 2**20,
    "cache_size": -16_384,  # kB of each connection
}
SQLITE_DURABLE: dict[str, str | int] = {"journal_mode": "wal", "synchronous": 2}

POSTGRES_SETTINGS = {
    "lock_timeout": f"{LOCK_SECONDS:g}s",
    "statement_timeout": "60s",
    # A stopped server process must not keep its locks from the others.
    "idle_in_transaction_session_timeout": "60s",
    "timezone": "UTC",
}
POSTGRES_CONNECT = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "keepalives_idle": 30}
POSTGRES_DURABLE = {
    "fsync": ("on",),
    "synchronous_commit": ("on", "remote_apply"),
}

REASONS = {
    "SQLITE_BUSY": "it is locked by another process",
    "SQLITE_LOCKED": "it is locked by another process",
    "SQLITE_FULL": "its disk is full",
    "SQLITE_IOERR": "its disk cannot be written or read",
    "SQLITE_CANTOPEN": "its file cannot be opened",
    "SQLITE_READONLY": "its file is read-only",
    "SQLITE_NOTADB": "its file is not a database",
    "SQLITE_CORRUPT": "its file is damaged",
    "53": "it has no space, memory or connection left",
    "55P03": "it is locked by another process",
    "57014": "it took too long",
    "40": "another transaction came first",
}


class Database:
    """A database that is used in transactions, each for reading or for writing.

    Parameters
    ----------
    url : str
        ``sqlite:///path`` or ``postgresql+psycopg://user:password@host/name``.
    pragmas : mapping, default=None
        Pragmas that are set and verified on every connection to SQLite, in addition to those that
        make it durable.

    Examples
    --------
    >>> import tempfile
    >>> from sqlalchemy import text
    >>> from shoal.service import Database
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     database = Database(f"sqlite:///{folder}/reports.db")
    ...     with database.read() as connection:
    ...         print(connection.execute(text("SELECT 1 + 1")).scalar())
    ...     database.close()
    2
    """

    def __init__(self, url: str, *, pragmas: Mapping[str, str | int] | None = None) -> None:
        self.url = _parse_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            _create_private_file(self.url)
            self._engine = _sqlite_engine(self.url, pragmas or {})
        else:
            self._engine = _postgres_engine(self.url)
        self._writing = self._engine.execution_options(shoal_writes=True)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction for reading; StoreUnavailableError if the database cannot be read."""
        with self._plain_errors(), self._engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction for writing, committed at the end of the block or rolled back.

        In SQLite it holds the write lock from its start.
        """
        with self._plain_errors(), self._writing.begin() as connection:
            yield connection

    def empty_log(self) -> None:
        """Move the write-ahead log of SQLite into the database file, and empty the log.

        Pages in the log are in the order of commits. A log that others are reading is left alone.
        """
        with self._plain_errors(), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections that are not in use."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn errors of the drivers, which quote values, into one line of our own."""
        try:
            yield
        except DBAPIError as error:
            raise self._unavailable(error) from None
        except PoolTimeoutError:
            raise StoreUnavailableError(
                "the database cannot be used now: all its connections are busy",
                retry_after=RETRY_SECONDS,
            ) from None

    def _unavailable(self, error: DBAPIError) -> StoreUnavailableError:
        """Return the error that a caller sees: a reason, no SQL, no values, no password."""
        code = getattr(error.orig, "sqlite_errorname", None) or getattr(
            error.orig, "sqlstate", None
        )
        reason = next((REASONS[start] for start in REASONS if (code or "").startswith(start)), code)
        if code is None or error.connection_invalidated:
            reason = "the connection was lost or refused"
            _, fatal, said = str(error.orig).partition("FATAL:")
            if fatal:  # what the server says to people who connect, such as a wrong password
                reason += f" ({said.strip().splitlines()[0]})"
        if self.url.password:
            reason = str(reason).replace(str(self.url.password), "***")
        disk = (code or "").startswith(("SQLITE_FULL", "SQLITE_IOERR", "53"))
        return StoreUnavailableError(
            f"the database cannot be used now: {reason}",
            retry_after=DISK_RETRY_SECONDS if disk else RETRY_SECONDS,
        )


def _parse_url(text: str) -> URL:
    """Read the URL of a database; no message quotes it, since it may hold a password."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # the latter quotes what should be a port
        url = None
    if url is not None and url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    if url is None or url.drivername not in {"sqlite", "postgresql+psycopg"}:
        given = "another text" if url is None else f"{url.drivername}://"
        raise ParameterError(
            "url must be sqlite:///path or postgresql+psycopg://user:password@host/name, "
            f"got {given}",
        )
    if url.drivername == "sqlite" and url.database in {None, "", ":memory:"}:
        raise ParameterError(
            "url must name a file (sqlite:///path): a database in memory keeps nothing",
        )
    return url


def _create_private_file(url: URL) -> None:
    """Create the file of a SQLite database for its owner alone; its log files follow its mode."""
    path = Path(str(url.database))
    if not path.parent.is_dir():
        raise ParameterError(f"url must name a file in a folder that exists, got {path}")
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _sqlite_engine(url: URL, pragmas: Mapping[str, str | int]) -> Engine:
    """Return an engine on SQLite whose every connection is durable."""
    engine = create_engine(
        url,
        hide_parameters=True,
        connect_args={"timeout": LOCK_SECONDS, "isolation_level": None},
        pool_timeout=LOCK_SECONDS,
    )

    @event.listens_for(engine, "connect")
    def _settle(connection: SQLiteConnection, _record: ConnectionPoolEntry) -> None:
        for name, value in {**SQLITE_PRAGMAS, **pragmas}.items():
            _patiently(connection, f"PRAGMA {name}={value}")
        for name, value in SQLITE_DURABLE.items():
            (found,) = connection.execute(f"PRAGMA {name}").fetchone()
            if found != value:
                raise StoreError(
                    f"the database must keep what it acknowledged: {name} must be {value}, "
                    f"got {found}; use a disk of this machine, no network folder"
                )
        for name, value in pragmas.items():
            (found,) = connection.execute(f"PRAGMA {name}").fetchone()
            if found != value:
                raise StoreError(f"the database must take {name}={value}, got {found}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("shoal_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _patiently(connection: SQLiteConnection, statement: str) -> None:
    """Run a statement that may not wait for locks by itself, as the change to WAL does not."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute(statement)
        except SQLiteOperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _postgres_engine(url: URL) -> Engine:
    """Return an engine on PostgreSQL whose every connection is durable."""
    require("psycopg", extra="serve")
    engine = create_engine(
        url,
        hide_parameters=True,
        connect_args=dict(POSTGRES_CONNECT),
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_timeout=LOCK_SECONDS,
    )

    @event.listens_for(engine, "connect")
    def _settle(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for name, value in POSTGRES_SETTINGS.items():
            cursor.execute(f"SET {name} = '{value}'")
        found = _postgres_setting(connection, "synchronous_commit")
        if found not in POSTGRES_DURABLE["synchronous_commit"]:
            cursor.execute("SET synchronous_commit = on")
        for name, values in POSTGRES_DURABLE.items():
            found = _postgres_setting(connection, name)
            if found not in values:
                raise StoreError(
                    f"the database must keep what it acknowledged: {name} must be {values[0]}, "
                    f"got {found}; change it in postgresql.conf"
                )
        connection.commit()

    return engine


def _postgres_setting(connection: DBAPIConnection, name: str) -> str:
    """Return a setting as it is in force on a connection."""
    cursor = connection.cursor()
    cursor.execute(f"SHOW {name}")
    (value,) = cursor.fetchone() or ("",)
    return str(value)
