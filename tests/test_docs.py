"""Shared descriptions reach every docstring that asks for them, and each is asked for."""

import inspect
import re
from pathlib import Path

import pytest

import shoal
from shoal._docs import SHARED, shared_docs

SOURCE = Path(shoal.__file__).parent
SLOT = re.compile(r"^ *\{(\w+)\}$", re.MULTILINE)


def test_every_text_is_asked_for():
    files = (file for file in SOURCE.rglob("*.py") if file.name != "_docs.py")
    asked = {name for file in files for name in SLOT.findall(file.read_text(encoding="utf-8"))}
    assert set(SHARED) <= asked


@pytest.mark.parametrize(
    "name", ["DPDensity", "DPKMeans", "DPWaveCluster", "PrivateCopy", "Laplace"]
)
def test_no_slot_is_left(name):
    kind = getattr(shoal, name)
    members = [member for _, member in inspect.getmembers(kind, inspect.isfunction)]
    for documented in (kind, *members):
        assert not SLOT.search(documented.__doc__ or ""), documented


def test_unknown_slots_are_refused():
    def documented():
        pass

    documented.__doc__ = "Do it.\n\n    {nothing}\n"
    with pytest.raises(KeyError, match="nothing"):
        shared_docs(documented)
