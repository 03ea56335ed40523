"""Every data set has a schema that describes its table: bounds hold, numbers need no flags."""

import itertools
import os

import numpy as np
import pytest

from shoal import datasets
from shoal.datasets import list_datasets, load, make_customers
from shoal.schema import Place, Schema

FOLDER = os.environ.get("SHOAL_DATA")
needs_files = pytest.mark.skipif(
    not FOLDER, reason="set SHOAL_DATA to the folder of data files to run this"
)
INFOS = {info.name: info for info in list_datasets()}
BUNDLED = [info.name for info in INFOS.values() if info.bundled]
MIXED = [info.name for info in INFOS.values() if info.table]
SMALL = ["seeds", "transfusion", "s1", "kd_laplace_heart"]
PLACES = [info.name for info in INFOS.values() if info.places]
MAKERS = [name for name in datasets.__all__ if name.startswith("make_")]


def check(dataset):
    schema = dataset.schema
    assert schema.description
    assert not schema.lacking()
    assert set(schema.all_columns) == set(dataset.table)
    assert Schema.from_dict(schema.to_dict()) == schema
    X = schema.encode({name: values[:500] for name, values in dataset.table.items()})
    assert X.shape[1] == schema.space.columns
    assert (X >= 0).all()
    assert (schema.space.widths >= X).all()
    return schema


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled(name):
    dataset = load(name)
    schema = check(dataset)
    assert schema.space.names == dataset.columns, "no flags for what cannot be missing"
    low, high = dataset.bounds
    encoded = schema.encode(dataset.table)
    np.testing.assert_allclose(encoded, (dataset.X - low) / (high - low), atol=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_generated(name):
    check(getattr(datasets, name)(200, random_state=0))


@needs_files
@pytest.mark.parametrize("name", [*SMALL, *PLACES, *MIXED])
def test_files(name):
    check(load(name))


@pytest.mark.parametrize("name", PLACES)
def test_discs_of_places_hold_the_box(name):
    """A corner of the public box would be moved to the rim if it were outside."""
    info = INFOS[name]
    schema = Schema.from_dict(info.table_schema())
    corners = np.array(list(itertools.product(*info.limits)))
    place = schema.fields[0]
    assert isinstance(place, Place)
    km = (schema.encode(dict(zip(info.columns, corners.T, strict=True))) - 0.5) * place.kilometers
    assert (np.hypot(*km.T) < place.radius).all()


def test_every_entry_has_a_schema_without_its_file():
    for info in INFOS.values():
        names = info.columns or tuple(map(str, range(len(info.limits))))
        schema = Schema.from_dict(info.table_schema(names))
        assert schema.description == info.reason
        assert not schema.lacking()


@needs_files
@pytest.mark.parametrize("name", MIXED)
def test_lists_of_categories_hold_every_value(name):
    """A value that is on no list would count as other; here that were a slip of ours."""
    dataset = load(name)
    for field in dataset.schema.fields:
        if hasattr(field, "categories"):
            seen = {value for value in dataset.table[field.name] if value is not None}
            assert seen == set(field.categories), field.name


def test_flags_and_gaps_of_customers_are_read():
    data = make_customers(500, random_state=0)
    X, names = data.schema.encode(data.table), data.schema.space.names
    member = data.table["member"].tolist()
    for level, value in [("true", "yes"), ("false", "no"), ("missing", None)]:
        assert np.count_nonzero(X[:, names.index(f"member={level}")]) == member.count(value)
    assert not any(name.endswith(" missing") for name in names), "gaps of numbers are filled"


def test_roles_of_customers():
    schema = make_customers(10, random_state=0).schema
    assert schema.user.name == "customer"
    assert [field.name for field in schema.described][-1] == "comment"
    assert "comment" not in [field.name for field in schema.features]
