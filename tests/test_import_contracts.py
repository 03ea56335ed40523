"""The import contracts hold, and a planted import breaks them."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

AFTER_THE_DEVICE = {"remap", "reports", "collector"}
# What code after the device must not need: these read records, or import what does.
READERS = ("shoal.tables", "shoal._table_input", "shoal.mechanisms", "shoal.engines")

PLANTED = {
    "mechanisms reach statistics": ("mechanisms/laplace.py", "import shoal.engines"),
    "remaps read tables": ("remap/clip.py", "import shoal.tables"),
    "remaps know mechanisms, which read tables": ("remap/bayes.py", "import shoal.mechanisms"),
    "reports read tables late": (
        "reports/label_on_device.py",
        "def late():\n    from shoal.tables import open_table\n    return open_table",
    ),
    "reports read tables through a leaf": ("_records.py", "import shoal.tables"),
    "remaps reach raw records": ("remap/clip.py", "import shoal.cluster"),
    "reports read data sets": ("reports/label_on_device.py", "import shoal.datasets"),
    "tables know noise": ("tables/columns.py", "import shoal.noise"),
    "tables know who validates": ("tables/table.py", "import shoal._records"),
    "noise knows estimators": ("noise/lattice.py", "import shoal.cluster"),
    "promises know noise": ("privacy/events.py", "import shoal.noise"),
    "metrics know promises": ("metrics/nicv.py", "import shoal.privacy"),
    "datasets know metrics": ("datasets/shapes.py", "import shoal.metrics"),
    "experiments touch raw statistics": ("experiments/demo.py", "import shoal.engines"),
    "audits know experiments": ("audit/bounds/result.py", "import shoal.experiments"),
}


def lint(folder):
    """Run import-linter on a copy of the package."""
    command = (
        "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, 'src'); {command}", "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def package(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_contracts_hold(package):
    result = lint(package)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_import_is_caught(package, bug):
    name, line = PLANTED[bug]
    module = package / "src" / "shoal" / name
    text = module.read_text(encoding="utf-8")
    module.write_text(f"{text}\n{line}\n", encoding="utf-8")
    result = lint(package)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout


def test_there_are_no_exemptions():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "ignore_imports" not in text


def test_all_code_after_the_device_is_under_the_contract():
    """Also a package that is not there yet."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["name"] == "code after the device cannot reach code that reads records"
    ]
    present = {f"shoal.{name}" for name in AFTER_THE_DEVICE if (ROOT / "src/shoal" / name).is_dir()}
    assert set(contract["source_modules"]) == present
    assert set(READERS) <= set(contract["forbidden_modules"])
    assert not contract.get("allow_indirect_imports")


def private_imports(source):
    """List imports of private modules and names of another package of shoal."""
    for file in sorted(source.rglob("*.py")):
        place = file.relative_to(source)
        package = place.parts[0] if len(place.parts) > 1 else ""
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                root, *parts = name.split(".")
                foreign = root == "shoal" and len(parts) > 1 and parts[0] != package
                if foreign and any(part.startswith("_") for part in parts[1:]):
                    yield place.as_posix(), name


def test_private_modules_are_imported_by_their_own_package_only():
    assert list(private_imports(ROOT / "src/shoal")) == []


def test_a_planted_private_import_is_seen(package):
    module = package / "src/shoal/cli/cluster.py"
    line = "def late():\n    from shoal.cluster import _centers\n"
    module.write_text(f"{module.read_text(encoding='utf-8')}\n{line}", encoding="utf-8")
    found = set(private_imports(package / "src/shoal")) - set(private_imports(ROOT / "src/shoal"))
    assert found == {("cli/cluster.py", "shoal.cluster._centers")}


def test_contracts_name_what_is_there():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = set()
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for key in ("layers", "source_modules", "forbidden_modules", "modules"):
            for entry in contract.get(key, ()):
                named |= {name.strip(" ()") for name in entry.split("|")}
    assert named
    for name in named:
        path = ROOT / "src" / Path(*name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


def test_all_that_comes_after_the_device_works_where_nothing_can_read_records():
    script = Path(__file__).parent / "helpers" / "reports_without_readers.py"
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(script), *READERS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["all", "ran"]
