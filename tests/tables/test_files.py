"""A user's own files: what is read and written, and what is refused without a value of a record."""

import gzip
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.exceptions import DataError, MissingPackageError, ParameterError
from shoal.tables import check_table_path, files, read_table, write_table

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
    with pytest.raises(ParameterError, match="columns must be given"):
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


def test_no_record_is_shown_by_a_table(write):
    content = "height,who,class\n98765.5,SENTINEL,SENTINEL\n"
    table = read_table(write(content), columns=["height"], user="who", label="class")
    assert table.user_ids == ["SENTINEL"]
    assert repr(table) == "ArrayTable(names=('height',))"


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


def test_refusals(write, subtests):
    for content, words, text in [
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
    ]:
        with subtests.test(content=content, words=words, text=text):
            path = write(content)
            with pytest.raises(DataError, match=text) as refused:
                read_table(path, **{"columns": ["a", "b"], **words})
            assert "98765" not in str(refused.value).replace(str(path), "")
            assert "\n" not in str(refused.value)


@pytest.mark.parametrize("values", [[[1.0, 2.0]] * 3, [[1.0]] * 3, [[]] * 3])
def test_a_column_of_lists_is_no_column_of_numbers(tmp_path, values):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"v": pa.array(values, pa.list_(pa.float64())), "w": [7.0] * 3}), path)
    with pytest.raises(DataError, match=r"column 'v' must hold numbers, got lists: .* or it alone"):
        read_table(path, columns=["w", "v"])


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)])
def test_a_column_of_lists_alone_is_a_table(tmp_path, kind):
    path = tmp_path / "people.parquet"
    values = pa.array([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]], kind)
    pq.write_table(pa.table({"v": values, "who": ["a", "b", "a"]}), path)
    table = read_table(path, columns=["v"], user="who")
    assert table.X.dtype == np.float32
    assert table.X.tolist() == [[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert (table.names, table.user_ids) == ((), ["a", "b", "a"])


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


def test_refusals_of_what_is_written(tmp_path, subtests):
    for name, names, values, text in [
        ("a.txt", ["a"], [[1.0]], r"ends in \.csv or \.parquet, got"),
        ("a.csv.gz", ["a"], [[1.0]], r"ends in \.csv or \.parquet, got"),
        ("a", ["a"], [[1.0]], r"ends in \.csv or \.parquet, got"),
        ("a.csv", ["a"], [[1.0, 2.0]], "one column for each of 1 names, got shape"),
        ("a.csv", ["a"], [1.0], "one column for each"),
        ("a.csv", ["a"], [["text"]], "a table of numbers"),
        ("a.csv", ["a", "a"], [[1.0, 2.0]], "names must be different"),
    ]:
        with subtests.test(name=name, names=names, values=values, text=text):
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
        raise MissingPackageError(f"{package} is not installed: run `pip install '.[{extra}]'`")

    monkeypatch.setattr(files, "require", missing)
    with pytest.raises(MissingPackageError, match=r"\.\[arrow\]"):
        check_table_path(tmp_path / "a.parquet", ["a"])
    assert check_table_path(tmp_path / "a.csv", ["a"])
