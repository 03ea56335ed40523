"""Rules that no linter knows: names of modules, where tests are, words of the field."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/shoal"
TESTS = ROOT / "tests"

# Tests of no single package, and what tests share.
WITHOUT_PACKAGE = {"clients", "contracts", "helpers", "js", "planted", "seeded_runs"}

# "analyses" is the plural of "analysis", too.
BRITISH = re.compile(
    r"behaviour|centre|colour|favour|grey|kilometre|labell|licence|neighbour"
    r"|(anal|catal)yse(?!s)|(general|initial|minim|maxim|normal|optim|random|standard|summar)ise"
)
# STYLE of the project: the literature has a word for each of these.
DIALECT = {
    "book",
    "currency",
    "exceedance",
    "exceedances",
    "hide",
    "law",
    "laws",
    "quietly",
    "room",
    "rooms",
    "tell",
}
KWARGS = {"more", "words"}  # say kwargs
LIMITS = re.compile(r"_?(FEWEST|MOST)(_|$)")  # say MIN and MAX


def files(folder):
    return sorted(file for file in folder.rglob("*.py"))


def tree(text):
    return ast.parse(text)


def defined(module):
    """Return the names that a module's own functions and classes have."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in module.body if isinstance(node, kinds)}


def identifiers(module):
    """Yield every name that is given in a module: functions, classes, parameters, variables."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def parts(name):
    """Split ``ledger_file`` and ``LedgerFile`` into their words."""
    return {part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def foreign_words(text):
    """Return identifiers of a module that are British, or that only this project would use."""
    module = tree(text)
    found = {
        name
        for name in identifiers(module)
        if BRITISH.search(name.lower()) or parts(name) & DIALECT or LIMITS.match(name)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.arguments) and node.kwarg and node.kwarg.arg in KWARGS:
            found.add(f"**{node.kwarg.arg}")
    return found


def test_no_module_has_the_name_of_what_it_defines():
    """Otherwise the function hides the module from ``import package.module``."""
    hidden = {
        file.relative_to(SOURCE).as_posix()
        for file in files(SOURCE)
        if file.stem in defined(tree(file.read_text(encoding="utf-8")))
    }
    assert hidden == set()


def test_tests_are_where_their_package_is():
    folders = {file.parent.relative_to(TESTS) for file in TESTS.rglob("test_*.py")}
    mirrored = {folder for folder in folders if folder.as_posix() not in WITHOUT_PACKAGE}
    assert {folder for folder in mirrored if not (SOURCE / folder).is_dir()} == set()
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= {folder.parts[0] for folder in mirrored if folder.parts}


def test_helpers_hold_no_tests_and_tests_import_no_tests():
    assert not list((TESTS / "helpers").glob("test_*.py"))
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(tree(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not node.module.split(".")[-1].startswith("test_"), file


def test_names_are_words_of_the_field():
    names = {}
    for file in files(SOURCE):
        place = file.relative_to(SOURCE)
        found = foreign_words(file.read_text(encoding="utf-8"))
        found |= {part for part in place.parts if BRITISH.search(part) or parts(part) & DIALECT}
        if found:
            names[place.as_posix()] = sorted(found)
    assert names == {}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def randomise(): ...", "randomise"),
        ("class NeighbouringTables: ...", "NeighbouringTables"),
        ("def fit(n_centres): ...", "n_centres"),
        ("self.colour = 1", "colour"),
        ("FEWEST_FITS = at_most = 1", "FEWEST_FITS"),
        ("def draw(**words): ...", "**words"),
        ("def tell(report): ...", "tell"),
    ],
)
def test_planted_names_are_seen(line, name):
    assert foreign_words(line) == {name}
    assert foreign_words("def privatize(exact, *, words=(), lawful=True, **kwargs): ...") == set()
