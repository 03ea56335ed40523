"""Passes over Spark frames give the bits that passes over arrays give."""

import doctest

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from helpers.spark import SPARK, frame_of, records, spark_session
from helpers.spark_jobs import BlasThreads, Thousandths, sign
from shoal.engines.dyadic import DyadicKernel
from shoal.engines.nearest import NearestKernel
from shoal.engines.sparse_grid import SparseGridKernel
from shoal.engines.stream_engine import LatticeJob
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.noise.lattice import Lattice
from shoal.tables import ArrowTable, SparkTable, open_table, spark_table

pytestmark = SPARK
X = records(1000)


@pytest.fixture(scope="module")
def five():
    table = SparkTable(frame_of(1000, 5))
    table.check()
    return table


def in_files(X):
    columns = {f"x{place}": column for place, column in enumerate(X.T)}
    return ArrowTable(ds.dataset(pa.table(columns)))


@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.full), 5])
def test_a_pass_gives_what_numpy_gives(partitions):
    table = open_table(frame_of(1000, partitions))
    table.check()
    assert (table.rows, table.columns, table.names) == (1000, 3, ("x0", "x1", "x2"))
    count, sums = table.fold(Thousandths(3))
    assert count.tolist() == [1000]
    assert sums[:, 0].tolist() == np.rint(X * 1000).astype(int).sum(axis=0).tolist()
    assert sums.dtype == np.int64
    assert sums.flags.writeable


@pytest.mark.parametrize(
    "kernel",
    [
        NearestKernel(np.array([[0, 0, 0], [2**17, -(2**16), 5]])),
        SparseGridKernel((50, 40, 30), 2**19),
        DyadicKernel(60, 2**19),
    ],
    ids=["sums", "merges", "dyadic"],
)
def test_kernels_give_the_bits_that_files_give(five, kernel):
    job = LatticeJob(kernel, Lattice.box(np.full(3, -4.0), np.full(3, 4.0)), 3)
    expected = in_files(X).fold(job)
    for result, wanted in zip(five.fold(job), expected, strict=True):
        assert result.dtype == wanted.dtype
        assert np.array_equal(result, wanted)


@pytest.mark.parametrize(
    ("partitions", "most"),
    [(12, 2), pytest.param(100, 32, marks=pytest.mark.full)],
    ids=["two levels", "one level"],
)
def test_many_partitions_some_of_them_empty_are_put_together_by_tasks(
    monkeypatch, partitions, most
):
    monkeypatch.setattr(spark_table, "MAX_PARTIALS", most)
    table = SparkTable(frame_of(partitions - 2, partitions))
    kernel = SparseGridKernel((9, 9, 9), 2**19)
    job = LatticeJob(kernel, Lattice.box(np.full(3, -4.0), np.full(3, 4.0)), 3)
    expected = in_files(X[: partitions - 2]).fold(job)
    for result, wanted in zip(table.fold(job), expected, strict=True):
        assert np.array_equal(result, wanted)


def test_the_driver_gets_some_tens_of_rows():
    assert spark_table._levels(32) == []
    assert spark_table._levels(33) == [6]
    assert spark_table._levels(1_000) == [32]
    assert spark_table._levels(10**5) == [317, 18]


def test_columns_are_chosen_and_ordered_and_others_stay_with_java():
    frame = spark_session().sql(
        "select int(id) as `a.b`, 'text' as name, id % 2 = 0 as even, float(id) as c from range(10)"
    )
    table = SparkTable(frame, columns=["c", "a.b", "even"])
    _, sums = table.fold(Thousandths(3))
    assert sums[:, 0].tolist() == [45_000, 45_000, 5_000]
    labeled = table.collect(sign)
    assert labeled.columns == ["a.b", "name", "even", "c", "cluster"]
    assert [row["cluster"] for row in labeled.collect()] == [0] + [1] * 9


def test_labels_stand_beside_their_records_under_a_free_name(five):
    frame = frame_of(1000, 5).withColumnRenamed("x2", "Cluster")
    labeled = SparkTable(frame).collect(sign)
    assert labeled.columns == ["x0", "x1", "Cluster", "cluster_2"]
    found = np.array(labeled.collect())
    assert np.array_equal(found[:, :3], X)
    assert np.array_equal(found[:, 3], X[:, 0] > 0)
    assert dict(labeled.dtypes)["cluster_2"] == "int"


@pytest.mark.parametrize(
    "value", ["double('nan')", pytest.param("double('inf')", marks=pytest.mark.full), "null"]
)
def test_a_value_that_is_not_finite_is_refused(value):
    frame = spark_session().sql(
        f"select if(id = 7, {value}, id) as x, id as y from range(0, 12, 1, 3)"
    )
    with pytest.raises(DataError, match="X must hold finite numbers"):
        SparkTable(frame).check()
    SparkTable(frame, columns=["y"]).check()


def test_a_frame_without_records_is_refused():
    with pytest.raises(DataError, match="at least one record"):
        SparkTable(frame_of(1000, 2).where("x0 > 100")).check()


def test_columns_that_cannot_be_used_are_named():
    frame = spark_session().sql("select 1 as a, 'x' as name, 1.5 as d, 2 as a")
    with pytest.raises(DataTypeError, match="column 'name' must hold numbers, got string"):
        SparkTable(frame, columns=["name"])
    with pytest.raises(DataTypeError, match=r"column 'd' must hold numbers, got decimal"):
        SparkTable(frame, columns=["d"])
    with pytest.raises(DataError, match="one column 'b', got no such column"):
        SparkTable(frame, columns=["b"])
    with pytest.raises(DataError, match="one column 'a', got several"):
        SparkTable(frame, columns=["a"])
    for columns in (None, [], ["d", "d"]):
        with pytest.raises(DataError, match="one or more, all different"):
            SparkTable(frame, columns=columns)


def test_a_stream_is_refused():
    stream = spark_session().readStream.format("rate").load()
    with pytest.raises(DataTypeError, match="got a stream"):
        SparkTable(stream, columns=["value"])


def test_records_are_counted_by_check_alone():
    with pytest.raises(ParameterError, match="checked before"):
        _ = SparkTable(frame_of(1000, 1)).rows


def test_workers_keep_blas_to_one_thread(five):
    (threads,) = five.fold(BlasThreads(3))
    assert threads.tolist() == [1]


def test_the_example_runs():
    spark_session()
    (example,) = doctest.DocTestFinder(recurse=False).find(
        SparkTable, globs={"SparkTable": SparkTable}
    )
    for line in example.examples:
        line.options.clear()
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
