"""What the reference shows of each public name of ``shoal._api``."""

import ast
import importlib
import inspect
from pathlib import Path

from shoal._api import PAGES, TOP, Page

DOCS = Path(__file__).parents[1]
GALLERY = "../examples/gallery"  # as seen from docs/


def kinds(page: Page) -> dict[str, list[str]]:
    """Sort the names of a page into classes, functions and exceptions."""
    module = importlib.import_module(page.module)
    found: dict[str, list[str]] = {"classes": [], "functions": [], "exceptions": []}
    for name in page.names:
        value = getattr(module, name)
        if not inspect.isclass(value):
            found["functions"].append(name)
        elif issubclass(value, BaseException):
            found["exceptions"].append(name)
        else:
            found["classes"].append(name)
    return found


def codes(page: Page) -> list[str]:
    """Return the codes of errors with their meanings, for the page of errors."""
    known = getattr(importlib.import_module(page.module), "CODES", {})
    return [f"``{code}``: {meaning}" for code, meaning in known.items()]


def full_names() -> dict[str, str]:
    """Return the name under which each object has its page, by its name alone."""
    # Of modules that have a name in common, the first one counts.
    return {name: f"{page.module}.{name}" for page in reversed(PAGES) for name in page.names}


def examples_by_name() -> dict[str, list[str]]:
    """Return the examples of the gallery that import each public name, as a minigallery takes them.

    Sphinx-gallery's own lists depend on which examples were run, and have classes that ours inherit
    from.
    """
    found: dict[str, list[str]] = {}
    for path in sorted((DOCS / GALLERY).glob("*/plot_*.py")):
        file = f"{GALLERY}/{path.parent.name}/{path.name}"
        for module, name in imported_names(path.read_text(encoding="utf-8")):
            files = found.setdefault(f"{module}.{name}", [])
            if file not in files:
                files.append(file)
    return found


def imported_names(code: str) -> list[tuple[str, str]]:
    """Return what code imports from shoal: the module that has the page of each name, and the name.

    >>> imported_names("from shoal import DPKMeans")
    [('shoal.cluster', 'DPKMeans')]
    """
    return [
        (TOP.get(alias.name, "shoal") if node.module == "shoal" else node.module, alias.name)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("shoal")
        for alias in node.names
    ]
