import math
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.plotting import Band, draw_roc

CURVE = [0.0, 0.1, 1.0], [0.0, 0.4, 1.0]


def test_curves_by_both_spellings_and_what_epsilon_rules_out(charts, tmp_path):
    curves = {"one": CURVE, "other": SimpleNamespace(fpr=CURVE[0], tpr=CURVE[1])}
    draw_roc(tmp_path / "a.json", curves, epsilon=1.0)
    for panel in charts[0].panels:
        band, one, other, _ = panel.marks
        assert isinstance(band, Band)
        np.testing.assert_array_equal(one.x, other.x)
        assert one.color != other.color
        # Each attack of a release with epsilon = 1 has tpr <= e fpr and 1 - fpr <= e (1 - tpr).
        assert (band.low <= math.e * band.x + 1e-12).all()
        assert (1 - band.x <= math.e * (1 - band.low) + 1e-12).all()
        advantage = (band.low - band.x).max()
        assert advantage == pytest.approx((math.e - 1) / (math.e + 1), abs=0.01)
    assert [panel.x.log for panel in charts[0].panels] == [False, True]


def test_without_a_promise_nothing_is_ruled_out(charts, tmp_path):
    draw_roc(tmp_path / "a.json", {"one": CURVE})
    assert not any(isinstance(mark, Band) for mark in charts[0].panels[0].marks)
    draw_roc(tmp_path / "a.json", {"one": CURVE}, epsilon=1e6)  # beyond float64
    assert np.isfinite(charts[1].panels[0].marks[0].low).all()


@pytest.mark.parametrize(
    ("curves", "words", "message"),
    [
        ({}, {}, "curves must be a dict of at least one curve, got dict"),
        ({"a": 3}, {}, "curves must be pairs .* got a int for 'a'"),
        ({"a": ([0, 1], [0])}, {}, r"as many fpr as tpr, got shapes \(2,\) and \(1,\)"),
        ({"a": ([0, 1], [0, 1.5])}, {}, "curves must hold shares from 0 to 1"),
        ({"a": CURVE}, {"epsilon": -1}, "epsilon must be a finite number >= 0, got -1"),
    ],
)
def test_bad_input(curves, words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_roc(tmp_path / "a.json", curves, **words)
    assert not list(tmp_path.iterdir())
