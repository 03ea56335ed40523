"""The source's experiments again: the work on a trial.

The source runs six variants on 20 starts, 50 times each, and compares their costs. Here a repeat of
a trial is a start, and all runs on it are one record, since runs on one start are alike: what is
independent is the start, and intervals go over starts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.cluster import DPKMeans
from shoal.experiments import Trial
from shoal.metrics import nicv
from shoal.papers.kccm.blood import without_outliers
from shoal.papers.kccm.published import PublishedKCCM
from shoal.papers.kccm.variants import (
    fit_on_start,
    published_model,
    published_spend,
    variant_model,
)

__all__ = [
    "CLUSTERS",
    "CORRECTED",
    "DATASET",
    "PLAIN",
    "PUBLISHED",
    "SHOWN_EPSILON",
    "SOURCE_EPSILON",
    "TRIMMED",
    "FindCenters",
    "Load",
    "MeasureCosts",
    "axis_names",
    "plain_centers",
]

Load = Callable[[], Floats]

PUBLISHED, CORRECTED = "as published", "corrected"
PLAIN = "k-means without privacy"
DATASET, TRIMMED = "transfusion", "transfusion without outliers"
CLUSTERS = 3  # k of the source, by its elbow
SOURCE_EPSILON = 25.0  # the only epsilon that the source prints
SHOWN_EPSILON = 1.0  # one at which privacy means something
MAX_STARTS = 1000  # more than there are: studies of different seeds share no start


@dataclass(frozen=True)
class MeasureCosts:
    """Measure the mean NICV of all runs on a start.

    Parameters
    ----------
    load : callable
        Returns the table, scaled to [-1, 1]; a function that can be pickled.
    """

    load: Load

    def __call__(self, trial: Trial) -> list[dict[str, Any]]:
        """Return one record."""
        table, variant = _table(self.load, trial.dataset), _Variant.of(self.load, trial)
        costs = np.array(
            [nicv(table, variant.fit(table, run)) for run in range(trial.mechanism.kwargs["runs"])]
        )
        return [
            {
                **variant.names,
                "runs": len(costs),
                "real_epsilon": variant.epsilon,
                "real_delta": variant.delta,
                "nicv": float(costs.mean()),
                "deviation": float(costs.std(ddof=1)) if len(costs) > 1 else 0.0,
                "reference": _reference(self.load, trial.dataset, variant.model.n_clusters),
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

    def __call__(self, trial: Trial) -> list[dict[str, Any]]:
        """Return one record for each center."""
        table = _table(self.load, trial.dataset)
        if trial.mechanism.name == PLAIN:
            names, epsilon = _names("without privacy", trial), math.inf
            centers = plain_centers(table, names["k"])
        else:
            variant = _Variant.of(self.load, trial)
            names, centers, epsilon = variant.names, variant.fit(table), variant.epsilon
        return [
            {
                **names,
                "real_epsilon": epsilon,
                "nicv": nicv(table, centers),
                "center": number,
                **dict(zip(axis_names(table.shape[1]), center.tolist(), strict=True)),
            }
            for number, center in enumerate(centers)
        ]


@dataclass(frozen=True)
class _Variant:
    """A trial's variant, corrected or as published, with what it really spends."""

    trial: Trial
    model: DPKMeans | PublishedKCCM
    epsilon: float
    delta: float

    @classmethod
    def of(cls, load: Load, trial: Trial) -> "_Variant":
        table, name = _table(load, trial.dataset), trial.mechanism.name
        kwargs = {key: value for key, value in trial.mechanism.kwargs.items() if key != "runs"}
        if "formula" in kwargs:
            published = published_model(name, **kwargs)
            spent = published_spend(published, n=len(table), columns=table.shape[1])
            return cls(trial, published, *spent)
        model = variant_model(name, epsilon=trial.epsilon, n=len(table), **kwargs)
        return cls(trial, model, model.epsilon, model.delta)

    @property
    def names(self) -> dict[str, Any]:
        return _names(CORRECTED if isinstance(self.model, DPKMeans) else PUBLISHED, self.trial)

    def fit(self, table: Floats, run: int = 0) -> Floats:
        start = MAX_STARTS * self.trial.spec_seed + self.trial.repeat
        fitted = fit_on_start(self.model, table, start=start, seed=self.trial.seed, run=run)
        centers: Floats = fitted.cluster_centers_
        return centers


def axis_names(columns: int) -> list[str]:
    """Name the columns of records of centers: x1, x2, ..."""
    return [f"x{number}" for number in range(1, columns + 1)]


def plain_centers(table: Floats, k: int) -> Floats:
    """Return the centers of k-means without privacy, best of ten starts."""
    centers: Floats = KMeans(k, n_init=10, random_state=0).fit(table).cluster_centers_
    return centers


def _names(version: str, trial: Trial) -> dict[str, Any]:
    """Return the columns that say what was fitted."""
    kwargs = trial.mechanism.kwargs
    return {
        "version": version,
        "variant": trial.mechanism.name,
        "formula": kwargs.get("formula"),
        "k": kwargs["k"],
    }


@cache
def _table(load: Load, dataset: str) -> Floats:
    table = validate_records(load())
    return without_outliers(table) if dataset == TRIMMED else table


@cache
def _reference(load: Load, dataset: str, k: int) -> float:
    table = _table(load, dataset)
    with threadpool_limits(1):
        return nicv(table, plain_centers(table, k))
