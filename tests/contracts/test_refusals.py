"""What is refused, is refused with a code and a parameter; nothing is spent and nothing shown."""

import functools
import inspect
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import config_context
from sklearn.base import clone

import refusals
from contracts.promises import OTHER_SETTINGS
from helpers.ledgers import roomy_ledger
from refusals import (
    ASKED_TABLES,
    BUILDS,
    CONTRIBUTIONS,
    MARK,
    ON_DEVICES,
    ONE_OF_EACH,
    PARAMETERS,
    RECORDS,
    SOME_TABLES,
    TABLES,
)
from shoal.exceptions import CODES, DataError, MissingBoundsError, ShoalError
from shoal.tables import ArrowTable
from subjects import BY_NAME, having

pytestmark = pytest.mark.filterwarnings("ignore:X has feature names")

FITS = ("fit", "fit_predict", "fit_transform")
ASKS = ("predict", "transform", "score")
PAIRS = [(one, row) for row in PARAMETERS for one in ONE_OF_EACH if row.fits(one)]


@pytest.fixture(autouse=True, params=[{}, OTHER_SETTINGS], ids=["default", "checks off"])
def _settings(request):
    """What is refused does not depend on settings of scikit-learn."""
    with config_context(**request.param):
        yield


def refused(call, *, parameter, code, ledger=None, spent=0):
    """Return the error of a call, and hold it to all that a refusal promises.

    The whole chain of errors is looked at: a traceback prints it.
    """
    with pytest.raises(ShoalError) as caught:
        call()
    error = caught.value
    assert (error.parameter, error.code) == (parameter, code), str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    text = str(error)
    assert text
    assert "\n" not in text
    assert not re.search(refusals.SHOWN, text), text
    if ledger is not None:
        assert len(ledger) == spent
        assert spent or ledger.spent == ()
    return error


@pytest.mark.parametrize(("subject", "row"), PAIRS, ids=str)
def test_parameters(subject, row):
    ledger = None if "reports" in subject.tags else roomy_ledger(delta=0.5)
    changes = {**row.others, row.parameter: row.value}
    table = changes.pop("X", row.table)
    if ledger is not None and row.parameter != "ledger":
        changes["ledger"] = ledger
    error = refused(
        lambda: subject.output(subject.make(**changes), table),
        parameter=row.named,
        code=row.code,
        ledger=ledger,
    )
    no_bounds = row.value is None and (row.named, row.code) == ("bounds", "missing")
    assert isinstance(error, MissingBoundsError) == no_bounds


def test_every_public_parameter_is_refused_for_some_value():
    left = {}
    for subject in ONE_OF_EACH:
        kind = type(subject.make())
        names = {row.parameter for one, row in PAIRS if one is subject}
        missing = set(inspect.signature(kind).parameters) - names
        if missing:
            left[kind.__name__] = sorted(missing)
    assert left == {}


@functools.cache
def fitted(name):
    """Fit an estimator once, with a ledger that shows whether anything is spent later."""
    subject = BY_NAME[name]
    model = subject.make(ledger=roomy_ledger(delta=0.5))
    subject.run(model, RECORDS)
    return model


def refuses_table(name, table, code, methods):
    """Expect every method to refuse a table, and to spend nothing."""
    model = fitted(name)
    spent = len(model.ledger)
    for method in methods:
        if not hasattr(model, method):
            continue
        asked = clone(model) if method.startswith("fit") else model
        error = refused(
            functools.partial(getattr(asked, method), table),
            parameter="X",
            code=code,
            ledger=model.ledger,
            spent=spent,
        )
        assert isinstance(error, DataError)


# All kinds in each trust model; tables are read in one place.
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", ["DPKMeans", "Laplace"])
def test_tables(name, kind):
    refuses_table(name, *TABLES[kind], FITS + ASKS)


@pytest.mark.parametrize("subject", having("any columns"), ids=str)
def test_every_estimator_reads_tables_so(subject):
    for kind in SOME_TABLES:
        refuses_table(subject.name, *TABLES[kind], FITS + ASKS)


@pytest.mark.parametrize("subject", having("any columns", "class"), ids=str)
def test_other_columns_than_in_fit(subject):
    for table, code in ASKED_TABLES.values():
        refuses_table(subject.name, table, code, ASKS)


@pytest.mark.parametrize("row", CONTRIBUTIONS, ids=str)
def test_contributions(row):
    ledger = roomy_ledger()
    model = BY_NAME["DPKMeans"].make(ledger=ledger)
    error = refused(
        lambda: model.fit(RECORDS, **{row.parameter: row.value}),
        parameter=row.named,
        code=row.code,
        ledger=ledger,
    )
    assert isinstance(error, DataError)


FILES = {
    "nan": (pa.table({"a": TABLES["nan"][0][:, 0]}), "finite"),
    "gaps": (pa.table({"a": pa.array([None, *[MARK] * 100], pa.float64())}), "finite"),
    "text": (pa.table({"a": refusals.NAMES}), "type"),
    "dictionary": (pa.table({"a": pa.array(refusals.NAMES).dictionary_encode()}), "type"),
    "no records": (pa.table({"a": RECORDS[:0, 0]}), "empty"),
}


@pytest.mark.parametrize("subject", having("class", "central"), ids=str)
@pytest.mark.parametrize("kind", FILES)
def test_files(subject, kind, tmp_path):
    """Records that are read later are refused as records in memory are."""
    table, code = FILES[kind]
    path = tmp_path / "records.parquet"
    pq.write_table(table, path)
    for kwargs in ({}, {"memory": 0}):
        ledger = roomy_ledger(delta=0.5)
        model = subject.make(ledger=ledger)
        refused(
            lambda model=model, kwargs=kwargs: model.fit(ArrowTable(path, columns=["a"], **kwargs)),
            parameter="X",
            code=code,
            ledger=ledger,
        )


@pytest.mark.parametrize("subject", having("class"), ids=str)
def test_a_path_alone(subject):
    """Text is the path of a file, whose columns nobody named."""
    ledger = roomy_ledger(delta=0.5)
    refused(
        lambda: subject.run(subject.make(ledger=ledger), "nowhere/people.parquet"),
        parameter="columns",
        code="missing",
        ledger=ledger,
    )


def test_a_path_to_nothing():
    refused(
        lambda: ArrowTable("nowhere/people.parquet", columns=["x", "y"]),
        parameter="X",
        code="file",
    )


@pytest.mark.parametrize("subject", having("device"), ids=str)
def test_on_devices(subject):
    device = subject.make()
    before = device.status()
    for row in ON_DEVICES:
        refused(functools.partial(device.draw, row.value), parameter=row.named, code=row.code)
        assert device.status() == before


@pytest.mark.parametrize("row", BUILDS, ids=str)
def test_values_that_promise(row):
    refused(lambda: row.make(**row.kwargs), parameter=row.parameter, code=row.code)


def test_what_the_rows_cover():
    """Rows hold a code that is on the list, and most codes of parameters and tables have a row."""
    rows = {row.code for row in (*PARAMETERS, *CONTRIBUTIONS, *BUILDS)}
    rows |= {code for _, code in (*TABLES.values(), *ASKED_TABLES.values())}
    assert rows <= set(CODES)
    assert len(PAIRS) > 400
