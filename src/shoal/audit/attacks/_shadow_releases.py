"""Releases of random halves of a table: what an attacker can make himself, and the ones he attacks.

Every record is in by a fair coin of its own, so that a release with a record and one without it
come from neighboring tables, and the promise of the estimator bounds what can be told.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from shoal._typing import Bools, Floats, Ints
from shoal.audit._quietly import quietly, started
from shoal.audit.attacks._shadow_releases_features import release_features

__all__ = ["Progress", "Shadows", "shadow_releases"]

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
    """Fit an estimator on random halves of a table and look at each release from each target.

    Parameters
    ----------
    model : estimator
        Without ledger; it is fitted again and again.
    X : ndarray of float64, shape (n, d)
        All records.
    targets : ndarray of int64
        Rows of `X` that the attacker asks about.
    fits : int
        Number of fits.
    random_state : int or None
        Fixes coins and fits.
    n_jobs : int or None
        Number of processes.
    progress : callable or None
        Called with the number of fits done and of all.

    Returns
    -------
    shadows : Shadows
        One row for each fit.
    """
    rng = np.random.default_rng(random_state)
    coins = _coins(rng, fits, len(X))
    seeds: list[int | None] = [None] * fits
    if random_state is not None:
        # 32 bits are what numpy's RandomState takes; none occurs twice, or two fits would be one.
        seeds = rng.choice(1 << 32, size=fits, replace=False).tolist()
    features = []
    done = 0
    work = quietly(_fit_piece)
    tasks = (
        delayed(work)(model, X, coins[piece], seeds[piece], targets) for piece in _pieces(fits)
    )
    # Records are sent through pipes: joblib would write larger tables to a temporary folder.
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    for part in started(parallel, tasks):
        features.append(part)
        done += len(part)
        if progress is not None:
            progress(done, fits)
    return Shadows(coins[:, targets], np.concatenate(features))


def _coins(rng: np.random.Generator, fits: int, records: int) -> Bools:
    coins = rng.random((fits, records)) < 0.5
    # No estimator takes an empty table. With the records asked for, this never happens in practice.
    while (empty := ~coins.any(axis=1)).any():
        coins[empty] = rng.random((int(empty.sum()), records)) < 0.5
    return coins


def _pieces(fits: int) -> Iterator[slice]:
    for start in range(0, fits, PIECE):
        yield slice(start, start + PIECE)


def _fit_piece(
    model: Any, X: Floats, coins: Bools, seeds: list[int | None], targets: Ints
) -> Floats:
    seeded = hasattr(model, "random_state")
    found = []
    for members, seed in zip(coins, seeds, strict=True):
        if seeded:
            model.random_state = seed
        model.fit(X[members])
        found.append(release_features(model, X, targets))
    return np.stack(found)
