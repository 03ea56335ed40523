import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.plotting.heat_map import draw_heat_map

ROWS = [
    {"mechanism": mechanism, "epsilon": epsilon, "columns": columns, "ami": value}
    for mechanism, base in (("nd-Laplace", 0.0), ("piecewise", 0.5))
    for epsilon in (2.0, 0.5)
    for columns in (2, 3, 4)
    for value in (base + epsilon / 10, base + epsilon / 10 + 0.02 * columns)
]
WORDS = {"rows": "epsilon", "columns": "columns", "value": "ami"}


def test_cells_are_means_on_one_scale_with_their_numbers(figures, tmp_path):
    draw_heat_map(tmp_path / "a.png", ROWS, panels="mechanism", **WORDS)
    left, right, bar = figures[0].axes
    assert [axes.get_title("left") for axes in (left, right)] == ["nd-Laplace", "piecewise"]
    first, second = left.images[0], right.images[0]
    np.testing.assert_allclose(first.get_array(), [[0.07, 0.08, 0.09], [0.22, 0.23, 0.24]])
    assert first.get_clim() == second.get_clim() == pytest.approx((0.07, 0.74))
    assert [text.get_text() for text in left.texts] == [
        "0.07",
        "0.08",
        "0.09",
        "0.22",
        "0.23",
        "0.24",
    ]
    assert [text.get_text() for text in left.get_yticklabels()] == ["0.5", "2"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["2", "3", "4"]
    assert bar.get_ylabel() == "AMI (1 = same clusters)"
    # White on dark, black on light.
    assert {text.get_color() for text in left.texts} == {"white"}
    assert {text.get_color() for text in right.texts} == {"black"}


def test_colors_can_be_read_in_grey(figures, tmp_path):
    draw_heat_map(tmp_path / "a.svg", ROWS, **WORDS)
    shades = figures[0].axes[0].images[0].cmap(np.linspace(0, 1, 64))[:, :3]
    assert (np.diff(shades @ [0.299, 0.587, 0.114]) > 0).all()


def test_missing_cells_stay_empty_and_zero_has_no_sign(figures, tmp_path):
    rows = [{**ROWS[0], "ami": -0.001}, {**ROWS[2], "ami": None}, {**ROWS[6], "ami": 1234.5}]
    draw_heat_map(tmp_path / "a.png", rows, limits=(0, 1), **WORDS)
    axes = figures[0].axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["0.00", "1,234"]
    draw_heat_map(tmp_path / "a.png", rows[:1], **WORDS)  # a single cell has no scale


def test_many_panels_wrap(figures, tmp_path):
    rows = [{**row, "mechanism": f"m{place}"} for row in ROWS for place in range(5)]
    draw_heat_map(tmp_path / "a.png", rows, panels="mechanism", **WORDS)
    assert sum(bool(axes.images) for axes in figures[0].axes) == 5
    assert figures[0].get_figwidth() < 16


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"rows": "eps"}, "rows must be one of the columns mechanism, .*, got 'eps'"),
        ({"value": "mechanism"}, "column 'mechanism' must hold numbers, got text"),
        ({"limits": (1, 0)}, r"limits must be finite with low < high, got \(1, 0\)"),
        ({"limits": 3}, "limits must be two numbers"),
    ],
)
def test_bad_input(words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_heat_map(tmp_path / "a.png", ROWS, **(WORDS | words))
    assert not list(tmp_path.iterdir())
