"""The six variants of the source's experiment, corrected and as published, on shared starts.

A variant is a noise (average, allocation, gaussian) without or with merging (k, nk). As in the
source, starts are drawn first and every variant runs many times on each. A start is a sphere
packing of the public box; it is the same for all noises and epsilons, and for variants as
published, but not for different numbers of centers.
"""

import math
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans import KCCM_NOISE, KCCM_ROUNDS, pack_spheres
from shoal.exceptions import ParameterError
from shoal.noise import RandomSource, SeededSource
from shoal.papers.kccm.accounting import Formula, real_rho, real_spend
from shoal.papers.kccm.published import PublishedKCCM
from shoal.privacy.conversions import zcdp_to_epsilon

__all__ = [
    "AUTO",
    "VARIANTS",
    "SharedStart",
    "fit_on_start",
    "published_model",
    "published_spend",
    "variant_model",
]

Words = npt.NDArray[np.uint64]
Model = TypeVar("Model", DPKMeans, PublishedKCCM)

#: The six variants of the source: the kind of noise, and whether k centers are used from the start
#: ("k") or n k centers are merged into k ("nk").
VARIANTS = tuple(f"{noise} {merged}" for noise in KCCM_NOISE for merged in ("k", "nk"))
#: Name of DPKMeans with its defaults, which is run for comparison.
AUTO = "auto"
OVERCLUSTER = 3  # n of the source


def variant_model(
    variant: str,
    *,
    k: int,
    epsilon: float,
    n: int,
    overcluster: int = OVERCLUSTER,
    rounds: int = KCCM_ROUNDS,
) -> DPKMeans:
    """Return a corrected variant, whose rounds together cost epsilon.

    Parameters
    ----------
    variant : str
        One of the six variants, or ``"auto"``.
    k : int
        Number of clusters.
    epsilon : float
        Privacy budget. Gaussian noise also uses a delta of 1 / (n ln n), a weaker guarantee.
    n : int
        Number of records, which is treated as public.
    overcluster : int, default=3
        The nk variants start with this many times k centers.
    rounds : int, default=12
        Number of noisy rounds.

    Returns
    -------
    model : DPKMeans
        Estimator for records in [-1, 1].

    Examples
    --------
    >>> variant_model("gaussian k", k=3, epsilon=1.0, n=748).noise
    'gaussian'
    """
    if variant not in (*VARIANTS, AUTO):
        raise ParameterError(f"variants must be of {(*VARIANTS, AUTO)}, got {variant!r}")
    noise, _, merged = variant.partition(" ")
    delta = _spare_delta(n) if noise == "gaussian" else 0.0
    kwargs: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "n_public": n}
    if variant != AUTO:
        kwargs |= {"method": "kccm", "noise": noise, "max_iter": rounds}
        kwargs |= {"overcluster": overcluster if merged == "nk" else 1}
    return DPKMeans(k, bounds=(-1.0, 1.0), **kwargs)


def published_model(
    variant: str,
    *,
    formula: Formula,
    k: int,
    overcluster: int = OVERCLUSTER,
    rounds: int = KCCM_ROUNDS,
) -> PublishedKCCM:
    """Return a variant as published.

    Parameters
    ----------
    variant : str
        One of the six variants.
    formula : {"pseudo-code", "text"}
        Scale of the noise, see :class:`PublishedKCCM`.
    k, overcluster, rounds : int
        As in :func:`variant_model`.

    Returns
    -------
    model : PublishedKCCM
        Estimator for records in [-1, 1].

    Examples
    --------
    >>> published_model("average k", formula="text", k=3).overcluster
    1
    """
    if variant not in VARIANTS:
        raise ParameterError(f"variants must be of {VARIANTS}, got {variant!r}")
    noise = next(noise for noise in KCCM_NOISE if variant.startswith(noise))
    start = overcluster if variant.endswith(" nk") else 1
    return PublishedKCCM(k, formula=formula, noise=noise, overcluster=start, max_iter=rounds)


def published_spend(model: PublishedKCCM, *, n: int, columns: int) -> tuple[float, float]:
    """Return the epsilon and delta that a published variant really costs, if its noise were exact.

    Parameters
    ----------
    model : PublishedKCCM
        The variant.
    n, columns : int
        Number of records and columns of the table.

    Returns
    -------
    epsilon, delta : float
        The cost; delta is 0 except for Gaussian noise.

    Examples
    --------
    >>> published_spend(PublishedKCCM(formula="text"), n=748, columns=4)
    (78.0, 0.0)
    """
    if model.noise != "gaussian":
        return real_spend(model.formula, model.max_iter), 0.0
    delta = _spare_delta(n)
    rho = real_rho(model.formula, model.max_iter, columns=columns)
    return zcdp_to_epsilon(rho, delta), delta


def fit_on_start(model: Model, records: Floats, *, start: int, seed: int, run: int = 0) -> Model:
    """Fit a model from given initial centers (a start), with the noise of one run.

    Parameters
    ----------
    model : DPKMeans or PublishedKCCM
        The model to fit.
    records : ndarray of float64, shape (n, d)
        Records in [-1, 1].
    start : int
        Number of the start; not used by ``"auto"``.
    seed, run : int
        Seeds of the noise, together with the start.

    Returns
    -------
    model : DPKMeans or PublishedKCCM
        The same model, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> model = published_model("average k", formula="text", k=2)
    >>> fit_on_start(model, X, start=0, seed=0).cluster_centers_.shape
    (2, 2)
    """
    noise = f"noise {seed} {start} {run}".encode()
    source: RandomSource = SeededSource(noise)
    if getattr(model, "method", "kccm") == "kccm":
        centers = int(model.overcluster) * int(model.n_clusters)
        source = SharedStart(start, noise, centers=centers, columns=records.shape[1])
    model.set_params(random_state=source)
    return model.fit(records)


class SharedStart:
    """Random source that gives several fits the same initial centers, but different noise.

    An estimator draws its initial centers from the first words of its random source. Here these
    words depend on the start alone, and all that follow on the run.

    Parameters
    ----------
    start : int
        Number of the start; the same number gives the same initial centers.
    run : bytes
        Seed of all further words.
    centers, columns : int
        Number of initial centers and of columns that the estimator will draw.

    Examples
    --------
    >>> from shoal.cluster.kmeans import pack_spheres
    >>> sources = [SharedStart(0, run, centers=3, columns=2) for run in (b"one", b"two")]
    >>> one, two = (pack_spheres(3, 2, source) for source in sources)
    >>> bool((one == two).all())
    True
    >>> one, two = (source.words(4) for source in sources)
    >>> bool((one == two).any())
    False
    """

    seeded = True

    def __init__(self, start: int, run: bytes, *, centers: int, columns: int) -> None:
        self._first = _start_words(start, centers, columns)
        self._rest = SeededSource(run)

    def words(self, count: int) -> Words:
        """Draw the next random words.

        Parameters
        ----------
        count : int
            Number of words.

        Returns
        -------
        words : ndarray of uint64, shape (count,)
            The words.
        """
        first, self._first = self._first[:count], self._first[count:]
        return np.concatenate([first, self._rest.words(count - len(first))])


class _Recorder:
    """Keep the words that are handed out."""

    seeded = True

    def __init__(self, source: SeededSource) -> None:
        self._source = source
        self.drawn: list[Words] = [np.empty(0, dtype=np.uint64)]

    def words(self, count: int) -> Words:
        self.drawn.append(self._source.words(count))
        return self.drawn[-1]


@lru_cache(maxsize=1024)
def _start_words(start: int, centers: int, columns: int) -> Words:
    """Record the words of a packing: how many it takes depends on the words."""
    recorder = _Recorder(SeededSource(f"start {start}".encode()))
    pack_spheres(centers, columns, recorder)
    words = np.concatenate(recorder.drawn)
    words.flags.writeable = False
    return words


def _spare_delta(n: int) -> float:
    """Return the delta of Gaussian noise, 1 / (n ln n), which is below 1 / n."""
    return 1 / (max(n, 3) * math.log(max(n, 3)))
