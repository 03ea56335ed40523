"""Local mechanisms refuse a Spark DataFrame, whose tasks may run twice."""

import pytest
from sklearn.base import clone

from helpers.scaled_mechanisms import MECHANISMS
from helpers.spark import SPARK, frame_of, records
from shoal.exceptions import DataTypeError
from shoal.mechanisms import Laplace
from shoal.privacy import Ledger
from shoal.tables import SparkTable

pytestmark = SPARK

BOX = (-4.0, 4.0)


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_mechanism_takes_a_frame(name):
    mechanism = clone(MECHANISMS[name]).set_params(bounds=BOX)
    frame = frame_of(20, 2)
    if name == "PlanarLaplace":
        frame = frame.select("x0", "x1")
    for X in (frame, SparkTable(frame)):
        for call in (mechanism.fit, mechanism.transform):
            with pytest.raises(DataTypeError, match="write it to files") as refused:
                call(X)
            assert "\n" not in str(refused.value)


def test_what_is_refused_costs_nothing():
    paying = Ledger(epsilon=9.0, metric_epsilon=9.0, metric_unit="m")
    frame = frame_of(20, 2)
    mechanism = Laplace(unit="m", bounds=BOX, ledger=paying).fit(records(20))
    with pytest.raises(DataTypeError, match="write it to files"):
        mechanism.transform(frame)
    assert not paying.entries
