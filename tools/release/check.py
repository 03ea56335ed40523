"""Build what would be published, install it as users do, and measure it: `make check-release`.

1. Build archive and wheel of shoal and of shoal-device, and the package for npm; ``twine check``.
2. Compare their files with those of the repository: nothing missing, nothing that slipped in.
3. Collect and run tests from the unpacked archive, as a packager does.
4. Install each extra alone in a fresh environment, load its names, use it (``smoke.py``).
5. Run the code of the README and of the pages against the installed wheel (``snippets.py``).
6. Measure sizes and import times, print the table, and write it with ``--write``.

``--ready`` refuses what must not be published yet: no public address, a version without a date in
the changelog, a tag that is not the version. The workflow that publishes asks so. It builds with
``--build`` in a job of its own, and checks with ``--built`` in another: packages of others, which
run while shoal is checked, never touch the files that are published.
"""

import argparse
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from release import project, snippets

HERE = Path(__file__).resolve().parent
ROOT = project.ROOT
OUT = ROOT / "build/release"
TABLE = ROOT / "docs/_data/release_sizes.csv"
PAGE = ROOT / "docs/releasing.md"
MARKS = ("<!-- sizes: written by `make release-sizes` -->", "<!-- end of sizes -->")
BIN = Path(sys.executable).parent
TURNS = 3
BILL = ".cdx.json"  # of a bill of materials
# What an extra is used with, beside `from shoal import DPKMeans`: its import time is of these.
LOADED = {
    "none": "",
    "plot": "shoal.plotting, altair, vl_convert",
    "arrow": "shoal.tables, pyarrow.dataset, pyarrow.parquet",
    "frame": "pandas",
    "spark": "pyspark.sql",
    "serve": "shoal.collector.app, shoal.studio.app",
    "attacks": "art.attacks.inference.membership_inference",
    "all": "shoal.plotting, altair, vl_convert, shoal.tables, pyarrow.dataset, pandas, "
    "pyspark.sql, shoal.collector.app, shoal.studio.app",
    "client": "",
}
# Code that needs what the page made before, by the page's own commands.
LEFT_OUT = {"docs/collector.md": "reads what a running collection exported"}
SUFFIXES = (".css", ".html", ".js", ".json", ".py", ".svg", ".typed")  # of files in a wheel
PACKAGER_TESTS = (
    "tests/test_package.py",
    "tests/test_registry.py",
    "tests/test_release.py",
    "tests/noise/test_lattice.py",
)


class ReleaseError(Exception):
    """What must be mended before a release, in one sentence."""


class Row(NamedTuple):
    """One line of the table: a distribution with one extra."""

    distribution: str
    extra: str
    packages: int
    download_kb: int
    installed_mb: int
    import_shoal_ms: int
    import_used_s: float


def main() -> int:
    """Run all checks, or those that were asked for; return the exit code."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--write", action="store_true", help="write the table into the docs")
    options.add_argument(
        "--ready", action="store_true", help="refuse what must not be published yet"
    )
    options.add_argument("--extras", nargs="*", default=project.extras(), help="only these extras")
    options.add_argument("--sbom", action="store_true", help="write the bill of materials, no more")
    options.add_argument("--build", action="store_true", help="build and check files, no more")
    options.add_argument("--built", action="store_true", help="check what is in build/release")
    given = options.parse_args()
    start = time.monotonic()
    try:
        if given.ready:
            check_ready()
        if given.sbom:
            write_sbom()
            return 0
        built = built_files() if given.built else build()
        check_files(built)
        if given.build:
            return 0
        rows, problems = check_installs(built, given.extras)
        print(render(rows), flush=True)
        if given.write:
            write_table(rows)
        if problems:
            raise ReleaseError("\n".join(problems))
        check_archive(built["shoal.tar.gz"])
    except ReleaseError as error:
        print(f"check-release: {error}", file=sys.stderr)
        return 1
    print(
        f"check-release: all done in {time.monotonic() - start:.0f} s; files are in build/release"
    )
    return 0


def check_ready() -> None:
    """Refuse a project without an address, and a tag or a changelog of another version."""
    version, tag = project.version(), os.environ.get("GITHUB_REF_NAME", "")
    if left := project.files_without_address():
        raise ReleaseError(
            "the repository has no public address: set it as docs/releasing.md says, in "
            f"{', '.join(left)}"
        )
    if tag and tag != f"v{version}":
        raise ReleaseError(f"the tag must be v{version}, as the version is, got {tag!r}")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md must have a section [{version}] with its date")


def run(*words: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; what it says when it fails is the error."""
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise ReleaseError(f"`{' '.join(command)}` failed:\n{said[-4000:]}")
    return done.stdout


def build() -> dict[str, Path]:
    """Build everything into an empty folder: wheels from their archives, as PyPI's users do."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    run(tool("uv"), "build", "--quiet", "--out-dir", OUT, ROOT, env=environment())
    # The archive of the client is made from a copy: its build reads the repository around it.
    run(
        tool("uv"), "build", "--quiet", "--out-dir", OUT, ROOT / "clients/python", env=environment()
    )
    (OUT / ".gitignore").unlink(missing_ok=True)
    if shutil.which("npm"):
        run("npm", "pack", "--silent", "--pack-destination", OUT, cwd=ROOT / "clients/js")
    else:
        print("no Node: the package for npm is not built")
    built = built_files()
    python = [file for name, file in built.items() if name != "npm.tgz"]
    print(run(tool("twine"), "check", "--strict", *python).strip())
    return built


def built_files() -> dict[str, Path]:
    """Return what was built, by its kind; refuse a folder with more or less in it."""
    version = project.version()
    names = {
        "shoal.whl": f"shoal_dp-{version}-py3-none-any.whl",
        "shoal.tar.gz": f"shoal_dp-{version}.tar.gz",
        "client.whl": f"shoal_device-{version}-py3-none-any.whl",
        "client.tar.gz": f"shoal_device-{version}.tar.gz",
        "npm.tgz": f"shoal-device-{version}.tgz",
    }
    inside = {file.name for file in OUT.glob("*") if not file.name.endswith(BILL)}
    built = {name: OUT / file for name, file in names.items() if file in inside}
    if len(inside) > len(built) or len(built) < len(names) - (not shutil.which("npm")):
        raise ReleaseError(
            f"build/release has {sorted(inside)}, want {sorted(names.values())}: run make "
            "release-files"
        )
    return built


def check_files(built: dict[str, Path]) -> None:
    """Refuse a file that is missing, and one that nobody meant to publish."""
    tracked = project.tracked_files()
    with zipfile.ZipFile(built["shoal.whl"]) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    compare("the wheel", inside, project.wheel_files(tracked))
    if unknown := sorted(name for name in inside if not name.endswith(SUFFIXES)):
        raise ReleaseError(f"the wheel has files of a new kind: {unknown}")
    compare("the archive", archived(built["shoal.tar.gz"]), project.archive_files(tracked))
    with zipfile.ZipFile(built["client.whl"]) as wheel:
        light = {name for name in wheel.namelist() if ".dist-info/" not in name}
    if not light < project.wheel_files(tracked):
        raise ReleaseError("the wheel of shoal-device must hold files of shoal alone")
    wanted = project.light_archive_files(tracked, light)
    compare("the archive of shoal-device", archived(built["client.tar.gz"]), wanted)
    if "npm.tgz" in built:
        packed = archived(built["npm.tgz"])
        wanted, made = project.npm_files(tracked)
        compare("the package for npm", packed, wanted | (packed & made))
    for name, file in built.items():
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB, {name} holds what it should")


def archived(file: Path) -> set[str]:
    """Return the files of an archive, without its outer folder."""
    with tarfile.open(file) as archive:
        names = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    return names - {"PKG-INFO"}


def compare(what: str, inside: set[str], wanted: set[str]) -> None:
    """Refuse a difference of two sets of files."""
    extra, missing = sorted(inside - wanted), sorted(wanted - inside)
    if extra or missing:
        raise ReleaseError(
            f"{what} has {len(extra)} files too many, {extra[:8]}, and lacks {missing[:8]}"
        )


def check_archive(archive: Path) -> None:
    """Collect all tests from the unpacked archive, and run some: a packager has nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (tree,) = Path(folder).iterdir()
        python = BIN / "python"
        here = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
        collect = (python, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
        counted = run(*collect, cwd=tree, env=here).strip().splitlines()[-1]
        ours = {**here, "PYTHONPATH": str(ROOT / "src")}
        same = run(*collect, cwd=ROOT, env=ours).strip().splitlines()[-1]
        if counted.split(" in ")[0] != same.split(" in ")[0]:
            raise ReleaseError(f"the archive has other tests ({counted}) than the tree ({same})")
        words = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not full")
        passed = run(*words, *PACKAGER_TESTS, cwd=tree, env=here).strip().splitlines()[-1]
    print(f"from the archive: {counted}; of {', '.join(PACKAGER_TESTS)}: {passed}")


def check_installs(built: dict[str, Path], extras: Iterable[str]) -> tuple[list[Row], list[str]]:
    """Install each extra alone, use it, measure it; with all of them, run the pages' code.

    Returns the measurements, and what is wrong with pages: one of them does not end the rest.
    """
    rows: list[Row] = []
    problems: list[str] = []
    kept = Path(tempfile.mkdtemp(prefix="shoal-release-"))
    try:
        for extra in extras:
            wheel = built["shoal.whl"]
            python = install(
                kept / extra, str(wheel) if extra == "none" else f"{wheel.as_posix()}[{extra}]"
            )
            print(inside(python, HERE / "smoke.py", extra).strip(), flush=True)
            rows.append(measure("shoal-dp", extra, python, wheel, "from shoal import DPKMeans"))
            print(render(rows[-1:]).splitlines()[-1], flush=True)
            if extra == "all":
                problems = check_pages(python)
            shutil.rmtree(kept / extra)
        python = install(kept / "client", str(built["client.whl"]))
        said = inside(python, "-c", "import shoal.client.commands as c; print(c.main.__name__)")
        run(python.with_name("shoal-device"), "--help")
        print(f"shoal-device: {said.strip()} is there")
        used = "from shoal.client import Device"
        rows.append(measure("shoal-device", "none", python, built["client.whl"], used))
    finally:
        shutil.rmtree(kept)
    return rows, problems


def check_pages(python: Path) -> list[str]:
    """Run the code of every page that has some, and return what failed."""
    problems = []
    pages = [
        name
        for name in project.tracked_files()
        if name == "README.md" or (name.startswith("docs/") and name.endswith(".md"))
    ]
    for page in pages:
        if not snippets.blocks((ROOT / page).read_text(encoding="utf-8")):
            continue
        if page in LEFT_OUT:
            print(f"{page}: left out, it {LEFT_OUT[page]}")
            continue
        try:
            said = inside(python, HERE / "snippets.py", str(ROOT / page))
        except ReleaseError as error:
            problems.append(f"the code of {page} does not run: {error}")
            said = "failed"
        print(f"{page}: {said.strip()}", flush=True)
    return problems


def environment() -> dict[str, str]:
    """Return the variables for uv, with the index of packages that pip is configured with."""
    variables = {**os.environ, "UV_NO_PROGRESS": "1"}
    command = [str(BIN / "python"), "-m", "pip", "config", "get", "global.index-url"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if asked.returncode == 0:
        variables["UV_DEFAULT_INDEX"] = asked.stdout.strip()
    return variables


def tool(name: str) -> Path:
    """Return the path of a tool of the group ``release``."""
    found = shutil.which(name, path=str(BIN))
    if found is None:
        raise ReleaseError(
            f"{name} is not installed: run make check-release, or pip install --group release"
        )
    return Path(found)


def install(folder: Path, what: str) -> Path:
    """Make an environment with one distribution, and return its Python."""
    uv, variables = tool("uv"), environment()
    run(uv, "venv", "--quiet", "--python", sys.executable, folder, env=variables)
    (python,) = [
        path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists()
    ]
    run(uv, "pip", "install", "--quiet", "--python", python, what, env=variables)
    run(uv, "pip", "check", "--python", python, env=variables)
    return python


def inside(python: Path, *words: str | Path) -> str:
    """Run Python of an environment in an empty folder, its home, apart from everything of ours."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SHOAL"))
    }
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "USERPROFILE": folder}
        return run(python, "-I", *words, cwd=Path(folder), env={**variables, **home})


def measure(distribution: str, extra: str, python: Path, wheel: Path, used: str) -> Row:
    """Measure one environment: packages, bytes, and the best of several imports."""
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(inside(python, "-c", where).strip())
    files = [
        file for file in packages.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    ]
    size = sum(file.stat().st_size for file in files)
    loaded = LOADED["client" if distribution == "shoal-device" else extra]
    statement = f"{used}; import {loaded}" if loaded else used
    return Row(
        distribution=distribution,
        extra=extra,
        packages=len(list(packages.glob("*.dist-info"))),
        download_kb=round(wheel.stat().st_size / 1000),
        installed_mb=round(size / 1e6),
        import_shoal_ms=round(1000 * best_time(python, "import shoal")),
        import_used_s=round(best_time(python, statement), 2),
    )


def best_time(python: Path, statement: str) -> float:
    """Return the least CPU time of some fresh interpreters, in seconds; the first one compiles."""
    code = (
        "import time, warnings; warnings.simplefilter('ignore'); start = time.process_time(); "
        f"{statement}; print(time.process_time() - start)"
    )
    return min(float(inside(python, "-c", code).split()[-1]) for _ in range(TURNS + 1))


def write_sbom() -> None:
    """Write what shoal[all] and shoal-device are made of, as CycloneDX, from fresh environments."""
    OUT.mkdir(parents=True, exist_ok=True)
    built = built_files()  # what is published, not the tree that it was made from
    places = {
        "shoal-dp": f"{built['shoal.whl'].as_posix()}[all]",
        "shoal-device": built["client.whl"],
    }
    kept = Path(tempfile.mkdtemp(prefix="shoal-sbom-"))
    try:
        for name, what in places.items():
            python = install(kept / name, str(what))
            for place in (kept / name).rglob("direct_url.json"):
                place.unlink()  # it names a folder of this machine
            target = OUT / f"{name}-{project.version()}{BILL}"
            words = ("environment", "--output-reproducible", "--output-format", "JSON")
            run(tool("cyclonedx-py"), *words, "--output-file", target, python)
            components = json.loads(target.read_text(encoding="utf-8"))["components"]
            if name not in {component["name"] for component in components}:
                raise ReleaseError(f"the bill of materials of {name} lacks {name} itself")
            print(f"{target.relative_to(ROOT)}: {len(components)} components")
    finally:
        shutil.rmtree(kept)


def render(rows: Iterable[Row]) -> str:
    """Render the table in Markdown."""
    lines = [
        "| install | packages | wheel | installed | `import shoal` | import of what is used |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        name = row.distribution if row.extra == "none" else f"{row.distribution}[{row.extra}]"
        lines.append(
            f"| `{name}` | {row.packages} | {row.download_kb:,} kB | {row.installed_mb:,} MB "
            f"| {row.import_shoal_ms} ms | {row.import_used_s:.2f} s |"
        )
    return "\n".join(lines)


def read_table(text: str) -> list[Row]:
    """Read the committed table."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [
        Row(
            distribution=line["distribution"],
            extra=line["extra"],
            packages=int(line["packages"]),
            download_kb=int(line["download_kb"]),
            installed_mb=int(line["installed_mb"]),
            import_shoal_ms=int(line["import_shoal_ms"]),
            import_used_s=float(line["import_used_s"]),
        )
        for line in csv.DictReader(lines)
    ]


def write_table(rows: list[Row]) -> None:
    """Write the table as a file, and into the page that shows it."""
    text = io.StringIO()
    text.write("# written by: make release-sizes\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(rows)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text.getvalue(), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{render(rows)}\n\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
