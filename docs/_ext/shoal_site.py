"""What our pages need of Sphinx: proofs beside them, and names of code that lead to their pages."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from reference import full_names
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

OTHERS = ("python", "numpy")
_TO_PROOFS = re.compile(r"\]\(\.\./proofs/")
_TO_PAGES = re.compile(r"\]\(\.\./docs/")
_NAME = re.compile(r"(?:shoal\.)?(?:\w+\.)*\w+(?:\(\))?")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("config-inited", copy_proofs)
    app.connect("source-read", rewrite_links)
    app.connect("doctree-read", link_names)
    app.connect("missing-reference", find_public_name)
    app.connect("autodoc-skip-member", skip_foreign_members)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def copy_proofs(app: Sphinx, config: Config) -> None:
    """Copy the proofs to a folder of the pages: Sphinx reads nothing outside of its own."""
    source, target = Path(app.srcdir).parent / "proofs", Path(app.srcdir) / "proofs"
    target.mkdir(exist_ok=True)
    proofs = {file.name: file.read_text(encoding="utf-8") for file in source.glob("*.md")}
    for file in target.glob("*.md"):
        if file.name not in proofs:
            file.unlink()
    for name, text in proofs.items():
        file = target / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def rewrite_links(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn links between pages and proofs, right in the repository, into those of the site."""
    if docname.startswith("proofs/"):
        source[0] = _TO_PAGES.sub("](../", source[0])
    else:
        source[0] = _TO_PROOFS.sub("](proofs/", source[0])


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Link a public name, written as code, to its page: the first time in each section.

    So a page says ```DPKMeans``` and reads well in a repository browser too.
    """
    docname = app.env.current_document.docname
    if docname.startswith("api"):
        return
    linked: set[tuple[int, str]] = set()
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        full = _full_name(text) if _NAME.fullmatch(text) else None
        if full is None or isinstance(literal.parent, (nodes.reference, nodes.title, pending_xref)):
            continue
        section = literal.parent
        while not isinstance(section, (nodes.section, nodes.document)):
            section = section.parent
        if (id(section), full) in linked:
            continue
        linked.add((id(section), full))
        reference = pending_xref(
            "",
            refdomain="py",
            reftype="obj",
            reftarget=full,
            refdoc=docname,
            refexplicit=True,
            refwarn=False,
        )
        literal.replace_self(reference)
        reference += literal


def find_public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Node | None:
    """Find a public name where it is written without its package, or as ``shoal.DPKMeans``.

    Docstrings say ``Ledger`` as code does after an import; methods follow their class. Names of
    Python and numpy are plain words where no other project is linked to.
    """
    project, _, word = node["reftarget"].partition(":")
    if project in OTHERS and "sphinx.ext.intersphinx" not in app.extensions:
        return nodes.inline("", word)
    if node.get("refdomain") != "py":
        return None
    full = _full_name(node["reftarget"].removeprefix("~")) or ""
    known = env.domains.python_domain.objects
    entry = known.get(full) or known.get(full.rpartition(".")[0])  # a field is on its class's page
    if entry is None:
        return None
    address = app.builder.get_relative_uri(node["refdoc"], entry.docname)
    reference = nodes.reference("", "", content, internal=True, reftitle=full)
    reference["refuri"] = f"{address}#{entry.node_id}"
    return reference


def skip_foreign_members(app: Sphinx, what: str, name: str, member: Any, *_: Any) -> bool | None:
    """Leave out what a class inherits from packages that are not ours; theirs have pages."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    module = getattr(function, "__module__", None)
    if what == "class" and isinstance(module, str) and not module.startswith("shoal"):
        return True
    return None


def _full_name(text: str) -> str | None:
    """Complete ``DPKMeans.fit()``, ``shoal.DPKMeans`` or ``shoal.cluster.DPKMeans``."""
    parts = text.removesuffix("()").split(".")
    packages = parts[0] == "shoal"
    known = _full_names()
    for start, part in enumerate(parts):
        if part in known:
            plain = not packages and part.islower() and ("_" not in part or len(parts) > 1)
            return None if plain else ".".join([known[part], *parts[start + 1 :]])
        if not packages:
            return None
    return None


@cache
def _full_names() -> dict[str, str]:
    return full_names()
