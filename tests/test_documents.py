"""What we tell newcomers runs: the README's and the pages' code, and the examples."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    *(
        f"docs/{page}.md"
        for page in (
            "index",
            "central",
            "wavecluster",
            "local",
            "ledgers",
            "scale",
            "audits",
            "experiments",
        )
    ),
]
BLOCKS = [
    pytest.param(block, id=f"{page}:{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_of_pages(block, capsys):
    exec(compile(block, "page", "exec"), {})
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples(script, capsys):
    runpy.run_path(str(script))
    assert "epsilon" in capsys.readouterr().out


def test_readme_has_an_example_of_ten_lines_for_each_model():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for section in ("## Central", "## Local"):
        block = readme.split(section)[1].split("```python\n")[1].split("```")[0]
        assert len([line for line in block.splitlines() if line.strip()]) <= 10


def test_links_of_the_readme_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", readme):
        assert (ROOT / target).exists(), target


def test_proofs_that_the_code_cites_exist():
    for source in (ROOT / "src").rglob("*.py"):
        for proof in re.findall(r"proofs/\w+\.md", source.read_text(encoding="utf-8")):
            assert (ROOT / proof).exists(), f"{source}: {proof}"
