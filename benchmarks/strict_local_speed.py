"""Speed of partition responses: a million reports, from records to clusters, and one at a time.

`python benchmarks/strict_local_speed.py` prints both; `make bench` does too.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

from costs import BOX, UNIT, blobs
from timing import Ratio, compare

from shoal.mechanisms import PartitionResponse
from shoal.reports import NoiseAwareKMeans
from shoal.reports._partition_likelihood import tally

COUNT = 10**6  # reports of a campaign
CALLS = 2_000  # of a device, one record each
TARGET = 10**4  # reports a second and core, one call each
CLUSTERS = 15
EPSILON = 2.0
MEGABYTE = 2**20


def ratios() -> Iterator[Ratio]:
    """Compare calls of one record with the time they may take, and with all records in one call."""
    records = blobs(CALLS, 2, CLUSTERS)
    device = PartitionResponse(EPSILON, bounds=BOX, n_clusters=CLUSTERS).fit(records)

    def one_by_one() -> None:
        for record in records:
            device.randomize(record)

    turns = compare(
        f"randomize 1 record, eps {EPSILON:g} / transform {CALLS}",
        one_by_one,
        lambda: device.transform(records),
        count=CALLS,
    )
    yield turns
    yield Ratio(f"the same / {TARGET:.0e} a second", turns.ours, 1e9 / TARGET, target=1.0)


def notes() -> Iterator[str]:
    """Yield a line for each step of a campaign: seconds, and how far it raises the peak."""
    yield f"{COUNT:.0e} partition responses, eps {EPSILON:g}, k = {CLUSTERS}: seconds, MB to peak"
    # A process of its own, whose peak is that of this campaign alone (see costs.py).
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        steps = pool.submit(_campaign).result()
    for name, seconds, growth in steps:
        yield f"  {name:<24}{seconds:>8.2f}{growth:>8.0f}"


def _campaign() -> list[tuple[str, float, float]]:
    records = blobs(COUNT, 2, CLUSTERS)
    device = PartitionResponse(EPSILON, bounds=BOX, n_clusters=CLUSTERS).fit(records)
    server = NoiseAwareKMeans(CLUSTERS, mechanism=device, random_state=0)
    steps = []

    def timed(name: str, step: Callable[[], object]) -> object:
        before, start = _peak(), time.perf_counter()
        made = step()
        seconds = time.perf_counter() - start
        steps.append((name, seconds, (_peak() - before) / MEGABYTE))
        return made

    reports = timed("draw", lambda: device.transform(records))
    encoded = timed("encode", lambda: device.encode(reports))
    decoded = timed("decode", lambda: device.decode(encoded))
    timed("tally", lambda: tally(decoded, device.partitions_))
    timed("cluster, with the tally", lambda: server.fit(decoded))
    return steps


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


if __name__ == "__main__":
    for ratio in ratios():
        each = f"{ratio.ours / 1e3:.1f} us / {ratio.theirs / 1e3:.1f} us a report"
        print(f"{ratio.name}: {each}, {1e9 / ratio.ours:.0f} a second")
    for note in notes():
        print(note)
