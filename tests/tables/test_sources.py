"""Files in memory are read by the rules of those on disk, and their content is shown nowhere."""

import gzip
import pickle

import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.tables import MemoryFile, read_columns, read_first_line, read_table, write_table

CSV = b"age,city\n30,A\n,B\n"


@pytest.mark.parametrize(
    ("name", "content"), [("people.csv", CSV), ("people.csv.gz", gzip.compress(CSV, mtime=0))]
)
def test_text_in_memory_is_read_as_on_disk(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    for place in (tmp_path / name, MemoryFile(name, content)):
        assert read_first_line(place) == ["age", "city"]
        assert read_columns(place, ["city", "age"]) == {"city": ["A", "B"], "age": ["30", ""]}
        assert read_columns(place, ["x"], names=["x", "y"]) == {"x": ["age", "30", ""]}


def test_parquet_in_memory_is_read_as_on_disk(tmp_path):
    path = write_table(tmp_path / "people.parquet", ["age", "size"], [[30, 1.5], [40, 2.5]])
    held = MemoryFile("people.parquet", path.read_bytes())
    assert read_first_line(held) == ["age", "size"]
    assert read_table(held, columns=["size"]).X.tolist() == [[1.5], [2.5]]
    assert read_columns(held, ["size"])["size"].to_pylist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("people.csv", "name\nJosé\n".encode("latin-1")),
        ("people.csv.gz", gzip.compress(CSV, mtime=0)[:-9]),
        ("people.csv.gz", gzip.compress(CSV, mtime=0)[:12] + b"\xff" * 20),
        ("people.csv.gz", CSV),
        ("people.parquet", b"PAR1" + b"\0" * 20),
        ("people.parquet", CSV),
    ],
)
def test_damaged_content_is_refused_in_one_line_without_a_value(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    for place in (tmp_path / name, MemoryFile(name, content)):
        with pytest.raises(DataError, match=r"must be a CSV or Parquet file, got .*people") as told:
            read_columns(place, ["name"])
        assert "\n" not in str(told.value)
        assert "Jos" not in str(told.value)


def test_content_is_neither_shown_nor_pickled():
    held = MemoryFile("people.csv", b"SECRET")
    assert "SECRET" not in repr(held) + str(held)
    with pytest.raises(TypeError, match="raw records"):
        pickle.dumps(held)
    with pytest.raises(ParameterError, match="name and bytes"):
        MemoryFile("people.csv", "text")
