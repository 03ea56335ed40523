"""Each picture is the same in matplotlib and in Plotly, and is written whole or not at all."""

import html
import json
import re
import sys

import numpy as np
import pytest

from plotting.gallery import PICTURES
from shoal import plotting
from shoal.exceptions import MissingPackageError, ParameterError
from shoal.plotting.marks import Band, Bars, Cells, Level, Line, Points, Texts

DRAWS = pytest.mark.parametrize("draw", [draw for _, draw in PICTURES.values()], ids=PICTURES)


def floats(values):
    return np.array([np.nan if one is None else one for one in values], dtype=float)


def same(found, expected):
    np.testing.assert_allclose(floats(found), np.ravel(expected), rtol=1e-5, atol=1e-12)


def test_every_function_that_draws_is_in_the_gallery():
    names = {name for name in plotting.__all__ if name.startswith("draw_")}
    assert {draw.__name__ for draw, _ in PICTURES.values()} == names


@DRAWS
def test_plotly_shows_what_the_chart_says(draw, charts, tmp_path):
    figure = json.loads(draw(tmp_path / "a.json").read_text())
    (chart,) = charts
    left = {"traces": list(figure["data"]), "shapes": list(figure["layout"]["shapes"])}
    for panel in chart.panels:
        for mark in panel.marks:
            drawn = left["shapes" if isinstance(mark, Level) else "traces"].pop(0)
            compare(mark, drawn)
            if isinstance(mark, Cells) and mark.words is not None:
                some = sum(len(left["traces"].pop(0)["text"]) for _ in shades(mark))
                assert some == np.isfinite(mark.values).sum()
    assert [trace["name"] for trace in left["traces"]] == [mark.name for mark in chart.key]
    assert not left["shapes"]
    kind = "scene" if chart.solid else "xaxis"
    assert sum(name.startswith(kind) for name in figure["layout"]) == len(chart.panels)
    titles = [note["text"].replace("<br>", " ") for note in figure["layout"]["annotations"]]
    assert titles == [
        html.escape(panel.title, quote=False) for panel in chart.panels if panel.title
    ]


def shades(mark):
    """Return the colors of the words in cells."""
    return set(plotting.marks.on_dark(mark)[np.isfinite(mark.values)].tolist())


def compare(mark, drawn):
    match mark:
        case Line() | Points() | Texts():
            at = np.column_stack([mark.x, mark.y]) if isinstance(mark, Line) else mark.at
            for letter, values in zip("xyz", at.T, strict=False):
                same(drawn[letter], values)
        case Band():
            same(drawn["y"], [*mark.low, *mark.high[::-1]])
        case Bars():
            same(drawn["x" if mark.lying else "y"], mark.lengths)
        case Cells():
            same(np.ravel(drawn["z"]), mark.values)
        case Level():
            assert drawn["x0" if mark.upright else "y0"] == pytest.approx(mark.at, rel=1e-5)
    if getattr(mark, "y_ends", None) is not None:
        same(drawn["error_y"]["array"], mark.y_ends[1] - mark.at[:, 1])
    if getattr(mark, "ends", None) is not None:
        same(drawn["error_y"]["arrayminus"], mark.lengths - mark.ends[0])


@DRAWS
def test_matplotlib_shows_what_the_chart_says(draw, charts, figures, tmp_path):
    assert draw(tmp_path / "a.svg").read_text().rstrip().endswith("</svg>")
    (chart,), (figure,) = charts, figures
    for axes, panel in zip(figure.axes, chart.panels, strict=False):
        marks = panel.marks
        lines = [line.get_ydata() for line in (*axes.lines, *twin_lines(figure, axes))]
        for mark in (mark for mark in marks if isinstance(mark, Line)):
            assert any(np.array_equal(mark.y, line, equal_nan=True) for line in lines)
        offsets = [np.asarray(one.get_offsets()) for one in axes.collections if not chart.solid]
        for mark in (mark for mark in marks if isinstance(mark, Points) and not chart.solid):
            assert any(np.array_equal(mark.at, one) for one in offsets)
        bars = [mark for mark in marks if isinstance(mark, Bars)]
        assert sum(len(mark.lengths) for mark in bars) == len(axes.patches)
        for mark, image in zip(
            (m for m in marks if isinstance(m, Cells)), axes.images, strict=True
        ):
            np.testing.assert_array_equal(np.ma.filled(image.get_array(), np.nan), mark.values)
        assert axes.get_title("left").replace("\n", " ") == panel.title


def twin_lines(figure, axes):
    beside = axes.get_position().bounds
    return [
        line
        for other in figure.axes
        if other is not axes and other.get_position().bounds == beside
        for line in other.lines
    ]


@DRAWS
def test_legends_are_the_same_and_name_each_thing_once(draw, figures, tmp_path):
    draw(tmp_path / "a.png")
    (figure,) = figures
    ours = [one for one in (*figure.legends, *(a.get_legend() for a in figure.axes)) if one]
    names = [[text.get_text() for text in legend.get_texts()] for legend in ours]
    written = json.loads(draw(tmp_path / "a.json").read_text())
    listed = {}
    for one in [*written["data"], *written["layout"]["shapes"]]:
        if one["showlegend"]:
            listed.setdefault(one["legend"], []).append((one["legendrank"], one["name"]))
    theirs = [[html.unescape(name) for _, name in sorted(found)] for found in listed.values()]
    assert sorted(theirs) == sorted(names)
    for found in theirs:
        assert len(found) == len(set(found))


@DRAWS
def test_page_opens_offline(draw, tmp_path):
    library = pytest.importorskip("plotly.offline").get_plotlyjs()
    page = draw(tmp_path / "a.html").read_text()
    assert page.count(library) == 1
    own = page.replace(library, "")
    assert not re.search(r"https?:|//cdn|<link|@import|\bsrc\s*=|url\(", own)
    assert own.count("</script>") == 2  # names in the data end no script
    assert own.rstrip().endswith("</html>")
    assert [file.name for file in tmp_path.iterdir()] == ["a.html"]


@DRAWS
def test_plotly_knows_every_word_of_the_figure(draw, tmp_path):
    objects = pytest.importorskip("plotly.graph_objects")
    text = draw(tmp_path / "a.json").read_text()
    objects.Figure(json.loads(text))  # refuses unknown names and values
    assert "bdata" not in text
    assert draw(tmp_path / "b.json").read_text() == text


@DRAWS
@pytest.mark.parametrize("name", ["a.bmp", "a", "none/a.json"])
def test_path_that_cannot_be_written(draw, name, tmp_path):
    with pytest.raises(ParameterError, match=r"^path must (end with|be a file)") as caught:
        draw(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_older_file_stays_where_drawing_fails(monkeypatch, tmp_path):
    draw = PICTURES["distances"][1]
    path = draw(tmp_path / "a.html")
    older = path.read_bytes()
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shoal\[plot\]'"):
        draw(path)
    assert path.read_bytes() == older
    draw(tmp_path / "a.json")  # needs no Plotly


def test_numbers_are_short_and_names_are_no_tags(tmp_path):
    text = PICTURES["lines"][1](tmp_path / "a.json").read_text()
    assert "&lt;b&gt; of $5 and $6" in text
    for trace in json.loads(text)["data"]:
        assert all(one is None or float(f"{one:.6g}") == one for one in trace["y"])
