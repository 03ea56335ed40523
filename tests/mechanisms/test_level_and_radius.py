"""Metric epsilon as "within this radius, at most this level"."""

import numpy as np
import pytest

from helpers.estimator_checks import roomy_ledger
from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace, PlanarLaplace, SphericalLaplace

BOX = (0.0, 100.0)
MECHANISMS = [(Laplace, 2), (PlanarLaplace, 2), (SphericalLaplace, 3)]


@pytest.mark.parametrize(("kind", "d"), MECHANISMS)
def test_epsilon_is_level_over_radius(kind, d):
    records = np.full((20, d), 50.0)
    ledger = roomy_ledger()
    one = kind(level=3.0, radius=12.0, unit="m", bounds=BOX, random_state=1, ledger=ledger)
    two = kind(0.25, unit="m", bounds=BOX, random_state=1)
    assert (one.fit_transform(records) == two.fit_transform(records)).all()
    assert one.guarantee_ == two.guarantee_
    assert one.variance() == two.variance()
    assert ledger.spent[0].epsilon == 0.25


@pytest.mark.parametrize(("kind", "d"), MECHANISMS)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"level": 1.0}, "level must come with radius, got level=1.0 alone"),
        ({"radius": 2.0}, "radius must come with level, got radius=2.0 alone"),
        ({"level": 1.0, "radius": 2.0, "epsilon": 0.5}, "epsilon must be left out where"),
        ({"level": 0.0, "radius": 2.0}, "level must be a finite number > 0"),
        ({"level": 1.0, "radius": np.inf}, "radius must be a finite number > 0"),
        ({"level": "1", "radius": 1.0}, "level must be a finite number > 0"),
        ({"level": 1e300, "radius": 1e-300}, "level / radius must be a finite number > 0"),
    ],
)
def test_half_a_way_or_both_ways_are_refused_and_nothing_is_spent(kind, d, words, message):
    ledger = roomy_ledger()
    with pytest.raises(ParameterError, match=message):
        kind(**words, unit="m", bounds=BOX, ledger=ledger).transform(np.zeros((1, d)))
    assert len(ledger) == 0


@pytest.mark.parametrize("epsilon", [5e-324, 1e-315, 1e-300])
def test_epsilons_that_no_lattice_holds(epsilon):
    ledger = roomy_ledger()
    mechanism = Laplace(epsilon, unit="m", bounds=(1.0, 2.0), ledger=ledger)
    with pytest.raises(ParameterError, match="must"):
        mechanism.transform(np.zeros((1, 2)))
    assert len(ledger) == 0


def test_large_epsilons_leave_hardly_any_noise_or_are_refused():
    reports = Laplace(1e11, bounds=(1.0, 2.0)).fit_transform(np.full((5, 2), 1.5))
    assert np.abs(reports - 1.5).max() < 1e-9
    with pytest.raises(ParameterError, match="bounds must lie within 2\\^52 lattice steps"):
        Laplace(1e300, bounds=(1.0, 2.0)).fit(np.full((5, 2), 1.5))


def test_numbers_of_other_types():
    for epsilon in (np.float32(2.0), np.int64(2), 2):
        assert Laplace(epsilon, bounds=BOX).fit_transform(np.zeros((3, 2))).shape == (3, 2)
