"""One small call of each function that draws, with all that it can show."""

from functools import partial
from types import SimpleNamespace

import numpy as np

from shoal import plotting

RNG = np.random.default_rng(0)
EPSILONS = (0.5, 1.0, 4.0)
ROWS = [
    {
        "mechanism": mechanism,
        "clusterer": clusterer,
        "version": version,
        "epsilon": epsilon,
        "ami": place / 10 + epsilon / 10 + run / 100,
        "advantage": place / 20 + epsilon / 9 + run / 90,
        "printed": epsilon / 9,
    }
    for place, mechanism in enumerate(["nd-Laplace", "piecewise"])
    for clusterer in ("KMeans", "OPTICS")
    for version in ("as published", "corrected")
    for epsilon in (*EPSILONS, np.inf)
    for run in range(3)
]
FINITE = [row for row in ROWS if np.isfinite(row["epsilon"])]
POINTS = RNG.normal(size=(60, 3))
GRID = np.array([[0, 0, -1, -1], [0, -1, -1, 1], [-1, -1, 1, 1]])


def _choice(method):
    return SimpleNamespace(
        method=method, n_clusters=3, candidates=[2, 3, 4], scores=[0.1, 0.7, 0.5]
    )


def _release(**values):
    return SimpleNamespace(values=values, guarantee=SimpleNamespace(holds=True))


def _centers(columns):
    box = {"low": np.full(columns, -1.0), "high": np.ones(columns)}
    return _release(
        centers=RNG.uniform(-1, 1, (3, columns)),
        sizes=np.array([5.0, 9.0, 2.0]),
        certain=np.array([True, True, False]),
        **box,
    )


BAND = _release(
    band=RNG.normal(size=(6, 5)).round(3) * 4,
    low=np.zeros(2),
    high=np.ones(2),
    cells=[0, 1, 7],
    clusters=[0, 0, 1],
    threshold=1.5,
)


def _found(attack):
    rates = np.linspace(0, 1, 7)
    roc = SimpleNamespace(fpr=rates**2, tpr=rates)
    return SimpleNamespace(attack=attack, roc=roc, fpr=0.3, tpr=0.5)


ATTACKS = [
    SimpleNamespace(result=_found("yeom"), control=_found("yeom"), ceiling=0.4),
    SimpleNamespace(result=_found("distance"), control=_found("distance"), ceiling=None),
]
SCORES = RNG.normal(size=50)
AUDIT = {
    "points": {"records": POINTS[:4, :2], "added": POINTS[5:6, :2]},
    "sides": ("without", "with"),
    "evidence": SimpleNamespace(
        score="size", relation=">", threshold=0.5, first=SCORES, second=SCORES + 1
    ),
    "searched": {"corner": 0.3, "middle": 0.2},
    "measured": 0.4,
    "claimed": 1.0,
}
EXAMPLE = SimpleNamespace(
    records=POINTS[:, :2] / 2,
    reports=POINTS[:, 1:] / 2,
    central=np.eye(2),
    local=-np.eye(2),
    epsilon=1.0,
    metric_epsilon=4.0,
)
COSTS = [
    SimpleNamespace(model=model, method="k", worst_case=at, costs=[1 + 1 / at, 2.0, 1.1])
    for model in ("central", "local")
    for at in EPSILONS
]
SETS = {"records": POINTS, "clusters": POINTS + 0.1}
MARKS = {"labels": {"clusters": np.arange(60) % 3 - 1}, "centers": {"clusters": POINTS[:2]}}
FLAT = {
    "labels": MARKS["labels"],
    "centers": {"clusters": POINTS[:2, :2]},
}

# By name: what draws, to be called with a path.
PICTURES = {
    "lines": (
        plotting.draw_lines,
        partial(
            plotting.draw_lines,
            records=ROWS,
            x="epsilon",
            y="ami",
            dash="version",
            panels="clusterer",
            published="printed",
            log_x=True,
            reference={"k-means </script>": 0.9},
            title="a </script> <b> of $5 and $6",
        ),
    ),
    "heat map": (
        plotting.draw_heat_map,
        partial(
            plotting.draw_heat_map,
            records=FINITE,
            rows="epsilon",
            columns="mechanism",
            value="ami",
            panels="clusterer",
        ),
    ),
    "bars": (
        plotting.draw_bars,
        partial(
            plotting.draw_bars,
            records=FINITE,
            value="ami",
            sets="clusterer",
            hatch="version",
            published="printed",
            reference={"k-means": 0.9},
        ),
    ),
    "scatter in the plane": (
        plotting.draw_scatter,
        partial(plotting.draw_scatter, sets={name: p[:, :2] for name, p in SETS.items()}, **FLAT),
    ),
    "scatter in space": (
        plotting.draw_scatter,
        partial(plotting.draw_scatter, sets=SETS, **MARKS),
    ),
    "number of clusters": (
        plotting.draw_n_clusters,
        partial(plotting.draw_n_clusters, choices=[_choice("elbow"), _choice("gap")]),
    ),
    "distances": (
        plotting.draw_k_distance,
        partial(
            plotting.draw_k_distance,
            choice=SimpleNamespace(eps=0.3, neighbor=3, distances=[0.1, 0.2, 0.3, 1.5]),
        ),
    ),
    "release in the plane": (
        plotting.draw_release,
        partial(plotting.draw_release, release=_centers(2), columns=["age", "income"]),
    ),
    "release of many columns": (
        plotting.draw_release,
        partial(plotting.draw_release, release=_centers(4), columns=list("abcd")),
    ),
    "thresholds": (
        plotting.draw_thresholds,
        partial(plotting.draw_thresholds, release=BAND),
    ),
    "audit": (plotting.draw_audit, partial(plotting.draw_audit, **AUDIT)),
    "rates": (plotting.draw_rates, partial(plotting.draw_rates, rows=ATTACKS)),
    "demonstration": (
        plotting.draw_demo,
        partial(plotting.draw_demo, example=EXAMPLE, rows=COSTS),
    ),
    "cells": (
        plotting.draw_cells,
        partial(
            plotting.draw_cells,
            cells={"as published": GRID, "corrected": GRID.T},
            bounds=(0.0, 1.0),
        ),
    ),
    "trade-off": (
        plotting.draw_trade_off,
        partial(
            plotting.draw_trade_off,
            records=FINITE,
            privacy="advantage",
            utility="ami",
            panels="clusterer",
        ),
    ),
    "curves of attacks": (
        plotting.draw_roc,
        partial(
            plotting.draw_roc,
            curves={"yeom": _found("yeom").roc, "mine": ([0.0, 0.5, 1.0], [0.0, 0.7, 1.0])},
            epsilon=1.0,
        ),
    ),
    "perturbation area": (
        plotting.draw_perturbation_area,
        partial(
            plotting.draw_perturbation_area,
            reports={"Laplace": RNG.laplace(size=(500, 2)), "none": np.zeros((5, 2))},
            record=[0.0, 0.0],
            bounds=(-1.0, 1.0),
        ),
    ),
}
