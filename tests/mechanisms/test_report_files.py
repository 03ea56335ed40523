"""Local mechanisms on files: as on arrays, a stream for each partition, spent before seen."""

import errno
import os
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest, chisquare, ks_2samp
from sklearn import config_context
from sklearn.base import clone

from helpers.scaled_mechanisms import MECHANISMS
from shoal._bounds import public_box
from shoal.exceptions import (
    BudgetExceededError,
    DataError,
    LedgerFileError,
    ParameterError,
    ReleaseError,
    ShoalError,
)
from shoal.mechanisms import KdLaplace, Laplace, PartitionResponse, Piecewise, _report_files
from shoal.noise import SeededSource
from shoal.partitions import box_axes, default_partitions
from shoal.privacy import Ledger, MetricEvent
from shoal.tables import ArrowTable, _staged_files

BOX = (-1.0, 1.0)
RECORD = np.array([0.3, -0.7, 0.1])
ROWS = 700  # of a file


def write(folder, files=4, d=2):
    """The same record in every row, so that only noise differs."""
    folder.mkdir()
    names = ["east", "north", "up"][:d]
    for index in range(files):
        columns = {name: np.full(ROWS, RECORD[j]) for j, name in enumerate(names)}
        pq.write_table(
            pa.table({**columns, "word": ["x"] * ROWS}).select(names), folder / f"{index}.parquet"
        )
    return folder


def files(folder, d=2, **kwargs):
    return ArrowTable(folder, columns=["east", "north", "up"][:d], **kwargs)


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A partition for each file."""
    monkeypatch.setattr(_staged_files, "PARTITION_ROWS", ROWS)


def values(dataset):
    table = dataset.to_table()
    return np.column_stack([table.column(name).to_numpy() for name in table.column_names])


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def ledger(**kwargs):
    return Ledger(epsilon=9.0, metric_epsilon=9.0, metric_unit="m", **kwargs)


@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_are_distributed_as_those_of_arrays(tmp_path, name):
    """Kolmogorov and Smirnov at 10^-5 a column: a false alarm in 5 * 10^3 changes of the seed."""
    d = 3 if name == "SphericalLaplace" else 2
    mechanism = clone(MECHANISMS[name]).set_params(epsilon=2.5, bounds=BOX, random_state=11)
    data = write(tmp_path / "data", d=d)
    reports = values(mechanism.fit(files(data, d)).transform(data, out=tmp_path / "out"))
    expected = (
        clone(mechanism).set_params(random_state=12).fit_transform(np.tile(RECORD[:d], (20_000, 1)))
    )
    for column in range(d):
        assert ks_2samp(reports[:, column], expected[:, column]).pvalue > 1e-5


def test_reports_of_cells_have_columns_of_their_own(tmp_path):
    """Three columns of records, two of reports; chi-square at 10^-5 against reports of arrays."""
    partitions = default_partitions(box_axes(public_box(BOX, 3)), epsilon=1.0)
    mechanism = PartitionResponse(1.0, bounds=BOX, partitions=partitions, random_state=11)
    data = write(tmp_path / "data", files=8, d=3)
    reported = mechanism.fit(files(data, 3)).transform(data, out=tmp_path / "out")
    assert reported.schema.names == ["partition", "color"]
    assert ArrowTable(tmp_path / "out", columns=["partition", "color"]).columns == 2
    reports = values(reported)
    assert reports.shape == (8 * ROWS, 2)
    kept = partitions.color_table(RECORD[None])[reports[:, 0].astype(int), 0] == reports[:, 1]
    expected = np.exp(mechanism.log_density(reports[kept][:1], RECORD)) * partitions.n_partitions
    assert binomtest(int(kept.sum()), len(reports), float(expected[0])).pvalue > 1e-5
    counts = np.bincount(reports[:, 0].astype(int), minlength=partitions.n_partitions)
    assert chisquare(counts).pvalue > 1e-5
    assert len(mechanism.encode(reports)) == 2 * len(reports)
    # More colors would promise more of a shuffled batch, and are not those of these reports.
    batch = mechanism.shuffled(100_000, 1e-6)
    more = default_partitions(box_axes(public_box(BOX, 3)), epsilon=1.0, n_colors=64)
    assert mechanism.set_params(partitions=more).shuffled(100_000, 1e-6) == batch


def shared_rows(dataset):
    """Share of rows that two partitions of one record report alike, the most of any two."""
    parts = [values(ds.dataset(file)) for file in dataset.files]
    alike = [
        (one == other).all(axis=1).mean()
        for index, one in enumerate(parts)
        for other in parts[:index]
    ]
    assert alike
    return max(alike)


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("kind", [Laplace, Piecewise])
def test_no_two_partitions_share_a_stream(data, tmp_path, kind, seed):
    mechanism = kind(1.0, bounds=BOX, random_state=seed)
    assert shared_rows(mechanism.transform(files(data), out=tmp_path / "out")) < 0.01


def test_a_shared_stream_would_be_noticed(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_report_files, "SecureSource", lambda: SeededSource(1))
    monkeypatch.setattr(_report_files, "SeededSource", lambda key: SeededSource(key[:16]))
    for index, seed in enumerate((None, 3)):
        mechanism = Laplace(1.0, bounds=BOX, random_state=seed)
        assert shared_rows(mechanism.transform(files(data), out=tmp_path / f"{index}")) == 1.0


def test_seeded_runs_repeat_and_go_on(data, tmp_path):
    def reports(mechanism, index, threads=2):
        table = files(data, threads=threads)
        return values(mechanism.transform(table, out=tmp_path / index))

    one, two = (Laplace(bounds=BOX, random_state=5).fit(files(data)) for _ in range(2))
    first = reports(one, "a")
    assert (first == reports(two, "b", threads=1)).all()
    second = reports(one, "c")
    assert (first != second).any(axis=1).mean() > 0.99, "the seed's stream goes on"
    assert (second == reports(two, "d")).all()
    assert (first == reports(one.fit(files(data)), "e")).all(), "and starts again at fit"
    other = Laplace(bounds=BOX, random_state=6).fit(files(data))
    assert (first != reports(other, "f")).any(axis=1).mean() > 0.99
    drawn = [Laplace(bounds=BOX, random_state=np.random.default_rng(1)) for _ in range(2)]
    assert (reports(drawn[0], "g") == reports(drawn[1], "h")).all()


def test_unseeded_runs_differ(data, tmp_path):
    mechanism = Laplace(bounds=BOX).fit(files(data))
    one, two = (values(mechanism.transform(files(data), out=tmp_path / name)) for name in "ab")
    assert (one != two).any(axis=1).mean() > 0.99


def test_the_ledger_is_charged_once_between_drawing_and_publishing(data, tmp_path, monkeypatch):
    paying, seen = ledger(), []
    mechanism = Laplace(2.0, unit="m", bounds=BOX, ledger=paying)
    perturb, publish, spend = Laplace._perturb, _staged_files.StagedFiles.publish, Ledger.spend

    def note(name, real):
        def noted(*arguments, **kwargs):
            if name not in seen[-1:]:
                seen.append(name)
            return real(*arguments, **kwargs)

        return noted

    monkeypatch.setattr(Laplace, "_perturb", note("draw", perturb))
    monkeypatch.setattr(Ledger, "spend", note("spend", spend))
    monkeypatch.setattr(_staged_files.StagedFiles, "publish", note("publish", publish))
    mechanism.fit(files(data)).transform(files(data), out=tmp_path / "out")
    assert seen == ["draw", "spend", "publish"]
    assert [entry.purpose for entry in paying.entries] == ["Laplace reports"]
    assert paying.spent[0].epsilon == 2.0


def test_a_ledger_that_cannot_pay_refuses_before_any_work(data, tmp_path, monkeypatch):
    def work(*arguments):
        raise AssertionError("reports were drawn")

    monkeypatch.setattr(Laplace, "_perturb", work)
    before = tree(tmp_path)
    mechanism = Laplace(
        2.0, unit="m", bounds=BOX, ledger=Ledger(epsilon=1.0, metric_epsilon=1.0, metric_unit="m")
    )
    with pytest.raises(BudgetExceededError):
        mechanism.transform(files(data), out=tmp_path / "out")
    assert tree(tmp_path) == before


def during(monkeypatch, act):
    """Do something in the middle of drawing, once."""
    perturb, waiting = Laplace._perturb, [act]

    def interrupted(self, records, source):
        if waiting:
            waiting.pop()()
        return perturb(self, records, source)

    monkeypatch.setattr(Laplace, "_perturb", interrupted)


def test_a_ledger_that_others_emptied_meanwhile(data, tmp_path, monkeypatch):
    paying = Ledger(epsilon=1.0, metric_epsilon=3.0, metric_unit="m")
    during(monkeypatch, lambda: paying.spend(MetricEvent(epsilon=2.0, unit="m"), notion="metric"))
    before = tree(tmp_path)
    with pytest.raises(BudgetExceededError):
        Laplace(2.0, unit="m", bounds=BOX, ledger=paying).transform(
            files(data), out=tmp_path / "out"
        )
    assert tree(tmp_path) == before
    assert len(paying) == 1


def test_a_failure_while_drawing_costs_nothing(data, tmp_path, monkeypatch):
    paying = ledger()
    pq.write_table(pa.table({"east": [np.nan], "north": [123456.789]}), data / "9.parquet")
    before = tree(tmp_path)
    mechanism = Laplace(unit="m", bounds=BOX, ledger=paying).fit(
        files(data)
    )  # which reads no record
    with pytest.raises(DataError, match="X must hold finite numbers"):
        mechanism.transform(files(data), out=tmp_path / "out")

    def stop():
        raise KeyboardInterrupt

    during(monkeypatch, stop)
    with pytest.raises(KeyboardInterrupt):
        mechanism.transform(files(data), out=tmp_path / "out")
    assert tree(tmp_path) == before
    assert not paying.entries


def test_a_name_that_is_taken_after_the_spend(data, tmp_path, monkeypatch):
    paying, out = ledger(), tmp_path / "out"

    def take():
        out.mkdir()
        (out / "note").write_text("mine")

    for book, message in {
        paying: "the budget was spent all the same",
        None: "no ledger was",
    }.items():
        during(monkeypatch, take)
        with pytest.raises(ReleaseError, match=f"{message}.*, and no report was released"):
            Laplace(unit="m", bounds=BOX, ledger=book).transform(files(data), out=out)
        assert tree(out) == ["note"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out"]
        (out / "note").unlink()
        out.rmdir()
    assert len(paying) == 1


def test_reports_that_were_released_are_not_denied(data, tmp_path, monkeypatch):
    """They have their name already when the system refuses to open them."""
    paying = ledger()
    mechanism = Laplace(unit="m", bounds=BOX, ledger=paying).fit(files(data))
    opened, out = ds.dataset, tmp_path / "out"

    def refuse(source, *args, **kwargs):
        if source == out:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return opened(source, *args, **kwargs)

    monkeypatch.setattr(ds, "dataset", refuse)
    with pytest.raises(ShoalError, match="Too many open files") as failure:
        mechanism.transform(files(data), out=out)
    assert "no report was released" not in str(failure.value)
    assert len(paying) == 1
    assert list(out.iterdir())


def test_a_ledger_file_that_cannot_be_written(data, tmp_path):
    path = tmp_path / "book"
    paying = ledger(path=path)
    path.unlink()
    before = tree(tmp_path)
    with pytest.raises(LedgerFileError):
        Laplace(unit="m", bounds=BOX, ledger=paying).transform(files(data), out=tmp_path / "out")
    assert tree(tmp_path) == before


class Elsewhere(ArrowTable):
    """A table whose partitions are worked on by another process, as far as a pickle can tell."""

    def stage(self, start, out, *, names=None):
        self.pickled = pickle.dumps(start)
        return super().stage(pickle.loads(self.pickled), out, names=names)


@pytest.mark.parametrize("seed", [None, 7])
def test_what_travels_has_no_ledger_and_no_secret(data, tmp_path, seed):
    paying = ledger()  # in memory: it refuses to travel
    table = Elsewhere(data, columns=["east", "north"])
    mechanism = Laplace(2.0, unit="m", bounds=BOX, ledger=paying, random_state=seed).fit(table)
    mechanism.transform(table, out=tmp_path / "out")
    assert len(paying) == 1
    traveled = pickle.loads(table.pickled)
    assert traveled.mechanism.ledger is None
    assert traveled.mechanism.random_state is None
    assert (traveled.key is None) == (seed is None)


def test_where_reports_go(data, tmp_path):
    mechanism, before = (
        Laplace(unit="m", bounds=BOX, ledger=ledger()).fit(files(data)),
        tree(tmp_path),
    )
    for X, out, message in [
        (np.zeros((3, 2)), tmp_path / "out", "out must be None where reports are returned"),
        (files(data), None, r"out must name a new folder .* fit\(X\)\.transform\(X, out=\.\.\.\)"),
        (files(data), data, "out must lie outside the folder of the records"),
        (files(str(data)), data / "reports", "out must lie outside the folder of the records"),
        (files(data), 7, "out must be a new folder"),
        (ds.dataset(data), data, "out must be a new folder"),
    ]:
        with pytest.raises(ParameterError, match=message):
            clone(mechanism).transform(X, out=out)
    with pytest.raises(ParameterError, match="out must name a new folder"):
        mechanism.fit_transform(files(data))
    assert tree(tmp_path) == before
    assert not mechanism.ledger.entries


def test_columns_are_those_of_fit(tmp_path):
    rng, data = np.random.default_rng(0), tmp_path / "data"
    data.mkdir()
    X = rng.uniform(-1, 1, size=(300, 2))
    more = {"word": ["x"] * 300, "b": X[:, 1], "c": np.full(300, 9.0), "a": X[:, 0]}
    pq.write_table(pa.table(more), data / "0.parquet")
    mechanism = Laplace(1e4, bounds=BOX).fit(pa.table({"a": X[:, 0], "b": X[:, 1]}))
    assert mechanism.feature_names_in_.tolist() == ["a", "b"]
    result = mechanism.transform(data, out=tmp_path / "out")
    assert result.schema.names == ["a", "b"]
    assert np.abs(values(result) - X).max() < 0.05
    fitted = Laplace(1e4, bounds=BOX).fit(ArrowTable(data, columns=["b", "a"]))
    assert fitted.feature_names_in_.tolist() == ["b", "a"]
    assert fitted.n_features_in_ == 2
    assert np.abs(values(fitted.transform(data, out=tmp_path / "2")) - X[:, ::-1]).max() < 0.05
    for table, message in [
        (ArrowTable(data, columns=["a", "b"]), r"X must have the columns of fit, \['b', 'a'\]"),
        (
            ds.dataset(pa.table({"a": [1.0]})),
            "must have one column 'b', got none",
        ),
    ]:
        with pytest.raises(DataError, match=message):
            fitted.transform(table, out=tmp_path / "3")
    with pytest.raises(DataError, match="X must have the columns of fit, 2"):
        Laplace(bounds=BOX).fit(X).transform(
            ArrowTable(data, columns=["a", "b", "c"]), out=tmp_path / "3"
        )
    with pytest.raises(ParameterError, match="bounds must have"):
        Laplace(bounds=([0, 0, 0], 1)).fit(ArrowTable(data, columns=["a", "b"]))
    assert not (tmp_path / "3").exists()


def test_without_fit_nothing_is_noted(data, tmp_path):
    mechanism = Laplace(bounds=BOX)
    mechanism.transform(files(data), out=tmp_path / "out")
    assert not hasattr(mechanism, "n_features_in_")
    assert not hasattr(mechanism, "feature_names_in_")


def test_data_frames_cannot_hold_reports_of_files(data, tmp_path):
    mechanism = Laplace(unit="m", bounds=BOX, ledger=ledger()).fit(files(data))
    message = r"call set_output\(transform='default'\)"
    with config_context(transform_output="polars"), pytest.raises(ParameterError, match=message):
        mechanism.transform(files(data), out=tmp_path / "out")
    with pytest.raises(ParameterError, match=message):
        mechanism.set_output(transform="pandas").transform(files(data), out=tmp_path / "out")
    assert not mechanism.ledger.entries
    assert not (tmp_path / "out").exists()


def test_out_is_no_metadata():
    assert not hasattr(Laplace, "set_transform_request")


@pytest.mark.parametrize("call", ["fit", "fit_transform", "transform"])
def test_a_remap_of_all_reports_needs_them_in_memory(data, call):
    kd = KdLaplace(unit="m", bounds=BOX, ledger=ledger())
    if call == "transform":
        kd.fit(np.zeros((5, 2)))
    before = len(kd.ledger)
    with pytest.raises(ParameterError, match=r"X must be in memory for KdLaplace.*Laplace"):
        getattr(kd, call)(files(data))
    assert len(kd.ledger) == before
