"""Pages show what the files of results hold; the picture of the terminal needs nothing else."""

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


tables = load_tool("result_tables")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the pages with tables, and the files they are made from."""
    for table in tables.TABLES.values():
        for file in (table.page, *table.files):
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def test_pages_show_what_the_files_hold() -> None:
    assert tables.pages_out_of_date() == [], "run: python tools/result_tables.py"


def test_a_figure_that_was_typed_by_hand_is_noticed(copy: Path) -> None:
    page = copy / "docs/benchmarks.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"(\| S1 .*?DPKMeans \| )1\.\d+", r"\g<1>0.900", text), "utf-8")
    assert tables.pages_out_of_date(copy) == ["docs/benchmarks.md"]


def test_a_verdict_that_changed_is_noticed(copy: Path) -> None:
    file = copy / "docs/_data/verdicts_kccm.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(",not reproduced\n", ",reproduced\n", 1), "utf-8")
    assert tables.pages_out_of_date(copy) == ["docs/experiments.md"]


def test_each_table_has_its_place() -> None:
    for name, table in tables.TABLES.items():
        page = (ROOT / table.page).read_text(encoding="utf-8")
        assert page.count(f"<!-- table: {name} -->") == 1, name


def test_results_say_where_they_came_from() -> None:
    used = {file for table in tables.TABLES.values() for file in table.files}
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / tables.DATA).glob("*.csv")}
    assert kept <= used
    for file in kept:
        origin = tables.read_results(file).origin
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", origin["date"]), file
        assert origin["version"].startswith("shoal "), file
        rows = tables.read_results(file).rows
        assert "command" in origin or all(row["command"] for row in rows), file


def test_verdicts_are_kept_from_json(copy: Path) -> None:
    run = copy / "run.json"
    run.write_text(
        '{"verdicts": [{"claim": "1", "text": "a, b", "outcome": "undecided", "evidence": "?"}]}'
    )
    path = tables.keep(run, "verdicts_kccm", "shoal reproduce kccm --quick", copy)
    results = tables.read_results(path.relative_to(copy).as_posix(), copy)
    assert results.rows == [{"claim": "1", "text": "a, b", "outcome": "undecided"}]
    assert results.origin["command"] == "shoal reproduce kccm --quick"


def test_the_picture_of_the_terminal_loads_nothing() -> None:
    text = (ROOT / "docs/images/terminal.svg").read_text(encoding="utf-8")
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()} <= {
        *("svg", "style", "defs", "clipPath", "rect", "text", "circle", "g")
    }
    assert not re.search(r"href|url\((?!#)|@import|@font-face", text)
    assert "nothing&#160;was&#160;" in text
