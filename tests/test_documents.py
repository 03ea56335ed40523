"""What we tell newcomers runs: the README's and the pages' code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CANNOT_RUN = {
    "docs/collector.md": "reads files that `shoal collect export` wrote",
    "docs/studio.md": "starts a server, and prints nothing",
}
PAGES = [
    page
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if (page := file.relative_to(ROOT).as_posix()) not in CANNOT_RUN
]
BLOCKS = [
    pytest.param(block, id=f"{page}:{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_of_pages(block, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write a file beside the reader
    exec(compile(block, "page", "exec"), {})
    assert capsys.readouterr().out


def test_pages_that_cannot_run_are_there_and_have_code():
    for page in CANNOT_RUN:
        assert "```python" in (ROOT / page).read_text(encoding="utf-8"), page


def test_examples_that_pages_name_exist():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for example in re.findall(r"examples/[\w/]+\.py", page.read_text(encoding="utf-8")):
            assert (ROOT / example).exists(), f"{page.name}: {example}"


def test_readme_has_an_example_of_ten_lines_for_each_model():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for section in ("## Central", "## Local", "## Mixed tables"):
        block = readme.split(section)[1].split("```python\n")[1].split("```")[0]
        assert len([line for line in block.splitlines() if line.strip()]) <= 10


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 116


def test_proofs_that_the_code_cites_exist():
    for source in (ROOT / "src").rglob("*.py"):
        for proof in re.findall(r"proofs/\w+\.md", source.read_text(encoding="utf-8")):
            assert (ROOT / proof).exists(), f"{source}: {proof}"


def test_the_architecture_names_what_is_there():
    """Every package, every shared module, and no file that is not there."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for file in (ROOT / "src/shoal").glob("*/__init__.py"):
        assert f"| `shoal.{file.parent.name}` |" in page, file.parent.name
    for module in (ROOT / "src/shoal").glob("*.py"):
        assert module.stem == "__init__" or f"`{module.stem}`" in page, module.name
    for file in re.findall(r"`((?:src|tests|docs|proofs)/[\w/]+\.\w+)`", page):
        assert (ROOT / file).is_file(), file
