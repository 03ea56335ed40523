"""Write the texts that follow from a declaration: `python tools/derived_texts.py`.

docs/architecture.md draws the import contracts of pyproject.toml; src/shoal/__init__.py shows type
checkers the names of src/shoal/_api.py that are at the top, and docs/api.rst lists its pages. A
test compares.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from shoal._api import PAGES, TOP

ROOT = Path(__file__).parents[1]
LINE = 100  # characters, as ruff formats

API_HEAD = """\
API
===

.. This page is written by tools/derived_texts.py from src/shoal/_api.py.

These are all public names: what is not listed here may change at any time
(:doc:`what is promised <releasing>`). Every class and function has a page with an example. The most
used ones can be imported from ``shoal`` itself: ``from shoal import DPKMeans``.
"""


def main() -> None:
    """Write every text that differs."""
    for path, text in outdated().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def outdated() -> dict[str, str]:
    """Return what should be in the files that hold something else."""
    marked = "written by `python tools/derived_texts.py`"
    wanted = {
        "docs/architecture.md": _between(
            "docs/architecture.md",
            f"<!-- import map: {marked} -->\n\n",
            import_map(),
            "\n<!-- end -->",
        ),
        "src/shoal/__init__.py": _between(
            "src/shoal/__init__.py",
            f"# From `_api.py`, for type checkers: {marked}.\n",
            type_block(),
            "# end of what is written\n",
        ),
        "docs/api.rst": api_page(),
    }
    return {path: text for path, text in wanted.items() if _read(path) != text}


def import_map() -> str:
    """Draw the layers, and list the other contracts, as Markdown."""
    settings = tomllib.loads(_read("pyproject.toml"))
    layers, *others = settings["tool"]["importlinter"]["contracts"]
    # The last line is long: its modules are separated by `:`, and may import each other.
    lines = [layer.replace(" :", "") for layer in layers["layers"]]
    rows = [f"| {one['name']} | {_rule(one)} |" for one in others]
    return _joined(["```text", *lines, "```", "", "| contract | rule |", "| --- | --- |", *rows])


def type_block() -> str:
    """Return the imports of the names at the top, and ``__all__``."""
    names = defaultdict(list)
    for name, module in sorted(TOP.items()):
        names[module].append(name)
    imports = [line for module in sorted(names) for line in _import(module, names[module])]
    listed = [f'    "{name}",' for name in sorted([*TOP, "__version__"])]
    return _joined(["if TYPE_CHECKING:", *imports, "", "__all__ = [", *listed, "]"])


def api_page() -> str:
    """Return the start page of the reference: the modules that have public names, by group."""
    lines = [API_HEAD]
    for group, pages in groupby(PAGES, key=lambda page: page.group):
        lines += [group, "-" * len(group), "", ".. autosummary::"]
        lines += ["   :toctree: api", "   :template: package.rst", ""]
        lines += [*(f"   {page.module}" for page in pages), ""]
    return _joined(lines[:-1])


def _rule(contract: dict[str, Any]) -> str:
    match contract["type"]:
        case "forbidden":
            verb = "cannot reach"
            subjects, objects = contract["source_modules"], contract["forbidden_modules"]
        case "protected":
            verb = "can be imported only by"
            subjects, objects = contract["protected_modules"], contract["allowed_importers"]
    return f"{', '.join(_codes(subjects))} {verb} {', '.join(_codes(objects))}"


def _codes(modules: Iterable[str]) -> Iterator[str]:
    return (f"`{module.removeprefix('shoal.')}`" for module in modules)


def _import(module: str, names: list[str]) -> list[str]:
    line = f"    from {module} import {', '.join(names)}"
    if len(line) <= LINE:
        return [line]
    return [f"    from {module} import (", *(f"        {name}," for name in names), "    )"]


def _between(path: str, first: str, text: str, last: str) -> str:
    """Return a file's text with something else between its two marks."""
    before, found, rest = _read(path).partition(first)
    _, ended, after = rest.partition(last)
    if not (found and ended):
        raise ValueError(f"{path} must have the lines {first!r} and {last!r}")
    return f"{before}{first}{text}{last}{after}"


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
