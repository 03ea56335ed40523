"""The collector's store: single reports through group commit, beside what the database can commit.

`python benchmarks/collector_store.py` measures SQLite in a temporary folder; `--url` names another
database, which must be empty. "Bare" is the database's own driver, one row a commit, as durable as
the store. Reading back is of single-report submissions, the slowest kind.
"""

import argparse
import asyncio
import os
import resource
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import psycopg
from sqlalchemy import make_url

from shoal.campaigns import Campaign, SignedCampaign, SigningKey, open_campaign, sign_campaign
from shoal.collector.store import GroupCommit, Outcome, Store, Submission
from shoal.mechanisms import PartitionResponse

WAITERS = (1, 4, 16, 64, 256)
WIDTH = 2


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default=None)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rows", type=float, default=1e6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.url or f"sqlite:///{folder}/collector.db"
        bare = bare_commits(url, folder, options.seconds)
        print(f"bare database: {bare:,.0f} commits/s of one row")
        with Store.open(url) as store:
            store.add_campaign(campaign("intake"))
            for waiters in WAITERS:
                asyncio.run(intake(store, waiters, options.seconds, bare))
            store.add_campaign(campaign("reading"))
            reading(store, int(options.rows))


def campaign(name: str) -> SignedCampaign:
    """Return a campaign whose reports take two bytes."""
    made = Campaign(
        id=name,
        title="Where people live",
        purpose="Plan bus lines.",
        mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
        closes=datetime(2035, 1, 1, tzinfo=UTC),
        reports_url="https://example.org/reports",
        results_url="https://example.org/results",
    )
    key = SigningKey.new()
    return open_campaign(sign_campaign(made, key), key.public)


def bare_commits(url: str, folder: str, seconds: float) -> float:
    """Return how many commits of one row the driver does in a second."""
    table = "CREATE TABLE bare (key {0} PRIMARY KEY, body {0})"
    if url.startswith("sqlite"):
        connection = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(table.format("BLOB"))
        statement = "INSERT INTO bare VALUES (?, ?)"
    else:
        plain = make_url(url).set(drivername="postgresql")
        connection = psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True)
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(table.format("bytea"))
        statement = "INSERT INTO bare VALUES (%s, %s)"
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        connection.execute(statement, (os.urandom(16), b"\0" * WIDTH))
        done += 1
    rate = done / (time.perf_counter() - start)
    connection.close()
    return rate


class Counted:
    """A store that counts its commits."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.check_submission = store.check_submission
        self.commits = 0

    def append(self, group: Sequence[Submission]) -> list[Outcome]:
        """Store a group."""
        self.commits += 1
        return self._store.append(group)


async def intake(store: Store, waiters: int, seconds: float, bare: float) -> None:
    """Keep so many single reports waiting, and print what was stored of them."""
    counted, latencies = Counted(store), []
    end = time.perf_counter() + seconds

    async def send(writer: GroupCommit) -> None:
        while (start := time.perf_counter()) < end:
            await writer.submit(Submission("intake", os.urandom(16), b"\0" * WIDTH, 1))
            latencies.append(time.perf_counter() - start)

    used, start = time.process_time(), time.perf_counter()
    async with GroupCommit(counted) as writer:
        await asyncio.gather(*(send(writer) for _ in range(waiters)))
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    latencies.sort()
    rows = len(latencies)
    half, most = (1e3 * latencies[rows * percent // 100] for percent in (50, 99))
    print(
        f"{waiters:4d} waiting: {rows / wall:8,.0f} rows/s ({rows / wall / bare:5.1f} x bare), "
        f"{counted.commits / rows:.4f} commits a row, {1e6 * cpu / rows:4.0f} us of CPU a row, "
        f"latency p50 {half:.2f} ms, p99 {most:.2f} ms"
    )


def reading(store: Store, rows: int) -> None:
    """Store submissions of one report, and print how long reading them takes."""
    start = time.perf_counter()
    for first in range(0, rows, 1000):
        store.append(
            [
                Submission("reading", number.to_bytes(16, "big"), b"\0" * WIDTH, 1)
                for number in range(first, min(first + 1000, rows))
            ]
        )
    print(f"{rows:,} rows stored in groups of 1,000: {rows / (time.perf_counter() - start):,.0f}/s")
    used, start = time.process_time(), time.perf_counter()
    snapshot = store.snapshot("reading")
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    print(f"snapshot of {snapshot.n_reports:,} reports: {wall:.2f} s, {cpu:.2f} s of CPU")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    used, start = time.process_time(), time.perf_counter()
    size = sum(len(block) for block in store.blocks("reading", snapshot))
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"blocks of {size // WIDTH:,}: {wall:.2f} s, {cpu:.2f} s of CPU, {grown:.0f} MB more")


if __name__ == "__main__":
    main()
