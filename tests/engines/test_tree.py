import itertools
import pickle

import numpy as np
import pytest

from helpers import exact_statistics
from shoal.engines import ArrayEngine, Part, leaf_statistics, tree, tree_counts
from shoal.exceptions import ParameterError

HALF = 2**19


def forest(seed, n, d, levels):
    """Records, planes and cuts; several records lie on a plane itself."""
    rng = np.random.default_rng(seed)
    records = rng.integers(-HALF, HALF, (n, d), endpoint=True)
    planes = rng.integers(-HALF, HALF, (levels, d), endpoint=True)
    on_plane = rng.integers(0, n, levels)
    cuts = np.einsum("ij,ij->i", planes, records[on_plane])
    cuts += rng.integers(-1, 2, levels)
    return records, planes, cuts, rng


@pytest.mark.parametrize(("n", "d", "levels"), [(200, 3, 4), (50, 1, 1), (100, 30, 9), (20, 2, 20)])
def test_codes_against_integers_of_python(n, d, levels):
    records, planes, cuts, rng = forest(n, n, d, levels)
    weights = rng.integers(0, 256, n, endpoint=True)
    codes = exact_statistics.codes(records, planes, cuts)
    for given in (None, weights):
        expected = np.bincount(codes, weights=given, minlength=2**levels)
        found = tree_counts(ArrayEngine(records, given), planes, cuts)
        assert found.dtype == np.int64
        assert (found == expected).all()


def test_exact_in_the_largest_box():
    """8192 columns of the largest products: cuts at the value itself and one below it."""
    corner = np.full((1, 8192), HALF)
    planes = np.concatenate([corner, corner, -corner, -corner])
    cuts = np.array([2**51, 2**51 - 1, -(2**51), -(2**51) + 1])
    assert tree_counts(corner, planes, cuts).nonzero()[0].tolist() == [0b0010]
    assert tree_counts(-corner, planes, cuts).nonzero()[0].tolist() == [0b1100]


@pytest.mark.parametrize(
    ("clip_radius", "shape"), [(None, "cube"), (HALF // 4, "cube"), (HALF, "ball")]
)
def test_leaves_against_integers_of_python(clip_radius, shape, subtests):
    for d, leaves in [(3, 2), (3, 11), (20, 5), (20, 50)]:
        with subtests.test(d=d, leaves=leaves):
            records, planes, cuts, rng = forest(leaves, 150, d, 6)
            leaf_of_code = rng.integers(-1, leaves, 64)
            anchors = rng.integers(-HALF, HALF, (leaves, d), endpoint=True)
            weights = rng.integers(0, 256, 150, endpoint=True)
            codes = exact_statistics.codes(records, planes, cuts)
            leaf_of_code[codes[:2]] = -1
            labels = leaf_of_code[codes].tolist()
            expected = exact_statistics.statistics(
                records, labels, anchors, weights=weights, clip_radius=clip_radius, shape=shape
            )
            for rows, threads in itertools.product((1, 40, 150), (1, 2, 7)):
                engine = ArrayEngine(records, weights, rows=rows, threads=threads)
                found = leaf_statistics(
                    engine,
                    planes,
                    cuts,
                    leaf_of_code,
                    anchors,
                    clip_radius=clip_radius,
                    shape=shape,
                )
                assert found.counts.tolist() == expected[0]
                assert found.sums.tolist() == expected[1]


def test_same_bits_for_any_parts_blocks_and_threads(monkeypatch):
    records, planes, cuts, _ = forest(9, 3000, 4, 8)
    whole = tree_counts(records, planes, cuts)
    for rows, threads, block in itertools.product((100, 1500, 3000), (1, 2, 7), (30, 2000)):
        for rule in ("block_rows", "product_rows"):
            monkeypatch.setattr(tree, rule, lambda *_, block=block: block)
        engine = ArrayEngine(records, rows=rows, threads=threads)
        assert (tree_counts(engine, planes, cuts) == whole).all()


def test_one_record_changes_one_leaf():
    records, planes, cuts, rng = forest(10, 40, 3, 4)
    leaf_of_code = np.arange(16) % 5 - 1
    anchors = rng.integers(-HALF, HALF, (4, 3))
    labels = leaf_of_code[exact_statistics.codes(records, planes, cuts)]

    def measure(rows):
        return leaf_statistics(
            rows, planes, cuts, leaf_of_code, anchors, clip_radius=9, shape="ball"
        )

    more = measure(records)
    for i, label in enumerate(labels.tolist()):
        less = measure(np.delete(records, i, axis=0))
        counts, sums = more.counts - less.counts, more.sums - less.sums
        assert counts.tolist() == [int(leaf == label) for leaf in range(4)]
        assert all((sums[leaf] == 0).all() for leaf in range(4) if leaf != label)
        assert (sums**2).sum() <= 81


def test_no_records_and_no_leaves():
    planes, cuts = np.array([[1, 0]]), np.array([0])
    empty = np.empty((0, 2), dtype=int)
    assert tree_counts(empty, planes, cuts).tolist() == [0, 0]
    found = leaf_statistics(np.ones((3, 2), dtype=int), planes, cuts, np.array([-1, -1]), planes)
    assert found.counts.tolist() == [0]
    assert found.sums.tolist() == [[0, 0]]


def test_a_kernel_travels():
    records, planes, cuts, _ = forest(11, 30, 2, 3)
    part = Part(records.astype(np.int32))
    kernel = tree.LeafKernel(
        tree.TreeKernel(planes, cuts), np.zeros(8, dtype=np.int32), planes[:1], 5, "cube"
    )
    copy = pickle.loads(pickle.dumps(kernel))
    for mine, theirs in zip(kernel(part), copy(part), strict=True):
        assert (mine == theirs).all()


def test_bad_parameters(subtests):
    for change, message in [
        ({"planes": np.ones((21, 2), dtype=int)}, "planes must be at most 20"),
        ({"planes": np.full((1, 2), HALF + 1)}, "planes must lie between"),
        ({"cuts": np.array([0, 0])}, "cuts must be 1 integers"),
        ({"cuts": np.array([0.5])}, "cuts must be 1 integers"),
        ({"cuts": np.array([2**51 + 1])}, "cuts must lie between"),
        ({"leaf_of_code": np.array([0])}, "leaf_of_code must be 2 integers"),
        ({"leaf_of_code": np.array([0, 1])}, "leaf_of_code must lie between"),
        ({"leaf_of_code": np.array([0, -2])}, "leaf_of_code must lie between"),
        ({"anchors": np.zeros((1, 3), dtype=int)}, "anchors must have shape"),
    ]:
        with subtests.test(change=change, message=message):
            right = {
                "planes": np.array([[1, 0]]),
                "cuts": np.array([0]),
                "leaf_of_code": np.array([0, -1]),
                "anchors": np.zeros((1, 2), dtype=int),
            }
            with pytest.raises(ParameterError, match=message):
                leaf_statistics(np.zeros((1, 2), dtype=int), **(right | change))
