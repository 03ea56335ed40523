"""Made-up records of the kd-Laplace study, with effects that a test chooses."""

import itertools

import numpy as np

VERSIONS = ("as published", "corrected")
REAL, SHAPES = ("heart", "seeds"), ("circle", "line", "skewed")
MECHANISMS = ("nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace", "piecewise")


def made_up(**effects):
    """Make records in which each measure is 0.5 plus the effects of what a row is, and noise.

    An effect is a function of a row (a dict) for ``ami``, ``advantage``, ``outside``, ``unit_ami``
    or ``nodes``; those that are not given have none.
    """
    rng = np.random.default_rng(0)

    def value(measure, row):
        effect = effects.get(measure)
        return 0.5 + (effect(row) if effect else 0.0) + rng.normal(scale=0.005)

    utility, attack, unit = [], [], []
    for dataset, version, repeat in itertools.product((*REAL, *SHAPES), VERSIONS, range(4)):
        base = {"dataset": dataset, "version": version, "repeat": repeat}
        for columns, mechanism, epsilon in itertools.product(
            (2, 3, 7), MECHANISMS, (0.5, 3.0, 9.0)
        ):
            if dataset in SHAPES and columns > 3:
                continue
            row = {**base, "columns": columns, "mechanism": mechanism, "epsilon": epsilon}
            attack.append({**row, "advantage": value("advantage", row), "tpr": 0.5, "fpr": 0.5})
            for clusterer in ("KMeans", "AgglomerativeClustering", "OPTICS"):
                row = {**row, "clusterer": clusterer}
                outside = effects.get("outside", lambda row: 0.0)(row)
                utility.append(
                    {
                        **row,
                        "ami": value("ami", row),
                        "sc": 0.3,
                        "distance": 1.0,
                        "outside": outside,
                        "plain_sc": 0.4,
                        "plain_clusters": 20.0,
                        "plain_in_none": 0.6,
                    }
                )
        row = {**base, "columns": 2, "mechanism": "nd-Laplace", "epsilon": 5.0, "spread": 2.0}
        row["clusterer"] = "KMeans"
        unit.append({**row, "ami": value("unit_ami", row)})
    search = [
        {
            "columns": columns,
            "points": points,
            "repeat": repeat,
            "nodes": effects.get("nodes", np.log)(points) + rng.normal(scale=0.001),
        }
        for columns in (2, 9)
        for points in (500, 2000, 8000, 32000)
        for repeat in range(4)
    ]
    leak = [
        {
            "dataset": "seeds",
            "columns": 2,
            "mechanism": mechanism,
            "epsilon": 1.0,
            "repeat": 0,
            "claim": 1.0,
            "bound": 5.0,
            "caught": True,
        }
        for mechanism in MECHANISMS[:3]
    ]
    drafts = [
        {
            "clusterer": clusterer,
            "version": version,
            "epsilon": level,
            "repeat": repeat,
            **dict.fromkeys(("ami", "ari", "sc", "ch", "advantage", "distance"), 0.5),
        }
        for clusterer in ("KMeans", "AffinityPropagation", "DBSCAN")
        for version in VERSIONS
        for level in (0.5, 5.0)
        for repeat in range(2)
    ]
    return {
        "utility-all": utility,
        "attack-all": attack,
        "unit": unit,
        "search": search,
        "leak": leak,
        "drafts": drafts,
    }
