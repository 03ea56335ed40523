"""Analyses of reports by name, with the rules of their parameters: each is declared once.

``shoal cluster --reports`` and a collector ask for them here. Parameters are checked against the
mechanism before anything is read, without loading an estimator.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from shoal import _numbers
from shoal._report_channel import (
    PartitionChannel,
    channel_bounds,
    is_more_than_noise,
    record_columns,
    refuse_unknown_noise,
)
from shoal.exceptions import ParameterError
from shoal.privacy import Release
from shoal.schema import Category

__all__ = [
    "ANALYSES",
    "AnalysisMethod",
    "AnalysisParameter",
    "analyze_reports",
    "check_analysis",
]

MAX_CLUSTERS = 1000
MAX_RESTARTS = 1000
MAX_UPDATES = 10_000
MAX_CELLS = 4096  # of a column of a grid
MAX_SHAPE_COLUMNS = 3  # in more, cells of a grid hold too few reports
DEFAULT_CLUSTERS = 8
DEFAULT_CELLS = 64
REMAPS = ("bayes", "grid")
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class AnalysisParameter:
    """One parameter of an analysis.

    Parameters
    ----------
    name : str
        Its name.
    summary : str
        What the parameter does.
    rule : str
        Which values are allowed, in words.
    check : callable
        Takes the name and a value, and returns the value or raises ParameterError.
    default : object, default=None
        Value that is used if none is given.

    Examples
    --------
    >>> from shoal.reports import ANALYSES
    >>> ANALYSES["density"].parameters["alpha"].rule
    'a number in (0, 1)'
    """

    name: str
    summary: str
    rule: str
    check: Callable[[str, Any], Any]
    default: Any = None


@dataclass(frozen=True)
class AnalysisMethod:
    """A method to find clusters from reports.

    Parameters
    ----------
    name : str
        Name of the method.
    summary : str
        Description in one sentence.
    mechanisms : str
        Mechanisms whose reports the method can use, in words.
    parameters : mapping of AnalysisParameter
        Parameters by name.
    refuse : callable
        Takes a mechanism and checked parameters, and raises ParameterError if the method cannot
        use such reports.
    estimator : str
        ``"module:Class"`` of this package, imported when the method runs.

    Examples
    --------
    >>> from shoal.reports import ANALYSES
    >>> list(ANALYSES), list(ANALYSES["noise-aware"].parameters)  # doctest: +NORMALIZE_WHITESPACE
    (['noise-aware', 'density', 'remap'],
     ['n_clusters', 'n_init', 'max_iter', 'confidence', 'contamination'])
    """

    name: str
    summary: str
    mechanisms: str
    parameters: Mapping[str, AnalysisParameter]
    refuse: Callable[[Any, Mapping[str, Any]], None]
    estimator: str


def check_analysis(
    method: str, parameters: Mapping[str, Any] = NOTHING, *, mechanism: Any
) -> dict[str, Any]:
    """Check the method and parameters of an analysis, before any report is read.

    Parameters
    ----------
    method : str
        Name of a method, a key of :data:`ANALYSES`.
    parameters : mapping, default={}
        Values by name; a parameter that is None or not given takes its default.
    mechanism : Mechanism
        The mechanism that made the reports.

    Returns
    -------
    parameters : dict
        All parameters, including the defaults, so that a later version repeats the same analysis.

    Raises
    ------
    ParameterError
        If a parameter is invalid; the message names it, its rule and the value.

    Examples
    --------
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.reports import check_analysis
    >>> mechanism = PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0]), n_clusters=5)
    >>> check_analysis("noise-aware", {"n_init": 3}, mechanism=mechanism)
    {'n_clusters': 5, 'n_init': 3, 'max_iter': None, 'confidence': 0.95, 'contamination': None}
    """
    if not isinstance(method, str) or method not in ANALYSES:
        raise ParameterError(
            f"method must be one of {', '.join(ANALYSES)}, got {method!r}",
            parameter="method",
            code="choice",
        )
    chosen = ANALYSES[method]
    if not isinstance(parameters, Mapping):
        raise ParameterError(
            f"parameters must be names and values, got {type(parameters).__name__}",
            parameter="parameters",
            code="type",
        )
    for name in parameters:
        if name not in chosen.parameters:
            raise ParameterError(
                f"parameters of {method} must be of {', '.join(chosen.parameters)}, got {name!r}",
                parameter=name,
                code="unknown",
            )
    given = {name: value for name, value in parameters.items() if value is not None}
    checked = {
        name: one.check(name, given[name]) if name in given else one.default
        for name, one in chosen.parameters.items()
    }
    if method == NOISE_AWARE and checked["n_clusters"] is None:
        checked["n_clusters"] = getattr(mechanism, "n_clusters", None) or DEFAULT_CLUSTERS
    if channel_bounds(mechanism) is None:
        raise ParameterError(
            "mechanism must have public bounds or a schema, got neither",
            parameter="mechanism",
            code="incomplete",
        )
    chosen.refuse(mechanism, checked)
    return checked


def analyze_reports(
    reports: Any,
    method: str = "noise-aware",
    parameters: Mapping[str, Any] = NOTHING,
    *,
    mechanism: Any,
    random_state: int = 0,
) -> Release:
    """Find clusters from reports by a named method.

    This is post-processing of the reports: no privacy budget is spent.

    Parameters
    ----------
    reports : array-like of shape (n, c), or CountedReports
        Reports, unchanged.
    method : str, default="noise-aware"
        Name of a method, a key of :data:`ANALYSES`.
    parameters : mapping, default={}
        Parameters of the method.
    mechanism : Mechanism
        The mechanism that made the reports.
    random_state : int, default=0
        Seed of the computation; privacy does not depend on it, and the same reports give the same
        clusters.

    Returns
    -------
    release : Release
        All that is needed to label records on a device: clusters, bounds, names or schema of the
        columns, and the guarantee of a report.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or the mechanism cannot have made these reports.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.reports import analyze_reports, label_on_device
    >>> mechanism = PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0]), random_state=0)
    >>> reports = mechanism.fit_transform(np.repeat([[0.2, 0.2], [0.8, 0.8]], 2000, axis=0))
    >>> release = analyze_reports(reports, parameters={"n_clusters": 2}, mechanism=mechanism)
    >>> release.values["centers"][label_on_device(release, [0.7, 0.9])].round(1).tolist()
    [0.8, 0.8]
    """
    checked = check_analysis(method, parameters, mechanism=mechanism)
    module, _, name = ANALYSES[method].estimator.partition(":")
    kind = getattr(importlib.import_module(f"shoal.reports.{module}"), name)
    release: Release = (
        kind(mechanism=mechanism, random_state=random_state, **checked).fit(reports).release_
    )
    return release


def _whole(least: int, most: int) -> tuple[str, Callable[[str, Any], int]]:
    """Return the rule of whole numbers between two ends, in words and as a check."""
    rule = f"a whole number from {least} to {most}"

    def check(name: str, value: Any) -> int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            raise ParameterError(
                f"{name} must be {rule}, got {value!r}",
                parameter=name,
                code="range" if whole else "whole",
            )
        return int(value)

    return rule, check


def _one_of(names: tuple[str, ...]) -> tuple[str, Callable[[str, Any], str]]:
    """Return the rule of a choice between names."""
    rule = f"one of {', '.join(names)}"

    def check(name: str, value: Any) -> str:
        if value not in names:
            raise ParameterError(
                f"{name} must be {rule}, got {value!r}", parameter=name, code="choice"
            )
        return str(value)

    return rule, check


def _by_name(*parameters: AnalysisParameter) -> Mapping[str, AnalysisParameter]:
    return MappingProxyType({one.name: one for one in parameters})


def _n_clusters(default: str) -> AnalysisParameter:
    return AnalysisParameter(
        "n_clusters", f"number of clusters; by default {default}", *_whole(1, MAX_CLUSTERS)
    )


def _refuse_kmeans(mechanism: Any, _parameters: Mapping[str, Any]) -> None:
    if not (isinstance(mechanism, PartitionChannel) or is_more_than_noise(mechanism)):
        refuse_unknown_noise(mechanism)


def _refuse_density(mechanism: Any, _parameters: Mapping[str, Any]) -> None:
    schema = getattr(mechanism, "schema", None)
    if schema is not None and any(isinstance(field, Category) for field in schema.features):
        raise ParameterError(
            "method density must come with reports of numbers, got a schema with categories, "
            "which have no shapes: take noise-aware",
            parameter="method",
            code="unsupported",
        )
    columns = record_columns(mechanism)
    if columns is not None and columns > MAX_SHAPE_COLUMNS:
        raise ParameterError(
            f"method density must come with at most {MAX_SHAPE_COLUMNS} columns, got {columns}: in "
            "more, cells of a grid hold too few reports; take noise-aware",
            parameter="method",
            code="unsupported",
        )
    if not isinstance(mechanism, PartitionChannel):
        refuse_unknown_noise(mechanism, biased=True)


def _refuse_remap(mechanism: Any, parameters: Mapping[str, Any]) -> None:
    kind = getattr(mechanism, "noise_kind", "other")
    whole = kind in {"radial", "unbiased"} and getattr(mechanism, "columns", "all") == "all"
    if not whole:
        raise ParameterError(
            "method remap must come with reports that are the record and noise, got those of "
            f"{type(mechanism).__name__}: take noise-aware",
            parameter="method",
            code="unsupported",
        )
    if parameters["remap"] == "bayes":
        if parameters["cells"] != DEFAULT_CELLS:
            raise ParameterError(
                f"cells must come with remap grid, got {parameters['cells']} with bayes: leave it "
                "out",
                parameter="cells",
                code="conflict",
            )
        if kind != "radial" or getattr(mechanism, "truncate", None) is not None:
            raise ParameterError(
                "remap must be grid for noise that depends on the record, got bayes with "
                f"{type(mechanism).__name__}",
                parameter="remap",
                code="unsupported",
            )


NOISE_AWARE = "noise-aware"
CONTAMINATION = AnalysisParameter(
    "contamination",
    "share of the devices that may lie; by default all are trusted",
    "a number in [0, 1)",
    _numbers.probability,
)
PROBABILITY = ("a number in (0, 1)", _numbers.positive_probability)

#: Analysis methods of a collector by name, each with its parameters.
ANALYSES: Mapping[str, AnalysisMethod] = MappingProxyType(
    {
        one.name: one
        for one in (
            AnalysisMethod(
                NOISE_AWARE,
                "k-means centers of the records, found through the known noise of the reports",
                "all that report whole records without truncating them, or some of their columns",
                _by_name(
                    _n_clusters(f"that of the mechanism, or {DEFAULT_CLUSTERS}"),
                    AnalysisParameter(
                        "n_init", "restarts of k-means", *_whole(1, MAX_RESTARTS), default=20
                    ),
                    AnalysisParameter(
                        "max_iter",
                        "updates of the mixture; by default as many as help",
                        *_whole(1, MAX_UPDATES),
                    ),
                    AnalysisParameter(
                        "confidence", "level of the centers' radii", *PROBABILITY, default=0.95
                    ),
                    CONTAMINATION,
                ),
                _refuse_kmeans,
                "noise_aware_kmeans:NoiseAwareKMeans",
            ),
            AnalysisMethod(
                "density",
                "clusters of any shape: peaks of the records' density that are more than chance",
                "those with a density, of up to three columns: not Duchi, not Hybrid",
                _by_name(
                    AnalysisParameter(
                        "alpha", "probability of a false cluster", *PROBABILITY, default=0.05
                    ),
                    _n_clusters("those that are more than chance"),
                    AnalysisParameter(
                        "min_cluster_size",
                        "records below which a part is no cluster; by default any",
                        "a finite number > 0",
                        _numbers.positive,
                    ),
                    CONTAMINATION,
                ),
                _refuse_density,
                "noise_aware_density:NoiseAwareDensity",
            ),
            AnalysisMethod(
                "remap",
                "k-means on reports that are moved to where their records are expected",
                "Laplace of any kind; moved to a grid, also Piecewise",
                _by_name(
                    AnalysisParameter(
                        "remap",
                        "bayes: to the mean of the posterior; grid: to the nearest point of a grid",
                        *_one_of(REMAPS),
                        default="bayes",
                    ),
                    _n_clusters("by the elbow of the cost, from 2 to 9"),
                    AnalysisParameter(
                        "cells",
                        "of a column of the grid",
                        *_whole(2, MAX_CELLS),
                        default=DEFAULT_CELLS,
                    ),
                ),
                _refuse_remap,
                "_remapped_clusters:RemappedKMeans",
            ),
        )
    }
)
