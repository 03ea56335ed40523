"""What a chart holds, layer by layer; and one small call of each function that draws."""

import math
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
    for epsilon in EPSILONS
    for run in range(3)
]
WITHOUT = [{**row, "epsilon": np.inf} for row in ROWS if row["epsilon"] == 4.0]
POINTS = RNG.normal(size=(60, 3))
GRID = np.array([[0, 0, -1, -1], [0, -1, -1, 1], [-1, -1, 1, 1]])
EVIL = "a </script> <b> of $5"


def layers(picture, panel=0, mark=None):
    """Return mark, channels and rows of each layer of a panel, from back to front."""
    spec = picture._spec
    above = spec.get("data")
    part = spec["concat"][panel]
    found = []
    for layer in part["layer"]:
        name = (layer.get("data") or part.get("data") or above)["name"]
        found.append(
            SimpleNamespace(
                mark=layer["mark"],
                type=layer["mark"]["type"],
                encoding=layer.get("encoding", {}),
                rows=spec["datasets"][name],
            )
        )
    return [one for one in found if mark in (None, one.type)]


def titles(picture):
    """Return the titles of the panels."""
    found = [panel.get("title", {}).get("text", []) for panel in picture._spec["concat"]]
    return [" ".join(lines) for lines in found]


def legend(picture, panel=0):
    """Return the names that a legend of a panel explains, with their colors."""
    for layer in picture._spec["concat"][panel]["layer"]:
        scale = layer.get("encoding", {}).get("color", {})
        if scale.get("field") == "name" and scale.get("legend", {}) is not None:
            return dict(zip(scale["scale"]["domain"], scale["scale"]["range"], strict=True))
    return {}


def column(rows, name):
    """Return a column of rows."""
    return [row[name] for row in rows]


def choice(method, n_clusters=3):
    """Return a choice of the number of clusters."""
    scores = [0.1, 0.7, 0.5]
    return SimpleNamespace(
        method=method, n_clusters=n_clusters, candidates=[2, 3, 4], scores=scores
    )


def release(*, holds=True, **values):
    """Return a release with values."""
    return SimpleNamespace(values=values, guarantee=SimpleNamespace(holds=holds))


def released_centers(columns, *, holds=True):
    """Return a release of three centers, the last of which may be noise."""
    return release(
        centers=RNG.uniform(-1, 1, (3, columns)),
        sizes=np.array([5.0, 9.0, 2.0]),
        certain=np.array([True, True, False]),
        low=np.full(columns, -1.0),
        high=np.ones(columns),
        holds=holds,
    )


def released_band(*, holds=True):
    """Return a release of a small band."""
    return release(
        band=RNG.normal(size=(6, 5)).round(3) * 4,
        low=np.zeros(2),
        high=np.ones(2),
        cells=[0, 1, 7],
        clusters=[0, 0, 1],
        threshold=1.5,
        holds=holds,
    )


TREE = {
    "parent": [-1, 0, 0, 1, 1],
    "base": [0.0, 2.0, 2.0, 5.0, 5.0],
    "top": [2.0, 5.0, 9.0, 8.0, 7.0],
    "size": [90.0, 50.0, 40.0, 30.0, 20.0],
}
DENSITY = np.arange(12.0).reshape(3, 4) - 1


def released_density(columns=2, *, holds=True):
    """Return a release of a small density with two clusters."""
    density = np.zeros((6,) * columns)
    density[(1,) * columns], density[(4,) * columns] = 9.0, 7.0
    cells = np.flatnonzero(density.ravel())
    return release(
        density=density,
        cells=cells,
        clusters=np.array([0, 1]),
        tree={name: np.array(values) for name, values in TREE.items()},
        nodes=np.array([1, 2]),
        sizes=np.array([48.0, 38.0]),
        low=np.zeros(columns),
        high=np.full(columns, 3.0),
        holds=holds,
    )


def attack(name):
    """Return what an attack found."""
    rates = np.linspace(0, 1, 7)
    roc = SimpleNamespace(fpr=rates**2, tpr=rates)
    return SimpleNamespace(attack=name, roc=roc, fpr=0.3, tpr=0.5)


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
    for at in (0.006, 0.02, 5.65685, 11.3137, 22.6274, 45.2548)
]
DEVICE_PLAN = SimpleNamespace(
    rows=[
        SimpleNamespace(
            epsilon=epsilon,
            tried=[(1000, 3.0, 2.5, 3.5), (10_000, 1 + 1 / epsilon, 1.0, 2 + 1 / epsilon)],
            for_cost=devices,
            for_smallest=math.nan,
            shuffled_epsilon=epsilon / 30,
        )
        for epsilon, devices in ((0.5, math.inf), (1.0, 90_000.0), (4.0, 1000.0))
    ],
    cost=1.2,
)
SHUFFLED_PLAN = SimpleNamespace(
    rows=[
        SimpleNamespace(
            epsilon=epsilon, local_epsilon=6 + epsilon, cost_ratio=1.2, low=1.1, high=1.4
        )
        for epsilon in (0.1, 0.5, 1.0)
    ]
)
PLAN = SimpleNamespace(
    rows=[
        SimpleNamespace(
            epsilon=epsilon,
            cost_ratio=1 + 1 / epsilon,
            low=1.0,
            high=2 + 1 / epsilon,
            smallest_cluster=size,
            share_error=share,
            median_error=math.nan,
        )
        for epsilon, size, share in ((0.5, math.inf, 0.4), (1.0, 90.0, 0.2), (4.0, 40.0, 0.05))
    ],
    smallest_without_noise=30.0,
)
CLUSTERED = {
    "labels": {"clusters": np.arange(60) % 3 - 1},
    "centers": {"clusters": POINTS[:2]},
}
FLAT = {"labels": CLUSTERED["labels"], "centers": {"clusters": POINTS[:2, :2]}}


def released_profile():
    """Return a profile of two clusters: a number, a date and a category."""
    groups, ends = 3, ("", "_low", "_high")

    def field(name, kind, levels, **kwargs):
        shares = np.full((groups, len(levels)), 1 / len(levels))
        return {
            "name": name,
            "title": name,
            "unit": "$ <b>",
            "kind": kind,
            "scale": "linear",
            "levels": levels,
            "missing": True,
            "summaries": ["a few words"] * groups,
            **{f"shares{end}": shares for end in ends},
            **kwargs,
        }

    def measured(name, kind, low, high, scale="linear"):
        edges = np.linspace(low, high, 21)
        levels = [*(f"bin {number}" for number in range(20)), "missing"]
        values = np.tile(np.linspace(low, high, 5), (groups, 1))
        numbers = {f"values{end}": values for end in ends}
        quantiles = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
        kwargs = {"edges": edges, "quantiles": quantiles, "scale": scale, **numbers}
        return field(name, kind, levels, **kwargs)

    values = {
        "clusters": [0, -1],
        "noun": "people",
        "sizes": np.array([50.0, 30.0, 80.0]),
        "size_texts": ["about 50", "about 30", "about 80"],
        "sentences": ["cluster 0: </script>", "in no cluster: <b>"],
        "notes": ["a note"],
        "keywords": [{"title": "comment", "summaries": ["late", "bread <b>", "late"]}],
        "fields": [
            measured("age", "numbers", 0.0, 100.0),
            measured("income", "numbers", 0.0, 1e6, "log"),
            measured("joined", "dates", 15000.0, 19000.0),
            field("city </script>", "levels", ["A", "a much too long name of a level", "missing"]),
        ],
    }
    return SimpleNamespace(kind="ClusterProfile", values=values, guarantee="a promise")


# By name: what draws, with all that it can show; it can be called with a path.
COLLECTION = SimpleNamespace(
    records=RNG.uniform(0, 20, (40, 2)),
    reports=RNG.integers(0, 8, (40, 2)).astype(float),
    labels=np.arange(40) % 3,
    true_centers=RNG.uniform(0, 20, (3, 2)),
    centers=RNG.uniform(0, 20, (3, 2)),
    bounds=([0.0, 0.0], [20.0, 20.0]),
)
SHAPES = SimpleNamespace(
    values={
        "density": [[6.0, 5.0, 0.2, 0.1], [4.0, 0.3, 0.2, 3.0], [0.1, 0.2, 4.0, 9.0]],
        "cells": [0, 1, 10, 11],
        "clusters": [0, 0, 1, 1],
        "sizes": [11.0, 13.0],
        "nodes": [1, 2],
        "tree": {
            "parent": [-1, 0, 0],
            "base": [0, 0.3, 0.3],
            "top": [0.3, 6, 9],
            "size": [32, 15, 17],
        },
        "low": [0.0, 0.0],
        "high": [1.0, 2.0],
        "columns": ["x", EVIL],
        "records": 32.0,
    }
)

PICTURES = {
    "lines": partial(
        plotting.draw_lines,
        ROWS + WITHOUT,
        x="epsilon",
        y="ami",
        dash="version",
        panels="clusterer",
        published="printed",
        log_x=True,
        log_y=False,
        reference={"k-means </script>": 0.9},
        title=EVIL,
    ),
    "trade-off": partial(
        plotting.draw_trade_off, ROWS, privacy="advantage", utility="ami", panels="clusterer"
    ),
    "bars": partial(
        plotting.draw_bars,
        ROWS,
        value="ami",
        sets="clusterer",
        shade="version",
        published="printed",
        reference={"k-means": 0.9},
    ),
    "heat map": partial(
        plotting.draw_heat_map,
        ROWS,
        x="mechanism",
        y="epsilon",
        value="ami",
        panels="clusterer",
        published="printed",
    ),
    "map": partial(
        plotting.draw_map,
        {
            "features": [
                {
                    "properties": {"cluster": 0, "size": 12.0, "stratum": {"kind": EVIL}},
                    "geometry": {"type": "Point", "coordinates": [24.9, 60.2]},
                },
                {
                    "properties": {"cluster": 1, "size": 3.0, "stratum": {"kind": "home"}},
                    "geometry": {
                        "type": "Polygon",
                        "coordinates": [[[25.0, 60.2], [25.1, 60.2], [25.0, 60.3], [25.0, 60.2]]],
                    },
                },
            ]
        },
        center=(24.94, 60.17),
        radius=50.0,
        title=EVIL,
    ),
    "points in the plane": partial(
        plotting.draw_scatter,
        {"reports": POINTS[:, :2], "clusters": POINTS[:, :2] + 0.1},
        records=False,
        **FLAT,
    ),
    "points in space": partial(
        plotting.draw_scatter, {"reports": POINTS, "clusters": POINTS}, records=False, **CLUSTERED
    ),
    "perturbation area": partial(
        plotting.draw_perturbation_area,
        {"Laplace": RNG.laplace(size=(500, 2)), "none": np.zeros((5, 2))},
        [0.0, 0.0],
        bounds=(-1.0, 1.0),
    ),
    "perturbation area in space": partial(
        plotting.draw_perturbation_area, {"Laplace": RNG.laplace(size=(500, 3))}, [0.0, 0.0, 0.0]
    ),
    "cells": partial(
        plotting.draw_cells, {"as published": GRID, "corrected": GRID.T}, bounds=(0.0, 1.0)
    ),
    "thresholds": partial(plotting.draw_thresholds, released_band()),
    "density": partial(plotting.draw_density, DENSITY, bounds=(0.0, 1.0), title=EVIL),
    "density of one column": partial(plotting.draw_density, DENSITY[0], columns=["age </script>"]),
    "clusters of a density": partial(plotting.draw_density_clusters, GRID, DENSITY),
    "tree of clusters": partial(plotting.draw_cluster_tree, TREE, nodes=[1, 2]),
    "shapes": partial(plotting.draw_shapes, SHAPES, level=1.0, title=EVIL),
    "release in a line": partial(plotting.draw_release, released_centers(1), ["age"]),
    "release in the plane": partial(plotting.draw_release, released_centers(2), ["age", "$ <b>"]),
    "release of a density": partial(plotting.draw_release, released_density(), ["age", "$ <b>"]),
    "release of many columns": partial(plotting.draw_release, released_centers(4), ["a'", *"bcd"]),
    "profile": partial(plotting.draw_profile, released_profile(), title=EVIL),
    "curves of attacks": partial(
        plotting.draw_roc,
        {"yeom": attack("yeom").roc, "mine": ([0.0, 0.5, 1.0], [0.0, 0.7, 1.0])},
        epsilon=1.0,
    ),
    "rates": partial(
        plotting.draw_rates,
        [
            SimpleNamespace(result=attack("yeom"), control=attack("yeom"), ceiling=0.4),
            SimpleNamespace(result=attack("distance"), control=attack("distance"), ceiling=None),
        ],
    ),
    "audit": partial(plotting.draw_audit, **AUDIT),
    "number of clusters": partial(
        plotting.draw_n_clusters, [choice("elbow"), choice("silhouette"), choice("gap")]
    ),
    "distances": partial(
        plotting.draw_k_distance,
        SimpleNamespace(eps=0.3, neighbor=3, distances=[0.1, 0.2, 0.3, 1.5]),
    ),
    "collection": partial(plotting.draw_collection, COLLECTION),
    "demonstration": partial(plotting.draw_demo, EXAMPLE, COSTS),
    "plan": partial(plotting.draw_plan, PLAN, title=EVIL),
    "plane": partial(
        plotting.draw_plane,
        POINTS[:, :2],
        axes=(plotting.PlaneAxis(EVIL, -2.0, 2.0), plotting.PlaneAxis("day", -2.0, 2.0, "date")),
        labels=(POINTS[:, 0] > 0).astype(int),
        centers=[[-1.0, 0.0], [1.0, 0.0]],
        sizes=[30, 30],
        shown="clusters",
        records=False,
        title=EVIL,
    ),
    "plan of devices": partial(plotting.draw_device_plan, DEVICE_PLAN, title=EVIL),
    "plan of a shuffled batch": partial(plotting.draw_shuffled_plan, SHUFFLED_PLAN, title=EVIL),
}
