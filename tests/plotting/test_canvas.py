"""Ends of axes, rows and legends, as all charts share them."""

import numpy as np
import pytest

from shoal.plotting._canvas import Axis, Canvas, Key, around, columns_for, panel, table


def test_ends_leave_a_share_free():
    assert around([0.0, 10.0]) == (-0.5, 10.5)
    assert around([2.0, 4.0], zero=True) == pytest.approx((0.0, 4.2))
    assert around([-2.0, 2.0], zero=True) == pytest.approx((-2.2, 2.2))
    assert np.log10(around([1.0, 100.0], log=True)) == pytest.approx([-0.1, 2.1])
    assert around([3.0, np.nan]) == (2.5, 3.5)
    assert around([]) == (0.0, 1.0)
    assert around([-1.0], log=True) == (0.1, 1.0)


def test_rows_are_plain_and_what_is_not_finite_is_missing():
    rows = table(name="a", x=np.array([1.0, np.inf]), y=[np.int64(3), None])
    assert rows == [{"name": "a", "x": 1.0, "y": 3}, {"name": "a", "x": None, "y": None}]
    assert table(x=np.empty(0), name="a") == []


def test_numbers_of_an_axis_stay_apart():
    axis = Axis("x", (5, 50), log=True, ticks=[5.65685, 11.3137, 22.6274, 45.2548]).x()
    words = axis.to_dict()["axis"]
    assert words["values"] == [5.65685, 11.3137, 22.6274, 45.2548]
    assert words["format"] == ",.3~r"  # 5.66, not 5.65685
    many = Axis("x", (0, 50), ticks=range(50)).x().to_dict()["axis"]
    assert "values" not in many
    assert "tickCount" not in words  # it would leave numbers out of a logarithmic axis
    assert words["labelOverlap"] == "greedy"  # what would overlap is left out
    assert words["labelSeparation"] >= 4


def test_a_logarithmic_axis_has_round_numbers():
    """Without them d3 writes 0.9 and leaves out the 1 beside it."""

    def numbers(*ends):
        return Axis("y", ends, log=True).y().to_dict()["axis"].get("values")

    assert numbers(0.85, 12.0) == [1.0, 2.0, 5.0, 10.0]
    assert numbers(0.001, 1e4) == [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
    assert numbers(1.1, 4.0) is None, "two are too few"
    assert numbers(1e-30, 1.0) is None


def test_long_titles_are_wrapped():
    words = Axis("a very long title of an axis " * 3, (0, 1)).x().to_dict()["axis"]["title"]
    assert len(words) == 2
    drawn = panel(Canvas(None).legend(Key()), width=100, height=100, title="word " * 20)
    assert len(drawn.to_dict()["title"]["text"]) > 3


def test_a_legend_is_the_same_in_all_layers():
    key = Key()
    key.add("a", "#000000", "circle")
    key.color()
    key.add("a", "#ffffff", "square")  # known: as it was
    with pytest.raises(AssertionError, match="without 'b' in its legend"):
        key.add("b", "#ffffff", "square")
    assert key.color().to_dict()["scale"] == {"domain": ["a"], "range": ["#000000"]}
    assert Key(shown=False).color().to_dict()["legend"] is None


@pytest.mark.parametrize(
    ("panels", "most", "columns"), [(1, 4, 1), (4, 4, 4), (5, 4, 3), (9, 4, 3)]
)
def test_rows_of_panels_are_of_nearly_the_same_length(panels, most, columns):
    assert columns_for(panels, most=most) == columns
