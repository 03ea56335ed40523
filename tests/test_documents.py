"""What we tell newcomers runs: the README's and the pages' code."""

import ast
import functools
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


@functools.cache
def package_imports():
    """Read which packages of shoal each one imports, anywhere in its files."""
    source = ROOT / "src/shoal"
    imports = {folder.parent.name: set() for folder in source.glob("*/__init__.py")}
    for file in source.glob("*/**/*.py"):
        package = file.relative_to(source).parts[0]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            imports[package] |= {name.split(".")[1] for name in names if name.startswith("shoal.")}
    return {name: (used & set(imports)) - {name} for name, used in imports.items()}


def test_the_architecture_says_who_imports_whom():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.split("## Who imports whom")[1].split("The contracts")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    assert {name: set(re.findall(r"`(\w+)`", used)) for name, used in rows} == package_imports()


def test_the_architecture_names_what_is_there():
    """Every package, every shared module, and no file that is not there."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for name in package_imports():
        assert f"| `shoal.{name}` |" in page, name
    for module in (ROOT / "src/shoal").glob("*.py"):
        assert module.stem == "__init__" or f"`{module.stem}`" in page, module.name
    for file in re.findall(r"`((?:src|tests|docs|proofs)/[\w/]+\.\w+)`", page):
        assert (ROOT / file).is_file(), file
