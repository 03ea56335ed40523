"""One set of rules for CSV files, whether they are read at once or streamed."""

import gzip

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.schema import MISSING_NUMBERS
from shoal.tables import ArrowTable, read_table


def at_once(path, columns, names=None):
    return read_table(path, columns=columns, names=names).X


def streamed(path, columns, names=None):
    table = ArrowTable(path, columns=columns, names=names)
    table.check()
    (blocks,) = table.on_threads(lambda pieces: [block for _, blocks in pieces for block in blocks])
    return np.column_stack([np.concatenate(column) for column in zip(*blocks, strict=True)])


@pytest.fixture(params=[at_once, streamed])
def read(request):
    return request.param


@pytest.fixture
def write(tmp_path):
    def file(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return file


NUMBERS = {
    "1": 1.0,
    " 1.5 ": 1.5,
    "\t3": 3.0,
    "+1": 1.0,
    "-0": -0.0,
    ".5": 0.5,
    "5.": 5.0,
    "1E+5": 1e5,
    '"1.5"': 1.5,
    '" 2"': 2.0,
    "0.1": 0.1,
    "1e-999": 0.0,
    "123456789012345678901234567890": 1.2345678901234568e29,
}
TEXT = ["1_000", "0x10", "0b1", "\uff11", "1d5", "'1'", '"1,5"', "true", "False", "x", "2024-01-01"]
TEXT += ['"1\n"', "1\x0c", "\x0b1", "\x1c1", "1\x1f", "1\x00"]  # some are blanks to Python
NOT_FINITE = [*MISSING_NUMBERS, "NA", "NaN", "NULL", "None", "inf", "-Infinity", "1e999"]


def test_numbers(read, write, subtests):
    for cell, value in NUMBERS.items():
        with subtests.test(cell=cell):
            (first, second) = read(write(f"a,b\n{cell},7\n{cell},8\n"), ["a"])[:, 0]
            assert np.array([first, second]).tobytes() == np.array([value] * 2).tobytes()


def test_text_is_refused(read, write, subtests):
    for cell in TEXT:
        with subtests.test(cell=cell):
            with pytest.raises(DataError, match="must hold numbers") as refused:
                read(write(f"a,b\n{cell},7\n"), ["a"])
            assert refused.value.__cause__ is None


def test_text_after_many_numbers_is_refused(read, write):
    content = "a\n" + "1.25\n" * 300_000 + "secret\n"
    with pytest.raises(DataError, match="must hold numbers, got text") as refused:
        read(write(content), ["a"])
    assert "secret" not in str(refused.value)


def test_missing_and_infinite_values_are_refused(read, write, subtests):
    for cell in NOT_FINITE:
        with (
            subtests.test(cell=cell),
            pytest.raises(DataError, match="must hold finite numbers"),
        ):
            read(write(f"a,b\n1.5,7\n{cell},8\n"), ["a"])


def test_lines_marks_and_quotes(read, write, subtests):
    for content in [
        'a,b,"c, d"\n1,2,3\n',
        '\ufeffa,b,"c, d"\n1,2,3\n',
        'a,b,"c, d"\r\n1,2,3\r\n',
        '\n\na,b,"c, d"\n\n1,2,3\n\n',
        ' a ,b,"c, d"\n"1", 2 ,3',
        'a,b,"c, d",b2\n1,2,3,"two\nlines, ""quoted"""\n',
        'a,b,"c, d",bé\n1,2,3,zoë\n',
    ]:
        with subtests.test(content=content):
            assert read(write(content), ["c, d", "a"]).tolist() == [[3.0, 1.0]]


def test_packed(read, write):
    path = write(gzip.compress(b"a,b\n1,2\n"), "people.csv.gz")
    assert read(path, ["b"]).tolist() == [[2.0]]


def test_without_a_header_line(read, write):
    path = write("1,2\n3,4\n")
    assert read(path, ["b", "a"], ["a", "b"]).tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert read(path, ["2"]).tolist() == [[4.0]]
    for names in (["a"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(ParameterError, match="one after the other, all 2 and different"):
            read(path, ["a"], names)


def test_files_that_are_refused(read, write, subtests):
    for content, text in [
        ("b,c\n98765,2\n", "must have one column 'a', got none of that name among its 2"),
        ("a,a\n98765,2\n", "must have one column 'a', got several|two have one name"),
        ("a,b\n1,2\n98765\n", "as many values in every line|damaged"),
        ("a,b\n1,2\n1,2,98765\n", "as many values in every line|damaged"),
        ("a,b\n", "at least one record"),
    ]:
        with subtests.test(content=content, text=text):
            with pytest.raises(DataError, match=text) as refused:
                read(write(content), ["a"])
            assert "98765" not in str(refused.value)
            assert "\n" not in str(refused.value)


def test_other_columns_of_one_name_are_refused_in_streams_only(write):
    path = write("a,b,b\n1,2,3\n")
    assert at_once(path, ["a"]).tolist() == [[1.0]]
    with pytest.raises(DataError, match="two have one name"):
        streamed(path, ["a"])


@pytest.mark.parametrize("content", [b"a,b\n1,\xe9\n", b"a,b\n1," + b"x" * 200_000 + b"\n"])
def test_columns_that_are_not_read_are_looked_at_at_once_only(write, content):
    path = write(content)
    assert streamed(path, ["a"]).tolist() == [[1.0]]
    with pytest.raises(DataError, match="not text separated by commas"):
        at_once(path, ["a"])


def test_values_are_as_written(read, write):
    values = np.random.default_rng(0).normal(size=(200, 3)) * [1e-300, 1.0, 1e300]
    text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    assert read(write(text), ["a", "b", "c"], ["a", "b", "c"]).tobytes() == values.tobytes()
