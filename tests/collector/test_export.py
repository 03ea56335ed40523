"""Export: the same reports in the same order, wherever they go, in the memory of a block."""

import csv
import io
import itertools
import json
import stat

import numpy as np
import pyarrow.parquet as pq
import pytest

from helpers.collected import collect
from shoal.cli._reports import read_reports as read_files
from shoal.collector import export
from shoal.collector.analysis import stored_reports
from shoal.collector.export import EXPORTS, export_table, stream_csv, stream_parquet
from shoal.collector.store import Store
from shoal.exceptions import ParameterError, StoreError
from shoal.mechanisms import load_mechanism
from shoal.reports import analyze_reports

NAMES = (f"homes-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def store(module_database_url):
    with Store.open(module_database_url) as opened:
        yield opened


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 64 reports, and files of two blocks."""
    whole = Store.blocks
    monkeypatch.setattr(Store, "blocks", lambda self, name, up_to: whole(self, name, up_to, 64))
    monkeypatch.setattr(export, "PART_BLOCKS", 2)


def in_memory(store, signed, snapshot):
    return np.concatenate(list(stored_reports(store, signed.campaign, snapshot)))


COLUMNS = {
    "partitions": ["partition", "color"],
    "laplace": ["column 1", "column 2"],
    "schema": ["age"],
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.usefixtures("small_blocks")
def test_the_same_reports_everywhere(store, kind, tmp_path):
    """In memory, as CSV, as Parquet, and in a folder that the command line clusters."""
    signed = collect(store, next(NAMES), kind, 300)
    snapshot = store.snapshot(signed.campaign.id)
    expected = in_memory(store, signed, snapshot)
    rows = csv.reader(io.StringIO(b"".join(stream_csv(store, signed, snapshot)).decode()))
    assert next(rows) == COLUMNS[kind]
    assert (np.array(list(rows), dtype=float) == expected).all()
    parts = list(stream_parquet(store, signed, snapshot))
    assert len(parts) == 6, "five blocks and the end"
    table = pq.read_table(io.BytesIO(b"".join(parts)))
    assert table.column_names == COLUMNS[kind]
    assert (np.column_stack(table.columns) == expected).all()
    document = json.loads(table.schema.metadata[b"shoal.mechanism"])
    assert load_mechanism(document).to_dict() == signed.campaign.mechanism.to_dict()
    folder = tmp_path / "reports"
    beside = export_table(store, signed.campaign.id, folder)
    assert beside == tmp_path / "reports.mechanism.json"
    assert [file.name for file in sorted(folder.iterdir())] == [
        f"part-0000{number}.parquet" for number in range(3)
    ]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700, "reports are for who exported them"
    assert (read_files(folder, COLUMNS[kind], "reports") == expected).all()


@pytest.mark.parametrize("form", EXPORTS)
@pytest.mark.usefixtures("small_blocks")
def test_a_reader_that_goes_away_ends_it(store, form):
    """Nothing more is read from the database, and nothing is left open."""
    signed = collect(store, next(NAMES), "laplace", 300)
    stream = EXPORTS[form](store, signed, store.snapshot(signed.campaign.id))
    next(stream)
    stream.close()
    with pytest.raises(StopIteration):
        next(stream)


@pytest.mark.usefixtures("small_blocks")
def test_a_file_of_other_reports_has_no_end(store):
    """A snapshot that does not agree with what is stored: nothing takes the file for whole."""
    signed = collect(store, next(NAMES), "laplace", 100)
    wrong = store.snapshot(signed.campaign.id)._replace(digest="0" * 64)
    got = io.BytesIO()
    with pytest.raises(StoreError, match="not those of the snapshot"):
        got.writelines(stream_parquet(store, signed, wrong))
    with pytest.raises(ValueError, match="magic bytes"):
        pq.read_table(got)


def test_what_cannot_be_exported(store, tmp_path):
    signed = collect(store, next(NAMES), "laplace", 10)
    name = signed.campaign.id
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(ParameterError, match="folder must be new, or empty"):
        export_table(store, name, tmp_path / "taken")
    with pytest.raises(ParameterError, match="must lie in a folder that exists"):
        export_table(store, name, tmp_path / "nowhere" / "reports")
    empty = collect(store, next(NAMES), "laplace", 1)
    store.append([])
    assert store.count(empty.campaign.id) == 1
    (tmp_path / "empty").mkdir()
    export_table(store, name, tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "empty",
        "empty.mechanism.json",
        "taken",
    ]


def test_the_folder_is_clustered_as_the_store_is(store, tmp_path):
    """By the mechanism's document beside it, with the same release."""
    signed = collect(store, next(NAMES), "laplace", 200)
    beside = export_table(store, signed.campaign.id, tmp_path / "reports")
    mechanism = load_mechanism(beside)
    reports = read_files(tmp_path / "reports", COLUMNS["laplace"], "Laplace")
    kwargs = {"mechanism": mechanism, "random_state": 1}
    there = analyze_reports(reports, "remap", {"n_clusters": 2}, **kwargs)
    snapshot = store.snapshot(signed.campaign.id)
    here = analyze_reports(in_memory(store, signed, snapshot), "remap", {"n_clusters": 2}, **kwargs)
    assert there.to_json() == here.to_json()
