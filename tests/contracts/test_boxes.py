"""Public boxes that no lattice holds are refused by all estimators alike, and nothing is spent."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from contracts.promises import roomy_limits
from helpers.ledgers import roomy_ledger
from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.exceptions import ParameterError
from shoal.tables import ArrowTable
from subjects import having, subject

NARROW = 2.0**-1005
# Half a step below the border of two cells of the first column: a product by the inverse of the
# step and a quotient by the step round it to different sides.
WIDTH, BORDER = 0.908, 0.22699956703186033


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("DPKMeans", 5),
        ("DPKMeans", 2047),
        *[(one.name, 2048) for one in having("class")],
        ("PlanarLaplace", 5),
        ("SphericalLaplace", 5),
    ],
)
def test_narrow_boxes_are_refused_before_anything_is_spent(name, n):
    row = subject(name)
    columns, ledger = row.table.shape[1], roomy_ledger(**roomy_limits(row))
    box = ([0.0] * columns, [1.0] * (columns - 1) + [NARROW])
    with pytest.raises(ParameterError, match=r"^bounds must be at least 2\^-960") as refused:
        row.make(bounds=box, ledger=ledger).fit(np.zeros((n, columns)))
    assert "\n" not in str(refused.value)
    assert len(ledger) == 0


@pytest.mark.parametrize(
    "estimator", [DPDensity(), DPKMeans(2), DPWaveCluster(grid=8), PrivateCopy()]
)
def test_narrow_boxes_of_files_are_refused_too(estimator, tmp_path):
    pq.write_table(pa.table({"a": np.zeros(50), "b": np.zeros(50)}), tmp_path / "x.parquet")
    table, ledger = ArrowTable(tmp_path, columns=["a", "b"]), roomy_ledger()
    clone(estimator).set_params(bounds=([0.0, 0.0], [1.0, 2.0**-959])).fit(table)
    with pytest.raises(ParameterError, match=r"^bounds must be at least 2\^-960"):
        clone(estimator).set_params(bounds=([0.0, 0.0], [1.0, NARROW]), ledger=ledger).fit(table)
    assert len(ledger) == 0


@pytest.mark.parametrize("technique", ["oneshot", "thr"])
def test_one_record_more_moves_no_other(technique):
    """2,047 records on a border, and one more: it cost 4,095 and 3,685 at a claim of 1."""
    pairs = [Neighbors("on a border", np.tile([BORDER, 0.0], (2047, 1)), [BORDER, 0.0])]
    for narrow in (2.0**-1030, NARROW, 2.0**-961, 2.0**-959, 1.0):
        model = DPWaveCluster(
            epsilon=1.0, bounds=([0.0, 0.0], [WIDTH, narrow]), grid=8, technique=technique
        )
        try:
            audit = replay_estimator(model, pairs)
        except ParameterError:
            assert narrow < 2.0**-960
        else:
            assert not audit.broken, str(audit)
            assert 0.89 < audit.loss < 1.0 + 1e-9
