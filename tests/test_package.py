"""The package as a whole: what importing it loads, its names, its errors, its optional door."""

import importlib.metadata
import inspect
import re
import subprocess
import sys

import pytest

import shoal
from shoal import exceptions
from shoal._optional import require
from shoal.exceptions import MissingPackageError, ShoalError

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "fastapi", "randomgen", "dp_accounting"}


def loaded_by(code):
    """Top-level modules in a fresh interpreter after running some code."""
    script = f"import sys; {code}; print(' '.join({{m.partition('.')[0] for m in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_shoal_is_light():
    assert not loaded_by("import shoal") & (HEAVY | {"typer", "rich", "mpmath", "narwhals"})


def test_import_of_promises_needs_no_numbers():
    assert not loaded_by("import shoal.privacy, shoal.exceptions") & HEAVY


def test_mechanisms_load_no_accountant_and_no_plots():
    assert not loaded_by("import shoal.mechanisms") & {"dp_accounting", "altair", "fastapi"}


def test_lazy_names_are_those_of_their_rooms():
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
        assert name in dir(shoal)
    with pytest.raises(AttributeError, match="no attribute 'Laplas'"):
        shoal.Laplas  # type: ignore[attr-defined]  # noqa: B018


def test_one_version():
    assert importlib.metadata.version("shoal") == shoal.__version__


def test_every_error_is_drawn_in_the_tree_and_is_a_shoal_error():
    classes = {n for n, c in inspect.getmembers(exceptions, inspect.isclass)}
    assert classes == set(exceptions.__all__)
    drawn = set(re.findall(r"\b\w*Error\b", exceptions.__doc__.split("A message")[0]))
    assert classes <= drawn
    assert all(issubclass(getattr(exceptions, name), ShoalError) for name in classes)


def test_optional_package_that_is_there():
    assert require("json.decoder", extra="none").__name__ == "json.decoder"


def test_optional_package_that_is_missing():
    with pytest.raises(MissingPackageError, match=r"pip install 'shoal\[plot\]'"):
        require("altair_of_another_world.figure", extra="plot")


def test_broken_optional_package_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import a_part_that_is_gone")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_part_that_is_gone") as broken:
        require("half_installed", extra="plot")
    assert not isinstance(broken.value, ShoalError)
