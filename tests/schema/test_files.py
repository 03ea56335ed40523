"""Schemas in files: the Table Schema of Frictionless, and what shoal adds."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shoal import Category, Date, Flag, Number, Ordinal, Place, Schema
from shoal.exceptions import ParameterError
from shoal.schema import Field, Text, import_table_schema
from shoal.schema.keys import KEYS, LEFT_ASIDE

ROOT = Path(__file__).resolve().parents[2]

# As the specification writes it, with keys that shoal has no use for.
THEIRS = {
    "primaryKey": "id",
    "missingValues": ["", "-"],
    "fields": [
        {
            "name": "id",
            "type": "integer",
            "constraints": {"unique": True},
            "shoal": {"role": "user"},
        },
        {
            "name": "age",
            "type": "integer",
            "title": "Age",
            "constraints": {"minimum": 0, "maximum": 120, "required": True},
        },
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
        {
            "name": "grade",
            "type": "string",
            "categories": [{"value": "l", "label": "low"}, {"value": "h"}],
            "categoriesOrdered": True,
        },
        {"name": "code", "type": "integer", "categories": [1, 2, 3]},
        {"name": "member", "type": "boolean"},
        {
            "name": "since",
            "type": "date",
            "format": "%d.%m.%Y",
            "constraints": {"minimum": "2000-01-01", "maximum": "2030-01-01"},
        },
        {"name": "note", "type": "string", "shoal": {"role": "describe"}},
        {"name": "shape", "type": "geojson", "shoal": {"role": "ignore"}},
    ],
}


def test_their_files_are_read():
    schema = Schema.from_dict(THEIRS)
    kinds = [type(field) for field in schema]
    assert kinds == [Number, Number, Category, Ordinal, Category, Flag, Date, Text, Field]
    age, grade, code = schema["age"], schema["grade"], schema["code"]
    assert age.missing == "refuse"
    assert isinstance(age, Number)
    assert age.whole
    assert isinstance(grade, Ordinal)
    assert grade.categories == ("l", "h")
    assert isinstance(code, Category)
    assert code.categories == ("1", "2", "3")
    assert schema.user.name == "id"
    assert schema.missing_values == ("", "-")
    assert schema.read({"since": ["31.12.2020", "-"]}, ["since"])["since"][0] == 18627.0
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_round_trip_of_a_file(tmp_path):
    schema = Schema(
        [
            Number(
                "income",
                minimum=0,
                maximum=1e6,
                scale="log",
                weight=2,
                unit="EUR",
                missing="fill",
                fill=1000,
            ),
            Category("city", ["A"], other="elsewhere", role="describe", missing="refuse"),
        ],
        title="People",
    )
    schema.save(tmp_path / "s.json")
    assert Schema.load(tmp_path / "s.json") == schema
    assert json.loads((tmp_path / "s.json").read_text())["fields"][0]["shoal"]["scale"] == "log"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"name": "x", "type": "duration"}, "type of field 'x' must be one of"),
        ({"name": "x", "type": "number", "shoal": {"scale": "root"}}, "scale of field 'x'"),
        (
            {"name": "x", "type": "string", "constraints": {"enum": [str(i) for i in range(1001)]}},
            "at most 1000",
        ),
        (
            {"name": "x", "type": "number", "constraints": {"minimum": 3, "maximum": 1}},
            "below its maximum",
        ),
        ({"name": "x", "type": "date", "constraints": {"minimum": "soon"}}, "YYYY-MM-DD"),
        ({"name": "x", "shoal": {"role": "owner"}}, "role of field 'x'"),
        ({"type": "number"}, "with a name"),
        (3, "with a name"),
    ],
)
def test_wrong_fields_get_one_line(field, words):
    with pytest.raises(ParameterError, match=words) as caught:
        Schema.from_dict({"fields": [field]})
    assert "\n" not in str(caught.value)


AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
YES = {"name": "yes", "type": "boolean"}
CITY = {"name": "city", "type": "string"}


@pytest.mark.parametrize(
    ("plain", "key", "nearest"),
    [
        ({"fields": [{**AGE, "weights": 2}]}, "weights", "weight under shoal"),
        ({"fields": [{**AGE, "role": "user"}]}, "role", "role under shoal"),
        ({"fields": [{**AGE, "minimum": 3}]}, "minimum", "minimum under constraints"),
        ({"fields": [{**AGE, "constraints": {"maximums": 3}}]}, "maximums", "maximum"),
        ({"fields": [{**AGE, "shoal": {"sizes": 2}}]}, "sizes", ""),
        ({"fields": [{**AGE, "shoal": {"other": "A"}}]}, "other", ""),
        ({"fields": [{**CITY, "categories": [{"values": 1}]}]}, "values", "value"),
        ({"fields": [AGE], "missingvalues": ["-"]}, "missingvalues", "missingValues"),
        ({"fields": [AGE], "missingValues": [{"value": "-", "labels": "x"}]}, "labels", "label"),
        ({"fields": [AGE], "shoal": {"seed": 1}}, "seed", "seeded"),
        ({"fields": [AGE], "dialect": {"delimiter": ";"}}, "dialect", ""),
    ],
)
def test_a_key_that_nobody_reads_is_refused_and_the_nearest_is_named(plain, key, nearest):
    with pytest.raises(ParameterError) as caught:
        Schema.from_dict(plain)
    assert (caught.value.parameter, caught.value.code) == (key, "unknown")
    assert f"{key!r} of" in str(caught.value)
    assert str(caught.value).endswith(f"the nearest is {nearest}") == bool(nearest)


@pytest.mark.parametrize(
    ("field", "parameter", "code"),
    [
        ({**AGE, "decimalChar": ","}, "decimalChar", "unexpected"),
        ({**CITY, "constraints": {"enum": ["1"]}, "decimalChar": ","}, "decimalChar", "unexpected"),
        ({**AGE, "format": "currency"}, "format", "unexpected"),
        ({**AGE, "constraints": {"exclusiveMinimum": 1}}, "exclusiveMinimum", "unexpected"),
        ({**YES, "constraints": {"enum": ["x"]}}, "enum", "unexpected"),
        ({**CITY, "constraints": {"minimum": 1}}, "minimum", "unexpected"),
        ({**AGE, "trueValues": ["1"]}, "trueValues", "unexpected"),
        ({**AGE, "categories": [1]}, "categories", "conflict"),
        ({**CITY, "categories": [1], "constraints": {"enum": [1]}}, "categories", "conflict"),
        ({**CITY, "categories": [{"label": "x"}]}, "categories", "missing"),
        ({**AGE, "constraints": {"required": "yes"}}, "required", "type"),
        (
            {**YES, "constraints": {"required": True}, "shoal": {"missing": "fill"}},
            "missing",
            "conflict",
        ),
        ({**CITY, "categoriesOrdered": 1}, "categoriesOrdered", "type"),
        ({**YES, "trueValues": "ja"}, "trueValues", "type"),
        ({**YES, "trueValues": ["0"]}, "true_values", "conflict"),
        ({**YES, "falseValues": ["TRUE"]}, "true_values", "conflict"),
        ({**YES, "trueValues": ["ja"], "missingValues": ["Ja"]}, "true_values", "conflict"),
        ({**YES, "falseValues": [" "]}, "true_values", "conflict"),
        ({"name": "x", "type": "integr", "shoal": {"role": "ignore"}}, "type", "choice"),
    ],
)
def test_what_changes_how_values_are_read_is_read_or_refused(field, parameter, code):
    with pytest.raises(ParameterError) as caught:
        Schema.from_dict({"fields": [field]})
    assert (caught.value.parameter, caught.value.code) == (parameter, code)


def test_every_key_of_the_standard_is_read_left_aside_or_refused_as_documented():
    """The table of docs/schema.md says of each key what the code does."""
    text = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    told = {}
    for row in re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| (read|left aside|refused)[^|]* \|$", text, re.M
    ):
        told |= {(row[0].strip(), key): row[2] for key in re.findall(r"`([^`]+)`", row[1])}
    known = {}
    for level, keys in KEYS.items():
        for key, types in keys.items():
            read = "left aside" if key in LEFT_ASIDE.get(level, ()) else "read"
            known[level, key] = read if types else "refused"
    assert told == known


def test_a_flag_in_german():
    plain = {**YES, "trueValues": ["ja", "1"], "falseValues": ["nein", "2"]}
    schema = Schema.from_dict({"fields": [plain]})
    assert Schema.from_dict(schema.to_dict()) == schema
    texts = ["Ja", "nein", "1", "2.0", "true", "no", "0", None]
    assert schema.read({"yes": texts})["yes"].tolist() == [1, 0, 1, 0, 1, 2, 0, 2]
    # A value is read the same whatever type its column was given because of other records.
    numbers = pd.DataFrame({"yes": [1.0, 2.0, 0.0, None]})
    assert schema.read(numbers)["yes"].tolist() == [1, 0, 0, 2]
    truths = pd.DataFrame({"yes": [True, False]})
    assert schema.read(truths)["yes"].tolist() == [1, 0]


def test_words_for_missing_come_before_the_usual_words_of_a_flag():
    answer = Schema([Flag("answer", missing_values=["n", "0"])])
    texts = ["y", "n", "0", 0, 0.0, "no", False]
    assert answer.read({"answer": texts})["answer"].tolist() == [1, 2, 2, 2, 2, 0, 0]


@pytest.mark.parametrize(
    "categories", [["7", "07"], [7, "7.0"], ["true", "True"], [True, "TRUE"], [1.5, "1.50"]]
)
def test_categories_that_a_column_of_numbers_does_not_tell_apart_are_refused(categories):
    for field in (Category, Ordinal):
        with pytest.raises(ParameterError) as caught:
            field("x", categories)
        assert (caught.value.parameter, caught.value.code) == ("categories", "duplicate")


def test_a_missing_word_that_is_a_category_as_a_number_is_that_category():
    schema = Schema([Category("size", ["7", "8"], missing_values=["07"])])
    text, numbers = schema.read({"size": ["07", "8"]}), schema.read({"size": np.array([7, 8])})
    assert text["size"].tolist() == numbers["size"].tolist() == [0, 1]


FIELDS = [
    Field("x"), Field("x", role="user"), Field("x", role="ignore"), Text("x"),
    Text("x", role="ignore"),
    Flag("x"), Flag("x", true_values=["ja"], missing="fill", fill="true"),
    Flag("x", false_values=["nein"], role="describe"), Category("x"), Category("x", ["A"]),
    Category("x", ["A", " 1 "], other="A", role="ignore"), Ordinal("x"), Ordinal("x", ["A", "B"]),
    Number("x"), Number("x", maximum=3, whole=True), Number("x", minimum=0, role="sample_weight"),
    Number("x", minimum=0, maximum=1e300, scale="log", role="user"),
    Date("x"), Date("x", minimum="2020-01-01T00:00:00", maximum="2021-01-01", format="%d.%m.%Y"),
    Place("x"), Place("x", longitude="a", latitude="b", center=(1.5, 2), radius=3, format="array"),
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS, ids=repr)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"missing": "refuse"},
        {"title": "T", "description": "a\nb", "unit": "m", "weight": 0.5, "missing_values": ["-"]},
    ],
)
def test_what_is_saved_is_read_again(field, more, tmp_path):
    if field.fill is not None:
        more = {key: value for key, value in more.items() if key != "missing"}
    for seeded in (False, True):
        words = {"title": "t", "description": "d", "seeded": seeded}
        schema = Schema([replace(field, **more), Flag("y")], ["", "gone"], **words)
        schema.save(tmp_path / "s.json")
        assert Schema.load(tmp_path / "s.json") == schema


@pytest.mark.parametrize(
    ("plain", "parameter", "code"),
    [
        ({"dialect": {"delimiter": ";"}}, "delimiter", "unsupported"),
        ({"dialect": {"header": False}}, "header", "unsupported"),
        ({"dialect": {"nullSequence": "-"}}, "nullSequence", "unknown"),
        ({"dialect": "dialect.json"}, "dialect", "type"),
        ({"encoding": "iso-8859-1"}, "encoding", "unsupported"),
        ({"encodings": "utf-8"}, "encodings", "unknown"),
    ],
)
def test_a_resource_that_says_the_file_is_written_otherwise_is_refused(plain, parameter, code):
    schema = {"fields": [AGE, {"name": "took", "type": "duration", "rdfType": "x"}]}
    usual = {"path": "x.csv", "dialect": {"delimiter": ","}, "encoding": "UTF-8", "schema": schema}
    assert Schema.from_dict(import_table_schema(usual))["took"].role == "ignore"
    for one in (usual | plain, {"resources": [usual | plain]}):
        with pytest.raises(ParameterError) as caught:
            import_table_schema(one)
        assert (caught.value.parameter, caught.value.code) == (parameter, code)


def test_a_file_that_names_a_key_twice_is_refused(tmp_path):
    (tmp_path / "s.json").write_text('{"fields": [{"name": "x", "name": "y"}]}')
    with pytest.raises(ParameterError) as caught:
        Schema.load(tmp_path / "s.json")
    assert (caught.value.parameter, caught.value.code) == ("schema", "format")


def test_wrong_files_get_one_line(tmp_path):
    for text in ("[1]", "{}", "no JSON", ""):
        (tmp_path / "s.json").write_text(text)
        with pytest.raises(ParameterError, match="schema"):
            Schema.load(tmp_path / "s.json")
    with pytest.raises(ParameterError, match="No such file"):
        Schema.load(tmp_path / "none.json")
    with pytest.raises(ParameterError, match="different names"):
        Schema([Flag("a"), Flag("a")])
