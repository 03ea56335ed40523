"""Curves: what is drawn is the mean and its interval, in the color of the mechanism."""

import numpy as np
import pytest
from matplotlib.colors import same_color, to_rgba

from shoal.exceptions import ParameterError
from shoal.plotting.lines import draw_lines
from shoal.plotting.style import COLORS, LOOKS, SPARE, looks

EPSILONS = (0.5, 1.0, 4.0)
ROWS = [
    {
        "mechanism": mechanism,
        "clusterer": clusterer,
        "epsilon": epsilon,
        "ami": place / 10 + epsilon / 10 + run / 100,
        "printed": epsilon / 9,
    }
    for place, mechanism in enumerate(["nd-Laplace", "piecewise"])
    for clusterer in ("KMeans", "OPTICS")
    for epsilon in EPSILONS
    for run in range(3)
]
WORDS = {"x": "epsilon", "y": "ami"}


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_the_ending_is_the_format_and_the_file_repeats(ending, start, tmp_path):
    first, second = (
        draw_lines(tmp_path / f"{name}.{ending}", ROWS, **WORDS).read_bytes() for name in "ab"
    )
    assert first.startswith(start)
    assert first == second
    assert len(list(tmp_path.iterdir())) == 2


def test_curves_are_means_with_bands_in_the_mechanisms_colors(figures, tmp_path):
    draw_lines(tmp_path / "a.svg", ROWS, panels="clusterer", log_x=True, **WORDS)
    left, right = figures[0].axes
    assert [axes.get_title("left") for axes in (left, right)] == ["KMeans", "OPTICS"]
    assert legend(figures[0]) == ["nd-Laplace", "piecewise"]
    for axes in (left, right):
        first, second = axes.lines
        assert same_color(first.get_color(), COLORS["nd-laplace"])
        assert same_color(second.get_color(), COLORS["piecewise"])
        assert first.get_marker() != second.get_marker()
        np.testing.assert_allclose(first.get_xdata(), EPSILONS)
        np.testing.assert_allclose(second.get_ydata(), [0.16, 0.21, 0.51])
        assert len(axes.collections) == 2
        # 4.303 is the 97.5 % point of Student's t with two degrees of freedom.
        top = axes.collections[0].get_paths()[0].vertices[:, 1].max()
        assert top == pytest.approx(0.41 + 4.303 * 0.01 / np.sqrt(3), abs=1e-4)
    assert left.get_xscale() == "log"
    assert left.get_ylabel() == "AMI (1 = same clusters)"
    assert right.get_xlabel() == "ε"


def test_given_ends_single_repeats_and_dicts_of_columns(figures, tmp_path):
    table = {"mechanism": ["a", "a"], "epsilon": [1, 2], "ami": [0.2, 0.3]}
    draw_lines(tmp_path / "a.svg", table, **WORDS)
    assert not figures[0].axes[0].collections
    table |= {"from": [0.1, 0.2], "to": [0.5, 0.9]}
    draw_lines(tmp_path / "a.svg", table, low="from", high="to", **WORDS)
    (band,) = figures[1].axes[0].collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(0.9)


def test_published_reference_and_without_privacy(figures, tmp_path):
    without = {"mechanism": "piecewise", "clusterer": "KMeans", "epsilon": np.inf, "ami": 0.8}
    rows = [*ROWS, without, {**without, "epsilon": 1.0, "ami": None}]
    reference = {"k-means on records": 0.9}
    draw_lines(tmp_path / "a.svg", rows, published="printed", reference=reference, **WORDS)
    names = ["nd-Laplace", "piecewise", "k-means on records", "published", "without privacy"]
    assert legend(figures[0]) == names
    axes = figures[0].axes[0]
    hollow = [one for one in axes.collections if len(one.get_offsets()) == len(EPSILONS)]
    assert len(hollow) == 2
    for marks in hollow:
        np.testing.assert_allclose(marks.get_offsets()[:, 1], np.array(EPSILONS) / 9)
        assert len(marks.get_facecolor()) == 0
    levels = [line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1]
    assert sorted(levels) == [0.8, 0.9]


def test_versions_of_a_group_differ_in_dash_and_filling(figures, tmp_path):
    rows = [
        {**row, "version": version} for row in ROWS for version in ("as published", "corrected")
    ]
    draw_lines(tmp_path / "a.svg", rows, dash="version", **WORDS)
    first, second, third, fourth = figures[0].axes[0].lines[:4]
    assert same_color(first.get_color(), second.get_color())
    assert [line.get_linestyle() for line in (first, second)] == ["-", "--"]
    assert not same_color(first.get_markerfacecolor(), "white")
    assert same_color(second.get_markerfacecolor(), "white")
    assert first.get_marker() == second.get_marker() != third.get_marker()
    assert same_color(third.get_color(), fourth.get_color())
    assert legend(figures[0]) == ["nd-Laplace", "piecewise", "as published", "corrected"]
    with pytest.raises(ParameterError, match="dash must be one of the columns"):
        draw_lines(tmp_path / "a.svg", ROWS, dash="version", **WORDS)


def test_nine_panels_wrap_and_each_column_has_a_label(figures, tmp_path):
    rows = [{**row, "columns": columns} for row in ROWS for columns in range(2, 11)]
    draw_lines(tmp_path / "a.png", rows, panels="columns", **WORDS)
    drawn = [axes for axes in figures[0].axes if axes.lines]
    assert drawn[-1].get_title("left") == "columns = 10"
    assert sum(axes.get_xlabel() == "ε" for axes in drawn) == 3
    # Five leave one place empty; the panel above it has its own numbers and label.
    few = [row for row in rows if row["columns"] < 7]
    draw_lines(tmp_path / "a.png", few, panels="columns", log_x=True, **WORDS)
    third = figures[1].axes[2]
    assert third.get_xlabel() == "ε"
    assert third.get_xticklabels()[0].get_visible()
    assert not figures[1].axes[5].axison


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"y": "amy"}, "y must be one of the columns mechanism, clusterer, epsilon"),
        ({"panels": "set"}, "panels must be one of the columns"),
        ({"y": "clusterer"}, "column 'clusterer' must hold numbers, got text"),
        ({"low": "ami"}, "low and high must be given together, got 'ami' and None"),
        ({"reference": 3}, "reference must be a dict of names and finite numbers, got 3"),
        ({"records": []}, "records must hold at least one row, got none"),
        ({"records": {"mechanism": []}}, "x must be one of the columns mechanism"),
        ({"records": 7}, "records must be a list of dicts, .* got a int"),
        ({"records": [{**ROWS[0], "ami": None}]}, "column 'ami' must hold a finite number"),
        ({"records": [{**ROWS[0], "epsilon": 0}], "log_x": True}, "log_x must be False where"),
        ({"records": [{**ROWS[0], "ami": 0}], "log_y": True}, "log_y must be False where"),
        ({"records": [{**ROWS[0], "mechanism": []}]}, "'mechanism' must hold names or numbers"),
        ({"path": "a.bmp"}, "path must end with .png, .svg, .pdf, .html, .json, got 'a.bmp'"),
        ({"path": "none/a.png"}, "path must be a file that can be written.*No such file"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(words, message, tmp_path):
    words = {"records": ROWS, "path": "a.png"} | WORDS | words
    path = tmp_path / words.pop("path")
    with pytest.raises(ParameterError, match=message) as caught:
        draw_lines(path, words.pop("records"), **words)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_looks_are_the_mechanisms_own_in_any_company():
    alone = looks(["Piecewise"])["Piecewise"]
    assert looks(["mine", "Laplace(window=2)", "piecewise"])["piecewise"] == alone
    assert looks(["SphericalLaplace"]).popitem()[1] == LOOKS["nd-laplace"]
    for names in (["SphericalLaplace", "nd-Laplace"], [*map(str, range(30))], ["a", *LOOKS]):
        chosen = looks(names)
        assert list(chosen) == names
        assert len(set(chosen.values())) == len(names)


@pytest.mark.parametrize(
    "together",
    [
        [LOOKS[name] for name in list(LOOKS)[2:14] if name != "nd-laplace"],
        [LOOKS[name] for name in ("thr", "thr-em", "qt", "baseline", "oneshot")],
        [LOOKS[name] for name in list(LOOKS)[-8:]],  # variants of DP-KCCM
        SPARE,
        looks(["nd-Laplace", "piecewise", *"abcdef"]).values(),
    ],
)
def test_those_drawn_together_differ_in_grey_too(together):
    assert len({to_rgba(look.color) for look in together}) == len(together)
    assert len({look.marker for look in together}) == len(together)
    assert len({look.hatch for look in together}) == len(together)


@pytest.mark.parametrize(
    "names",
    [
        ["nd-laplace", "grid-nd-laplace", "density-nd-laplace", "piecewise"],
        ["thr", "thr-em", "qt", "baseline"],
    ],
)
def test_colors_of_one_source_differ_in_lightness(names):
    shades = sorted(np.dot(to_rgba(COLORS[name])[:3], [0.299, 0.587, 0.114]) for name in names)
    assert min(np.diff(shades)) > 0.03


def test_data_frames(figures, tmp_path):
    frame = pytest.importorskip("pandas").DataFrame([*ROWS, {**ROWS[0], "clusterer": np.nan}])
    draw_lines(tmp_path / "a.svg", frame, panels="clusterer", **WORDS)
    titles = [axes.get_title("left") for axes in figures[0].axes]
    assert titles == ["KMeans", "OPTICS", "None"]
