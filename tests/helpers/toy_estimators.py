"""Central estimators that the tests audit: small, and most of them wrong in one way."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator

from shoal.cluster import DPKMeans
from shoal.privacy import Guarantee


def two_sided_geometric(rng, epsilon, size=None):
    tail = 1 - np.exp(-epsilon)
    return rng.geometric(tail, size) - rng.geometric(tail, size)


class Toy(BaseEstimator):
    """Releases what `draw(X, rng)` gives; claims `epsilon`.

    ``rng`` is shared by all fits where it is given, which is faster than a seed for each.
    """

    def __init__(self, epsilon=1.0, *, bounds=(-1.0, 1.0), rng=None, random_state=None):
        self.epsilon = epsilon
        self.bounds = bounds
        self.rng = rng
        self.random_state = random_state

    def fit(self, X):
        rng = np.random.default_rng(self.random_state) if self.rng is None else self.rng
        self.guarantee_ = Guarantee("central", epsilon=self.epsilon)
        self.release_ = SimpleNamespace(values=self.draw(X, rng))
        return self

    def draw(self, X, rng):
        raise NotImplementedError


class NoisyCount(Toy):
    """Number of records, with just the noise that it needs."""

    def draw(self, X, rng):
        return {"count": len(X) + two_sided_geometric(rng, self.epsilon)}


class OnlyNoise(Toy):
    """Numbers that have nothing to do with the records."""

    def draw(self, X, rng):
        return {"noise": rng.random(30)}


class NoisyMean(Toy):
    """Sum with half of epsilon and size with the other half, of records within the box."""

    def draw(self, X, rng):
        size = len(X) + two_sided_geometric(rng, self.epsilon / 2)
        # A lattice of steps of 1/64: sums change by at most 64 d steps.
        steps = np.rint(64 * self.clip(X)).sum(axis=0)
        noise = two_sided_geometric(rng, self.epsilon / (128 * X.shape[1]), X.shape[1])
        mean = (steps + noise) / 64 / max(size, 1)
        return {"centers": np.clip(mean, -1.0, 1.0)[None], "sizes": np.array([max(size, 0)])}

    def clip(self, X):
        return np.clip(X, *self.bounds)


class UnclippedMean(NoisyMean):
    def clip(self, X):
        return X


class StartsFromRecords(NoisyMean):
    """Draws a start from the records, and releases the better of start and noisy mean."""

    def draw(self, X, rng):
        released = super().draw(X, rng)
        start = X[rng.integers(len(X))]
        if released["sizes"][0] < 3:
            released["centers"] = start[None]
        return released


class ListedInAnyOrder(Toy):
    """Two noisy means whose order is drawn anew; one follows the records, one does not."""

    def draw(self, X, rng):
        moved = len(X) + two_sided_geometric(rng, self.epsilon)
        centers = np.array([[10.0 + moved], [-10.0 + two_sided_geometric(rng, self.epsilon)]])
        return {"centers": rng.permutation(centers)}


class ManyOrFew(Toy):
    """Releases as many values as there are records, and words: no noise in either."""

    def __init__(self, epsilon=1.0, *, words=False, random_state=None):
        super().__init__(epsilon, random_state=random_state)
        self.words = words

    def draw(self, X, rng):
        if self.words:
            return {"method": "few" if len(X) < 3 else "many", "more": {"none": None}}
        return {"cells": [[float(v)] for v in rng.random(len(X))]}


class PromisesTooMuch(DPKMeans):
    """Fits with three times epsilon: a third of the noise that the promise needs."""

    def fit(self, X, y=None):
        promised = self.epsilon
        self.epsilon = 3 * promised
        super().fit(X)
        self.epsilon = promised
        self.guarantee_ = Guarantee("central", epsilon=promised, delta=self.delta)
        return self


class SkipsEmptyClusters(DPKMeans):
    """Adds no noise to the size of a cluster that has no record."""

    def fit(self, X, y=None):
        super().fit(X)
        empty = np.bincount(self.labels_, minlength=self.n_clusters) == 0
        sizes = np.where(empty, 0, self.cluster_sizes_)
        self.release_ = replace(self.release_, values={**self.release_.values, "sizes": sizes})
        return self
