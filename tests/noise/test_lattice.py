"""Lattices of public boxes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from helpers.cases import case
from shoal.exceptions import ParameterError
from shoal.noise import Lattice, lattice


def test_box_corners_and_center_are_lattice_points():
    low, high = np.array([-3.0, 10.0]), np.array([5.0, 10.5])
    lattice = Lattice.box(low, high)
    corners = lattice.encode(np.array([low, high, (low + high) / 2]))
    assert corners.tolist() == [[-(2**19)] * 2, [2**19] * 2, [0, 0]]
    assert np.allclose(lattice.decode(corners[:2]), [low, high])


def test_records_are_clipped_and_rounded_to_the_nearest_point():
    lattice = Lattice.box(np.zeros(1), np.ones(1), half=2)
    records = np.array([[-9.0], [0.1], [0.13], [0.6], [7.0]])
    assert lattice.encode(records).ravel().tolist() == [-2, -2, -1, 0, 2]


def test_records_are_left_as_they_were():
    records = np.array([[0.3]])
    Lattice.box(np.zeros(1), np.ones(1)).encode(records)
    assert records[0, 0] == 0.3


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("d", [1, 4, 40])
def test_narrow_floats_are_the_doubles_they_are(dtype, d):
    """In single precision, a difference to an origin far from 0 would be rounded to many steps."""
    rng = np.random.default_rng(d)
    box = Lattice.box(rng.uniform(-3.0, -1.0, d), rng.uniform(1.0, 900.0, d))
    X = rng.normal(scale=3.0, size=(5000, d)).astype(dtype)
    expected = box.encode(X.astype(np.float64))
    for table in (X, np.asfortranarray(X), X[::2]):
        assert (box.encode(table) == expected[:: len(X) // len(table)]).all()
    for j in range(d):
        indices = np.empty(len(X), np.int32)
        box.encode_column(j, X[:, j], indices)
        assert (indices == expected[:, j]).all()


def test_isotropic_points_convert_without_error_and_stay_inside():
    low, high = np.array([-1.3, 1000.0]), np.array([2.7, 1000.9])
    lattice = Lattice.isotropic(low, high, step=0.001)
    assert lattice.step[0] == 2.0**-10
    records = np.random.default_rng(0).uniform(low - 1, high + 1, (1000, 2))
    points = lattice.decode(lattice.encode(records))
    assert (points >= low).all()
    assert (points <= high).all()
    assert (lattice.encode(points) == lattice.encode(records)).all()
    inside = ((records > low + 0.001) & (records < high - 0.001)).all(axis=1)
    assert np.abs(points - records)[inside].max() <= 2.0**-11
    assert lattice.diameter <= np.linalg.norm(high - low)


def test_widest_possible_box():
    edge = np.array([1.7e308])
    lattice = Lattice.box(-edge, edge)
    assert np.isfinite(lattice.step).all()
    assert lattice.encode(np.array([[0.0]])) == 0


def test_box_that_holds_no_point():
    with pytest.raises(ParameterError, match="at least one lattice step"):
        Lattice.isotropic(np.array([0.3]), np.array([0.4]), step=1.0)


def test_box_too_far_away():
    with pytest.raises(ParameterError, match="within 2\\^52 lattice steps"):
        Lattice.isotropic(np.array([1e18]), np.array([2e18]), step=1.0)


def lattices(rng, d):
    low = rng.normal(size=d) * 10.0 ** rng.uniform(-3, 6, d)
    high = low + 10.0 ** rng.uniform(-2, 6, d) * np.maximum(1.0, np.abs(low))
    yield Lattice.box(low, high)
    yield Lattice.box(low, high, half=3)
    yield Lattice.isotropic(low, high, step=float((high - low).min() / 1000))
    high[-1] = low[-1] = 0.0
    high[-1] = 2.0**-1001
    yield Lattice.box(low, high)


def with_gaps(X):
    wide = np.full((3 * len(X), X.shape[1] + 2), 0.5)
    wide[::3, 1:-1] = X
    return wide[::3, 1:-1]


@pytest.mark.parametrize(
    ("n", "d"),
    [(1, 3), (40, 2), (3000, 1), (300, 5), pytest.param(2100, 20, marks=pytest.mark.full)],
)
def test_same_indices_however_records_lie_in_memory(monkeypatch, n, d):
    """Row by row, column by column, with gaps, one column at a time, in blocks of any size."""
    rng = np.random.default_rng([n, d])
    for made in lattices(rng, d):
        width = made.step * (made.high - made.low)
        middle = made.origin + made.step * ((made.low + made.high) / 2)
        X = middle + width * rng.uniform(-0.7, 0.7, (n, d))
        X[0] = np.where(rng.random(d) < 0.5, -1.7e308, 1.7e308)
        expected = made.encode(X)
        assert expected.dtype == np.int64
        for values in (BLOCK, 1000, 7):
            monkeypatch.setattr(lattice, "BLOCK_VALUES", values)
            for given in (X, np.asfortranarray(X), with_gaps(X)):
                assert (made.encode(given) == expected).all()
                if abs(expected).max() < 2**31:
                    out = np.empty((d, n), dtype=np.int32).T
                    assert made.encode(given, out) is out
                    assert (out == expected).all()
                for j in range(d):
                    column = np.empty(n, dtype=np.int64)
                    made.encode_column(j, given[:, j], column)
                    assert (column == expected[:, j]).all()


BLOCK = lattice.BLOCK_VALUES


def test_no_other_point_is_nearer():
    """In fractions, but for the rounding of a difference and of two operations."""
    rng = np.random.default_rng(5)
    for made in lattices(rng, 4):
        indices = rng.integers(made.low, made.high, (500, 4), endpoint=True)
        X = made.decode(indices + rng.uniform(-0.5, 0.5, indices.shape))
        for row, result in zip(X.tolist(), made.encode(X).tolist(), strict=True):
            for j, (x, index) in enumerate(zip(row, result, strict=True)):
                origin, step = Fraction(float(made.origin[j])), Fraction(float(made.step[j]))
                position = (Fraction(x) - origin) / step
                beyond = max(made.low[j] - position, position - made.high[j], Fraction(0))
                assert abs(position - index) <= Fraction(1, 2) + beyond + abs(position) / 2**50


def test_points_of_the_smallest_and_largest_boxes_come_back():
    for half, edge in itertools.product(
        [1, 100, 2**19], [2.0**-1002, 1e-300, 1.0, 1e300, 2.0**1021]
    ):
        with case(half=half, edge=edge):
            made = Lattice.box(np.array([-edge]), np.array([edge]), half=half)
            indices = np.unique(np.linspace(-half, half, 5000).astype(np.int64))[:, np.newaxis]
            assert (made.encode(made.decode(indices)) == indices).all()


def test_steps_that_cannot_be_inverted_are_refused():
    for step in [0.0, 5e-324, 2.0**-1023, 2.0**1023, np.inf, np.nan]:
        with case(step=step):
            ones = np.ones(2, dtype=np.int64)
            with pytest.raises(
                ParameterError, match="bounds must allow for lattice steps"
            ) as refused:
                Lattice(np.zeros(2), np.array([1.0, step]), -ones, ones)
            assert "\n" not in str(refused.value)


def test_a_narrow_column_changes_nothing_for_the_others():
    """Half points of 30 boxes: one record or many, alone or beside a column of any width."""
    rng = np.random.default_rng(0)
    for high in rng.uniform(0.1, 10.0, 30):
        alone = Lattice.box(np.zeros(1), np.array([high]))
        X = alone.decode(rng.integers(-(2**19), 2**19, (5000, 1)) + 0.5)
        expected = alone.encode(X)
        for width in (2.0**-1001, 1.0, 1e300):
            made = Lattice.box(np.zeros(2), np.array([high, width]))
            beside = np.column_stack([X, np.zeros(5000)])
            many = made.encode(beside)
            few = np.concatenate([made.encode(beside[i : i + 1000]) for i in range(0, 5000, 1000)])
            assert (many[:, :1] == expected).all()
            assert (few == many).all()
