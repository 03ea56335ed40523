"""The public names, package by package, as the API pages and their test list them."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = (
    "shoal.cluster",
    "shoal.schema",
    "shoal.tables",
    "shoal.datasets",
    "shoal.metrics",
    "shoal.plotting",
    "shoal.privacy",
    "shoal.noise",
    "shoal.engines",
    "shoal.density",
    "shoal.mechanisms",
    "shoal.partitions",
    "shoal.remap",
    "shoal.reports",
    "shoal.labels",
    "shoal.campaigns",
    "shoal.client",
    "shoal.collector",
    "shoal.shuffler",
    "shoal.service",
    "shoal.studio",
    "shoal.audit",
    "shoal.experiments",
    "shoal.experiments.compare",
    "shoal.papers",
    "shoal.papers.kd_laplace",
    "shoal.papers.kccm",
    "shoal.papers.wavecluster",
    "shoal.exceptions",
)
DOCS = Path(__file__).parents[1]
GALLERY = "../examples/gallery"  # as seen from docs/
MAX_VALUE = 60  # characters of a constant's value


class PublicNames(NamedTuple):
    """What a package exports, by kind."""

    classes: list[str]
    functions: list[str]
    exceptions: list[str]
    constants: list[tuple[str, str, str]]  # name, value, what it is


def public_names(package: str) -> PublicNames:
    """Sort the names of a package's ``__all__`` by what they are."""
    module = importlib.import_module(package)
    names = PublicNames([], [], [], [])
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) and issubclass(value, BaseException):
            names.exceptions.append(name)
        elif inspect.isclass(value):
            names.classes.append(name)
        elif inspect.isroutine(inspect.unwrap(value)):
            names.functions.append(name)
        else:
            names.constants.append((name, _short(value), constant_text(package, name)))
    return names


def pages() -> dict[str, str]:
    """Return the name under which each object has its page, by its name alone.

    Where two packages export the same name, the first of :data:`PACKAGES` has it.
    """
    found: dict[str, str] = {}
    for package in PACKAGES:
        names = public_names(package)
        constants = [name for name, _, _ in names.constants]
        for name in (*names.classes, *names.functions, *names.exceptions, *constants):
            found.setdefault(name, f"{package}.{name}")
    return found


def examples_by_name() -> dict[str, list[str]]:
    """Return the examples of the gallery that import each public name, as a minigallery takes them.

    Sphinx-gallery's own lists depend on which examples were run, and have classes that ours inherit
    from.
    """
    found: dict[str, list[str]] = {}
    known = pages()
    for path in sorted((DOCS / GALLERY).glob("*/plot_*.py")):
        file = f"{GALLERY}/{path.parent.name}/{path.name}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                for name in (alias.name for alias in node.names):
                    full = known.get(name) if node.module == "shoal" else f"{node.module}.{name}"
                    if full is not None and file not in found.setdefault(full, []):
                        found[full].append(file)
    return found


def constant_text(package: str, name: str) -> str:
    """Return what stands beside a constant where it is defined: ``#:`` above it, or a text below.

    Empty where there is neither. Imports of a package's ``__init__`` lead to where it is defined.
    """
    source = inspect.getsource(importlib.import_module(package))
    tree = ast.parse(source)
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            match after:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    return " ".join(text.split())
            above = "\n".join(source.splitlines()[: node.lineno - 1])
            comment = re.search(r"(?:^#: .*\n?)+\Z", above, re.MULTILINE)
            return "" if comment is None else comment.group().replace("#: ", "").replace("\n", " ")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return constant_text(str(node.module), name)
    return ""


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 3]}..."
