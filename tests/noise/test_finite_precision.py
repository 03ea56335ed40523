import math

import numpy as np
import pytest
from scipy import stats

from shoal.exceptions import ParameterError
from shoal.noise import corrected_epsilon


@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
def test_solves_the_inequality_and_no_more(dimension):
    epsilon, step, radius, precision = 1.5, 1e-4, 50.0, 2.0**-48
    drawn = corrected_epsilon(
        epsilon, step=step, radius=radius, precision=precision, dimension=dimension
    )
    q = step / (radius * precision)

    def kept(e):
        if dimension == 2:
            far = 2 * math.exp(e * step)
            return e + math.log((q + far) / (q - far)) / step
        eta = ((1 + 2 / q) ** dimension - 1) * math.exp(
            e * math.sqrt(dimension) * step * (1 + 2 / q)
        )
        return e + math.log((1 + eta) / (1 - eta)) / step

    assert drawn < epsilon
    assert kept(drawn * (1 - 1e-9)) <= epsilon <= kept(drawn * (1 + 1e-9))


def test_worst_sampler_of_that_precision_keeps_epsilon():
    """One dimension: move every draw by the full error, in the most revealing direction."""
    epsilon, step, error = 2.0, 0.01, 1e-5
    drawn = corrected_epsilon(epsilon, step=step, radius=1.0, precision=error, dimension=1)
    law = stats.laplace(scale=1 / drawn)
    z = np.arange(-300, 301) * step

    def mass(x, widen):
        # Draws within the error of a cell's border fall on whichever side the adversary likes.
        reach = step / 2 + widen * error
        return law.cdf(z - x + reach) - law.cdf(z - x - reach)

    for apart in (step, 0.1, 1.0):
        loss = np.log(mass(0.0, 1) / mass(apart, -1)).max()
        assert loss <= epsilon * apart
        assert np.log(law.pdf(0) / law.pdf(apart)) < epsilon * apart


def test_correction_vanishes_with_precision_and_grows_with_dimension():
    def at(precision, dimension):
        return corrected_epsilon(
            1.0, step=2.0**-12, radius=64.0, precision=precision, dimension=dimension
        )

    assert at(2.0**-70, 3) == pytest.approx(1.0, abs=1e-9)
    assert at(2.0**-45, 3) < at(2.0**-50, 3)
    assert at(2.0**-45, 9) < at(2.0**-45, 3)


def test_too_fine_a_lattice_is_refused_and_the_advice_works():
    with pytest.raises(ParameterError, match="step must be coarser") as refused:
        corrected_epsilon(1.0, step=1e-12, radius=64.0, precision=2.0**-50, dimension=3)
    advice = float(str(refused.value).split("; ")[1].split()[0])
    assert corrected_epsilon(1.0, step=advice, radius=64.0, precision=2.0**-50, dimension=3) > 0


@pytest.mark.parametrize("name", ["step", "radius", "precision"])
def test_bad_numbers(name):
    good = {"step": 0.1, "radius": 1.0, "precision": 2.0**-50}
    with pytest.raises(ParameterError, match=f"{name} must be a finite number above 0"):
        corrected_epsilon(1.0, **(good | {name: 0.0}))
    with pytest.raises(ParameterError, match="dimension must be at least 1"):
        corrected_epsilon(1.0, **good, dimension=0)
