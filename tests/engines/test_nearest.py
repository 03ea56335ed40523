import numpy as np
import pytest

from shoal.engines import nearest, nearest_centres, nearest_statistics

HALF = 2**19


def exact(records, centres):
    """The same with Python's integers, one record at a time."""
    counts = [0] * len(centres)
    sums = [[0] * centres.shape[1] for _ in centres]
    labels = []
    for record in records.tolist():
        distances = [
            sum((a - b) ** 2 for a, b in zip(record, c, strict=True)) for c in centres.tolist()
        ]
        label = distances.index(min(distances))
        labels.append(label)
        counts[label] += 1
        sums[label] = [a + b for a, b in zip(sums[label], record, strict=True)]
    return labels, counts, sums


@pytest.mark.parametrize(("n", "k", "d"), [(500, 7, 3), (300, 1, 1), (40, 60, 2), (200, 5, 40)])
def test_against_integers_of_python(n, k, d):
    rng = np.random.default_rng(n)
    records = rng.integers(-HALF, HALF, (n, d), endpoint=True)
    centres = rng.integers(-HALF, HALF, (k, d), endpoint=True)
    labels, counts, sums = exact(records, centres)
    found = nearest_statistics(records, centres)
    assert nearest_centres(records, centres).tolist() == labels
    assert found.counts.tolist() == counts
    assert found.sums.tolist() == sums


def test_exact_at_the_corners_of_the_largest_box():
    """8192 columns at the ends of the lattice: centres that differ by one step in one column."""
    d = 8192
    centres = np.full((2, d), HALF, dtype=np.int64)
    centres[1, 5] -= 1
    records = np.stack([centres[1], centres[0], -centres[0]])
    # The far corner is nearer to the second centre by one part in 2^53.
    assert nearest_centres(records, centres).tolist() == [1, 0, 1]
    assert nearest_statistics(records, centres).sums[1, 5] == HALF - 1 - HALF


def test_ties_go_to_the_lowest_index():
    centres = np.array([[10], [-10], [10]])
    assert nearest_centres(np.array([[0], [10], [-3]]), centres).tolist() == [0, 0, 1]


def test_same_bits_for_any_chunking(monkeypatch):
    rng = np.random.default_rng(1)
    records = rng.integers(-HALF, HALF, (2000, 4))
    centres = rng.integers(-HALF, HALF, (9, 4))
    whole, labels = nearest_statistics(records, centres), nearest_centres(records, centres)
    for values in (13, 130, 1 << 20):
        monkeypatch.setattr(nearest, "CHUNK_VALUES", values)
        parts = nearest_statistics(records, centres)
        assert (parts.counts == whole.counts).all()
        assert (parts.sums == whole.sums).all()
        assert (nearest_centres(records, centres) == labels).all()


def test_no_records():
    empty = np.empty((0, 2), dtype=np.int64)
    centres = np.zeros((3, 2), dtype=np.int64)
    assert nearest_centres(empty, centres).shape == (0,)
    assert nearest_statistics(empty, centres).counts.tolist() == [0, 0, 0]
