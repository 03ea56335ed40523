"""Two tables of releases, one event: which columns are compared, and what they show.

One record moves a size and every column of a sum a little, and only together do they show what was
spent. So two columns are learned from all others: how much a release looks like one with the added
record. Two classifiers are trained on the fits that the search may see; on these very fits they are
asked crosswise, each part by a classifier that was trained on the others, so that the search does
not mistake what they learned by heart for a difference.
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from shoal._typing import Floats
from shoal.audit.bounds._measure import Measured, measure
from shoal.audit.estimators._releases import Table

NAMES = ("learned combination of trees", "learned linear combination")
FOLDS = 4
LARGEST = 1e100  # Stands for infinity: squares of larger numbers are not finite.


def combinations(without: Floats, with_added: Floats, *, search: int) -> tuple[Floats, Floats]:
    """Learn to separate two tables from their first rows, and score all rows."""
    return _scored(_classifiers(search), without, with_added, search=search)


def linear_combination(
    without: Floats, with_added: Floats, *, search: int
) -> tuple[Floats, Floats]:
    """Do what :func:`combinations` does with the second classifier alone, many times faster."""
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


MAX_COLUMNS = 256  # More columns make the search slow; the search half chooses among them.


def compare(without: Table, with_added: Table, *, delta: float, confidence: float) -> Measured:
    """Bound epsilon from the releases of fits without and with a record."""
    runs = len(without.values)
    # As in epsilon_lower_bound: the other half is counted, and must not decide what is looked at.
    search = runs // 2
    columns = informative_columns(
        without.values[:search], with_added.values[:search], limit=MAX_COLUMNS
    )
    names = [without.names[column] for column in columns]
    tables = without.values[:, columns], with_added.values[:, columns]
    if len(columns) > 1:
        learned = combinations(*tables, search=search)
        tables = np.hstack([tables[0], learned[0]]), np.hstack([tables[1], learned[1]])
        names += NAMES
    result, evidence = measure(
        lambda side, count: tables[side], 0, 1, samples=runs, delta=delta, confidence=confidence
    )
    return Measured(
        replace(result, event=_with_names(result.event, names)),
        replace(evidence, score=_with_names(evidence.score, names)),
    )


def informative_columns(without: Floats, with_added: Floats, *, limit: int) -> list[int]:
    """Return the columns that vary, each once; those that differ most where there are too many."""
    both = np.vstack([without, with_added])
    # In bits: equal numbers have equal bits, nan included, and -0.0 may leak as well as 0.0.
    bits = np.ascontiguousarray(both.T).view(np.uint64)
    varying = np.flatnonzero((bits != bits[:, :1]).any(axis=1))
    _, first_seen = np.unique(bits[varying], axis=0, return_index=True)
    columns = varying[np.sort(first_seen)]
    if columns.size > limit:
        ranks = both[:, columns].argsort(axis=0).argsort(axis=0)
        gaps = np.abs(ranks[: len(without)].mean(axis=0) - ranks[len(without) :].mean(axis=0))
        columns = np.sort(columns[np.argsort(-gaps, kind="stable")[:limit]])
    # A release that never varies tells nothing, and any column of it says so.
    return [int(column) for column in columns] or [0]


def _with_names(event: str, names: list[str]) -> str:
    if len(names) == 1:
        event = event.replace("output", names[0])
    else:
        event = re.sub(r"(?:output of )?column (\d+)", lambda m: names[int(m[1])], event)
    event = event.replace("under the first record", "without the added record")
    return event.replace("under the second record", "with the added record")
