"""Mechanisms that the audit's tests audit: some keep their promise, some do not.

Each is a callable f(record, n) with numpy noise from a seeded generator. Outputs are rounded to a
public grid unless a test is about floating-point noise.
"""

import numpy as np

FINE = 2.0**-20


def grid(values, step):
    return np.round(values / step) * step


def randomized_response(epsilon, rng):
    lie = 1 / (1 + np.exp(epsilon))
    return lambda bit, n: bit ^ (rng.random(n) < lie)


def float_laplace(scale, rng):
    return lambda record, n: record + scale * rng.laplace(size=n)


def grid_laplace(scale, rng, step=1 / 8):
    noisy = float_laplace(scale, rng)
    return lambda record, n: grid(noisy(record, n), step)


def ball_noise(epsilon, d, n, rng):
    """Noise with density proportional to exp(-epsilon * length) in d dimensions."""
    normal = rng.normal(size=(n, d))
    length = rng.gamma(d, 1 / epsilon, size=(n, 1))
    return length * normal / np.linalg.norm(normal, axis=1, keepdims=True)


def planar_laplace(epsilon, rng, step=FINE):
    def mechanism(record, n):
        radius, angle = rng.gamma(2, 1 / epsilon, size=n), rng.uniform(0, 2 * np.pi, size=n)
        offset = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        return grid(np.asarray(record) + offset, step)

    return mechanism


def resampled_laplace(epsilon, high, rng, step=FINE):
    """Draw again while the report lies outside [0, high]: the normalizer depends on the record."""
    high = np.asarray(high, dtype=float)

    def mechanism(record, n):
        kept, missing = [], n
        while missing > 0:
            reports = grid(record + ball_noise(epsilon, high.size, 1 << 19, rng), step)
            inside = reports[((reports >= 0) & (reports <= high)).all(axis=1)]
            kept.append(inside)
            missing -= len(inside)
        return np.concatenate(kept)[:n]

    return mechanism


def thesis_spherical(epsilon, rng, step=FINE):
    """The thesis' 3-D law: the polar angle uniform, so reports crowd around the poles."""

    def mechanism(record, n):
        radius = rng.gamma(3, 1 / epsilon, size=n)
        theta, psi = rng.uniform(0, np.pi, size=n), rng.uniform(0, 2 * np.pi, size=n)
        flat = radius * np.sin(theta)
        offset = np.column_stack([flat * np.cos(psi), flat * np.sin(psi), radius * np.cos(theta)])
        return grid(np.asarray(record) + offset, step)

    return mechanism
