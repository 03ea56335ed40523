"""A metric mechanism's lattice is fine enough for its promise, or there is none."""

import numpy as np
import pytest

from helpers.estimator_checks import roomy_ledger
from shoal.audit import metric_epsilon_lower_bound
from shoal.exceptions import ParameterError
from shoal.mechanisms import KdLaplace, Laplace, PlanarLaplace, SphericalLaplace

KINDS = [(Laplace, 1), (Laplace, 4), (PlanarLaplace, 2), (SphericalLaplace, 3), (KdLaplace, 2)]


@pytest.mark.parametrize(("kind", "d"), KINDS)
@pytest.mark.parametrize(
    ("epsilon", "bounds"),
    [
        (1.0, (0.0, 2.0**50)),
        (1.0, (0.0, 2.0**41)),
        (1e6, (-2e6, 2e6)),
        (1e300, (1.0, 2.0)),
        (1.0, (1e18, 1e18 + 1e4)),
        (2.0**40, (-1.0, 1.5)),
    ],
)
def test_boxes_too_wide_for_the_step_are_refused_and_cost_nothing(kind, d, epsilon, bounds):
    ledger = roomy_ledger()
    mechanism = kind(epsilon, unit="m", bounds=bounds, ledger=ledger)
    with pytest.raises(ParameterError, match=r"^bounds must lie within 2\^52 lattice steps"):
        mechanism.fit(np.full((3, d), bounds[0]))
    assert len(ledger) == 0


@pytest.mark.parametrize("truncate", [None, "resample"])
@pytest.mark.parametrize("width", [1e-6, 1.0, 2.0**20, 2.0**38, 2.0**39, 2.0**40])
def test_steps_are_at_most_the_documented_part_of_the_scale(width, truncate):
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
    found = metric_epsilon_lower_bound(wide, [border - 0.01], [border + 0.01], samples=400_000)
    assert not found.exceeds(1.0 + 1 / 4096 / 0.02), str(found)
