"""The estimator as a whole: odd tables, sizes, labels, and the parameters it refuses."""

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV

from contracts.audits import divides_rounds_as_su_et_al
from helpers.kmeans_problems import FIVE, blobs
from helpers.noise_recorder import recording
from shoal._registry import choices
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans import pack_spheres
from shoal.cluster.kmeans._methods import METHODS as KMEANS_METHODS
from shoal.exceptions import DataError, MissingBoundsError, ParameterError
from shoal.noise import SeededSource
from shoal.privacy import GDPEvent, Ledger, gdp_to_epsilon
from shoal.reports import label_on_device
from shoal.tables import ArrayTable

X = blobs(10_000)
METHODS = choices("DPKMeans", "method")


def model(k=5, **kwargs):
    return DPKMeans(k, **{"epsilon": 1.0, "bounds": (-1.0, 1.0), "random_state": 0, **kwargs})


@pytest.mark.parametrize("method", METHODS)
def test_noisy_sizes_are_near_the_true_ones(method, subtests):
    for delta in [0.0, 1e-6]:
        with subtests.test(delta=delta):
            fitted = model(method=method, epsilon=10.0, delta=delta).fit(X)
            true = np.bincount(fitted.labels_, minlength=5)
            # The sizes were counted around the centers of the pass before: nearly the same ones.
            assert np.abs(fitted.cluster_sizes_ - true).sum() < 0.05 * len(X)
            assert (fitted.cluster_sizes_ != true).any()
            assert fitted.cluster_sizes_.dtype == np.int64
            assert (fitted.cluster_sizes_ >= 0).all()


def test_rounds_are_divided_as_published():
    divides_rounds_as_su_et_al()


def test_public_number_of_records_saves_the_noisy_count():
    with recording() as tape:
        model(method="grid").fit(X)
    with recording() as public:
        model(method="grid", n_public=len(X)).fit(X)
    assert tape.draws[0].shape == (1,)
    assert all(draw.shape != (1,) for draw in public.draws)
    assert len(public.draws) == len(tape.draws) - 1


def test_a_public_number_is_taken_at_its_word():
    for n in (1, 10**9):
        for method in METHODS:
            fitted = model(method=method, n_public=n).fit(X)
            assert np.abs(fitted.cluster_centers_).max() <= 1.0


@pytest.mark.parametrize("method", ["lloyd", "grid", "ball"])
def test_gaussian_budget_converts_back_to_epsilon(method):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    model(delta=1e-6, ledger=ledger, method=method).fit(X)
    (entry,) = ledger.entries
    assert isinstance(entry.event, GDPEvent)
    assert gdp_to_epsilon(entry.event.mu, 1e-6) == pytest.approx(1.0, rel=1e-9)


def test_first_centers_come_from_the_box_alone():
    centers = pack_spheres(12, 2, SeededSource(0))
    assert np.abs(centers).max() <= 1.0
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2) + 9 * np.eye(12)
    assert gaps.min() > 0.3  # twelve points at random would have some pair within 0.1


def test_empty_clusters_are_moved_to_where_records_are():
    corner = np.random.default_rng(0).normal([9.0, 9.0], 0.3, (5000, 2))
    other = np.random.default_rng(1).normal([9.0, 6.0], 0.3, (5000, 2))
    kwargs = {"epsilon": 20.0, "bounds": (-10.0, 10.0), "method": "lloyd", "max_iter": 7}
    fitted = model(2, random_state=1, **{**kwargs}).fit(np.concatenate([corner, other]))
    assert sorted(np.rint(fitted.cluster_centers_[:, 1]).tolist()) == [6.0, 9.0]


@pytest.mark.parametrize("method", METHODS)
def test_predict_agrees_with_labels_and_score_with_the_cost(method):
    fitted = model(method=method).fit(X)
    assert (fitted.predict(X) == fitted.labels_).all()
    assert (model(method=method).fit_predict(X) == fitted.labels_).all()
    gaps = (X - fitted.cluster_centers_[fitted.labels_]) / 2  # of a box 2 wide
    assert fitted.score(X) == pytest.approx(-(gaps**2).sum())


def test_grid_search_spends_on_every_fit():
    ledger = Ledger(epsilon=100.0)
    search = GridSearchCV(model(2, ledger=ledger), {"n_clusters": [2, 3]}, cv=3)
    search.fit(X)
    assert ledger.spent[0].epsilon == pytest.approx(2 * 3 + 1)


@pytest.mark.parametrize("method", METHODS)
def test_odd_shapes(method, subtests):
    for delta in [0.0, 1e-6]:
        with subtests.test(delta=delta):
            for shape in [(1, 1), (1, 2), (3, 2), (200, 1), (200, 30), (40, 300)]:
                if shape[1] > KMEANS_METHODS[method].max_columns:
                    continue
                noise = "gaussian" if delta else "average"
                records = np.random.default_rng(0).uniform(-1, 1, shape)
                for table in (records, np.zeros(shape), np.ones(shape)):
                    fitted = model(5, method=method, delta=delta, noise=noise).fit(table)
                    k = len(fitted.cluster_centers_)
                    assert k == 5 or (method, k) == ("centered", 1)  # one mean is all
                    assert fitted.cluster_centers_.shape == (k, shape[1])
                    assert np.abs(fitted.cluster_centers_).max() <= 1.0
                    known = np.isfinite(fitted.center_radius_)
                    assert (fitted.center_radius_[known] < np.sqrt(shape[1])).all()
                    assert fitted.certain_.shape == fitted.noise_probability_.shape == (k,)
                    assert (
                        (fitted.noise_probability_ >= 0) & (fitted.noise_probability_ <= 1)
                    ).all()
                    assert fitted.labels_.shape == (shape[0],)


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns(method):
    table = np.column_stack([X, np.full(len(X), 0.25)])
    fitted = model(method=method, epsilon=20.0).fit(table)
    heavy = fitted.cluster_sizes_ > 500
    assert fitted.cluster_centers_[heavy, 2] == pytest.approx(0.25, abs=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_records_outside_the_box_are_clipped(method):
    far = X * 3.0
    one = model(method=method).fit(far)
    two = model(method=method).fit(np.clip(far, -1.0, 1.0))
    assert (one.cluster_centers_ == two.cluster_centers_).all()
    assert (one.cluster_sizes_ == two.cluster_sizes_).all()
    giants = np.concatenate([X, [[1e308, -1e308]]])
    assert np.abs(model(method=method).fit(giants).cluster_centers_).max() <= 1.0


@pytest.mark.parametrize("method", METHODS)
def test_boxes_of_any_unit_give_the_same_clusters(method):
    plain = model(method=method).fit(X)
    scale, shift = np.array([1024.0, 2.0**-10]), np.array([4096.0, -1.0])
    box = (shift - scale, shift + scale)
    scaled = model(method=method, bounds=box).fit(X * scale + shift)
    assert scaled.cluster_centers_ == pytest.approx(plain.cluster_centers_ * scale + shift)
    assert (scaled.labels_ == plain.labels_).all()
    # The metric is that of the bounds, so nothing that speaks of distance has changed either.
    assert (scaled.center_radius_ == plain.center_radius_).all()
    assert scaled.score(X * scale + shift) == pytest.approx(plain.score(X))


def test_tables_with_names():
    table = pd.DataFrame(X, columns=["east", "north"])
    fitted = model().fit(table)
    assert fitted.feature_names_in_.tolist() == ["east", "north"]
    assert (fitted.cluster_centers_ == model().fit(X).cluster_centers_).all()
    assert (fitted.predict(table) == fitted.labels_).all()
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(table[["north", "east"]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_named_tables_in_memory_are_checked(bad):
    ledger = Ledger(epsilon=5.0)
    for names in ((), ("a", "b")):
        with pytest.raises(DataError):
            DPKMeans(2, bounds=(-1.0, 1.0), ledger=ledger).fit(
                ArrayTable(np.array([[0.0, 0.5], [bad, 0.5]]), names)
            )
    assert len(ledger) == 0


def test_missing_bounds():
    with pytest.raises(MissingBoundsError):
        DPKMeans(3, bounds=None).fit(X)


SMALL = np.arange(-12.0, -3.0, 0.5)


def fits(estimator, table):
    try:
        estimator.fit(table)
    except ParameterError as error:
        if "epsilon must be larger" not in str(error):
            raise
        return False
    return True


@pytest.mark.full
def test_smallest_epsilons_that_pass_the_check_can_be_drawn():
    for method in METHODS:
        for k in (3, "private"):
            for columns in (2, 20):
                if method in ("grid", "tree") and columns == 20:
                    continue
                table = np.zeros((4, columns))
                drawn = [fits(model(k, method=method, epsilon=10.0**p), table) for p in SMALL]
                assert drawn == sorted(drawn)
                assert drawn[-1]


@pytest.mark.full
@pytest.mark.parametrize("method", ["lloyd", "kccm"])
def test_many_rounds_need_a_larger_epsilon(method):
    def drawn(rounds):
        settings = {"method": method, "max_iter": rounds}
        return [fits(model(3, epsilon=10.0**p, **settings), np.zeros((4, 2))) for p in SMALL]

    assert drawn(40) == sorted(drawn(40))
    assert sum(drawn(40)) < sum(drawn(1))


def test_centers_find_the_blobs():
    fitted = model(epsilon=2.0).fit(X)
    gaps = np.linalg.norm(fitted.cluster_centers_[:, None] - FIVE[None], axis=2)
    assert gaps.min(axis=0).max() < 0.02


@pytest.mark.parametrize("kind", [pa.RecordBatch.from_pandas, nw.from_native])
def test_every_frame_has_names(kind):
    """Columns in another order are refused or put in order, never taken for each other."""
    frame = pd.DataFrame(np.repeat([[-5.0, 5.0], [5.0, -5.0]], 500, axis=0), columns=["a", "b"])
    model = DPKMeans(2, epsilon=100.0, bounds=(-10.0, 10.0)).fit(kind(frame))
    assert model.release_.values["columns"] == ["a", "b"]
    assert (model.predict(kind(frame)) == model.labels_).all()
    other = kind(frame[["b", "a"]])
    with pytest.raises(DataError, match="feature names"):
        model.predict(other)
    assert (label_on_device(model.release_, other) == model.labels_).all()
