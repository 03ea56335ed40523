"""Values that are long, odd or beyond a calendar: coded or refused, in no time, in every way in."""

import datetime
import decimal
import functools
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.cases import case
from helpers.stub_collector import StubCollector, joined, make_campaign
from shoal import DPKMeans
from shoal.cluster import ClusterProfile, learn_schema
from shoal.exceptions import DataError, ParameterError, ShoalError
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise
from shoal.privacy import Guarantee, Ledger, Release
from shoal.schema import Category, Date, Flag, Number, Ordinal, Place, Schema, Text

FIELDS = [
    Number("x", minimum=0, maximum=9),
    Number("x", minimum=0, maximum=9, scale="log", missing="fill", fill=2),
    Date("x", minimum="2020-01-01", maximum="2021-01-01"),
    Date("x", minimum="2020-01-01", maximum="2021-01-01", format="%d.%m.%Y"),
    Category("x", ["A", "7", "inf"]),
    Category("x", ["A", "7"], missing="refuse"),
    Ordinal("x", ["A", "7", "B"]),
    Flag("x"),
    Place("x", center=(24.9, 60.2), radius=50),
]
EAST = datetime.timezone(datetime.timedelta(hours=14))
WEST = datetime.timezone(datetime.timedelta(hours=-14))
LONG = 10**6
HOSTILE = {
    "a large Decimal": decimal.Decimal("1E+1000000"),
    "the largest Decimal": decimal.Decimal("-9.9E+999999999999999999"),
    "a zero of Decimal": decimal.Decimal("0E+999999999999999"),
    "a small Decimal": decimal.Decimal("1E-1000000"),
    "a long Decimal": decimal.Decimal("1." + "1" * 10**6),
    "a signaling NaN": decimal.Decimal("sNaN"),
    "a NaN of Decimal": decimal.Decimal("-NaN123"),
    "an infinite Decimal": decimal.Decimal("Infinity"),
    "more digits than Python writes": 10**4300,
    "a long integer": -(1 << LONG),
    "a large Fraction": Fraction(1 << LONG, 3),
    "a long Fraction": Fraction((1 << LONG) + 1, 1 << LONG),
    "a whole Fraction": Fraction(1 << LONG),
    "a moment before year 1": datetime.datetime(1, 1, 1, tzinfo=EAST),
    "a moment after year 9999": datetime.datetime(9999, 12, 31, 23, tzinfo=WEST),
    "such a moment of pandas": pd.Timestamp.min.tz_localize("UTC"),
    "a far year": np.datetime64("300000-01-01"),
    "a span": np.timedelta64(5, "ns"),
    "a span of Python": datetime.timedelta.min,
    "a span of microseconds": np.timedelta64(5, "us"),
    "no span": np.timedelta64("NaT"),
    "an infinite long double": np.longdouble("1e4000"),
    "a complex number": complex(1, 2),
    "an infinite number": float("-inf"),
    "a large number": 1.7e308,
    "digits": "7" * LONG,
    "nearly digits": "7" * LONG + "x",
    "blanks": "7" + " " * LONG + "x",
    "commas": "," * LONG,
    "brackets": "[" * LONG,
    "a place of long digits": "[" + "7" * 5000 + ", 1]",
    "a lone surrogate": "\ud800",
    "a list of a long integer": [10**4300, 1],
    "an object of a long integer": {"lon": 10**4300, "lat": decimal.Decimal("sNaN")},
    "nested lists": [[]],
}


def one_of_a_pandas_frame(value):
    return pd.DataFrame({"x": pd.Series([value], dtype=object)})


WAYS = {
    "a record": lambda value: [[value]],
    "a dict of lists": lambda value: {"x": [value]},
    "rows": lambda value: [{"x": value}],
    "a frame": one_of_a_pandas_frame,
    "a column of pandas": lambda value: {"x": pd.Series([value], dtype=object)},
}


def outcome(function, *args):
    """Return the result, or our own error; nothing takes long, and no message shows the value."""
    begun = time.perf_counter()
    try:
        result = function(*args)
    except ShoalError as refused:
        result = refused
    assert time.perf_counter() - begun < 3.0
    if isinstance(result, ShoalError):
        assert "\n" not in str(result)
        assert len(str(result)) < 5000
        assert result.__cause__ is None
    return result


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: type(field).__name__)
def test_tables_and_records(field, way):
    """The other record keeps its code, whatever this one is."""
    schema = Schema([field])
    for name, value in HOSTILE.items():
        with case(value=name):
            encoded = outcome(schema.encode, WAYS[way](value))
            if isinstance(encoded, ShoalError):
                assert isinstance(encoded, DataError)
            else:
                assert np.isfinite(encoded).all()
                assert (np.abs(encoded) <= 1.0).all()


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: type(field).__name__)
def test_devices(field, tmp_path):
    for mechanism in (PartitionResponse, Piecewise, Laplace):
        channel = mechanism(1.0, schema=Schema([field]))
        device = joined(
            tmp_path / f"{mechanism.__name__}.db",
            StubCollector(make_campaign(mechanism=channel, reports_per_device=99)),
        )
        for name, value in HOSTILE.items():
            with case(value=name, mechanism=mechanism.__name__):
                drawn = outcome(device.draw, [value])
                assert not isinstance(drawn, ShoalError) or isinstance(drawn, DataError)


def test_records_without_a_schema():
    channel = Laplace(1.0, bounds=([0.0, 0.0], [1.0, 1.0]), random_state=0)
    for name, value in HOSTILE.items():
        with case(value=name):
            model = DPKMeans(n_clusters=1, epsilon=1.0, bounds=(0.0, 1.0))
            for made in (
                outcome(channel.clip_record, [value, 0.5]),
                outcome(model.fit, [[value, 0.5]] * 3),
            ):
                assert isinstance(made, DataError | DPKMeans) or np.isfinite(made).all()


@pytest.mark.parametrize("template", [Number("x"), Date("x"), Category("x")])
def test_what_is_learned(template):
    for name, value in HOSTILE.items():
        with case(value=name):
            ledger = Ledger(epsilon=1.0, delta=1e-6)
            learn = functools.partial(learn_schema, epsilon=1.0, delta=1e-6, ledger=ledger)
            learned = outcome(learn, {"x": [value, None]}, Schema([template]))
            if isinstance(learned, ShoalError):
                assert isinstance(learned, DataError)
                assert len(ledger) == 0


@pytest.mark.parametrize("described", [*FIELDS[2:], Text("x")])
def test_profiles(described):
    number = Number("y", minimum=0, maximum=1)
    release = Release(
        "DPKMeans",
        DPKMeans(n_clusters=1, epsilon=9.0, schema=Schema([number]), random_state=0)
        .fit({"y": [0.5] * 100})
        .release_.values,
        Guarantee("central", 9.0),
    )
    schema = Schema([number, described])
    for name, value in HOSTILE.items():
        with case(value=name):
            profile = ClusterProfile(release, schema=schema, epsilon=1.0, delta=1e-6)
            found = outcome(profile.fit, {"y": [0.5, 0.5], "x": [value, None]})
            assert isinstance(found, ClusterProfile | DataError)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_declared(name):
    value = HOSTILE[name]
    for declare in [
        lambda: Category("x", [value]),
        lambda: Ordinal("x", ["A", value]),
        lambda: Category("x", ["A"], missing="fill", fill=value),
        lambda: Category("x", ["A"], fill=value),
        lambda: Category("x", ["A"], other=value),
        lambda: Number("x", minimum=value, maximum=9),
        lambda: Number("x", minimum=0, maximum=value, weight=value),
        lambda: Date("x", minimum=value, maximum="2020-01-01"),
        lambda: Place("x", center=(value, 1), radius=1),
        lambda: Place("x", center=value, radius=1),
        lambda: Number("x", missing_values=[value]),
        lambda: Number("x", role=value),
        lambda: Number(value),
        lambda: DPKMeans(n_clusters=value, bounds=(0.0, 1.0)).fit([[0.5]] * 9),
        lambda: DPKMeans(epsilon=value, bounds=(0.0, 1.0)).fit([[0.5]] * 9),
    ]:
        with case(parameter=declare.__code__.co_names):
            result = outcome(declare)
            assert not isinstance(result, ShoalError) or isinstance(result, ParameterError)


WIDE = 2**53 + 1  # which no double is
FLOATS = {
    "a gap": np.array([WIDE, np.nan]),
    "a gap in pandas": pd.Series([WIDE, None]),
    "a categorical": pd.Series([WIDE, None], dtype="float64").astype("category"),
    "a list": [float(WIDE)],
    "objects": pd.Series([float(WIDE), "A"], dtype=object),
    "polars": pl.Series([float(WIDE)]),
    "Arrow": pa.array([float(WIDE)]),
    "long doubles": np.array([WIDE], dtype=np.longdouble),
    "singles": np.array([2**24 + 1], dtype=np.float32),
    "halves": np.array([2**11 + 1], dtype=np.float16),
    "a single": [np.float32(2**24 + 1)],
    "complex numbers": np.array([1, 2j]),
    "a complex number": [2j],
    "infinity": [float("inf")],
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("kind", [Category, Ordinal])
def test_floats_that_do_not_tell_categories_apart_are_refused(kind, name):
    """A gap makes doubles of a whole column, and of each number in it the double nearest to it."""
    schema = Schema([kind("x", ["A", str(WIDE), str(WIDE - 1), "16777216", "2048"])])
    with pytest.raises(DataError) as refused:
        schema.encode({"x": FLOATS[name]})
    assert refused.value.code == "type"


WHOLE = {
    "array": np.array([WIDE, WIDE - 1]),
    "list": [WIDE, WIDE - 1],
    "text": [str(WIDE), str(WIDE - 1)],
    "unsigned": np.array([WIDE, WIDE - 1], dtype=np.uint64),
    "nullable": pd.Series([WIDE, WIDE - 1, None], dtype="Int64"),
    "Arrow in pandas": pd.Series([WIDE, WIDE - 1, None], dtype="int64[pyarrow]"),
    "categorical": pd.Series(pd.Categorical.from_codes([1, 0, -1], [WIDE - 1, WIDE])),
    "objects": pd.Series([WIDE, WIDE - 1, None], dtype=object),
    "Decimals": [decimal.Decimal(WIDE), decimal.Decimal(WIDE - 1)],
    "Fractions": [Fraction(WIDE), Fraction(WIDE - 1)],
    "polars": pl.Series([WIDE, WIDE - 1, None]),
    "Arrow": pa.array([WIDE, WIDE - 1, None]),
    "dictionary": pa.array([WIDE, WIDE - 1, None]).dictionary_encode(),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_are_told_apart_in_every_column(name):
    """Neither is the other, nor the double that is nearest to both."""
    for categories in ([str(WIDE), "A"], [str(WIDE - 1), "A"], [WIDE, WIDE - 1]):
        field = Category("x", categories, missing="fill", fill="other")
        codes = Schema([field]).read({"x": WHOLE[name]})["x"].tolist()[:2]
        levels = [field.levels[code] for code in codes]
        wanted = [one if one in field.levels else "other" for one in (str(WIDE), str(WIDE - 1))]
        assert levels == wanted


def test_what_a_release_says_of_a_value_is_no_more_than_its_field():
    with pytest.raises(ParameterError) as refused:
        DPKMeans(n_clusters=1 << LONG, bounds=(0.0, 1.0)).fit([[0.5]])
    assert "1,000,001 bits" in str(refused.value)
