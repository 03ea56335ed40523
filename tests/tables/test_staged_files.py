"""Reports in files: in the order of the records, all of them or none, and nothing left behind."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.tables import ArrowTable, _staged_files

RECORDS = np.random.default_rng(1).normal(size=(1000, 2))
ENDS = [0, 130, 130, 700, 1000]  # of files; one is empty


def write(folder, kind="parquet", X=RECORDS):
    folder.mkdir()
    for place in range(len(ENDS) - 1):
        part = X[ENDS[place] : ENDS[place + 1]]
        table = pa.table({"a": part[:, 0], "b": part[:, 1], "word": ["x"] * len(part)})
        path = folder / f"{place}.{kind}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=77)
        elif kind == "feather":
            feather.write_feather(table, path)
        else:
            lines = [f"{a!r},{b!r},x\n" for a, b in part.tolist()]
            path.write_text("a,b,word\n" + "".join(lines))
    return folder


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data")


@pytest.fixture
def small(monkeypatch):
    """Many partitions and row groups of few records."""
    monkeypatch.setattr(_staged_files, "PARTITION_ROWS", 200)
    monkeypatch.setattr(_staged_files, "GROUP_VALUES", 200)


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def same(partition):
    """Reports that are the records, to see where they go."""
    return lambda block: np.stack(block).T


def seeded(partition):
    rng = np.random.default_rng(partition)
    return lambda block: rng.normal(size=(len(block[0]), len(block)))


def values(dataset):
    table = dataset.to_table()
    return np.column_stack([table.column(name).to_numpy() for name in table.column_names])


def opened(data, **words):
    return ArrowTable(data, columns=["b", "a"], **words)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.usefixtures("small")
def test_reports_are_in_the_order_of_the_records(tmp_path, kind, threads):
    data, out = write(tmp_path / "data", kind), tmp_path / "out"
    reports = opened(data, threads=threads).stage(same, out).publish()
    assert (values(reports) == RECORDS[:, ::-1]).all()
    assert reports.schema.equals(pa.schema({"b": pa.float64(), "a": pa.float64()}))
    assert tree(tmp_path / "out") == [f"part-0000{i}.parquet" for i in range(len(reports.files))]
    assert len(reports.files) > 1
    assert tree(tmp_path) == sorted(
        [*("data/" + n for n in tree(data)), "data", "out"] + ["out/" + n for n in tree(out)]
    )


@pytest.mark.usefixtures("small")
def test_every_partition_begins_once_in_its_thread(data, tmp_path):
    begun, threads = [], {}

    def start(partition):
        begun.append(partition)
        threads[partition] = threading.get_ident()

        def draw(block):
            assert threads[partition] == threading.get_ident()
            return np.full((len(block[0]), 2), float(partition))

        return draw

    reports = opened(data, threads=2).stage(start, tmp_path / "out").publish()
    assert sorted(begun) == list(range(len(reports.files)))
    found = values(reports)[:, 0]
    assert (np.diff(found) >= 0).all(), "a partition is a run of records"
    # Row groups of 77 and what is left of a file; never more than 200 records together.
    assert np.bincount(found.astype(int)).tolist() == [130, 154, 154, 154, 185, 154, 69]


@pytest.mark.usefixtures("small")
def test_partitions_do_not_depend_on_threads(data, tmp_path):
    found = [
        values(opened(data, threads=threads).stage(seeded, tmp_path / f"{threads}").publish())
        for threads in (1, 2, 5)
    ]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


@pytest.mark.usefixtures("small")
def test_row_groups_are_written_as_they_fill(data, tmp_path):
    """So that memory holds one of them for each thread, whatever the number of records."""
    reports = opened(data).stage(same, tmp_path / "out").publish()
    for file in reports.files:
        found = pq.ParquetFile(file).metadata
        groups = [found.row_group(place).num_rows for place in range(found.num_row_groups)]
        assert max(groups) < 100 + 77, "less than a batch more than 200 values"


def test_an_arrow_dataset_in_memory(tmp_path):
    source = ds.dataset(pa.table({"a": RECORDS[:, 0], "b": RECORDS[:, 1]}))
    reports = ArrowTable(source).stage(same, tmp_path / "out").publish()
    assert (values(reports) == RECORDS).all()


def test_nothing_is_seen_before_it_is_published(data, tmp_path):
    out = tmp_path / "out"
    staged = opened(data).stage(same, out)
    assert not out.exists()
    (hidden,) = [path for path in tmp_path.iterdir() if path != data]
    assert hidden.name.startswith(".out.")
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o700, "nobody else may look inside"
    staged.publish()
    assert stat.S_IMODE(out.stat().st_mode) == stat.S_IMODE(data.stat().st_mode)
    staged.discard()
    assert len(list(out.iterdir())) == 1, "what is published stays"


def test_discarding_leaves_nothing(data, tmp_path):
    before = tree(tmp_path)
    opened(data).stage(same, tmp_path / "out").discard()
    assert tree(tmp_path) == before


@pytest.mark.parametrize("link", [False, True])
def test_an_empty_folder_will_do(data, tmp_path, link):
    out = tmp_path / "out"
    out.mkdir()
    if link:
        (tmp_path / "link").symlink_to(out)
    opened(data).stage(same, tmp_path / "link" if link else out).publish()
    assert tree(out) == ["part-00000.parquet"]


def never(partition):
    raise AssertionError("work was done")


def test_places_that_are_refused_before_any_work(data, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before = tree(tmp_path)
    for out, why in {
        tmp_path / "full": "it holds something",
        tmp_path / "full" / "note": "it is a file",
        tmp_path / "full" / "note" / "out": "Not a directory",
        tmp_path / "none" / "out": "No such file or directory",
        tmp_path / "loop" / "out": "",
        "/": "it holds something",
        "\0": "no path",
        7: "no path",
    }.items():
        with pytest.raises(ParameterError, match=r"^out must be a new folder, or") as refused:
            opened(data).stage(never, out)
        assert why in str(refused.value)
        assert tree(tmp_path) == before


def test_a_name_that_was_taken_meanwhile(data, tmp_path):
    out = tmp_path / "out"
    staged = opened(data).stage(same, out)
    out.mkdir()
    (out / "note").write_text("mine")
    with pytest.raises(ReleaseError, match="reports cannot be written to"):
        staged.publish()
    staged.discard()
    assert tree(tmp_path) == sorted([*("data/" + n for n in tree(data)), "data", "out", "out/note"])


def spoil_nan(data):
    table = pa.table({"a": [123456.789, np.nan], "b": [1.0, 1.0]})
    pq.write_table(table, data / "3.parquet")


def spoil_page(data):
    file = data / "3.parquet"
    spoiled = bytearray(file.read_bytes())
    spoiled[8:400] = bytes(255 - value for value in spoiled[8:400])
    file.write_bytes(spoiled)


def spoil_end(data):
    file = data / "3.parquet"
    file.write_bytes(file.read_bytes()[:-100])


def spoil_schema(data):
    pq.write_table(pa.table({"a": ["123456.789"], "b": [1.0]}), data / "3.parquet")


def spoil_all(data):
    for file in data.iterdir():
        pq.write_table(
            pa.table({"a": pa.array([], pa.float64()), "b": pa.array([], pa.int8())}), file
        )


@pytest.mark.parametrize("spoil", [spoil_nan, spoil_page, spoil_end, spoil_schema, spoil_all])
@pytest.mark.usefixtures("small")
def test_records_that_cannot_be_used(data, tmp_path, spoil):
    spoil(data)
    before = tree(tmp_path)
    with pytest.raises(DataError) as refused:
        opened(data, threads=2).stage(same, tmp_path / "out")
    assert "123456" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, DataError])
@pytest.mark.usefixtures("small")
def test_any_other_end(data, tmp_path, failure):
    before = tree(tmp_path)

    def start(partition):
        if partition == 3:
            raise failure
        return same(partition)

    with pytest.raises(failure):
        opened(data, threads=2).stage(start, tmp_path / "out")
    assert tree(tmp_path) == before


@pytest.mark.usefixtures("small")
def test_after_a_failure_no_thread_goes_on(data, tmp_path, monkeypatch):
    stops, drawn = [], []

    class Stop(threading.Event):
        def __init__(self):
            super().__init__()
            stops.append(self)

    def start(partition):
        if partition:
            raise DataError("a partition that fails")

        def draw(block):
            drawn.append(len(block[0]))
            stops[0].wait(10)
            return np.stack(block).T

        return draw

    monkeypatch.setattr(_staged_files, "threading", SimpleNamespace(Event=Stop))
    with pytest.raises(DataError, match="a partition that fails"):
        opened(data, threads=2).stage(start, tmp_path / "out")
    assert len(drawn) <= 1, "of the two row groups of the first partition"


@pytest.mark.parametrize("place", ["write", "close", "sync", "folder"])
@pytest.mark.usefixtures("small")
def test_a_disk_that_fills_up(data, tmp_path, monkeypatch, place):
    """Planted where a real disk may say so: in a page, the footer, at the end, in the folder."""
    before = tree(tmp_path)
    calls = iter(range(1000))

    def full(*arguments, **words):
        if next(calls) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **words)

    where, name = {
        "write": (pq.ParquetWriter, "write_table"),
        "close": (pq.ParquetWriter, "close"),
        "sync": (os, "fsync"),
        "folder": (_staged_files, "sync_folder"),
    }[place]
    real = getattr(where, name)
    if place == "folder":
        calls = iter([3])
    monkeypatch.setattr(where, name, full)
    with pytest.raises(ReleaseError, match=r"^reports cannot be written to .*: No space left"):
        opened(data, threads=2).stage(same, tmp_path / "out")
    monkeypatch.undo()
    assert tree(tmp_path) == before


LIMITED = """
import resource, signal, sys
import numpy as np
from shoal.exceptions import ReleaseError
from shoal.tables import ArrowTable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
table = ArrowTable(sys.argv[1], columns=["a", "b"])
try:
    table.stage(lambda _: lambda block: np.stack(block).T, sys.argv[2])
except ReleaseError as refused:
    print(refused)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits on the size of files")
def test_files_that_may_not_grow(data, tmp_path):
    """The system itself refuses to write on, in the middle of a file."""
    before = tree(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(data), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large; none is left there" in done.stdout
    assert done.stderr == "", "and no word of Arrow's"
    assert tree(tmp_path) == before


@pytest.fixture
def disk(tmp_path):
    """A disk of 64 KiB, in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    words = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not mount or subprocess.run([mount, *words], capture_output=True, check=False).returncode:
        pytest.skip("a disk of its own needs the right to mount one")
    yield folder
    subprocess.run([shutil.which("umount"), str(folder)], check=True)


def test_a_disk_that_is_full(disk, tmp_path):
    data = write(tmp_path / "data")
    for place in range(30):
        shutil.copy(data / "2.parquet", data / f"more-{place}.parquet")
    with pytest.raises(ReleaseError, match="No space left on device; none is left there"):
        opened(data).stage(seeded, disk / "out")
    assert not list(disk.iterdir())


def test_no_rename_reaches_a_disk_of_its_own(disk, data, tmp_path):
    before = tree(tmp_path)
    with pytest.raises(ParameterError, match="a disk of its own, choose a folder in it"):
        opened(data).stage(never, disk)
    assert tree(tmp_path) == before
