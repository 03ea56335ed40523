"""Write the texts that follow from a declaration: `python tools/derived_texts.py`.

docs/architecture.md draws the import contracts of pyproject.toml. A test compares, and names this
command.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Write every text that differs."""
    for path, text in outdated().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def outdated() -> dict[str, str]:
    """Return what should be in the files that hold something else."""
    wanted = {"docs/architecture.md": _between("docs/architecture.md", "import map", import_map())}
    return {path: text for path, text in wanted.items() if _read(path) != text}


def import_map() -> str:
    """Draw the layers, and list the other contracts, as Markdown."""
    settings = tomllib.loads(_read("pyproject.toml"))
    layers, *others = settings["tool"]["importlinter"]["contracts"]
    # The last line is long: its modules are separated by `:`, and may import each other.
    lines = [layer.replace(" :", "") for layer in layers["layers"]]
    rows = [f"| {one['name']} | {_rule(one)} |" for one in others]
    return "\n".join(
        ["```text", *lines, "```", "", "| contract | rule |", "| --- | --- |", *rows, ""]
    )


def _rule(contract: dict[str, Any]) -> str:
    match contract["type"]:
        case "forbidden":
            verb = "cannot reach"
            subjects, objects = contract["source_modules"], contract["forbidden_modules"]
        case "protected":
            verb = "can be imported only by"
            subjects, objects = contract["protected_modules"], contract["allowed_importers"]
    return f"{', '.join(_codes(subjects))} {verb} {', '.join(_codes(objects))}"


def _codes(modules: list[str]) -> Iterator[str]:
    return (f"`{module.removeprefix('shoal.')}`" for module in modules)


def _between(path: str, name: str, text: str) -> str:
    """Return a file's text with something else between its two marks."""
    first, last = f"<!-- {name}: written by `python tools/derived_texts.py` -->\n", "<!-- end -->"
    before, _, rest = _read(path).partition(first)
    return f"{before}{first}\n{text}\n{last}{rest.partition(last)[2]}"


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
