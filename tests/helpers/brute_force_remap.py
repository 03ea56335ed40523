"""The remaps' formulas as dense matrices: no FFT, no grid tricks."""

import numpy as np
from scipy import optimize


def points_of(sides):
    return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(sides))


def densities(mechanism, reports, candidates):
    """K[z, q] up to a factor, one candidate a column."""
    logs = np.stack([mechanism.log_density(reports, q) for q in candidates], axis=1)
    return np.exp(logs - mechanism.log_density(candidates[:1], candidates[0])[0])


def posterior(mechanism, reports, candidates, prior):
    weights = densities(mechanism, reports, candidates) * prior
    return weights / weights.sum(axis=1, keepdims=True)


def update(counts, matrix, prior):
    """One iterative Bayesian update with a matrix K[z, x]."""
    mixed = matrix @ prior
    return prior * (matrix.T @ (counts / mixed)) / counts.sum()


def expected_loss(weights, candidates, place, power):
    return float(weights @ np.linalg.norm(candidates - place, axis=1) ** power)


def best_point(weights, candidates, power):
    """Minimize the expected loss numerically, from several starts."""
    starts = [weights @ candidates, candidates[weights.argmax()] + 1e-3]
    found = [
        optimize.minimize(
            lambda place: expected_loss(weights, candidates, place, power),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
        )
        for start in starts
    ]
    return min(found, key=lambda result: result.fun)
