"""A record becomes the same numbers wherever it lies, and by itself alone."""

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal import Category, Date, Flag, Number, Ordinal, Schema, SchemaEncoder
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Field

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Number("income", minimum=0, maximum=1e6, scale="log"),
        Category("city", ["A", "B", 1]),
        Flag("member"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Ordinal("grade", ["low", "mid", "high"]),
        Field("customer", role="user"),
    ]
)
ROWS: dict[str, list[Any]] = {
    "age": [30, None, 200, 5],
    "income": [1000.5, 2e6, None, 0.0],
    "city": ["A", " B", None, "zz"],
    "member": [True, None, False, True],
    "joined": [
        datetime.date(2020, 1, 1),
        None,
        datetime.date(2000, 1, 1),
        datetime.date(2026, 1, 2),
    ],
    "grade": ["low", None, "high", "unheard of"],
    "customer": [1, 2, 3, 4],
}
AS_ROWS = [list(row) for row in zip(*ROWS.values(), strict=True)]
AS_TEXT = {
    name: [
        "" if value is None else str(value).lower() if value is True else str(value)
        for value in values
    ]
    for name, values in ROWS.items()
}
FRAME = pd.DataFrame(ROWS).assign(joined=pd.to_datetime(pd.Series(ROWS["joined"])))
FORMS = {
    "pandas": FRAME,
    "pandas, nullable": FRAME.convert_dtypes(),
    "polars": pl.DataFrame(ROWS),
    "Arrow": pa.table(ROWS),
    "Arrow batch": pa.table(ROWS).to_batches()[0],
    "rows": AS_ROWS,
    "mappings": FRAME.astype(object).where(FRAME.notna(), None).to_dict("records"),
    "object array": np.array(AS_ROWS, dtype=object),
    "text": AS_TEXT,
}


@pytest.mark.parametrize("form", FORMS)
def test_same_bits_from_every_table(form):
    assert np.array_equal(SCHEMA.encode(FORMS[form]), SCHEMA.encode(ROWS))


def test_a_record_is_encoded_by_itself_alone():
    whole = SCHEMA.encode(ROWS)
    for index in range(len(whole)):
        alone = {name: [values[index]] for name, values in ROWS.items()}
        assert np.array_equal(SCHEMA.encode(alone)[0], whole[index])


def test_mixed_types_in_a_column_do_not_touch_each_other():
    """True and 1 are equal to Python, and one category: a column of truths is numbers by a gap."""
    schema = Schema([Category("c", ["true", "2"], missing="refuse")])
    codes = schema.read({"c": [True, 1, "1", 1.0, "2", 2.0, "True", False]})["c"]
    assert codes.tolist() == [0, 0, 0, 0, 1, 1, 0, 2]


def squared(schema, one, two):
    names = schema.columns
    table = {name: [one[name], two[name]] for name in names}
    first, second = schema.encode(table)
    return ((first - second) ** 2).sum()


def test_distance_is_the_weight():
    schema = Schema(
        [Number("x", minimum=-5, maximum=5, weight=2.0), Category("c", list("abc"), weight=3.0)]
    )
    base = {"x": -5, "c": "a"}
    assert squared(schema, base, {"x": 5, "c": "a"}) == pytest.approx(2.0)
    for level in ("b", "c", "elsewhere", None):
        assert squared(schema, base, {"x": -5, "c": level}) == pytest.approx(3.0)
    assert squared(schema, base, {"x": None, "c": "a"}) == pytest.approx(2.0)
    assert squared(schema, {"x": 0, "c": "a"}, {"x": None, "c": "a"}) == pytest.approx(1.5)


def test_values_outside_count_as_the_nearest_and_as_other():
    encoded = SCHEMA.encode(ROWS)
    names = SCHEMA.space.names
    assert encoded[2, names.index("age")] == 1.0
    assert encoded[3, names.index("city=other")] > 0
    assert encoded[3, names.index("grade missing")] > 0
    assert (encoded >= 0).all()
    assert (encoded <= SCHEMA.space.widths).all()


def test_simplices_hold_one_point():
    encoded = SCHEMA.encode(ROWS)
    for part in SCHEMA.space.parts:
        if part.kind == "simplex":
            block = encoded[:, part.start : part.stop]
            assert ((block == part.width).sum(axis=1) == 1).all()
            assert ((block == 0).sum(axis=1) == part.stop - part.start - 1).all()


def test_a_log_scale_is_of_ratios():
    ratios = Schema([Number("x", minimum=1e3, maximum=1e6, scale="log", missing="refuse")])
    assert ratios.encode({"x": [1e3, 1e4, 1e5, 1e6]}).ravel() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert ratios.decode([[2 / 3]])["x"] == pytest.approx([1e5])
    counts = Schema([Number("x", minimum=0, maximum=999, scale="log", missing="refuse")])
    assert counts.encode({"x": [0, 9, 99, 999]}).ravel() == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_fill_and_refuse():
    filled = Schema([Number("x", minimum=0, maximum=10, missing="fill", fill=4)])
    assert filled.encode({"x": [None, 4]}).ravel().tolist() == [0.4, 0.4]
    assert Schema([Category("c", ["a"], missing="fill", fill="a")]).encode({"c": [None]})[0, 0] > 0
    for field in (
        Number("x", minimum=0, maximum=1, missing="refuse"),
        Category("x", ["a"], missing="refuse"),
    ):
        with pytest.raises(DataError, match="'x' must have no missing value"):
            Schema([field]).encode({"x": [None]})


def test_declared_words_for_missing():
    schema = Schema(
        [Number("x", minimum=-200, maximum=10, missing_values=["-99", "unknown"])], ["", "?"]
    )
    values = schema.read({"x": ["-99", "unknown", "?", "NA", "-98"]})["x"]
    assert np.isnan(values[:4]).all()
    assert values[4] == -98
    assert np.isnan(schema.read({"x": np.array([-99.0])})["x"]).all()
    # NA is Namibia where it is no number.
    assert Schema([Category("c", ["NA"])]).encode({"c": ["NA"]})[0, 0] > 0


def test_decode_and_inverse():
    encoder = SchemaEncoder(SCHEMA)
    back = encoder.inverse_transform(encoder.transform(ROWS))
    assert back[0].tolist() == [
        30.0,
        pytest.approx(1000.5),
        "A",
        "true",
        datetime.date(2020, 1, 1),
        "low",
    ]
    assert back[1].tolist()[0] is None
    assert back[2].tolist()[2] is None
    assert list(encoder.get_feature_names_out()) == list(SCHEMA.space.names)
    assert encoder.fit("not looked at") is encoder
    center = SCHEMA.decode(SCHEMA.encode(ROWS).mean(axis=0)[None])
    assert center["age"][0] == pytest.approx(np.mean([30, 120, 5]))
    assert center["age missing"][0] == pytest.approx(1 / 4)
    assert center["city"][0] == pytest.approx(
        {"A": 0.25, "B": 0.25, "1": 0, "other": 0.25, "missing": 0.25}
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"age": [1]}, "got none named 'income'"),
        ([[1, 2]], "6 columns of the schema"),
        ({**ROWS, "age": ["thirty", "1", "1", "1"]}, "'age' must hold numbers"),
        ({**ROWS, "joined": ["1.1.2020", "", "", ""]}, "'joined' must hold dates"),
        ({**ROWS, "joined": ["2020-01-01T24:00", "", "", ""]}, "'joined' must hold dates"),
        ({**ROWS, "joined": ["20200101 24", "", "", ""]}, "'joined' must hold dates"),
        ({**ROWS, "age": [1]}, "one length"),
    ],
)
def test_bad_tables(table, words):
    with pytest.raises(DataError, match=words) as caught:
        SCHEMA.encode(table)
    assert "thirty" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_schema_travels():
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA
    assert Schema.from_dict(SCHEMA.to_dict()) == SCHEMA


def test_incomplete_schemas_are_refused_with_the_way_out():
    for fields, words in (
        ([Number("age", maximum=3)], "'age' of the schema must have a minimum"),
        ([Category("c")], "must have categories"),
        ([Field("age")], "must have a type"),
        ([Field("age", role="user")], "role 'feature'"),
    ):
        with pytest.raises(ParameterError, match=words):
            Schema(fields).encode({"age": [1], "c": [1]})


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Number("a\x1b[31m", minimum=0, maximum=1), "name must have no control characters"),
        (lambda: Category("a", ["x\x07"]), "categories of field 'a' must have no control"),
        (lambda: Flag("a", unit="b\x00"), "unit must have no control"),
        (lambda: Number("a", minimum=0, maximum=1, weight=-1), "weight of field 'a' must be"),
        (lambda: Number("a", minimum=float("nan")), "minimum of field 'a' must be a finite"),
    ],
)
def test_bad_fields_say_which(build, words):
    with pytest.raises(ParameterError, match=words):
        build()
