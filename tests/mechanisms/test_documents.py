"""A mechanism's document: exact, public, strict, and never better than what was drawn."""

import json

import numpy as np
import pandas as pd
import pytest

from shoal._build import load_class
from shoal._registry import METHODS
from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise, load_mechanism
from shoal.mechanisms.documents import FIELDS
from shoal.partitions import Partitions
from shoal.privacy import Ledger
from shoal.schema import Category, Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B", "C"])])
X = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (20, 3)), columns=["x", "y", "z"])
KINDS = [
    kind
    for location in dict.fromkeys(method.location for method in METHODS)
    if location.startswith("shoal.mechanisms:") and hasattr(kind := load_class(location), "to_dict")
]


def through_json(mechanism):
    return load_mechanism(json.loads(json.dumps(mechanism.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_mechanism_comes_back(kind, tmp_path):
    records = X[["x", "y"]] if kind.__name__ == "PlanarLaplace" else X
    columns = records.shape[1]
    bounds = (np.full(columns, 0.1), np.full(columns, 1.0 / 3.0))
    device = kind(np.float64(1.1), bounds=bounds, ledger=Ledger(epsilon=5.0)).fit(records)
    device.save(tmp_path / "mechanism.json")
    server = load_mechanism(tmp_path / "mechanism.json")
    assert type(server) is kind
    assert server.to_dict() == device.to_dict()
    assert server.guarantee_ == device.guarantee_
    assert server.ledger is None
    assert server.feature_names_in_.tolist() == device.feature_names_in_.tolist()
    # The same law of reports: the same lattice and the same probabilities.
    one, other = device.lattice(columns), server.lattice(columns)
    assert all((getattr(one, name) == getattr(other, name)).all() for name in ("origin", "step"))
    reports = np.array([[3.0, 1.0]]) if kind is PartitionResponse else one.decode(one.low[None])
    point = np.full(columns, 0.2)
    assert (server.log_density(reports, point) == device.log_density(reports, point)).all()


def test_a_schema_comes_back():
    server = through_json(PartitionResponse(1.0, schema=SCHEMA, n_clusters=4))
    assert server.schema == SCHEMA
    assert server.n_clusters == 4


def test_partitions_are_written_as_they_are():
    """Another version may make others from the same parameters."""
    device = PartitionResponse(1.0, bounds=(0.0, 1.0)).fit(X)
    plain = device.to_dict()
    assert Partitions.from_dict(plain["parameters"]["partitions"]) == device.partitions_
    assert through_json(device).partitions == device.partitions_


def test_no_secret_is_written():
    plain = Laplace(1.0, bounds=(0.0, 1.0), random_state=8_315_927).fit(X).to_dict()
    assert not {"random_state", "ledger"} & set(plain["parameters"])
    assert "8315927" not in json.dumps(plain)


def test_a_seed_stays_known():
    device = Piecewise(1.0, bounds=(0.0, 1.0), random_state=3)
    device.fit_transform(X)
    server = through_json(device)
    assert not server.guarantee_.holds
    assert server.random_state is None


@pytest.mark.parametrize("name", ["random_state", "ledger"])
def test_a_document_brings_neither_seed_nor_ledger(name):
    """Whoever writes the document would know the noise of every device that reads it."""
    plain = PartitionResponse(1.0, bounds=([0.0], [1.0])).to_dict()
    plain["parameters"][name] = 7
    with pytest.raises(ParameterError, match=f"parameters must leave {name} to the device"):
        load_mechanism(plain)


def test_a_document_promises_nothing_better_than_its_parameters():
    plain = Piecewise(2.0, bounds=(0.0, 1.0)).fit(X).to_dict()
    plain["guarantee"]["epsilon"] = 0.1
    assert load_mechanism(plain).guarantee_.epsilon == 2.0
    plain["guarantee"]["epsilon"] = 3.0  # reports that were drawn with more
    assert load_mechanism(plain).guarantee_.epsilon == 3.0


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"schema_version": 2}, "schema_version must be 1, got 2"),
        ({"mechanism": "DPKMean"}, "mechanism must be one of shoal, got 'DPKMean'"),
        ({"mechanism": "DPKMeans"}, "mechanism must be one of shoal, got 'DPKMeans'"),
        ({"parameters": {"sigma": 1.0}}, "parameters must be those of Laplace"),
        ({"parameters": None}, "parameters must be those of Laplace"),
        ({"parameters": {"partitions": {}}}, "the document of Laplace is broken"),
        ({"guarantee": {}}, "the document of Laplace is broken"),
        ({"columns": 0}, "columns must be a whole number from 1"),
        ({"names": ["x"]}, "names must be one for each of 3 columns"),
        ({"more": 1}, "with the fields"),
    ],
)
def test_a_broken_document_is_refused_in_one_line(changed, text):
    plain = Laplace(1.0, bounds=(0.0, 1.0)).fit(X).to_dict() | changed
    with pytest.raises(ParameterError, match=text) as refused:
        load_mechanism(plain)
    assert "\n" not in str(refused.value)


def test_files_that_are_no_document(tmp_path):
    with pytest.raises(ParameterError, match="No such file"):
        load_mechanism(tmp_path / "none.json")
    (tmp_path / "a.json").write_text("[1, 2", encoding="utf-8")
    with pytest.raises(ParameterError, match="with something else"):
        load_mechanism(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(ParameterError, match=f"with the fields {min(FIELDS)}"):
        load_mechanism(tmp_path / "b.json")
