"""The estimators of the source's experiment, ready to be fitted on a start."""

import math
from typing import Any, TypeVar

import numpy as np

from shoal import _numbers
from shoal._typing import Floats
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans._kccm import KCCM_NOISE, ROUNDS
from shoal.exceptions import ParameterError
from shoal.metrics import nicv
from shoal.noise import RandomSource, SeededSource
from shoal.papers.kccm.published_kccm import PublishedKCCM
from shoal.papers.kccm.shared_start import SharedStart

__all__ = [
    "AUTO",
    "OVERCLUSTER",
    "VARIANTS",
    "fit_on_start",
    "run_costs",
    "spare_delta",
    "variant_model",
]

Model = TypeVar("Model", DPKMeans, PublishedKCCM)

VARIANTS = tuple(f"{noise} {merged}" for noise in KCCM_NOISE for merged in ("k", "nk"))
AUTO = "auto"  # DPKMeans as it comes, for comparison
OVERCLUSTER = 3  # n of the source


def variant_model(
    variant: str,
    *,
    k: int,
    epsilon: float,
    n: int,
    overcluster: int = OVERCLUSTER,
    rounds: int = ROUNDS,
) -> DPKMeans:
    """Make a corrected variant: its shares add up to epsilon.

    Parameters
    ----------
    variant : str
        One of the six, or ``"auto"``.
    k : int
        Number of clusters.
    epsilon : float
        Budget; Gaussian noise also takes :func:`spare_delta`.
    n : int
        Number of records, taken as public.
    overcluster : int, default=3
        Centers at the start of the nk variants for each one wanted.
    rounds : int, default=12
        Noisy rounds.

    Returns
    -------
    model : DPKMeans
        For records in [-1, 1].

    Examples
    --------
    >>> variant_model("gaussian k", k=3, epsilon=1.0, n=748).noise
    'gaussian'
    """
    if variant not in (*VARIANTS, AUTO):
        raise ParameterError(f"variants must be of {(*VARIANTS, AUTO)}, got {variant!r}")
    noise, _, merged = variant.partition(" ")
    delta = spare_delta(n) if noise == "gaussian" else 0.0
    words: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "n_public": n}
    if variant != AUTO:
        words |= {"method": "kccm", "noise": noise, "max_iter": rounds}
        words |= {"overcluster": overcluster if merged == "nk" else 1}
    return DPKMeans(k, bounds=(-1.0, 1.0), **words)


def fit_on_start(model: Model, records: Floats, *, start: int, seed: int, run: int = 0) -> Model:
    """Fit with the first centers of a start and the noise of a run.

    Parameters
    ----------
    model : DPKMeans or PublishedKCCM
        What is fitted.
    records : ndarray of float64, shape (n, d)
        In [-1, 1].
    start : int
        Number of the start. ``"auto"`` has none.
    seed, run : int
        What the noise depends on, together with the start.

    Returns
    -------
    model : DPKMeans or PublishedKCCM
        The same, fitted.
    """
    noise = f"noise {seed} {start} {run}".encode()
    source: RandomSource = SeededSource(noise)
    if getattr(model, "method", "kccm") == "kccm":
        centers = int(model.overcluster) * int(model.n_clusters)
        source = SharedStart(start, noise, centers=centers, columns=records.shape[1])
    model.set_params(random_state=source)
    return model.fit(records)


def run_costs(
    model: DPKMeans | PublishedKCCM, records: Floats, *, start: int, runs: int, seed: int
) -> Floats:
    """Fit many times on one start.

    Parameters
    ----------
    model, records, start, seed
        As in :func:`fit_on_start`.
    runs : int
        How many times.

    Returns
    -------
    costs : ndarray of float64, shape (runs,)
        NICV of each run.
    """
    return np.array(
        [
            nicv(
                records,
                fit_on_start(model, records, start=start, seed=seed, run=run).cluster_centers_,
            )
            for run in range(_numbers.count("runs", runs))
        ]
    )


def spare_delta(n: int) -> float:
    """Return the delta of the experiment's Gaussian noise, 1 / (n ln n): a weaker promise.

    Parameters
    ----------
    n : int
        Number of records.

    Returns
    -------
    delta : float
        Below 1 / n.
    """
    return 1 / (max(n, 3) * math.log(max(n, 3)))
