"""Measures of attacks, against scikit-learn and all cuts."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from shoal.exceptions import ParameterError
from shoal.metrics import adversary_advantage, roc


def tied_scores(seed):
    """Scores of two overlapping groups, most of them shared by several records."""
    rng = np.random.default_rng(seed)
    members = rng.normal(0.5, 1, size=rng.integers(1, 120)).round(1)
    others = rng.normal(0, 1, size=rng.integers(1, 120)).round(1)
    return members, others


def best_rate(members, others, fpr):
    """Try every cut, one at a time."""
    best = 0.0
    for cut in sorted({*members, *others}):
        alarms = sum(score >= cut for score in others) / len(others)
        if alarms <= fpr:
            best = max(best, sum(score >= cut for score in members) / len(members))
    return best


def test_against_scikit_learn():
    for seed in range(20):
        members, others = tied_scores(seed)
        curve = roc(members, others)
        truth = np.repeat([1, 0], [len(members), len(others)])
        fpr, tpr, thresholds = roc_curve(
            truth, np.concatenate([members, others]), drop_intermediate=False
        )
        np.testing.assert_allclose(curve.fpr, fpr, rtol=1e-14)
        np.testing.assert_allclose(curve.tpr, tpr, rtol=1e-14)
        np.testing.assert_array_equal(curve.thresholds[1:], thresholds[1:])
        auc = roc_auc_score(truth, np.concatenate([members, others]))
        assert curve.auc == pytest.approx(auc, abs=1e-13)


def test_rate_at_a_false_alarm_rate_against_all_cuts():
    for seed in range(20):
        members, others = tied_scores(100 + seed)
        curve = roc(members, others)
        exact = np.arange(len(others) + 1) / len(others)
        for fpr in [0, 0.001, 0.01, 0.1, 0.5, 1, *exact, *np.nextafter(exact[1:], 0)]:
            assert curve.tpr_at(fpr) == best_rate(members.tolist(), others.tolist(), fpr)


def test_advantage_and_area_against_all_pairs_and_cuts():
    for seed in range(5):
        members, others = tied_scores(200 + seed)
        curve = roc(members, others)
        gaps = [np.mean(members >= cut) - np.mean(others >= cut) for cut in {*members, *others}]
        assert curve.advantage == pytest.approx(max(0.0, *gaps), abs=1e-15)
        pairs = np.sign(members[:, np.newaxis] - others)
        assert curve.auc == pytest.approx((1 + pairs.mean()) / 2, abs=1e-13)


def test_few_others_promise_no_rate_between_cuts():
    """One false alarm in four: at 1% an attacker has only the cut above all others."""
    curve = roc([4, 3, 2, 1], [3.5, 0, 0, 0])
    assert curve.tpr_at(0.01) == 0.25
    assert curve.tpr_at(0.24) == 0.25
    assert curve.tpr_at(0.25) == 1.0


def test_thresholds_reproduce_every_cut_with_infinite_scores():
    members, others = np.array([np.inf, np.inf, 1.0, -np.inf]), np.array([np.inf, 0.0, -np.inf])
    curve = roc(members, others)
    for fpr, tpr, cut in zip(curve.fpr, curve.tpr, curve.thresholds, strict=True):
        assert tpr == np.mean(members >= cut)
        assert fpr == np.mean(others >= cut)
    assert curve.tpr[0] == curve.fpr[0] == 0.0
    assert curve.tpr[-1] == curve.fpr[-1] == 1.0
    assert curve.tpr_at(0) == 0.0
    assert curve.tpr_at(0.5) == 0.75


def test_extremes():
    assert roc([1, 1], [1, 1]).auc == 0.5
    assert roc([1, 1], [1, 1]).advantage == 0.0
    assert roc([2], [1]).auc == roc([2], [1]).advantage == roc([2], [1]).tpr_at(0) == 1.0
    assert roc([1], [2]).auc == roc([1], [2]).advantage == roc([1], [2]).tpr_at(0.999) == 0.0


def test_scores_of_other_kinds_and_a_fixed_result():
    curve = roc(pd.Series([True, False]), (0, 0, 1))
    assert curve.tpr.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        curve.tpr[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.tpr = None


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([], r"scores_others must be one number a record, got shape \(0,\)"),
        ([[1.0]], r"scores_others must be one number a record, got shape \(1, 1\)"),
        ([[1.0], [1.0, 2.0]], "scores_others must be one number a record, got uneven lists"),
        (0.5, r"scores_others must be one number a record, got shape \(\)"),
        (["a"], "scores_others must be numbers"),
        ([1j], "scores_others must be numbers, got complex128"),
        ([None], "scores_others must be numbers, got object"),
        ([12.5, np.nan], "scores_others must be free of NaN"),
    ],
)
def test_bad_scores(scores, words):
    with pytest.raises(ParameterError, match=words) as caught:
        roc([1.0], scores)
    assert "12.5" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match="scores_members must"):
        roc(scores, [1.0])


@pytest.mark.parametrize("fpr", [-0.1, 1.5, np.nan, np.inf, "a", None, True])
def test_bad_rate(fpr):
    with pytest.raises(ParameterError, match="fpr must be"):
        roc([1], [0]).tpr_at(fpr)


def test_against_a_confusion_matrix():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        members = rng.random(rng.integers(2, 80)) < 0.7
        others = rng.random(rng.integers(2, 80)) < 0.4
        truth = np.repeat([True, False], [len(members), len(others)])
        guesses = np.concatenate([members, others])
        tn, fp, fn, tp = confusion_matrix(truth, guesses, labels=[False, True]).ravel()
        expected = tp / (tp + fn) - fp / (fp + tn)
        assert adversary_advantage(members, others) == pytest.approx(expected, abs=1e-15)


def test_sizes_of_the_groups_do_not_matter():
    assert adversary_advantage([True], [False] * 1000) == 1.0
    assert adversary_advantage([False] * 7, [True]) == -1.0
    assert adversary_advantage([True] * 5, [True] * 9) == 0.0
    assert adversary_advantage([1, 1, 1, 0], [0.0, 1.0]) == 0.25


def test_no_cut_beats_the_advantage_of_the_curve():
    rng = np.random.default_rng(0)
    members, others = rng.normal(1, 1, 200), rng.normal(0, 1, 300)
    cuts = np.concatenate([members, others])
    best = max(adversary_advantage(members >= cut, others >= cut) for cut in cuts)
    assert best == roc(members, others).advantage > 0.3


def test_guesses_of_other_kinds():
    assert adversary_advantage(pd.Series([True, False]), (False,)) == 0.5
    assert adversary_advantage(np.array([1, 0], dtype=np.uint8), [0]) == 0.5


@pytest.mark.parametrize(
    ("guesses", "words"),
    [
        ([], r"guesses_others must be one bool a record, got shape \(0,\)"),
        (True, r"guesses_others must be one bool a record, got shape \(\)"),
        ([[True]], "guesses_others must be one bool a record"),
        ([[True], [True, False]], "got uneven lists"),
        (["yes"], "guesses_others must be bools"),
        ([None], "guesses_others must be bools, got object"),
        ([0.5], "guesses_others must be bools or 0 and 1: compare scores with a threshold"),
        ([np.nan, 1], "guesses_others must be bools or 0 and 1"),
        ([2, 1], "guesses_others must be bools or 0 and 1"),
        ([-1, 1], "guesses_others must be bools or 0 and 1"),
    ],
)
def test_bad_guesses(guesses, words):
    with pytest.raises(ParameterError, match=words):
        adversary_advantage([True], guesses)
    with pytest.raises(ParameterError, match="guesses_members must"):
        adversary_advantage(guesses, [True])
