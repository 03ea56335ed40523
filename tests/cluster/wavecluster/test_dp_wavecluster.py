"""The estimator as a whole: attributes, labels, budget, odd tables, and what it refuses."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

from helpers.kmeans_problems import blobs
from helpers.noise_recorder import recording
from helpers.wavecluster_problems import in_cells
from shoal.cluster import DPWaveCluster
from shoal.cluster.wavecluster._techniques import auto_grid
from shoal.exceptions import DataError, ParameterError
from shoal.privacy import Ledger, Release

X = blobs(10_000, spread=0.04)
TECHNIQUES = ["oneshot", "thr", "thr-em", "qt", "baseline", "density"]


def model(**kwargs):
    standard = {"epsilon": 1.0, "bounds": (-1.0, 1.0), "grid": 32, "random_state": 0}
    return DPWaveCluster(**{**standard, **kwargs})


# What it finds


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_attributes(technique, subtests):
    for wavelet in ["haar", "db2"]:
        with subtests.test(wavelet=wavelet):
            for level in [1, 2]:
                fitted = model(technique=technique, wavelet=wavelet, level=level).fit(X)
                side = 32 // 2**level
                assert fitted.cells_.shape == fitted.band_shape_ == (side, side)
                assert fitted.cells_.dtype == fitted.labels_.dtype == np.int32
                assert (
                    fitted.n_significant_ == (fitted.cells_ >= 0).sum() == len(fitted.cell_codes_)
                )
                assert set(fitted.cells_.ravel().tolist()) == set(range(-1, fitted.n_clusters_))
                assert (fitted.cells_.ravel()[fitted.cell_codes_] == fitted.cell_labels_).all()
                assert fitted.cell_values_.shape == fitted.cell_codes_.shape
                assert isinstance(fitted.threshold_, float)
                assert fitted.threshold_ > 0
                assert fitted.grid_ == 32
                assert fitted.n_features_in_ == 2
                assert fitted.labels_.shape == (len(X),)
                assert (fitted.predict(X) == fitted.labels_).all()
                assert (
                    model(technique=technique, wavelet=wavelet, level=level).fit_predict(X)
                ).shape


def test_default_parameters_are_those_of_the_design():
    kwargs = DPWaveCluster().get_params()
    expected = {"epsilon": 1.0, "grid": 64, "threshold": 0.1, "wavelet": "haar", "level": 1}
    assert expected.items() <= kwargs.items()
    assert kwargs["technique"] == "oneshot"
    assert (
        kwargs["bounds"] is kwargs["ledger"] is kwargs["random_state"] is kwargs["n_public"] is None
    )


def test_labels_are_those_of_the_cell():
    fitted = model(epsilon=math.inf, grid=8, threshold=0.0).fit(
        [[-0.9, -0.9], [-0.6, -0.6], [0.9, 0.9], [0.9, 0.1]]
    )
    assert fitted.cells_.tolist() == [[0, -1, -1, -1], [-1] * 4, [-1] * 4, [-1, -1, 1, 1]]
    new = [[-0.51, -0.99], [-0.49, -0.9], [0.5, 0.0], [0.49, 0.0], [7.0, 7.0], [-7.0, 7.0]]
    assert fitted.predict(new).tolist() == [0, -1, 1, -1, 1, -1]


@pytest.mark.parametrize("columns", [2, 3])
def test_corners_connect(columns):
    counts = np.zeros((8,) * columns, dtype=np.int64)
    for i in range(4):
        counts[(2 * i,) * columns] = 5
    assert model(epsilon=math.inf, grid=8).fit(in_cells(counts)).n_clusters_ == 1
    counts[(4,) * columns] = 0
    assert model(epsilon=math.inf, grid=8).fit(in_cells(counts)).n_clusters_ == 2


def test_borders_do_not_connect():
    records = np.array([[-0.99, 0.0], [0.99, 0.0]])
    assert model(epsilon=math.inf).fit(records).n_clusters_ == 2


def test_single_cells_are_dropped():
    """Of private fits: noise makes them."""
    counts = np.zeros((32, 32), dtype=np.int64)
    counts[4, 4] = 500
    counts[20:24, 20:24] = 100
    fitted = model(epsilon=5.0).fit(in_cells(counts))
    assert fitted.cells_[2, 2] == -1
    assert fitted.n_clusters_ == 1


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_seeds_repeat(technique):
    one, two, other = (model(technique=technique, random_state=s).fit(X) for s in (3, 3, 4))
    assert one.release_ == two.release_
    assert one.release_ != other.release_


def test_a_fit_leaves_nothing_of_the_one_before():
    fitted = model().fit(X)
    fitted.set_params(grid=64).fit(np.zeros((5, 6)))
    assert not hasattr(fitted, "cells_")
    assert fitted.band_shape_ == (32,) * 6


def test_parameters_for_the_next_fit_do_not_change_this_one():
    fitted = model().fit(X)
    fitted.set_params(level=3, grid=8, bounds=(0.0, 9.0))
    assert (fitted.predict(X) == fitted.labels_).all()
    assert (fitted.labels_ >= 0).mean() > 0.9


# The size of an automatic grid


def test_automatic_grids_are_sensible():
    sides = [auto_grid(n, 2, 1.0, 0) for n in (2_000, 10_000, 30_000, 100_000)]
    assert sides == [26, 58, 100, 183]
    window = 9 * 30_000 / 100**2  # records in 3 x 3 cells
    assert window / math.sqrt(9 * 2 + window) == pytest.approx(4, abs=0.05)
    for columns in (1, 2, 3, 6, 12):
        for level in (1, 2, 3):
            sizes = [auto_grid(n, columns, 1.0, level) for n in (-50.0, 1, 1e3, 1e5, 1e7, 1e12)]
            assert sizes == sorted(sizes)
            assert all(size % 2**level == 0 for size in sizes)
            assert min(sizes) >= 4 * 2**level
            assert sizes[-1] <= 512 * 2**level
            assert sizes[-1] ** columns <= 2**22 or sizes[-1] == 4 * 2**level
            budgets = [auto_grid(1e4, columns, e, level) for e in (0.01, 0.1, 1.0, 30.0, math.inf)]
            assert budgets == sorted(budgets)
    assert auto_grid(1e12, 1, 1.0, 18) <= 2**20


def test_a_count_is_paid_for_where_one_is_needed(subtests):
    for kwargs, paid in [
        ({}, False),
        ({"grid": "auto"}, True),
        ({"grid": "auto", "n_public": 9000}, False),
        ({"technique": "baseline"}, True),
        ({"technique": "baseline", "n_public": 9000}, False),
    ]:
        with subtests.test(kwargs=kwargs, paid=paid):
            ledger = Ledger(epsilon=1.0)
            with recording() as tape:
                fitted = model(ledger=ledger, **kwargs).fit(X)
            counts = [draw for draw in tape.draws if draw.shape == (1,)]
            assert [draw.scale for draw in counts] == pytest.approx([1 / 0.02] if paid else [])
            (entry,) = ledger.entries
            assert entry.purpose.startswith("DPWaveCluster(")
            assert ("records 2%, cells 98%" in entry.purpose) == paid
            assert ledger.spent[0].epsilon == pytest.approx(1.0)
            if dict(kwargs).get("grid") == "auto":
                assert 100 <= fitted.grid_ <= 130


# Promises


def test_guarantees():
    fitted = model(random_state=None).fit(X)
    assert fitted.guarantee_.holds
    kwargs = "central differential privacy with epsilon = 1 (add/remove)"
    assert str(fitted.guarantee_).startswith(kwargs)
    fitted = model(random_state=None, epsilon=math.inf).fit(X)
    assert not fitted.guarantee_.holds
    assert "without noise" in str(fitted.guarantee_)
    assert fitted.release_.guarantee == fitted.guarantee_


def test_no_ledger_pays_for_an_infinite_epsilon():
    ledger = Ledger(epsilon=10.0)
    with pytest.raises(ParameterError, match=r"^epsilon must be finite where a ledger is charged"):
        model(epsilon=math.inf, ledger=ledger).fit(X)
    assert len(ledger) == 0


@pytest.mark.parametrize("kwargs", [{}, {"technique": "qt"}, {"epsilon": math.inf}])
def test_releases_are_written_and_read(kwargs):
    release = model(**kwargs).fit(X).release_
    assert release.kind == "DPWaveCluster"
    assert Release.from_json(release.to_json()) == release
    assert "labels" not in "".join(release.values)
    empty = model(**kwargs).fit(np.full((1, 2), 0.3)).release_
    assert Release.from_json(empty.to_json()) == empty


def test_pickle_drops_the_labels():
    fitted = model().fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    assert not hasattr(copy, "labels_")
    assert (copy.predict(X) == fitted.labels_).all()
    assert copy.release_ == fitted.release_


# Tables


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_odd_shapes(technique):
    for shape in [(1, 1), (1, 2), (7, 3), (300, 1), (300, 2), (50, 6)]:
        records = np.random.default_rng(0).uniform(-1, 1, shape)
        for table in (records, np.zeros(shape), np.full(shape, 1.0), np.full(shape, -5.0)):
            for epsilon in (0.01, 1.0, 100.0, math.inf):
                fitted = model(technique=technique, epsilon=epsilon, grid=8).fit(table)
                assert fitted.labels_.shape == (shape[0],)
                assert fitted.cells_.shape == (4,) * shape[1]
                assert fitted.labels_.max(initial=-1) < fitted.n_clusters_


def test_records_outside_the_box_are_clipped():
    far = np.concatenate([X * 3.0, [[1e308, -1e308]]])
    one, two = model().fit(far), model().fit(np.clip(far, -1.0, 1.0))
    assert one.release_ == two.release_
    assert (one.labels_ == two.labels_).all()


def test_boxes_of_any_unit_give_the_same_cells():
    scale, shift = np.array([1024.0, 2.0**-10]), np.array([4096.0, -1.0])
    scaled = model(bounds=(shift - scale, shift + scale)).fit(X * scale + shift)
    assert (scaled.cells_ == model().fit(X).cells_).all()


def test_tables_with_names():
    table = pd.DataFrame(X, columns=["east", "north"])
    fitted = model().fit(table)
    assert fitted.feature_names_in_.tolist() == ["east", "north"]
    assert (fitted.cells_ == model().fit(X).cells_).all()
    assert (fitted.predict(table) == fitted.labels_).all()
    with pytest.raises(DataError, match="feature names"):
        fitted.predict(table[["north", "east"]])
