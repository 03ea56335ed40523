"""Words against randomgen's same words; samplers and reports against numpy drawing as much."""

from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import numpy.typing as npt
from randomgen import AESCounter
from timing import Ratio, compare

from shoal.mechanisms import Laplace
from shoal.noise import (
    RandomSource,
    SecureSource,
    SeededSource,
    discrete_laplace,
    rounded_gaussian,
    uniform_integers,
)

COUNT = 1_000_000


class Reference:
    """Words of randomgen."""

    seeded = True

    def __init__(self) -> None:
        self._generator = np.random.Generator(AESCounter(key=1))

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Draw words as a source does."""
        return self._generator.integers(0, 2**64 - 1, count, dtype=np.uint64, endpoint=True)


def repeated(draw: Callable[[], object], times: int) -> Callable[[], None]:
    """Return a function that draws so often."""

    def run() -> None:
        for _ in range(times):
            draw()

    return run


def words() -> Iterator[Ratio]:
    """Yield what words cost in draws of all sizes, and integers and bits made of them."""
    ours, theirs = SecureSource(), Reference()
    kinds: dict[str, tuple[Callable[[RandomSource, int], object], tuple[int, ...]]] = {
        "words": (lambda s, n: s.words(n), (1, 3, 10, 100, 1000, 10**4, 10**6, 10**7)),
        "integers below 10": (
            lambda s, n: uniform_integers(n, below=10, source=s),
            (1, 100, 10**4, 10**6),
        ),
        "bits": (lambda s, n: np.unpackbits(s.words(n // 64).view(np.uint8)), (6400, 64 * 10**5)),
    }
    for name, (draw, counts) in kinds.items():
        for count in counts:
            times = max(1, 10_000 // count)
            yield compare(
                f"{name}, {count:,} a draw / randomgen",
                repeated(lambda draw=draw, n=count: draw(ours, n), times),
                repeated(lambda draw=draw, n=count: draw(theirs, n), times),
                count=count * times,
                target=0.9,
                turns=max(7, min(301, 3 * 10**6 // (count * times))),
                summary=median,
            )
    yield compare(
        "a seeded source and its first words / randomgen",
        repeated(lambda: SeededSource(1).words(3), 1000),
        repeated(lambda: Reference().words(3), 1000),
        count=1000,
        target=0.9,
        turns=21,
        summary=median,
    )


def ratios() -> Iterator[Ratio]:
    """Yield one ratio a line; targets are those the project set itself."""
    yield from words()
    rng, source = np.random.default_rng(), SecureSource()
    for scale in (0.5, 2.0, 100.0, 1e6):
        p = -np.expm1(-1 / scale)
        yield compare(
            f"discrete Laplace, scale {scale:g} / numpy geometric",
            lambda scale=scale: discrete_laplace(COUNT, scale=scale, source=source),
            lambda p=p: rng.geometric(p, COUNT),
            count=COUNT,
            target=0.25,
        )
    for sigma in (2.0, 2.0**28):
        yield compare(
            f"rounded normal, sigma {sigma:g} / numpy normal",
            lambda sigma=sigma: rounded_gaussian(COUNT, sigmas=sigma, source=source),
            lambda: rng.standard_normal(COUNT),
            count=COUNT,
        )
    for d in (1, 2, 3, 8, 16):
        n = COUNT // d
        records = rng.uniform(-1.0, 1.0, (n, d))
        mechanism = Laplace(2.0, bounds=(-1.0, 1.0)).fit(records)
        yield compare(
            f"Laplace reports, d = {d} / numpy normals and gammas",
            lambda m=mechanism, x=records: m.transform(x),
            lambda n=n, d=d: (rng.standard_normal((n, d)), rng.standard_gamma(d, n)),
            count=n,
            target=0.5,
        )
