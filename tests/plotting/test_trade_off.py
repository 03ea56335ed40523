import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.plotting import Line, Points, Texts, draw_trade_off

ROWS = [
    {"mechanism": "piecewise", "epsilon": epsilon, "advantage": gain + run, "ami": use + 2 * run}
    for epsilon, gain, use in ((4.0, 0.6, 0.9), (0.5, 0.3, 0.1), (1.0, 0.2, 0.5))
    for run in (-0.01, 0.0, 0.01)
]
WORDS = {"privacy": "advantage", "utility": "ami"}


def of(chart, kind):
    return [mark for mark in chart.panels[0].marks if isinstance(mark, kind)]


def test_points_are_joined_in_order_of_epsilon_with_errors_both_ways(charts, tmp_path):
    draw_trade_off(tmp_path / "a.json", ROWS, **WORDS)
    (line,), (dots,), (texts,) = (of(charts[0], kind) for kind in (Line, Points, Texts))
    np.testing.assert_allclose(line.x, [0.3, 0.2, 0.6])
    np.testing.assert_allclose(line.y, [0.1, 0.5, 0.9])
    reach = 4.303 * 0.01 / np.sqrt(3)  # Student's t with two degrees of freedom
    np.testing.assert_allclose(dots.x_ends, [line.x - reach, line.x + reach], atol=1e-5)
    np.testing.assert_allclose(dots.y_ends, [line.y - 2 * reach, line.y + 2 * reach], atol=1e-5)
    assert texts.words == ("0.5", "1", "4")
    assert charts[0].panels[0].x.label.endswith("(numbers at points: ε)")


def test_against_epsilon_itself_and_without_repeats(charts, tmp_path):
    words = {"privacy": "epsilon", "utility": "ami", "log_x": True}
    draw_trade_off(tmp_path / "a.json", ROWS[::3], **words)
    assert not of(charts[0], Texts)
    (dots,) = of(charts[0], Points)
    assert dots.x_ends is None
    assert dots.y_ends is None
    assert charts[0].panels[0].x.names == ("0.5", "1", "4")


def test_numbers_that_would_lie_on_each_other_are_left_out(charts, tmp_path):
    rows = [{**row, "mechanism": name} for row in ROWS for name in ("piecewise", "mine")]
    draw_trade_off(tmp_path / "a.json", rows, panels="mechanism", **WORDS)
    draw_trade_off(tmp_path / "a.json", rows, **WORDS)
    assert len(of(charts[1], Line)) == 2
    assert len(of(charts[1], Texts)) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"privacy": "gain"}, "privacy must be one of the columns"),
        ({"utility": "mechanism"}, "column 'mechanism' must hold numbers, got text"),
        ({"epsilon": "eps"}, "epsilon must be one of the columns"),
        ({"reference": 1}, "reference must be a dict"),
    ],
)
def test_bad_input(words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_trade_off(tmp_path / "a.json", ROWS, **(WORDS | words))
    assert not list(tmp_path.iterdir())
