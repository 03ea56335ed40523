"""Analyses by name: checked before reports are read, the same ones that the estimators take."""

import json

import numpy as np
import pytest

from shoal.exceptions import ShoalError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    SquareWave,
)
from shoal.privacy import Release
from shoal.remap import BayesRemap
from shoal.reports import (
    ANALYSES,
    NoiseAwareDensity,
    NoiseAwareKMeans,
    analyze_reports,
    check_analysis,
    label_encoded,
    label_on_device,
    load_release,
)
from shoal.schema import Category, Number, Schema
from shoal.tables import ArrayTable

LINE = ([0.0], [1.0])
SQUARE = ([0.0, 0.0], [1.0, 1.0])
MECHANISMS = [
    Duchi(4.0, bounds=LINE),
    Hybrid(4.0, bounds=LINE),
    Laplace(8.0, bounds=LINE),
    Laplace(8.0, bounds=LINE, truncate="resample"),
    PartitionResponse(4.0, bounds=LINE),
    Piecewise(4.0, bounds=LINE),
    Piecewise(4.0, bounds=SQUARE, columns="sample"),
    SquareWave(4.0, bounds=LINE),
]
ESTIMATORS: dict = {
    "noise-aware": lambda mechanism: NoiseAwareKMeans(2, mechanism=mechanism, n_init=1),
    "density": lambda mechanism: NoiseAwareDensity(mechanism=mechanism, n_clusters=1),
    "remap": BayesRemap,
}


def reports_of(mechanism, count=60):
    rng = np.random.default_rng(0)
    records = rng.choice([0.2, 0.8], (count, 1)) + rng.uniform(-0.1, 0.1, (count, 1))
    records = records * np.ones(len(mechanism.bounds[0]))
    device = type(mechanism)(**{**mechanism.get_params(deep=False), "random_state": 0})
    return records, np.asarray(device.fit_transform(records))


@pytest.mark.parametrize("method", ANALYSES)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_what_is_refused_is_what_the_estimator_refuses(mechanism, method):
    """A job is refused when it is queued, or runs."""
    _, reports = reports_of(mechanism)
    served = True
    try:
        check_analysis(method, mechanism=mechanism)
    except ShoalError:
        served = False
    estimator = ESTIMATORS[method](mechanism)
    if served:
        estimator.fit(reports)
    elif method != "remap":  # which would take noise that nobody should remap
        with pytest.raises(ShoalError):
            estimator.fit(reports)


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("noise-aware", {"n_clusters": 2, "n_init": 2}),
        ("noise-aware", {"n_clusters": 2, "n_init": 2, "contamination": 0.01}),
        ("density", {"n_clusters": 2}),
        ("remap", {"n_clusters": 2}),
        ("remap", {"n_clusters": 2, "remap": "grid", "cells": 16}),
        ("remap", {"remap": "grid"}),
    ],
)
def test_a_release_alone_labels_records(method, parameters):
    """It survives JSON, has the names of the columns, and the same seed gives the same bytes."""
    mechanism = Laplace(40.0, bounds=LINE)
    records, reports = reports_of(mechanism, 400)
    mechanism.fit(ArrayTable(records, ("x",)))
    release = analyze_reports(reports, method, parameters, mechanism=mechanism, random_state=3)
    again = analyze_reports(reports, method, parameters, mechanism=mechanism, random_state=3)
    assert release.to_json() == again.to_json()
    assert release.values["columns"] == ["x"]
    assert release.guarantee == mechanism.guarantee_
    read = Release.from_json(release.to_json())
    low, high = (label_on_device(read, [value]) for value in (0.2, 0.8))
    assert low != high
    right = label_on_device(read, records) == np.where(records[:, 0] < 0.5, low, high)
    assert right.mean() > 0.95
    assert len(load_release(read).to_frame()) == 2


@pytest.mark.full
@pytest.mark.parametrize("kind", [Laplace, PartitionResponse])
def test_shapes_of_a_schema(kind):
    """The release of a density carries the schema too: labels take records as they are."""
    schema = Schema([Number("age", minimum=0, maximum=120)])
    mechanism = kind(20.0, schema=schema, random_state=0)
    ages = np.repeat([20.0, 90.0], 200) + np.random.default_rng(0).uniform(-9, 9, 400)
    reports = mechanism.fit_transform({"age": ages})
    release = analyze_reports(reports, "density", {"n_clusters": 2}, mechanism=mechanism)
    labels = label_on_device(release, {"age": ages})
    assert (labels == label_encoded(release, schema.encode({"age": ages}))).all()
    assert (labels >= 0).mean() > 0.9


def test_defaults_are_written_out():
    """So that a later version with other defaults repeats an old job."""
    mechanism = PartitionResponse(1.0, bounds=SQUARE, n_clusters=5)
    checked = check_analysis("noise-aware", {"n_init": None}, mechanism=mechanism)
    expected = {"n_clusters": 5, "n_init": 20, "max_iter": None, "confidence": 0.95}
    assert checked == {**expected, "contamination": None}
    assert check_analysis("noise-aware", checked, mechanism=mechanism) == checked
    assert json.loads(json.dumps(checked)) == checked
    assert check_analysis("noise-aware", mechanism=MECHANISMS[0])["n_clusters"] == 8


MIXED = Schema([Number("age", minimum=0, maximum=9), Category("city", ["A", "B"])])


@pytest.mark.parametrize(
    ("method", "parameters", "mechanism", "text"),
    [
        ("ward", {}, MECHANISMS[2], "method must be one of noise-aware, density, remap, got 'wa"),
        (["density"], {}, MECHANISMS[2], "method must be one of"),
        ("density", [1], MECHANISMS[2], "parameters must be names and values, got list"),
        ("density", {"bounds": 1}, MECHANISMS[2], "must be of alpha, n_clusters, min_cluster"),
        ("density", {"alpha": 1.0}, MECHANISMS[2], r"alpha must be a number in \(0, 1\), got 1.0"),
        ("noise-aware", {"n_clusters": 1001}, MECHANISMS[2], "from 1 to 1000, got 1001"),
        ("noise-aware", {"n_clusters": True}, MECHANISMS[2], "from 1 to 1000, got True"),
        ("noise-aware", {"n_init": 0}, MECHANISMS[2], "n_init must be a whole number from 1"),
        ("remap", {"remap": "median"}, MECHANISMS[2], "remap must be one of bayes, grid"),
        ("remap", {"cells": 9}, MECHANISMS[2], "cells must come with remap grid"),
        ("remap", {}, MECHANISMS[4], "got those of PartitionResponse: take noise-aware"),
        ("remap", {}, MECHANISMS[5], "remap must be grid"),
        ("density", {}, Laplace(1.0, bounds=([0.0] * 4, [1.0] * 4)), "at most 3 columns, got 4"),
        ("density", {}, Laplace(1.0, schema=MIXED), "a schema with categories"),
        ("density", {}, Laplace(1.0), "must have public bounds or a schema"),
    ],
)
def test_bad_input_is_one_line(method, parameters, mechanism, text):
    with pytest.raises(ShoalError, match=text) as caught:
        check_analysis(method, parameters, mechanism=mechanism)
    assert "\n" not in str(caught.value)
