"""What a fit on 10^9 or 10^11 records would move, and hold, on a cluster: passes, bytes, driver.

`python benchmarks/cluster_estimate.py` fits each estimator on a table that has the records of one
task and says that it has those of all: their statistics are scaled up. So the plan (cells of the
grid, passes), the size of what a task sends back and the size of what the driver holds are those of
the whole table; only the time is an estimate, from a rate given in the arguments.
"""

import argparse
from math import ceil, isqrt

import numpy as np

from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.engines import MergeKernel
from shoal.tables import CountRows, Job, SparkTable
from shoal.tables.spark_table import MAX_PARTIALS
from shoal.tables.table import ExternalTable

COLUMNS = 4
BYTES = 8 * COLUMNS  # of a record, in columns of doubles without compression
PARTITION = 2**27  # bytes that Spark reads in one task by default
SAMPLE = PARTITION // BYTES  # the records of one task
GIB, MIB = 2**30, 2**20

ESTIMATORS = {
    "DPKMeans(8)": DPKMeans(8, bounds=(-12.0, 12.0)),
    "DPKMeans(8, lloyd)": DPKMeans(8, bounds=(-12.0, 12.0), method="lloyd"),
    "DPKMeans(100)": DPKMeans(100, bounds=(-12.0, 12.0)),
    "DPWaveCluster(grid=32)": DPWaveCluster(bounds=(-12.0, 12.0), grid=32),
    "DPWaveCluster(grid=64)": DPWaveCluster(bounds=(-12.0, 12.0), grid=64),
    "PrivateCopy": PrivateCopy(bounds=(-12.0, 12.0)),
}


class ScaledTable(SparkTable):
    """A sample that stands for all records."""

    def __init__(self, X: np.ndarray, records: int) -> None:
        ExternalTable.__init__(self, [f"x{j}" for j in range(X.shape[1])])
        self._block = tuple(np.ascontiguousarray(column) for column in X.T)
        self._scale = records // len(X)
        self._rows = self._scale * len(X)
        self.partials: list[int] = []

    def check(self) -> None:
        """Count the pass that looks at all records."""
        self.fold(CountRows())

    def fold(self, job: Job) -> tuple[np.ndarray, ...]:
        """Do a job on the sample, and note the bytes of its result."""
        fold = job.start()
        fold.add(self._block)
        result = fold.result()
        self.partials.append(sum(value.nbytes for value in result))
        merges = isinstance(getattr(job, "kernel", None), MergeKernel)
        # Which cells hold a record does not grow with the records; how many they hold does.
        return tuple(
            value if merges and value is not result[-1] else self._scale * value for value in result
        )


def sample() -> np.ndarray:
    """Make some round clusters."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-8.0, 8.0, (8, COLUMNS))
    return centers[rng.integers(8, size=SAMPLE)] + rng.normal(size=(SAMPLE, COLUMNS))


def combined(partitions: int) -> tuple[int, int]:
    """Return how many partial statistics are sent in all, and how many come to the driver."""
    sent = partitions
    while partitions > MAX_PARTIALS:
        partitions = isqrt(partitions - 1) + 1
        sent += partitions
    return sent, partitions


def line(name: str, X: np.ndarray, records: int, *, rate: float, cores: int) -> str:
    """Describe one fit."""
    table = ScaledTable(X, records)
    ESTIMATORS[name].set_params(random_state=0).fit(table)
    partitions = ceil(records * BYTES / PARTITION)
    sent, at_driver = combined(partitions)
    passes = len(table.partials)
    read = passes * records * BYTES
    seconds = passes * records / (rate * cores)
    return (
        f"{name:<24}{records:>8.0e}{passes:>8}{read / GIB:>12,.0f}{partitions:>10,}"
        f"{max(table.partials) / MIB:>12.3f}{sum(table.partials) * sent / GIB:>12.3f}"
        f"{max(table.partials) * at_driver / MIB:>12.1f}{seconds / 60:>10.1f}"
    )


def main() -> None:
    """Print a line for each estimator and number of records."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rate", type=float, default=2.0e6, help="records per second and core")
    words.add_argument("--cores", type=int, default=200)
    given = words.parse_args()
    print(f"{COLUMNS} columns, {given.cores} cores at {given.rate:,.0f} records/s each")
    print(
        f"{'':<24}{'records':>8}{'passes':>8}{'GiB read':>12}{'tasks':>10}"
        f"{'MiB a task':>12}{'GiB sent':>12}{'MiB driver':>12}{'minutes':>10}"
    )
    X = sample()
    for records in (10**9, 10**11):
        for name in ESTIMATORS:
            print(line(name, X, records, rate=given.rate, cores=given.cores), flush=True)


if __name__ == "__main__":
    main()
