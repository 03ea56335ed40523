"""Pages: one file, no address of anything outside it, names from the user's file kept harmless."""

import pytest

from shoal.exceptions import ParameterError
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.plotting import draw_lines, draw_scatter, page_scripts

EVIL = '<script>alert("x")</script>'
SENTINEL = 0.123456


def full_page():
    page = Report(EVIL).lead(EVIL).verdict(EVIL, bad=True).section(EVIL).text(EVIL).points([EVIL])
    return page.table([EVIL, "b"], [[EVIL, "1"]]).provenance(Provenance(EVIL, 0, data=EVIL), EVIL)


def curve(title="a curve"):
    rows = {"mechanism": ["a"], "epsilon": [1], "ami": [0.5]}
    return draw_lines(rows, x="epsilon", y="ami", title=title)


def records():
    return draw_scatter({"records": [[SENTINEL, SENTINEL]]})


def test_nothing_from_outside_and_nothing_to_run():
    text = full_page().html
    assert "<script" not in text
    assert "http" not in text
    assert text.count("&lt;script&gt;") == 11


def test_written_whole_or_not_at_all(tmp_path):
    path = full_page().write(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html"]
    with pytest.raises(ParameterError, match="file that can be written"):
        full_page().write(tmp_path / "nowhere" / "report.html")


def test_numbers_to_the_right():
    text = Report("x").table(["a", "b"], [["one", "1"]], text=1).html
    assert '<td class="text">one</td><td>1</td>' in text


def test_a_live_chart_cannot_end_its_script():
    text = Report("x").picture(curve(f"</script>{EVIL}"), says=EVIL).html
    own = text.replace(page_scripts(), "")
    assert own != text
    assert own.count("</script>") == 1  # that of the chart itself
    assert "http" not in own
    assert f'aria-label="{EVIL}' not in own


def test_what_draws_is_there_once_and_only_if_needed():
    assert page_scripts() not in Report("x").html
    page = Report("x", publishable=False)
    assert page_scripts() not in page.picture(records(), says="an image").html
    two = page.picture(curve(), says="a").picture(curve(), says="b").html
    assert two.count(page_scripts()) == 1
    assert two.count('<div class="chart"') == 2  # what draws takes an image for no chart


def test_records_never_enter_a_page_that_may_be_published(tmp_path):
    page = Report("x")
    with pytest.raises(ParameterError, match="must hold no picture of records") as caught:
        page.picture(records(), says="records")
    assert "\n" not in str(caught.value)
    assert "<figure" not in page.html
    report = Report("x", figures=tmp_path)
    report.figure(draw_scatter, "points", {"a": [[SENTINEL, 2.0]]}, says="records")
    with pytest.raises(ParameterError, match="must hold no picture of records"):
        report.write(tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_page_for_the_curator_shows_records_as_an_image_only(tmp_path):
    report = Report("x", figures=tmp_path, publishable=False)
    report.figure(draw_scatter, "points", {"a": [[SENTINEL, 2.0]]}, says="records")
    text = report.write(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in text
    assert str(SENTINEL) not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points.png", "report.html"]
