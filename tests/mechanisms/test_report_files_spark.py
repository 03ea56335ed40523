"""Local mechanisms on a Spark DataFrame: reports in a DataFrame, paid for once."""

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, ks_2samp

from helpers.spark import SPARK, spark_session
from shoal.exceptions import BudgetExceededError, DataError, ParameterError
from shoal.mechanisms import Laplace, PartitionResponse
from shoal.privacy import Ledger

pytestmark = SPARK

BOX = (-1.0, 1.0)
RECORD = [0.3, -0.7]


@pytest.fixture
def frame():
    """The same record in every row, so that only noise differs."""
    columns = "double(0.3) as east", "double(-0.7) as north"
    return spark_session().range(0, 1500, 1, 3).selectExpr(*columns)


def ledger():
    return Ledger(
        epsilon=9.0, metric_epsilon=9.0, metric_unit="m"
    )  # in memory: it refuses to travel


def values(frame):
    return np.array([tuple(row) for row in frame.collect()])


@pytest.mark.full
def test_reports_have_the_distribution_of_arrays_and_a_stream_for_each_partition(frame):
    """Kolmogorov and Smirnov at 10^-10 a column: a false alarm in 5 * 10^9 runs."""
    paying = ledger()
    mechanism = Laplace(2.0, unit="m", bounds=BOX, ledger=paying).fit(frame)
    assert mechanism.feature_names_in_.tolist() == ["east", "north"]
    reports = mechanism.transform(frame)
    assert len(paying) == 1
    assert reports.columns == ["east", "north"]
    result = values(reports)
    assert (result == values(reports)).all(), "a second action draws nothing"
    assert len(paying) == 1
    expected = Laplace(2.0, bounds=BOX).fit_transform(np.tile(RECORD, (20_000, 1)))
    for column in range(2):
        assert ks_2samp(result[:, column], expected[:, column]).pvalue > 1e-10
    parts = result.reshape(3, 500, 2)
    assert (
        max((parts[i] == parts[j]).all(axis=1).mean() for i, j in ((0, 1), (0, 2), (1, 2))) < 0.01
    )


@pytest.mark.full
def test_reports_of_cells_have_columns_of_their_own(frame):
    """Chi-square and a binomial test at 10^-5: the seed is fixed."""
    records = frame.selectExpr("east", "north", "double(0.1) as up")
    mechanism = PartitionResponse(1.0, bounds=BOX, random_state=2).fit(records)
    reported = mechanism.transform(records)
    assert reported.columns == ["partition", "color"]
    reports, partitions = values(reported), mechanism.partitions_
    assert reports.shape == (1500, 2)
    table = partitions.color_table(np.array([[*RECORD, 0.1]]))
    kept = int((table[reports[:, 0].astype(int), 0] == reports[:, 1]).sum())
    keep = float(mechanism.keep_probability)
    assert binomtest(kept, 1500, keep + (1 - keep) / partitions.n_colors).pvalue > 1e-5
    counts = np.bincount(reports[:, 0].astype(int), minlength=partitions.n_partitions)
    assert chisquare(counts).pvalue > 1e-5


@pytest.mark.full
def test_seeded_runs_repeat(frame):
    one, two = (values(Laplace(bounds=BOX, random_state=3).fit_transform(frame)) for _ in range(2))
    assert (one == two).all()
    parts = one.reshape(3, 500, 2)
    assert (parts[0] != parts[1]).any(axis=1).mean() > 0.99


def test_what_is_refused_costs_nothing(frame):
    paying = ledger()
    mechanism = Laplace(unit="m", bounds=BOX, ledger=paying).fit(frame)
    with pytest.raises(ParameterError, match="out must be None where reports are returned"):
        mechanism.transform(frame, out="reports")
    with pytest.raises(DataError, match="X must hold finite numbers"):
        mechanism.transform(frame.selectExpr("double('nan') as east", "north"))
    with pytest.raises(ParameterError, match=r"call set_output\(transform='default'\)"):
        Laplace(bounds=BOX).set_output(transform="pandas").fit(frame).transform(frame)
    assert not paying.entries
    poor = Laplace(
        unit="m", bounds=BOX, ledger=Ledger(epsilon=0.5, metric_epsilon=0.5, metric_unit="m")
    )
    with pytest.raises(BudgetExceededError):
        poor.transform(frame)


def test_a_seed_of_fit_does_not_draw_once_it_is_taken_back(frame):
    result = []
    for _ in range(2):
        mechanism = Laplace(bounds=BOX, random_state=0).fit(frame).set_params(random_state=None)
        result.append(values(mechanism.transform(frame)))
    assert mechanism.guarantee_.holds
    assert (result[0] != result[1]).any()
    mechanism.set_params(random_state=0).transform(frame)
    assert not mechanism.set_params(random_state=None).guarantee_.holds
