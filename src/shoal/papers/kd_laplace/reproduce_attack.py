"""The published attack beside the same attack run again, on the methods as published and corrected.

As the source does it: the whole table is perturbed; an eighth of the records are members, whose
reports and classes train a random forest; an attacker with three quarters of the plain records
learns from shadow models; he is asked about the members' true records and as many others. The
advantage is the true-positive rate minus the false-positive rate, as a mean over runs.
"""

import os
from collections.abc import Iterable
from functools import cache

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from shoal._typing import Floats
from shoal.audit.attacks._targets import Labels, as_labels
from shoal.datasets import load
from shoal.papers.kd_laplace.attacker import Attacker, learn_attacker
from shoal.papers.kd_laplace.figures import Figure
from shoal.papers.kd_laplace.methods import FILES, Table
from shoal.papers.kd_laplace.reproduce import Comparison, _chosen, _compare, _tables

__all__ = ["load_classes", "reproduce_attack"]

Group = list[tuple[int, Figure]]


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
    classes = {
        name: load_classes(name, data_dir) for name in {figure.dataset for figure in figures}
    }
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
        return learn_attacker(table.X, labels, np.random.default_rng([seed, run]))

    def advantage(figure: Figure, table: Table, reports: Floats, run: int) -> float:
        return attacker(run).rates(reports).advantage

    one = figures[0]
    tables = {(one.dataset, one.columns): table}
    return _compare(figures, tables, advantage, runs=runs, random_state=seed)


def load_classes(dataset: str, data_dir: str | os.PathLike[str] | None = None) -> Labels:
    """Load the classes of a table.

    Parameters
    ----------
    dataset, data_dir
        As in :func:`shoal.papers.kd_laplace.methods.load_table`.

    Returns
    -------
    labels : Labels
        One class a record.
    """
    whole = load(FILES.get(dataset, dataset), data_dir=data_dir)
    return as_labels(whole.y, whole.X, seed=0)
