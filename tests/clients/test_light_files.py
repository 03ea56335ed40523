"""shoal-device: the device's part of shoal alone does all that a device does, and the same."""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

from helpers import light_device
from shoal.mechanisms import Laplace

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients/python"
SCRIPT = ROOT / "tests/helpers/light_device.py"
# Distributions by the names that they are imported by.
IMPORTED = {"scikit-learn": "sklearn", "PyWavelets": "pywt"}


def load(name):
    spec = importlib.util.spec_from_file_location(name, CLIENT / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


light = load("light_files")


def dependencies(folder):
    """Return the modules of what a distribution needs."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[<>=\[ ]", one)[0] for one in project["dependencies"]]
    return {IMPORTED.get(name, name) for name in names}


def unpack(folder):
    """Copy the files of the wheel into a folder, as installing it does."""
    for file, path in light.light_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return folder


def run(*arguments, path):
    """Run Python with one folder of its own, and nothing else of ours."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(path), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("light"))


@pytest.fixture(scope="module")
def missing():
    """What shoal needs and shoal-device does not, and what comes with it."""
    return dependencies(ROOT) - dependencies(CLIENT) | {"pandas", "polars", "pyarrow", "joblib"}


@pytest.fixture(scope="module")
def on_device(installed, missing):
    done = run(SCRIPT, *missing, path=installed)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_needs_less_than_shoal(missing):
    assert {"sklearn", "scipy", "pywt", "narwhals", "typer", "rich"} <= missing


def test_reports_and_labels_are_those_of_shoal_bit_for_bit(on_device):
    assert issubclass(Laplace, BaseEstimator)  # of scikit-learn, in this process
    for part in light_device.PARTS:
        for name, result in part().items():
            assert on_device["done"][part.__name__][name] == result, (part, name)


def test_nothing_that_is_missing_was_asked_for(on_device, missing):
    """But scikit-learn, once: whether it is there."""
    assert on_device["asked"] == ["sklearn"]
    assert not missing & set(on_device["loaded"])
    assert {"numpy", "cryptography", "shoal"} <= set(on_device["loaded"])


def test_no_report_waits_for_exact_arithmetic(on_device):
    """Loading mpmath takes longer than all else but numpy; few draws in a million need it."""
    assert "mpmath" not in on_device["loaded"]


def test_what_is_not_in_it_is_said_in_one_line(installed, missing):
    statements = (
        "from shoal import DPKMeans",
        "from shoal import load_release",
        "import shoal.mechanisms as m; m.KdLaplace(bounds=(0.0, 1.0)).fit([[0.5, 0.5]])",
        "import shoal.noise as n; n.RoundedGaussianNoise(1.0).upper_tail(1)",
    )
    lines = [
        f"import sys; sys.path.append({str(SCRIPT.parent)!r}); import light_device",
        f"sys.meta_path.insert(0, light_device.Missing({sorted(missing)!r}))",
        f"for statement in {statements!r}:",
        "    try: exec(statement)",
        "    except ImportError as error: print(type(error).__name__, error)",
    ]
    done = run("-c", "\n".join(lines), path=installed)
    said = done.stdout.splitlines()
    assert len(said) == len(statements), done.stderr
    for line in said:
        assert line.startswith("MissingPackageError ")
        assert line.endswith(
            "run `pip uninstall shoal-device`, then `pip install .` in a clone of shoal"
        )


FRAME = """
import pandas
from shoal.mechanisms import Laplace
frame = pandas.DataFrame({"age": [0.25, 0.5], "income": [1.0, 0.0]})
device = Laplace(2.0, bounds=(0.0, 1.0), random_state=7)
reports = device.fit_transform(frame).tolist(), device.get_feature_names_out().tolist()
try:
    device.transform(frame[["income", "age"]])
except ValueError as refused:
    print([*reports, str(refused)])
"""


def test_frames_are_read_without_scikit_learn(installed, capsys):
    """By narwhals, which shoal-device[frame] brings."""
    block = f"import sys; sys.path.append({str(SCRIPT.parent)!r}); import light_device\n"
    block += "sys.meta_path.insert(0, light_device.Missing(['sklearn', 'scipy']))\n"
    done = run("-c", block + FRAME, path=installed)
    exec(FRAME, {})
    assert done.stdout == capsys.readouterr().out, done.stderr
    assert "The feature names should match" in done.stdout


def test_an_old_scikit_learn_beside_it_is_left_alone(installed, tmp_path):
    """Before 1.6 it has no validate_data; an app may need it for other things."""
    for name in ("__init__", "base", "utils/__init__", "utils/validation"):
        file = tmp_path / f"sklearn/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    code = "import shoal.mechanisms as m; print(m.Laplace(2.0, bounds=(0.0, 1.0)).randomize([0.5]))"
    done = run("-c", code, path=f"{tmp_path}{os.pathsep}{installed}")
    assert done.returncode == 0, done.stderr


def test_the_page_shows_calls_that_are_there():
    from shoal.campaigns import Campaign
    from shoal.client import Device

    page = (CLIENT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    called = {
        (node.value.id, node.attr)
        for node in ast.walk(ast.parse(example))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert ("device", "report") in called
    for kind, name in called:
        known = dir(Device) if kind == "device" else [*dir(Campaign), *Campaign.__annotations__]
        assert name in known, (kind, name)
    assert len(example.splitlines()) <= 10


def test_a_planted_heavy_import_is_seen(installed, missing, tmp_path):
    """Also where it is reached only when a report is drawn."""
    shutil.copytree(installed, tmp_path / "light")
    sampler = tmp_path / "light/shoal/noise/planar_sampler.py"
    text = sampler.read_text(encoding="utf-8")
    late = "    from scipy.special import lambertw\n\n    depths ="
    sampler.write_text(text.replace("    depths =", late, 1), encoding="utf-8")
    done = run(SCRIPT, *missing, path=tmp_path / "light")
    assert done.returncode == 1
    assert "No module named 'scipy'" in done.stderr


def test_the_list_is_whole_and_has_no_more(installed):
    """Every module of shoal that a light one imports is light, and each listed one is there."""
    held = {path.relative_to(installed).as_posix() for path in installed.rglob("*.py")}
    assert "shoal/py.typed" in light.light_files().values()
    for name in light.light_modules():
        path = name.replace(".", "/")
        assert f"{path}.py" in held or f"{path}/__init__.py" in held, name
    for file in sorted(held - {"shoal/__init__.py"}):
        for node in ast.walk(ast.parse((installed / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal."):
                path = node.module.replace(".", "/")
                assert {f"{path}.py", f"{path}/__init__.py"} & held, (file, node.module)


def test_it_has_the_version_and_license_of_shoal():
    import shoal

    assert light.version() == shoal.__version__
    assert (CLIENT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def wheel_content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def build(builder, root, folder):
    """Build with hatchling itself, in this process: nothing is downloaded."""
    return Path(next(builder(str(root)).build(directory=str(folder), versions=["standard"])))


def test_a_wheel_of_the_archive_is_the_wheel_of_the_repository(installed, tmp_path):
    pytest.importorskip("hatchling", reason="hatchling is not installed: it builds the wheel")
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    wheel = build(WheelBuilder, CLIENT, tmp_path / "direct")
    archive = build(SdistBuilder, CLIENT, tmp_path / "archive")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    again = build(WheelBuilder, source, tmp_path / "again")
    content = wheel_content(wheel)
    assert content == wheel_content(again)
    files = {name: held for name, held in content.items() if name.startswith("shoal/")}
    assert files == {
        path.relative_to(installed).as_posix(): path.read_bytes()
        for path in installed.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
