"""What metric mechanisms share: epsilon as level and radius, units of distance, fine lattices."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from helpers.cases import case
from helpers.ledgers import roomy_ledger
from shoal.audit import metric_epsilon_lower_bound
from shoal.exceptions import ParameterError, ShoalError
from shoal.mechanisms import KdLaplace, Laplace, PlanarLaplace, SphericalLaplace
from shoal.privacy import Ledger, MetricEvent, Release
from shoal.remap import BayesRemap
from shoal.reports import NoiseAwareKMeans

WIDE = (0.0, 100.0)
MECHANISMS = [(Laplace, 2), (PlanarLaplace, 2), (SphericalLaplace, 3)]


@pytest.mark.parametrize(("kind", "d"), MECHANISMS)
def test_epsilon_is_level_over_radius(kind, d):
    records = np.full((20, d), 50.0)
    ledger = roomy_ledger()
    one = kind(level=3.0, radius=12.0, unit="m", bounds=WIDE, random_state=1, ledger=ledger)
    two = kind(0.25, unit="m", bounds=WIDE, random_state=1)
    assert (one.fit_transform(records) == two.fit_transform(records)).all()
    assert one.guarantee_ == two.guarantee_
    assert one.variance() == two.variance()
    assert ledger.spent[0].epsilon == 0.25


def test_epsilons_that_no_lattice_holds():
    for epsilon in [5e-324, 1e-315, 1e-300]:
        with case(epsilon=epsilon):
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
        assert Laplace(epsilon, bounds=WIDE).fit_transform(np.zeros((3, 2))).shape == (3, 2)


BOX = (0.0, 1.0)
WITH_UNITS = [(Laplace, 2), (PlanarLaplace, 2), (SphericalLaplace, 3), (KdLaplace, 2)]


@pytest.mark.parametrize(("kind", "d"), WITH_UNITS)
def test_unit_is_in_the_guarantee_and_in_the_ledger(kind, d):
    for unit in ["km", "80 m", "year"]:
        with case(unit=unit):
            ledger = Ledger(epsilon=1.0, metric_epsilon=5.0, metric_unit=unit)
            mechanism = kind(2.0, unit=unit, bounds=([0.0] * d, [1.0] * d), ledger=ledger)
            assert mechanism.guarantee_.unit == unit
            mechanism.fit_transform(np.zeros((2, d)))
            assert mechanism.guarantee_.unit == unit
            assert f"epsilon = 2 per {unit}" in str(mechanism.guarantee_)
            event = ledger.entries[0].event
            assert isinstance(event, MetricEvent)
            assert event.unit == unit
            assert clone(mechanism).unit == unit


@pytest.mark.parametrize(("kind", "d"), WITH_UNITS)
def test_kilometers_and_meters_add_up(kind, d):
    """1 per km and then 1 per m of the same places: 1,001 per km, where "2 of 2" was said."""
    ledger = Ledger(epsilon=1.0, metric_epsilon=2000.0, metric_unit="km")
    for unit in ("km", "m"):
        kind(1.0, unit=unit, bounds=BOX, ledger=ledger).fit_transform(np.zeros((2, d)))
    (spent,) = ledger.spent
    assert (spent.epsilon, spent.unit) == (1001.0, "km")


@pytest.mark.parametrize(("kind", "d"), WITH_UNITS)
def test_a_ledger_takes_no_unit_that_it_cannot_compare(kind, d):
    for unit in ["", "kg"]:
        with case(unit=unit):
            ledger = Ledger(epsilon=1.0, metric_epsilon=5.0, metric_unit="m")
            with pytest.raises(ShoalError, match="unit"):
                kind(1.0, unit=unit, bounds=BOX, ledger=ledger).fit_transform(np.zeros((2, d)))
            assert len(ledger) == 0


@pytest.mark.parametrize(("kind", "d"), WITH_UNITS)
def test_texts_that_are_no_units(kind, d):
    for unit in [None, 3, "80", " km", "0 m", "km\n"]:
        with case(unit=unit):
            ledger = Ledger(epsilon=1.0, metric_epsilon=5.0, metric_unit="m")
            with pytest.raises(ParameterError, match=r"^unit must") as refused:
                kind(1.0, unit=unit, bounds=BOX, ledger=ledger).fit(np.zeros((2, d)))
            assert "\n" not in str(refused.value)
            assert len(ledger) == 0


def test_releases_made_of_reports_carry_it():
    records = np.random.default_rng(0).uniform(0.0, 1.0, (200, 2))
    mechanism = Laplace(level=2.0, radius=0.25, unit="km", bounds=BOX)
    reports = mechanism.fit_transform(records)
    release = NoiseAwareKMeans(2, mechanism=mechanism, random_state=0).fit(reports).release_
    assert (release.guarantee.epsilon, release.guarantee.unit) == (8.0, "km")
    assert Release.from_json(release.to_json()).guarantee.unit == "km"
    assert BayesRemap(mechanism).fit(reports).guarantee_.unit == "km"


OF_WIDE_BOXES = [
    (Laplace, 1),
    (Laplace, 4),
    (PlanarLaplace, 2),
    (SphericalLaplace, 3),
    (KdLaplace, 2),
]


@pytest.mark.parametrize(("kind", "d"), OF_WIDE_BOXES)
def test_boxes_too_wide_for_the_step_are_refused_and_cost_nothing(kind, d):
    for epsilon, bounds in [
        (1.0, (0.0, 2.0**50)),
        (1.0, (0.0, 2.0**41)),
        (1e6, (-2e6, 2e6)),
        (1e300, (1.0, 2.0)),
        (1.0, (1e18, 1e18 + 1e4)),
        (2.0**40, (-1.0, 1.5)),
    ]:
        with case(epsilon=epsilon, bounds=bounds):
            ledger = roomy_ledger()
            mechanism = kind(epsilon, unit="m", bounds=bounds, ledger=ledger)
            with pytest.raises(
                ParameterError, match=r"^bounds must lie within 2\^52 lattice steps"
            ):
                mechanism.fit(np.full((3, d), bounds[0]))
            assert len(ledger) == 0


def test_steps_are_at_most_the_documented_part_of_the_scale():
    for truncate, width in itertools.product(
        [None, "resample"], [1e-6, 1.0, 2.0**20, 2.0**38, 2.0**39, 2.0**40]
    ):
        with case(truncate=truncate, width=width):
            for epsilon in (0.3, 1.0, 2.0**-40, 1e5):
                for low in (-width, 0.0, 17.3):
                    mechanism = Laplace(epsilon, bounds=(low, low + width), truncate=truncate)
                    try:
                        step = float(mechanism.lattice(2).step[0])
                    except ParameterError:
                        continue
                    assert step <= 1 / (4096 * epsilon)


@pytest.mark.parametrize("width", [2.0, 2.0**40, 2.0**41, 2.0**50])
def test_the_audit_finds_no_more_than_the_step_costs(width):
    """Two records on both sides of a cell's border: 48 per unit at a claim of 1 for 2^50.

    Lattice points are at most 1/4096 further apart than records: 1.0122 in all. False alarm 0.1%.
    """
    try:
        wide = Laplace(1.0, bounds=(0.0, width), random_state=0).fit(np.zeros((1, 1)))
    except ParameterError:
        assert width > 2.0**40
        return
    border = 1.0 + float(wide.lattice(1).step[0]) / 2
    result = metric_epsilon_lower_bound(wide, [border - 0.01], [border + 0.01], samples=400_000)
    assert not result.exceeds(1.0 + 1 / 4096 / 0.02), str(result)
