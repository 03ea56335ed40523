"""What the project says of itself in several files: version, address, extras, files.

The version has one source, ``src/shoal/__init__.py``, and the address of the repository another,
``[project.urls]`` of ``pyproject.toml``. Other files repeat them because their formats know no
reference; ``tests/test_release.py`` holds all of them equal.
"""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
# A name that nobody can own (RFC 2606): no release leaves with it.
NO_ADDRESS = "https://repository.invalid/shoal"
# Files that tell of addresses: of none, and of examples.
TELL_OF_IT = ("tools/release/", "tests/test_release.py", "docs/releasing.md")
# What an archive of sources leaves out: it concerns the repository, not the package.
NOT_ARCHIVED = (".ci/", ".dockerignore", ".git")
ARCHIVED_ALWAYS = (".github/", ".gitignore")  # workflows are tested; hatchling reads the other
MADE = {"__pycache__", ".venv", "build", "node_modules", ".mypy_cache", ".ruff_cache", "PKG-INFO"}
# Addresses of a repository named shoal, and the one of none; pages of indexes are no repository.
LINKED = re.compile(
    r"https?://(?!pypi\.org/|www\.npmjs\.com/)[\w.-]+/[\w.-]+/shoal(?![\w-])"
    r"|https?://repository\.invalid/\w+"
)


def settings(folder: Path = ROOT) -> dict[str, Any]:
    """Return ``pyproject.toml`` of the project, or of another folder."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """Return the version, from its one source."""
    text = (ROOT / "src/shoal/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("src/shoal/__init__.py must have a line with __version__, got none")
    return found[1]


def repeated_versions() -> dict[str, str]:
    """Return the version in each file that must repeat it."""
    lock = json.loads((ROOT / "clients/js/package-lock.json").read_text(encoding="utf-8"))
    package = json.loads((ROOT / "clients/js/package.json").read_text(encoding="utf-8"))
    cited = re.search(
        r"^version: [\"']?([^\"'\n]+)",
        (ROOT / "CITATION.cff").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {
        "CITATION.cff": cited[1] if cited else "",
        "clients/js/package.json": package["version"],
        "clients/js/package-lock.json": lock["version"],
        "clients/js/package-lock.json, its package": lock["packages"][""]["version"],
    }


def address() -> str:
    """Return the address of the repository, from its one source."""
    return str(settings()["project"]["urls"]["Repository"])


def other_addresses(files: list[str], text_of: dict[str, str]) -> dict[str, set[str]]:
    """Return addresses of a repository named shoal that are not the declared one, by file."""
    declared = address()
    found = {}
    for name in files:
        others = {link for link in LINKED.findall(text_of[name]) if link != declared}
        if others:
            found[name] = others
    return found


def files_without_address() -> list[str]:
    """Return the files in which the address must still be set."""
    host = urlsplit(NO_ADDRESS).netloc.encode()
    names = [name for name in tracked_files() if not name.startswith(TELL_OF_IT)]
    return [
        name for name in names if (ROOT / name).is_file() and host in (ROOT / name).read_bytes()
    ]


def extras() -> list[str]:
    """Return the names of the extras, and ``none`` first: shoal alone."""
    return ["none", *settings()["project"]["optional-dependencies"]]


def tracked_files() -> list[str]:
    """Return the committed files; in an unpacked archive, which has no history, all files."""
    if not (ROOT / ".git").exists():
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in found if not MADE & set(path.parts))
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).exists())


def wheel_files(tracked: list[str]) -> set[str]:
    """Return what the wheel of shoal must hold beside its metadata, and nothing else."""
    inside = {name.removeprefix("src/") for name in tracked if name.startswith("src/shoal/")}
    pages = "clients/js/src/"
    modules = {
        f"shoal/browser_client/{name.removeprefix(pages)}"
        for name in tracked
        if name.startswith(pages)
    }
    return inside | modules


def archive_files(tracked: list[str]) -> set[str]:
    """Return what the archive of sources must hold beside ``PKG-INFO``: no links to folders."""
    return {
        name
        for name in tracked
        if (name.startswith(ARCHIVED_ALWAYS) or not name.startswith(NOT_ARCHIVED))
        and not (ROOT / name).is_dir()
    }


def light_archive_files(tracked: list[str], light: set[str]) -> set[str]:
    """Return what the archive of shoal-device must hold: its own files, and those of its wheel."""
    own = "clients/python/"
    kept = {name.removeprefix(own) for name in tracked if name.startswith(own)}
    return kept | {f"src/{name}" for name in light} | {".gitignore"}  # hatchling adds the last


def npm_files(tracked: list[str]) -> tuple[set[str], set[str]]:
    """Return what the package for npm must hold, and what may be built into it beside that."""
    sources, entries = "clients/js/src/", {"shoal-device.js", "shoal-device.node.js"}
    modules = {name.removeprefix(sources) for name in tracked if name.startswith(sources)}
    wanted = {"LICENSE", "README.md", "package.json"}
    wanted |= {f"src/{name}" for name in modules} | {f"dist/{name}" for name in entries}
    types = {f"dist/types/{Path(name).stem}.d.ts" for name in modules}
    return wanted, types | {f"dist/{name}" for name in modules}
