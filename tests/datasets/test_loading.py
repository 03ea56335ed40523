import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from shoal.datasets import Dataset, list_datasets, load
from shoal.exceptions import DataError, ParameterError

FOLDER = os.environ.get("SHOAL_DATA")
needs_files = pytest.mark.skipif(
    not FOLDER, reason="set SHOAL_DATA to the folder of data files to run this"
)
INFOS = {info.name: info for info in list_datasets()}
BUNDLED = [info.name for info in INFOS.values() if info.bundled]
FILES = [info.name for info in INFOS.values() if not info.bundled]
SIZES = {
    "iris": (150, 4, 3),
    "digits": (1797, 64, 10),
    "wine": (178, 13, 3),
    "breast_cancer": (569, 30, 2),
    "seeds": (210, 7, 3),
    "transfusion": (748, 4, 2),
    "adult": (48_842, 6, 2),
    "adult_mixed": (48_842, 6, None),
    "diamonds": (53_940, 7, None),
    "heart": (2126, 21, 3),
    "fetal_health": (2126, 21, 3),
    "house5": (1837, 3, None),
    "lsun": (400, 2, 3),
    "mopsi_finland": (13_467, 2, None),
    "gowalla_nyc": (138_957, 2, None),
    "gowalla": (620_683, 2, None),
    "chameleon_t7_10k": (10_000, 2, 10),
    "worms_2": (105_600, 2, 35),
    "cdc_ds1_30k": (30_341, 2, 10),
    "cdc_ds2_30k": (30_207, 2, 6),
    "cdc_ds3_30k": (30_692, 2, 7),
    "birch2": (100_000, 2, 100),
    "unbalance": (6500, 2, 8),
    "s1": (5000, 2, 15),
    "s2": (5000, 2, 15),
    "birch1": (100_000, 2, 100),
    "a2": (5250, 2, 35),
    "a3": (7500, 2, 50),
    "r15": (600, 2, 15),
    "aggregation": (788, 2, 7),
    "pathbased": (300, 2, 3),
    "spiral": (312, 2, 3),
    "wavecluster_ds1": (30_000, 2, None),
    "wavecluster_ds2": (31_200, 2, None),
    "wavecluster_ds3": (31_520, 2, None),
    "kd_laplace_heart": (2126, 9, 3),
    "kd_laplace_seeds": (210, 7, 3),
    "kd_laplace_circle_2d": (1000, 2, 2),
    "kd_laplace_circle_3d": (1000, 3, 2),
    "kd_laplace_line_2d": (1000, 2, 2),
    "kd_laplace_line_3d": (1000, 3, 2),
    "kd_laplace_skewed_2d": (1000, 2, 2),
    "kd_laplace_skewed_3d": (1000, 3, 2),
}


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def check(dataset):
    rows, columns, labels = SIZES[dataset.name]
    assert isinstance(dataset, Dataset)
    assert dataset.X.shape == (rows, columns)
    assert dataset.X.dtype == np.float64
    assert len(dataset.columns) == columns
    assert all(len(values) == rows for values in dataset.table.values())
    numbers = np.column_stack([dataset.table[name] for name in dataset.columns])
    np.testing.assert_array_equal(numbers, dataset.X)
    assert dataset.license
    assert dataset.source
    low, high = dataset.bounds
    assert low.shape == high.shape == (columns,)
    # The registry's bounds are meant to hold; clipping real records should be the exception.
    assert (low <= dataset.X).all()
    assert (high >= dataset.X).all()
    if labels is None:
        assert dataset.y is None
    else:
        assert dataset.y.dtype == np.int64
        assert len(np.unique(dataset.y)) == labels


def test_every_file_of_the_folder_is_known():
    """The sets that the experiments name are in the registry."""
    named = {"seeds", "heart", "transfusion", "iris", "digits", "s1", "aggregation", "pathbased"}
    assert named | {"lsun", "adult", "gowalla"} <= set(INFOS)
    if FOLDER:
        kinds = ("*.csv*", "*.parquet")
        files = {
            str(path.relative_to(FOLDER)) for kind in kinds for path in Path(FOLDER).rglob(kind)
        }
        assert files == {INFOS[name].file for name in FILES}


def test_every_entry_is_tested():
    assert set(SIZES) == set(INFOS)
    assert len(INFOS) == len(list_datasets())


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_need_no_folder(name, monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    check(load(name))


@needs_files
def test_files(subtests):
    for name in FILES:
        with subtests.test(name=name):
            check(load(name))


def test_entries_are_complete():
    for info in INFOS.values():
        assert info.reason
        assert all(low < high for low, high in info.limits)
        if info.bundled:
            assert info.sha256 is None
        else:
            assert len(info.limits) == len(info.columns)
            assert len(info.sha256) == 64


def test_unknown_name():
    with pytest.raises(ParameterError, match=r"name must be one of iris, .*, got 'nosuch'"):
        load("nosuch")


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_folder_the_message_says_what_to_set(monkeypatch, value):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("SHOAL_DATA", value)
    with pytest.raises(DataError, match=r"s1 needs the file s1\.csv: set SHOAL_DATA"):
        load("s1")


def test_without_the_file_the_message_says_where_it_looked(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"s1\.csv, which is not in .*: set SHOAL_DATA"):
        load("s1")


def test_a_file_that_cannot_be_downloaded_says_where_it_comes_from(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    with pytest.raises(DataError, match=r"needs the file ctg\.csv: .*; it was made from https://"):
        load("heart")
    with pytest.raises(DataError, match=r"or run `shoal datasets s1 --download`$"):
        load("s1")


@needs_files
def test_the_two_forms_of_the_heart_tracings_agree():
    full, rounded = load("heart"), load("fetal_health")
    np.testing.assert_allclose(full.X, rounded.X, atol=0.0005 + 1e-9)
    np.testing.assert_array_equal(full.y, rounded.y)


def test_a_changed_file_is_refused(tmp_path):
    (tmp_path / "seeds.csv").write_text("area,label\n1.0,1\n")
    with pytest.raises(DataError, match=r"seeds\.csv must have sha256 2a48.*, got [0-9a-f]{64}"):
        load("seeds", data_dir=tmp_path)


@needs_files
def test_data_dir_goes_before_the_variable(monkeypatch, tmp_path):
    shutil.copy(os.path.join(FOLDER, "r15.csv"), tmp_path)  # noqa: PTH118
    monkeypatch.setenv("SHOAL_DATA", "/nowhere")
    assert load("r15", data_dir=tmp_path).X.shape == (600, 2)


@needs_files
def test_mixed_tables_keep_text_and_gaps():
    adult = load("adult_mixed")
    assert adult.table["sex"][:2].tolist() == ["Male", "Male"]
    gaps = {name: sum(value is None for value in adult.table[name]) for name in adult.table}
    assert {name: count for name, count in gaps.items() if count} == {
        "workclass": 2799,
        "occupation": 2809,
        "native_country": 857,
    }
    np.testing.assert_array_equal(adult.X, load("adult").X)


def test_bounds_are_the_caller_s_own():
    """Writing into one copy must not change the registry."""
    first = load("iris")
    first.bounds[1][:] = -1.0
    assert (load("iris").bounds[1] == 10.0).all()


def test_sets_that_are_there_are_listed(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    assert [info.name for info in list_datasets(available=True)] == BUNDLED
    (tmp_path / "s1.csv").write_text("x,y\n")
    assert {info.name for info in list_datasets(available=True)} == {*BUNDLED, "s1"}
