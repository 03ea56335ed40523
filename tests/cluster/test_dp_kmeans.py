import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV

from contracts import checks
from shoal.cluster import DPKMeans
from shoal.cluster._budget import lloyd_rounds, split_pure, split_zcdp
from shoal.cluster._centres import pack_spheres
from shoal.datasets import make_gaussians
from shoal.metrics import cost_ratio
from shoal.noise import SeededSource
from shoal.privacy import Ledger, zcdp_to_epsilon

BLOBS = make_gaussians(20_000, n_clusters=5, spread=0.04, random_state=5)
PLAIN = KMeans(5, n_init=10, random_state=0).fit(BLOBS.X).cluster_centers_


def fitted(**words):
    return DPKMeans(5, bounds=(-1.0, 1.0), random_state=0, **words).fit(BLOBS.X)


def typical_cost(**words):
    """Median over seeds: a bad start costs k-means more than noise does."""
    models = [DPKMeans(5, bounds=(-1.0, 1.0), random_state=s, **words) for s in range(9)]
    costs = [cost_ratio(BLOBS.X, m.fit(BLOBS.X).cluster_centers_, reference=PLAIN) for m in models]
    return float(np.median(costs))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_cost_falls_with_epsilon_towards_that_of_plain_k_means(delta):
    costs = [typical_cost(epsilon=epsilon, delta=delta) for epsilon in (0.05, 0.5, 50.0)]
    assert costs[0] > costs[1] > costs[2]
    assert costs[2] < 1.01


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_noisy_sizes_are_near_the_true_ones(delta):
    model = fitted(epsilon=5.0, delta=delta)
    true = np.bincount(model.labels_, minlength=5)
    # The sizes were counted around the centres of the round before: nearly the same ones.
    assert np.abs(model.cluster_sizes_ - true).sum() < 0.02 * len(BLOBS.X)
    assert (model.cluster_sizes_ != true).any()


def test_rounds_are_divided_as_published():
    checks.divides_rounds_as_su_et_al()


def test_centres_survive_an_audit():
    checks.survives_an_audit_of_centres()


def test_shares_add_up():
    for d in (1, 2, 10, 100):
        assert sum(split_pure(0.7, d)) == pytest.approx(0.7, rel=1e-12)
        assert sum(split_zcdp(0.7, d)) == pytest.approx(0.7, rel=1e-12)


def test_number_of_rounds_by_the_formula():
    q = (4 * 2 * 0.225**2) ** (1 / 3)
    epsilon_of_a_round = np.sqrt(500 * 5**3 * (2 + q) ** 3) / 20_000
    assert lloyd_rounds(20_000, 2, 5, 4.5 * epsilon_of_a_round) == 4
    assert lloyd_rounds(20_000, 2, 5, 1e-9) == 2
    assert lloyd_rounds(20_000, 2, 5, 1e9) == 7
    assert lloyd_rounds(-50.0, 2, 5, 1.0) == 2  # a noisy count may be negative


def test_public_number_of_records_saves_the_noisy_count():
    with checks.recording() as tape:
        fitted(epsilon=1.0)
    with checks.recording() as public:
        fitted(epsilon=1.0, n_public=20_000)
    assert tape.draws[0].shape == (1,)
    assert all(draw.shape != (1,) for draw in public.draws)


def test_gaussian_budget_converts_back_to_epsilon():
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    fitted(epsilon=1.0, delta=1e-6, ledger=ledger)
    (entry,) = ledger.entries
    assert zcdp_to_epsilon(entry.event.rho, 1e-6) <= 1.0
    assert zcdp_to_epsilon(entry.event.rho, 1e-6) == pytest.approx(1.0, rel=1e-6)


def test_first_centres_come_from_the_box_alone():
    centres = pack_spheres(12, 2, SeededSource(0))
    assert np.abs(centres).max() <= 1.0
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 9 * np.eye(12)
    assert gaps.min() > 0.3  # twelve points at random would have some pair within 0.1


def test_empty_clusters_are_moved_to_where_records_are():
    corner = np.random.default_rng(0).normal([9.0, 9.0], 0.3, (5000, 2))
    other = np.random.default_rng(1).normal([9.0, 6.0], 0.3, (5000, 2))
    X = np.concatenate([corner, other])
    model = DPKMeans(2, epsilon=20.0, bounds=(-10.0, 10.0), max_iter=7, random_state=1).fit(X)
    assert sorted(np.rint(model.cluster_centers_[:, 1]).tolist()) == [6.0, 9.0]


def test_predict_agrees_with_labels_and_score_with_the_cost():
    model = fitted(epsilon=1.0)
    assert (model.predict(BLOBS.X) == model.labels_).all()
    gaps = BLOBS.X - model.cluster_centers_[model.labels_]
    assert model.score(BLOBS.X) == pytest.approx(-(gaps**2).sum())


def test_grid_search_spends_on_every_fit():
    ledger = Ledger(epsilon=100.0)
    model = DPKMeans(2, epsilon=1.0, bounds=(-1.0, 1.0), ledger=ledger, random_state=0)
    GridSearchCV(model, {"n_clusters": [2, 3]}, cv=3).fit(BLOBS.X)
    assert ledger.spent.epsilon == pytest.approx(2 * 3 + 1)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_one_column_and_many_columns(delta):
    for d in (1, 30):
        X = np.random.default_rng(0).uniform(-1, 1, (200, d))
        model = DPKMeans(3, epsilon=1.0, delta=delta, bounds=(-1.0, 1.0)).fit(X)
        assert np.abs(model.cluster_centers_).max() <= 1.0
