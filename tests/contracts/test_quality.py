"""Each row is as good as the table says, and the table has each row."""

import pytest

from contracts.quality import QUALITIES, as_good_as_recorded, recorded
from helpers import sizes
from subjects import having


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.full if one.heavy else ())
        for one in QUALITIES
    ],
)
def test_as_good_as_recorded(row):
    as_good_as_recorded(row, full=sizes.draws(1, quick=0) == 1)


def test_the_table_has_each_row_and_no_other():
    assert {(row.name, row.table) for row in QUALITIES} == set(recorded())
    assert len({row.name for row in QUALITIES}) == len(QUALITIES)


def test_each_clusterer_of_the_registry_has_a_row():
    clusterers = {one.name for one in having("class", "clusterer")}
    methods = {one.name for one in having("estimator", "clusterer", "any columns")}
    rows = {row.name for row in QUALITIES}
    assert clusterers <= rows
    # A delta and a public number of records change the noise of methods that have a row.
    assert methods - rows == {"DPKMeans-delta", "DPWaveCluster-threshold"}
