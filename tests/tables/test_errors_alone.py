"""No text of a record is reachable from an error: not in its chain, not in what its parts hold."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from shoal import Category, DPKMeans, Number, Place, Schema, label_on_device
from shoal.exceptions import DataError, ShoalError
from shoal.mechanisms import Laplace, PartitionResponse
from shoal.privacy import Guarantee, Release
from shoal.schema import Text
from shoal.tables import (
    ArrowTable,
    _spark_errors,
    open_array,
    open_table,
    read_columns,
    read_first_line,
    read_table,
)

SECRET = "m\u00fcller"
WORD = "ller"
LATIN = SECRET.encode("latin-1")
FINE = b"1,2,3\n" * 4
SCHEMA = Schema([Number("x", minimum=0, maximum=9), Category("z", ["A"])])
NUMBERS = Schema([Number(name, minimum=0, maximum=9) for name in "xy"])
NOTES = Schema([Text("z"), Number("x", minimum=0, maximum=9)])
FILES = {
    "a header in Latin-1": b"x,y," + LATIN + b"\n" + FINE,
    "a cell in Latin-1": b"x,y,z\n" + FINE + b"1,2," + LATIN + b"\n",
    "a number in Latin-1": b"x,y,z\n" + FINE + b"1," + LATIN + b",3\n",
    "text among numbers": b"x,y,z\n" + FINE * 99 + b"1,muller,3\n",
    "a line with a value more": b"x,y,z\n" + FINE + b"1,2,3,muller\n",
    "a line with a value less": b"x,y,z\n" + FINE + b"1,muller\n",
    "a quote that stays open": b"x,y,z\n" + FINE + b'1,2,"muller\n',
    "a NUL": b"x,y,z\n" + FINE + b"1,2,mu\0ller\n",
    "two columns of one name": b"x,y,muller,muller\n" + b"1,2,3,4\n",
    "a value that is too long": b"x,y,z\n" + FINE + b"1,2," + b"muller" * 30_000 + b"\n",
}
READERS: dict[str, Callable[[Path], Any]] = {
    "ArrowTable": lambda path: fit(ArrowTable(path, columns=["x", "y"])),
    "ArrowTable of a schema": lambda path: fit(ArrowTable(path, schema=SCHEMA), SCHEMA),
    "ArrowTable of numbers": lambda path: fit(ArrowTable(path, schema=NUMBERS), NUMBERS),
    "ArrowTable, headless": lambda path: fit(
        ArrowTable(path, names=["x", "y", "z"], columns=["x", "y"])
    ),
    "ArrowTable of a folder": lambda path: fit(ArrowTable(path.parent, columns=["x", "y"])),
    "open_table": lambda path: fit(open_table(path, columns=["x", "y"])),
    "fit with a path": lambda path: fit(str(path), SCHEMA),
    "read_table": lambda path: read_table(path, columns=["x", "y"]),
    "read_table of a schema": lambda path: read_table(path, schema=SCHEMA),
    "read_columns": lambda path: read_columns(path, ["x", "z"]),
    "read_first_line": read_first_line,
    "reports": lambda path: (
        Laplace(1.0, bounds=(0, 9))
        .fit(np.ones((1, 2)))
        .transform(ArrowTable(path, columns=["x", "y"]), out=path.parent / "out")
    ),
}


RAW = ("read_first_line", "read_columns")  # of a binary file, text is not decoded


def fit(X: Any, schema: Schema | None = None) -> Any:
    bounds = (0, 9) if schema is None else None
    model = DPKMeans(2, epsilon=1.0, bounds=bounds, schema=schema, random_state=0)
    return model.fit(X)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all that it can be traced to, suppressed ones too."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def alone(error: BaseException) -> None:
    """Check that nothing that an error leads to holds the word of the record."""
    for one in chain(error):
        held = [one.args, vars(one), getattr(one, "object", None), getattr(one, "doc", None)]
        held.append(getattr(one, "__notes__", None))
        assert WORD not in f"{one!s} {held!r}", f"{type(one).__name__} in the chain"
    assert "\n" not in str(error)


def tried(run: Callable[[], Any]) -> bool:
    """Run something that may be refused; the refusal must be ours, and alone."""
    try:
        run()
    except ShoalError as error:
        alone(error)
        return True
    return False


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", FILES)
def test_files_of_text(reader: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / "in" / "people.csv"
    path.parent.mkdir()
    path.write_bytes(FILES[content])
    tried(lambda: READERS[reader](path))


def test_a_header_in_latin_1_is_refused_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(FILES["a header in Latin-1"])
    with pytest.raises(DataError) as caught:
        ArrowTable(path, columns=["x", "y"])
    assert caught.value.code == "file"
    assert "UTF-8" in str(caught.value)
    (tmp_path / "other.csv").write_bytes(b"x,y,z\n" + FINE)
    for reader in (lambda: ArrowTable(tmp_path, columns=["x", "y"]).check(),):
        with pytest.raises(DataError) as caught:
            reader()
        assert caught.value.code == "file"


def test_a_cell_in_latin_1_does_not_matter_where_its_column_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(FILES["a cell in Latin-1"])
    assert fit(ArrowTable(path, columns=["x", "y"])).n_features_in_ == 2
    assert tried(lambda: fit(ArrowTable(path, schema=SCHEMA), SCHEMA))


def broken_text() -> Any:
    """Return a column of text that is not UTF-8, as a damaged file holds it."""
    return pa.array([LATIN, b"A"]).view(pa.string())


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_binary_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    table = pa.table({"x": pa.array([1.0, 2.0]), "y": broken_text(), "z": broken_text()})
    (parquet.write_table if ending == ".parquet" else feather.write_feather)(table, str(path))
    for reader in (name for name in READERS if "headless" not in name):
        assert tried(lambda reader=reader: READERS[reader](path)) or reader in RAW
    whole = path.read_bytes()
    for end in (len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:end])
        for reader in READERS.values():
            tried(lambda reader=reader: reader(path))


BAD: dict[str, Any] = {
    "text": [["1", "muller"], ["2", "3"]],
    "ragged": [[1.0, "muller"], [2.0]],
    "objects": np.array([[1, "muller"], [2, {"muller": 1}]], dtype=object),
    "lists": [[[1, "muller"]], [[1]]],
    "pandas": pd.DataFrame({"x": [1.0, 2.0], "y": ["muller", "3"]}),
    "pandas, mixed": pd.DataFrame({"x": [1.0, 2.0], "y": [{"muller": 1}, 3]}),
    "polars": pl.DataFrame({"x": [1.0, 2.0], "y": ["muller", "3"]}),
    "arrow": pa.table({"x": [1.0, 2.0], "y": broken_text()}),
    "arrow, batch": pa.record_batch({"x": [1.0, 2.0], "y": broken_text()}),
    "a list column": pd.DataFrame({"x": [[1.0, "muller"], [1.0]]}),
    "dict": {"x": [1.0, 2.0], "y": ["muller", "3"]},
}


@pytest.mark.parametrize("name", BAD)
def test_tables_in_memory(name: str) -> None:
    assert tried(lambda: fit(BAD[name]))
    assert tried(lambda: fit(BAD[name], NUMBERS))
    assert tried(lambda: Laplace(1.0, bounds=(0, 9)).fit(BAD[name]))


def test_records_of_devices() -> None:
    mechanism = Laplace(1.0, bounds=([0, 0], [9, 9]))
    places = Schema([Place("x", center=(0, 0), radius=9)])
    release = Release(
        "x", {"metric": "euclidean", "centers": [[0, 0]]}, Guarantee("local", epsilon=1)
    )
    for x in ("muller", ["1", "muller"], [1, ["muller"]], {"muller": 1}, [LATIN, 1], [{"muller"}]):
        for run in (mechanism.randomize, PartitionResponse(1.0, bounds=([0, 0], [9, 9])).randomize):
            assert tried(lambda x=x, run=run: run(x))
        tried(lambda x=x: Laplace(1.0, schema=NUMBERS).randomize(x))
        tried(lambda x=x: Laplace(1.0, schema=places).randomize(x))
        assert tried(lambda x=x: label_on_device(release, x))
    for ids in (broken_text(), ["muller", 1.5], np.array(["muller", [1]], dtype=object)):
        model = DPKMeans(2, epsilon=1.0, bounds=(0, 9), records_per_user=2)
        assert tried(lambda ids=ids, model=model: model.fit(np.ones((2, 2)), user_ids=ids))


def test_arrays_in_files(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.save(whole, np.array([["muller"], [1]], dtype=object), allow_pickle=True)
    for index, content in enumerate((whole.getvalue(), b"\x93NUMPYmuller", b"muller")):
        for ending in (".npy", ".npz"):
            path = tmp_path / f"{index}{ending}"
            path.write_bytes(content)
            assert tried(lambda path=path: fit(open_array(path)))


def test_errors_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    class SparkError(Exception):
        def getCondition(self) -> str:  # noqa: N802 - as Spark calls it
            return "CAST_INVALID_INPUT"

    class Errors:
        PySparkException = Py4JError = SparkError

    monkeypatch.setattr(_spark_errors, "require", lambda *_, **__: Errors)

    def action() -> None:
        raise SparkError("[CAST_INVALID_INPUT] The value 'muller' cannot be cast")

    assert tried(lambda: _spark_errors.run(action))
