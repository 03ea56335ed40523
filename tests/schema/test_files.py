"""Schemas in files: the Table Schema of Frictionless, and what shoal adds."""

import json

import pytest

from shoal import Category, Date, Flag, Number, Ordinal, Schema
from shoal.exceptions import ParameterError
from shoal.schema import Field, Text

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
        ({"name": "x", "type": "number", "shoal": {"sizes": 2}}, "got 'sizes'"),
        ({"name": "x", "type": "number", "shoal": {"scale": "root"}}, "scale of field 'x'"),
        ({"name": "x", "type": "number", "decimalChar": ","}, "decimalChar of field 'x'"),
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


def test_wrong_files_get_one_line(tmp_path):
    for text in ("[1]", "{}", "no JSON", ""):
        (tmp_path / "s.json").write_text(text)
        with pytest.raises(ParameterError, match="schema"):
            Schema.load(tmp_path / "s.json")
    with pytest.raises(ParameterError, match="No such file"):
        Schema.load(tmp_path / "none.json")
    with pytest.raises(ParameterError, match="different names"):
        Schema([Flag("a"), Flag("a")])
