"""The unit of distance of a metric mechanism goes wherever its epsilon goes."""

import numpy as np
import pytest
from sklearn.base import clone

from shoal.exceptions import ParameterError, ShoalError
from shoal.mechanisms import KdLaplace, Laplace, PlanarLaplace, SphericalLaplace
from shoal.privacy import Ledger, MetricEvent, Release
from shoal.remap import BayesRemap
from shoal.reports import NoiseAwareKMeans

BOX = (0.0, 1.0)
KINDS = [(Laplace, 2), (PlanarLaplace, 2), (SphericalLaplace, 3), (KdLaplace, 2)]


@pytest.mark.parametrize(("kind", "d"), KINDS)
@pytest.mark.parametrize("unit", ["km", "80 m", "year"])
def test_unit_is_in_the_guarantee_and_in_the_ledger(kind, d, unit):
    ledger = Ledger(epsilon=1.0, metric_epsilon=5.0, metric_unit=unit)
    mechanism = kind(2.0, unit=unit, bounds=BOX, ledger=ledger)
    assert mechanism.guarantee_.unit == unit
    mechanism.fit_transform(np.zeros((2, d)))
    assert mechanism.guarantee_.unit == unit
    assert f"epsilon = 2 per {unit}" in str(mechanism.guarantee_)
    event = ledger.entries[0].event
    assert isinstance(event, MetricEvent)
    assert event.unit == unit
    assert clone(mechanism).unit == unit


@pytest.mark.parametrize(("kind", "d"), KINDS)
def test_kilometers_and_meters_add_up(kind, d):
    """1 per km and then 1 per m of the same places: 1,001 per km, where "2 of 2" was said."""
    ledger = Ledger(epsilon=1.0, metric_epsilon=2000.0, metric_unit="km")
    for unit in ("km", "m"):
        kind(1.0, unit=unit, bounds=BOX, ledger=ledger).fit_transform(np.zeros((2, d)))
    (spent,) = ledger.spent
    assert (spent.epsilon, spent.unit) == (1001.0, "km")


@pytest.mark.parametrize(("kind", "d"), KINDS)
@pytest.mark.parametrize("unit", ["", "kg"])
def test_a_ledger_takes_no_unit_that_it_cannot_compare(kind, d, unit):
    ledger = Ledger(epsilon=1.0, metric_epsilon=5.0, metric_unit="m")
    with pytest.raises(ShoalError, match="unit"):
        kind(1.0, unit=unit, bounds=BOX, ledger=ledger).fit_transform(np.zeros((2, d)))
    assert len(ledger) == 0


@pytest.mark.parametrize(("kind", "d"), KINDS)
@pytest.mark.parametrize("unit", [None, 3, "80", " km", "0 m", "km\n"])
def test_units_that_are_none(kind, d, unit):
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
