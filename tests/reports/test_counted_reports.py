"""Counts of reports are all that partition responses hold."""

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import Laplace, PartitionResponse
from shoal.reports import CountedReports, NoiseAwareDensity, NoiseAwareKMeans


def drawn(columns, count=600):
    bounds = ([0.0] * columns, [1.0] * columns)
    mechanism = PartitionResponse(6.0, bounds=bounds, random_state=0)
    records = np.random.default_rng(1).choice([0.2, 0.8], (count, 1)) * np.ones(columns)
    return mechanism, np.asarray(mechanism.fit_transform(records))


@pytest.mark.parametrize("columns", [1, pytest.param(5, marks=pytest.mark.full)])
def test_the_same_centers_as_one_by_one(columns):
    mechanism, reports = drawn(columns)
    counted = CountedReports.of_blocks(np.array_split(reports, 7), mechanism)
    assert counted.n_reports == len(reports)
    expected, expected_counts = np.unique(reports, axis=0, return_counts=True)
    assert (counted.reports == expected).all()
    assert (counted.counts == expected_counts).all()
    one, other = (
        NoiseAwareKMeans(2, mechanism=mechanism, n_init=2, random_state=5).fit(given)
        for given in (reports, counted)
    )
    assert one.release_.to_json() == other.release_.to_json()
    assert len(other.labels_) == len(counted.reports)
    index = {tuple(pair): label for pair, label in zip(counted.reports, other.labels_, strict=True)}
    assert [index[tuple(pair)] for pair in reports] == one.labels_.tolist()


@pytest.mark.full
def test_the_same_shapes_as_one_by_one():
    mechanism, reports = drawn(1, 300)
    counted = CountedReports.of_blocks([reports[:100], reports[100:]], mechanism)
    one, other = (
        NoiseAwareDensity(mechanism=mechanism, n_clusters=2, random_state=5).fit(given)
        for given in (reports, counted)
    )
    assert one.release_.to_json() == other.release_.to_json()


def test_bad_input_is_one_line():
    mechanism, reports = drawn(2, 10)
    with pytest.raises(ParameterError, match="must be a PartitionResponse, got Laplace"):
        CountedReports.of_blocks([reports], Laplace(1.0, bounds=(0.0, 1.0)))
    with pytest.raises(DataError, match="at least one, got none"):
        CountedReports.of_blocks([], mechanism)
    with pytest.raises(ParameterError, match="partition below"):
        CountedReports.of_blocks([reports + 1e6], mechanism)
