"""Kernels against what the machine can do at all: its memory's bandwidth and its arithmetic.

A kernel has to move the bytes of its records, and to do the arithmetic of its answer. The machine
moves bytes no faster than a large copy does, and calculates no faster than a large matrix product
does; both are measured here, with as many threads as the kernels use. The larger of the two times
is the least that any program could take (the roofline), and the one that is larger is the bound
that holds. What is printed is how many times as long the kernel took.

Bytes and operations are those that the answer takes, not those that the code happens to spend: a
record is read once, four bytes a column on the lattice and eight before; results are small. Integer
operations and comparisons count as one each, a root or a quotient as 10, a logarithm as 20.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shoal.engines import (
    HALF,
    ArrayEngine,
    grid_counts,
    magnitude_counts,
    nearest_statistics,
    run_in_parts,
)
from shoal.noise import Lattice, SecureSource, discrete_laplace

ROWS = 4_000_000
PART = 1 << 17
TURNS = 5
REACH = HALF // 8
ROOT, QUOTIENT, LOGARITHM = 10, 10, 20
SHAPES = ((2, 8), (4, 8), (4, 32), (8, 16), (8, 100), (50, 8))


@dataclass(frozen=True)
class Machine:
    """The most that all threads together reach, in bytes and operations of a second."""

    bandwidth: float
    arithmetic: float

    def __str__(self) -> str:
        return (
            f"Roofline of this machine: a large copy moves {self.bandwidth / 1e9:.1f} GB/s, "
            f"matrix products do {self.arithmetic / 1e9:.0f} Gflop/s"
        )


@dataclass(frozen=True)
class Measured:
    """One kernel's time for a record, and what a record takes of the machine."""

    name: str
    seconds: float
    moved: float
    operations: float

    def line(self, machine: Machine) -> str:
        """Compare with the bound that holds."""
        times = {
            "memory": self.moved / machine.bandwidth,
            "arithmetic": self.operations / machine.arithmetic,
        }
        bound = max(times, key=times.__getitem__)
        return (
            f"{self.name:<36}{self.seconds * 1e9:>9.2f}{self.moved:>8.0f}{self.operations:>8.0f}"
            f"{times[bound] * 1e9:>9.2f}{self.seconds / times[bound]:>8.1f}  {bound}"
        )


def notes() -> Iterator[str]:
    """Yield one line a kernel, then how its cost grows."""
    machine = Machine(_bandwidth(), _arithmetic())
    yield str(machine)
    yield f"{'kernel':<36}{'ns/record':>9}{'bytes':>8}{'flops':>8}{'bound':>9}{'ratio':>8}  holds"
    for measured in kernels():
        yield measured.line(machine)
    yield from costs()


def kernels() -> Iterator[Measured]:
    """Measure each kernel on records that are too many for any cache."""
    rng = np.random.default_rng()
    yield _encode(rng, 4)
    for d, k in SHAPES:
        records = _records(rng, ROWS * 4 // max(d, 4), d)
        engine, centers = ArrayEngine(records), records[:k].astype(np.int64)
        # The distances as one product, their least, and one sum for each column and the count.
        sums = 2 * k * (d + 1) + (k - 1) + (d + 1)
        clips = {
            "": (None, "cube", sums),
            ", cube": (REACH, "cube", sums + 3 * d),
            ", ball": (REACH, "ball", sums + 5 * d + ROOT + QUOTIENT + 1),
        }
        for name, (reach, shape, operations) in clips.items():
            seconds = _best(
                lambda r=reach, s=shape, e=engine, c=centers: nearest_statistics(
                    e, c, clip_radius=r, shape=s
                )
            )
            title = f"nearest{name}, d = {d}, k = {k}"
            yield Measured(title, seconds / len(records), 4 * d, operations)
    records = _records(rng, ROWS, 4)
    engine = ArrayEngine(records)
    for side in (8, 32, 64):
        seconds = _best(lambda m=side: grid_counts(engine, (m,) * 4))
        # To the lattice's corner, times cells, shifted, clipped, into the place; and one count.
        yield Measured(f"grid, {side}^4 cells", seconds / ROWS, 16, 4 * 6 + 1)
    yield _magnitudes(rng, 4)
    yield _laplace()


def costs() -> Iterator[str]:
    """Yield nanoseconds a record against n, d, k and cells."""
    rng = np.random.default_rng()
    yield "Cost in ns/record, one quantity varied at a time: nearest, cube, n = 10^6, d = 4, k = 8"
    usual = {"n": 1_000_000, "d": 4, "k": 8}
    ranges = {
        "n": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        "d": (1, 2, 4, 8, 16, 32),
        "k": (2, 4, 8, 16, 32, 64, 128, 256),
    }
    for quantity, values in ranges.items():
        found = []
        for value in values:
            n, d, k = (usual | {quantity: value}).values()
            records = _records(rng, n, d)
            engine, centers = ArrayEngine(records), records[:k].astype(np.int64)
            seconds = _best(lambda e=engine, c=centers: nearest_statistics(e, c, clip_radius=REACH))
            found.append(f"{value:g}: {seconds / n * 1e9:.1f}")
        yield f"  {quantity:<6}" + "   ".join(found)
    engine = ArrayEngine(_records(rng, 1_000_000, 4))
    sides = (4, 8, 16, 32, 64)
    found = [f"{m}^4: {_best(lambda m=m: grid_counts(engine, (m,) * 4)) * 1e3:.1f}" for m in sides]
    yield "  grid  " + "   ".join(found)


def _records(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Lattice records, few columns one after the other, as estimators hold them."""
    order = "F" if d < 16 else "C"
    return np.array(rng.integers(-HALF, HALF, (n, d), dtype=np.int32), order=order)


def _best(run: Callable[[], object]) -> float:
    """Least of several times: what disturbs a run only ever makes it longer."""
    best = float("inf")
    for _ in range(TURNS):
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return best


def _bandwidth() -> float:
    source = np.ones(ROWS * 4)
    target = np.zeros_like(source)

    def copy(start: int, stop: int) -> None:
        np.copyto(target[start:stop], source[start:stop])

    return 2 * source.nbytes / _best(lambda: run_in_parts(copy, len(source), 4 * PART))


def _arithmetic() -> float:
    factor, products = np.ones((800, 800)), 16

    def multiply(start: int, stop: int) -> None:
        for _ in range(start, stop):
            factor @ factor

    seconds = _best(lambda: run_in_parts(multiply, products, 1))
    return products * 2 * len(factor) ** 3 / seconds


def _encode(rng: np.random.Generator, d: int) -> Measured:
    """Round to the lattice, column by column: difference, product, rounding, two limits."""
    lattice = Lattice.box(np.full(d, -1.0), np.full(d, 1.5), half=HALF)
    X = np.asfortranarray(rng.uniform(-1.0, 1.5, (ROWS, d)))
    records = np.zeros((ROWS, d), dtype=np.int32, order="F")

    def encode(start: int, stop: int) -> None:
        lattice.encode(X[start:stop], out=records[start:stop])

    seconds = _best(lambda: run_in_parts(encode, ROWS, PART))
    return Measured(f"encode, d = {d}", seconds / ROWS, 12 * d, 5 * d)


def _magnitudes(rng: np.random.Generator, d: int) -> Measured:
    """Count powers of two: exponent, two limits, sign and a count, in each column."""
    X = rng.standard_normal((ROWS, d))

    def count(start: int, stop: int) -> None:
        magnitude_counts(X[start:stop])

    seconds = _best(lambda: run_in_parts(count, ROWS, PART))
    return Measured(f"magnitudes, d = {d}", seconds / ROWS, 8 * d, 5 * d)


def _laplace() -> Measured:
    """Draw exact Laplace noise: eight random bytes, a logarithm, a quotient and a sign each."""
    source = SecureSource()
    seconds = _best(lambda: discrete_laplace(ROWS, scale=100.0, source=source))
    return Measured("discrete Laplace, one thread", seconds / ROWS, 16, LOGARITHM + QUOTIENT + 1)


if __name__ == "__main__":
    for note in notes():
        print(note, flush=True)
