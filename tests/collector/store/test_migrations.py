"""Tables are made and upgraded at opening, by one process, and never by an older version."""

import multiprocessing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from shoal.collector.store import Store
from shoal.collector.store.migrations import VERSION_TABLE
from shoal.collector.store.models import METADATA
from shoal.exceptions import StoreError
from shoal.service import Database

PROCESSES = multiprocessing.get_context("fork")  # a new interpreter would load for seconds
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def differences(database):
    options = {
        "version_table": VERSION_TABLE,
        "compare_type": True,
        "compare_server_default": True,
    }
    with database.read() as connection:
        return compare_metadata(MigrationContext.configure(connection, opts=options), METADATA)


def open_and_close(url, start):
    start.wait(30)
    Store.open(url).close()


def test_models_and_migrations_agree(database_url):
    with Store.open(database_url) as store:
        assert differences(store._database) == []


def test_a_difference_is_seen(database_url):
    with Store.open(database_url) as store:
        with store._database.write() as connection:
            connection.execute(text("ALTER TABLE tokens DROP COLUMN name"))
        (found,) = differences(store._database)
    assert found[0] == "add_column"


def test_a_database_of_a_later_version_is_refused(database_url):
    with Store.open(database_url) as store, store._database.write() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = 'r9999'"))
    with pytest.raises(StoreError, match=r"later version of shoal \(tables r9999\): upgrade shoal"):
        Store.open(database_url)


def test_an_upgrade_that_fails_leaves_nothing(database_url):
    """A table of another program is in the way: none of ours is made."""
    database = Database(database_url)
    with database.write() as connection:
        connection.execute(text("CREATE TABLE tokens (other integer)"))
    with pytest.raises(StoreError):
        Store.open(database_url)
    with database.write() as connection:
        connection.execute(text("DROP TABLE tokens"))
    with Store.open(database_url) as store:
        assert differences(store._database) == []
    database.close()


def test_processes_that_start_together_make_the_tables_once(database_url):
    start = PROCESSES.Barrier(4)
    processes = [
        PROCESSES.Process(target=open_and_close, args=(database_url, start)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    with Store.open(database_url) as store:
        assert differences(store._database) == []
