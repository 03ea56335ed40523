"""shoal-device in an environment of its own, as an app installs it."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests/helpers/light_device.py"
HEAVY = {"narwhals", "pandas", "scipy", "sklearn", "typer"}
TIMED = "import time; start = time.process_time(); {}; print(time.process_time() - start)"
TURNS = 9
RATIO = 5.0  # to `import numpy`: under 3 was measured
MEGABYTES = 140  # 101 were measured, bytecode included; most of them are numpy


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment with shoal-device, built from a copy: a build leaves nothing in the tree."""
    folder = tmp_path_factory.mktemp("install")
    for part in ("clients", "src"):
        shutil.copytree(
            ROOT / part, folder / "tree" / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in ("pyproject.toml", "hatch_build.py"):
        shutil.copy(ROOT / file, folder / "tree")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(folder / "tree/clients/python")],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1]
        if "No matching distribution" in last or "connection" in last.lower():
            pytest.skip(f"no registry of packages to install from: {last}")
        pytest.fail(done.stderr)
    return folder / "venv"


def run(environment, *arguments):
    return subprocess.run(
        [environment / "bin/python", "-I", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def best_import(environment, statement):
    return min(float(run(environment, "-c", TIMED.format(statement))) for _ in range(TURNS))


@pytest.mark.full
def test_an_installed_client_draws_what_shoal_draws(environment):
    ours = json.loads(run(environment, SCRIPT))
    whole = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True
    ).stdout
    assert ours["done"] == json.loads(whole)["done"]
    assert not HEAVY & set(ours["loaded"])


@pytest.mark.full
def test_it_is_small_and_soon_there(environment):
    (packages,) = environment.glob("lib/python*/site-packages")
    tools = ("pip", "setuptools", "_distutils_hack", "pkg_resources")
    megabytes = sum(
        file.stat().st_size / 2**20
        for file in packages.rglob("*")
        if file.is_file() and not file.relative_to(packages).parts[0].startswith(tools)
    )
    ours, numpy = (
        best_import(environment, statement)
        for statement in ("from shoal.client import Device", "import numpy")
    )
    print(f"{megabytes:.1f} MB; import {ours:.3f} s, of which numpy {numpy:.3f} s")  # noqa: T201
    assert not [path for path in packages.iterdir() if path.name.partition("-")[0] in HEAVY]
    assert megabytes < MEGABYTES
    assert ours < RATIO * numpy
