"""What a studio holds while it runs: tables, what was bought of them, and running work.

All of it is in the memory of the process. A table is written to no file, log or temporary folder;
when the studio ends, it is gone.
"""

import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.cluster import PrivateCopy
from shoal.privacy import Ledger, PrivacyUnit
from shoal.schema import Schema
from shoal.service import EventLog, RefusedError
from shoal.studio.jobs import Jobs
from shoal.studio.purchases import UNDER_WAY, Purchases
from shoal.studio.settings import StudioSettings

if TYPE_CHECKING:
    from shoal.studio.releases import StudioRelease

__all__ = ["StudioTable", "Workspace", "ledger_summary"]

TrustModel = Literal["central", "local", "shuffled"]
MAX_TABLES = 16
FULL = (
    f"The studio holds {MAX_TABLES} tables of which something was bought: save what you need, and "
    "forget one on the page Table."
)


@dataclass
class StudioTable:
    """One table: its records, which are private, and everything that was said about them.

    Parameters
    ----------
    id : str
        Random; in the address of pages.
    name : str
        Of the file or data set.
    source : {"upload", "file", "dataset", "made-up"}
        Where it comes from; "made-up" has no records, only a schema.
    columns : mapping of str to column
        Raw values by name, as :func:`shoal.tables.read_columns` returns them. Private.
    schema : Schema or None
        The public description, as the curator gave it.
    schema_from : {"", "dataset", "file", "curator"}
        Where the description comes from: with the data set, from a file, or by answers.
    unnamed : bool
        Whether nobody has said yet if the first line holds the names of the columns, which have
        numbers until then.
    trust_model : {"central", "local", "shuffled"}
        Who holds the records.
    records_per_user : int
        Rows of each person that count, where the schema has a column of users.
    n_guess : int
        The curator's public guess of the number of records: the true one is private.
    ledger : Ledger or None
        Charged for whatever is released of this table; None until a limit was set.
    copy : PrivateCopy or None
        The private copy that pages may try things on, once it was bought.
    releases : list of StudioRelease
        What was released, oldest first.
    """

    id: str
    name: str
    source: Literal["upload", "file", "dataset", "made-up"]
    columns: Mapping[str, Any]
    schema: Schema | None = None
    schema_from: Literal["", "dataset", "file", "curator"] = ""
    unnamed: bool = False
    trust_model: TrustModel = "central"
    records_per_user: int = 1
    n_guess: int = 5_000
    ledger: Ledger | None = None
    copy: PrivateCopy | None = None
    releases: list["StudioRelease"] = field(default_factory=list)
    # What pages computed from public values alone, kept so that a slider is quick; by their names.
    cache: dict[str, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Make room for purchases."""
        self.purchases = Purchases(self.id, lambda: self.ledger)

    def __repr__(self) -> str:
        return f"StudioTable(id={self.id!r}, source={self.source!r})"  # no record, no name

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a table of the studio holds raw records: it is never pickled")

    def to_dict(self) -> dict[str, Any]:
        """Return all that is public of the table, and its name, as pages read it."""
        schema, ledger = self.schema, self.ledger
        return {
            "id": self.id,
            "name": self.name,
            "source": self.source,
            "schema": None if schema is None else schema.to_dict(),
            "lacking": {} if schema is None else schema.lacking(),
            "complete": schema is not None and bool(schema.features) and not schema.lacking(),
            "schema_from": self.schema_from,
            "unnamed": self.unnamed,
            "user": None if schema is None or schema.user is None else schema.user.name,
            "bought": self.has_bought,
            "trust_model": self.trust_model,
            "records_per_user": self.records_per_user,
            "n_guess": self.n_guess,
            "has_records": bool(self.columns),
            "has_copy": self.copy is not None,
            "releases": len(self.releases),
            "ledger": None if ledger is None else ledger_summary(ledger),
        }

    @property
    def described(self) -> Schema:
        """The schema, or a refusal that says what is missing."""
        if self.schema is None:
            raise RefusedError(
                "invalid-parameter", "The table has no schema yet: describe it on the Table page."
            )
        return self.schema

    @property
    def charged(self) -> Ledger:
        """The ledger, or a refusal that says what is missing."""
        if self.ledger is None:
            raise RefusedError(
                "invalid-parameter",
                "The table has no ledger yet: set a limit on the Ledger page first.",
            )
        return self.ledger

    @property
    def has_bought(self) -> bool:
        """Whether anything of the table was released: its description stays as it is then."""
        return self.copy is not None or bool(self.releases) or self.purchases.count > 0

    @property
    def privacy_unit(self) -> PrivacyUnit:
        """Whom a release of this table protects."""
        if self.schema is None or self.schema.user is None:
            return PrivacyUnit()
        return PrivacyUnit.user(self.schema.user.name, max_rows=self.records_per_user)


def ledger_summary(ledger: Ledger) -> dict[str, Any]:
    """Return limits and what is left of them, as pages read it."""
    limits = ledger.limits
    return {
        "epsilon": limits.epsilon,
        "delta": limits.delta,
        "remaining": ledger.remaining,
        "used": ledger.used,
        "entries": len(ledger.entries),
        "spent": [str(promise) for promise in ledger.spent],
        "unit": str(limits.privacy_unit),
        "in_file": ledger.path is not None,
    }


class Workspace:
    """Tables, ledgers and running work of a studio.

    Parameters
    ----------
    settings : StudioSettings
        Settings, with the ledger, database and folders to use.
    log : EventLog, default=None
        Log of unexpected errors; None is the standard error of this process.

    Examples
    --------
    >>> from shoal.studio import StudioSettings, Workspace
    >>> workspace = Workspace(StudioSettings())
    >>> len(workspace.tables)
    0
    >>> workspace.close()
    """

    def __init__(self, settings: StudioSettings, log: EventLog | None = None) -> None:
        self.settings = settings
        self.jobs = Jobs(log)
        self.lock = threading.RLock()
        self.ledgers: dict[str, Ledger] = {}  # in memory, by what they call their tables
        self._tables: dict[str, StudioTable] = {}
        self._closers: list[Callable[[], None]] = []
        self.connect_origins: set[str] = set()  # of collectors that pages may call on

    def add(
        self,
        name: str,
        source: Literal["upload", "file", "dataset", "made-up"],
        columns: Mapping[str, Any],
        schema: Schema | None = None,
    ) -> StudioTable:
        """Add a table under a new random identifier.

        If there are too many, the oldest one of which nothing was bought is forgotten.
        """
        table = StudioTable(secrets.token_urlsafe(9), name, source, columns, schema)
        with self.lock:
            if len(self._tables) >= MAX_TABLES:
                self._forget_oldest()
            self._tables[table.id] = table
        return table

    def _forget_oldest(self) -> None:
        """Forget the oldest table that nothing was paid for, or refuse."""
        for table in self._tables.values():
            if not table.has_bought and table.purchases.forget(bought=False):
                del self._tables[table.id]
                return
        raise RefusedError("invalid-parameter", FULL)

    def get(self, identifier: str) -> StudioTable:
        """Return a table by its identifier; refuse an unknown one."""
        with self.lock:
            table = self._tables.get(identifier)
        if table is None:
            raise RefusedError(
                "not-found",
                "The studio no longer has this table: open the file again. Tables are kept only "
                "in memory and forgotten when the studio ends.",
            )
        return table

    def forget(self, identifier: str) -> None:
        """Drop a table and its records; refuse while something of it is bought."""
        with self.lock:
            table = self._tables.get(identifier)
            if table is not None and not table.purchases.forget(bought=True):
                raise RefusedError("ledger-changed", UNDER_WAY)
            self._tables.pop(identifier, None)

    @property
    def tables(self) -> tuple[StudioTable, ...]:
        """All tables, oldest first."""
        with self.lock:
            return tuple(self._tables.values())

    @property
    def folders(self) -> Iterable[Path]:
        """Folders with pages written by other commands."""
        return self.settings.folders

    def on_close(self, close: Callable[[], None]) -> None:
        """Register a function to call when the studio ends, the last registered first."""
        self._closers.append(close)

    def close(self) -> None:
        """Stop all work and forget all records."""
        self.jobs.end()
        while self._closers:
            self._closers.pop()()
        with self.lock:
            self._tables.clear()
