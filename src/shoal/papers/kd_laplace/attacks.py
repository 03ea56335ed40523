"""The thesis' membership attack: who was in the training set of a forest that learned from reports.

As the source does it: the whole table is perturbed; an eighth of the records are members, whose
reports and classes train a random forest; an attacker with three quarters of the plain records
learns from shadow models, and is asked about the members' true records and as many others. The
advantage is the true-positive rate minus the false-positive rate.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.audit import (
    SHADOW_THRESHOLD,
    ClassLabels,
    Forest,
    MembershipSplit,
    Scorer,
    learn_shadow_attack,
    number_classes,
    split_records,
)
from shoal.datasets import load
from shoal.experiments import Trial
from shoal.papers.kd_laplace.settings import FILES, load_table, perturb_both_ways

__all__ = ["Attacker", "Rates", "learn_attacker", "measure_attack"]

SHADOW_MODELS = 3
MAX_ATTACKERS = 32  # that a process keeps


def measure_attack(trial: Trial) -> Iterator[dict[str, Any]]:
    """Perturb a table both ways and attack both.

    Yields one measurement for each version: true-positive rate, false-positive rate, advantage.
    """
    dataset, columns = trial.dataset, trial.columns
    assert columns is not None
    attacker = _table_attacker(dataset, columns, trial.repeat, trial.spec_seed)
    for version, reports in perturb_both_ways(trial, load_table(dataset, columns)).items():
        rates = attacker.rates(reports)
        yield {
            "version": version,
            "tpr": rates.tpr,
            "fpr": rates.fpr,
            "advantage": rates.advantage,
        }


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
    """One split of a table, and what the attacker learned from a part of it.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        The plain table.
    labels : ClassLabels
        Its classes.
    split : MembershipSplit
        Who is a member, who is not, and what the attacker has.
    scorer : callable
        What was learned.
    forest_seed : int
        Fixes the forest that is attacked.
    """

    records: Floats
    labels: ClassLabels
    split: MembershipSplit
    scorer: Scorer
    forest_seed: int

    def rates(self, reports: Floats) -> Rates:
        """Attack a forest that was trained on the members' reports and their classes.

        The attacker is asked about the members' true records and as many others; ``reports`` are
        those of the whole table.
        """
        members, others, _ = self.split
        classes = self.labels.values
        forest = Forest(self.labels.n_classes, self.records.shape[1], seed=self.forest_seed)
        forest.fit(reports[members], classes[members])
        asked = np.concatenate([members, others])
        guesses = self.scorer(forest, self.records[asked], classes[asked]) >= SHADOW_THRESHOLD
        of_members, of_others = np.split(guesses, 2)
        return Rates(float(of_members.mean()), float(of_others.mean()))


def learn_attacker(records: Floats, labels: ClassLabels, rng: np.random.Generator) -> Attacker:
    """MembershipSplit a table, and let the attacker learn from three quarters of its plain records.

    The attacker depends on neither mechanism nor epsilon; ``rng`` is the source of everything.
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


@lru_cache(maxsize=MAX_ATTACKERS)
def _table_attacker(dataset: str, columns: int, repeat: int, seed: int) -> Attacker:
    """Learn once for all mechanisms and epsilons: their differences then share the split."""
    key = f"attacker | {dataset} | {columns} | {repeat} | {seed}"
    digest = hashlib.sha256(key.encode()).digest()
    rng = np.random.default_rng(list(digest[:16]))
    whole = load(FILES.get(dataset, dataset))
    classes = number_classes(whole.y, whole.X, seed=0)
    return learn_attacker(load_table(dataset, columns).X, classes, rng)
