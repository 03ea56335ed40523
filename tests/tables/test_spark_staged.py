"""A record gets one report, whatever fails."""

import numpy as np
import pytest

from helpers.spark import SPARK, frame_of, records, spark_session
from helpers.spark_jobs import Noise
from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.tables import SparkTable, _spark_staged

pytestmark = SPARK
X = records(200)


@pytest.fixture
def checkpoint_folder(tmp_path):
    context = spark_session().sparkContext
    context.setCheckpointDir(str(tmp_path / "kept"))
    yield tmp_path / "kept"
    context._jsc.sc().setCheckpointDir(None)


def kept_blocks():
    """Return the numbers of what Spark keeps; it drops what nobody can reach, whenever it likes."""
    return {int(number) for number in spark_session().sparkContext._jsc.getPersistentRDDs()}


def rows_of(frame):
    return np.array(frame.collect(), dtype=float)


@pytest.mark.full
def test_actions_on_published_reports_see_the_same_reports():
    table = SparkTable(frame_of(200, 4), columns=["x2", "x0"])
    table.check()
    reports = table.stage(Noise()).publish()
    assert reports.columns == ["x2", "x0"]
    assert dict(reports.dtypes) == {"x0": "double", "x2": "double"}
    first = rows_of(reports)
    assert first.shape == (200, 2)
    assert np.abs(first - X[:, [2, 0]]).max() < 8  # a false alarm in 10^12 runs
    assert np.array_equal(first, rows_of(reports))
    assert np.array_equal(np.sort(first[:, 0]), np.sort(rows_of(reports.repartition(3))[:, 0]))
    assert not np.array_equal(first, rows_of(table.stage(Noise()).publish()))


def test_a_seed_gives_the_same_reports_in_each_partition():
    table = SparkTable(frame_of(200, 4))
    first, second = (rows_of(table.stage(Noise(seed=3)).publish()) for _ in range(2))
    assert np.array_equal(first, second)
    start = np.random.default_rng((3, 1)).normal(size=(50, 3))
    assert np.array_equal(first[50:100], X[50:100] + start)


def test_a_worker_killed_while_reports_are_drawn_leaves_one_report_of_a_record(tmp_path):
    table = SparkTable(frame_of(200, 4))
    reports = table.stage(Noise(folder=str(tmp_path))).publish()
    assert len(list(tmp_path.iterdir())) == 1
    first = rows_of(reports)
    assert np.abs(first - X).max() < 8  # a false alarm in 10^12 runs
    assert np.array_equal(first, rows_of(reports))


def test_reports_that_are_lost_are_not_drawn_again():
    from py4j.protocol import Py4JJavaError

    before = kept_blocks()
    staged = SparkTable(frame_of(200, 4)).stage(Noise())
    reports = staged.publish()
    assert reports.count() == 200
    assert len(kept_blocks() - before) == 1
    staged.discard()
    assert kept_blocks() <= before
    with pytest.raises(Py4JJavaError, match=r"Checkpoint block .* not found"):
        # Executors drop what they keep in their own time.
        _ = [reports.collect() for _ in range(100)]


def drawn_again(frame, *words):
    """In place of a checkpoint, which cuts reports off from how they were drawn."""
    return frame


@pytest.mark.full
def test_reports_that_are_drawn_again_cannot_be_read(monkeypatch):
    """Planted: every action draws afresh, as a second copy of a partition would have been."""
    from pyspark.errors import PySparkException
    from pyspark.sql.classic.dataframe import DataFrame

    monkeypatch.setattr(DataFrame, "localCheckpoint", drawn_again)
    reports = SparkTable(frame_of(200, 4)).stage(Noise()).publish()
    seen = []
    for frame in (reports, reports, reports.select("x1"), reports.where("x2 > 0").repartition(2)):
        try:
            seen.append(rows_of(frame))
        except PySparkException as refused:
            assert "reports must be those that were drawn first" in str(refused)  # noqa: PT017
    assert not seen


def test_reports_that_are_drawn_again_are_not_filed(monkeypatch, checkpoint_folder):
    from pyspark.sql.classic.dataframe import DataFrame

    monkeypatch.setattr(DataFrame, "localCheckpoint", drawn_again)
    monkeypatch.setattr(_spark_staged, "_drop", lambda kept: None)  # there is nothing to drop
    with pytest.raises(ReleaseError, match="reports must be those that were drawn first"):
        SparkTable(frame_of(200, 4)).stage(Noise())


def test_a_frame_that_draws_is_refused():
    frame = spark_session().range(200).selectExpr("rand() as x", "uuid() as name", "id as y")
    for act in (lambda table: table.stage(Noise()), lambda table: table.check()):
        with pytest.raises(DataError, match="got a frame that draws random numbers"):
            act(SparkTable(frame, columns=["x"]))
    assert SparkTable(frame, columns=["y"]).stage(Noise()).publish().count() == 200


@pytest.mark.full
def test_reports_are_kept_in_the_checkpoint_folder_where_there_is_one(checkpoint_folder):
    before = kept_blocks()
    staged = SparkTable(frame_of(200, 4)).stage(Noise())
    files = list(checkpoint_folder.rglob("part-*"))
    assert len(files) == 4
    assert kept_blocks() <= before
    assert np.array_equal(rows_of(staged.publish()), rows_of(staged.publish()))
    staged.discard()
    assert not list(checkpoint_folder.rglob("part-*"))


@pytest.mark.full
def test_an_error_while_reports_are_drawn_stages_nothing():
    table = SparkTable(frame_of(200, 4))
    before = kept_blocks()
    with pytest.raises(DataError, match="X must be good, got bad"):
        table.stage(Noise(bad=True))
    with pytest.raises(DataError, match="X must hold finite numbers"):
        SparkTable(frame_of(200, 4).selectExpr("if(x0 > 3, double('nan'), x0) as x0")).stage(
            Noise()
        )
    with pytest.raises(DataError, match="at least one record"):
        SparkTable(frame_of(200, 4).where("x0 < -9")).stage(Noise())
    assert kept_blocks() <= before


def test_speculation_needs_a_checkpoint_folder(monkeypatch):
    context = spark_session().sparkContext
    settings = context.getConf().set("spark.speculation", "true")
    monkeypatch.setattr(type(context), "getConf", lambda self: settings)
    with pytest.raises(ParameterError, match="setCheckpointDir"):
        SparkTable(frame_of(200, 4)).stage(Noise())
