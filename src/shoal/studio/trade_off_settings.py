"""What can be compared on the page Trade-off, and two ready-made settings."""

from dataclasses import asdict, dataclass
from typing import Any

from shoal._registry import METHODS
from shoal.experiments.compare import CONTENDERS
from shoal.schema import Category, Schema
from shoal.studio.nobodys_records import Source
from shoal.studio.workspace import StudioTable

__all__ = ["TradeOffSettings", "choices", "plain_settings"]

EPSILONS = (0.5, 2.0, 8.0)
MORE_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
RUNS, MORE_RUNS = 3, 10
FEW_COLUMNS = 4  # encoded ones: a grid is best there, and taking noise out of reports is quick
MODELS = {
    "central": "You hold the records",
    "local": "Each device reports; no one is trusted",
    "shuffled": "Each device reports behind a shuffler",
}


@dataclass(frozen=True)
class TradeOffSettings:
    """What is compared.

    Parameters
    ----------
    methods : tuple of str
        Names in the registry.
    epsilons : tuple of float
        Worst-case epsilons.
    clusters : int
        Number of clusters.
    runs : int
        Fits of each method at each epsilon.
    seed : int, default=0
        Of everything.
    source : {"made-up", "copy"}, default="made-up"
        Which records.
    """

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    clusters: int
    runs: int
    seed: int = 0
    source: Source = "made-up"


def choices(table: StudioTable) -> dict[str, Any]:
    """Return what can be compared for a table, from its schema alone.

    Parameters
    ----------
    table : StudioTable
        With a complete schema; its records are not read.

    Returns
    -------
    choices : dict
        Methods with why some do not fit, two ready-made settings, and the sources.
    """
    schema = table.described
    schema.check_complete()
    columns = schema.space.columns
    looks = {method.name: method for method in METHODS}
    return {
        "methods": [
            {
                "name": one.name,
                "model": one.model,
                "shuffled": one.shuffles,
                "summary": looks[one.name].summary,
                "misfit": one.misfit(columns) or "",
                "slow": one.noise_aware and columns > FEW_COLUMNS,
            }
            for one in CONTENDERS
            if one.output != "cells"  # without centers they have no cost
        ],
        "models": MODELS,
        "quick": plain_settings(_quick(schema)),
        "exact": plain_settings(_exact(schema)),
        "sources": ["made-up", *(["copy"] if table.copy is not None else [])],
        "columns": columns,
        "trust_model": table.trust_model,
    }


def _quick(schema: Schema) -> TradeOffSettings:
    """Return what takes some seconds: in many columns, only what needs no noise taken out."""
    few = schema.space.columns <= FEW_COLUMNS
    central = ("DPKMeans-grid", "DPKMeans-lloyd") if few else ("DPKMeans-centered", "DPKMeans-ball")
    if any(isinstance(one, Category) for one in schema.features):
        central = ("DPKMeans-mixed", "DPKMeans-centered")
    reports = ("KdLaplace-bayes", *(("PartitionResponse",) if few else ()))
    return TradeOffSettings((*central, *reports), EPSILONS, 5, RUNS)


def _exact(schema: Schema) -> TradeOffSettings:
    """Return runs enough to tell methods apart, and reports behind a shuffler."""
    methods = dict.fromkeys((*_quick(schema).methods, "PartitionResponse"))
    return TradeOffSettings(tuple(methods), MORE_EPSILONS, 5, MORE_RUNS)


def plain_settings(settings: TradeOffSettings) -> dict[str, Any]:
    """Return settings as pages read them."""
    return {**asdict(settings), "methods": [*settings.methods], "epsilons": [*settings.epsilons]}
