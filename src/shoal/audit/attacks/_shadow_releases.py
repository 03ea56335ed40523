"""Releases of random halves of a table: the attacker's own, and the ones under attack.

Every record is in by a fair coin of its own, so that a release with a record and one without it
come from neighboring tables, and the promise of the estimator bounds the attack.

A release is seen from each target as features, numbers that being in would have moved. From centers
and sizes: how near the nearest center is, how large its cluster, how dense the release is around
the record. From cells: the record's own cell.

The likelihood ratio of "in" against "out" is learned for every target, after LiRA (Carlini et al.
2022): Gaussians with and without the record, of equal covariance, so the logarithm of the ratio is
linear in the features. A few dozen shadow releases say little about one record, so three things are
shared among targets: part of each variance, the correlations, and, as far as the targets agree, how
many standard deviations being in moves a feature.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from shoal._processes import ignore_sigint, run_parallel
from shoal._typing import Bools, Floats, Ints
from shoal.density import find_boxes
from shoal.exceptions import ParameterError
from shoal.remap import squared_distances

__all__ = [
    "LikelihoodRatio",
    "Progress",
    "Shadows",
    "release_features",
    "released_values",
    "shadow_releases",
]

Progress = Callable[[int, int], None]

PIECE = 16  # Fits that a process is handed at a time; what they find does not depend on it.


class Shadows(NamedTuple):
    """Who was in, and what each release looks like from each target.

    Parameters
    ----------
    members : ndarray of bool, shape (fits, targets)
        Whether the target was in.
    features : ndarray of float64, shape (fits, targets, features)
        The first feature is the one that alone makes the plain attack: larger = more a member.
    """

    members: Bools
    features: Floats


def shadow_releases(
    model: Any,
    X: Floats,
    targets: Ints,
    fits: int,
    *,
    random_state: int | None,
    n_jobs: int | None,
    progress: Progress | None,
) -> Shadows:
    """Fit an estimator on random halves of a table and look at each release from each target."""
    rng = np.random.default_rng(random_state)
    coins = _coins(rng, fits, len(X), least=_fewest_members(model, len(X)))
    seeds: list[int | None] = [None] * fits
    if random_state is not None:
        # 32 bits are what numpy's RandomState takes; none occurs twice, or two fits would be one.
        seeds = rng.choice(1 << 32, size=fits, replace=False).tolist()
    features = []
    done = 0
    work = ignore_sigint(_fit_piece)
    tasks = (
        delayed(work)(model, X, coins[piece], seeds[piece], targets) for piece in _pieces(fits)
    )
    # Records are sent through pipes: joblib would write larger tables to a temporary folder.
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    for part in run_parallel(parallel, tasks):
        features.append(part)
        done += len(part)
        if progress is not None:
            progress(done, fits)
    return Shadows(coins[:, targets], np.concatenate(features))


def _fewest_members(model: Any, records: int) -> int:
    """Return how many members a fit needs at least, or refuse what halves often do not have."""
    clusters = getattr(model, "n_clusters", 1)
    least = clusters if isinstance(clusters, int) else 1
    if least > records // 2:
        raise ParameterError(
            f"n_clusters must be at most half of the {records} records that are attacked, got "
            f"{least}: fits see random halves; take fewer clusters, or leave the attack out",
            parameter="n_clusters",
            code="range",
        )
    return max(1, least)


def _coins(rng: np.random.Generator, fits: int, records: int, *, least: int) -> Bools:
    coins = rng.random((fits, records)) < 0.5
    # No estimator takes an empty table, and k-means none of fewer records than clusters. With few
    # clusters this never happens in practice.
    while (few := coins.sum(axis=1) < least).any():
        coins[few] = rng.random((int(few.sum()), records)) < 0.5
    return coins


def _pieces(fits: int) -> Iterator[slice]:
    for start in range(0, fits, PIECE):
        yield slice(start, start + PIECE)


def _fit_piece(
    model: Any, X: Floats, coins: Bools, seeds: list[int | None], targets: Ints
) -> Floats:
    seeded = hasattr(model, "random_state")
    features = []
    for members, seed in zip(coins, seeds, strict=True):
        if seeded:
            model.random_state = seed
        model.fit(X[members])
        features.append(release_features(model, X, targets))
    return np.stack(features)


TINY = 1e-3  # of the box or of the records' spread, so that a logarithm of a distance is finite


def released_values(model: Any) -> Mapping[str, Any]:
    """Return what a fitted estimator releases."""
    values = getattr(getattr(model, "release_", None), "values", None)
    if isinstance(values, Mapping) and ("centers" in values or "cells" in values):
        return values
    centers = getattr(model, "cluster_centers_", None)
    if centers is None or values is not None:
        raise ParameterError(
            "estimator must release centers or cells in release_.values, or have cluster_centers_, "
            f"got {type(model).__name__} with neither"
        )
    labels = getattr(model, "labels_", None)
    sizes = None if labels is None else np.bincount(labels, minlength=len(centers))
    return {"centers": centers} if sizes is None else {"centers": centers, "sizes": sizes}


def release_features(model: Any, X: Floats, targets: Ints) -> Floats:
    """Describe one release from the side of each target."""
    values = released_values(model)
    records = X[targets]
    if "centers" not in values:
        return _from_cells(values, records)
    unit = np.ones(X.shape[1])
    if "low" in values and "high" in values:
        # What counts as near was decided in units of the public box.
        unit = (np.asarray(values["high"]) - np.asarray(values["low"])) / 2
    centers = np.reshape(np.asarray(values["centers"], dtype=np.float64), (-1, X.shape[1])) / unit
    sizes = np.asarray(values.get("sizes", np.ones(len(centers))), dtype=np.float64)
    spread = float((X / unit).var(axis=0).mean()) or 1.0
    return _from_centers(centers, np.maximum(sizes, 0.0), records / unit, spread)


def _from_centers(centers: Floats, sizes: Floats, records: Floats, spread: float) -> Floats:
    # Near zero: large common parts would cancel badly.
    middle = centers.mean(axis=0)
    squares = squared_distances(records - middle, centers - middle)
    nearest = squares.argmin(axis=1)
    distance = np.sqrt(squares[np.arange(len(records)), nearest])
    size = sizes[nearest]
    # k centers share the records' spread: about this much is left around each.
    width = spread * len(centers) ** (-2.0 / records.shape[1])
    dense = np.exp(-squares / (2 * width)) @ sizes
    columns = [
        -distance,
        -np.log(distance + TINY * np.sqrt(spread)),
        size,
        np.log1p(size),
        # Size times offset is about the sum that the center was computed from.
        size * distance,
        np.log(dense + TINY),
    ]
    return np.stack(columns, axis=1)


def _from_cells(values: Mapping[str, Any], records: Floats) -> Floats:
    code = _codes(values, records)
    cells = np.asarray(values["cells"], dtype=np.int64)
    in_cell = np.zeros(len(records))
    if len(cells):
        where = np.minimum(np.searchsorted(cells, code), len(cells) - 1)
        significant = cells[where] == code
        in_cell[significant] = np.asarray(values["values"], dtype=np.float64)[where[significant]]
    else:
        significant = np.zeros(len(records), dtype=np.bool_)
    noisy = values.get("band", values.get("counts"))
    value = in_cell if noisy is None else np.ravel(np.asarray(noisy, dtype=np.float64))[code]
    return np.stack([value, significant.astype(np.float64)], axis=1)


def _codes(values: Mapping[str, Any], records: Floats) -> Ints:
    """Return the number of each record's cell."""
    low, high = (np.asarray(values[name], dtype=np.float64) for name in ("low", "high"))
    part = (records - low) / (high - low)
    if "cell_low" in values:
        steps = (2 * np.clip(part, 0.0, 1.0) - 1) * values["half"]
        return find_boxes(values["cell_low"], values["cell_high"], steps)
    shape = np.asarray(values["shape"], dtype=np.int64)
    grid = int(values["grid"])
    # As predict does: a cell of the band stands for a block of cells of the grid.
    block = np.maximum(grid // shape, 1)
    index = np.clip(np.floor(part * grid), 0, grid - 1).astype(np.int64) // block
    codes: Ints = np.ravel_multi_index(tuple(index.T), tuple(shape.tolist()))
    return codes


PRIOR_FITS = 4.0  # shadow releases that the variance of all targets together counts for
RIDGE = 1e-3  # of a variance of 1, so that features which say the same are weighed alike


class LikelihoodRatio(NamedTuple):
    """A linear score for each target; at 0 both answers are equally likely.

    Parameters
    ----------
    middle : ndarray of float64, shape (t, f)
        Features halfway between a release with the target and one without it.
    weights : ndarray of float64, shape (t, f)
        What a unit of each feature adds to the logarithm of the ratio.
    """

    middle: Floats
    weights: Floats

    @classmethod
    def learn(cls, features: Floats, members: Bools) -> Self:
        """Learn the scores from releases whose members are known."""
        fits = len(features)
        inside = members[:, :, None].astype(np.float64)
        counts = inside.sum(axis=0), fits - inside.sum(axis=0)
        means = (
            (features * inside).sum(axis=0) / counts[0],
            (features * (1.0 - inside)).sum(axis=0) / counts[1],
        )
        rest = features - np.where(members[:, :, None], *means)
        own = (rest**2).sum(axis=0)
        shared = own.mean(axis=0) / (fits - 2)
        deviations = np.sqrt((own + PRIOR_FITS * shared) / (fits - 2 + PRIOR_FITS))
        # A feature that never moves says nothing, whatever it is divided by.
        deviations[deviations == 0] = 1.0
        rest /= deviations
        cases = fits * rest.shape[1]
        correlations = np.einsum("sti,stj->ij", rest, rest, optimize=True) / cases
        correlations += RIDGE * np.eye(rest.shape[2])
        noise = (1.0 / counts[0] + 1.0 / counts[1]).mean()
        shifts = _shrunken((means[0] - means[1]) / deviations, noise)
        weights = np.linalg.solve(correlations, shifts.T).T / deviations
        return cls((means[0] + means[1]) / 2, weights)

    def __call__(self, features: Floats) -> Floats:
        """Score releases, shape (r, t, f) to (r, t)."""
        scores: Floats = np.einsum("rtf,tf->rt", features - self.middle, self.weights)
        return scores


def _shrunken(shifts: Floats, noise: float) -> Floats:
    """Draw shifts of single targets to that of all, as far as they differ by chance alone."""
    if len(shifts) < 2:
        return shifts
    common = shifts.mean(axis=0)
    spread = np.maximum(((shifts - common) ** 2).mean(axis=0) - noise, 0.0)
    shrunken: Floats = common + spread / (spread + noise) * (shifts - common)
    return shrunken
