"""The work on a cell: runs on one start, measured, or one fit whose centers are kept."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from shoal._typing import Floats
from shoal.experiments.cell import Cell
from shoal.metrics import nicv
from shoal.papers.kccm import (
    Measurement,
    PublishedKCCM,
    compare_variants,
    fit_on_start,
    measure_published,
    plain_cost,
    published_model,
    published_spend,
    variant_model,
    without_outliers,
)
from shoal.papers.kccm.plan import PLAIN, TRIMMED

__all__ = ["CORRECTED", "PUBLISHED", "FindCenters", "Load", "MeasureCosts", "axis_names"]

Load = Callable[[], Floats]

PUBLISHED, CORRECTED = "as published", "corrected"
APART = 1000  # more than there are starts: studies of different seeds share none


@dataclass(frozen=True)
class MeasureCosts:
    """Measure the mean NICV of all runs on a start.

    Parameters
    ----------
    load : callable
        Gives the table, scaled to [-1, 1]; a function that can be pickled.
    """

    load: Load

    def __call__(self, cell: Cell) -> list[dict[str, Any]]:
        """Return one record.

        Parameters
        ----------
        cell : Cell
            Its repeat is the number of the start, which cells that differ in noise or epsilon
            share; its seed is that of the noise.

        Returns
        -------
        records : list of dict
            Mean over runs; ``real_epsilon`` and ``real_delta`` are what is really spent.
        """
        words = cell.mechanism.words
        k, formula = words["k"], words.get("formula")
        table = _table(self.load, cell.dataset)
        common: dict[str, Any] = {
            "k": k,
            "starts": [_start(cell)],
            "runs": words["runs"],
            "seed": cell.seed,
            "variants": [cell.mechanism.name],
            "reference": _reference(self.load, cell.dataset, k),
        }
        found: tuple[Measurement, ...]
        if formula is None:
            found = compare_variants(table, epsilons=[cell.epsilon], **common)
        else:
            found = measure_published(table, formulas=[formula], **common)
        (one,) = found
        return [
            {
                "version": CORRECTED if formula is None else PUBLISHED,
                "variant": cell.mechanism.name,
                "formula": formula,
                "k": k,
                "runs": one.runs,
                "real_epsilon": one.epsilon,
                "real_delta": one.delta,
                "nicv": one.nicv,
                "deviation": one.deviation,
                "reference": one.reference,
            }
        ]


@dataclass(frozen=True)
class FindCenters:
    """Fit once, for a picture.

    Parameters
    ----------
    load : callable
        As in :class:`MeasureCosts`.
    """

    load: Load

    def __call__(self, cell: Cell) -> list[dict[str, Any]]:
        """Return one record for each center.

        Parameters
        ----------
        cell : Cell
            What to fit.

        Returns
        -------
        records : list of dict
            The center's place in columns x1, x2, ...
        """
        table = _table(self.load, cell.dataset)
        words = cell.mechanism.words
        k, formula = words["k"], words.get("formula")
        version, epsilon = CORRECTED, cell.epsilon
        if cell.mechanism.name == PLAIN:
            version, epsilon = "without privacy", np.inf
            centers = KMeans(k, n_init=10, random_state=0).fit(table).cluster_centers_
        elif formula is None:
            model = variant_model(cell.mechanism.name, k=k, epsilon=cell.epsilon, n=len(table))
            centers = _fitted(model, table, cell)
        else:
            printed: PublishedKCCM = published_model(cell.mechanism.name, formula=formula, k=k)
            version = PUBLISHED
            epsilon, _ = published_spend(printed, n=len(table), columns=table.shape[1])
            centers = _fitted(printed, table, cell)
        return [
            {
                "version": version,
                "variant": cell.mechanism.name,
                "formula": formula,
                "k": k,
                "real_epsilon": epsilon,
                "nicv": nicv(table, centers),
                "center": number,
                **dict(zip(axis_names(table.shape[1]), center.tolist(), strict=True)),
            }
            for number, center in enumerate(centers)
        ]


def axis_names(columns: int) -> list[str]:
    """Name the columns of records of centers.

    Parameters
    ----------
    columns : int
        How many.

    Returns
    -------
    names : list of str
        x1, x2, ...
    """
    return [f"x{place}" for place in range(1, columns + 1)]


def _fitted(model: Any, table: Floats, cell: Cell) -> Floats:
    fitted = fit_on_start(model, table, start=_start(cell), seed=cell.seed)
    centers: Floats = fitted.cluster_centers_
    return centers


def _start(cell: Cell) -> int:
    return APART * cell.spec_seed + cell.repeat


@cache
def _table(load: Load, dataset: str) -> Floats:
    table = load()
    return without_outliers(table) if dataset == TRIMMED else table


@cache
def _reference(load: Load, dataset: str, k: int) -> float:
    return plain_cost(_table(load, dataset), k)
