"""Whole fits in many columns: time and memory beside scikit-learn and diffprivlib, and growth.

Each fit has a process of its own, whose peak memory is the fit's: `make bench` runs this file,
which starts itself once for each. On a shared machine scikit-learn may be faster on one thread, so
the better of one and all threads counts. diffprivlib has its own environment (see `peers.py`);
without it, the others are compared.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timing import PEERS

SHAPE = {"n": 1_000_000, "d": 100, "k": 100}
SHARES = (0.25, 0.5, 1.0)  # of one of these numbers at a time, to see how time grows
THREADED = ("KMeans", "MiniBatchKMeans")
NAMES = (*THREADED, "DPKMeans", "diffprivlib")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
CHUNK = 1 << 16
UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


class Cost(NamedTuple):
    """Seconds of a fit, and its peak memory beyond the table over the table's size."""

    seconds: float
    memory: float


def notes(python: Path, records: int) -> Iterator[str]:
    """Yield a table of whole fits, and one of growth for each of n, d and k."""
    shape = SHAPE | {"n": records}
    pythons = dict.fromkeys(NAMES, Path(sys.executable)) | {"diffprivlib": python}
    if not python.exists():
        yield f"no diffprivlib in {python.parents[1]}: compared without it; run: make bench"
        del pythons["diffprivlib"]
    n, d, k = shape.values()
    yield f"Whole fits of {n:.0e} x {d} in float32, k = {k}"
    yield f"  {'':<20}{'seconds':>10}{'over KMeans':>13}{'memory / table':>16}"
    kmeans = 0.0
    for name, program in pythons.items():
        seconds, memory = run(name, shape, program)
        kmeans = kmeans or seconds
        yield f"  {name:<20}{seconds:>10.1f}{seconds / kmeans:>13.2f}{memory:>16.2f}"
    yield "Growth of DPKMeans: time over that with a quarter of one number"
    for quantity, whole in shape.items():
        values = [int(share * whole) for share in SHARES]
        times = [run("DPKMeans", shape | {quantity: value}).seconds for value in values]
        growth = (
            f"{value} {each / times[0]:.2f}" for value, each in zip(values, times, strict=True)
        )
        yield f"  {quantity}: {', '.join(growth)}"


def run(name: str, shape: dict[str, int], python: Path = Path(sys.executable)) -> Cost:
    """Fit in a process of its own; where threads wait for one another, the faster of two counts."""
    command = [python, Path(__file__), "--fit", name, *map(str, shape.values())]
    costs = []
    for setting in ({}, ONE_THREAD) if name in THREADED else ({},):
        answer = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | setting
        )
        costs.append(Cost(*map(float, answer.stdout.split())))
    return min(costs)


def fit(name: str, n: int, d: int, k: int) -> Cost:
    """Fit records that this process has drawn."""
    X = topics(n, d, k)
    estimator = model(name, d, k)
    before, start = _peak(), time.perf_counter()
    estimator.fit(X)
    return Cost(time.perf_counter() - start, (_peak() - before) / X.nbytes)


def model(name: str, d: int, k: int) -> Any:
    """Make an estimator; the other environment has diffprivlib and not shoal."""
    if name == "diffprivlib":
        from diffprivlib.models import KMeans  # noqa: PLC0415

        return KMeans(k, epsilon=1.0, bounds=(np.full(d, -1.0), np.full(d, 1.0)))
    if name == "DPKMeans":
        from shoal import Ball, DPKMeans  # noqa: PLC0415

        return DPKMeans(k, epsilon=1.0, delta=1e-6, bounds=Ball(0, 1))
    import sklearn.cluster  # noqa: PLC0415

    return getattr(sklearn.cluster, name)(k, n_init=1, random_state=0)


def topics(n: int, d: int, k: int) -> np.ndarray:
    """Draw vectors of length 1 around k directions, a few at a time: memory is the table's."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((k, d), dtype=np.float32)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, CHUNK):
        part = X[start : start + CHUNK]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32) / np.sqrt(d)
        part += centers[rng.integers(k, size=len(part))]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return X


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def main() -> None:
    """Print the tables, or the cost of one fit."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--python", type=Path, default=PEERS, help="of diffprivlib's environment")
    words.add_argument("--records", type=float, default=SHAPE["n"])
    words.add_argument("--fit", nargs=4, metavar=("NAME", "N", "D", "K"), help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.fit:
        name, *shape = given.fit
        print(*fit(name, *map(int, shape)))
        return
    for note in notes(given.python, int(given.records)):
        print(note, flush=True)


if __name__ == "__main__":
    main()
