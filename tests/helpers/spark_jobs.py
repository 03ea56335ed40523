"""Jobs and labels for tests; Spark's workers import them from here."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from shoal.engines._parallel import one_blas_thread


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
