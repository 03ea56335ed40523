"""Analysis of a million reports that a collector stores: reading, clusters, memory.

`python benchmarks/collector_analysis.py` prints it for SQLite; give the URL of an empty PostgreSQL
database to print it for that. Each row is a process of its own, whose peak is that of its work
alone: reports came one by one, or a hundred a submission.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from costs import blobs

from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
from shoal.collector.analysis import queue_analysis, read_reports, run_analysis
from shoal.collector.export import EXPORTS
from shoal.collector.store import Store, Submission
from shoal.mechanisms import Laplace, PartitionResponse

COUNT = 10**6
CLUSTERS = 15
GROUP = 10_000  # submissions of a transaction, while the database is filled
BOX = ([-1.0, -1.0], [1.0, 1.0])
MECHANISMS = {
    "partitions": PartitionResponse(2.0, bounds=BOX, n_clusters=CLUSTERS),
    "laplace": Laplace(8.0, bounds=BOX),
}
ANALYSES = {
    "partitions": {"noise-aware": {"n_clusters": CLUSTERS}, "density": {}},
    "laplace": {"noise-aware": {"n_clusters": CLUSTERS}, "remap": {"n_clusters": CLUSTERS}},
}
BATCHES = (1, 100)


class Seconds(NamedTuple):
    """Seconds by the clock, and of this process's work, which a busy machine does not change."""

    clock: float
    work: float

    def __str__(self) -> str:
        return f"{self.clock:.2f} ({self.work:.2f})"


class Row(NamedTuple):
    """Seconds of each step, and megabytes of the whole process at its peak."""

    snapshot: Seconds
    read: Seconds
    analyze: Seconds
    before: float
    peak: float


def main(url: str | None, kinds: list[str]) -> None:
    """Print a row for each mechanism, size of submissions and method."""
    context = multiprocessing.get_context("spawn")
    print(f"{COUNT:.0e} reports, k = {CLUSTERS}: seconds by the clock (of work); MB of memory")
    print(f"{'':<42}{'snapshot':>14}{'read':>14}{'analyze':>16}{'before':>8}{'peak':>6}")
    for kind in kinds:
        for batch in BATCHES:
            with tempfile.TemporaryDirectory() as folder:
                database = url or f"sqlite:///{folder}/reports.db"
                name = f"{kind}-{batch}"
                _in_process(context, _fill, database, name, kind, batch)
                for method, parameters in ANALYSES[kind].items():
                    row = _in_process(context, _analyze, database, name, method, parameters)
                    title = f"{kind}, {batch} a submission, {method}"
                    print(
                        f"{title:<42}{row.snapshot!s:>14}{row.read!s:>14}{row.analyze!s:>16}"
                        f"{row.before:>8.0f}{row.peak:>6.0f}",
                        flush=True,
                    )
                for form in EXPORTS:
                    seconds, before, peak, size = _in_process(
                        context, _export, database, name, form
                    )
                    title = f"{kind}, {batch} a submission, export {form}"
                    print(
                        f"{title:<42}{'':>14}{seconds!s:>14}{'':>16}{before:>8.0f}{peak:>6.0f}"
                        f"  {size / 2**20:.1f} MB",
                        flush=True,
                    )


def _in_process(context: Any, work: Any, *given: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *given).result()


def _fill(url: str, name: str, kind: str, batch: int) -> None:
    """Store the reports of a new campaign."""
    campaign = Campaign(
        id=name,
        title="A million devices",
        purpose="Measure the collector.",
        mechanism=MECHANISMS[kind],
        closes=datetime(2035, 1, 1, tzinfo=UTC),
        reports_url="http://127.0.0.1/reports",
        results_url="http://127.0.0.1/results",
    )
    key = SigningKey.new()
    mechanism, width = campaign.mechanism, campaign.report_format.width
    body = mechanism.encode(np.asarray(mechanism.fit_transform(blobs(COUNT, 2, CLUSTERS))))
    size = batch * width
    submissions = [
        Submission(name, start.to_bytes(8, "big"), body[start : start + size], batch)
        for start in range(0, len(body), size)
    ]
    with Store.open(url) as store:
        store.add_campaign(open_campaign(sign_campaign(campaign, key), key.public))
        for start in range(0, len(submissions), GROUP):
            store.append(submissions[start : start + GROUP])


def _analyze(url: str, name: str, method: str, parameters: dict[str, Any]) -> Row:
    with Store.open(url) as store:
        before = _peak()
        took = _Clock()
        version = queue_analysis(store, name, method, parameters, seed=0)
        snapshot = took.lap()
        job, signed = store.analysis(name, version), store.campaign(name)
        if job is None:
            raise RuntimeError("the analysis is gone")
        took.lap()
        reports = read_reports(store, signed.campaign, job.snapshot)
        read = took.lap()
        run_analysis(signed, reports, job).to_json()
        return Row(snapshot, read, took.lap(), before, _peak())


def _export(url: str, name: str, form: str) -> tuple[Seconds, float, float, int]:
    """Export to a reader that keeps nothing; return seconds, megabytes before and at the peak."""
    with Store.open(url) as store:
        signed, snapshot = store.campaign(name), store.snapshot(name)
        before = _peak()
        took = _Clock()
        size = sum(map(len, EXPORTS[form](store, signed, snapshot)))
        return took.lap(), before, _peak(), size


class _Clock:
    """Measures laps."""

    def __init__(self) -> None:
        self._start = Seconds(time.perf_counter(), time.process_time())

    def lap(self) -> Seconds:
        """Return the seconds since the last lap."""
        now = Seconds(time.perf_counter(), time.process_time())
        took = Seconds(now.clock - self._start.clock, now.work - self._start.work)
        self._start = now
        return took


def _peak() -> float:
    """Return the most memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    given = sys.argv[1:]
    chosen = [one for one in given if one in MECHANISMS]
    main(next((one for one in given if "://" in one), None), chosen or list(MECHANISMS))
