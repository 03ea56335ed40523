"""Speed of DPDensity on 10^7 records beside `np.histogram2d` with as many bins, in one run."""

import statistics
import time
from collections.abc import Iterator

import numpy as np
from timing import Ratio, compare
from wavecluster import spread

from shoal.cluster import DPDensity


def ratios() -> Iterator[Ratio]:
    """Compare a whole fit with counting alone, by the median of three turns.

    The first fit also simulates how prominent a peak must be, which those after it remember.
    """
    n = 10**7
    X = spread(n, 2)
    model = DPDensity(epsilon=1.0, bounds=(-1.0, 1.0))
    start = time.perf_counter()
    bins = model.fit(X).density_.shape
    first = (time.perf_counter() - start) / n * 1e9
    later = compare(
        f"density 10^7 x 2, {bins[0]} x {bins[1]} / histogram2d",
        lambda: model.fit(X),
        lambda: np.histogram2d(X[:, 0], X[:, 1], bins=bins, range=[(-1.0, 1.0)] * 2),
        count=n,
        turns=3,
        summary=statistics.median,
    )
    yield later
    yield Ratio("the same, its first fit", first, later.theirs)


if __name__ == "__main__":
    for ratio in ratios():
        times = f"{ratio.ours:.0f} ns / {ratio.theirs:.0f} ns a record"
        print(f"{ratio.name}: {times}, {1 / ratio.value:.2f} x as long")
