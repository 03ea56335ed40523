"""The record as a mechanism perturbs it: what makes two records the same value."""

import numpy as np
import pandas as pd
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise
from shoal.schema import Category, Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
BOX = ([0.0, 0.0], [1.0, 1.0])
KINDS = [Laplace, PartitionResponse, Piecewise]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_within_the_bounds_and_zero_has_no_sign(kind):
    mechanism = kind(1.0, bounds=BOX)
    assert mechanism.clip_record([0.25, 0.5]).tolist() == [0.25, 0.5]
    assert mechanism.clip_record((-3, 7)).tolist() == [0.0, 1.0]
    assert not np.signbit(mechanism.clip_record([-0.0, 0.5])).any()


@pytest.mark.parametrize("kind", KINDS)
def test_mixed_records_are_encoded(kind):
    mechanism = kind(1.0, schema=SCHEMA)
    encoded = SCHEMA.encode({"age": [41.0], "city": ["B"]})[0]
    for same in ({"age": 41.0, "city": "B"}, {"city": "B", "age": 41}, [41, "B"]):
        assert np.array_equal(mechanism.clip_record(same), encoded)


def test_what_is_no_record_is_refused():
    mechanism = Laplace(1.0, bounds=BOX)
    with pytest.raises(DataError, match="x must have the 2 columns of the bounds, got 3"):
        mechanism.clip_record([0.1, 0.2, 0.3])
    with pytest.raises(DataError):
        mechanism.clip_record([np.nan, 0.2])
    with pytest.raises(ParameterError, match="x must be one record, got a table"):
        mechanism.clip_record([[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
def test_columns_with_names_are_found_by_them(kind):
    named = pd.DataFrame({"east": [0.1, 0.2], "north": [0.3, 0.4]})
    mechanism = kind(1.0, bounds=BOX, random_state=0).fit(named)
    for same in ({"north": 0.75, "east": 0.25}, [0.25, 0.75]):
        assert mechanism.clip_record(same).tolist() == [0.25, 0.75]
        assert mechanism.randomize(same).shape == (2,)
    first, again = (
        kind(1.0, bounds=BOX, random_state=3).fit(named).randomize(record)
        for record in ({"north": 0.75, "east": 0.25}, [0.25, 0.75])
    )
    assert first.tolist() == again.tolist()
    for bad in ({"north": 0.123}, {"north": 0.123, "west": 0.5}, [0.123, [0.5, 0.5]]):
        for call in (mechanism.clip_record, mechanism.randomize):
            with pytest.raises(DataError, match="x must have") as caught:
                call(bad)
            assert "0.123" not in str(caught.value)


def test_columns_without_names_take_no_dict():
    with pytest.raises(DataError, match="x must be a list of numbers, got a dict"):
        Laplace(1.0, bounds=BOX).randomize({"east": 0.5, "north": 0.5})
