"""The one file of a device: documents that it agreed to, what it spent, and its reports.

It is an SQLite database in rollback mode. A transaction is on the disk before it ends, the name of
its journal in the folder included: what was kept survives the process and
the power. Processes and threads take turns, and a transaction that is stopped leaves no trace.

No record is in it. A value is named by a hash that is keyed by a secret of this file, so it is not
read in passing; whoever holds the file can still try out guesses. Every row carries a hash of
itself, so that a changed digit is noticed. A file that is damaged, or empty, is refused and never
replaced: in a new one every value would be a new question.
"""

import contextlib
import hashlib
import os
import secrets
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from shoal._file_locks import lock_file
from shoal._files import hidden_sibling, sync_folder
from shoal.campaigns import PublicKey
from shoal.exceptions import LedgerFileError, ParameterError

__all__ = ["Agreed", "DeviceFile", "KeptReport", "Published", "Rows"]

FORMAT = 1
APPLICATION = 0x53484F4C  # in the header of the file
SECRET_BYTES = 32
SEAL_BYTES = 16
SYNCHRONOUS = "EXTRA"  # FULL may forget, with the power, that a journal was removed
LOCK_SECONDS = 30.0  # others hold the file for milliseconds
SCHEMA = """
CREATE TABLE device (public_key TEXT NOT NULL, secret BLOB NOT NULL, seal BLOB NOT NULL);
CREATE TABLE campaigns (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL, envelope BLOB NOT NULL, url TEXT,
    device_id TEXT NOT NULL, seal BLOB NOT NULL
);
CREATE TABLE counts (campaign TEXT PRIMARY KEY, drawn INTEGER NOT NULL, seal BLOB NOT NULL);
CREATE TABLE documents (campaign TEXT NOT NULL, digest TEXT NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (campaign, digest)
);
CREATE TABLE reports (
    key TEXT PRIMARY KEY, campaign TEXT NOT NULL, mechanism TEXT NOT NULL, value BLOB NOT NULL,
    body BLOB NOT NULL, sealed BLOB, notion TEXT NOT NULL, unit TEXT NOT NULL,
    epsilon REAL NOT NULL, slack REAL NOT NULL, acknowledged INTEGER NOT NULL, seal BLOB NOT NULL,
    UNIQUE (campaign, mechanism, value)
);
CREATE TABLE results (
    campaign TEXT PRIMARY KEY, digest TEXT NOT NULL, release TEXT NOT NULL, seal BLOB NOT NULL
);
"""
# Of SQLite, and of its words about a damaged file, which quote bytes of it that may be no text.
FAILURES = (sqlite3.Error, UnicodeDecodeError)
# What SQLite says where the file is whole but cannot be used now.
UNUSABLE = {
    "SQLITE_BUSY": "others hold it",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk does not answer",
    "SQLITE_PERM": "it may not be opened",
    "SQLITE_READONLY": "it may not be written",
}


class Agreed(NamedTuple):
    """A campaign, and the document of it that this device agreed to last."""

    id: str
    digest: str
    envelope: bytes
    url: str | None
    device_id: str


class Count(NamedTuple):
    """How many reports of a campaign were drawn, so that a missing one is noticed."""

    campaign: str
    drawn: int


class Document(NamedTuple):
    """A document that this device agreed to, by its digest."""

    campaign: str
    digest: str


class KeptReport(NamedTuple):
    """A report: what it answers, its bytes and key, what it cost, and whether it arrived.

    Where there is a shuffler, ``sealed`` is sent: sealing again would make another report of it.
    """

    key: str
    campaign: str
    mechanism: str
    value: bytes
    body: bytes
    sealed: bytes | None
    notion: str
    unit: str
    epsilon: float
    slack: float
    acknowledged: int


class Published(NamedTuple):
    """Results as they were fetched last, and the digest of the document that they answer."""

    campaign: str
    digest: str
    release: str


Row = Agreed | Count | Document | KeptReport | Published
AnyRow = TypeVar("AnyRow", Agreed, Count, Document, KeptReport, Published)
TABLES: dict[type[Row], str] = {
    Agreed: "campaigns",
    Count: "counts",
    Document: "documents",
    KeptReport: "reports",
    Published: "results",
}


class Rows:
    """The rows of a file within one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._secret = b""
        (row,) = self._select("SELECT public_key, secret, seal FROM device") or [("", b"", b"")]
        self.public_key = str(row[0])
        self._secret = row[1] if isinstance(row[1], bytes) else b""
        if len(self._secret) != SECRET_BYTES or row[2] != self._seal("device", row[:2]):
            raise damaged(path)

    def campaigns(self) -> list[Agreed]:
        """Return all campaigns that were agreed to, by name; refuse if one is missing."""
        agreed = self._rows(Agreed, "ORDER BY id")
        if {one.id for one in agreed} != {count.campaign for count in self._rows(Count, "")}:
            raise damaged(self._path)
        return agreed

    def campaign(self, name: str) -> Agreed | None:
        """Return a campaign with the document that was agreed to last."""
        return next(iter(self._rows(Agreed, "WHERE id = ?", name)), None)

    def agree(self, agreed: Agreed) -> None:
        """Keep the document that is followed from now on."""
        if self.campaign(agreed.id) is None:
            self._write(Count(agreed.id, 0))
        self._write(agreed)
        self._write(Document(agreed.id, agreed.digest))

    def digests(self, campaign: str) -> set[str]:
        """Return the digests of all documents of a campaign that were agreed to."""
        return {row.digest for row in self._rows(Document, "WHERE campaign = ?", campaign)}

    def reports(self, campaign: str | None = None) -> list[KeptReport]:
        """Return the reports of a campaign, or of all, oldest first; refuse if one is missing."""
        rows = self._rows(KeptReport, "ORDER BY rowid")
        counts = Counter(row.campaign for row in rows)
        noted = {count.campaign: count.drawn for count in self._rows(Count, "")}
        if noted != {name: counts.pop(name, 0) for name in noted} or counts:
            raise damaged(self._path)
        return rows if campaign is None else [row for row in rows if row.campaign == campaign]

    def find(self, campaign: str, mechanism: str, value: bytes) -> KeptReport | None:
        """Return what was reported of a value before."""
        where = "WHERE campaign = ? AND mechanism = ? AND value = ?"
        return next(iter(self._rows(KeptReport, where, campaign, mechanism, value)), None)

    def keep(self, report: KeptReport) -> None:
        """Keep a new report, and count it."""
        (count,) = self._rows(Count, "WHERE campaign = ?", report.campaign)
        self._write(report)
        self._write(Count(report.campaign, count.drawn + 1))

    def acknowledge(self, key: str) -> None:
        """Note that a report has arrived."""
        for row in self._rows(KeptReport, "WHERE key = ?", key):
            sealed = row._replace(acknowledged=1)
            self._connection.execute(
                "UPDATE reports SET acknowledged = 1, seal = ? WHERE key = ?",
                (self._seal("reports", sealed), key),
            )

    def results(self, campaign: str) -> Published | None:
        """Return the results that were fetched last."""
        return next(iter(self._rows(Published, "WHERE campaign = ?", campaign)), None)

    def keep_results(self, published: Published) -> None:
        """Keep results in place of those before."""
        self._write(published)

    def name_value(self, campaign: str, value: bytes) -> bytes:
        """Return the keyed hash of a value: without the key it says nothing."""
        return self._seal("value", (campaign, value))

    def check(self) -> None:
        """Refuse a file in which anything was changed or is missing."""
        whole = self._select("PRAGMA quick_check")
        if whole != [("ok",)]:
            raise damaged(self._path)
        self._rows(Document, "")
        self._rows(Published, "")
        self.campaigns()
        self.reports()

    def _select(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values).fetchall()

    def _rows(self, kind: type[AnyRow], where: str, *values: Any) -> list[AnyRow]:
        table, names = TABLES[kind], ", ".join(kind._fields)
        rows = []
        for *row, seal in self._select(f"SELECT {names}, seal FROM {table} {where}", *values):
            if seal != self._seal(table, row):
                raise damaged(self._path)
            rows.append(kind(*row))
        return rows

    def _write(self, row: Row) -> None:
        table = TABLES[type(row)]
        names = ", ".join((*row._fields, "seal"))
        marks = ", ".join("?" * (len(row) + 1))
        insert = "INSERT" if isinstance(row, KeptReport) else "INSERT OR REPLACE"
        self._connection.execute(
            f"{insert} INTO {table} ({names}) VALUES ({marks})", (*row, self._seal(table, row))
        )

    def _seal(self, purpose: str, values: Any) -> bytes:
        return _seal(self._secret, purpose, values)


class DeviceFile:
    """The file of one device, made where it is not there.

    Parameters
    ----------
    path : path-like
        A file that only its owner may read.
    public_key : PublicKey or None
        The key that it is pinned to; None takes that of a file that exists.
    """

    def __init__(self, path: "str | os.PathLike[str]", public_key: PublicKey | None) -> None:
        self.path = Path(path).absolute()
        if not os.path.lexists(self.path):
            if public_key is None:
                raise ParameterError(
                    f"public_key must be given for a new file, got None and {str(self.path)!r}"
                )
            self._create(public_key)
        with self.transaction(write=False) as rows:
            rows.check()
            pinned = rows.public_key
        if public_key is not None and pinned != str(public_key):
            raise ParameterError(
                f"public_key must be the one that {str(self.path)!r} is pinned to, {pinned}, got "
                f"{public_key}: campaigns of another key need a file of their own"
            )
        self.public_key = PublicKey.from_text(pinned)

    @contextlib.contextmanager
    def transaction(self, *, write: bool) -> Iterator[Rows]:
        """Read, or change all or nothing; with ``write`` nobody else changes anything meanwhile."""
        try:
            connection = _connect(self.path)
        except FAILURES as failure:
            raise self._refusal(failure) from None
        try:
            _check_header(connection, self.path)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield Rows(connection, self.path)
            connection.execute("COMMIT")
        except FAILURES as failure:
            raise self._refusal(failure) from None
        finally:
            connection.close()  # what was not committed is undone

    def _create(self, public_key: PublicKey) -> None:
        """Make the file whole under another name; where two do, the first one counts."""
        part = hidden_sibling(self.path)
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = _connect(part)
            secret = secrets.token_bytes(SECRET_BYTES)
            row = (str(public_key), secret)
            try:
                connection.execute("BEGIN")
                for statement in SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO device VALUES (?, ?, ?)", (*row, _seal(secret, "device", row))
                )
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.execute("COMMIT")
            finally:
                connection.close()
            _name_once(part, self.path)
            sync_folder(self.path.parent)
        except OSError as failure:
            raise _unusable(self.path, failure.strerror or "it cannot be made") from failure
        except sqlite3.Error as failure:
            raise self._refusal(failure) from None
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def _refusal(self, failure: Exception) -> LedgerFileError:
        # The text of a failure may hold what is in the file; its name does not.
        name = getattr(failure, "sqlite_errorname", "") or ""
        family = "_".join(name.split("_")[:2])
        return _unusable(self.path, UNUSABLE[family]) if family in UNUSABLE else damaged(self.path)


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database that is there; another connection each time, so that forks share none."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=LOCK_SECONDS, isolation_level=None
    )
    try:
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_header(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise damaged(path)
    if version != FORMAT:
        raise LedgerFileError(
            f"{path} must be of format {FORMAT}, got {version}: open it with the version of shoal "
            "that wrote it"
        )


def _name_once(part: Path, path: Path) -> None:
    """Give a whole file its name, unless another one has it by now."""
    try:
        os.link(part, path)
    except FileExistsError:
        return
    except (OSError, AttributeError):  # no hard links here, as on Android
        _rename_once(part, path)


def _rename_once(part: Path, path: Path) -> None:
    """Rename a file, never over another one, in which something may be spent already."""
    if sys.platform == "win32":
        with contextlib.suppress(FileExistsError):
            part.rename(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a browser has no locks, and no other process
            lock_file(folder, exclusive=True)
        if not path.exists():
            part.replace(path)
    finally:
        os.close(folder)


def _seal(secret: bytes, purpose: str, values: Any) -> bytes:
    """Return a keyed hash of values, each with its type and length."""
    digest = hashlib.blake2b(key=secret, digest_size=SEAL_BYTES, person=purpose.encode())
    for value in values:
        text = value if isinstance(value, bytes) else repr(value).encode()
        kind = type(value).__name__.encode()
        digest.update(b"%b %d %b" % (kind, len(text), text))
    return digest.digest()


def _unusable(path: Path, reason: str) -> LedgerFileError:
    return LedgerFileError(f"{path} cannot keep reports: {reason}; nothing was spent or sent")


def damaged(path: Path) -> LedgerFileError:
    """Return the refusal of a file that is not as it was written."""
    return LedgerFileError(
        f"{path} is damaged or no file of a device: restore it, or choose another path, where each "
        "value is a new spend"
    )
