"""Bad input: one line that names the parameter, nothing spent, no record shown."""

import numpy as np
import pytest

from helpers.ledgers import roomy_ledger
from shoal.exceptions import DataError, MissingBoundsError, ParameterError, ShoalError
from shoal.tables import ArrowTable
from subjects import having, subject

CLASSES = [one.name for one in having("class")]

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


@pytest.fixture(params=CLASSES)
def row(request):
    return subject(request.param)


def refusal(row, estimator, X=None):
    """The error's text, after checking that it is one line and hides its causes."""
    with pytest.raises(ShoalError) as refused:
        row.output(estimator, X)
    text = str(refused.value)
    assert "\n" not in text
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    return refused.value, text


def test_a_path_alone(row):
    """Text is the path of a file, whose columns nobody named; KdLaplace takes memory only."""
    charged = row.make(ledger=roomy_ledger())
    error, text = refusal(row, charged, "nowhere/people.parquet")
    assert isinstance(error, DataError | ParameterError)
    assert "columns must be given for records in files" in text or "records in memory" in text
    assert len(charged.ledger) == 0


def test_a_path_to_nothing():
    with pytest.raises(DataError, match="no such file or folder"):
        ArrowTable("nowhere/people.parquet", columns=["x", "y"])


# Every value in each trust model; elsewhere one of each parameter, a different one for each class.
OTHERS = [name for name in CLASSES if name not in ("DPKMeans", "Laplace", "Piecewise")]
VALUES = {
    name: [value for key, value in BAD_PARAMETERS if key == name] for name, _ in BAD_PARAMETERS
}
BAD = [
    *((one, *bad) for one in ("DPKMeans", "Laplace", "Piecewise") for bad in BAD_PARAMETERS),
    *(
        (one, name, values[number % len(values)])
        for number, one in enumerate(OTHERS)
        for name, values in VALUES.items()
    ),
]


@pytest.mark.parametrize(("estimator", "name", "value"), BAD)
def test_bad_parameters(estimator, name, value):
    ledger = roomy_ledger()
    row = subject(estimator)
    error, text = refusal(row, row.make(**{"ledger": ledger, name: value}))
    assert isinstance(error, ParameterError)
    assert text.startswith(f"{name} must")
    assert "got" in text
    assert len(ledger) == 0


@pytest.mark.parametrize(("name", "value"), BAD_OF_KMEANS)
def test_bad_parameters_of_kmeans(name, value):
    ledger = roomy_ledger()
    row = subject("DPKMeans")
    _, text = refusal(row, row.make(ledger=ledger, **{name: value}))
    assert text.startswith(f"{name} must")
    assert len(ledger) == 0


@pytest.mark.parametrize("epsilon", [1e-300, 1e-14])
@pytest.mark.parametrize("name", ["DPKMeans", "Laplace"])
def test_epsilon_too_small_for_any_lattice(name, epsilon):
    ledger = roomy_ledger()
    row = subject(name)
    _, text = refusal(row, row.make(ledger=ledger, epsilon=epsilon, bounds=(1.0, 2.0)))
    assert text.startswith(("epsilon must", "bounds must"))
    assert len(ledger) == 0


def test_more_columns_than_doubles_can_multiply():
    ledger = roomy_ledger()
    row = subject("DPKMeans")
    _, text = refusal(row, row.make(ledger=ledger), np.zeros((1, 8193)))
    assert "at most 8192 columns" in text
    assert len(ledger) == 0


def test_missing_bounds(row):
    charged = row.make(ledger=roomy_ledger(), bounds=None)
    with pytest.raises(MissingBoundsError, match="pass public bounds"):
        row.output(charged)
    assert len(charged.ledger) == 0


def test_other_columns_than_in_fit(row):
    if "asked" not in row.tags:
        return  # nothing takes records after fit
    charged = row.make(ledger=roomy_ledger())
    row.output(charged)
    entries = len(charged.ledger)
    ask = charged.transform if hasattr(charged, "transform") else charged.predict
    with pytest.raises(DataError, match="X has 3 features"):
        ask(np.zeros((2, 3)))
    assert len(charged.ledger) == entries
