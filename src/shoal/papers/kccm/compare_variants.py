"""The source's experiment again: six variants, with shares that add up to epsilon.

A variant is a noise (average, allocation, gaussian) with or without merging (nk, k). As in the
source, starts are drawn first and every variant runs many times on each. A start is a sphere
packing of the public box; it is the same for all noises and epsilons, and for variants as published
(:func:`measure_published`), but not for different numbers of centers.
"""

from collections.abc import Iterable
from typing import Any

from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from shoal import _numbers
from shoal._records import validate_records
from shoal.cluster.kmeans._kccm import ROUNDS
from shoal.metrics import nicv
from shoal.papers.kccm.measurement import Measurement
from shoal.papers.kccm.variant_model import AUTO, OVERCLUSTER, VARIANTS, run_costs, variant_model

__all__ = ["EPSILONS", "RUNS", "STARTS", "compare_variants", "plain_cost"]

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0)  # the source prints the last one only
STARTS, RUNS = 20, 50  # of the source


def compare_variants(
    X: Any,
    *,
    k: int = 3,
    epsilons: Iterable[float] = EPSILONS,
    starts: Iterable[int] = range(STARTS),
    runs: int = RUNS,
    seed: int = 0,
    overcluster: int = OVERCLUSTER,
    rounds: int = ROUNDS,
    variants: Iterable[str] = (*VARIANTS, AUTO),
    reference: float | None = None,
) -> tuple[Measurement, ...]:
    """Measure the corrected variants, and ``DPKMeans`` as it comes.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records in [-1, 1]; the box and n are taken as public, as in the source.
    k : int, default=3
        Number of clusters.
    epsilons : iterable of float, default=(0.1, 0.5, 1, 2, 5, 10, 25)
        Budgets. Gaussian noise also takes delta = 1 / (n ln n), a weaker promise.
    starts : iterable of int, default=range(20)
        Numbers of starts; the same number is the same start.
    runs : int, default=50
        Fits on each start.
    seed : int, default=0
        Seed of their noise.
    overcluster : int, default=3
        Centers at the start of the nk variants for each one wanted.
    rounds : int, default=12
        Noisy rounds.
    variants : iterable of str
        Which ones; all six and ``"auto"`` by default.
    reference : float, default=None
        What :func:`plain_cost` gives, for those who have it already.

    Returns
    -------
    measurements : tuple of Measurement
        One a variant, epsilon and start.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> found = compare_variants(
    ...     X, k=2, epsilons=[5.0], starts=range(2), runs=3, variants=["average nk"]
    ... )
    >>> len(found), found[0].variant, found[0].relative > 1
    (2, 'average nk', True)
    """
    records = validate_records(X)
    chosen, wanted = list(starts), list(variants)
    plain = plain_cost(records, k) if reference is None else reference
    sizes = {"n": len(records), "overcluster": overcluster, "rounds": rounds}
    models = [
        (variant, variant_model(variant, k=k, epsilon=float(epsilon), **sizes))
        for epsilon in epsilons
        for variant in wanted
    ]
    return tuple(
        Measurement.of(
            run_costs(model, records, start=start, runs=runs, seed=seed),
            variant=variant,
            k=k,
            epsilon=model.epsilon,
            delta=model.delta,
            start=start,
            reference=plain,
        )
        for variant, model in models
        for start in chosen
    )


def plain_cost(X: Any, k: int) -> float:
    """Return the cost of k-means without privacy, best of ten starts.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    k : int
        Number of clusters.

    Returns
    -------
    cost : float
        Its NICV.
    """
    records = validate_records(X)
    with threadpool_limits(1):
        plain = KMeans(_numbers.count("k", k), n_init=10, random_state=0).fit(records)
    return nicv(records, plain.cluster_centers_)
