"""The published attack beside the same attack run again, on the methods as published and corrected.

As the source does it: the whole table is perturbed; an eighth of the records are members, whose
reports and classes train a random forest; an attacker with three quarters of the plain records
learns from shadow models; he is asked about the members' true records and as many others. The
advantage is the true-positive rate minus the false-positive rate, as a mean over runs.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from shoal.audit.attacks._forest import Forest, Scorer
from shoal.audit.attacks._targets import Labels, Split, as_labels, split_records
from shoal.audit.attacks.shadow_models import THRESHOLD, learn_shadow_attack
from shoal.datasets import load
from shoal.metrics import adversary_advantage
from shoal.papers.kd_laplace._as_published import Floats
from shoal.papers.kd_laplace.figures import Figure
from shoal.papers.kd_laplace.methods import FILES, Table
from shoal.papers.kd_laplace.reproduce import Comparison, _chosen, _compare, _tables

__all__ = ["reproduce_attack"]

SHADOW_MODELS = 3

Group = list[tuple[int, Figure]]


class Attacker(NamedTuple):
    """One split of a table, and what the attacker learned from his part of it."""

    split: Split
    scorer: Scorer
    seed: int


def reproduce_attack(
    *,
    datasets: Iterable[str] = ("seeds", "heart"),
    mechanisms: Iterable[str] = ("nd-Laplace",),
    columns: Iterable[int] = (2,),
    epsilons: Iterable[float] | None = None,
    runs: int = 10,
    random_state: int = 0,
    n_jobs: int | None = 1,
    data_dir: str | os.PathLike[str] | None = None,
    targets: str | os.PathLike[str] | None = None,
) -> tuple[Comparison, ...]:
    """Run the published membership attack again; needs the extra ``attacks``.

    Parameters
    ----------
    datasets, mechanisms, columns, epsilons, runs, random_state, data_dir, targets
        As in :func:`reproduce_utility`. At one epsilon all mechanisms are attacked on the same
        splits by the same attackers.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. The result does not depend on it.

    Returns
    -------
    comparisons : tuple of Comparison
        Advantage of the shadow-model attack, in the order of the published figures.
    """
    figures = _chosen(
        "advantage",
        datasets=datasets,
        mechanisms=mechanisms,
        columns=columns,
        epsilons=epsilons,
        targets=targets,
    )
    tables = _tables(figures, data_dir, None)
    groups: dict[tuple[str, int, float], Group] = {}
    for place, figure in enumerate(figures):
        key = figure.dataset, figure.columns, figure.epsilon
        groups.setdefault(key, []).append((place, figure))
    classes = {name: _classes(name, data_dir) for name in {figure.dataset for figure in figures}}
    found = Parallel(n_jobs=n_jobs)(
        delayed(_attack_group)(
            [figure for _, figure in group],
            tables[dataset, width],
            classes[dataset],
            runs=runs,
            seed=int(np.random.SeedSequence([random_state, number]).generate_state(1)[0]),
        )
        for number, ((dataset, width, _), group) in enumerate(groups.items())
    )
    places = [place for group in groups.values() for place, _ in group]
    comparisons = [comparison for group in found for comparison in group]
    return tuple(comparisons[i] for i in np.argsort(places))


def _attack_group(
    figures: list[Figure], table: Table, labels: Labels, *, runs: int, seed: int
) -> tuple[Comparison, ...]:
    """Compare figures of one table and epsilon, which share splits and attackers."""

    @cache
    def attacker(run: int) -> Attacker:
        rng = np.random.default_rng([seed, run])
        split = split_records(labels.values, rng)
        forest, own = rng.integers(1 << 32, size=2).tolist()
        shadow = split.shadow
        scorer = learn_shadow_attack(
            table.X[shadow],
            labels.values[shadow],
            labels.n_classes,
            shadow_models=SHADOW_MODELS,
            seed=own,
        )
        return Attacker(split, scorer, forest)

    def advantage(figure: Figure, table: Table, reports: Floats, run: int) -> float:
        (members, others, _), scorer, forest_seed = attacker(run)
        forest = Forest(labels.n_classes, table.X.shape[1], seed=forest_seed)
        forest.fit(reports[members], labels.values[members])
        asked = np.concatenate([members, others])
        guesses = scorer(forest, table.X[asked], labels.values[asked]) >= THRESHOLD
        return adversary_advantage(*np.split(guesses, 2))

    one = figures[0]
    tables = {(one.dataset, one.columns): table}
    return _compare(figures, tables, advantage, runs=runs, random_state=seed)


def _classes(dataset: str, data_dir: str | os.PathLike[str] | None) -> Labels:
    whole = load(FILES.get(dataset, dataset), data_dir=data_dir)
    return as_labels(whole.y, whole.X, seed=0)
