"""Build what would be published, compare it with the committed files, and use it once.

``make check-release`` runs all of it. The workflow that publishes builds with ``--build`` in a job
of its own and uses the files with ``--built`` in another: packages of others, which run while shoal
is used, never touch what is published. ``--ready`` refuses what must not be published yet.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build/release"
BIN = Path(sys.executable).parent
# A name that nobody can own (RFC 2606): no release leaves with it. These files tell of it.
NO_ADDRESS = "https://repository.invalid"
TELL_OF_IT = ("tools/release.py", "tests/test_release.py", "docs/releasing.md")
NOT_ARCHIVED = re.compile(r"\.ci/|\.dockerignore$|\.git(?!hub/|ignore$)")  # of the repository alone
WHEEL_SUFFIXES = {".css", ".html", ".js", ".json", ".py", ".svg", ".typed"}


class ReleaseError(Exception):
    """What must be mended before a release, in one sentence."""


def settings(folder: Path = ROOT) -> dict[str, Any]:
    """Return ``[project]`` of the package in a folder."""
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["project"])


def version() -> str:
    """Return the version, from its one source."""
    text = (ROOT / "src/shoal/__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)[0]


def tracked_files() -> list[str]:
    """Return the committed files that are there, without links to folders."""
    listed = run("git", "ls-files", "-z").split("\0")
    return [name for name in listed if (ROOT / name).is_file()]


def run(*words: str | Path, folder: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; what it says when it fails is the error."""
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-4000:]
        raise ReleaseError(f"`{' '.join(map(str, words))}` failed:\n{said}")
    return done.stdout


def reasons_to_wait(tag: str, changes: str, texts: dict[str, bytes]) -> list[str]:
    """Return why a tag must not be published, given the changelog and the bytes of all files."""
    reasons = []
    if left := [name for name, text in texts.items() if NO_ADDRESS.encode() in text]:
        reasons.append(f"the repository has no public address in {', '.join(left)}")
    if tag and tag != f"v{version()}":
        reasons.append(f"the tag must be v{version()}, as the version is, got {tag!r}")
    if not re.search(rf"^## \[{re.escape(version())}\] - \d{{4}}-\d\d-\d\d$", changes, re.M):
        reasons.append(f"CHANGELOG.md must have a section [{version()}] with its date")
    return reasons


def build() -> None:
    """Build everything into an empty folder: wheels from their archives, as PyPI's users do."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    for folder in (ROOT, ROOT / "clients/python"):
        run(BIN / "uv", "build", "--quiet", "--out-dir", OUT, folder, env=uv_environment())
    (OUT / ".gitignore").unlink(missing_ok=True)
    print(run(BIN / "twine", "check", "--strict", *sorted(OUT.iterdir())).strip())
    run("npm", "pack", "--silent", "--pack-destination", OUT, folder=ROOT / "clients/js")


def uv_environment() -> dict[str, str]:
    """Return the variables for uv, with the index of packages that pip is configured with."""
    asked = [BIN / "python", "-m", "pip", "config", "get", "global.index-url"]
    index = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return {**os.environ, **({"UV_DEFAULT_INDEX": index} if index else {})}


def check_files(folder: Path, tracked: list[str]) -> None:
    """Refuse a file that is missing, and one that nobody meant to publish."""
    npm = f"shoal-device-{version()}.tgz"
    names = {f"shoal_{name}-{version()}" for name in ("dp", "device")}
    wanted = {name + end for name in names for end in (".tar.gz", "-py3-none-any.whl")}
    compare("the folder", {p.name for p in folder.iterdir()}, {*wanted, npm})
    inside = {file.name: packed(file) for file in folder.iterdir()}
    modules = {
        name.removeprefix("clients/js/") for name in tracked if name.startswith("clients/js/src/")
    }

    wheel = {name.removeprefix("src/") for name in tracked if name.startswith("src/shoal/")}
    wheel |= {f"shoal/browser_client/{name.removeprefix('src/')}" for name in modules}
    compare("the wheel", inside[f"shoal_dp-{version()}-py3-none-any.whl"], wheel)
    if strange := {Path(name).suffix for name in wheel} - WHEEL_SUFFIXES:
        raise ReleaseError(f"the wheel has files of a new kind: {sorted(strange)}")

    archive = {name for name in tracked if not NOT_ARCHIVED.match(name)}
    compare("the archive", inside[f"shoal_dp-{version()}.tar.gz"], archive)

    light = inside[f"shoal_device-{version()}-py3-none-any.whl"]
    compare("the wheel of shoal-device", light, light & wheel)
    own = {n.removeprefix("clients/python/") for n in tracked if n.startswith("clients/python/")}
    archive = own | {f"src/{name}" for name in light} | {".gitignore"}  # hatchling adds the last
    compare("the archive of shoal-device", inside[f"shoal_device-{version()}.tar.gz"], archive)

    package = inside[npm]
    made = {f"dist/{Path(name).name}" for name in modules}
    made |= {f"dist/types/{Path(name).stem}.d.ts" for name in modules}
    entries = {"dist/shoal-device.js", "dist/shoal-device.node.js"}
    wanted = {"LICENSE", "README.md", "package.json"} | modules | entries
    compare("the package for npm", package, wanted | (package & made))


def packed(file: Path) -> set[str]:
    """Return the files of an archive or a wheel, without its outer folder and metadata."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return {name for name in wheel.namelist() if ".dist-info/" not in name}
    with tarfile.open(file) as archive:
        names = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    return names - {"PKG-INFO"}


def compare(what: str, inside: set[str], wanted: set[str]) -> None:
    """Refuse a difference of two sets of files."""
    extra, missing = sorted(inside - wanted), sorted(wanted - inside)
    if extra or missing:
        raise ReleaseError(f"{what} has {extra[:8]} too many, and lacks {missing[:8]}")
    print(f"{what} has the {len(inside)} files that it should have")


def use(folder: Path) -> None:
    """Install shoal with each extra alone, and shoal-device, and use them (release_smoke.py)."""
    (shoal,), (device,) = folder.glob("shoal_dp-*.whl"), folder.glob("shoal_device-*.whl")
    wheels = {extra: f"{shoal}[{extra}]" for extra in settings()["optional-dependencies"]}
    for name, wheel in {"none": str(shoal), **wheels, "device": str(device)}.items():
        with tempfile.TemporaryDirectory() as home:
            python = Path(home, "venv/bin/python")
            install = (BIN / "uv", "pip", "install", "--quiet", "--python", python, wheel)
            for command in ((BIN / "uv", "venv", "--quiet", python.parents[1]), install):
                run(*command, env=uv_environment())
            kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SHOAL"))}
            script = Path(__file__).with_name("release_smoke.py")
            said = run(python, "-I", script, name, folder=Path(home), env={**kept, "HOME": home})
        print(f"{name}: {said.strip()}", flush=True)


def main() -> None:
    """Run all checks, or those that were asked for."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--ready", action="store_true", help="refuse what must wait")
    options.add_argument("--build", action="store_true", help="build and compare, no more")
    options.add_argument("--built", action="store_true", help="use what is in build/release")
    given = options.parse_args()
    try:
        if given.ready:
            files = [name for name in tracked_files() if name not in TELL_OF_IT]
            changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
            texts = {name: (ROOT / name).read_bytes() for name in files}
            if reasons := reasons_to_wait(os.environ.get("GITHUB_REF_NAME", ""), changes, texts):
                raise ReleaseError("; ".join(reasons))
        if not given.built:
            build()
        check_files(OUT, tracked_files())
        if not given.build:
            use(OUT)
    except ReleaseError as error:
        sys.exit(f"check-release: {error}")


if __name__ == "__main__":
    main()
