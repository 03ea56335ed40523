import itertools

import numpy as np
import pytest
from matplotlib.colors import same_color

from shoal.exceptions import ParameterError
from shoal.plotting.bars import draw_bars
from shoal.plotting.style import COLORS

ROWS = [
    {"mechanism": mechanism, "dataset": dataset, "ami": mean + step, "printed": mean, "less": -1}
    for mechanism, dataset, mean in (
        ("nd-Laplace", "heart", 0.5),
        ("nd-Laplace", "seeds", 0.7),
        ("piecewise", "heart", 0.2),
    )
    for step in (-0.1, 0.0, 0.1)
]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_bars_stand_together_by_set(figures, tmp_path):
    draw_bars(tmp_path / "a.pdf", ROWS, value="ami", sets="dataset")
    (axes,) = figures[0].axes
    bars = axes.patches
    assert [bar.get_height() for bar in bars] == pytest.approx([0.5, 0.7, 0.2])
    assert [same_color(bar.get_facecolor(), COLORS["nd-laplace"]) for bar in bars] == [1, 1, 0]
    assert bars[0].get_hatch() != bars[2].get_hatch()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["heart", "seeds"]
    assert legend(figures[0]) == ["nd-Laplace", "piecewise"]
    first, _, third = bars
    assert first.get_x() + first.get_width() <= third.get_x() + 1e-12


def test_error_bars_are_intervals_of_the_mean(figures, tmp_path):
    draw_bars(tmp_path / "a.png", ROWS, value="ami", sets="dataset")
    ends = [one.get_segments()[0] for one in figures[0].axes[0].collections]
    reach = 4.303 * 0.1 / np.sqrt(3)  # Student's t with two degrees of freedom
    np.testing.assert_allclose(ends[0][:, 1], [0.5 - reach, 0.5 + reach], atol=1e-4)
    draw_bars(tmp_path / "a.png", ROWS[::3], value="ami", sets="dataset")
    assert not figures[1].axes[0].collections


def test_names_below_published_and_reference(figures, tmp_path):
    words = {"published": "printed", "reference": {"without privacy": 0.9}, "title": "$ and $"}
    draw_bars(tmp_path / "a.svg", ROWS, value="ami", **words)
    (axes,) = figures[0].axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["nd-Laplace", "piecewise"]
    assert legend(figures[0]) == ["without privacy", "published"]
    assert axes.get_title("left") == r"\$ and \$"


@pytest.mark.parametrize("sets", ["dataset", None])
def test_versions_of_a_group_differ_in_hatch(sets, figures, tmp_path):
    rows = [{**row, "version": version} for row in ROWS for version in ("published", "mended")]
    draw_bars(tmp_path / "a.svg", rows, value="ami", sets=sets, hatch="version")
    (axes,) = figures[0].axes
    assert {bar.get_hatch() for bar in axes.patches} == {"", "//"}
    assert legend(figures[0])[-2:] == ["published", "mended"]
    spans = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert all(end <= start + 1e-9 for (_, end), (start, _) in itertools.pairwise(spans))


def test_many_long_names_and_a_logarithmic_axis(figures, tmp_path):
    rows = [
        {**row, "dataset": "a long name " * 4 + str(place)} for row in ROWS for place in range(9)
    ]
    draw_bars(tmp_path / "a.png", rows, value="ami", sets="dataset", log_y=True)
    assert figures[0].get_figwidth() == 16
    assert figures[0].axes[0].get_xticklabels()[0].get_rotation() == 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"value": "dataset"}, "column 'dataset' must hold numbers, got text"),
        ({"group": "method"}, "group must be one of the columns"),
        ({"value": "less", "log_y": True}, "log_y must be False where column 'less' holds"),
        ({"high": "ami"}, "low and high must be given together"),
    ],
)
def test_bad_input(words, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        draw_bars(tmp_path / "a.png", ROWS, **({"value": "ami"} | words))
    assert not list(tmp_path.iterdir())
