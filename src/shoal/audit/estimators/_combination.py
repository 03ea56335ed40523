"""Columns learned from all others: how much a release looks like one with the added record.

One record moves a size and every column of a sum a little, and only together do they show what was
spent. Two classifiers are trained on the fits that the search may see; on these very fits they are
asked crosswise, each part by a classifier that was trained on the others, so that the search does
not mistake what they learned by heart for a difference.
"""

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from shoal._typing import Floats

NAMES = ("learned combination of trees", "learned linear combination")
FOLDS = 4
LARGEST = 1e100  # Stands for infinity: squares of larger numbers are not finite.


def combinations(without: Floats, with_added: Floats, *, search: int) -> tuple[Floats, Floats]:
    """Learn to tell two tables apart from their first rows, and score all rows.

    Parameters
    ----------
    without, with_added : ndarray of shape (runs, columns)
        Releases without and with the added record.
    search : int
        Number of rows of each that may be learned from; the others are only scored.

    Returns
    -------
    scores : tuple of ndarray of shape (runs, 2)
        Columns NAMES of both tables; larger where the record seems to be there.
    """
    return _scored(_classifiers(search), without, with_added, search=search)


def linear_combination(
    without: Floats, with_added: Floats, *, search: int
) -> tuple[Floats, Floats]:
    """Do what :func:`combinations` does with the second classifier alone, many times faster.

    Parameters
    ----------
    without, with_added : ndarray of shape (runs, columns)
        Releases without and with the added record.
    search : int
        Number of rows of each that may be learned from; the others are only scored.

    Returns
    -------
    scores : tuple of ndarray of shape (runs, 1)
        Of both tables; larger where the record seems to be there.
    """
    return _scored(_classifiers(search)[1:], without, with_added, search=search)


def _scored(
    classifiers: list[Any], without: Floats, with_added: Floats, *, search: int
) -> tuple[Floats, Floats]:
    tables = [np.nan_to_num(t, posinf=LARGEST, neginf=-LARGEST) for t in (without, with_added)]
    seen = np.vstack([table[:search] for table in tables])
    unseen = np.vstack([table[search:] for table in tables])
    truth = np.repeat([0, 1], search)
    scores: list[list[Floats]] = [[], []]
    # One thread: sums in another order could round another way, and change the result.
    with threadpool_limits(1):
        for classifier in classifiers:
            crosswise = cross_val_predict(
                classifier, seen, truth, cv=StratifiedKFold(FOLDS), method="decision_function"
            )
            fresh = classifier.fit(seen, truth).decision_function(unseen)
            halves = zip(np.split(crosswise, 2), np.split(fresh, 2), strict=True)
            for side, parts in enumerate(halves):
                scores[side].append(np.concatenate(parts))
    return np.column_stack(scores[0]), np.column_stack(scores[1])


def _classifiers(search: int) -> list[Any]:
    trees = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=6,
        min_samples_leaf=min(40, search // 4),
        early_stopping=False,
        random_state=0,
    )
    return [trees, make_pipeline(StandardScaler(), RidgeClassifier())]
