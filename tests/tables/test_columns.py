"""Records of a schema are the same numbers from every table, and each by itself alone."""

import dataclasses
import json

import numpy as np
import pytest

from helpers.mixed_tables import (
    IN_FILES,
    IN_MEMORY,
    SCHEMA,
    encoded_blocks,
    mixed_columns,
)
from shoal.exceptions import DataError
from shoal.schema import Category, Flag, Number, Schema
from shoal.tables import ArrowTable, read_table

SEEDS = range(3)


@pytest.fixture(scope="module", params=SEEDS)
def columns(request):
    return mixed_columns(request.param)


@pytest.mark.parametrize("form", IN_MEMORY)
def test_same_bits_in_memory(form, columns):
    expected = SCHEMA.encode(columns)
    assert SCHEMA.encode(IN_MEMORY[form](columns)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("form", IN_FILES)
def test_same_bits_in_files(form, columns, tmp_path):
    assert IN_FILES[form](tmp_path, columns, SCHEMA).tobytes() == SCHEMA.encode(columns).tobytes()


@pytest.mark.parametrize("form", ["rows", "pandas", "polars", "text"])
def test_a_record_is_encoded_by_itself_alone(form, columns):
    """Any order and any part of a table gives the same rows."""
    whole = SCHEMA.encode(columns)
    rng = np.random.default_rng(1)
    for size in (1, 1, 1, 2, 5, 17, 60):
        kept = rng.permutation(60)[:size]
        part = {name: [values[i] for i in kept] for name, values in columns.items()}
        assert SCHEMA.encode(IN_MEMORY[form](part)).tobytes() == whole[kept].tobytes()


def test_whole_numbers_beyond_doubles_are_told_apart(tmp_path):
    schema = Schema([Category("code", [2**60, 2**60 + 1, 10**30])])
    codes = {"code": [2**60, 2**60 + 1, 10**30, 2**60 - 1]}
    expected = schema.encode(codes)
    assert len({row.tobytes() for row in expected}) == 4
    short = {"code": codes["code"][:2]}
    for form in ("pandas", "polars", "Arrow", "rows"):
        assert schema.encode(IN_MEMORY[form](short)).tobytes() == expected[:2].tobytes(), form
    for form in ("CSV at once", "csv folder", "parquet folder"):
        found = IN_FILES[form](tmp_path, short, schema)
        assert found.tobytes() == expected[:2].tobytes(), form


def test_every_record_lies_in_the_space(columns):
    encoded = SCHEMA.encode(columns)
    assert ((encoded >= 0) & (encoded <= SCHEMA.space.widths)).all()
    for part in SCHEMA.space.parts:
        if part.kind == "simplex":
            assert (np.count_nonzero(encoded[:, part.start : part.stop], axis=1) == 1).all()


# Hostile CSV files


PLAIN = Schema(
    [
        Number("age", minimum=0, maximum=100),
        Category("city", ["A", "NA", "1", "no"]),
        Flag("ok"),
        Number("z", minimum=-200, maximum=10, missing_values=["-99", "unknown"]),
    ],
    ["", "?"],
)
HEAD = "age,city,ok,z\n"
READ = {
    "at once": lambda path: read_table(path, schema=PLAIN).X,
    "streamed": lambda path: encoded_blocks(ArrowTable(path, schema=PLAIN)),
}
# What lines mean, in values of Python.
LINES = {
    HEAD + "30,A,true,1\n": [(30, "A", True, 1)],
    HEAD + ",,,\n": [(None,) * 4],
    HEAD + '"","","",""\n': [(None,) * 4],
    HEAD + "?,?,?,?\n": [(None,) * 4],
    HEAD + "NA,NA,NA,NA\n": [(None, "NA", None, None)],
    HEAD + " nAn , NA ,na,nUll\n": [(None, "NA", None, None)],
    HEAD + '\t30 , A ," yes ", 1 \n': [(30, "A", True, 1)],
    HEAD + '"30","A,\nB","f","+.5"\n': [(30, "else", False, 0.5)],
    HEAD + '30,"A""",no,1e0\n': [(30, "else", False, 1)],
    HEAD + "1e999,1.0,1.0,-1e999\n": [(100, "1", True, -200)],
    HEAD + "inf,True,0,-Infinity\n": [(100, "1", False, -200)],
    HEAD + "30.,01,N,9007199254740993\n": [(30, "1", False, 10)],
    HEAD + "1,A,t,-99\n1,A,t,-99.0\n1,A,t,-9.9e1\n1,A,t,Unknown\n": [(1, "A", True, None)] * 4,
    "\n" + HEAD + "\n30,A,true,1\n\n": [(30, "A", True, 1)],
    "\ufeff" + HEAD + "30,A,true,1": [(30, "A", True, 1)],
    HEAD.replace("\n", "\r\n") + "30,A,true,1\r\n": [(30, "A", True, 1)],
    ' age,"city", ok ,z \n30,A,true,1\n': [(30, "A", True, 1)],
    "z,note,ok,city,age\n1,secret,true,A,30\n": [(30, "A", True, 1)],
}


@pytest.mark.parametrize("way", READ)
def test_lines_of_csv_files(way, tmp_path, subtests):
    path = tmp_path / "people.csv"
    for text, rows in LINES.items():
        with subtests.test(text=text):
            path.write_text(text, encoding="utf-8", newline="")
            assert READ[way](path).tobytes() == PLAIN.encode(rows).tobytes()


@pytest.mark.parametrize("way", READ)
def test_lines_that_are_refused(way, tmp_path, subtests):
    path = tmp_path / "people.csv"
    for text, words in [
        (HEAD + "98765x,A,true,1\n", "'age' must hold numbers"),
        (HEAD + "1,A,true,1\n" * 9 + "98765x,A,true,1\n", "'age' must hold numbers"),
        (HEAD + "9_8765,A,true,1\n", "'age' must hold numbers"),
        (HEAD + "nan(98765),A,true,1\n", "'age' must hold numbers"),
        (HEAD + "٩٨٧٦٥,A,true,1\n", "'age' must hold numbers"),
        (HEAD + "98765,A,true\n", "as many values|damaged"),
        ("age,city,ok\n98765,A,true\n", "one column 'z', got none"),
        (HEAD, "at least one record"),
    ]:
        with subtests.test(text=text):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(DataError, match=words) as refused:
                READ[way](path)
            assert "98765" not in str(refused.value)
            assert "\n" not in str(refused.value)


def test_a_schema_in_a_file_reads_the_same(columns):
    again = Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict())))
    assert again == SCHEMA
    assert again.encode(columns).tobytes() == SCHEMA.encode(columns).tobytes()
    lighter = dataclasses.replace(SCHEMA["age"], weight=0.5)
    assert Schema([lighter, *SCHEMA.fields[1:]]) != SCHEMA
