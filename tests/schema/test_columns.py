"""Values of every type in their plain form: numbers, codes, days and text, or one line why not."""

import datetime
import decimal
import fractions
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.schema import Category, Date, Flag, Number, Ordinal, Schema, Text

NUMBER = Number("x", minimum=-100, maximum=100)
CODE = Category("x", ["1", "2.5", "A"])
DAY = Date("x", minimum="1960-01-01", maximum="2030-01-01")
INSTANT = 1_500_000_000 * 10**9 + 1  # nanoseconds
HELSINKI = "Europe/Helsinki"


def read(field, values):
    schema = Schema([field, Number("y", minimum=0, maximum=1)])
    found = schema.read({"x": values}, ["x"])["x"]
    return found if isinstance(found, list) else found.tolist()


@pytest.mark.parametrize(
    "values",
    [
        [1, 10**400, -(10**400), None],
        [True, decimal.Decimal("1e999"), "-1e999", decimal.Decimal("sNaN")],
        ["1", "1e999", "-inf", "NaN"],
        [fractions.Fraction(1), np.float32("inf"), -1000, pd.NA],
        pa.array([decimal.Decimal(1), decimal.Decimal(10**20), decimal.Decimal(-(10**20)), None]),
    ],
)
def test_numbers_of_any_size(values):
    assert str(read(NUMBER, values)) == "[1.0, 100.0, -100.0, nan]"


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5, "A", None],
        [1.0, decimal.Decimal("2.50"), " A", float("nan")],
        ["1.0", " 2.50", "A ", None],
        ["01", "25e-1", "A", ""],
        pd.Series(pd.Categorical([1, 2.5, "A", None])),
        pd.Series(["1", "2.5", "A", np.nan], dtype=object),
        pl.Series(["1", "2.5", "A", None], dtype=pl.Categorical),
        pa.array(["1", "2.5", "A", None]).dictionary_encode(),
        pa.array(["1", "2.5", "A", None], pa.large_string()),
        np.array(["1", "2.5", "A", ""]),
    ],
)
def test_categories_are_compared_by_what_they_mean(values):
    assert read(CODE, values) == [0, 1, 2, 4]


def test_numbers_that_pandas_keeps_as_categories():
    for kind in (int, float):
        values = pd.Series(pd.Categorical([kind(1), kind(2), None]))
        assert read(CODE, values) == [0, 3, 4]
        assert str(read(NUMBER, values)) == "[1.0, 2.0, nan]"


@pytest.mark.parametrize(
    "values",
    [
        np.array([INSTANT, -1, "NaT"], "datetime64[ns]"),
        pd.Series(pd.to_datetime([INSTANT, -1, None])),
        pd.Series(pd.to_datetime([INSTANT, -1, None], utc=True)).dt.tz_convert(HELSINKI),
        pa.array([INSTANT, -1, None], pa.timestamp("ns")),
        pa.array([INSTANT, -1, None], pa.timestamp("ns", tz=HELSINKI)),
        pl.Series([INSTANT, -1, None]).cast(pl.Datetime("ns")),
        pl.Series([INSTANT // 1000, -1, None]).cast(pl.Datetime("us", HELSINKI)),
        [pd.Timestamp(INSTANT), pd.Timestamp(-1), pd.NaT],
        [pd.Timestamp(INSTANT, tz=HELSINKI), np.datetime64(-1, "us"), None],
        ["2017-07-14T02:40:00Z", " 1970-01-01T01:59:59.999999+02:00", "NaT"],
    ],
)
def test_times_are_cut_to_microseconds(values):
    assert str(read(DAY, values)) == str(
        [1_500_000_000 / 86_400, -1 / 86_400_000_000, float("nan")]
    )


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([datetime.date(2020, 1, 1), None], dtype="date32[pyarrow]"),
        pa.array([datetime.date(2020, 1, 1), None]),
        pa.array([datetime.date(2020, 1, 1), None], pa.date64()),
        pl.Series([datetime.date(2020, 1, 1), None]),
        ["2020-01-01", "NA"],
        ["20200101", "null"],
    ],
)
def test_days(values):
    assert str(read(DAY, values)) == "[18262.0, nan]"


def test_flags_and_text():
    odd = [True, 1, 1.0, "1.0", " YES ", decimal.Decimal(1), np.True_]
    assert read(Flag("x"), odd) == [1] * len(odd)
    assert read(Flag("x"), [[1], {}, 2, "maybe", None]) == [2] * 5
    assert read(Text("x"), [1, None, float("nan"), " a ", "", True]) == [
        "1",
        None,
        None,
        "a",
        None,
        "true",
    ]
    assert read(Text("x"), np.array([np.nan, np.nan])) == [None, None]


@pytest.mark.parametrize(
    "values",
    [3, "98765", (one for one in (1, 2)), np.zeros((2, 2)), [[98765]], np.ma.masked_array([1])],
)
def test_what_is_no_column_is_one_line(values):
    with pytest.raises(DataError) as refused:
        read(NUMBER, values)
    assert "98765" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 98765]], columns=["x", "x"]),
        pd.DataFrame([[1, 2, 98765]], columns=["x", 1, "1"]),
        pa.Table.from_arrays([pa.array([1]), pa.array([98765])], names=["x", "x"]),
    ],
)
def test_names_that_are_there_twice(table):
    with pytest.raises(DataError, match="different names for all columns") as refused:
        Schema([NUMBER]).encode(table)
    assert "\n" not in str(refused.value)


def test_fills_are_categories_by_their_text():
    assert read(Category("x", [1, 2], missing="fill", fill=2), [1, None]) == [0, 1]
    assert read(Flag("x", missing="fill", fill=True), [False, None]) == [0, 1]
    assert read(Ordinal("x", [1, 2], missing="fill", fill=2.0), ["1", None]) == [0.0, 1.0]
    with pytest.raises(ParameterError, match="must be one of its categories, got 3"):
        Category("x", [1, 2], missing="fill", fill=3)


def test_other_may_be_missing():
    assert Category("x", ["a"], other="missing").levels == ("a", "missing")
    assert read(Category("x", ["a"], other="missing"), ["a", "b", None]) == [0, 1, 1]


def test_bounds_that_no_double_divides_are_refused():
    with pytest.raises(ParameterError, match="further apart"):
        Number("x", minimum=0, maximum=5e-324)


def test_logarithms_stay_in_the_interval():
    """That of 7.7 - 3 was longer by a bit where two libraries computed it."""
    for high in (7.7, *np.random.default_rng(0).uniform(3.1, 1e6, 300).tolist()):
        schema = Schema([Number("x", minimum=3, maximum=high, scale="log", missing="refuse")])
        assert schema.encode({"x": [high, 3.0]}).ravel().tolist() == [1.0, 0.0]


MANY = 150  # more than narwhals looks at to guess what a column of objects holds


@pytest.mark.parametrize(
    ("field", "first", "begin", "later"),
    [
        (CODE, 1, "A", 1),
        (CODE, "A", None, 2.5),
        (NUMBER, 1, "2", 7),
        (NUMBER, 1, None, 7),
        (Flag("x"), True, None, False),
        (DAY, datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)),
        (DAY, datetime.date(2020, 1, 1), "2020-01-01", datetime.date(2021, 1, 1)),
    ],
)
def test_one_record_does_not_decide_what_an_untyped_column_holds(field, first, begin, later):
    """A record before the others made hundreds of them missing, or not."""
    alone = pd.Series([begin] * MANY + [later] * 5, dtype=object)
    after = pd.Series([first, *alone], dtype=object)
    assert read(field, alone)[-5:] == read(field, [later] * 5)
    assert str(read(field, after)[1:]) == str(read(field, alone))


UTC, EAST = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))


@pytest.mark.parametrize(
    "other", [datetime.datetime(2020, 1, 1, tzinfo=EAST), datetime.datetime(2020, 1, 1), "A", None]
)
@pytest.mark.parametrize("convert", [list, pd.Series, pl.Series, pa.array, np.array])
@pytest.mark.parametrize(
    "field", [Category("x", ["2020-02-03"]), Ordinal("x", ["2020-02-03", "2020-02-04"]), Text("x")]
)
def test_times_are_no_words(field, convert, other):
    """One record that is no day leaves the text of all others as it is written: 03.02.2020."""
    for values in ([datetime.date(2020, 2, 3)] * 2, [datetime.datetime(2020, 2, 3), other]):
        try:
            column = convert(values)
        except (TypeError, pa.ArrowInvalid):
            continue  # it has no columns of mixed types
        with pytest.raises(DataTypeError) as refused:
            read(field, column)
        assert refused.value.code == "type"


@pytest.mark.parametrize("one", ["1", "1.0", "true", " TRUE"])
def test_one_gap_does_not_rename_truths(one):
    """numpy has no truth beside a gap: true became 1.0, and every record changed its category."""
    truths, none = np.array([True, False, True]), [np.nan]
    for field in (
        Category("x", [one, "unknown"]),
        Category("x", ["unknown"], other=one),
        Ordinal("x", ["0", one]),
        Flag("x"),
        Flag("x", true_values=["ja"], false_values=["nein"]),
        Flag("x", true_values=[one], false_values=["9"]),
    ):
        alone, beside = read(field, truths), read(field, np.append(truths, none))
        assert beside[:3] == alone, field
        assert alone[0] == alone[2] != alone[1] or field.type != "boolean", field
    for yes, no, missing in (["2", "1", "x"], ["0", "3", "x"], ["y", "n", "0"]):
        field = Flag("x", true_values=[yes], false_values=[no], missing_values=[missing])
        with pytest.raises(DataTypeError):
            read(field, truths)
        assert read(field, [True, "false", yes, no]) == [1, 0, 1, 0]
    with pytest.raises(ParameterError) as refused:
        Category("x", ["1", "true"])
    assert refused.value.code == "duplicate"


@pytest.mark.parametrize("field", [Flag("x"), Category("x", ["true", "A"])])
@pytest.mark.parametrize(
    "values", [np.array([1, b"x"]), pa.array(["true", b"x"]), pd.Series([1, 1 + 1j])]
)
def test_a_column_that_one_record_made_bytes_or_complex_is_refused(field, values):
    """Each of the others would be another level, or none."""
    with pytest.raises(DataTypeError) as refused:
        read(field, values)
    assert refused.value.code == "type"


def test_far_days_have_the_same_bits_in_a_column_of_objects():
    times = np.random.default_rng(0).integers(2**53, 2**57, 50).astype("datetime64[us]")
    field = Date("x", minimum="0001-01-01", maximum="9999-12-31")
    assert read(field, times) == read(field, [*times.tolist(), "2020-01-01"])[:-1]


def test_values_of_other_libraries_that_a_column_may_hold():
    assert read(Flag("x"), [pd.NA, True, decimal.Decimal(0), "no", [1]]) == [2, 1, 0, 0, 2]
    assert read(CODE, pl.Series([1, 2**100], dtype=pl.Int128)) == [0, 3]
    with pytest.raises(DataError, match="must hold dates"):
        read(DAY, ["0001-01-01T00:00:00+14:00"])


@pytest.mark.parametrize(
    "field", [Category("x", ["007", "1.50", "TRUE"]), Ordinal("x", ["007", "08"])]
)
@pytest.mark.parametrize(
    "lines", [["007", "08"], ["1.50", "2"], ["True", "False"], ["TRUE", "FALSE"]]
)
def test_types_that_pandas_guesses_do_not_rename_categories(field, lines):
    """One record with text in it kept the zeros of all others."""

    def read_lines(values):
        return pd.read_csv(io.StringIO("\n".join(["x", *values])))["x"]

    alone, together = read_lines(lines), read_lines([*lines, "some text"])
    assert alone.dtype != together.dtype
    assert str(read(field, alone)) == str(read(field, together)[:-1])
    assert str(read(field, alone)) == str(read(field, lines))
