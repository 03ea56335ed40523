"""What a pickle carries beside the release: a replay of the whole state, and bugs it must find."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPDensity, DPWaveCluster
from shoal.cluster._leaves import release_shape
from shoal.cluster.density import _cells, _crowded, dp_density

BOX = (-1.0, 1.0)
RNG = np.random.default_rng(0)
SPREAD = RNG.normal(scale=0.3, size=(200, 2))
CITY = 0.613 + RNG.normal(scale=0.002, size=(1500, 2))
MODELS = {
    "grid": (DPDensity(bounds=BOX), SPREAD),
    "windows": (DPDensity(epsilon=2.0, bounds=BOX, n_clusters=1), CITY),
    "windows of one column": (DPDensity(epsilon=2.0, bounds=BOX, n_clusters=1), CITY[:, :1]),
    "wavecluster": (DPWaveCluster(bounds=BOX, grid="auto", threshold="auto"), SPREAD),
}


def state(model):
    """Return everything that a fit leaves behind, but for the number of its receipt."""
    kept = {name: value for name, value in vars(model).items() if name != "ledger"}
    kept["release_"] = dict(kept["release_"].values)
    return {name: pickle.dumps(value).hex() for name, value in kept.items()}


def findings(name):
    model, records = MODELS[name]
    places = {"in the crowd": 0.613, "on the upper border": 1.0, "outside": -7.0}
    pairs = [
        Neighbors(place, records, np.full(records.shape[1], value))
        for place, value in places.items()
    ]
    return "\n".join(replay_estimator(model, pairs, repeats=1, published=state).findings)


@pytest.mark.parametrize("name", MODELS)
def test_the_whole_state_is_a_function_of_noisy_values(name):
    assert findings(name) == ""


def test_exact_counts_kept_beside_the_noisy_ones(monkeypatch):
    seen, count, release = [], _cells.grid_counts, dp_density.release_cells

    def counting(*args):
        seen.append(count(*args))
        return seen[-1]

    def keeping(*args, **kwargs):
        released = release(*args, **kwargs)
        vars(released.noisy)["exact"] = seen[-1]
        return released

    monkeypatch.setattr(_cells, "grid_counts", counting)
    monkeypatch.setattr(dp_density, "release_cells", keeping)
    assert "_noisy differs" in findings("grid")


def test_leaves_kept_with_their_exact_counts(monkeypatch):
    seen, shape, release = [], release_shape, _crowded.release_crowded

    def shaping(*args, **kwargs):
        seen.append(shape(*args, **kwargs))
        return seen[-1]

    def keeping(*args, **kwargs):
        crowded = release(*args, **kwargs)
        vars(crowded)["exact"] = seen[-1].exact
        return crowded

    monkeypatch.setattr(_crowded, "release_shape", shaping)
    monkeypatch.setattr(_cells, "release_crowded", keeping)
    assert "_noisy differs" in findings("windows of one column")


def test_simulations_leave_the_random_numbers_of_the_caller_alone():
    model, records = MODELS["grid"]
    np.random.seed(7)  # not what a simulation may have left
    before = np.random.get_state()[1].copy()
    clone(model).fit(records).refine(alpha=0.5)
    assert (np.random.get_state()[1] == before).all()


def test_windows_do_not_ask_for_the_exact_counts_of_leaves(monkeypatch):
    model, records = MODELS["windows of one column"]

    def without(*args, **kwargs):
        leaves = release_shape(*args, **kwargs)
        return leaves._replace(exact=np.full(len(leaves.exact), 10**6))

    right = clone(model).set_params(random_state=0).fit(records)
    monkeypatch.setattr(_crowded, "release_shape", without)
    same = clone(model).set_params(random_state=0).fit(records)
    assert state(same) == state(right)
