"""Marks of a logarithmic axis in Plotly: numbers that can be read, and not too many."""

import pytest

from shoal.plotting._plotly.plain import log_marks


@pytest.mark.parametrize(
    ("between", "marks"),
    [
        ([-1.0, 0.0], [0.1, 0.2, 0.5, 1.0]),
        ([0.25, 1.05], [2.0, 5.0, 10.0]),
        ([1.0, -0.1], [1.0, 2.0, 5.0, 10.0]),  # an axis from top to bottom
        ([-2.0, 2.0], [0.01, 0.1, 1.0, 10.0, 100.0]),
    ],
)
def test_marks(between, marks):
    assert log_marks(between) == pytest.approx(marks)
