"""Label only: a member is a record whose label survives noise.

C. Choquette-Choo, F. Tramer, N. Carlini & N. Papernot, "Label-only membership inference attacks"
(ICML 2021): a model that gives labels and no probabilities still holds on to the labels of the
records it was trained on further out than to those of others. The distance to its decision
boundary is measured here by the share of noisy copies of a record that keep its class.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from shoal._typing import Floats, Ints
from shoal.audit.attacks._forest import Forest, Scorer
from shoal.audit.attacks._shadows import train_shadows
from shoal.metrics import roc

__all__ = ["learn_label_attack"]

COPIES = 20  # Noisy copies of a record.
SCALES = (0.01, 0.03, 0.1, 0.3, 1.0)  # Of the noise, in standard deviations of each column.
PRACTICE = 100  # Records of each kind of which a shadow model is asked.
MAX_VALUES = 1 << 22  # Numbers in a batch of copies: 32 MB.


class Cut(NamedTuple):
    """Noise and share of kept labels that tell a shadow model's members apart best."""

    advantage: float
    scale: float
    share: float


def learn_label_attack(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> Scorer:
    """Choose the noise and the share of kept labels on shadow models.

    Parameters
    ----------
    records, labels, n_classes, shadow_models, seed
        As in :func:`shoal.audit.attacks.shadow_models.learn_shadow_attack`.

    Returns
    -------
    scorer : callable
        By how much the share of kept labels passes the chosen one; members from 0 on.
    """
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
    place = int(gains.argmax())
    return Cut(float(gains[place]), scale, float(curve.thresholds[1:][place]))


def _kept(model: Forest, X: Floats, y: Ints, noise: Floats, rng: np.random.Generator) -> Floats:
    """Share of noisy copies of each record that the model gives the record's class."""
    rows = max(1, MAX_VALUES // (COPIES * X.shape[1]))
    shares = []
    for batch in gen_batches(len(X), rows):
        some = X[batch]
        copies = some[:, None, :] + noise * rng.standard_normal((len(some), COPIES, X.shape[1]))
        found = model.predict(copies.reshape(-1, X.shape[1])).reshape(-1, COPIES)
        shares.append((found == y[batch, None]).mean(axis=1))
    return np.concatenate(shares)
