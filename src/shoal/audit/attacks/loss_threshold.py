"""Threshold on the loss: a member is a record on which the model does better than usual.

S. Yeom, I. Giacomelli, M. Fredrikson & S. Jha, "Privacy risk in machine learning" (CSF 2018): say
"member" where the loss is at most the average training loss. The attacker does not see the
target's training loss, and takes that of shadow models.
"""

import numpy as np

from shoal._typing import Floats, Ints
from shoal.audit.attacks._forest import Forest, Scorer
from shoal.audit.attacks._shadows import train_shadows

__all__ = ["learn_loss_attack"]


def learn_loss_attack(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> Scorer:
    """Find the average training loss of shadow models.

    Parameters
    ----------
    records, labels, n_classes, shadow_models, seed
        As in :func:`shoal.audit.attacks.shadow_models.learn_shadow_attack`.

    Returns
    -------
    scorer : callable
        By how much the loss is below the average training loss; members from 0 on.
    """
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
