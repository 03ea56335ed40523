import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.noise import Lattice


def test_box_corners_and_centre_are_lattice_points():
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
