"""The threshold on the loss against the loss worked out from a forest's votes."""

import numpy as np

from helpers.attack_data import coin_classes
from shoal.audit.attacks._forest import Forest
from shoal.audit.attacks._shadows import train_shadows
from shoal.audit.attacks.loss_threshold import learn_loss_attack


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
