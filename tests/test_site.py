"""The site before it is built: names have pages, pages their place, and links their targets."""

import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NAMES = runpy.run_path(str(DOCS / "_ext/public_names.py"))
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((ROOT / "proofs").glob("*.md"))]
OTHERS = [ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"]
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *OTHERS, *PAGES]
FENCE = re.compile(r"^ *(`{3,}|:{3,}).*?^ *\1", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)


def read(file):
    return file.read_text(encoding="utf-8")


def test_the_api_lists_every_public_package():
    """The command line has a page of its own; what a package exports is not listed twice."""
    source = ROOT / "src/shoal"
    packages = {folder.parent.name for folder in source.glob("[!_]*/__init__.py")} - {"cli"}
    papers = {f"papers.{folder.parent.name}" for folder in source.glob("papers/*/__init__.py")}
    listed = {*packages, *papers, "experiments.compare", "exceptions"}
    assert {f"shoal.{name}" for name in listed} == set(NAMES["PACKAGES"])
    rows = re.findall(r"^   (shoal[\w.]*)$", read(DOCS / "api.rst"), re.MULTILINE)
    assert sorted(rows) == sorted(NAMES["PACKAGES"])


@pytest.mark.parametrize("package", NAMES["PACKAGES"])
def test_public_names_have_an_example(package):
    """Constants and exceptions are listed on the page of their package."""
    module, names = import_module(package), NAMES["public_names"](package)
    for name in (*names.classes, *names.functions):
        text = inspect.getdoc(getattr(module, name)) or ""
        assert text, f"{package}.{name} has no docstring"
        assert ">>>" in text, f"{package}.{name} has no example"
        # That of Spark runs in tests/tables/test_spark_table.py: Java starts there anyway.
        assert "+SKIP" not in text or name == "SparkTable", f"{package}.{name} is not run"
    for name, _, text in names.constants:
        assert text.endswith("."), f"{package}.{name} has no sentence: write one after #: above it"
    constants = [name for name, _, _ in names.constants]
    listed = [*names.classes, *names.functions, *names.exceptions, *constants]
    assert sorted(listed) == sorted(module.__all__)


def test_pages_of_names_show_the_examples_that_use_them():
    found = NAMES["examples_by_name"]()
    segments = "../examples/gallery/central/plot_customer_segments.py"
    assert segments in found["shoal.cluster.DPKMeans"]
    assert all((DOCS / file).is_file() for files in found.values() for file in files)
    for kind in ("class", "function"):
        assert ".. minigallery::" in read(DOCS / f"_templates/{kind}.rst")


def test_names_of_shoal_itself_have_a_page_in_their_package():
    pages = NAMES["pages"]()
    for name in import_module("shoal").__all__:
        assert name == "__version__" or name in pages, name


def toctree_entries():
    """Find what pages list, as paths without their ending."""
    found = []
    for page in DOCS.glob("*.md"):
        for listing in TOCTREE.findall(read(page)):
            lines = [line.strip() for line in listing.splitlines()]
            entries = [line for line in lines if line and not line.startswith(":")]
            found += [re.sub(r".*<(.+)>$", r"\1", entry) for entry in entries]
    return found


def test_every_page_is_listed_once():
    listed = toctree_entries()
    assert len(listed) == len(set(listed))
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"} | {"api"}
    proofs = {f"proofs/{proof.stem}" for proof in (ROOT / "proofs").glob("*.md")}
    assert set(listed) == {*pages, *proofs, "auto_examples/index"}


def anchors(file):
    """Return the anchors of a page's headings, as a repository browser and the site make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", read(file)), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-") for text in plain}


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_links_resolve(file):
    """As a repository browser reads them; the site takes the same files."""
    for target in LINK.findall(CODE.sub("", FENCE.sub("", read(file)))):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (file.parent / path).resolve() if path else file
        assert linked.exists(), f"{file.name}: {target}"
        if anchor:
            assert anchor in anchors(linked), f"{file.name}: {target}"


def test_texts_follow_what_they_are_made_from():
    """The import map and the public names, declared once."""
    texts = runpy.run_path(str(ROOT / "tools/derived_texts.py"))
    assert list(texts["outdated"]()) == [], "run: python tools/derived_texts.py"


def test_the_guide_is_drawn_as_its_script_says():
    drawn = runpy.run_path(str(ROOT / "tools/draw_choice_guide.py"))
    assert read(drawn["FILE"]) == drawn["draw"](), "run: python tools/draw_choice_guide.py"


def test_the_text_of_the_guide_names_what_its_picture_shows():
    drawn = runpy.run_path(str(ROOT / "tools/draw_choice_guide.py"))
    text = read(DOCS / "choose.md").split("## The same guide as text")[1]
    for node, _, _ in drawn["walk"](drawn["GUIDE"]):
        if not node.next:
            for name in re.findall(r"[A-Z]\w+|amplify", node.text):
                assert f"`{name}" in text, name
