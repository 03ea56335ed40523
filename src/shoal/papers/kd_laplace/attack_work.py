"""One cell of the attack: who was in the training set of a forest that learned from reports."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from shoal.experiments.cell import Cell
from shoal.papers.kd_laplace.attacker import Attacker, learn_attacker
from shoal.papers.kd_laplace.reproduce_attack import load_classes
from shoal.papers.kd_laplace.utility_work import both_reports, table_of

__all__ = ["attack_work"]

KEPT = 32  # attackers that a process keeps


def attack_work(cell: Cell) -> Iterator[dict[str, Any]]:
    """Perturb a table both ways and attack both.

    Parameters
    ----------
    cell : Cell
        With a table, a number of columns, a mechanism of the thesis and an epsilon.

    Yields
    ------
    record : dict
        One for each version: true-positive rate, false-positive rate, advantage.
    """
    dataset, columns = cell.dataset, cell.columns
    assert columns is not None
    attacker = _attacker(dataset, columns, cell.repeat, cell.spec_seed)
    for version, reports in both_reports(cell, table_of(dataset, columns)).items():
        rates = attacker.rates(reports)
        yield {
            "version": version,
            "tpr": rates.tpr,
            "fpr": rates.fpr,
            "advantage": rates.advantage,
        }


@lru_cache(maxsize=KEPT)
def _attacker(dataset: str, columns: int, repeat: int, seed: int) -> Attacker:
    """Learn once for all mechanisms and epsilons: their differences then share the split."""
    words = f"attacker | {dataset} | {columns} | {repeat} | {seed}"
    digest = hashlib.sha256(words.encode()).digest()
    rng = np.random.default_rng(list(digest[:16]))
    return learn_attacker(table_of(dataset, columns).X, load_classes(dataset), rng)
