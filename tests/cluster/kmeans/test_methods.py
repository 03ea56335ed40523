"""The list of methods; "auto": which method, which noise, and why; what a release of each holds."""

import contextlib
import pickle

import numpy as np
import pytest

from helpers.kmeans_problems import blobs, corners
from helpers.noise_recorder import recording
from shoal import _registry
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans._auto import choose_method, choose_noise
from shoal.cluster.kmeans._methods import METHODS
from shoal.exceptions import ParameterError
from shoal.privacy import GDPEvent, Ledger, PureEvent, Release

X = blobs(2000)
NAMES = ["auto", *METHODS]


def test_the_list_is_that_of_the_registry():
    registered = [one for one in _registry.METHODS if one.class_name == "DPKMeans"]
    limits = {one.kwargs["method"]: one.max_columns for one in registered}
    assert limits == {name: method.max_columns for name, method in METHODS.items()}
    assert tuple(METHODS) == tuple(limits)


def model(k=5, **kwargs):
    return DPKMeans(k, **{"epsilon": 1.0, "bounds": (-1.0, 1.0), "random_state": 0, **kwargs})


def test_method_by_columns_and_noise_by_size(subtests):
    for columns in [1, 2, 4, 5, 16, 17, 32, 33, 300, 8192]:
        with subtests.test(columns=columns):
            for epsilon in [1e-3, 0.1, 1.0, 10.0, 1e4]:
                pure = choose_noise(columns, epsilon, 0.0)
                assert not pure.noise.approximate
                assert "delta is 0" in pure.reason
                both = choose_noise(columns, epsilon, 1e-6)
                why = (
                    "Gaussian noise is the smaller one"
                    if both.noise.approximate
                    else "pure noise is the"
                )
                assert why in both.reason
                for noise in (pure.noise, both.noise):
                    method, _ = choose_method(1e5, columns, 8, noise, noise.total_budget)
                    assert method.name in suited(columns, pure=not noise.approximate)


def suited(columns, *, pure):
    """Return the methods that may be chosen, by the number of columns."""
    if columns < 5:
        return {"tree"} if pure else {"grid"}
    if columns <= 32:
        return {"centered", "ball"}
    return {"ball"}


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_gaussian_noise_is_for_many_columns(delta):
    chosen = [choose_noise(d, 1.0, delta).noise.approximate for d in (1, 2, 100, 300, 1000)]
    assert chosen == sorted(chosen)
    assert chosen[:2] == [False, False]
    assert chosen[-1]


def test_delta_that_is_not_needed_is_not_spent():
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    fitted = model(delta=1e-6, ledger=ledger).fit(X)
    assert (fitted.method_, fitted.guarantee_.delta) == ("grid", 0.0)
    assert "delta is not used" in fitted.reason_
    (entry,) = ledger.entries
    assert isinstance(entry.event, PureEvent)
    assert entry.event.epsilon == 1.0
    with recording() as tape:
        model(delta=1e-6).fit(X)
    assert all(draw.sampler != "rounded_gaussian" for draw in tape.draws)


def test_delta_that_is_needed_is_spent():
    wide = blobs(300, corners(200, 3))
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    fitted = model(3, delta=1e-6, ledger=ledger).fit(wide)
    assert (fitted.method_, fitted.guarantee_.delta) == ("ball", 1e-6)
    (entry,) = ledger.entries
    assert isinstance(entry.event, GDPEvent)
    assert fitted.release_.guarantee.delta == 1e-6


@pytest.mark.parametrize("method", ["grid", "ball", "lloyd"])
def test_delta_that_is_asked_for_is_used(method):
    assert model(method=method, delta=1e-6).fit(X).guarantee_.delta == 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_was_asked_for_runs(method):
    crowded = np.repeat([[-9.0, -9.0], [0.1, 0.1], [9.0, 9.0]], 5000, axis=0)
    fitted = model(method=method, epsilon=5.0).fit(crowded if method == "tree" else X)
    assert (fitted.method_, fitted.reason_) == (method, "asked for")
    assert fitted.release_.values["method"] == method


@pytest.mark.parametrize("method", ["auto", "tree"])
def test_a_tree_of_records_that_do_not_crowd_is_called_the_grid_that_ran(method):
    even = np.random.default_rng(0).uniform(-9.0, 9.0, (3000, 2))
    fitted = model(method=method).fit(even)
    assert fitted.method_ == fitted.release_.values["method"] == "grid"
    assert "cells" in fitted.release_.values
    assert fitted.reason_.endswith("records do not crowd enough for a tree")


@pytest.mark.parametrize("method", NAMES)
def test_release_comes_back_from_json(method, subtests):
    for given in [{}, {"sample_weight": np.ones(len(X))}]:
        with subtests.test(given=given):
            kwargs = {"method": method, "bounds": "private", "epsilon": 5.0}
            fitted = model("private", **kwargs).fit(X, **given)
            release = fitted.release_
            back = Release.from_json(release.to_json())
            assert back.kind == "DPKMeans"
            assert back.guarantee == release.guarantee == fitted.guarantee_
            assert set(back.values) >= {
                "centers",
                "sizes",
                "radii",
                "low",
                "high",
                "method",
                "rounds",
            }
            assert back.values["method"] == fitted.method_
            assert (np.asarray(back.values["centers"]) == fitted.cluster_centers_).all()
            assert (np.asarray(back.values["sizes"]) == fitted.cluster_sizes_).all()
            assert (np.asarray(back.values["radii"]) == fitted.center_radius_).all()


@pytest.mark.parametrize("method", NAMES)
def test_a_release_holds_nothing_as_long_as_the_table(method):
    fitted = model(method=method, epsilon=5.0).fit(X)
    sizes = [np.size(value) for value in fitted.release_.values.values()]
    assert max(sizes) <= 10


@pytest.mark.parametrize("method", NAMES)
def test_pickle_drops_labels_and_keeps_the_rest(method):
    fitted = model(method=method).fit(X)
    back = pickle.loads(pickle.dumps(fitted))
    assert not hasattr(back, "labels_")
    assert hasattr(fitted, "labels_")
    assert (back.cluster_centers_ == fitted.cluster_centers_).all()
    assert (back.predict(X) == fitted.labels_).all()
    assert back.guarantee_ == fitted.guarantee_


def test_second_moments_that_no_lattice_holds_are_refused_before_they_are_paid():
    """With so many declared records directions are worth asking for at the smallest epsilons."""
    table = np.zeros((4, 2))
    for epsilon in np.geomspace(5e-8, 8e-8, 8).tolist():
        ledger = Ledger(epsilon=1.0, delta=1e-6)
        settings = {"epsilon": epsilon, "delta": 1e-9, "n_public": 4 * 10**9, "ledger": ledger}
        with contextlib.suppress(ParameterError):
            assert model(method="ball", **settings).fit(table).n_iter_ > 0
            continue
        assert len(ledger) == 0
