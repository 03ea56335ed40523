"""The thesis' attacker: he learns from shadow models, and is asked who was in the training set."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.audit.attacks._forest import Forest, Scorer
from shoal.audit.attacks._targets import Labels, Split, split_records
from shoal.audit.attacks.shadow_models import THRESHOLD, learn_shadow_attack

__all__ = ["Attacker", "Rates", "learn_attacker"]

SHADOW_MODELS = 3


class Rates(NamedTuple):
    """Share of members, and of others, that the attacker takes for members."""

    tpr: float
    fpr: float

    @property
    def advantage(self) -> float:
        """True-positive rate minus false-positive rate."""
        return self.tpr - self.fpr


@dataclass(frozen=True, eq=False)
class Attacker:
    """One split of a table, and what the attacker learned from his part of it.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        The plain table.
    labels : Labels
        Its classes.
    split : Split
        Who is a member, who is not, and what the attacker has.
    scorer : callable
        What he learned.
    forest_seed : int
        Fixes the forest that he attacks.
    """

    records: Floats
    labels: Labels
    split: Split
    scorer: Scorer
    forest_seed: int

    def rates(self, reports: Floats) -> Rates:
        """Attack a forest that was trained on the members' reports and their classes.

        Parameters
        ----------
        reports : ndarray of shape (n, d)
            Of the whole table.

        Returns
        -------
        rates : Rates
            About the members' true records and as many others.
        """
        members, others, _ = self.split
        classes = self.labels.values
        forest = Forest(self.labels.n_classes, self.records.shape[1], seed=self.forest_seed)
        forest.fit(reports[members], classes[members])
        asked = np.concatenate([members, others])
        guesses = self.scorer(forest, self.records[asked], classes[asked]) >= THRESHOLD
        of_members, of_others = np.split(guesses, 2)
        return Rates(float(of_members.mean()), float(of_others.mean()))


def learn_attacker(records: Floats, labels: Labels, rng: np.random.Generator) -> Attacker:
    """Split a table, and let the attacker learn from three quarters of its plain records.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        The plain table.
    labels : Labels
        Its classes.
    rng : Generator
        Source of everything.

    Returns
    -------
    attacker : Attacker
        He depends on neither mechanism nor epsilon.
    """
    split = split_records(labels.values, rng)
    forest_seed, own = rng.integers(1 << 32, size=2).tolist()
    scorer = learn_shadow_attack(
        records[split.shadow],
        labels.values[split.shadow],
        labels.n_classes,
        shadow_models=SHADOW_MODELS,
        seed=own,
    )
    return Attacker(records, labels, split, scorer, forest_seed)
