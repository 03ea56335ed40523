"""A user's own file: what is read, and what is refused in one line without a value of a record."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.tables import read_table
from shoal.exceptions import DataError, ParameterError

CSV = "height,weight,name\n1.5,40,ann\n1.75,80.5,bob\n"


@pytest.fixture
def write(tmp_path):
    def file(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return file


def test_columns_and_label(write):
    table = read_table(write(CSV), columns=["weight", "height"], label="name")
    assert table.names == ("weight", "height")
    assert table.X.tolist() == [[40.0, 1.5], [80.5, 1.75]]
    assert table.labels.tolist() == ["ann", "bob"]


def test_no_name_is_taken_from_a_file(write):
    with pytest.raises(TypeError, match="columns"):
        read_table(write(CSV))


def test_no_header(write):
    table = read_table(write("1,2\n3,4\n"), columns=["b", "a"], names=["a", "b"])
    assert table.names == ("b", "a")
    assert table.X.tolist() == [[2.0, 1.0], [4.0, 3.0]]


def test_a_first_line_of_numbers_is_a_header_too(write):
    """Whether a line is a record is said by the caller, and does not depend on its values."""
    assert read_table(write("1,2\n3,4\n"), columns=["2"]).X.tolist() == [[4.0]]


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["a", "a"]])
def test_names_are_those_of_all_columns(write, names):
    with pytest.raises(ParameterError, match="one after the other, all 2 and different"):
        read_table(write("98765,2\n"), columns=["a"], names=names)


LONG = [1_500_000_000_000_000_000 + i for i in range(4)]  # one float64 holds them all


def test_user_ids_are_as_written(write):
    ids = [*map(str, LONG), "007", "7", " 7", "7.0", "x"]
    content = "height,who\n" + "".join(f"1,{one}\n" for one in ids)
    table = read_table(write(content), columns=["height"], user="who")
    assert table.user_ids == ids
    with pytest.raises(DataError, match=r"column 'who' must say whose .* got rows without"):
        read_table(write(content + "1,\n"), columns=["height"], user="who")


def test_user_ids_of_parquet(tmp_path):
    path = tmp_path / "people.parquet"
    kinds = {"text": ["a", "b", "b", "a"], "whole": LONG}
    bad = {"float": [1.0, 2.0, 3.0, 4.0], "flag": [True, False, True, True], "raw": [b"x"] * 4}
    missing = {"nobody": [*LONG[:3], None], "empty": ["a", "b", "", "c"]}
    pq.write_table(pa.table({"height": [1.0] * 4, **kinds, **bad, **missing}), path)
    for name, values in kinds.items():
        assert read_table(path, columns=["height"], user=name).user_ids == values
    for name in bad:
        with pytest.raises(DataError, match=f"column {name!r} must say in text or whole numbers"):
            read_table(path, columns=["height"], user=name)
    for name in missing:
        with pytest.raises(DataError, match="got rows without"):
            read_table(path, columns=["height"], user=name)


@pytest.mark.parametrize("content", [CSV.replace("\n", "\r\n"), "\ufeff" + CSV, CSV + "\n\n"])
def test_line_ends_marks_and_blank_lines(write, content):
    assert read_table(write(content), columns=["height"]).X.tolist() == [[1.5], [1.75]]


def test_compressed(write):
    path = write(gzip.compress(CSV.encode()), "people.csv.gz")
    assert read_table(path, columns=["weight"]).X.tolist() == [[40.0], [80.5]]


def test_parquet(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [0.5, None], "c": ["x", "y"]}), path)
    table = read_table(path, columns=["a"], label="c")
    assert table.X.tolist() == [[1.0], [2.0]]
    assert table.labels.tolist() == ["x", "y"]
    with pytest.raises(DataError, match="'b' must hold finite numbers"):
        read_table(path, columns=["b"])


@pytest.mark.parametrize(
    ("content", "words", "text"),
    [
        (CSV, {"columns": ["name"]}, "column 'name' must hold numbers, got text"),
        (
            CSV,
            {"columns": ["age"]},
            "must have one column 'age', got none .* among its 3:",
        ),
        (CSV, {"columns": ["height"], "label": "age"}, "must have one column 'age'"),
        (CSV, {"columns": ["height"], "user": "age"}, "must have one column 'age'"),
        (CSV, {"columns": ["height", "height"]}, "columns must be one or more, all different"),
        (CSV, {"columns": []}, "columns must be one or more"),
        ("a,b\n98765,\n", {}, "column 'b' must hold finite numbers"),
        ("a,b\n98765,nan\n", {}, "column 'b' must hold finite numbers"),
        ("a,b\n98765,inf\n", {}, "column 'b' must hold finite numbers"),
        ("a,b\n98765\n", {}, "as many values in every line"),
        ("a,a\n98765,2\n", {"columns": ["a"]}, "must have one column 'a', got several"),
        ("a,b\n", {}, "at least one record"),
        ("", {}, "at least one record"),
        (b"\xff\xfe98765", {}, "not text separated by commas"),
    ],
)
def test_refusals(write, content, words, text):
    path = write(content)
    with pytest.raises(DataError, match=text) as refused:
        read_table(path, **{"columns": ["a", "b"], **words})
    assert "98765" not in str(refused.value).replace(str(path), "")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.csv.gz"])
def test_missing_file(tmp_path, name):
    with pytest.raises(DataError, match="No such file"):
        read_table(tmp_path / name, columns=["a"])


@pytest.mark.parametrize("name", ["broken.parquet", "broken.csv.gz"])
def test_broken_file(write, name):
    with pytest.raises(DataError, match=r"must be a CSV or Parquet file.*broken"):
        read_table(write("98765,1\n", name), columns=["a"])


def test_a_folder(tmp_path):
    with pytest.raises(DataError, match="CSV or Parquet file"):
        read_table(tmp_path, columns=["a"])


def test_values_are_as_written(write):
    values, names = np.random.default_rng(0).normal(size=(50, 3)), ["a", "b", "c"]
    text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    assert (values == read_table(write(text), columns=names, names=names).X).all()
