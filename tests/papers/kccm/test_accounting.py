"""What the published noise of DP-KCCM costs."""

import math

import pytest

from shoal.papers.kccm import real_rho, real_spend


def test_what_is_really_spent():
    assert real_spend("pseudo-code", 12) == pytest.approx(86021 / 27720)  # the 12th harmonic number
    assert real_spend("text", 12) == 78.0
    assert real_spend("pseudo-code", 1) == real_spend("text", 1) == 1.0
    assert real_spend("text", 3) == 6.0
    # Rho by its definition, for d = 4: half of (L2 sensitivity / deviation)^2 in each round.
    for formula, deviation in (("pseudo-code", lambda t: 5 * t), ("text", lambda t: 5 / t)):
        by_hand = sum((math.sqrt(5) / deviation(t)) ** 2 / 2 for t in range(1, 13))
        assert real_rho(formula, 12, columns=4) == pytest.approx(by_hand)
