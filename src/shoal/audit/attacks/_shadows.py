"""Shadow models for attacks that need no toolbox."""

from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.audit.attacks._forest import Forest

__all__ = ["Shadow", "train_shadows"]


class Shadow(NamedTuple):
    """A forest like the target's, with the rows it was trained on and the others."""

    forest: Forest
    inside: Ints
    outside: Ints


def train_shadows(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> list[Shadow]:
    """Train forests, each on a random half of the records.

    Parameters
    ----------
    records, labels, n_classes, shadow_models, seed
        As in :func:`shoal.audit.attacks.shadow_models.learn_shadow_attack`.

    Returns
    -------
    shadows : list of Shadow
        One for each shadow model.
    """
    rng = np.random.default_rng(seed)
    shadows = []
    for _ in range(shadow_models):
        inside, outside = np.array_split(rng.permutation(len(records)), 2)
        forest = Forest(n_classes, records.shape[1], seed=int(rng.integers(1 << 32)))
        shadows.append(Shadow(forest.fit(records[inside], labels[inside]), inside, outside))
    return shadows
