"""Random forests under attack: who is a member, the forest a target leads to, and two attacks.

Both attacks learn on shadow models, which are forests like the target's:

* Threshold on the loss. S. Yeom, I. Giacomelli, M. Fredrikson & S. Jha, "Privacy risk in machine
  learning" (CSF 2018): call a record a member where the loss is at most the average training loss.
  The attacker does not see the target's training loss, and takes that of shadow models.
* Label only. C. Choquette-Choo, F. Tramer, N. Carlini & N. Papernot, "Label-only membership
  inference attacks" (ICML 2021): a model that outputs labels and no probabilities still holds on to
  the labels of the records it was trained on further out than to those of others. The distance to
  its decision boundary is measured by the share of noisy copies of a record that keep its class.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from shoal._build import detached
from shoal._typing import Floats, Ints
from shoal.exceptions import DataError, ParameterError
from shoal.metrics import roc

__all__ = [
    "MIN_RECORDS",
    "ClassLabels",
    "Forest",
    "MembershipSplit",
    "Scorer",
    "Shadow",
    "Trained",
    "check_target",
    "is_clusterer",
    "learn_label_attack",
    "learn_loss_attack",
    "number_classes",
    "split_records",
    "train_shadows",
    "train_target",
]


class Forest:
    """A random forest with default settings that returns a probability for every class.

    scikit-learn's own forest has columns only for the classes it was trained on, and a shadow model
    may have seen fewer classes than the model it imitates.

    Parameters
    ----------
    n_classes : int
        Number of classes, which are 0 to ``n_classes - 1``.
    n_features : int
        Number of columns.
    seed : int
        Seed of the forest.

    Examples
    --------
    >>> forest = Forest(3, 1, seed=0).fit([[0.0], [1.0]] * 4, [0, 1] * 4)
    >>> forest.predict_proba([[0.0]]).argmax(), forest.predict_proba([[0.0]]).shape
    (np.int64(0), (1, 3))
    """

    def __init__(self, n_classes: int, n_features: int, *, seed: int) -> None:
        self.n_classes_ = n_classes
        self.n_features_in_ = n_features
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Train the forest on records (or reports) and their classes."""
        self._forest = RandomForestClassifier(random_state=self.seed).fit(X, y)
        return self

    @property
    def n_trees(self) -> int:
        """Number of trees; probabilities are means over them."""
        return len(self._forest.estimators_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class; 0 for classes that were not trained on."""
        probabilities = np.zeros((len(X), self.n_classes_))
        probabilities[:, self._forest.classes_] = self._forest.predict_proba(X)
        return probabilities

    def predict(self, X: Any) -> Ints:
        """Return the most probable class of each row."""
        labels: Ints = self.predict_proba(X).argmax(axis=1)
        return labels

    def __sklearn_clone__(self) -> "Forest":
        return Forest(self.n_classes_, self.n_features_in_, seed=self.seed)


#: A membership attack that was learned: a function of a model, records and their classes that
#: returns a score for each record.
Scorer = Callable[[Forest, Floats, Ints], Floats]


class Shadow(NamedTuple):
    """A forest like the target's, with the rows it was trained on and the others."""

    forest: Forest
    inside: Ints
    outside: Ints


def train_shadows(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> list[Shadow]:
    """Train forests, each on a random half of the records."""
    rng = np.random.default_rng(seed)
    shadows = []
    for _ in range(shadow_models):
        inside, outside = np.array_split(rng.permutation(len(records)), 2)
        forest = Forest(n_classes, records.shape[1], seed=int(rng.integers(1 << 32)))
        shadows.append(Shadow(forest.fit(records[inside], labels[inside]), inside, outside))
    return shadows


def learn_loss_attack(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> Scorer:
    """Find the average training loss of shadow models."""
    shadows = train_shadows(records, labels, n_classes, shadow_models=shadow_models, seed=seed)
    usual = float(
        np.mean([_loss(s.forest, records[s.inside], labels[s.inside]).mean() for s in shadows])
    )

    def score(model: Forest, X: Floats, y: Ints) -> Floats:
        return usual - _loss(model, X, y)

    return score


def _loss(model: Forest, X: Floats, y: Ints) -> Floats:
    """Cross-entropy; half a tree's vote at least, because the attack needs a bounded loss."""
    likelihood = model.predict_proba(X)[np.arange(len(X)), y]
    loss: Floats = -np.log(np.maximum(likelihood, 0.5 / model.n_trees))
    return loss


COPIES = 20  # Noisy copies of a record.
SCALES = (0.01, 0.03, 0.1, 0.3, 1.0)  # Of the noise, in standard deviations of each column.
PRACTICE = 100  # Records of each kind of which a shadow model is asked.
MAX_VALUES = 1 << 22  # Numbers in a batch of copies: 32 MB.


class Cut(NamedTuple):
    """Noise and share of kept labels that separate a shadow model's members best."""

    advantage: float
    scale: float
    share: float


def learn_label_attack(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> Scorer:
    """Choose the noise and the share of kept labels on shadow models."""
    shadows = train_shadows(records, labels, n_classes, shadow_models=shadow_models, seed=seed)
    spread = records.std(axis=0)
    rng = np.random.default_rng([seed, 1])  # not the stream that drew the shadow models

    def cut(scale: float) -> Cut:
        def shares(forest: Forest, rows: Ints) -> Floats:
            some = rows[:PRACTICE]
            return _kept(forest, records[some], labels[some], scale * spread, rng)

        inside = np.concatenate([shares(shadow.forest, shadow.inside) for shadow in shadows])
        outside = np.concatenate([shares(shadow.forest, shadow.outside) for shadow in shadows])
        return _best_cut(inside, outside, scale)

    best = max(map(cut, SCALES))

    def score(model: Forest, X: Floats, y: Ints) -> Floats:
        return _kept(model, X, y, best.scale * spread, rng) - best.share

    return score


def _best_cut(inside: Floats, outside: Floats, scale: float) -> Cut:
    curve = roc(inside, outside)
    # The first cut calls nobody a member, and has no share.
    gains = (curve.tpr - curve.fpr)[1:]
    best = int(gains.argmax())
    return Cut(float(gains[best]), scale, float(curve.thresholds[1:][best]))


def _kept(model: Forest, X: Floats, y: Ints, noise: Floats, rng: np.random.Generator) -> Floats:
    """Return the share of noisy copies of each record that the model gives the record's class."""
    rows = max(1, MAX_VALUES // (COPIES * X.shape[1]))
    shares = []
    for batch in gen_batches(len(X), rows):
        some = X[batch]
        copies = some[:, None, :] + noise * rng.standard_normal((len(some), COPIES, X.shape[1]))
        predicted = model.predict(copies.reshape(-1, X.shape[1])).reshape(-1, COPIES)
        shares.append((predicted == y[batch, None]).mean(axis=1))
    return np.concatenate(shares)


MIN_RECORDS = 8  # Records that a split needs.
CLUSTERS = 4  # Classes where the caller has none.


class MembershipSplit(NamedTuple):
    """Row numbers of members, of as many non-members, and of the attacker's own records.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.audit import split_records
    >>> split = split_records(np.arange(16) % 2, np.random.default_rng(0))
    >>> len(split.members), len(split.others), len(split.shadow)
    (2, 2, 12)
    """

    members: Ints
    others: Ints
    shadow: Ints


class ClassLabels(NamedTuple):
    """A class from 0 to ``n_classes - 1`` for each record.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.audit import ClassLabels
    >>> labels = ClassLabels(np.array([0, 2, 1]), n_classes=3)
    >>> labels.n_classes
    3
    """

    values: Ints
    n_classes: int


class Trained(NamedTuple):
    """The forest under attack and the classes that its user and the attacker know."""

    forest: Forest
    labels: ClassLabels


def split_records(strata: Ints, rng: np.random.Generator) -> MembershipSplit:
    """Split records at random into members, non-members and shadow records: 1/8, 1/8 and the rest.

    Parameters
    ----------
    strata : ndarray of shape (n,)
        Classes to stratify by: members and non-members together hold each class in proportion, up
        to one record.
    rng : Generator
        Generator of the random split.

    Returns
    -------
    split : MembershipSplit
        Disjoint row numbers; the numbers of members and non-members depend on n alone.

    Examples
    --------
    >>> split = split_records(np.arange(16) % 2, np.random.default_rng(0))
    >>> [len(rows) for rows in split]
    [2, 2, 12]
    """
    n, half = len(strata), len(strata) // MIN_RECORDS
    shuffled = rng.permutation(n)
    by_class = shuffled[np.argsort(strata[shuffled], kind="stable")]
    # Every fourth record or so, from a random start, takes its share of each class.
    rows_taken = ((np.arange(2 * half) + rng.random()) * n / (2 * half)).astype(np.int64)
    chosen = rng.permutation(by_class[rows_taken])
    rest = np.ones(n, dtype=np.bool_)
    rest[chosen] = False
    return MembershipSplit(chosen[:half], chosen[half:], np.flatnonzero(rest))


def number_classes(y: Any, records: Floats, *, seed: int) -> ClassLabels:
    """Return the classes of the records as numbers from 0, or find classes with k-means.

    Parameters
    ----------
    y : array-like of shape (n,) or None
        Classes of any type; None takes k-means clusters of the standardized records.
    records : ndarray of shape (n, d)
        The records.
    seed : int
        Seed of k-means.

    Returns
    -------
    labels : ClassLabels
        The classes; at least two, of which one may be empty.

    Raises
    ------
    DataError
        If `y` does not have one class for each record, all of one type.

    Examples
    --------
    >>> number_classes(["b", "a"], np.zeros((2, 1)), seed=0)
    ClassLabels(values=array([1, 0]), n_classes=2)
    """
    if y is None:
        model = KMeans(min(CLUSTERS, len(records)), n_init=10, random_state=seed)
        return _numbered(model.fit_predict(StandardScaler().fit_transform(records)))
    try:
        classes = np.asarray(y)
        if classes.shape != (len(records),):
            raise DataError(
                f"y must be one class for each record, {len(records)} in all, "
                f"got shape {classes.shape}",
                parameter="y",
                code="shape",
            )
        if classes.dtype.kind == "f" and np.isnan(classes).any():
            raise DataError(
                "y must be free of NaN: drop or fill those records first",
                parameter="y",
                code="finite",
            )
        return _numbered(classes)
    except TypeError:
        raise DataError(
            "y must be classes of one type, got a mixture: make them text",
            parameter="y",
            code="type",
        ) from None


def check_target(target: Any) -> None:
    """Refuse what is neither a mechanism nor a clusterer nor None."""
    able = hasattr(target, "predict") or hasattr(target, "fit_transform")
    made = hasattr(target, "get_params") and not isinstance(target, type)
    if target is None or (able and made and hasattr(target, "fit")):
        return
    raise ParameterError(
        "target must be a mechanism with fit_transform, a clusterer with predict, or None for a "
        f"control without privacy, got {getattr(target, '__name__', type(target).__name__)}"
    )


def is_clusterer(target: Any) -> bool:
    """Return whether a target finds clusters, which are then the classes."""
    return hasattr(target, "predict")


def train_target(
    target: Any,
    records: Floats,
    members: Ints,
    labels: ClassLabels | None,
    *,
    noise_seed: int | None,
    forest_seed: int,
) -> Trained:
    """Do with the members what the target's user would, up to the forest."""
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


def _numbered(classes: Any) -> ClassLabels:
    names, values = np.unique(classes, return_inverse=True)
    # The toolbox takes no fewer than two classes; an empty one changes nothing.
    return ClassLabels(values.astype(np.int64), max(2, len(names)))
