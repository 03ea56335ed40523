"""Rules that no linter knows: names of modules, and where tests are."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/shoal"
TESTS = ROOT / "tests"

# Tests of no single package, and what tests share.
WITHOUT_PACKAGE = {"clients", "contracts", "golden", "helpers", "js", "planted"}


def files(folder):
    return sorted(file for file in folder.rglob("*.py"))


def tree(text):
    return ast.parse(text)


def defined(module):
    """Return the names that a module's own functions and classes have."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in module.body if isinstance(node, kinds)}


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
