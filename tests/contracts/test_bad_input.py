"""Bad input: one line that names the parameter, nothing spent, no record shown."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from contracts.checks import RECORDS, output, roomy_ledger, spent
from contracts.registry import INSTANCES
from shoal.cluster.private_copy import PrivateCopy
from shoal.exceptions import DataError, MissingBoundsError, ParameterError, ShoalError
from shoal.tables import ArrowTable

SECRET = 123456.789

BAD_RECORDS = {
    "nan": [[1.0, np.nan], [SECRET, 1.0]],
    "inf": [[1.0, np.inf], [SECRET, 1.0]],
    "one dimension": [SECRET, 1.0],
    "three dimensions": np.full((2, 2, 2), SECRET),
    "a number": SECRET,
    "nothing": None,
    "empty": np.empty((0, 2)),
    "no columns": np.empty((2, 0)),
    "ragged": [[SECRET], [1.0, 2.0]],
    "strings": [["123456.789", "alice"]],
    "numeric strings": [["123456.789", "2"]],
    "text column": pd.DataFrame({"a": [SECRET], "b": ["alice"]}),
    "text column, polars": pl.DataFrame({"a": [SECRET], "b": ["alice"]}),
    "dates": pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}),
    "duplicate columns": pd.DataFrame([[SECRET, 1.0]], columns=["a", "a"]),
    "duplicate columns, arrow": pa.table([[SECRET], [1.0]], names=["a", "a"]),
    "complex": [[SECRET + 1j, 0.0]],
    "dictionaries": [[{"alice": SECRET}, 0.0]],
    "beyond float64": [[10**400, 1.0]],
    # Half of 2,000 records masked: sizes of 1,250 and 748 were published.
    "masked": np.ma.masked_array([[SECRET, 1.0], [0.5, 0.5]], mask=[[1, 1], [0, 0]]),
}

BAD_PARAMETERS = [
    *[("epsilon", value) for value in (0, -1.0, np.nan, np.inf, "1", None, True, [1.0])],
    *[("bounds", value) for value in ((1.0, -1.0), (0.0, 0.0), (0.0, np.inf), (np.nan, 1.0))],
    *[("bounds", value) for value in (1.0, "box", (0.0,), (0.0, 1.0, 2.0), ("a", "b"))],
    *[("bounds", value) for value in (([0.0, 0.0, 0.0], 1.0), ([0.0, 2.0], [1.0, 1.0]))],
    *[("random_state", value) for value in ("zero", 1.5, True)],
    *[("ledger", value) for value in (1.0, "ledger.jsonl")],
]
BAD_OF_KMEANS = [
    *[("n_clusters", value) for value in (0, -1, 2.5, "8", True)],
    *[("delta", value) for value in (-0.1, 1.0, np.nan, "0")],
    *[("n_public", value) for value in (0, 1.5)],
    *[("max_iter", value) for value in (0, 2.5)],
    ("method", "best"),
]


@pytest.fixture(params=INSTANCES)
def charged(request):
    estimator = clone(INSTANCES[request.param])
    return estimator.set_params(ledger=roomy_ledger(delta=getattr(estimator, "delta", 0.0)))


def refusal(estimator, X):
    """The error's text, after checking that it is one line and hides its causes."""
    with pytest.raises(ShoalError) as refused:
        output(estimator, X)
    text = str(refused.value)
    assert "\n" not in text
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    return refused.value, text


@pytest.mark.parametrize("kind", BAD_RECORDS)
def test_bad_records(charged, kind):
    error, text = refusal(charged, BAD_RECORDS[kind])
    assert isinstance(error, DataError)
    assert text.startswith("X must")
    assert "123456" not in text
    assert "alice" not in text
    assert spent(charged.ledger) == 0
    assert len(charged.ledger) == 0


def test_a_path_alone(charged):
    """Text is the path of a file, whose columns nobody named; KdLaplace takes memory only."""
    error, text = refusal(charged, "nowhere/people.parquet")
    assert isinstance(error, DataError | ParameterError)
    assert "columns must be given for records in files" in text or "records in memory" in text
    assert len(charged.ledger) == 0


def test_a_path_to_nothing():
    with pytest.raises(DataError, match="no such file or folder"):
        ArrowTable("nowhere/people.parquet", columns=["x", "y"])


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_bad_parameters(charged, name, value):
    ledger = charged.ledger
    error, text = refusal(charged.set_params(**{name: value}), RECORDS)
    assert isinstance(error, ParameterError)
    assert text.startswith(f"{name} must")
    assert "got" in text
    assert len(ledger) == 0


@pytest.mark.parametrize(("name", "value"), BAD_OF_KMEANS)
def test_bad_parameters_of_kmeans(name, value):
    ledger = roomy_ledger()
    estimator = clone(INSTANCES["DPKMeans"]).set_params(ledger=ledger, **{name: value})
    _, text = refusal(estimator, RECORDS)
    assert text.startswith(f"{name} must")
    assert len(ledger) == 0


@pytest.mark.parametrize("epsilon", [1e-300, 1e-14])
@pytest.mark.parametrize("name", ["DPKMeans", "Laplace"])
def test_epsilon_too_small_for_any_lattice(name, epsilon):
    ledger = roomy_ledger()
    estimator = clone(INSTANCES[name]).set_params(ledger=ledger)
    _, text = refusal(estimator.set_params(epsilon=epsilon, bounds=(1.0, 2.0)), RECORDS)
    assert text.startswith(("epsilon must", "bounds must"))
    assert len(ledger) == 0


def test_more_columns_than_doubles_can_multiply():
    ledger = roomy_ledger()
    estimator = clone(INSTANCES["DPKMeans"]).set_params(ledger=ledger)
    _, text = refusal(estimator, np.zeros((1, 8193)))
    assert "at most 8192 columns" in text
    assert len(ledger) == 0


def test_missing_bounds(charged):
    with pytest.raises(MissingBoundsError, match="pass public bounds"):
        output(charged.set_params(bounds=None))
    assert len(charged.ledger) == 0


def test_other_columns_than_in_fit(charged):
    output(charged)
    if isinstance(charged, PrivateCopy):
        return  # nothing takes records after fit
    entries = len(charged.ledger)
    ask = charged.transform if hasattr(charged, "transform") else charged.predict
    with pytest.raises(DataError, match="X has 3 features"):
        ask(np.zeros((2, 3)))
    assert len(charged.ledger) == entries
