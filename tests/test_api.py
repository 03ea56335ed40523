"""The list of public names holds: each is there, described and shown, and pages use no other."""

import importlib
import inspect
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import shoal
from shoal._api import PAGES, TOP
from shoal._registry import METHODS

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs/_ext"), str(ROOT / "tools")]

import derived_texts  # noqa: E402
import reference  # noqa: E402

NAMES = [(page.module, name) for page in PAGES for name in page.names]
TEXTS = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("clients/*/README.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("module", "name"), NAMES, ids=".".join)
def test_a_name_can_be_imported_and_has_an_example(module, name):
    value = getattr(importlib.import_module(module), name)
    text = inspect.getdoc(value) or ""
    assert text
    if not (inspect.isclass(value) and issubclass(value, BaseException)):
        assert ">>>" in text
        # That of Spark runs in tests/tables/test_spark_table.py: Java starts there anyway.
        assert "+SKIP" not in text or name == "SparkTable"


def test_a_name_is_listed_once():
    assert max(Counter(NAMES).values()) == 1
    assert max(Counter(name for page in PAGES for name in page.top).values()) == 1
    assert max(Counter(page.module for page in PAGES).values()) == 1


def test_shoal_itself_has_the_names_at_the_top():
    assert dir(shoal) == sorted([*TOP, "__version__"])
    for name, module in TOP.items():
        assert getattr(shoal, name) is getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match="no attribute 'Laplas'"):
        shoal.Laplas  # noqa: B018


def test_texts_follow_what_they_are_made_from():
    """Types of names at the top, modules of the reference, and the import map."""
    assert list(derived_texts.outdated()) == [], "run: python tools/derived_texts.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.module)
def test_a_page_of_the_reference_shows_its_names_and_no_others(page):
    shown = [name for names in reference.kinds(page).values() for name in names]
    assert sorted(shown) == sorted(page.names)


def documented_code():
    """Yield each block of Python of the pages, and each example."""
    for file in TEXTS:
        for number, code in enumerate(BLOCK.findall(file.read_text(encoding="utf-8"))):
            yield pytest.param(code, id=f"{file.relative_to(ROOT)}:{number}")
    for file in sorted(ROOT.glob("examples/**/*.py")):
        code = file.read_text(encoding="utf-8")
        yield pytest.param(code, id=file.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("code", list(documented_code()))
def test_pages_and_examples_import_public_names_only(code):
    used = reference.imported_names(code)
    assert set(used) <= set(NAMES)


def test_a_private_import_is_seen():
    """Of a friend, of a module, and of a name from another place than its page's."""
    for code in (
        "from shoal.noise import uniform_integers",
        "from shoal.privacy.ledger import Ledger",
        "from shoal import learn_schema",
    ):
        assert not set(reference.imported_names(code)) <= set(NAMES)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_registered_method_is_public(method):
    module, _, name = method.location.partition(":")
    assert (module, name) in NAMES
    assert name in TOP or module not in ("shoal.mechanisms", "shoal.cluster")


def test_pages_of_names_show_the_examples_that_use_them():
    found = reference.examples_by_name()
    segments = "../examples/gallery/central/plot_customer_segments.py"
    assert segments in found["shoal.cluster.DPKMeans"]
    assert set(found) <= set(map(".".join, NAMES))
    assert all((ROOT / "docs" / file).is_file() for files in found.values() for file in files)
    for kind in ("class", "function"):
        template = ROOT / f"docs/_templates/{kind}.rst"
        assert ".. minigallery::" in template.read_text(encoding="utf-8")
