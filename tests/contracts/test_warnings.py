"""Underflow, of which numpy is silent until asked, and what is read before any noise is drawn.

That a release warns of no record is a contract (promises.py). What was released may underflow, by
its noise; so central methods are held to this before the noise only.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contracts.promises import LARGE, LEAST, RECORDS_AT_THE_END, warnings_differ
from shoal._records import validate_records
from shoal.cluster import DPKMeans
from shoal.exceptions import DataError
from shoal.noise.lattice import Lattice
from shoal.schema import Number, Schema, SchemaEncoder
from subjects import RECORDS, having

ENDS = sorted({value for record in RECORDS_AT_THE_END for value in record})
FINITE = [value for value in ENDS if np.isfinite(value)] + [-LEAST, 2.3e-308]
CLUSTERED = {"KdLaplace", "KdLaplace-grid"}  # their remap is fitted on what was released


@pytest.fixture
def strict():
    """Make an error of everything that numpy can see."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    "subject",
    [one for one in (*having("transformer"), *having("device")) if one.name not in CLUSTERED],
    ids=str,
)
def test_a_report_warns_of_no_record_that_underflows(subject):
    warnings_differ(subject, under="warn")


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble, object])
@pytest.mark.usefixtures("strict")
def test_records_are_checked_without_a_sum_that_shows(dtype):
    table = np.array([[one, other] for one in FINITE for other in FINITE], dtype=dtype)
    assert np.array_equal(validate_records(table), table.astype(np.float64))
    for unknown in (np.inf, -np.inf, np.nan):
        with pytest.raises(DataError):
            validate_records(np.vstack([table, [[unknown, -LARGE]]]))


@pytest.mark.parametrize("reach", [1e-300, 1.0, LARGE / 2])
@pytest.mark.usefixtures("strict")
def test_a_lattice_has_a_point_for_every_record(reach):
    low, high = np.full(2, -reach), np.full(2, reach)
    records = np.array([[one, other] for one in FINITE for other in FINITE])
    for lattice in (Lattice.box(low, high), Lattice.box(low, high, half=np.array([7, 2**19]))):
        indices = lattice.encode(records)
        assert ((indices >= lattice.low) & (indices <= lattice.high)).all()


@pytest.mark.parametrize(
    ("scale", "bounds"),
    [
        ("linear", (0.0, 1.0)),
        ("linear", (1e-300, 1e-299)),
        ("linear", (-8e307, 8e307)),
        ("linear", (-5.0, 5.0)),
        ("log", (0.0, 1.0)),
        ("log", (1e-300, 1e-299)),
        ("log", (0.0, 8e307)),
    ],
)
@pytest.mark.usefixtures("strict")
def test_a_schema_encodes_every_number(scale, bounds):
    field = Number("x", minimum=bounds[0], maximum=bounds[1], scale=scale, missing="category")
    encoder = SchemaEncoder(Schema([field]))
    found = encoder.fit_transform(pd.DataFrame({"x": [*ENDS, *FINITE]}))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("limit", [LARGE, 2.0, 1e-300])
@pytest.mark.parametrize("weight", [np.float64(LARGE), np.longdouble(LARGE) ** 2, 1.0, LEAST])
def test_a_weight_warns_of_nothing(limit, weight):
    weights = np.array([weight, *np.ones(len(RECORDS) - 1)])
    model = DPKMeans(2, epsilon=1e6, bounds=(-1.0, 1.0), weight_limit=limit, random_state=0)
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        model.fit(RECORDS, sample_weight=weights)
    where = {Path(one.filename).name for one in caught}
    assert "_contributions.py" not in where
    assert not [str(one.message) for one in caught if "underflow" not in str(one.message)]
