"""A database is durable or refused; locked, full or away is one clear error that passes."""

import os
import secrets
import stat
import subprocess
import threading
import time
import traceback
from contextlib import contextmanager

import pytest
from sqlalchemy import event, text

from helpers.campaigns import signed_campaign
from helpers.submissions import submission
from shoal.collector.store import Outcome, Store
from shoal.exceptions import ParameterError, StoreError, StoreUnavailableError
from shoal.service import database

STORED, DUPLICATE, _, _ = Outcome
PATIENCE = 30.0  # seconds: far beyond any limit that is set here


def filled(store):
    """Return a store with a campaign and one submission in it."""
    store.add_campaign(signed_campaign("homes"))
    assert store.append([submission("homes", 0)]) == [STORED]
    return store


def is_refused(store, group, message):
    """Check that a group is refused in a bounded time, and return the error."""
    start = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=message) as refused:
        store.append(group)
    assert time.monotonic() - start < PATIENCE
    return refused.value


@pytest.fixture
def impatient(monkeypatch):
    """Let connections that are made from now on wait for locks a moment only."""
    monkeypatch.setitem(database.SQLITE_PRAGMAS, "busy_timeout", 50)
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.05)
    monkeypatch.setitem(database.POSTGRES_SETTINGS, "lock_timeout", "50ms")


def test_every_connection_of_sqlite_is_durable(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        engine = store._database._engine
        connections = [engine.connect() for _ in range(4)]
        for connection in connections:
            for name, value in (("journal_mode", "wal"), ("synchronous", 2)):
                assert connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() == value
            connection.close()


@pytest.mark.parametrize(
    ("name", "value"), [("synchronous", 1), ("synchronous", 0), ("journal_mode", "delete")]
)
def test_sqlite_that_may_lose_a_commit_is_refused(tmp_path, monkeypatch, name, value):
    monkeypatch.setitem(database.SQLITE_PRAGMAS, name, value)
    with pytest.raises(StoreError, match=f"must keep what it acknowledged: {name} must be"):
        Store.open(f"sqlite:///{tmp_path}/a.db")


def test_every_connection_of_postgres_is_durable(postgres):
    """Also where the database itself says otherwise, as its owner may."""
    with postgres.database() as name:
        with postgres.connect() as connection:
            connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        with Store.open(postgres.url(name)) as store, store._database.read() as connection:
            assert connection.execute(text("SHOW synchronous_commit")).scalar_one() == "on"


def test_postgres_that_may_lose_a_commit_is_refused(postgres, monkeypatch):
    monkeypatch.setitem(database.POSTGRES_DURABLE, "fsync", ("always",))
    with (
        postgres.database() as name,
        pytest.raises(StoreError, match="fsync must be always, got on"),
    ):
        Store.open(postgres.url(name))


def test_files_are_for_their_owner_alone(tmp_path):
    mask = os.umask(0)
    try:
        with filled(Store.open(f"sqlite:///{tmp_path}/a.db")):
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(mask)
    assert modes == dict.fromkeys(["a.db", "a.db-wal", "a.db-shm"], 0o600)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://ada:hunter2@host/name", r"url must be sqlite:///path or .*, got mysql://"),
        ("postgresql://host:hunter2/name", "got another text"),
        ("ada:hunter2@host", "got another text"),
        ("sqlite://", "must name a file"),
        ("sqlite:///:memory:", "must name a file"),
        ("sqlite:////nowhere/at/all.db", "folder that exists"),
    ],
)
def test_urls_that_are_refused(url, message):
    with pytest.raises(ParameterError, match=message) as refused:
        Store.open(url)
    assert "hunter2" not in str(refused.value)


def test_passwords_are_in_no_error(postgres, caplog):
    """Refused by the server, and with nobody there."""
    secret = secrets.token_hex(16)
    right = postgres.url("postgres")
    wrong = right.replace(postgres.password, secret)
    nobody = wrong.replace(f":{postgres.port}/", ":1/")
    nothing = postgres.url("nothing")
    for url, message in (
        (wrong, "password authentication failed"),
        (nobody, "lost or refused"),
        (nothing, "does not exist"),
    ):
        with pytest.raises(StoreUnavailableError, match=message) as refused:
            Store.open(url)
        shown = "".join(traceback.format_exception(refused.value))
        assert "StoreUnavailableError" in shown
        assert secret not in shown
        assert postgres.password not in shown
    assert caplog.text == ""


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "a.db"
    path.write_text("name,age\n" * 1000)
    with pytest.raises(StoreUnavailableError, match="its file is not a database"):
        Store.open(f"sqlite:///{path}")


def test_no_error_holds_a_value_of_a_report(database_url):
    """Not even one that comes from the database itself."""
    with filled(Store.open(database_url)) as store:
        with store._database.write() as connection:
            connection.execute(text("DROP TABLE submissions"))
        secret = submission("homes", 1)
        error = is_refused(store, [secret], "the database cannot be used now")
    shown = f"{error!r} {error.__cause__!r}"
    assert error.__suppress_context__
    assert repr(secret.body)[2:-1] not in shown
    assert "INSERT" not in shown


@pytest.mark.usefixtures("impatient")
def test_a_locked_database_is_refused_in_time(database_url):
    with filled(Store.open(database_url)) as store:
        locked, released = threading.Event(), threading.Event()

        def lock():
            with Store.open(database_url) as other, other._database.write() as connection:
                connection.execute(text("UPDATE tallies SET n_reports = n_reports"))
                locked.set()
                assert released.wait(PATIENCE)

        thread = threading.Thread(target=lock)
        thread.start()
        assert locked.wait(PATIENCE)
        error = is_refused(store, [submission("homes", 1)], "locked by another process")
        assert error.retry_after == 1
        assert store.count("homes") == 4  # who reads is not locked out
        released.set()
        thread.join()
        assert store.append([submission("homes", 1)]) == [STORED]
        assert store.count("homes") == 8


def test_connections_that_are_lost_come_back(postgres):
    """Ended by an administrator while nobody writes, and in the middle of a transaction."""
    with postgres.database() as name, filled(Store.open(postgres.url(name))) as store:

        def end_all():
            with postgres.connect() as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                    [name],
                )

        end_all()
        assert store.append([submission("homes", 1)]) == [STORED]

        event.listen(store._database._engine, "commit", lambda _: end_all(), once=True)
        group = [submission("homes", number) for number in range(2, 5)]
        is_refused(store, group, "the connection was lost")
        assert store.count("homes") == 8
        assert store.append(group) == [STORED] * 3
        postgres.restart()
        assert store.append(group) == [DUPLICATE] * 3
        assert store.count("homes") == 20


def test_a_full_database_is_refused_and_works_again(tmp_path):
    """The same error as that of a full disk, from a limit of SQLite's own."""
    with filled(Store.open(f"sqlite:///{tmp_path}/a.db")) as store:
        connection = store._database._engine.raw_connection()
        cursor = connection.cursor()
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count={pages}")
        connection.close()  # back to the pool, with its limit
        large = submission("homes", 1, n_reports=50_000)
        error = is_refused(store, [submission("homes", 2), large], "its disk is full")
        assert error.retry_after == database.DISK_RETRY_SECONDS
        assert store.count("homes") == 4
        store._database._engine.dispose()
        assert store.append([submission("homes", 2), large]) == [STORED, STORED]
        assert store.count("homes") == 4 + 4 + 50_000


@contextmanager
def small_disk(folder, size="2m"):
    """Mount a small disk in memory; skip where nobody may."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


MANY = 50_000  # reports of a submission that fills a disk


def fill_up(store):
    """Store submissions until the disk is full; return how many were acknowledged."""
    for number in range(1, 1000):
        group = [submission("homes", number, n_reports=MANY)]
        try:
            store.append(group)
        except StoreUnavailableError:
            error = is_refused(store, group, "space|disk")
            assert error.retry_after == database.DISK_RETRY_SECONDS
            return number - 1
    raise AssertionError("the disk is never full")


def test_a_full_disk_loses_nothing(tmp_path):
    with small_disk(tmp_path):
        ballast = tmp_path / "ballast"
        ballast.write_bytes(bytes(2**19))
        with filled(Store.open(f"sqlite:///{tmp_path}/a.db")) as store:
            stored = fill_up(store)
            assert stored > 0
            assert store.count("homes") == 4 + MANY * stored
            ballast.unlink()
            lost = submission("homes", stored + 1, n_reports=MANY)
            assert store.append([lost, submission("homes", 1, n_reports=MANY)]) == [
                STORED,
                DUPLICATE,
            ]
            assert sum(map(len, store.blocks("homes"))) == 2 * (4 + MANY * (stored + 1))


@pytest.mark.full
def test_a_full_disk_of_postgres_loses_nothing(postgres):
    """Tables on a small disk of their own, as a tablespace."""
    folder = postgres.folder / "small"
    folder.mkdir()
    with small_disk(folder, "12m"):
        os.chown(folder, (postgres.folder / "data").stat().st_uid, -1)
        with postgres.connect() as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            with postgres.database() as name:
                connection.execute(f"ALTER DATABASE {name} SET default_tablespace = small")
                with filled(Store.open(postgres.url(name))) as store:
                    ballast = folder / "ballast"
                    ballast.write_bytes(bytes(2**21))
                    stored = fill_up(store)
                    assert store.count("homes") == 4 + MANY * stored
                    ballast.unlink()
                    lost = submission("homes", stored + 1, n_reports=MANY)
                    assert store.append([lost]) == [STORED]
                    assert sum(map(len, store.blocks("homes"))) == 2 * store.count("homes")
            connection.execute("DROP TABLESPACE small")
