"""Who is a member, and the forest that a target leads to."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from shoal._typing import Floats, Ints
from shoal.audit._detached import detached
from shoal.audit.attacks._forest import Forest
from shoal.exceptions import DataError, ParameterError

__all__ = [
    "FEWEST",
    "Labels",
    "Split",
    "Trained",
    "as_labels",
    "check_target",
    "is_clusterer",
    "split_records",
    "train_target",
]

FEWEST = 8  # Records that a split needs.
CLUSTERS = 4  # Classes where the caller has none.


class Split(NamedTuple):
    """Row numbers of the members, of as many others, and of the records the attacker has."""

    members: Ints
    others: Ints
    shadow: Ints


class Labels(NamedTuple):
    """A class from 0 to ``n_classes - 1`` for each record."""

    values: Ints
    n_classes: int


class Trained(NamedTuple):
    """The forest under attack and the classes that its user and the attacker know."""

    forest: Forest
    labels: Labels


def split_records(strata: Ints, rng: np.random.Generator) -> Split:
    """Draw members, others and shadow records: an eighth, an eighth and the rest.

    Parameters
    ----------
    strata : ndarray of shape (n,)
        Classes; each has its share among members and others together, up to one record.
    rng : Generator
        Source of the draw.

    Returns
    -------
    split : Split
        Disjoint; the numbers of members and others depend on n alone.
    """
    n, half = len(strata), len(strata) // FEWEST
    shuffled = rng.permutation(n)
    by_class = shuffled[np.argsort(strata[shuffled], kind="stable")]
    # Every fourth record or so, from a random start, takes its share of each class.
    places = ((np.arange(2 * half) + rng.random()) * n / (2 * half)).astype(np.int64)
    chosen = rng.permutation(by_class[places])
    rest = np.ones(n, dtype=np.bool_)
    rest[chosen] = False
    return Split(chosen[:half], chosen[half:], np.flatnonzero(rest))


def as_labels(y: Any, records: Floats, *, seed: int) -> Labels:
    """Return the classes of the records numbers, or find some with k-means.

    Parameters
    ----------
    y : array-like of shape (n,) or None
        Classes of any type; None takes clusters of the standardized records.
    records : ndarray of shape (n, d)
        The records.
    seed : int
        Fixes k-means.

    Returns
    -------
    labels : Labels
        At least two classes, of which one may be empty.
    """
    if y is None:
        model = KMeans(min(CLUSTERS, len(records)), n_init=10, random_state=seed)
        return _numbered(model.fit_predict(StandardScaler().fit_transform(records)))
    try:
        classes = np.asarray(y)
        if classes.shape != (len(records),):
            raise DataError(
                f"y must be one class for each record, {len(records)} in all, "
                f"got shape {classes.shape}"
            )
        if classes.dtype.kind == "f" and np.isnan(classes).any():
            raise DataError("y must be free of NaN: drop or fill those records first")
        return _numbered(classes)
    except TypeError:
        raise DataError("y must be classes of one type, got a mixture: make them text") from None


def check_target(target: Any) -> None:
    """Refuse what is neither a mechanism nor a clusterer nor None.

    Parameters
    ----------
    target : object
        What the caller passed.

    Raises
    ------
    ParameterError
        If it cannot be attacked.
    """
    able = hasattr(target, "predict") or hasattr(target, "fit_transform")
    made = hasattr(target, "get_params") and not isinstance(target, type)
    if target is None or (able and made and hasattr(target, "fit")):
        return
    raise ParameterError(
        "target must be a mechanism with fit_transform, a clusterer with predict, or None for a "
        f"control without privacy, got {getattr(target, '__name__', type(target).__name__)}"
    )


def is_clusterer(target: Any) -> bool:
    """Return whether a target finds clusters, which are then the classes.

    Parameters
    ----------
    target : mechanism, estimator or None
        As in :func:`shoal.audit.membership_inference`.

    Returns
    -------
    clusterer : bool
        False for mechanisms and None.
    """
    return hasattr(target, "predict")


def train_target(
    target: Any,
    records: Floats,
    members: Ints,
    labels: Labels | None,
    *,
    noise_seed: int | None,
    forest_seed: int,
) -> Trained:
    """Do with the members what the target's user would, up to the forest.

    Parameters
    ----------
    target : mechanism, estimator or None
        As in :func:`shoal.audit.membership_inference`.
    records : ndarray of shape (n, d)
        All records.
    members : ndarray of int
        Rows that the target may read.
    labels : Labels or None
        Classes of all records; None for a clusterer.
    noise_seed : int or None
        Seed of the target; None for its secure randomness.
    forest_seed : int
        Seed of the forest.

    Returns
    -------
    trained : Trained
        The forest, trained on members or on their reports.
    """
    rows = records[members]
    if labels is None:
        # Whoever has the release can find anybody's cluster, the attacker as well.
        model = detached(target, seed=noise_seed).fit(rows)
        labels = _numbered(model.predict(records))
    elif target is not None:
        rows = _reports(detached(target, seed=noise_seed), rows)
    forest = Forest(labels.n_classes, rows.shape[1], seed=forest_seed)
    return Trained(forest.fit(rows, labels.values[members]), labels)


def _reports(model: Any, rows: Floats) -> Floats:
    reports = np.asarray(model.fit_transform(rows), dtype=np.float64)
    if reports.shape != rows.shape:
        raise ParameterError(
            "target must give a report with the columns of its record, got shape "
            f"{reports.shape} for {rows.shape}"
        )
    return reports


def _numbered(classes: Any) -> Labels:
    names, values = np.unique(classes, return_inverse=True)
    # The toolbox takes no fewer than two classes; an empty one changes nothing.
    return Labels(values.astype(np.int64), max(2, len(names)))
