"""The package as a whole: what importing it loads, its names, its errors, its optional door."""

import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import shoal
from shoal import exceptions
from shoal._optional import SERVE, require
from shoal.exceptions import MissingPackageError, ShoalError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Modules of extras whose packages have another name, or bring these along.
OTHER_MODULES = {
    "vl_convert_python": "vl_convert",
    "adversarial_robustness_toolbox": "art",
    "fastapi": "fastapi starlette pydantic",
    "pyspark": "pyspark py4j",
}
HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "fastapi", "cryptography"}


def loaded_by(code):
    """Top-level modules in a fresh interpreter after running some code."""
    script = f"import sys; {code}; print(' '.join({{m.partition('.')[0] for m in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_shoal_is_light():
    assert not loaded_by("import shoal") & (HEAVY | {"typer", "rich", "mpmath", "narwhals"})


def test_import_of_promises_needs_no_numbers():
    assert not loaded_by("import shoal.privacy, shoal.exceptions") & HEAVY


def test_mechanisms_load_no_plots_and_no_server():
    assert not loaded_by("import shoal.mechanisms") & {"altair", "fastapi"}


def test_one_version():
    assert importlib.metadata.version("shoal-dp") == shoal.__version__


# An install by name of one of ours, such as: pip install "shoal-dp[plot]".
INSTALL = re.compile(
    r"\b(pipx?|uv|npm|npx|pnpm|yarn)\b[^\n`]*?\b(?:install|add|run|tool|i)\b([^\n`]*)"
)
OURS = re.compile(r"""(?<![\w./@-])@?(shoal[\w-]*)(?=$|[\s\[=@<>~"'`,;:)])""")
TEXTS = (
    "*.md",
    "docs/**/*",
    "examples/**/*",
    "clients/**/*",
    "src/**/*",
    "deploy/**/*",
    ".github/**/*",
)
UNREAD = ("node_modules", "dist", "_build", "vectors", "__pycache__", "vendor")


def installed_by_name(text: str) -> set[tuple[str, str]]:
    """The names of ours that commands in a text install from an index, with the index."""
    return {
        ("npm" if tool in {"npm", "npx", "pnpm", "yarn"} else "pypi", name)
        for tool, rest in INSTALL.findall(text)
        for name in OURS.findall(rest.partition(" in a clone")[0])
    }


def test_no_text_installs_a_name_of_ours_that_is_not_published():
    """The file PUBLISHED says which packages exist; without it none does (docs/releasing.md)."""
    flag = ROOT / "PUBLISHED"
    lines = flag.read_text(encoding="utf-8").split("\n") if flag.is_file() else []
    published = {tuple(line.split()) for line in lines}
    found = {
        (str(path.relative_to(ROOT)), *one)
        for pattern in TEXTS
        for path in ROOT.glob(pattern)
        if path.is_file() and not set(UNREAD) & set(path.parts)
        for one in installed_by_name(path.read_bytes().decode("utf-8", errors="ignore"))
    }
    assert (ROOT / "README.md").is_file()
    assert {one for one in found if one[1:] not in published} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('pip install "shoal[plot]"', {("pypi", "shoal")}),
        ("run `python -m pip install -U shoal-dp==1.2`", {("pypi", "shoal-dp")}),
        ("uv pip install numpy shoal-device", {("pypi", "shoal-device")}),
        ("npm install --save shoal-device", {("npm", "shoal-device")}),
        ("pip install '.[plot]' in a clone of shoal", set()),
        ("pip install ./clients/python", set()),
        ("`pip uninstall shoal-device`", set()),
        ("pip install --group docs", set()),
    ],
)
def test_installs_by_name_are_seen(text, names):
    assert installed_by_name(text) == names


def test_every_error_is_drawn_in_the_tree_and_is_a_shoal_error():
    classes = {n for n, c in inspect.getmembers(exceptions, inspect.isclass)}
    assert classes | {"CODES"} == set(exceptions.__all__)
    drawn = set(re.findall(r"\b\w*Error\b", exceptions.__doc__.split("A message")[0]))
    assert classes <= drawn
    assert all(issubclass(getattr(exceptions, name), ShoalError) for name in classes)


def test_optional_package_that_is_there():
    assert require("json.decoder", extra="none").__name__ == "json.decoder"


def test_optional_package_that_is_missing():
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[plot\]'"):
        require("altair_of_another_world.figure", extra="plot")


def test_broken_optional_package_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import a_part_that_is_gone")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_part_that_is_gone") as broken:
        require("half_installed", extra="plot")
    assert not isinstance(broken.value, ShoalError)


def extra_modules(extra):
    """Modules that an extra brings; the attack toolbox's packaging is needed by others too."""
    named = {re.match(r"[\w-]+", text).group() for text in PROJECT["optional-dependencies"][extra]}
    names = {name.replace("-", "_") for name in named - {"packaging", "shoal-dp"}}
    return {module for name in names for module in OTHER_MODULES.get(name, name).split()}


def test_modules_of_servers_are_those_of_the_extra():
    assert extra_modules("serve") == SERVE


# Import every public name where the modules of the second argument are missing.
WITHOUT_EXTRAS = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
from light_device import Missing
from shoal.exceptions import MissingPackageError
from shoal._api import PAGES
sys.meta_path.insert(0, Missing(set(sys.argv[2].split())))
for page in PAGES:
    module = importlib.import_module(page.module)
    for name in page.names:
        try:
            getattr(module, name)
        except MissingPackageError as error:
            print(page.module, name, error)
"""


def test_names_that_need_an_extra_say_which():
    """Whatever needs it: importing a package works, and a name ends in one clear line."""
    modules = set().union(*map(extra_modules, PROJECT["optional-dependencies"]))
    command = [sys.executable, "-c", WITHOUT_EXTRAS, str(ROOT / "tests/helpers"), " ".join(modules)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    refused = [line.split(" ", 2) for line in run.stdout.splitlines()]
    expected = {"shoal.collector", "shoal.service", "shoal.shuffler", "shoal.studio"}
    assert {package for package, _, _ in refused} == expected
    for _, name, text in refused:
        assert re.fullmatch(
            r"\w+ is not installed: run `pip install '\.\[serve\]'` in a clone of shoal", text
        ), name


def test_a_driver_that_is_missing(monkeypatch):
    from shoal.service import Database

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPackageError, match="psycopg is not installed"):
        Database("postgresql://shoal@127.0.0.1:1/none")
