"""The registry says what is there: names, classes and parameters agree."""

import importlib
import inspect

import pytest

import shoal
from shoal._build import load_class, parameter_names
from shoal._registry import MAX_COLUMNS, METHODS, choices
from shoal.cluster.kmeans._methods import METHODS as KMEANS_METHODS
from shoal.engines import MAX_COLUMNS as ENGINE_COLUMNS

PACKAGES = ("cluster", "mechanisms", "remap", "reports")


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
