"""Attacks on forests that need no toolbox."""

import numpy as np
import pytest

from helpers.attack_data import coin_classes
from shoal.audit.attacks import _forests
from shoal.audit.attacks._forests import (
    Forest,
    _best_cut,
    _kept,
    learn_label_attack,
    learn_loss_attack,
    train_shadows,
)


def test_score_is_how_far_the_loss_is_below_the_usual():
    X, y = coin_classes(200)
    scorer = learn_loss_attack(X[:120], y[:120], 2, shadow_models=2, seed=5)
    losses = []
    for forest, inside, _ in train_shadows(X[:120], y[:120], 2, shadow_models=2, seed=5):
        votes = forest.predict_proba(X[inside])[np.arange(60), y[inside]]
        assert votes.min() > 0.005
        losses.append(-np.log(votes))
    forest = Forest(2, 2, seed=0).fit(X[120:160], y[120:160])
    likelihood = np.maximum(forest.predict_proba(X)[np.arange(200), y], 0.005)
    assert np.allclose(scorer(forest, X, y), np.mean(losses) + np.log(likelihood))


def test_a_class_without_a_vote_has_a_finite_loss():
    X, y = coin_classes(100)
    scorer = learn_loss_attack(X, y, 2, shadow_models=1, seed=0)
    certain = Forest(2, 2, seed=0).fit(X, np.zeros(100, dtype=int))
    scores = scorer(certain, X, np.ones(100, dtype=int))
    assert np.isfinite(scores).all()
    assert (scores < 0).all()
    assert (scorer(certain, X, np.zeros(100, dtype=int)) > 0).all()


def test_shadow_models_have_halves_of_their_own():
    X, y = coin_classes(101)
    shadows = train_shadows(X, y, 2, shadow_models=3, seed=0)
    assert len(shadows) == 3
    for forest, inside, outside in shadows:
        assert sorted([*inside, *outside]) == list(range(101))
        assert (forest.predict(X[inside]) == y[inside]).mean() > 0.9
        assert (forest.predict(X[outside]) == y[outside]).mean() < 0.75
    assert set(shadows[0].inside) != set(shadows[1].inside)


@pytest.fixture
def halves():
    """Forest that calls the right half-plane 1, with the boundary near 0."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (2000, 2))
    return Forest(2, 2, seed=0).fit(X, (X[:, 0] > 0).astype(int))


def test_share_of_kept_labels(halves):
    X = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.0], [0.2, 0.0]])
    rng = np.random.default_rng(1)
    shares = _kept(halves, np.repeat(X, 200, axis=0), np.repeat([1, 1, 1, 1], 200), 0.1, rng)
    far, wrong, edge, near = shares.reshape(4, 200).mean(axis=1)
    assert far > 0.99
    assert wrong < 0.01
    # 4000 copies: half of them up to the forest's own idea of where the boundary is.
    assert edge == pytest.approx(0.5, abs=0.1)
    # Two standard deviations from the boundary: 97.7% of a normal law.
    assert near == pytest.approx(0.977, abs=0.02)


def test_batches_change_nothing(halves, monkeypatch):
    X, y = coin_classes(50)
    whole = _kept(halves, X, y, 0.1, np.random.default_rng(2))
    monkeypatch.setattr(_forests, "MAX_VALUES", 7 * _forests.COPIES * 2)
    assert np.array_equal(_kept(halves, X, y, 0.1, np.random.default_rng(2)), whole)


def test_cut_by_hand():
    cut = _best_cut(np.array([1.0, 0.9, 0.2]), np.array([0.8, 0.2, 0.1]), 0.3)
    assert cut == pytest.approx((2 / 3, 0.3, 0.9))
    # Others do better than members: the best that is left is to call everybody a member.
    assert _best_cut(np.zeros(2), np.ones(2), 0.3) == (0.0, 0.3, 0.0)


def test_members_of_an_overfitted_forest_keep_their_labels():
    X, y = coin_classes(400)
    scorer = learn_label_attack(X[:300], y[:300], 2, shadow_models=3, seed=0)
    forest = Forest(2, 2, seed=1).fit(X[300:350], y[300:350])
    members = scorer(forest, X[300:350], y[300:350]) >= 0
    others = scorer(forest, X[350:], y[350:]) >= 0
    assert members.mean() > others.mean() + 0.3


def test_a_constant_column_gets_no_noise():
    X, y = coin_classes(60)
    flat = np.column_stack([X, np.full(60, 7.0)])
    scorer = learn_label_attack(flat, y, 2, shadow_models=1, seed=0)
    assert np.isfinite(scorer(Forest(2, 3, seed=0).fit(flat, y), flat, y)).all()
