"""Clusters of files that do not fit in memory: time of each pass over that of reading, and memory.

`python benchmarks/out_of_core.py --records 2e8` makes the files in parts, measures in a process of
its own, so that its peak is that of the clustering alone, and deletes the files again. Files that
fit in memory are read from there; with `--cold` the system forgets them before each pass, as it
would those that do not fit.

"Reading alone" is printed in two ways: as pyarrow reads columns by default, and by our own reader,
which is faster, with nothing done to what it reads.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.tables import ArrowTable, Job, usable_threads
from shoal.tables._arrow_pieces import Piece, open_dataset, pieces_of

NAMES = [f"x{j}" for j in range(4)]
BOX = (-12.0, 12.0)
CLUSTERS = 8
ROW_GROUP = 1 << 20  # what pyarrow writes
PER_FILE = 20 * ROW_GROUP
MIB = 2**20

ESTIMATORS = {
    "DPKMeans(8)": DPKMeans(CLUSTERS, bounds=BOX),
    "DPKMeans(8, delta)": DPKMeans(CLUSTERS, bounds=BOX, delta=1e-6),
    "DPKMeans(8, lloyd)": DPKMeans(CLUSTERS, bounds=BOX, method="lloyd"),
    "DPKMeans(8, private bounds)": DPKMeans(CLUSTERS, bounds="private"),
    "DPWaveCluster(grid=16)": DPWaveCluster(bounds=BOX, grid=16),
    "DPWaveCluster(grid=32)": DPWaveCluster(bounds=BOX, grid=32),
    "PrivateCopy": PrivateCopy(bounds=BOX),
}


class TimedTable(ArrowTable):
    """A table that notes how long each pass takes."""

    def __init__(self, folder: Path, *, cold: bool) -> None:
        super().__init__(folder, columns=NAMES, memory=0)
        self.passes: list[tuple[str, float]] = []
        self._folder = folder
        self._cold = cold

    def fold(self, job: Job) -> tuple[np.ndarray, ...]:
        """Do a job on all records, and look at the clock."""
        if self._cold:
            forget(self._folder)
        start = time.perf_counter()
        found = super().fold(job)
        name = type(getattr(job, "kernel", job)).__name__
        self.passes.append((name, time.perf_counter() - start))
        return found


def make_files(folder: Path, records: int, seed: int = 0) -> None:
    """Write records of some round clusters, a row group at a time."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-8.0, 8.0, (CLUSTERS, len(NAMES)))
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    for number, first in enumerate(range(0, records, PER_FILE)):
        with pq.ParquetWriter(folder / f"part-{number:03d}.parquet", schema) as file:
            last = min(first + PER_FILE, records)
            for start in range(first, last, ROW_GROUP):
                rows = min(ROW_GROUP, last - start)
                X = centers[rng.integers(CLUSTERS, size=rows)]
                X += rng.normal(size=X.shape)
                file.write_table(pa.table(dict(zip(NAMES, X.T, strict=True)), schema=schema))


def forget(folder: Path) -> None:
    """Let the system drop the files from memory."""
    for file in folder.iterdir():
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_with_pyarrow(folder: Path, *, cold: bool) -> float:
    """Read the columns as pyarrow does by default, and do nothing with them."""
    if cold:
        forget(folder)
    start = time.perf_counter()
    rows = sum(batch.num_rows for batch in ds.dataset(folder).to_batches(columns=NAMES))
    assert rows
    return time.perf_counter() - start


def read_as_we_do(folder: Path, *, cold: bool) -> float:
    """Read the columns in our own way, and do nothing with them: not even look for NaN."""
    if cold:
        forget(folder)
    start = time.perf_counter()
    with ThreadPoolExecutor(usable_threads()) as pool:
        rows = pool.map(_rows, pieces_of(open_dataset(folder), "the files", numbered=True))
        assert sum(rows)
    return time.perf_counter() - start


def _rows(piece: Piece) -> int:
    return sum(batch.num_rows for batch in piece.batches(NAMES))


def measure(folder: Path, records: int, *, cold: bool) -> None:
    """Print the time of each pass of each estimator over that of reading alone."""
    ours = min(read_as_we_do(folder, cold=cold) for _ in range(3))
    fits = []
    for name, estimator in ESTIMATORS.items():
        table = TimedTable(folder, cold=cold)
        start = time.perf_counter()
        estimator.set_params(random_state=0).fit(table)
        fits.append((name, time.perf_counter() - start, table.passes))
        ours = min(ours, read_as_we_do(folder, cold=cold))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    # Last, as its buffers would count.
    theirs = min(read_with_pyarrow(folder, cold=cold) for _ in range(3))
    state = "read from the disk" if cold else "in the system's memory"
    print(f"{records:,} records x {len(NAMES)} columns, {state}; peak memory {peak:,.0f} MiB")
    print(f"reading alone: {theirs:.2f} s by pyarrow, {ours:.2f} s by our own reader")
    for name, whole, passes in fits:
        print(f"{name}: {whole:.2f} s")
        for kernel, seconds in passes:
            by_them, by_us = seconds / theirs, seconds / ours
            print(f"  {kernel:<16}{seconds:>8.2f} s{by_them:>8.2f} x pyarrow{by_us:>8.2f} x ours")


def main() -> None:
    """Make files, measure in another process, delete them."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--records", type=float, default=2e7)
    words.add_argument("--cold", action="store_true", help="read from the disk each time")
    words.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.measure is not None:
        measure(given.measure, int(given.records), cold=given.cold)
        return
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        make_files(Path(folder), int(given.records))
        command = [sys.executable, str(Path(__file__).resolve()), "--measure", folder]
        cold = ["--cold"] if given.cold else []
        subprocess.run([*command, *cold, "--records", str(given.records)], check=True)


if __name__ == "__main__":
    main()
