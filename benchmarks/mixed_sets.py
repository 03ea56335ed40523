"""Mixed tables with their schemas, and what clusters of them cost without privacy.

`DESIGN` are the sets that choices may look at; `FINAL` are run once, when all choices were made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from sklearn.cluster import KMeans

from shoal.datasets import Dataset, load, make_customers
from shoal.metrics import nicv
from shoal.schema import Schema

CLUSTERS = 5
RESTARTS = 20
PROTOTYPE_RESTARTS, PROTOTYPE_PASSES = 3, 20


@dataclass(frozen=True, eq=False)
class Mixed:
    """A table, its schema without the column of users (a record is one person's here), encoded."""

    table: dict[str, np.ndarray]
    schema: Schema
    X: np.ndarray

    @property
    def widths(self) -> np.ndarray:
        """Largest value of each encoded column; the smallest is 0."""
        return self.schema.space.widths


def mixed(dataset: Dataset) -> Mixed:
    """Encode a data set by its schema."""
    schema = Schema([field for field in dataset.schema.fields if field.role != "user"])
    table = {name: dataset.table[name] for field in schema.fields for name in field.columns}
    return Mixed(table, schema, schema.encode(table))


@cache
def _known(name: str) -> Mixed:
    return mixed(load(name))


@cache
def _customers(seed: int) -> Mixed:
    return mixed(make_customers(random_state=seed))


DESIGN: dict[str, Callable[[int], Mixed]] = {
    "adult": lambda _: _known("adult_mixed"),
    "customers": _customers,
}
FINAL: dict[str, Callable[[int], Mixed]] = {
    "diamonds": lambda _: _known("diamonds"),
    "customers": _customers,
}
DRAWN = ("customers",)  # another table for each seed


def best_cost(set_: Mixed) -> float:
    """Return the mean squared distance to the centers of k-means without privacy."""
    model = KMeans(CLUSTERS, n_init=RESTARTS, random_state=0).fit(set_.X)
    return float(model.inertia_) / len(set_.X)


def public_centers(set_: Mixed, seed: int) -> np.ndarray:
    """Return centers that no record was asked for: of made-up ones, even in their bounds."""
    rng = np.random.default_rng(seed)
    made = np.zeros((10_000, set_.X.shape[1]))
    for part in set_.schema.space.parts:
        block = made[:, part.start : part.stop]
        if part.kind == "simplex":
            level = rng.integers(0, block.shape[1], len(made))
            block[np.arange(len(made)), level] = part.width
        else:
            block[:] = rng.uniform(0, part.width, block.shape)
    return KMeans(CLUSTERS, n_init=1, random_state=seed).fit(made).cluster_centers_


def prototype_cost(set_: Mixed, seed: int) -> float:
    """Cluster by k-prototypes (Huang 1998); return the cost of the means of its clusters.

    Numbers have means and squared distances, categories modes and mismatches, weighed as in the
    schema; the least of some restarts.
    """
    rng = np.random.default_rng(seed)
    parts = set_.schema.space.parts
    intervals = [
        j for part in parts if part.kind == "interval" for j in range(part.start, part.stop)
    ]
    blocks = [part for part in parts if part.kind == "simplex"]
    numbers = set_.X[:, intervals]
    codes = [set_.X[:, part.start : part.stop].argmax(axis=1) for part in blocks]
    distances = partial(
        _prototype_distances, numbers, codes, [2 * part.width**2 for part in blocks]
    )
    costs = []
    for _ in range(PROTOTYPE_RESTARTS):
        first = rng.choice(len(numbers), CLUSTERS, replace=False)
        means, modes = numbers[first], [code[first] for code in codes]
        for _ in range(PROTOTYPE_PASSES):
            labels = distances(means, modes).argmin(axis=1)
            for cluster in np.unique(labels):
                members = labels == cluster
                means[cluster] = numbers[members].mean(axis=0)
                for code, mode in zip(codes, modes, strict=True):
                    mode[cluster] = np.bincount(code[members]).argmax()
        within = distances(means, modes).min(axis=1).mean()
        centers = [set_.X[labels == cluster].mean(axis=0) for cluster in np.unique(labels)]
        costs.append((within, nicv(set_.X, np.array(centers))))
    return float(min(costs)[1])


def _prototype_distances(
    numbers: np.ndarray,
    codes: list[np.ndarray],
    weights: list[float],
    means: np.ndarray,
    modes: list[np.ndarray],
) -> np.ndarray:
    distances = ((numbers[:, None, :] - means) ** 2).sum(axis=2)
    for code, weight, mode in zip(codes, weights, modes, strict=True):
        distances += weight * (code[:, None] != mode)
    return distances
