"""The tree method: which synopsis it takes, how good it is, and bugs that a replay must find."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from helpers.kmeans_problems import blobs, problem
from shoal.audit import _recorder, neighboring_datasets, replay_estimator
from shoal.cluster import DPKMeans, _leaves
from shoal.cluster._leaves import NoisyLeaves
from shoal.cluster._noise import PureNoise
from shoal.cluster.kmeans import _tree
from shoal.cluster.kmeans._tree import TreeLeaves, TreeMethod, leaf_windows, release_tree
from shoal.metrics import nicv
from shoal.noise import TreeShape, discrete_laplace, observed, tree_shape

BOX = (-1.0, 1.0)
MODEL = DPKMeans()
CROWD = blobs(4000) / 40 + 0.37  # five clusters in a fortieth of the box


def model(method="tree", **kwargs):
    return DPKMeans(5, **{"bounds": BOX, "method": method, "random_state": 0, **kwargs})


def test_a_tree_where_records_crowd_and_a_grid_where_they_do_not():
    crowded = model().fit(CROWD).release_.values
    spread = model().fit(blobs(2000)).release_.values
    assert "leaves" in crowded
    assert "cells" not in crowded
    assert "cells" in spread
    assert "leaves" not in spread


def test_few_records_have_the_grid_and_all_its_budget():
    """A number that would be noise is not bought: the result is the grid's own, bit for bit."""
    X = blobs(200)
    one, other = (model(method).fit(X).cluster_centers_ for method in ("tree", "grid"))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_far_better_than_a_grid_on_a_crowd(epsilon):
    best = KMeans(5, n_init=4, random_state=0).fit(CROWD).inertia_ / len(CROWD)
    cost = {
        method: np.mean(
            [
                nicv(
                    CROWD,
                    model(method, epsilon=epsilon, random_state=seed).fit(CROWD).cluster_centers_,
                )
                for seed in range(3)
            ]
        )
        for method in ("tree", "grid")
    }
    assert cost["tree"] < 0.25 * cost["grid"]
    assert cost["tree"] < 6 * best


def test_clusters_are_counted_on_leaves():
    fitted = DPKMeans("private", bounds=BOX, method="tree", random_state=0, epsilon=4.0).fit(CROWD)
    assert "leaves" in fitted.release_.values
    assert len(fitted.cluster_centers_) == 5


def test_delta_is_not_used():
    assert model(delta=1e-6).fit(CROWD).guarantee_.delta == 0.0


def test_the_budget_is_spent_and_no_more(subtests):
    for columns, n in [(1, 4000), (2, 300), (2, 4000), (6, 4000)]:
        for scale in (1.0, 0.02):
            with subtests.test(columns=columns, n=n, scale=scale):
                X = np.resize(blobs(n), (n, columns)) * scale
                given = problem(X, 3, epsilon=1.0)
                costs = []

                class Recorder:
                    def release(self, exact, noise, cost, released, costs=costs):
                        costs.append(cost)
                        return released

                with observed(Recorder()):
                    TreeMethod(MODEL).run(given)
                assert sum(costs) == pytest.approx(1.0)


@pytest.mark.parametrize("contribution", [1, 3])
def test_a_person_costs_no_more_than_each_release_declares(contribution):
    """One person's records, spread or in one place, against what is declared for each release."""
    rng = np.random.default_rng(contribution)
    for added in (np.full((contribution, 2), 0.38), rng.uniform(-1, 1, (contribution, 2))):
        steps = []
        for X in (CROWD, np.concatenate([CROWD, added])):
            recorder = _recorder.Recorder(steps[0] if steps else ())
            with observed(recorder):
                n = len(CROWD) / contribution
                _tree._cluster_tree(problem(X, 5, n=n, contribution=contribution))
            steps.append(recorder.steps)
        losses = [
            one.noise.privacy_loss(one.exact, other.exact)
            for one, other in zip(*steps, strict=True)
        ]
        costs = [step.cost for step in steps[0]]
        assert len(costs) >= 2
        assert all(loss <= cost * (1 + 1e-12) for loss, cost in zip(losses, costs, strict=True))
        assert sum(costs) == pytest.approx(1.0)


def test_windows_are_as_wide_as_the_leaves_say():
    given = problem(CROWD, 5, epsilon=2.0)
    leaves, _ = release_tree(given)
    centers = np.rint(KMeans(5, n_init=4, random_state=0).fit(CROWD).cluster_centers_ * given.half)
    radii = leaf_windows(leaves, centers.astype(np.int64), given, 0.4) / given.half
    # Clusters of deviation 0.05 / 40 in each of two columns, in a box of half width 1.
    assert (radii > 0.001).all()
    assert (radii < 0.02).all()
    twice = TreeLeaves(leaves.cells._replace(midpoints=2 * leaves.cells.midpoints), leaves.widths)
    wider = leaf_windows(twice, (2 * centers).astype(np.int64), given, 0.4) / given.half
    assert (wider >= radii).all()


def test_noise_in_empty_outskirts_is_left_out():
    depths = np.array([2, 2, 3, 4, 9, 9, 9, 9])
    noisy = np.array([5, -3, 8, 2, 900, 800, 7, 30])
    places = np.array([900.0, -900, 500, 300, 10, -10, 30, -30])[:, None]

    def left_out():
        leaves = NoisyLeaves(places, places, depths, noisy, np.maximum(noisy, 0.0), 10.0)
        return _leaves._outskirts(leaves).tolist()

    assert left_out() == [True, True, True, True, False, False, False, False]
    noisy[3] = 20  # 30 spreads away, where noise of 2 deviations is likelier than a record
    assert left_out()[3]
    noisy[3] = 120
    assert not left_out()[3]
    places[3], noisy[3] = 20.0, 20  # and near by it is not
    assert not left_out()[3]


# Bugs that a replay must find. So few records do not crowd by themselves.

TREE = DPKMeans(2, bounds=(-1.0, 1.0), method="tree", epsilon=60.0)


def findings():
    # Every other pair, once: a replay is exact, and each bug below shows on one of these.
    pairs = list(neighboring_datasets(BOX, n=20))[::2]
    return "\n".join(replay_estimator(TREE, pairs, repeats=1).findings)


@pytest.fixture
def crowd(monkeypatch):
    monkeypatch.setattr(_tree, "CROWDED", -1.0)
    assert findings() == ""


@pytest.mark.usefixtures("crowd")
def test_a_tree_split_by_the_true_counts(monkeypatch):
    def exact_shape(exact, noise, *, cost, source):
        assert isinstance(noise, tree_shape.TreeShapeNoise)
        with pytest.MonkeyPatch.context() as quiet:
            quiet.setattr(
                tree_shape,
                "discrete_laplace",
                lambda size, *, scale, source: np.zeros(size, dtype=np.int64),
            )
            return noise.sample(exact, source)

    monkeypatch.setattr(_leaves, "privatize", exact_shape)
    found = findings()
    assert "costs inf" in found or "differs although" in found


@pytest.mark.usefixtures("crowd")
def test_noisy_values_of_splits_taken_for_counts(monkeypatch):
    """The value that decided a split, without noise of its own."""
    right = PureNoise.counts

    def reused(self, values, budget, *, contribution, source):
        if len(values) == 1:
            return right(self, values, budget, contribution=contribution, source=source)
        noise = discrete_laplace(len(values), scale=1.0, source=source)
        return values + noise

    monkeypatch.setattr(PureNoise, "counts", reused)
    assert "differs although all noisy values are the same" in findings()


@pytest.mark.usefixtures("crowd")
def test_leaves_without_records_left_out(monkeypatch):
    """Only nodes that hold somebody are visited, and so only these are leaves."""
    right = tree_shape.TreeShapeNoise.sample

    def skipping(self, exact, source):
        shape = right(self, exact, source)
        ends = shape.codes + (np.int64(1) << (self.depth - shape.depths))
        held = np.searchsorted(exact.codes, ends) > np.searchsorted(exact.codes, shape.codes)
        held[0] = True
        return TreeShape(shape.codes[held], shape.depths[held])

    def unobserved(exact, noise, *, cost, source):
        return skipping(noise, exact, source)

    monkeypatch.setattr(_leaves, "privatize", unobserved)
    found = findings()
    assert "costs inf" in found or "differs although" in found


@pytest.mark.usefixtures("crowd")
def test_half_the_noise_of_the_shape(monkeypatch):
    right = tree_shape.TreeShapeNoise.for_budget

    def wrong(epsilon, **kwargs):
        return right(2 * epsilon, **kwargs)

    monkeypatch.setattr(tree_shape.TreeShapeNoise, "for_budget", wrong)
    assert ", declared" in findings()
