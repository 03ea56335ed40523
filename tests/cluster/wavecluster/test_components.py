import itertools

import numpy as np
import pytest
from scipy import ndimage
from scipy.sparse import csgraph

from shoal.cluster.wavecluster import label_grid
from shoal.cluster.wavecluster._components import connected_components
from shoal.engines import ArrayEngine, sparse_grid_counts

HALF = 2**19


def flood(codes, shape):
    """The labels again: one cell at a time, looking at every place around it."""
    places = [tuple(map(int, place)) for place in zip(*np.unravel_index(codes, shape), strict=True)]
    labels = {}
    count = 0
    kept = set(places)
    for place in places:
        if place in labels:
            continue
        todo = [place]
        while todo:
            cell = todo.pop()
            if cell in labels:
                continue
            labels[cell] = count
            around = itertools.product(*[(x - 1, x, x + 1) for x in cell])
            todo += [other for other in around if other in kept and other not in labels]
        count += 1
    return [labels[place] for place in places]


def test_sparse_and_dense_agree_with_a_flood(subtests):
    for shape in [
        (1,),
        (40,),
        (13, 17),
        (2, 50),
        (6, 1, 9),
        (7, 8, 5),
        (4, 5, 3, 6),
        (2, 3, 2, 1, 3),
    ]:
        with subtests.test(shape=shape):
            for part in [0.02, 0.1, 0.3, 0.6, 1.0]:
                rng = np.random.default_rng([*shape, int(100 * part)])
                for _ in range(5):
                    mask = rng.random(shape) < part
                    codes = np.flatnonzero(mask)
                    expected = flood(codes, shape)
                    labels = connected_components(codes, shape)
                    assert labels.dtype == np.int32
                    assert labels.tolist() == expected
                    grid, count = label_grid(mask)
                    assert grid.dtype == np.int32
                    assert grid.shape == mask.shape
                    assert grid[mask].tolist() == expected
                    assert (grid[~mask] == -1).all()
                    assert count == len(set(expected))


@pytest.mark.parametrize(("d", "spread"), [(6, 0.8), (6, 2.0), (8, 0.7), (10, 0.6)])
def test_many_columns(d, spread):
    rng = np.random.default_rng(d)
    centers = rng.integers(5, 35, (4, d))
    places = np.rint(rng.normal(centers[rng.integers(0, 4, 300)], spread)).astype(int)
    places = np.unique(places, axis=0)
    codes = np.ravel_multi_index(tuple(places.T), (40,) * d)
    near = (np.abs(places[:, None] - places[None]) <= 1).all(axis=2)
    reached = np.eye(len(places), dtype=bool)
    while True:
        further = reached @ near
        if (further == reached).all():
            break
        reached = further
    # The lowest cell that each one reaches names its component; they come from lowest to highest.
    _, expected = np.unique(reached.argmax(axis=1), return_inverse=True)
    labels = connected_components(codes, (40,) * d)
    assert labels.tolist() == expected.tolist()
    assert 4 <= labels.max() + 1 < len(codes)


@pytest.mark.parametrize("d", [1, 2, 3, 4, pytest.param(6, marks=pytest.mark.full)])
def test_each_place_around_a_cell_is_connected_and_none_beyond(d):
    shape = (8,) * d
    for middle in (3, 4):  # on either side of a pair
        for offset in itertools.product((-1, 0, 1), repeat=d):
            if not any(offset):
                continue
            pair = np.array([[middle] * d, np.add([middle] * d, offset)])
            assert connected_components(_codes(pair, shape), shape).tolist() == [0, 0]
            far = pair.copy()
            far[1] += offset  # twice as far
            assert connected_components(_codes(far, shape), shape).tolist() == [0, 1]


def _codes(places, shape):
    return np.sort(np.ravel_multi_index(tuple(places.T), shape))


@pytest.mark.parametrize("shape", [(3, 4), (5, 5), (4, 3, 6), (3,) * 6])
def test_nothing_wraps_around(shape):
    """Cells on opposite sides, some of them next to each other in C order."""
    for column, size in enumerate(shape):
        places = np.zeros((2, len(shape)), dtype=int)
        places[1, column] = size - 1
        assert connected_components(_codes(places, shape), shape).tolist() == [0, 1]
    places = np.zeros((2, len(shape)), dtype=int)
    places[0, -1], places[1, -2] = shape[-1] - 1, 1  # codes differ by one
    codes = _codes(places, shape)
    assert codes[1] - codes[0] == 1
    assert connected_components(codes, shape).tolist() == [0, 1]
    mask = np.zeros(shape, dtype=bool)
    mask.ravel()[codes] = True
    assert label_grid(mask)[1] == 2


@pytest.mark.parametrize("length", [511, 512, 513])
def test_a_snake_is_one_component(length):
    """Long thin components need many joins, and many cells join the same two."""
    mask = np.zeros((4, length), dtype=bool)
    mask[1:3] = True
    assert not connected_components(np.flatnonzero(mask), mask.shape).any()
    snake = np.zeros((length, 9), dtype=bool)
    snake[::2] = True
    snake[1::4, -1] = snake[3::4, 0] = True
    codes = np.flatnonzero(snake)
    assert not connected_components(codes, snake.shape).any()
    cut = codes[codes != 9 * 101 + 8]  # the one cell between rows 100 and 102
    assert connected_components(cut, snake.shape).max() == 1


def test_labels_come_in_the_order_of_their_lowest_codes():
    mask = np.array([[0, 0, 0, 1, 0], [1, 0, 0, 1, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1]], bool)
    grid, count = label_grid(mask)
    assert count == 3
    assert grid.tolist() == [
        [-1, -1, -1, 0, -1],
        [1, -1, -1, 0, -1],
        [-1, 1, -1, -1, -1],
        [-1, -1, -1, 2, 2],
    ]
    assert connected_components(np.flatnonzero(mask), mask.shape).tolist() == [0, 1, 0, 1, 2, 2]


def test_scipy_may_number_components_as_it_likes(monkeypatch):
    connect, label = csgraph.connected_components, ndimage.label

    def connect_turned(*args, **kwargs):
        count, labels = connect(*args, **kwargs)
        return count, (labels + 1) % count

    def label_turned(*args, **kwargs):
        labels, count = label(*args, **kwargs)
        return np.where(labels > 0, labels % count + 1, 0), count

    monkeypatch.setattr(csgraph, "connected_components", connect_turned)
    monkeypatch.setattr(ndimage, "label", label_turned)
    mask = np.array([1, 1, 0, 1, 0, 1, 1, 1], dtype=bool)
    assert connected_components(np.flatnonzero(mask), (8,)).tolist() == [0, 0, 1, 2, 2, 2]
    assert label_grid(mask)[0].tolist() == [0, 0, -1, 1, -1, 2, 2, 2]


def test_no_cell_and_one_cell():
    empty = connected_components(np.empty(0, dtype=np.int64), (4, 5))
    assert empty.shape == (0,)
    assert empty.dtype == np.int32
    assert connected_components(np.array([19]), (4, 5)).tolist() == [0]
    grid, count = label_grid(np.zeros((2, 3), dtype=bool))
    assert count == 0
    assert (grid == -1).all()


def test_codes_near_the_largest():
    shape = (2**20, 2**20, 2**20, 3)
    last = 3 * 2**60 - 1
    codes = np.array([0, 1, last - 3, last - 2, last])
    # The last three are (.., 2), then (.., 0) and (.., 2) one place on in the third column.
    assert connected_components(codes, shape).tolist() == [0, 0, 1, 2, 1]


def test_many_groups_of_a_long_column():
    """8192 times 2^19 + 1 pairs: in 32 bits, two of these cells would share a pair."""
    rows = np.repeat(np.arange(8192) * 4, 2)
    columns = np.tile([0, 2 * (2**32 - 8191 * (2**19 + 1))], 8192)
    labels = connected_components(rows * 2**20 + columns, (2**20, 2**20))
    assert labels.tolist() == list(range(2 * 8192))


def test_more_columns_than_an_array_can_have():
    shape = (2,) * 61
    codes = np.array([0, 5, 2**61 - 1])
    assert connected_components(codes, shape).tolist() == [0, 0, 0]


def test_the_same_for_any_parts_of_the_records():
    """A component is made of records from all over the table."""
    rng = np.random.default_rng(2)
    centers = rng.integers(-HALF // 2, HALF // 2, (5, 4))
    records = rng.normal(centers[rng.integers(0, 5, 20_000)], HALF / 20).astype(int)
    cells = (24,) * 4
    expected = None
    for rows, threads in ((20_000, 1), (7000, 2), (501, 3), (64, 2)):
        engine = ArrayEngine(records, rows=rows, threads=threads)
        labels = connected_components(sparse_grid_counts(engine, cells).codes, cells).tolist()
        assert expected is None or labels == expected
        expected = labels
    assert 1 < max(expected) + 1 < len(expected) // 2
