"""What a relay promises, as checks that return what they found: nothing, if it is right."""

import ast
import contextlib
import itertools
import random
import sqlite3
from collections import Counter
from pathlib import Path
from statistics import correlation

import pytest
from scipy.stats import chisquare
from sqlalchemy import Connection

from helpers.relay import (
    SIZE,
    WIDTH,
    BatchCollector,
    RunningRelay,
    body_of,
    numbers_of,
    wait_until,
)
from shoal.service import Outcome, Submission
from shoal.shuffler import RelayStore

SOURCE = Path(__file__).parents[2] / "src/shoal/shuffler"
MARKS = {
    "key": "planted-idempotency-key",
    "agent": "planted-agent",
    "address": "203.0.113.77",
}
EVENTS = {"batch formed", "batch forwarded", "batch not acknowledged"}
VALUES = {  # what a column may hold
    "relay": (str, bytes, int, int, int, int, int, int),
    "waiting": (bytes, bytes, bytes),
    "seals": (bytes,),
    "taken": (bytes, bytes),
    "batches": (int, bytes),
}
MAX_COUNT = 10_000_000  # times are larger, in any unit


def make_store(folder: Path, batch_size: int = SIZE, seed: int | None = None) -> RelayStore:
    """Open a store of a relay; with a seed, a stand-in draws its batches."""
    source = None if seed is None else random.Random(seed)
    path = str(folder / "relay.db")
    return RelayStore.open(path, "homes", width=WIDTH, batch_size=batch_size, source=source)


def report(number: int) -> Submission:
    """Return the report with this number: the same key and body every time."""
    return Submission("homes", b"key-of-%09d" % number, body_of(number), 1)


def incomplete_batches(relay: RunningRelay, signed_later) -> list[int]:
    """Send one report too few, close the campaign; return the sizes of what was forwarded."""
    for _ in range(2 * SIZE - 1):
        assert relay.send().status_code == 201
    relay.wait_for(1)
    relay.campaign._use(signed_later)
    wait_until(lambda: relay.store.counts().n_waiting == 0)
    wait_until(lambda: relay.store.next_batch() is None)
    sizes = [len(request.body or b"") // WIDTH for request in relay.collector.posts]
    return [size for size in sizes if size != SIZE]


def batches_of_arrivals(store: RelayStore, n_reports: int) -> list[list[int]]:
    """Store reports one after the other, form all batches, and return their numbers."""
    store.append([report(number) for number in range(n_reports)])
    store._empty_log = lambda: None  # two flushes a batch that these checks do not need
    while store.form_batch() is not None:
        pass
    with store._database.read() as connection:
        rows = connection.exec_driver_sql("SELECT body FROM batches ORDER BY number").all()
    return [numbers_of(row[0]) for row in rows]


def order_p_value(store: RelayStore, n_batches: int) -> float:
    """Form batches of three of reports in order; return how likely their orders are by chance."""
    batches = batches_of_arrivals(store, 3 * n_batches)
    orders = Counter(tuple(sorted(range(3), key=came.__getitem__)) for came in batches)
    assert orders.total() == n_batches
    counts = [orders[order] for order in itertools.permutations(range(3))]
    return float(chisquare(counts).pvalue)


def arrival_correlation(store: RelayStore, n_batches: int) -> float:
    """Return the correlation of arrival and batch, for reports that came before all batches."""
    batches = batches_of_arrivals(store, SIZE * n_batches)
    formed = [index for index, batch in enumerate(batches) for _ in batch]
    return correlation([number for batch in batches for number in batch], formed)


def traces(relay: RunningRelay, folder: Path) -> list[str]:
    """Send marks in everything that a client sends, and return what is in files and log of them."""
    own = {"User_Agent": MARKS["agent"], "X_Forwarded_For": MARKS["address"]}
    for number in range(SIZE + 2):
        answer = relay.send(Idempotency_Key=f"{MARKS['key']}-{number}", **own)
        assert answer.status_code == 201
    relay.wait_for(1)
    port = ":" + relay.address.rpartition(":")[2]
    planted = [*MARKS.values(), "127.0.0.1", port]
    files = b"".join(path.read_bytes() for path in folder.glob("relay.db*"))
    found = [f"file: {mark}" for mark in planted if mark.encode() in files]
    found += [f"log: {mark}" for mark in planted if mark in relay.log.getvalue()]
    found += [f"log: {line['event']}" for line in relay.events() if line["event"] not in EVENTS]
    return found + _unexpected_values(folder / "relay.db")


def _unexpected_values(path: Path) -> list[str]:
    """Return columns with values that they must not have, such as times."""
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        found = []
        for (table,) in tables.fetchall():
            for row in connection.execute(f"SELECT * FROM {table}"):
                kinds = tuple(type(value) for value in row)
                large = [value for value in row if isinstance(value, int) and value > MAX_COUNT]
                if kinds != VALUES.get(table) or large:
                    found.append(f"database: {table}")
                    break
    connection.close()
    return found


def forwarded_twice(store: RelayStore) -> list[int]:
    """Forward a batch, send its reports again, forward once more; return who was sent twice."""
    group = [report(number) for number in range(SIZE)]
    store.append(group)
    sent: list[int] = []
    for again in (group, group, [report(number) for number in range(SIZE, 2 * SIZE)]):
        store.append(again)
        while store.form_batch() is not None:
            batch = store.next_batch()
            sent += numbers_of(batch.body)
            store.forget_batch(batch.number)
    return sorted(number for number, times in Counter(sent).items() if times > 1)


def hashes_in_their_own_order(store: RelayStore, folder: Path) -> bool:
    """Return whether hashes of a batch are on the disk in an order that says nothing about it.

    Cells of a page are in the order they were written, from its end down.
    """
    store.append([report(number) for number in range(SIZE)])
    store.form_batch()
    with store._database.read() as connection:
        hashes = [
            sorted(row[0] for row in connection.exec_driver_sql(statement).all())
            for statement in ("SELECT key FROM taken", "SELECT seal FROM seals")
        ]
    content = (folder / "relay.db").read_bytes()
    places = [[content.index(one) for one in kind] for kind in hashes]
    return all(kind == sorted(kind, reverse=True) for kind in places)


class _Crash(BaseException):
    """The process ends here."""


def doubled_by_crashes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """End the process at each statement of a batch's forming, then go on; return wrong numbers.

    Those are reports that are not in exactly one place: waiting, or in one batch.
    """
    execute, wrong = Connection.exec_driver_sql, set()
    for statement in itertools.count():
        left = iter(range(statement))

        def limited(connection, *arguments, left=left, **kwargs):
            if next(left, None) is None:
                raise _Crash
            return execute(connection, *arguments, **kwargs)

        part = folder / f"crash-{statement}"
        part.mkdir()
        with make_store(part) as store:
            store.append([report(number) for number in range(SIZE + 1)])
            with monkeypatch.context() as planted:
                planted.setattr(Connection, "exec_driver_sql", limited)
                done = False
                with contextlib.suppress(_Crash):
                    done = store.form_batch() == 1
        with make_store(part) as store:
            while store.form_batch() is not None:
                pass
        places = _places(part / "relay.db")
        wrong |= {number for number in range(SIZE + 1) if places[number] != 1}
        if done:
            return sorted(wrong)
    raise AssertionError("statements never end")


def _places(path: Path) -> Counter[int]:
    """Count where reports are in a database: waiting, and in batches on their way."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT body FROM waiting UNION ALL SELECT body FROM batches")
        places = Counter(number for (body,) in rows for number in numbers_of(body))
    connection.close()
    return places


def batches_sent_twice_differ(relay: RunningRelay) -> bool:
    """Let the first two attempts fail; return whether any attempt had other bytes."""
    relay.collector.plan[:] = [ConnectionResetError("gone"), 503, 500]
    for _ in range(SIZE):
        assert relay.send().status_code == 201
    wait_until(lambda: len(relay.collector.posts) >= 4)
    return len({request.body for request in relay.collector.posts}) > 1


def sealing_keys(source: Path = SOURCE) -> list[str]:
    """Return where the code of the relay names what opens reports, or reads a campaign's secrets.

    It needs the public document alone: neither a sealing key nor code that opens reports.
    """
    found = []
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            names += [getattr(node, "attr", ""), getattr(node, "id", "")]
            module = getattr(node, "module", None) or ""
            if "SealingKey" in names or "sealing" in module or "collector" in module:
                found.append(f"{path.name}: {ast.unparse(node)}")
    return found


def lost_or_twice(
    acknowledged: list[int], collector: BatchCollector, path: Path, batch_size: int
) -> dict[str, int]:
    """Count what became of acknowledged reports: where they are, how many nowhere or twice."""
    forwarded = [number for body in collector.batches.values() for number in numbers_of(body)]
    with sqlite3.connect(path) as connection:
        waiting = [
            number
            for (body,) in connection.execute("SELECT body FROM waiting")
            for number in numbers_of(body)
        ]
        formed = [
            number
            for n, body in connection.execute("SELECT number, body FROM batches").fetchall()
            if n not in collector.batches or collector.batches[n] != body
            for number in numbers_of(body)
        ]
    connection.close()
    places = Counter([*forwarded, *waiting, *formed])
    sizes = {len(body) // WIDTH for body in collector.batches.values()}
    return {
        "acknowledged": len(acknowledged),
        "forwarded": len(forwarded),
        "batches": len(collector.batches),
        "waiting": len(waiting),
        "on their way": len(formed),
        "lost": len(set(acknowledged) - set(places)),
        "twice": sum(times > 1 for times in places.values()),
        "acknowledged twice": len(acknowledged) - len(set(acknowledged)),
        "incomplete batches": len(sizes - {batch_size}),
        "conflicts": collector.conflicts,
        "duplicate batches": collector.duplicates,
        "failures of the collector": collector.failed,
    }


STORED, DUPLICATE, CONFLICT, _ = Outcome
