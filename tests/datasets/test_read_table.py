"""A user's own file: what is read, and what is refused in one line without a value of a record."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.datasets import read_table
from shoal.exceptions import DataError

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


def test_all_columns_but_the_label(write):
    assert read_table(write(CSV), label="name").names == ("height", "weight")


def test_no_header(write):
    table = read_table(write("1,2\n3,4\n"))
    assert table.names == ("column 1", "column 2")
    assert table.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]


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
        (CSV, {}, "column 'name' must hold numbers, got text"),
        (CSV, {"columns": ["age"]}, "must have a column 'age': it has 'height'"),
        (CSV, {"columns": ["height"], "label": "age"}, "must have a column 'age'"),
        (CSV, {"columns": ["height", "height"]}, "columns must be different"),
        (CSV, {"columns": []}, "must have a column of numbers"),
        ("a,b\n98765,\n", {}, "column 'b' must hold finite numbers"),
        ("a,b\n98765,nan\n", {}, "column 'b' must hold finite numbers"),
        ("a,b\n98765,inf\n", {}, "column 'b' must hold finite numbers"),
        ("a,b\n98765\n", {}, "as many values in every line"),
        ("a,a\n98765,2\n", {}, "name its columns differently"),
        ("a,b\n", {}, "at least one record"),
        ("", {}, "at least one record"),
        (b"\xff\xfe98765", {}, "not text separated by commas"),
    ],
)
def test_refusals(write, content, words, text):
    path = write(content)
    with pytest.raises(DataError, match=text) as refused:
        read_table(path, **words)
    assert "98765" not in str(refused.value).replace(str(path), "")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.csv.gz"])
def test_missing_file(tmp_path, name):
    with pytest.raises(DataError, match="No such file"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["broken.parquet", "broken.csv.gz"])
def test_broken_file(write, name):
    with pytest.raises(DataError, match=r"must be a CSV or Parquet file.*broken"):
        read_table(write("98765,1\n", name))


def test_a_folder(tmp_path):
    with pytest.raises(DataError, match="CSV or Parquet file"):
        read_table(tmp_path)


def test_values_are_as_written(write):
    values = np.random.default_rng(0).normal(size=(50, 3))
    text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    assert (values == read_table(write(text)).X).all()
