import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from shoal.exceptions import ParameterError
from shoal.metrics import adversary_advantage, roc


@pytest.mark.parametrize("seed", range(10))
def test_against_a_confusion_matrix(seed):
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
