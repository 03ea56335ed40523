"""Metadata of "CSV on the Web", as schemas."""

import json
from typing import Any

import pytest

from shoal.exceptions import ParameterError
from shoal.schema import Category, Date, Field, Flag, Number, Schema

METADATA = {
    "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
    "url": "people.csv",
    "null": ["", "-"],
    "tableSchema": {
        "columns": [
            {
                "name": "age",
                "titles": "Age in years",
                "dc:description": {"@value": "at the last birthday", "@lang": "en"},
                "datatype": {"base": "integer", "minimum": "0", "maxExclusive": 121},
                "required": True,
            },
            {"name": "height", "datatype": {"base": "decimal", "minExclusive": 0.5}},
            {"name": "children", "datatype": "nonNegativeInteger"},
            {"titles": {"fi": "kaupunki", "en": ["city", "town"]}},
            {"name": "sex", "datatype": {"base": "string", "format": "^(F|M|X)$"}},
            {"name": "code", "datatype": {"format": "[A-Z]|b"}, "null": "none"},
            {"name": "member", "datatype": {"base": "boolean", "format": "Y|N"}},
            {"name": "membre", "datatype": {"base": "boolean", "format": "Oui|Non"}},
            {
                "name": "joined",
                "datatype": {
                    "base": "date",
                    "format": "dd.MM.yyyy",
                    "minInclusive": "2010-01-01",
                    "maxInclusive": "2026-12-31",
                },
            },
            {"name": "seen", "datatype": {"base": "dateTime", "format": "yyyy-MM-ddTHH:mm:ss"}},
            {"name": "took", "datatype": "duration"},
            {"name": "row", "virtual": True, "datatype": "integer"},
        ]
    },
}


def columns(*described: dict[str, Any]) -> dict[str, Any]:
    return {"tableSchema": {"columns": list(described)}}


def test_every_kind_of_column():
    schema = Schema.from_csvw(METADATA)
    words = ("", "-")
    assert list(schema.fields) == [
        Number(
            "Age in years",
            minimum=0,
            maximum=120,
            whole=True,
            missing="refuse",
            title="age",
            description="at the last birthday",
            missing_values=words,
        ),
        Number("height", minimum=0.5, missing_values=words),
        Number("children", minimum=0, whole=True, missing_values=words),
        Category("city", missing_values=words),
        Category("sex", ["F", "M", "X"], missing_values=words),
        Category("code", missing_values=["none"]),
        Flag("member", missing_values=words),
        Category("membre", ["Oui", "Non"], missing_values=words),
        Date(
            "joined",
            minimum="2010-01-01",
            maximum="2026-12-31",
            format="%d.%m.%Y",
            missing_values=words,
        ),
        Date("seen", format="%Y-%m-%dT%H:%M:%S", missing_values=words),
        Field("took", role="ignore"),
    ]
    assert Schema.from_dict(schema.to_dict()) == schema


def test_files_and_groups_of_tables(tmp_path):
    one = columns({"name": "x", "datatype": "number"})
    (tmp_path / "schema.json").write_text(json.dumps(one["tableSchema"]))
    group = {
        "tables": [
            {"url": "a.csv", "tableSchema": "schema.json"},
            {"url": "b.csv", **columns({"name": "y"})},
        ]
    }
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(group))
    assert Schema.from_csvw(path, table="a.csv").fields == (Number("x"),)
    assert Schema.from_csvw(path, table="b.csv").fields == (Category("y"),)
    with pytest.raises(ParameterError, match=r"meant of \['a.csv', 'b.csv'\], got None"):
        Schema.from_csvw(path)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "list of columns"),
        ({"tableSchema": 3}, "must be an object"),
        ({"tableSchema": "https://example.org/s.json"}, "written out or name a file"),
        (columns({"name": "a", "datatype": "hue"}), "datatype of CSVW, got 'hue'"),
        (columns({"name": "a", "datatype": {"base": "integer", "minimum": "x"}}), "a number"),
        (columns({"name": "a", "datatype": {"base": "date", "format": "QQ"}}), "made of yyyy"),
        (columns({"name": "a", "virtual": True}), "not virtual"),
        (
            columns({"name": "a", "datatype": {"base": "number", "format": {"decimalChar": ","}}}),
            "decimalChar of field 'a'",
        ),
    ],
)
def test_refusals_in_one_line(metadata, words):
    with pytest.raises(ParameterError, match=words) as refused:
        Schema.from_csvw(metadata)
    assert "\n" not in str(refused.value)


def test_unreadable_files(tmp_path):
    with pytest.raises(ParameterError, match="No such file"):
        Schema.from_csvw(tmp_path / "none.json")
    path = tmp_path / "bad.json"
    for text, words in (("{", "no JSON"), ("[1]", "JSON object"), ('"\xff"', "no JSON")):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(ParameterError, match=words):
            Schema.from_csvw(path)
