"""The registry says what is there: names, classes, parameters and exports agree."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import shoal
from shoal._build import load_class, parameter_names
from shoal._registry import MAX_COLUMNS, METHODS, PUBLIC, choices
from shoal.cluster.kmeans._methods import METHODS as KMEANS_METHODS
from shoal.engines import MAX_COLUMNS as ENGINE_COLUMNS

PACKAGES = ("cluster", "mechanisms", "remap", "reports")


def type_checked_names():
    """Read the imports under TYPE_CHECKING of ``shoal/__init__.py``, by name."""
    tree = ast.parse(Path(shoal.__file__).read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {
        alias.name: node.module.removeprefix("shoal.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_public_names_are_those_that_a_type_checker_sees():
    assert type_checked_names() == dict(PUBLIC)


def test_public_names_are_exported():
    assert set(shoal.__all__) == {*PUBLIC, "__version__"}
    for name, package in PUBLIC.items():
        assert name in importlib.import_module(f"shoal.{package}").__all__


def test_names_are_unique():
    names = [method.name.lower() for method in METHODS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_is_a_class_of_its_package_with_these_parameters(method):
    module, _, name = method.location.partition(":")
    assert name in importlib.import_module(module).__all__
    kind = load_class(method.location)
    assert inspect.isclass(kind)
    assert set(method.kwargs) <= set(parameter_names(kind))
    assert 1 <= method.min_columns <= method.max_columns <= MAX_COLUMNS
    assert method.summary
    assert not method.summary.endswith(".")


def test_every_exported_estimator_is_in_the_registry():
    registered = {method.location for method in METHODS}
    for package in PACKAGES:
        module = importlib.import_module(f"shoal.{package}")
        for name in module.__all__:
            value = getattr(module, name)
            # A profile is of clusters that a method has found; Mechanism is what all of them are.
            method = name not in ("ClusterProfile", "Mechanism")
            if method and inspect.isclass(value) and hasattr(value, "get_params"):
                assert f"shoal.{package}:{name}" in registered


def test_every_mechanism_can_be_imported_from_shoal():
    for method in METHODS:
        if method.location.startswith(("shoal.mechanisms:", "shoal.cluster:")):
            assert method.class_name in PUBLIC


def test_the_kmeans_methods_are_those_of_the_estimator():
    """Names, limits, and the sentence of the parameter in the docstring."""
    registered = {
        method.kwargs["method"]: method.max_columns
        for method in METHODS
        if method.class_name == "DPKMeans"
    }
    assert registered == {name: kind.max_columns for name, kind in KMEANS_METHODS.items()}
    assert MAX_COLUMNS == ENGINE_COLUMNS
    listed = ", ".join(f'"{name}"' for name in ("auto", *choices("DPKMeans", "method")))
    assert f"method : {{{listed}}}" in inspect.getdoc(shoal.DPKMeans)


def test_the_techniques_are_those_of_the_estimator():
    listed = ", ".join(f'"{name}"' for name in choices("DPWaveCluster", "technique"))
    assert f"technique : {{{listed}}}" in inspect.getdoc(shoal.DPWaveCluster)
