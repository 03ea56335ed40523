"""The browser client in the source tree and in the wheel: the same modules."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from shoal import _browser_client
from shoal._browser_client import browser_client, browser_modules
from shoal.exceptions import MissingPackageError

ROOT = Path(__file__).parents[1]
FIND = "from shoal._browser_client import browser_client; print(browser_client())"


def test_modules_of_the_source_tree():
    assert browser_client() == ROOT / "clients/js/src"
    names = [file.name for file in browser_modules()]
    assert names == sorted(names)
    assert {"index.js", "shoal-report.js"} <= set(names)


def test_a_distribution_without_them_says_so(monkeypatch):
    monkeypatch.setattr(_browser_client, "COMPONENT", "of-another-world.js")
    with pytest.raises(MissingPackageError, match=r"run `pip install \.`"):
        browser_client()


def build(builder, root, folder):
    """Build with hatchling itself, in this process: nothing is downloaded."""
    return Path(next(builder(str(root)).build(directory=str(folder), versions=["standard"])))


def unpacked(folder):
    """Return the sources as their archive holds them."""
    from hatchling.builders.sdist import SdistBuilder

    with tarfile.open(build(SdistBuilder, ROOT, folder)) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    return source


@pytest.mark.parametrize("archived", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_wheel_carries_them(tmp_path, archived):
    pytest.importorskip("hatchling", reason="hatchling is not installed: it builds the wheel")
    from hatchling.builders.wheel import WheelBuilder

    source = unpacked(tmp_path) if archived else ROOT
    wheel = build(WheelBuilder, source, tmp_path)
    with zipfile.ZipFile(wheel) as held:
        held.extractall(tmp_path / "installed")
    folder = tmp_path / "installed/shoal/browser_client"
    found = subprocess.run(
        [sys.executable, "-S", "-c", FIND],
        env={"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()) == folder
    ours = {file.name: file.read_bytes() for file in browser_modules()}
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == ours
