"""The two drafts of the thesis: their method, as published, no guarantee, and their experiment.

epsilon = level / radius with radius = sigma/2 and sigma the standard deviation of the RAW table;
then planar Laplace noise, drawn again while the report lies outside the box of the RAW table
(algorithms 1 and 2 of the drafts). Drawing again is claimed to be free. It is not: how often it
happens depends on the record, which costs up to another epsilon.

The experiment has fifty generated records and three clusterers. The corrected version moves reports
to the side of a public box instead of drawing again, which costs nothing, and takes its radius from
that box (half the spread of uniform records in it).
"""

import math
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.cluster import DBSCAN, AffinityPropagation, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.pipeline import make_pipeline

from shoal import _numbers
from shoal._bounds import Box, given_bounds, public_box
from shoal._typing import Bounds, Floats, Ints, RandomState
from shoal.audit import ClassLabels
from shoal.experiments import Trial
from shoal.mechanisms import Laplace
from shoal.metrics import privacy_distance
from shoal.papers.kd_laplace.attacks import Attacker, learn_attacker
from shoal.papers.kd_laplace.nd_laplace import AsPublished, draw_noise
from shoal.papers.kd_laplace.settings import VERSIONS
from shoal.papers.kd_laplace.utility import QualityMeasures
from shoal.remap import Clip

__all__ = ["DRAFT_CLUSTERERS", "DRAFT_LEVELS", "DRAFT_WIDTH", "DraftLaplace", "measure_drafts"]

MAX_DRAWS = 1000  # the code gives up after so many and reports the last one
HALF_SIGMA: Literal["half-sigma"] = "half-sigma"

DRAFT_LEVELS = (0.05, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0)
DRAFT_WIDTH = 2  # the only results of the drafts
DRAFT_CLUSTERERS = ("KMeans", "AffinityPropagation", "DBSCAN")
RECORDS, CENTERS, DEVIATION = 50, 4, 0.6
BOX = (-14.0, 14.0)  # centers lie between -10 and 10, six deviations around them


class DraftLaplace(AsPublished):
    """Mechanism of the thesis' drafts, as published, without any guarantee.

    Parameters
    ----------
    level : float, default=1.0
        The level l of the drafts; epsilon = level / radius.
    radius : "half-sigma" or float, default="half-sigma"
        Half the standard deviation of the raw table, as published; or a number, to study the
        truncation alone.
    truncate : bool, default=True
        Whether to draw again while the report is outside the bounds, as published.
    bounds : tuple (low, high), default=None
        The bounds; None takes the smallest and largest values of the raw table, as published.
    random_state : None, int or Generator, default=None
        Seed of a numpy generator.

    Attributes
    ----------
    epsilon_ : float
        The value of level / radius; with ``radius="half-sigma"`` it is a statistic of raw records.
    guarantee_ : Guarantee
        A guarantee of notion ``"none"``.

    See Also
    --------
    shoal.mechanisms.Laplace : ``truncate="resample"`` draws again too, correctly, at epsilon / 2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> method = DraftLaplace(level=1.0, random_state=0).fit(X)
    >>> reports = method.transform(X)
    >>> bool((reports > X.min(axis=0)).all()), round(method.epsilon_, 1)
    (True, 4.7)
    """

    def __init__(
        self,
        level: float = 1.0,
        *,
        radius: Literal["half-sigma"] | float = HALF_SIGMA,
        truncate: bool = True,
        bounds: Bounds | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.level = level
        self.radius = radius
        self.truncate = truncate
        self.bounds = bounds
        self.random_state = random_state

    @property
    def epsilon_(self) -> float:
        """Epsilon: level / radius."""
        radius = self.radius
        if isinstance(radius, str):
            # Equation 4.1 for vectors: the root of the mean squared distance from the mean.
            radius = float(np.sqrt(self._raw.var(axis=0).sum())) / 2
        return self.level / radius if radius > 0 else np.inf

    def _check(self, columns: int) -> None:
        super()._check(columns)
        _numbers.positive("level", self.level)
        if self.radius != HALF_SIGMA:
            _numbers.positive("radius", self.radius)
        if self.bounds is not None:
            public_box(given_bounds(self), columns)

    def _flaw(self, columns: int | None) -> str:
        flaws = []
        if self.radius == HALF_SIGMA:
            flaws.append("radius = sigma/2 reads the raw table")
        if self.truncate:
            flaws.append("drawing again until inside the box costs up to twice epsilon")
        return "; ".join([*flaws, "the noise is in doubles"])

    def _perturb(self, records: Floats, raw: Floats, generator: np.random.Generator) -> Floats:
        epsilon = self.epsilon_
        if np.isinf(epsilon):
            return records.copy()

        def draw(some: Floats) -> Floats:
            noise = draw_noise(*some.shape, epsilon=epsilon, source="thesis", generator=generator)
            noisy: Floats = some + noise.vectors
            return noisy

        reports = draw(records)
        if not self.truncate:
            return reports
        box = self._box(raw)
        for _ in range(MAX_DRAWS):
            outside = np.flatnonzero(((reports <= box.low) | (reports >= box.high)).any(axis=1))
            if not len(outside):
                break
            reports[outside] = draw(records[outside])
        return reports

    def _box(self, raw: Floats) -> Box:
        if self.bounds is not None:
            return public_box(given_bounds(self), raw.shape[1])
        return Box(raw.min(axis=0), raw.max(axis=0))


def measure_drafts(trial: Trial) -> Iterator[dict[str, Any]]:
    """Perturb the generated records both ways, cluster, compare, attack.

    The trial's epsilon is the drafts' level. Yields one measurement for each version and clusterer.
    """
    assert trial.columns is not None
    generated = _generate(trial.columns)
    attacker = _attacker(trial.columns, trial.repeat)
    for version, reports in _reports(trial, generated.records).items():
        rates, quality = attacker.rates(reports), QualityMeasures(reports)
        for clusterer in DRAFT_CLUSTERERS:
            plain = _labels(generated.records, clusterer, trial)
            labels = _labels(reports, clusterer, trial)
            yield {
                "version": version,
                "clusterer": clusterer,
                "ami": float(adjusted_mutual_info_score(plain, labels)),
                "ari": float(adjusted_rand_score(plain, labels)),
                **quality(labels),
                "distance": privacy_distance(generated.records, reports),
                "advantage": rates.advantage,
                "tpr": rates.tpr,
            }


class _Generated(NamedTuple):
    """Generated records and the center that each belongs to."""

    records: Floats
    labels: ClassLabels


def _reports(trial: Trial, records: Floats) -> dict[str, Floats]:
    draft = DraftLaplace(trial.epsilon, random_state=trial.seed)
    sides = np.full(records.shape[1], BOX[1] - BOX[0])
    radius = math.sqrt((sides**2 / 12).sum()) / 2
    laplace = Laplace(trial.epsilon / radius, bounds=BOX, random_state=trial.seed)
    ours = make_pipeline(laplace, Clip(bounds=BOX))
    return {
        version: method.fit_transform(records)
        for version, method in zip(VERSIONS, (draft, ours), strict=True)
    }


def _labels(points: Floats, clusterer: str, trial: Trial) -> Ints:
    assert trial.columns is not None
    models = {
        "KMeans": KMeans(CENTERS, init="random", n_init=10, random_state=trial.repeat),
        "AffinityPropagation": AffinityPropagation(random_state=trial.repeat),
        "DBSCAN": DBSCAN(eps=0.9, min_samples=2 * trial.columns),
    }
    with warnings.catch_warnings():
        # Among very noisy reports it finds no centers: all points are then in no cluster.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # In their own unit: a radius of 0.9 fits deviations of 0.6, not standardized columns.
        labels: Ints = models[clusterer].fit_predict(points)
    return labels.astype(np.int64)


@lru_cache
def _generate(columns: int) -> _Generated:
    records, centers = make_blobs(
        RECORDS, n_features=columns, centers=CENTERS, cluster_std=DEVIATION, random_state=0
    )
    return _Generated(records, ClassLabels(centers.astype(np.int64), CENTERS))


@lru_cache(maxsize=32)
def _attacker(columns: int, repeat: int) -> Attacker:
    return learn_attacker(*_generate(columns), np.random.default_rng([columns, repeat]))
