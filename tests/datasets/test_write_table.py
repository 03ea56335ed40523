"""What is written reads back the same, is there whole or not at all, and has a known ending."""

import importlib
import math

import numpy as np
import pyarrow.parquet as pq
import pytest

from shoal.tables import read_table
from shoal.tables import check_table_path, write_table
from shoal.exceptions import MissingPackageError, ParameterError

module = importlib.import_module("shoal.datasets.write_table")
NAMES = ["height, cm", "wëight", 'said "so"']


@pytest.mark.parametrize("ending", ["csv", "CSV", "parquet", "pq"])
def test_round_trip(tmp_path, ending):
    values = np.random.default_rng(0).normal(size=(50, 3)) * [1e-9, 1.0, 1e15]
    values[0] = [-0.0, 5e-324, 1.7976931348623157e308]
    path = tmp_path / f"table.{ending}"
    assert write_table(path, NAMES, values) == path
    table = read_table(path, columns=NAMES)
    assert (values == table.X).all()
    assert math.copysign(1.0, table.X[0, 0]) == -1.0
    assert list(tmp_path.iterdir()) == [path]


def test_whole_numbers_stay_whole(tmp_path):
    path = write_table(tmp_path / "labels.csv", ["cluster"], np.array([[-1], [3]], np.int32))
    assert path.read_bytes() == b"cluster\n-1\n3\n"
    path = write_table(tmp_path / "labels.parquet", ["cluster"], np.array([[-1], [3]], np.int32))
    assert pq.read_table(path).to_pydict() == {"cluster": [-1, 3]}


def test_no_rows(tmp_path):
    path = write_table(tmp_path / "none.csv", ["a", "b"], np.empty((0, 2)))
    assert path.read_text(encoding="utf-8") == "a,b\n"


def test_an_older_file_is_replaced(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("something longer than what comes\n")
    write_table(path, ["a"], [[1.0]])
    assert path.read_text(encoding="utf-8") == "a\n1.0\n"


@pytest.mark.parametrize(
    ("name", "names", "values", "text"),
    [
        ("a.txt", ["a"], [[1.0]], r"ends in \.csv or \.parquet, got"),
        ("a.csv.gz", ["a"], [[1.0]], r"ends in \.csv or \.parquet, got"),
        ("a", ["a"], [[1.0]], r"ends in \.csv or \.parquet, got"),
        ("a.csv", ["a"], [[1.0, 2.0]], "one column for each of 1 names, got shape"),
        ("a.csv", ["a"], [1.0], "one column for each"),
        ("a.csv", ["a"], [["text"]], "a table of numbers"),
        ("a.csv", ["a", "a"], [[1.0, 2.0]], "names must be different"),
    ],
)
def test_refusals(tmp_path, name, names, values, text):
    with pytest.raises(ParameterError, match=text):
        write_table(tmp_path / name, names, values)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_may_be_numbers(tmp_path, ending):
    path = write_table(tmp_path / f"a.{ending}", ["1", "2e3"], [[3.0, 4.0]])
    assert read_table(path, columns=["2e3", "1"]).X.tolist() == [[4.0, 3.0]]


@pytest.mark.parametrize(
    "check",
    [
        lambda path: check_table_path(path, ["a"]),
        lambda path: write_table(path, ["a"], [[1]]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_places_that_cannot_be_written(tmp_path, check, ending):
    with pytest.raises(ParameterError, match=r"can be written, got .*: No such file"):
        check(tmp_path / "none" / f"a.{ending}")
    folder = tmp_path / f"folder.{ending}"
    folder.mkdir()
    with pytest.raises(ParameterError, match="can be written"):
        check(folder)
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match="can be written"):
        check(tmp_path / "file" / f"a.{ending}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", folder.name]


def test_checking_leaves_nothing_and_keeps_what_is_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    assert check_table_path(path, ["a"]) == path
    assert path.read_text(encoding="utf-8") == "a\n1\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch, failure, ending):
    path = tmp_path / f"a.{ending}"
    write_table(path, ["a"], [[1.0]])
    before = path.read_bytes()

    def fail(_):
        raise failure

    monkeypatch.setattr("os.fsync", fail)  # the last step before the file gets its name
    expected = ParameterError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_table(path, ["a"], [[2.0]])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_without_its_package(tmp_path, monkeypatch):
    def missing(package, *, extra):
        raise MissingPackageError(f"{package} is not installed: run `pip install 'shoal[{extra}]'`")

    monkeypatch.setattr(module, "require", missing)
    with pytest.raises(MissingPackageError, match=r"shoal\[arrow\]"):
        check_table_path(tmp_path / "a.parquet", ["a"])
    assert check_table_path(tmp_path / "a.csv", ["a"])
