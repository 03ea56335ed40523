import pickle

import numpy as np
import pytest

from helpers import exact_statistics
from shoal.engines import ArrayEngine, Part, nearest, nearest_centers, nearest_statistics
from shoal.engines.nearest import NearestKernel
from shoal.exceptions import ParameterError

HALF = 2**19
CLIPS = [(None, "cube"), (1, "cube"), (HALF // 3, "cube"), (1, "ball"), (HALF // 3, "ball")]


def lattice(rng, shape, half=HALF):
    """Points with many at the corners, where rounding would show."""
    points = rng.integers(-half, half, shape, endpoint=True)
    return np.where(rng.random(shape) < 0.2, half * np.sign(points), points)


def test_against_integers_of_python(subtests):
    for n, k, d in [(300, 7, 3), (200, 1, 1), (40, 60, 2), (60, 5, 40), (30, 40, 20), (1, 9, 2)]:
        with subtests.test(n=n, k=k, d=d):
            for clip_radius, shape in CLIPS:
                rng = np.random.default_rng([n, k, d])
                records, centers = lattice(rng, (n, d)), lattice(rng, (k, d))
                weights = rng.integers(0, 256, n, endpoint=True)
                labels = exact_statistics.nearest(records, centers)
                assert nearest_centers(records, centers).tolist() == labels
                for given in (None, weights):
                    expected = exact_statistics.statistics(
                        records,
                        labels,
                        centers,
                        weights=given,
                        clip_radius=clip_radius,
                        shape=shape,
                    )
                    found = nearest_statistics(
                        ArrayEngine(records, given), centers, clip_radius=clip_radius, shape=shape
                    )
                    assert found.counts.tolist() == expected[0]
                    assert found.sums.tolist() == expected[1]


@pytest.mark.parametrize("k", [3, 20, 2000])
def test_ties_go_to_the_lowest_index(k):
    """A small lattice with centers that occur several times and records halfway between two."""
    rng = np.random.default_rng(k)
    records, centers = rng.integers(-2, 3, (200, 2)), rng.integers(-2, 3, (k, 2))
    assert nearest_centers(records, centers).tolist() == exact_statistics.nearest(records, centers)


def test_exact_at_the_corners_of_the_largest_box():
    """8192 columns at the ends of the lattice: centers that differ by one step in one column."""
    d = 8192
    centers = np.full((2, d), HALF, dtype=np.int64)
    centers[1, 5] -= 1
    records = np.stack([centers[1], centers[0], -centers[0]])
    # The far corner is nearer to the second center by one part in 2^53.
    assert nearest_centers(records, centers).tolist() == [1, 0, 1]
    assert nearest_statistics(records, centers).sums[1, 5] == HALF - 1 - HALF
    # 2^26.5 is the longest offset there is: a radius one step below it clips, one above does not.
    offset = nearest_statistics(records[2:], centers[:1], clip_radius=94_906_266, shape="ball").sums
    assert (offset == -2 * HALF).all()
    offset = nearest_statistics(records[2:], centers[:1], clip_radius=94_906_265, shape="ball").sums
    assert (offset == 1 - 2 * HALF).all()


def test_distances_and_indices_that_share_a_double(subtests):
    """Columns around the limits for 256, 64 and 16 centers: differences of one unit in 2^53."""
    for d in [10, 42, 43, 170, 171, 682, 683]:
        with subtests.test(d=d):
            for k in (256, 250, 64, 16):
                centers = np.full((k, d), -HALF, dtype=np.int64)
                centers[k - 1, 0] += 1
                records = np.stack([centers[0] + HALF * 2, centers[k - 1], centers[0]])
                assert nearest_centers(records, centers).tolist() == [k - 1, k - 1, 0]


def test_members_from_the_bits_of_a_double(subtests):
    """Columns around the limits: the largest keys there are, that differ by one unit in 2^53."""
    for k, d in [
        (32, 127),
        (32, 128),
        (32, 250),
        (8, 511),
        (8, 512),
        (8, 1000),
        (2, 2047),
        (2, 4000),
    ]:
        with subtests.test(k=k, d=d):
            same = np.full((k, d), -HALF, dtype=np.int64)
            other = same.copy()
            other[k - 1, 0] += 1
            records = np.stack([-same[0], other[k - 1], same[0]])
            for centers, labels in ((same, [0, 0, 0]), (other, [k - 1, k - 1, 0])):
                expected = exact_statistics.statistics(records, labels, centers)
                for order in "CF":
                    kernel, part = (
                        NearestKernel(centers),
                        Part(records.astype(np.int32, order=order)),
                    )
                    assert kernel.labels(part).tolist() == labels
                    assert [result.tolist() for result in kernel(part)] == list(expected)


def test_a_root_undoes_a_square():
    """Factors of offsets within clip_radius are exactly 1, for every clip_radius."""
    rng = np.random.default_rng(4)
    within = np.concatenate([np.arange(1, 10_000), rng.integers(1, 2**27, 100_000)]) * (1 - 2**-50)
    assert (within / np.sqrt(within * within) == 1.0).all()


@pytest.mark.parametrize(("clip_radius", "shape"), CLIPS)
def test_same_bits_for_any_parts_blocks_and_threads(monkeypatch, clip_radius, shape, subtests):
    for d, k in [(4, 9), (4, 5), (30, 40)]:
        with subtests.test(d=d, k=k):
            rng = np.random.default_rng(1)
            records, centers = lattice(rng, (500, d)), lattice(rng, (k, d))
            weights = rng.integers(0, 256, 500, endpoint=True)
            whole = nearest_statistics(
                ArrayEngine(records, weights), centers, clip_radius=clip_radius, shape=shape
            )
            labels = nearest_centers(records, centers)
            for rows, threads, block in [
                (1, 7, 9),
                (7, 1, 3),
                (300, 2, 100),
                (499, 7, 1),
                (500, 2, 64),
            ]:
                engine = ArrayEngine(records, weights, threads=threads, rows=rows)
                with monkeypatch.context() as patched:
                    for rule in ("block_rows", "product_rows"):
                        patched.setattr(nearest, rule, lambda *_, block=block: block)
                    parts = nearest_statistics(
                        engine, centers, clip_radius=clip_radius, shape=shape
                    )
                    assert (nearest_centers(engine, centers) == labels).all()
                assert (parts.counts == whole.counts).all()
                assert (parts.sums == whole.sums).all()


@pytest.mark.parametrize(("clip_radius", "shape"), CLIPS)
def test_one_record_changes_one_count_and_one_row(clip_radius, shape, subtests):
    for weight in [1, 256]:
        with subtests.test(weight=weight):
            rng = np.random.default_rng(2)
            for d in (1, 3, 25):
                records, centers = lattice(rng, (50, d)), lattice(rng, (6, d))
                weights = np.full(50, weight)
                for i in range(20):
                    kept = np.arange(50) != i
                    more, less = (
                        nearest_statistics(
                            ArrayEngine(r, w), centers, clip_radius=clip_radius, shape=shape
                        )
                        for r, w in ((records, weights), (records[kept], weights[kept]))
                    )
                    label = exact_statistics.nearest(records[i : i + 1], centers)[0]
                    counts, sums = more.counts - less.counts, more.sums - less.sums
                    assert counts[label] == weight
                    assert np.flatnonzero(counts).tolist() == [label]
                    assert set(np.flatnonzero(sums.any(axis=1))) <= {label}
                    change = sums[label].tolist()
                    bound = weight * (clip_radius or HALF)
                    if shape == "cube":
                        assert max(map(abs, change)) <= bound
                    else:
                        assert sum(value**2 for value in change) <= bound**2


def test_shrinking_never_rounds_outwards():
    """Offsets whose exact image has whole columns, where one rounding up would pass the radius."""
    for scale in range(2, 3000):
        # 3-4-5 triangles: the image of (3 s, 4 s) at radius 5 is (3, 4), which rounding must not
        # overshoot; at most one step is lost.
        records = np.array([[3 * scale, 4 * scale]])
        sums = nearest_statistics(
            records, np.zeros((1, 2), dtype=int), clip_radius=5, shape="ball"
        ).sums
        assert sums.tolist() in ([[2, 3]], [[3, 3]], [[2, 4]], [[3, 4]])


@pytest.mark.parametrize("clip_radius", [5, 500, 5 * 2**16])
def test_the_ball_is_closed(clip_radius):
    """Length clip_radius is inside; a square one unit larger is not."""
    records = np.array([[clip_radius // 5 * 3, clip_radius // 5 * 4]])
    center = np.zeros((1, 2), dtype=int)
    sums = nearest_statistics(records, center, clip_radius=clip_radius, shape="ball").sums
    assert (sums == records).all()
    records = np.array([[clip_radius, 1]])
    sums = nearest_statistics(records, center, clip_radius=clip_radius, shape="ball").sums
    assert sums.tolist() == [[clip_radius - 1, 0]]


def test_no_records():
    empty = np.empty((0, 2), dtype=np.int64)
    centers = np.zeros((3, 2), dtype=np.int64)
    assert nearest_centers(empty, centers).shape == (0,)
    found = nearest_statistics(empty, centers, clip_radius=3, shape="ball")
    assert found.counts.tolist() == [0, 0, 0]
    assert found.sums.tolist() == [[0, 0]] * 3


def test_a_kernel_travels():
    """Other engines send kernels to other processes, used or not."""
    rng = np.random.default_rng(3)
    kernel = NearestKernel(lattice(rng, (4, 2)), 1000, "ball")
    part = Part(lattice(rng, (20, 2)).astype(np.int32))
    for copy in (pickle.loads(pickle.dumps(kernel)) for _ in range(2)):
        for mine, theirs in zip(kernel(part), copy(part), strict=True):
            assert (mine == theirs).all()


def test_bad_parameters(subtests):
    for centers, options, message in [
        (np.zeros((2, 3), dtype=int), {}, "centers must have shape"),
        (np.zeros((0, 2), dtype=int), {}, "centers must have shape"),
        (np.zeros((2, 2)), {}, "centers must be integers"),
        (np.full((2, 2), HALF + 1), {}, "centers must lie between"),
        (np.full((2, 2), -HALF - 1), {}, "centers must lie between"),
        (np.zeros((2, 2), dtype=int), {"clip_radius": 0}, "clip_radius must be from 1"),
        (np.zeros((2, 2), dtype=int), {"clip_radius": 1.5}, "clip_radius must be a whole number"),
        (np.zeros((2, 2), dtype=int), {"clip_radius": True}, "clip_radius must be a whole number"),
        (np.zeros((2, 2), dtype=int), {"shape": "disc"}, "shape must be one of"),
    ]:
        with (
            subtests.test(centers=centers, options=options, message=message),
            pytest.raises(ParameterError, match=message),
        ):
            nearest_statistics(np.zeros((1, 2), dtype=int), centers, **options)
