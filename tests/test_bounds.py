"""Public bounds: boxes, balls, and what is refused."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from shoal import Ball, DPDensity, DPKMeans, DPWaveCluster, Ledger, PrivateCopy
from shoal._bounds import bounded_columns, public_box, surrounding_box
from shoal._frozen import frozen_copy
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    KdLaplace,
    Laplace,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    SquareWave,
    load_mechanism,
)
from shoal.remap import BayesRemap
from shoal.reports import NoiseAwareKMeans, TwoRoundCampaign
from shoal.tables import ArrayTable

X = np.repeat([[0.6, 0.0, 0.0], [0.0, 0.0, -0.6]], 2000, axis=0)


def test_the_box_around_a_ball_has_one_width() -> None:
    low, high = Ball([1.0, 2.0], 3.0).box(2)
    assert low.tolist() == [-2.0, -1.0]
    assert high.tolist() == [4.0, 5.0]
    assert surrounding_box(Ball(0, 2), 3).high.tolist() == [2.0, 2.0, 2.0]
    assert surrounding_box((0, 2), 3).low.tolist() == [0.0, 0.0, 0.0]


def test_columns_of_bounds() -> None:
    assert bounded_columns(Ball([0, 0, 0], 1), default=2) == 3
    assert bounded_columns(Ball(), default=2) == 2
    assert bounded_columns(((0, 0), 1), default=5) == 2


def test_a_ball_is_for_kmeans_alone() -> None:
    with pytest.raises(ParameterError, match=r"^bounds must be a low and a high number.* Ball\("):
        public_box(Ball(0, 1), 2)
    with pytest.raises(ParameterError, match=r"^bounds must be a low and a high number"):
        DPWaveCluster().set_params(bounds=Ball(0, 1)).fit(X[:, :2])


def test_clusters_of_a_ball_are_found_and_published() -> None:
    model = DPKMeans(2, bounds=Ball(0.0, 1.0), epsilon=2.0, random_state=0).fit(X)
    found = model.cluster_centers_[np.argsort(-model.cluster_centers_[:, 0])]
    np.testing.assert_allclose(found, [[0.6, 0, 0], [0, 0, -0.6]], atol=0.05)
    assert model.bounds_.low.tolist() == [-1.0, -1.0, -1.0]
    assert model.release_.values["high"].tolist() == [1.0, 1.0, 1.0]


PEOPLE = pd.DataFrame({"age": np.linspace(0, 120, 40), "height": np.linspace(50, 250, 40)})
NAMED = {"age": (0, 120), "height": (50, 250)}
BOX = ([0.0, 50.0], [120.0, 250.0])
SWAPPED = ([50.0, 0.0], [250.0, 120.0])
CENTRAL = [
    DPKMeans(2, epsilon=1.0, random_state=0),
    DPDensity(epsilon=1.0, random_state=0),
    DPWaveCluster(epsilon=1.0, random_state=0),
    PrivateCopy(epsilon=1.0, random_state=0),
]
MECHANISMS = [
    Laplace(1.0, random_state=0),
    PlanarLaplace(1.0, random_state=0),
    KdLaplace(1.0, random_state=0),
    Piecewise(1.0, random_state=0),
    SquareWave(1.0, random_state=0),
    Hybrid(1.0, random_state=0),
    Duchi(1.0, random_state=0),
    PartitionResponse(1.0, random_state=0),
]


def name(estimator: Any) -> str:
    return type(estimator).__name__


def with_bounds(estimator: Any, bounds: Any) -> Any:
    return clone(clone(estimator).set_params(bounds=bounds))


def outcome(estimator: Any, X: Any) -> Any:
    """Return what a seeded estimator releases: its document, or its reports."""
    fitted = estimator.fit(X)
    if hasattr(fitted, "release_"):
        return fitted.release_.to_json()
    return fitted.transform(X).tolist()


@pytest.mark.parametrize("estimator", [*CENTRAL, *MECHANISMS], ids=name)
def test_bounds_by_column_are_those_of_the_column(estimator: Any) -> None:
    """Whatever the order of the columns, in the bounds and in the table."""
    other = dict(reversed(NAMED.items()))
    for table, box in ((PEOPLE, BOX), (PEOPLE[["height", "age"]], SWAPPED)):
        expected = outcome(with_bounds(estimator, box), table)
        for named in (NAMED, other):
            assert outcome(with_bounds(estimator, named), table) == expected
    by_index = {1: (50, 250), 0: (0, 120)}
    plain = PEOPLE.to_numpy()
    expected = outcome(with_bounds(estimator, BOX), plain)
    assert outcome(with_bounds(estimator, by_index), plain) == expected


@pytest.mark.parametrize("estimator", [*CENTRAL, *MECHANISMS], ids=name)
@pytest.mark.parametrize(
    ("bounds", "table", "code"),
    [
        ([(0, 120), (50, 250)], PEOPLE, "shape"),
        ([[0, 50], [120, 250]], PEOPLE, "shape"),
        (((0, 120), (50, 250)), PEOPLE, "shape"),
        (((0, 50), [120, 250]), PEOPLE, "shape"),
        (np.array([[0, 50], [120, 250]]), PEOPLE, "shape"),
        ({"age": (0, 120)}, PEOPLE, "columns"),
        ({**NAMED, "weight": (0, 9)}, PEOPLE, "columns"),
        ({"age": (0, 120), "Height": (50, 250)}, PEOPLE, "columns"),
        (NAMED, PEOPLE.to_numpy(), "columns"),
        ({0: (0, 1), 2: (0, 1)}, PEOPLE.to_numpy(), "columns"),
        ({0: (0, 1), True: (0, 1)}, PEOPLE.to_numpy(), "columns"),
        ({0: (0, 1), "height": (0, 1)}, PEOPLE, "columns"),
        ({0: (0, 1)}, PEOPLE.to_numpy(), "shape"),
        ({}, PEOPLE, "shape"),
        ({"age": 120, "height": (50, 250)}, PEOPLE, "shape"),
        ({"age": (0, 1, 2), "height": (50, 250)}, PEOPLE, "shape"),
        ({"age": (120, 0), "height": (50, 250)}, PEOPLE, "order"),
        ({"age": (0, "x"), "height": (50, 250)}, PEOPLE, "shape"),
    ],
)
def test_bounds_that_could_be_misread_are_refused(
    estimator: Any, bounds: Any, table: Any, code: str
) -> None:
    ledger = Ledger(epsilon=10)
    model = with_bounds(estimator, bounds).set_params(ledger=ledger)
    with pytest.raises(ParameterError) as caught:
        outcome(model, table)
    assert (caught.value.parameter, caught.value.code) == ("bounds", code)
    assert "\n" not in str(caught.value)
    assert not ledger.entries


@pytest.mark.parametrize("estimator", [*CENTRAL, *MECHANISMS], ids=name)
@pytest.mark.parametrize("labels", [[1, 0], ["1", "0"], [1, 2]])
def test_an_index_is_not_that_of_another_column(estimator: Any, labels: list[Any]) -> None:
    """A frame whose columns are numbered otherwise got the bounds of one column for the other."""
    ledger = Ledger(epsilon=10)
    by_index = {0: (0, 120), 1: (50, 250)}
    model = with_bounds(estimator, by_index).set_params(ledger=ledger)
    table = PEOPLE.set_axis(labels, axis=1)
    unfitted = estimator in MECHANISMS and not isinstance(estimator, KdLaplace)
    runs = [model.fit, *([model.transform] if unfitted else [])]
    for run in (*runs, lambda X: model.fit(ArrayTable(X.to_numpy(), tuple(map(str, labels))))):
        with pytest.raises(ParameterError) as caught:
            run(table)
        assert (caught.value.parameter, caught.value.code) == ("bounds", "columns")
    assert not ledger.entries
    expected = outcome(with_bounds(estimator, BOX), PEOPLE.to_numpy())
    assert outcome(with_bounds(estimator, by_index), PEOPLE.set_axis([0, 1], axis=1)) == expected


class Changing(Mapping):  # type: ignore[type-arg]
    """Bounds that are others each time they are read."""

    def __init__(self) -> None:
        self.reads = 0

    def __getitem__(self, key: str) -> Any:
        low, high = NAMED[key]
        self.reads += 1
        return low, high * self.reads

    def __iter__(self) -> Any:
        return iter(NAMED)

    def __len__(self) -> int:
        return len(NAMED)


@pytest.mark.parametrize("estimator", [*CENTRAL, *MECHANISMS], ids=name)
def test_bounds_of_any_mapping_are_read_once(estimator: Any) -> None:
    """The promise followed other bounds than the draw."""
    own = frozen_copy(type(estimator)(bounds=Changing()))
    assert own.bounds == {"age": (0, 120), "height": (50, 500)}
    fixed = MappingProxyType(NAMED)
    model = type(estimator)(**{**estimator.get_params(deep=False), "bounds": fixed})
    assert outcome(model, PEOPLE) == outcome(with_bounds(estimator, BOX), PEOPLE)


def test_pairs_of_three_columns_are_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        DPKMeans(2, epsilon=1.0, bounds=[(0, 1), (0, 1), (0, 1)]).fit(np.ones((9, 3)))
    assert (caught.value.parameter, caught.value.code) == ("bounds", "shape")


DOCUMENTED = [one for one in MECHANISMS if hasattr(one, "to_dict")]


@pytest.mark.parametrize("estimator", DOCUMENTED, ids=name)
def test_named_bounds_say_the_columns_of_a_mechanism_that_is_not_fitted(estimator: Any) -> None:
    mechanism = with_bounds(estimator, NAMED)
    document = mechanism.to_dict()
    assert (document["names"], document["columns"]) == (["age", "height"], 2)
    assert document["parameters"]["bounds"] == [*BOX]
    read = load_mechanism(json.loads(json.dumps(document)))
    assert read.to_dict() == document
    record = {"height": 1000, "age": 3}
    assert mechanism.clip_record(record).tolist() == read.clip_record(record).tolist() == [3, 250]
    with pytest.raises(DataError) as caught:
        mechanism.transform(PEOPLE[["height", "age"]])
    assert caught.value.code == "columns"


def test_named_bounds_of_fit_go_on_to_what_reads_the_reports() -> None:
    table = PEOPLE[["height", "age"]]
    mechanism = with_bounds(Laplace(9.0, random_state=0), NAMED).fit(table)
    reports = mechanism.transform(table)
    plain = with_bounds(Laplace(9.0, random_state=0), SWAPPED).fit(table)
    for read in (BayesRemap, lambda one: NoiseAwareKMeans(2, mechanism=one, random_state=0)):
        ours, theirs = (read(one).fit(reports) for one in (mechanism, plain))
        if isinstance(ours, BayesRemap):
            assert ours.transform(reports).tolist() == theirs.transform(reports).tolist()
        else:
            assert ours.cluster_centers_.tolist() == theirs.cluster_centers_.tolist()
    campaign = TwoRoundCampaign(2, mechanism=with_bounds(PartitionResponse(4.0), NAMED).fit(table))
    assert campaign.first.bounds[0].tolist() == SWAPPED[0]
    assert np.asarray(campaign.mechanism.bounds).tolist() == [*SWAPPED]
