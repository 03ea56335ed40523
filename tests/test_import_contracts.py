"""The import contracts hold, and a planted import breaks them."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

ROOT = Path(__file__).parents[1]

# What code after the device must not need: these read records, or import what does.
READERS = (
    "shoal.tables",
    "shoal._table_input",
    "shoal._build",
    "shoal.mechanisms",
    "shoal.engines",
)

PLANTED = {
    "mechanisms reach statistics": ("shoal.mechanisms", "shoal.engines"),
    "remaps read tables": ("shoal.remap", "shoal.tables"),
    "remaps know mechanisms, which read tables": ("shoal.remap", "shoal.mechanisms"),
    "reports read tables through a leaf": ("shoal._records", "shoal.tables"),
    "remaps reach raw records": ("shoal.remap", "shoal.cluster"),
    "reports build estimators by name": ("shoal.reports", "shoal._build"),
    "mechanisms build estimators by name": ("shoal.mechanisms", "shoal._build"),
    "noise builds estimators by name": ("shoal.noise", "shoal._build"),
    "tables build estimators by name": ("shoal.tables", "shoal._build"),
    "engines build estimators by name": ("shoal.engines", "shoal._build"),
    "reports read data sets": ("shoal.reports", "shoal.datasets"),
    "tables know noise": ("shoal.tables", "shoal.noise"),
    "tables know who validates": ("shoal.tables", "shoal._records"),
    "noise knows estimators": ("shoal.noise", "shoal.cluster"),
    "guarantees know noise": ("shoal.privacy", "shoal.noise"),
    "metrics know guarantees": ("shoal.metrics", "shoal.privacy"),
    "density knows noise": ("shoal.density", "shoal.noise"),
    "density reads records": ("shoal.density", "shoal.tables"),
    "datasets know metrics": ("shoal.datasets", "shoal.metrics"),
    "experiments touch raw statistics": ("shoal.experiments", "shoal.engines"),
    "audits know experiments": ("shoal.audit", "shoal.experiments"),
    "devices need scikit-learn": ("shoal._estimator_base", "sklearn"),
    "devices need scipy": ("shoal.noise.planar_sampler", "scipy"),
    "devices remap": ("shoal.mechanisms.kd_laplace", "shoal.remap"),
    "labels need clusterers": ("shoal.labels", "shoal.reports"),
    "the collector reads tables": ("shoal.collector", "shoal.tables"),
    "the collector reaches statistics": ("shoal.collector", "shoal.engines"),
    "the collector acts as a device": ("shoal.collector", "shoal.client"),
    "servers share code of campaigns": ("shoal.service", "shoal.campaigns"),
    "servers share the collector": ("shoal.service", "shoal.collector"),
    "devices are made of servers": ("shoal.client", "shoal.service"),
    "the relay knows the collector": ("shoal.shuffler", "shoal.collector"),
    "the relay reads reports": ("shoal.shuffler", "shoal.reports"),
    "the collector knows the relay": ("shoal.collector", "shoal.shuffler"),
    "campaigns know who collects": ("shoal.campaigns", "shoal.collector"),
    "a device reaches statistics": ("shoal.client", "shoal.cluster"),
    "mechanisms know campaigns": ("shoal.mechanisms", "shoal.campaigns"),
    "the collector mounts the studio": ("shoal.collector", "shoal.studio"),
    "the relay mounts the studio": ("shoal.shuffler", "shoal.studio"),
    "servers share the studio": ("shoal.service", "shoal.studio"),
    "the studio touches raw statistics": ("shoal.studio", "shoal.engines"),
    "exact statistics know noise": ("shoal.engines", "shoal.noise"),
    "charts know promises through a leaf": ("shoal._outlines", "shoal.privacy"),
    "the relay draws clusters": ("shoal.shuffler", "shoal.plotting"),
    "the collector audits": ("shoal.collector", "shoal.audit"),
}


KINDS: dict[str, Any] = {
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
    "protected": ProtectedContract,
}


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(
        "shoal",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )


@pytest.fixture(scope="module")
def contracts():
    settings = read_configuration(str(ROOT / "pyproject.toml"))
    session = settings["session_options"]
    return [
        KINDS[options["type"]](options["name"], session, options)
        for options in settings["contracts_options"]
    ]


def broken(contracts, graph):
    return [one.name for one in contracts if not one.check(deepcopy(graph), verbose=False).kept]


def test_contracts_hold(contracts, graph):
    assert broken(contracts, graph) == []


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_import_is_caught(contracts, graph, bug):
    importer, imported = PLANTED[bug]
    planted = deepcopy(graph)
    assert {importer, imported} <= planted.modules
    planted.add_import(importer=importer, imported=imported)
    assert broken(contracts, planted) != []


def test_planted_import_within_a_function_is_caught(tmp_path):
    """By the command, on a copy of the package."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "src/shoal/reports/__init__.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef late():\n    from shoal.tables import open_table\n")
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, 'src'); {command}", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


def test_there_are_no_exemptions():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "ignore_imports" not in text


def test_a_package_that_is_not_on_the_map_is_refused(contracts, graph):
    """So every new one is placed, and none escapes the layers."""
    graph = deepcopy(graph)
    graph.add_module("shoal.newcomers")
    (layers,) = [one for one in contracts if isinstance(one, LayersContract)]
    assert layers.check(graph, verbose=False).kept is False


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
    assert set(private_imports(ROOT / "src/shoal")) == set()


def test_a_planted_private_import_is_seen(tmp_path):
    (tmp_path / "cli").mkdir()
    lines = "import shoal._files\nfrom shoal.cli import _input\n\n\ndef late():\n"
    for line in ("from shoal.cluster import _centers", "from shoal.cluster._centers import pack"):
        (tmp_path / "cli/cluster.py").write_text(f"{lines}    {line}\n", encoding="utf-8")
        ((place, name),) = private_imports(tmp_path)
        assert place == "cli/cluster.py"
        assert name.startswith("shoal.cluster._centers")


def test_contracts_name_what_is_there(graph):
    """import-linter says so of layers and of what is forbidden, not of what is protected."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for key in ("protected_modules", "allowed_importers"):
            assert set(contract.get(key, ())) <= graph.modules


@pytest.mark.full
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
