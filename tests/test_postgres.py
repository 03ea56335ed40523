"""The PostgreSQL of the tests: fresh for each of them, durable, and gone with the run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, text

from helpers.postgres import find_postgres, is_alive

MAKE = "CREATE TABLE seen (id integer)"
ABANDONED = """
import time
from helpers.postgres import PostgresServer, find_postgres
server = PostgresServer(find_postgres()).__enter__()
print(server.pid, server.folder, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("again", [0, 1])
def test_each_test_has_an_empty_database(database_url, again):
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text(MAKE))  # fails where it is there already
    engine.dispose()


def test_what_is_committed_survives_kill_and_restart(postgres):
    with postgres.database() as name:
        with postgres.connect(name) as connection:
            connection.execute(MAKE)
        for number, end in enumerate([postgres.kill, postgres.restart]):
            with postgres.connect(name) as connection:
                connection.execute("INSERT INTO seen VALUES (%s)", [number])
                end()
                with pytest.raises(psycopg.OperationalError):
                    connection.execute("SELECT 1")
            if not postgres.running:
                postgres.start()
        with postgres.connect(name) as connection:
            rows = connection.execute("SELECT id FROM seen ORDER BY id").fetchall()
        assert rows == [(0,), (1,)]


def test_a_killed_server_is_started_for_the_next_test(postgres):
    with postgres.database():
        postgres.kill()
        assert not postgres.running
    assert postgres.running


def test_it_is_not_open_to_others(postgres):
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"host=127.0.0.1 port={postgres.port} user=postgres password=wrong")
    assert postgres.folder.stat().st_mode & 0o077 == 0


def test_it_ends_with_whoever_started_it():
    find_postgres()
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", ABANDONED],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    ) as owner:
        pid, folder = owner.stdout.readline().decode().split()
        assert Path(folder, "data").exists()
        owner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while Path(folder).exists() or is_alive(int(pid)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
