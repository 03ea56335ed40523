"""Spark beside itself: each pass of a fit over a `mapInArrow` job that only counts the same rows.

`python benchmarks/spark.py --records 5e7` makes Parquet files in parts, reads them with a session
of `local[2]`, kills a Python worker in the middle of a second fit, compares the results, and
deletes the files.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from out_of_core import BOX, CLUSTERS, NAMES, make_files

from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.tables import ArrowTable, Job, SparkTable

ESTIMATORS = {
    "DPKMeans(8)": DPKMeans(CLUSTERS, bounds=BOX),
    "DPWaveCluster(grid=16)": DPWaveCluster(bounds=BOX, grid=16),
}


class TimedTable(SparkTable):
    """A table that notes how long each pass takes."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        self.passes: list[tuple[str, float]] = []

    def check(self) -> None:
        """Look at all records, and at the clock."""
        start = time.perf_counter()
        super().check()
        self.passes.append(("check", time.perf_counter() - start))

    def fold(self, job: Job) -> tuple[np.ndarray, ...]:
        """Do a job on all records, and look at the clock."""
        start = time.perf_counter()
        found = super().fold(job)
        name = type(getattr(job, "kernel", job)).__name__
        self.passes.append((name, time.perf_counter() - start))
        return found


def session() -> Any:
    """Start Spark with two threads, on this machine alone."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def counting(frame: Any) -> float:
    """Count rows in Python, and nothing else."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_pydict({"rows": pa.array([rows], pa.int64())})

    start = time.perf_counter()
    assert frame.mapInArrow(count, "rows long").collect()
    return time.perf_counter() - start


def kill_a_worker(after: float, killed: list[int]) -> threading.Thread:
    """Kill one of Spark's Python workers, once it is at work."""

    def kill() -> None:
        time.sleep(after)
        while not killed:
            for worker in _workers():
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
                return
            time.sleep(0.01)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def _workers() -> list[int]:
    """List the children of Spark's daemon: its Python processes that are at work."""
    parents, daemons = {}, set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
        if b"pyspark.daemon" in command:
            parents[int(folder.name)] = parent
    daemons = {pid for pid, parent in parents.items() if parent not in parents}
    return [pid for pid in parents if pid not in daemons]


def main() -> None:
    """Print the passes of each estimator over counting, and what a killed worker changes."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--records", type=float, default=5e6)
    records = int(words.parse_args().records)
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        make_files(Path(folder), records)
        frame = session().read.parquet(folder)
        counts = [counting(frame) for _ in range(2)]
        print(f"{records:,} records x {len(NAMES)} columns, local[2]", flush=True)
        for name, estimator in ESTIMATORS.items():
            table = TimedTable(frame)
            release = estimator.set_params(random_state=0).fit(table).release_.to_json()
            counts.append(counting(frame))
            alone = min(counts[-2:])
            print(f"{name}; counting rows alone {alone:.2f} s")
            for kernel, seconds in table.passes:
                print(f"  {kernel:<16}{seconds:>8.2f} s{seconds / alone:>8.2f} x counting")
            files = estimator.fit(ArrowTable(folder, columns=NAMES, memory=0)).release_.to_json()
            print(f"  the same release from the files: {files == release}", flush=True)
        killed: list[int] = []
        estimator = next(iter(ESTIMATORS.values()))
        release = estimator.fit(ArrowTable(folder, columns=NAMES, memory=0)).release_.to_json()
        thread = kill_a_worker(1.3 * min(counts), killed)
        again = estimator.fit(frame).release_.to_json()
        thread.join()
        print(f"workers killed during the fit: {len(killed)}; the same release: {again == release}")


if __name__ == "__main__":
    main()
