"""Which files of shoal are shoal-device: those that an import contract of shoal names.

In the repository the contract in ``pyproject.toml`` is read; an archive of sources holds these
files and no others.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

CONTRACT = "a device needs neither statistics nor scikit-learn"
ALWAYS = ("__init__.py", "py.typed")  # of shoal itself
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def light_modules() -> list[str]:
    """Return the modules and packages that a device needs, as the contract lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = [one for one in contracts if one["name"] == CONTRACT]
    return list(contract["source_modules"])


def light_files() -> dict[str, str]:
    """Return where each file is, and its path in the wheel."""
    archived = HERE / "src"
    source = archived if archived.is_dir() else ROOT / "src"
    files = (source / "shoal").rglob("*") if archived.is_dir() else _named_files(source)
    return {
        str(file): file.relative_to(source).as_posix()
        for file in sorted(files)
        if file.is_file() and "__pycache__" not in file.parts
    }


def version() -> str:
    """Return the version, which is that of shoal."""
    (first,) = [file for file, path in light_files().items() if path == "shoal/__init__.py"]
    found = re.search(r'^__version__ = "([^"]+)"$', Path(first).read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{first} must have a line with __version__, got none")
    return found[1]


def _named_files(source: Path) -> Iterator[Path]:
    yield from (source / "shoal" / name for name in ALWAYS)
    for module in light_modules():
        place = source.joinpath(*module.split("."))
        if place.is_dir():
            yield from place.rglob("*")
        else:
            yield place.with_suffix(".py")
