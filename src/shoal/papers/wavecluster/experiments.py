"""The work on a trial of the study: a measured run, or one fit whose grid is kept for a picture."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from shoal._typing import Labels
from shoal.experiments import Trial
from shoal.papers.wavecluster.figure_sets import FigureSet, load_figure_set
from shoal.papers.wavecluster.techniques import METHODS, Method, TechniqueComparison

__all__ = [
    "NONE",
    "PLAIN",
    "KeepCells",
    "Load",
    "MeasureTechnique",
    "compare_on",
    "matched_cells",
    "read_cells",
    "write_cells",
]

Load = Callable[[str], FigureSet]

NONE = "none"  # the mechanism that stands for WaveCluster without privacy
PLAIN = "without privacy"  # its version


@cache
def compare_on(load: Load, name: str) -> TechniqueComparison:
    """Load a set with what is true of it, once in each process."""
    return TechniqueComparison(load(name))


@dataclass(frozen=True)
class MeasureTechnique:
    """Measure all versions of a trial's technique.

    Parameters
    ----------
    load : callable
        From the name of a set to the set.
    """

    load: Load = load_figure_set

    def __call__(self, trial: Trial) -> Iterable[dict[str, Any]]:
        """Measure; repeats classify one tenth of the records after the other."""
        comparison = compare_on(self.load, trial.dataset)
        for method in _methods(trial.mechanism.name):
            yield {
                "version": method.version,
                **comparison.measure(method, trial.epsilon, seed=trial.seed, fold=trial.repeat),
            }


@dataclass(frozen=True)
class KeepCells:
    """Fit all versions of a trial's technique, and keep their cells.

    Parameters
    ----------
    load : callable
        From the name of a set to the set.
    """

    load: Load = load_figure_set

    def __call__(self, trial: Trial) -> Iterable[dict[str, Any]]:
        """Fit; clusters are numbered like the ones without privacy that they match best."""
        comparison = compare_on(self.load, trial.dataset)
        truth, chosen = comparison.truth, comparison.figure_set
        band = np.asarray(truth.release_.values["band"])
        setting = {
            "positive": int((band > 0).sum()),
            "not_positive": int((band <= 0).sum()),
            **{
                f"{name}_{end}": float(value)
                for end, corner in zip(("low", "high"), chosen.bounds, strict=True)
                for name, value in zip(("x", "y"), corner, strict=True)
            },
            "x_name": chosen.columns[0],
            "y_name": chosen.columns[1],
        }
        grids = {PLAIN: truth.cells_}
        if trial.mechanism.name != NONE:
            grids = {
                method.version: matched_cells(
                    truth.cells_, comparison.cells(method, trial.epsilon, seed=trial.seed)
                )
                for method in _methods(trial.mechanism.name)
            }
        for version, cells in grids.items():
            yield {
                "version": version,
                **setting,
                "significant": int((cells >= 0).sum()),
                "clusters": len(np.unique(cells[cells >= 0])),
                "cells": write_cells(cells),
            }


def matched_cells(true: Labels, private: Labels) -> Labels:
    """Give private clusters the numbers of the true ones with which they share most cells."""
    here, there = int(private.max(initial=-1)) + 1, int(true.max(initial=-1)) + 1
    both = (private >= 0) & (true >= 0)
    shared = np.zeros((here, there))
    np.add.at(shared, (private[both], true[both]), 1)
    names = np.full(here + 1, -1, dtype=np.int32)  # the last one is for cells without a cluster
    for mine, theirs in zip(*linear_sum_assignment(shared, maximize=True), strict=True):
        if shared[mine, theirs] > 0:
            names[mine] = theirs
    alone = np.flatnonzero(names[:-1] < 0)
    names[alone] = there + np.arange(len(alone))
    cells: Labels = names[private]
    return cells


def write_cells(cells: Labels) -> str:
    """Write a grid as text on one line."""
    return ";".join(" ".join("." if one < 0 else str(one) for one in row) for row in cells.tolist())


def read_cells(text: str) -> Labels:
    """Read a grid that :func:`write_cells` wrote."""
    rows = [row.split(" ") for row in text.split(";")]
    return np.array([[-1 if one == "." else int(one) for one in row] for row in rows], np.int32)


def _methods(technique: str) -> list[Method]:
    """List the versions of a technique; our own has been published nowhere."""
    return [method for method in METHODS if method.technique == technique]
