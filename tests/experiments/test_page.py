"""Pages: one file, no address of anything outside it, names from the user's file kept harmless."""

import pytest

from shoal.exceptions import ParameterError
from shoal.experiments.page import Page

EVIL = '<script>alert("x")</script>'


def full_page(tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    page = Page(EVIL).lead(EVIL).verdict(EVIL, bad=True).section(EVIL).text(EVIL).points([EVIL])
    return page.table([EVIL, "b"], [[EVIL, "1"]]).picture(picture, says=EVIL).footer(EVIL)


def test_nothing_from_outside_and_nothing_to_run(tmp_path):
    text = full_page(tmp_path).html
    assert "<script" not in text
    assert "http" not in text
    assert text.count("&lt;script&gt;") == 12


def test_written_whole_or_not_at_all(tmp_path):
    path = full_page(tmp_path).write(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["picture.png", "report.html"]
    with pytest.raises(ParameterError, match="file that can be written"):
        full_page(tmp_path).write(tmp_path / "nowhere" / "report.html")


def test_numbers_to_the_right():
    text = Page("x").table(["a", "b"], [["one", "1"]], text=1).html
    assert '<td class="text">one</td><td>1</td>' in text
