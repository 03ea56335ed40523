"""Polygons of cells: valid, of the cells' area, holding the points of the cells."""

import itertools
import json

import numpy as np
import pytest
from scipy import ndimage

from helpers.partitions import halved_boxes
from shoal.density import outline_boxes, outline_grid, outline_intervals, to_geojson
from shoal.density._rings import pack
from shoal.exceptions import ParameterError


def signed_area(ring):
    x, y = ring.T
    return 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def even_odd(points, polygon):
    """Count the borders on the right of each point, of all rings: odd is inside."""
    crossed = np.zeros(len(points), dtype=int)
    for ring in polygon:
        for (x1, y1), (x2, y2) in itertools.pairwise(ring):
            between = (y1 > points[:, 1]) != (y2 > points[:, 1])
            crossed += between & (points[:, 0] < max(x1, x2)) & (x1 == x2)
    return crossed % 2 == 1


def segments(ring):
    return [(*np.minimum(a, b), *np.maximum(a, b)) for a, b in itertools.pairwise(ring)]


def common(one, other):
    """Return the box that two axis-parallel segments have in common, or None."""
    low, high = np.maximum(one[:2], other[:2]), np.minimum(one[2:], other[2:])
    return (tuple(low), tuple(high)) if (low <= high).all() else None


def assert_valid(polygon):
    """Check the rules of OGC for rings, and those of RFC 7946 for their order and direction."""
    for index, ring in enumerate(polygon):
        assert ring.dtype == np.float64
        assert (ring[0] == ring[-1]).all()
        steps = np.diff(ring, axis=0)
        assert ((steps != 0).sum(axis=1) == 1).all()
        turns = np.vstack([steps, steps[:1]]) != 0
        assert (turns[1:] != turns[:-1]).all(), "collinear points"
        assert len(set(map(tuple, ring))) == len(ring) - 1, "a ring passes a point twice"
        pieces = segments(ring)
        for i, j in itertools.combinations(range(len(pieces)), 2):
            if j - i not in (1, len(pieces) - 1):
                assert common(pieces[i], pieces[j]) is None, "a ring touches itself"
        assert (signed_area(ring) > 0) == (index == 0)
    for one, other in itertools.combinations(polygon, 2):
        points = set(map(tuple, one)) & set(map(tuple, other))
        for a, b in itertools.product(segments(one), segments(other)):
            met = common(a, b)
            assert met is None or (met[0] == met[1] and met[0] in points), "rings cross"


def assert_outlines(polygons, labels):
    """Compare outlines of a grid of unit cells with its labels, cell by cell."""
    middles = np.indices(labels.shape).reshape(2, -1).T + 0.5
    assert set(polygons) == set(np.unique(labels[labels >= 0]))
    for cluster, parts in polygons.items():
        numbers, n = ndimage.label(labels == cluster)
        assert len(parts) == n
        seen = []
        for polygon in parts:
            assert_valid(polygon)
            inside = even_odd(middles, polygon).reshape(labels.shape)
            (number,) = np.unique(numbers[inside])
            assert (inside == (numbers == number)).all()
            seen.append(number)
        assert sorted(seen) == list(range(1, n + 1))


def same(one, other):
    return one.keys() == other.keys() and all(
        [[ring.tolist() for ring in polygon] for polygon in one[cluster]]
        == [[ring.tolist() for ring in polygon] for polygon in other[cluster]]
        for cluster in one
    )


def labeled_boxes(seed, *, halvings=8, clusters=3):
    rng = np.random.default_rng(seed)
    low, high = halved_boxes(rng, 2, halvings=halvings, part=0.85)
    return low, high, rng.integers(-1, clusters, size=len(low))


@pytest.mark.parametrize("corner", range(8))
def test_every_grid_of_nine_cells(corner):
    """All 512: every way in which cells can meet at corners."""
    for code in range(64):
        bits = code * 8 + corner
        labels = np.array([(bits >> bit) & 1 for bit in range(9)]).reshape(3, 3) - 1
        assert_outlines(outline_grid(labels, [range(4)] * 2), labels)


@pytest.mark.parametrize("seed", range(12))
def test_random_grids(seed):
    """Of two clusters and none, with rings in rings and holes that touch at corners."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1, 0, 1], p=[0.3, 0.55, 0.15], size=(9, 7))
    assert_outlines(outline_grid(labels, [range(10), range(8)]), labels)


def test_a_ring_that_meets_itself_at_a_corner_is_an_outer_one_and_a_hole():
    labels = np.array([[0, 0, 0], [0, -1, 0], [0, 0, -1]])
    ((outer, hole),) = outline_grid(labels, [range(4)] * 2)[0]
    assert (len(outer), len(hole)) == (7, 5)
    assert [2.0, 2.0] in outer.tolist()
    assert [2.0, 2.0] in hole.tolist()


def test_cells_that_meet_at_a_corner_are_two_polygons():
    ((one,), (other,)) = outline_grid(np.array([[0, -1], [-1, 0]]), [range(3)] * 2)[0]
    assert one.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    assert other.tolist() == [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]


def test_an_island_in_a_hole_is_a_polygon_of_its_own():
    labels = np.full((5, 5), 0)
    labels[1:4, 1:4] = -1
    labels[2, 2] = 0
    assert [len(polygon) for polygon in outline_grid(labels, [range(6)] * 2)[0]] == [2, 1]


@pytest.mark.parametrize("seed", range(6))
def test_boxes_of_different_sizes_have_the_outlines_of_their_finest_cells(seed):
    low, high, labels = labeled_boxes(seed)
    fine = np.empty(high.max(axis=0), dtype=np.int64)
    for (x1, y1), (x2, y2), label in zip(low, high, labels, strict=True):
        fine[x1:x2, y1:y2] = label
    polygons = outline_boxes(low, high, labels)
    assert len(np.unique(high - low)) > 2
    assert same(polygons, outline_grid(fine, [np.arange(size + 1) for size in fine.shape]))
    assert_outlines(polygons, fine)


def test_outlines_do_not_depend_on_the_order_of_the_boxes():
    low, high, labels = labeled_boxes(1)
    order = np.random.default_rng(0).permutation(len(low))
    assert same(
        outline_boxes(low, high, labels), outline_boxes(low[order], high[order], labels[order])
    )


@pytest.mark.parametrize("seed", range(3))
def test_areas_and_points_in_units_of_the_user(seed):
    """Corners are rounded; every point is in the polygons of its own cluster and of no other."""
    low, high, labels = labeled_boxes(seed, halvings=9)
    scale, shift = np.array([0.013, 0.007]), np.array([-74.3, 40.5])
    low, high = low * scale + shift, high * scale + shift
    polygons = outline_boxes(low, high, labels)
    points = np.random.default_rng(seed).uniform(low.min(axis=0), high.max(axis=0), size=(400, 2))
    point = points[:, np.newaxis]
    box = ((low <= point) & (point < high)).all(axis=2).argmax(axis=1)
    for cluster, parts in polygons.items():
        area = sum(signed_area(ring - shift) for polygon in parts for ring in polygon)
        cells = (high - low)[labels == cluster].prod(axis=1)
        assert area == pytest.approx(cells.sum(), rel=1e-12)
        held = sum(even_odd(points, polygon).astype(int) for polygon in parts)
        np.testing.assert_array_equal(held, labels[box] == cluster)
        for polygon in parts:
            used = {tuple(map(float, row)) for ring in polygon for row in ring.T}
            assert all(set(row) <= {*low.ravel(), *high.ravel()} for row in used)


def test_boxes_of_no_cluster_are_not_needed():
    low, high, labels = labeled_boxes(2)
    kept = labels >= 0
    polygons = outline_boxes(low[kept], high[kept], labels[kept])
    assert same(outline_boxes(low, high, labels), polygons)
    assert outline_boxes(low, high, np.full(len(low), -1)) == {}
    assert outline_grid([[-1]], [[0, 1]] * 2) == {}


def test_boxes_need_not_be_made_by_halving():
    low, high = [[0, 0], [0, 0.3], [0.7, 0.2]], [[0.7, 0.3], [0.7, 1.0], [2.0, 0.9]]
    ((ring,),) = outline_boxes(low, high, [4, 4, 4])[4]
    assert signed_area(ring) == pytest.approx(0.7 + 1.3 * 0.7)
    assert len(ring) == 9


def test_overlap_of_intervals_is_seen():
    with pytest.raises(ParameterError, match="do not overlap"):
        outline_intervals([0, 1], [2, 3], [0, 1])


def test_a_large_grid_of_stripes_and_corners():
    """Of a quarter of a million cells, in one ring each or in one ring of all."""
    checks = np.indices((512, 512)).sum(axis=0) % 2 - 1
    polygons = outline_grid(checks, [range(513)] * 2)[0]
    assert len(polygons) == 512 * 256
    assert {(len(polygon), len(polygon[0])) for polygon in polygons} == {(1, 5)}
    ((ring,),) = outline_grid(np.zeros((512, 512), dtype=int), [range(513)] * 2)[0]
    assert len(ring) == 5


def test_packed_rows_keep_their_order_where_they_outgrow_64_bits():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2**40, size=(50, 3))
    rows[:25, :2] = rows[25:, :2]
    assert np.argsort(pack(*rows.T)).tolist() == np.lexsort(rows.T[::-1]).tolist()


def test_intervals():
    low, high = np.array([4, 0, 1, 3, 6]), np.array([6, 1, 3, 4, 7])
    intervals = outline_intervals(low, high, [1, 0, 0, 0, 0])
    assert intervals == {0: [(0.0, 4.0), (6.0, 7.0)], 1: [(4.0, 6.0)]}
    column = low[:, np.newaxis], high[:, np.newaxis]
    assert outline_intervals(*column, [1, 0, 0, 0, 0]) == intervals
    assert outline_intervals(low, high, [-1] * 5) == {}


@pytest.mark.parametrize("seed", range(3))
def test_intervals_are_those_of_the_cells(seed):
    rng = np.random.default_rng(seed)
    low, high = halved_boxes(rng, 1, halvings=7, part=0.9)
    labels = rng.integers(-1, 2, size=len(low))
    intervals = outline_intervals(low, high, labels)
    fine = np.empty(high.max(), dtype=int)
    for start, end, label in zip(low[:, 0], high[:, 0], labels, strict=True):
        fine[start:end] = label
    for cluster in (0, 1):
        numbers, n = ndimage.label(fine == cluster)
        assert len(intervals[cluster]) == n
        for number, (start, end) in enumerate(intervals[cluster], start=1):
            assert np.flatnonzero(numbers == number).tolist() == list(range(int(start), int(end)))


@pytest.mark.parametrize("order", [(0, 1), (1, 0), ("lon", "lat"), ("lat", "lon")])
def test_geojson(order):
    labels = np.array([[2, 2, 2], [2, -1, 2], [2, 2, 2], [-1, -1, 5]])
    polygons = outline_grid(labels, [np.linspace(-74, -73, 5), np.linspace(40, 41, 4)])
    sizes = {2: {"size": np.float64(12.5), "people": np.int64(3), "box": np.arange(2)}}
    x, y = order
    found = to_geojson(polygons, x=x, y=y, columns=("lon", "lat"), properties=sizes)
    found = json.loads(json.dumps(found, allow_nan=False))
    assert found["type"] == "FeatureCollection"
    assert [feature["type"] for feature in found["features"]] == ["Feature", "Feature"]
    assert [feature["properties"] for feature in found["features"]] == [
        {"cluster": 2, "size": 12.5, "people": 3, "box": [0, 1]},
        {"cluster": 5},
    ]
    swapped = x in (1, "lat")
    for feature, cluster in zip(found["features"], (2, 5), strict=True):
        assert feature["geometry"]["type"] == "MultiPolygon"
        for polygon, drawn in zip(
            feature["geometry"]["coordinates"], polygons[cluster], strict=True
        ):
            assert_valid([np.array(ring) for ring in polygon])
            for ring, points in zip(polygon, drawn, strict=True):
                corners = {tuple(point[::-1] if swapped else point) for point in ring}
                assert corners == set(map(tuple, points.tolist()))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"x": 0, "y": 0}, "x and y must be the two columns, got x=0 and y=0"),
        ({"x": 1, "y": 2}, "must be the two columns"),
        ({"x": "lon", "y": 1}, r"x must be an index or one of columns \[\], got 'lon'"),
        ({"y": "lat", "columns": ["a", "b"]}, "y must be an index or one of columns"),
    ],
)
def test_geojson_needs_both_columns(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        to_geojson({}, **kwargs)


def grid(labels, edges=([0, 1], [0, 1])):
    return outline_grid(labels, edges)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: outline_boxes([[0] * 3], [[1] * 3], [0]), "2 columns, got 3: only .* use predict"),
        (lambda: outline_boxes([[0]], [[1]], [0]), "2 columns, got 1: .* take outline_intervals"),
        (lambda: outline_boxes([[0, 0]], [[1, 1]], [0, 1]), r"one for each of 1 boxes.*\(2,\)"),
        (lambda: outline_boxes([[0, 0]], [[1, 1]], [0.5]), "whole numbers.*got float64"),
        (lambda: outline_boxes([[0, 0]], [[1, 0]], [0]), "low < high"),
        (lambda: outline_intervals([[0, 0]], [[1, 1]], [0]), "must have 1 column, got 2"),
        (lambda: grid([[[0]]]), "labels must have 2 columns, got 3: .* use predict"),
        (lambda: grid([0]), "labels must have 2 columns, got 1: .* take outline_intervals"),
        (lambda: grid([[0, 0]]), r"must have \(2, 3\) borders .*got \[\(2,\), \(2,\)\]"),
        (lambda: grid([[0]], ([1, 0], [0, 1])), "increase"),
        (lambda: grid([[0]], ([0, np.inf], [0, 1])), "finite"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ParameterError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
