"""Load on a collector on the own machine, beside what its database can commit by itself.

`python benchmarks/collector_load.py` starts a server on SQLite and on PostgreSQL, each with `wrk`
and the server on the same cores, and prints reports a second and latencies for submissions of 1 and
100 reports. Ratios are to the bare database in the same run: commits of one row a second for
submissions of one, rows a second in one transaction for submissions of 100. Afterwards every
acknowledged report must be in the database. `--minutes 10` watches the server's memory instead.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
from shoal.collector.store import Store
from shoal.mechanisms import PartitionResponse

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.postgres import PostgresServer, postgres_programs

SCRIPT = Path(__file__).with_suffix(".lua")
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
BATCHES = (1, 100)
ID = "load"
TABLE = "CREATE TABLE bare (id {serial}, key {blob} NOT NULL UNIQUE, body {blob} NOT NULL)"
ROWS = 20_000  # of the one transaction
BARE_SECONDS = 3.0
# Limits are for strangers: here the load is to be all that the server can take.
LIMITS = ("--set", "campaign_rate=1e9", "--set", "client_rate=1e9")


class Load(NamedTuple):
    """What wrk saw of one run."""

    answers: int
    refused: int
    lost: int
    seconds: float
    p50: float
    p99: float


class Bare(NamedTuple):
    """What a database can do without a server in front: per second."""

    commits: float
    rows: float


class Server(NamedTuple):
    """A collector that runs, its address, and the document that it collects for."""

    pid: int
    address: str
    digest: str
    pool: Path
    store: Store


def notes(options: argparse.Namespace) -> Iterator[str]:
    """Yield a table for each database, or one of the memory."""
    with tempfile.TemporaryDirectory(prefix="shoal-load-") as name:
        for kind in options.databases:
            folder = Path(name) / kind
            folder.mkdir()
            with ExitStack() as stack:
                url, insert = stack.enter_context(database(kind, folder))
                server = stack.enter_context(running(url, folder))
                if options.minutes:
                    yield from memory_notes(kind, server, options)
                else:
                    yield from load_notes(kind, server, insert, options)


def load_notes(
    kind: str, server: Server, insert: Callable[[], Bare], options: argparse.Namespace
) -> Iterator[str]:
    """Yield reports a second and latencies, and whether all that was acknowledged is stored."""
    before = insert()
    acknowledged = unanswered = 0
    yield f"{kind}: submissions of 1 and 100 reports of {width(server)} bytes each"
    yield (
        f"  {'reports':>8}{'connections':>13}{'reports/s':>11}{'submissions/s':>15}"
        f"{'p50 ms':>8}{'p99 ms':>8}"
    )
    best = dict.fromkeys(BATCHES, 0.0)
    for batch in BATCHES:
        for connections in options.connections:
            load = run_wrk(server, batch, connections, options.seconds)
            if load.refused or load.lost:
                raise SystemExit(f"{load.refused} answers were refusals, {load.lost} were lost")
            acknowledged += load.answers * batch
            unanswered += connections * batch
            rate = load.answers / load.seconds
            best[batch] = max(best[batch], rate * batch)
            yield (
                f"  {batch:>8}{connections:>13}{rate * batch:>11,.0f}{rate:>15,.0f}"
                f"{load.p50:>8.1f}{load.p99:>8.1f}"
            )
    after = insert()
    bare = Bare(*(max(pair) for pair in zip(before, after, strict=True)))
    yield (
        f"  bare {kind}: {bare.commits:,.0f} commits of one row a second, {bare.rows:,.0f} rows a "
        "second in one transaction"
    )
    yield (
        f"  single reports: {best[1] / bare.commits:.2f} of bare commits; in batches of 100: "
        f"{best[100] / bare.rows:.2f} of bare rows"
    )
    yield check_stored(server, acknowledged, unanswered)


def memory_notes(kind: str, server: Server, options: argparse.Namespace) -> Iterator[str]:
    """Yield how the server's memory grows under a steady load, by least squares."""
    connections = max(options.connections)
    seconds = 60.0 * options.minutes
    seen: list[tuple[float, float]] = []
    ended = threading.Event()

    def watch() -> None:
        start = time.monotonic()
        while not ended.wait(1.0):
            seen.append((time.monotonic() - start, resident(server.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        load = run_wrk(server, 1, connections, seconds)
    finally:
        ended.set()
        watcher.join()
    at, size = np.array([pair for pair in seen if pair[0] > seconds / 5]).T
    slope, error = fitted_slope(at / 60.0, size)
    yield (
        f"{kind}: {load.answers / load.seconds:,.0f} single reports a second for "
        f"{options.minutes:g} minutes, p99 {load.p99:.1f} ms, {load.refused} refused"
    )
    yield (
        f"  memory {size.min():.1f} to {size.max():.1f} MB after the first fifth; slope "
        f"{slope:+.3f} MB a minute, standard error {error:.3f}"
    )
    yield check_stored(server, load.answers - load.refused, connections)


def check_stored(server: Server, acknowledged: int, unanswered: int) -> str:
    """Say how many reports are stored: no fewer than acknowledged, no more than sent."""
    stored = server.store.count(ID)
    verdict = f"  acknowledged {acknowledged:,}, stored {stored:,}"
    # wrk hangs up at the end: what it had sent by then may be stored without an answer.
    if not acknowledged <= stored <= acknowledged + unanswered:
        raise SystemExit(f"{verdict}: these differ by more than wrk left unanswered")
    return f"{verdict} (wrk hung up on the difference): none is lost"


def run_wrk(server: Server, batch: int, connections: int, seconds: float) -> Load:
    """Send submissions over so many connections at a time; each has a key of its own."""
    run = f"{batch}-{connections}-{time.time_ns():x}"
    target = f"{server.address}/v1/campaigns/{ID}/reports"
    options = ["--threads=1", f"--connections={connections}", f"--duration={seconds:.0f}s"]
    arguments = [run, server.digest, str(batch), str(server.pool)]
    done = subprocess.run(
        ["wrk", *options, "--timeout=30s", f"--script={SCRIPT}", target, "--", *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return Load(**json.loads(done.stderr.splitlines()[-1]))


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, Callable[[], Bare]]]:
    """Make an empty database; yield its URL, and what measures a bare one beside it."""
    if kind == SQLITE:
        yield f"sqlite:///{folder / 'reports.db'}", lambda: bare_sqlite(folder / "bare.db")
        return
    programs = postgres_programs()
    if programs is None:
        raise SystemExit("needs PostgreSQL: apt-get install postgresql")
    with PostgresServer(programs) as server, server.database() as name:
        yield server.url(name), lambda: bare_postgresql(server)


@contextmanager
def running(url: str, folder: Path) -> Iterator[Server]:
    """Run a server in a process of its own, on a free port, for one campaign."""
    campaign = Campaign(
        id=ID,
        title="Load",
        purpose="Measure the collector.",
        mechanism=PartitionResponse(2.0, bounds=([0.0, 0.0], [1.0, 1.0])),
        closes=datetime.now(UTC) + timedelta(days=1),
        reports_url=f"http://127.0.0.1:1/v1/campaigns/{ID}/reports",
        results_url=f"http://127.0.0.1:1/v1/campaigns/{ID}/results",
        open_intake=True,
    )
    key = SigningKey.new()
    signed = open_campaign(sign_campaign(campaign, key), key.public)
    records = np.random.default_rng(0).uniform(size=(256, 2))
    reports = campaign.mechanism.fit(records).transform(records)
    pool = folder / "reports.txt"
    pool.write_text(
        "".join(f"{campaign.report_format.encode(one).hex()}\n" for one in np.asarray(reports))
    )
    command = [sys.executable, "-c", "from shoal.cli import main; main()", "collect", "serve"]
    with Store.open(url) as store:
        store.add_campaign(signed)
        process = subprocess.Popen(
            [*command, "--port", "0", "--no-worker", *LIMITS],
            env={**os.environ, "SHOAL_DB": url},
            stdout=subprocess.PIPE,
            stderr=(folder / "log").open("wb"),
            text=True,
        )
        try:
            assert process.stdout is not None
            word, _, address = process.stdout.readline().strip().partition(" ")
            if word != "ready":
                raise SystemExit((folder / "log").read_text()[-2000:])
            yield Server(process.pid, address, signed.digest, pool, store)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def bare_sqlite(path: Path) -> Bare:
    """Insert rows as the collector's settings would have them, with nothing in front."""
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(TABLE.format(serial="INTEGER PRIMARY KEY", blob="BLOB"))
        return measure_bare(
            "INSERT INTO bare (key, body) VALUES (?, ?)",
            connection.execute,
            connection.executemany,
        )


def bare_postgresql(server: PostgresServer) -> Bare:
    """Insert rows over one connection, with nothing in front."""
    with server.database() as name, server.connect(name) as connection:
        connection.execute(TABLE.format(serial="bigserial PRIMARY KEY", blob="bytea"))
        return measure_bare(
            "INSERT INTO bare (key, body) VALUES (%s, %s)",
            connection.execute,
            connection.cursor().executemany,
        )


def measure_bare(insert: str, execute: Callable[..., Any], many: Callable[..., Any]) -> Bare:
    """Count commits of one row for some seconds; then time many rows in one transaction."""
    start, commits = time.perf_counter(), 0
    while (taken := time.perf_counter() - start) < BARE_SECONDS:
        execute(insert, (os.urandom(24), b"ab"))
        commits += 1
    rows = [(os.urandom(24), b"ab") for _ in range(ROWS)]
    start = time.perf_counter()
    execute("BEGIN")
    many(insert, rows)
    execute("COMMIT")
    return Bare(commits / taken, ROWS / (time.perf_counter() - start))


def fitted_slope(at: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the slope of a line through values, and its standard error."""
    centered = at - at.mean()
    spread = float(centered @ centered)
    slope = float(centered @ values) / spread
    rest = values - values.mean() - slope * centered
    return slope, float(np.sqrt(rest @ rest / (len(at) - 2) / spread))


def resident(pid: int) -> float:
    """Return the memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def width(server: Server) -> int:
    """Return the number of bytes of a report."""
    return len(server.pool.read_text().split()[0]) // 2


def main() -> None:
    """Print the notes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--databases", nargs="+", default=[SQLITE, POSTGRESQL])
    parser.add_argument("--connections", nargs="+", type=int, default=[1, 16, 64, 256])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each load")
    parser.add_argument("--minutes", type=float, default=0.0, help="watch the memory for so long")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("needs wrk: apt-get install wrk")
    for line in notes(options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
