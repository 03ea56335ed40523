"""Jobs, labels and reports for tests; Spark's workers import them from here."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from shoal.engines._parallel import one_blas_thread
from shoal.exceptions import DataError


@dataclass(frozen=True)
class Thousandths:
    """Counts, and sums of each column in thousandths; ``before`` is called on each block."""

    columns: int
    looks = False

    def start(self):
        return _Thousandths(self)

    def combine(self, results):
        counts, sums = zip(*results, strict=True)
        return np.sum(counts, axis=0), np.sum(sums, axis=0)

    def before(self):
        pass


class _Thousandths:
    def __init__(self, job):
        self.job = job
        self.count = np.zeros(1, dtype=np.int64)
        self.sums = np.zeros((job.columns, 1), dtype=np.int64)

    def add(self, block):
        self.job.before()
        self.count += len(block[0])
        for place, values in enumerate(block):
            self.sums[place, 0] += np.rint(values * 1000).astype(np.int64).sum()

    def result(self):
        return self.count, self.sums


@dataclass(frozen=True)
class KillsItsWorker(Thousandths):
    """The same, but the process is killed so many times, as files in a folder tell."""

    folder: str
    times: int = 1

    def before(self):
        kill_worker(self.folder, self.times)


@dataclass(frozen=True)
class Fails(Thousandths):
    """An error of ours, with a value of a record in it."""

    def before(self):
        raise ArithmeticError("cannot work with 12345.678")


@dataclass(frozen=True)
class BlasThreads(Thousandths):
    """How many threads BLAS may use inside a pass: the most of all workers, in place of counts."""

    def start(self):
        return _BlasThreads()

    def combine(self, results):
        return (np.max([threads for (threads,) in results], axis=0),)


class _BlasThreads:
    def __init__(self):
        self.most = 0

    def add(self, block):
        with one_blas_thread():
            found = [
                pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"
            ]
        self.most = max(self.most, *found)

    def result(self):
        return (np.array([self.most], dtype=np.int64),)


@dataclass(frozen=True)
class Noise:
    """Reports with noise; a seed of None is fresh in each attempt."""

    seed: int | None = None
    folder: str = ""
    bad: bool = False

    def __call__(self, partition):
        seed = None if self.seed is None else (self.seed, partition)
        generator = np.random.default_rng(seed)

        def draw(block):
            if self.folder:
                kill_worker(self.folder, 1)
            if self.bad and partition == 1:
                raise DataError("X must be good, got bad")
            X = np.column_stack(block)
            return X + generator.normal(size=X.shape)

        return draw


@dataclass(frozen=True)
class DrawnTwice:
    """Reports of which the first attempt finishes last: once a file ``go`` is in the folder.

    Files ``first`` and ``second`` tell which executor of Spark drew: its process and its name.
    """

    folder: str

    def __call__(self, partition):
        generator = np.random.default_rng()
        folder = Path(self.folder)

        def draw(block):
            X = np.column_stack(block)
            reports = X + generator.normal(size=X.shape)
            if not note_executor(folder / "first"):
                note_executor(folder / "second")
                return reports
            while not (folder / "go").exists():
                time.sleep(0.05)
            return reports

        return draw


def note_executor(file):
    """Write which executor this worker belongs to, unless the file is there."""
    daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
    executor = int(daemon.rpartition(")")[2].split()[1])  # the parent of Python's own daemon
    words = Path(f"/proc/{executor}/cmdline").read_text().split("\0")
    part = file.with_suffix(f".{os.getpid()}")
    part.write_text(f"{executor} {words[words.index('--executor-id') + 1]}")
    try:
        os.link(part, file)
    except FileExistsError:
        return False
    finally:
        part.unlink()
    return True


def sign(block):
    """Return 1 where the first column is positive."""
    return (block[0] > 0).astype(np.int32)


def kill_worker(folder, times):
    """Kill this process, unless so many have been."""
    for number in range(times):
        try:
            (Path(folder) / f"killed-{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)
