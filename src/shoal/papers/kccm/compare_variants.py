"""The source's experiment again: six variants, with shares that add up to epsilon.

A variant is a noise (average, allocation, gaussian) with or without merging (nk, k). All start from
sphere packings of the public box; the source draws 20 starts and 50 runs on each, here every seed
has a start of its own. With one seed a start is the same for the three noises.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from shoal import _numbers
from shoal._records import validate_records
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans._kccm import KCCM_NOISE, ROUNDS
from shoal.exceptions import ParameterError
from shoal.metrics import nicv
from shoal.papers.kccm.published_kccm import LABEL, PublishedKCCM
from shoal.papers.kccm.real_spend import FORMULAS, real_rho, real_spend
from shoal.privacy import zcdp_to_epsilon

__all__ = ["AUTO", "VARIANTS", "Measurement", "compare_variants", "measure_published"]

VARIANTS = tuple(f"{noise} {merged}" for noise in KCCM_NOISE for merged in ("k", "nk"))
AUTO = "auto"  # DPKMeans as it comes, for comparison
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0)


@dataclass(frozen=True)
class Measurement:
    """Cost of one fit; prints as one line.

    Parameters
    ----------
    variant : str
        Name in the source, ``"average k"`` to ``"gaussian nk"``, or ``"auto"``; with the formula
        before it where it is as published.
    k : int
        Number of clusters.
    epsilon : float
        What was promised, or what is really spent where nothing is.
    delta : float
        The same; 0 but for Gaussian noise.
    seed : int
        Seed of the fit.
    nicv : float
        Mean squared distance to the nearest centre.
    reference : float
        The same for k-means without privacy, best of ten starts.

    Examples
    --------
    >>> print(Measurement("average k", 3, 1.0, 0.0, 7, nicv=0.3, reference=0.2))
    average k, k = 3, epsilon 1, seed 7: NICV 0.3000, 1.500 of k-means without privacy
    """

    variant: str
    k: int
    epsilon: float
    delta: float
    seed: int
    nicv: float
    reference: float

    @property
    def relative(self) -> float:
        """NICV over that of k-means without privacy."""
        return self.nicv / self.reference

    def __str__(self) -> str:
        return (
            f"{self.variant}, k = {self.k}, epsilon {self.epsilon:.4g}, seed {self.seed}: NICV "
            f"{self.nicv:.4f}, {self.relative:.3f} of k-means without privacy"
        )


def compare_variants(
    X: Any,
    *,
    k: int = 3,
    epsilons: Iterable[float] = EPSILONS,
    seeds: Iterable[int] = range(100),
    overcluster: int = 3,
    rounds: int = ROUNDS,
    variants: Iterable[str] = (*VARIANTS, AUTO),
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
    seeds : iterable of int, default=range(100)
        One fit each.
    overcluster : int, default=3
        Centres at the start of the nk variants for each one wanted.
    rounds : int, default=12
        Noisy rounds.
    variants : iterable of str
        Which ones; all six and ``"auto"`` by default.

    Returns
    -------
    measurements : tuple of Measurement
        One a variant, epsilon and seed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> found = compare_variants(X, k=2, epsilons=[5.0], seeds=range(2), variants=["average nk"])
    >>> len(found), found[0].variant, found[0].relative > 1
    (2, 'average nk', True)
    """
    records = validate_records(X)
    wanted = [_known(variant) for variant in variants]
    chosen = list(seeds)
    delta = _delta(len(records))
    reference = _plain_cost(records, k)
    found = []
    for epsilon in epsilons:
        for variant in wanted:
            noise, _, merged = variant.partition(" ")
            common: dict[str, Any] = {"bounds": (-1.0, 1.0), "n_public": len(records)}
            if variant != AUTO:
                common |= {"method": "kccm", "noise": noise, "max_iter": rounds}
                common |= {"overcluster": overcluster if merged == "nk" else 1}
            loose = delta if noise == "gaussian" else 0.0
            for seed in chosen:
                model = DPKMeans(k, epsilon=epsilon, delta=loose, random_state=seed, **common)
                cost = nicv(records, model.fit(records).cluster_centers_)
                found.append(Measurement(variant, k, float(epsilon), loose, seed, cost, reference))
    return tuple(found)


def measure_published(
    X: Any,
    *,
    k: int = 3,
    seeds: Iterable[int] = range(100),
    overcluster: int = 3,
    rounds: int = ROUNDS,
) -> tuple[Measurement, ...]:
    """Measure the six variants as published, by both formulas: no guarantee.

    Parameters
    ----------
    X, k, seeds, overcluster, rounds
        As in :func:`compare_variants`.

    Returns
    -------
    measurements : tuple of Measurement
        ``epsilon`` is what the noise really spends, for Gaussian noise with delta = 1 / (n ln n).
    """
    records = validate_records(X)
    chosen = list(seeds)
    delta = _delta(len(records))
    reference = _plain_cost(records, k)
    return tuple(
        Measurement(
            f"{method.formula}: {name}, {LABEL}",
            k,
            *_spent(method, records.shape[1], delta),
            seed,
            nicv(records, method.set_params(random_state=seed).fit(records).cluster_centers_),
            reference,
        )
        for name, method in _published(k, overcluster, rounds)
        for seed in chosen
    )


def _published(k: int, overcluster: int, rounds: int) -> Iterator[tuple[str, PublishedKCCM]]:
    for formula, noise in itertools.product(FORMULAS, KCCM_NOISE):
        for merged, start in (("k", 1), ("nk", overcluster)):
            method = PublishedKCCM(
                k, formula=formula, noise=noise, overcluster=start, max_iter=rounds
            )
            yield f"{noise} {merged}", method


def _spent(method: PublishedKCCM, columns: int, delta: float) -> tuple[float, float]:
    if method.noise != "gaussian":
        return real_spend(method.formula, method.max_iter), 0.0
    rho = real_rho(method.formula, method.max_iter, columns=columns)
    return zcdp_to_epsilon(rho, delta), delta


def _delta(n: int) -> float:
    return 1 / (max(n, 3) * math.log(max(n, 3)))


def _known(variant: str) -> str:
    if variant not in (*VARIANTS, AUTO):
        raise ParameterError(f"variants must be of {(*VARIANTS, AUTO)}, got {variant!r}")
    return variant


def _plain_cost(records: npt.NDArray[np.float64], k: int) -> float:
    with threadpool_limits(1):
        plain = KMeans(_numbers.count("k", k), n_init=10, random_state=0).fit(records)
    return nicv(records, plain.cluster_centers_)
