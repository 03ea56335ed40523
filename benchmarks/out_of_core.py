"""Clusters of files that do not fit in memory: time of each pass over that of reading, and memory.

`python benchmarks/out_of_core.py --records 2e8` makes the files in parts, measures in a process of
its own, so that its peak is that of the clustering alone, and deletes the files again.
"""

import argparse
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

from shoal._threads import usable_threads
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.cluster.stand_in import PrivateCopy
from shoal.tables import ArrowTable, Job
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

    passes: list[tuple[str, float]]

    def fold(self, job: Job) -> tuple[np.ndarray, ...]:
        """Do a job on all records, and look at the clock."""
        start = time.perf_counter()
        found = super().fold(job)
        name = type(getattr(job, "kernel", job)).__name__
        self.passes.append((name, time.perf_counter() - start))
        return found


def make_files(folder: Path, records: int, seed: int = 0) -> None:
    """Write records of some round clusters, a row group at a time."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-8.0, 8.0, (CLUSTERS, len(NAMES)))
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    for number, first in enumerate(range(0, records, PER_FILE)):
        with pq.ParquetWriter(folder / f"part-{number:03d}.parquet", schema) as file:
            last = min(first + PER_FILE, records)
            for start in range(first, last, ROW_GROUP):
                rows = min(ROW_GROUP, last - start)
                X = centres[rng.integers(CLUSTERS, size=rows)]
                X += rng.normal(size=X.shape)
                file.write_table(pa.table(dict(zip(NAMES, X.T, strict=True)), schema=schema))


def read_with_pyarrow(folder: Path) -> float:
    """Read the columns as pyarrow does by default, and do nothing with them."""
    start = time.perf_counter()
    rows = sum(batch.num_rows for batch in ds.dataset(folder).to_batches(columns=NAMES))
    assert rows
    return time.perf_counter() - start


def read_as_we_do(folder: Path) -> float:
    """Read the columns in our own way, and do nothing with them: not even look for NaN."""
    start = time.perf_counter()
    with ThreadPoolExecutor(usable_threads()) as pool:
        rows = pool.map(_rows, pieces_of(open_dataset(folder)))
        assert sum(rows)
    return time.perf_counter() - start


def _rows(piece: Piece) -> int:
    return sum(batch.num_rows for batch in piece.batches(NAMES))


def measure(folder: Path, records: int) -> None:
    """Print the time of each pass of each estimator over that of reading alone."""
    table = TimedTable(folder, memory=0)
    table.passes = []
    readings = [read_as_we_do(folder) for _ in range(3)]
    print(f"{records:,} records x {len(NAMES)} columns", flush=True)
    for name, estimator in ESTIMATORS.items():
        table.passes = []
        start = time.perf_counter()
        estimator.set_params(random_state=0).fit(table)
        whole = time.perf_counter() - start
        # Beside each fit, when files and machine are as they were for it.
        readings.append(read_as_we_do(folder))
        reading = min(readings[-2:])
        print(f"{name}: {whole:.2f} s; reading alone {reading:.2f} s")
        for kernel, seconds in table.passes:
            print(f"  {kernel:<16}{seconds:>8.2f} s{seconds / reading:>8.2f} x reading", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    print(f"reading as we do: {min(readings):.2f} to {max(readings):.2f} s")
    print(f"peak memory {peak:,.0f} MiB", flush=True)
    # Last, as its buffers would count.
    theirs = min(read_with_pyarrow(folder) for _ in range(3))
    print(f"reading as pyarrow does by default: {theirs:.2f} s")


def main() -> None:
    """Make files, measure in another process, delete them."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--records", type=float, default=2e7)
    words.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.measure is not None:
        measure(given.measure, int(given.records))
        return
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        make_files(Path(folder), int(given.records))
        command = [sys.executable, str(Path(__file__).resolve()), "--measure", folder]
        subprocess.run([*command, "--records", str(given.records)], check=True)


if __name__ == "__main__":
    main()
