"""What happens when a part of Spark fails: the same result, or one clear line."""

import traceback

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.spark import SPARK, frame_of, records, spark_session
from helpers.spark_jobs import Fails, KillsItsWorker, Thousandths
from shoal.exceptions import DataError, ShoalError
from shoal.tables import SparkTable

pytestmark = SPARK
X = records(500)[:, :2]


@pytest.fixture(scope="module")
def table():
    table = SparkTable(frame_of(500, 5), columns=["x0", "x1"])
    table.check()
    return table


def same(found, wanted):
    return all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


def test_a_pass_whose_worker_is_killed_gives_the_same(table, tmp_path):
    found = table.fold(KillsItsWorker(2, str(tmp_path)))
    assert len(list(tmp_path.iterdir())) == 1
    assert same(found, table.fold(Thousandths(2)))


@pytest.mark.full
def test_a_worker_killed_while_records_flow_to_it(tmp_path):
    frame = spark_session().range(0, 3_000_000, 1, 2).selectExpr("double(id) as x", "id as y")
    found = SparkTable(frame).fold(KillsItsWorker(2, str(tmp_path), times=2))
    assert len(list(tmp_path.iterdir())) == 2
    assert found[0].tolist() == [3_000_000]
    assert found[1][0].tolist() == [sum(range(3_000_000)) * 1000]


@pytest.mark.full
def test_workers_that_are_always_killed_end_in_one_line(table, tmp_path):
    with pytest.raises(
        ShoalError, match="lost in each of 3 runs: give workers more memory"
    ) as caught:
        table.fold(KillsItsWorker(2, str(tmp_path), times=100))
    assert 3 <= len(list(tmp_path.iterdir())) <= 6
    assert "\n" not in str(caught.value)


def test_an_error_in_a_worker_is_named_without_what_it_says(table):
    with pytest.raises(ShoalError, match="got ArithmeticError from one") as caught:
        table.fold(Fails(2))
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def fails_on_text(text):
    """A worker's error, with the value that it failed on."""
    if text != "1":
        raise ValueError(f"cannot read {text}")
    return 1.0


@pytest.mark.parametrize("how", ["cast", "python", "pattern"])
def test_nothing_of_an_error_holds_a_value(how):
    """Neither its words, nor what it was raised from, nor variables that debuggers send home."""
    value = "[[HEIDI_WEISS] 12345.678\nHeidiError: x"
    frame = spark_session().createDataFrame([("1",), (value,)], ["text"])
    functions = pytest.importorskip("pyspark.sql.functions")
    text = functions.col("text")
    column = {
        "cast": lambda: text.cast("double"),
        "python": lambda: functions.udf(fails_on_text, "double")(text),
        "pattern": lambda: functions.expr("if(rlike('a', text), 1.0D, 2.0D)"),
    }[how]()
    with pytest.raises(ShoalError) as caught:
        SparkTable(frame.select(column.alias("x"))).check()
    error = caught.value
    assert error.__cause__ is error.__context__ is None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][1:]  # not this one
    texts = [str(error), *(str(one) for frame in frames for one in frame.f_locals.values())]
    assert not any("heidi" in one.lower() or "12345" in one for one in texts)


def test_a_file_that_is_gone_is_one_line(tmp_path):
    frame = parquet(tmp_path)
    table = SparkTable(frame)
    table.check()
    (tmp_path / "0.parquet").unlink()
    with pytest.raises(DataError, match=r"an error of Spark \(FAILED_READ_FILE") as caught:
        table.fold(Thousandths(2))
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_file_that_is_cut_short_is_one_line(tmp_path):
    frame = parquet(tmp_path)
    file = tmp_path / "1.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(DataError, match="an error of Spark") as caught:
        SparkTable(frame).check()
    assert "\n" not in str(caught.value)


def test_a_frame_that_gives_other_records_is_refused(tmp_path):
    file = tmp_path / "numbers.csv"
    file.write_text("1.5,2\n" * 40)
    table = SparkTable(spark_session().read.csv(str(file), "a double, b double"))
    table.check()
    assert table.rows == 40
    file.write_text("1.5,2\n" * 39)
    with pytest.raises(DataError, match="X must stay as it is while it is read"):
        table.fold(Thousandths(2))


def parquet(folder):
    for place, part in enumerate(np.array_split(X, 3)):
        write(folder / f"{place}.parquet", part)
    return spark_session().read.parquet(str(folder))


def write(file, part):
    pq.write_table(pa.table({"a": part[:, 0], "b": part[:, 1]}), file)
