"""Pages: one file, no address of anything outside it, names from the user's file kept harmless."""

import json

import pytest

from shoal.exceptions import ParameterError
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report

EVIL = '<script>alert("x")</script>'


def full_page(tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    page = Report(EVIL).lead(EVIL).verdict(EVIL, bad=True).section(EVIL).text(EVIL).points([EVIL])
    return (
        page.table([EVIL, "b"], [[EVIL, "1"]])
        .picture(picture, says=EVIL)
        .provenance(Provenance(EVIL, 0, data=EVIL), EVIL)
    )


def test_nothing_from_outside_and_nothing_to_run(tmp_path):
    text = full_page(tmp_path).html
    assert "<script" not in text
    assert "http" not in text
    assert text.count("&lt;script&gt;") == 13


def test_written_whole_or_not_at_all(tmp_path):
    path = full_page(tmp_path).write(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["picture.png", "report.html"]
    with pytest.raises(ParameterError, match="file that can be written"):
        full_page(tmp_path).write(tmp_path / "nowhere" / "report.html")


def test_numbers_to_the_right():
    text = Report("x").table(["a", "b"], [["one", "1"]], text=1).html
    assert '<td class="text">one</td><td>1</td>' in text


def test_a_live_figure_cannot_end_its_script(tmp_path):
    figure = {"data": [{"name": f"</script>{EVIL}"}], "layout": {"height": 321}}
    path = tmp_path / "figure.json"
    path.write_text(json.dumps(figure), encoding="utf-8")
    text = Report("x").picture(path, says=EVIL).html
    before, _, plotly = text.partition("<script>")
    assert before.count("</script>") == 1  # that of the figure itself
    assert 'style="height:321px"' in before
    inside = before.partition('<script type="application/json">')[2].partition("</script>")[0]
    assert json.loads(inside) == figure
    assert "http" not in before
    assert "Plotly.newPlot" in plotly


def test_plotly_is_there_once_and_only_if_needed(tmp_path):
    path = tmp_path / "figure.json"
    path.write_text('{"data": [], "layout": {}}', encoding="utf-8")
    plain = len(Report("x").html)
    one = len(Report("x").picture(path, says="a").html)
    two = len(Report("x").picture(path, says="a").picture(path, says="b").html)
    assert plain < 10_000
    assert one > 1_000_000
    assert two - one < 10_000
