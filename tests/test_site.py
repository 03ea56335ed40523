"""The site before it is built: pages have their place, and links their targets."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((ROOT / "proofs").glob("*.md"))]
OTHERS = [ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"]
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *OTHERS, *PAGES]
FENCE = re.compile(r"^ *(`{3,}|:{3,}).*?^ *\1", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)


def read(file):
    return file.read_text(encoding="utf-8")


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
