"""Create or upgrade the tables when a database is opened, one process at a time."""

import functools
from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from shoal.collector.store.models import METADATA
from shoal.exceptions import StoreError
from shoal.service import Database

__all__ = ["VERSION_TABLE", "is_current", "upgrade_tables"]

VERSION_TABLE = "shoal_schema"  # a name of our own, should the database be shared
UPGRADE_LOCK = 0x73686F616C  # "shoal": the advisory lock that those who upgrade take in PostgreSQL


def upgrade_tables(database: Database) -> None:
    """Bring the tables up to this version of shoal; refuse those of a later one.

    Any number of processes may call it at once: the first does the work in one transaction, the
    others wait.
    """
    with database.read() as connection:
        if is_current(connection):
            return
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})"))
        if not is_current(connection):
            _run(connection, _scripts())


def is_current(connection: Connection) -> bool:
    """Return whether the tables are those of this version; StoreError if of a later one."""
    scripts = _scripts()
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    revision = context.get_current_revision()
    known = {script.revision for script in scripts.walk_revisions()}
    if revision is not None and revision not in known:
        raise StoreError(
            f"the database was written by a later version of shoal (tables {revision}): "
            "upgrade shoal, or open another database"
        )
    return revision == scripts.get_current_head()


@functools.cache
def _scripts() -> ScriptDirectory:
    """Return the migration scripts of this package."""
    folder = Path(__file__).parent
    return ScriptDirectory(str(folder), version_locations=[str(folder / "versions")])


def _run(connection: Connection, scripts: ScriptDirectory) -> None:
    """Run the scripts that are missing, inside the transaction of this connection."""

    def missing(revision: str, _context: MigrationContext) -> list[RevisionStep]:
        return scripts._upgrade_revs("head", revision)

    with EnvironmentContext(Config(), scripts, fn=missing) as environment:
        environment.configure(
            connection=connection, target_metadata=METADATA, version_table=VERSION_TABLE
        )
        environment.run_migrations()
