"""The source's experiment again: each technique as published and corrected, on the same cells.

The box is taken as public for both, as in the source's figures. Two fits make a measurement. One on
all records gives k', DSG_C and the F-measure. One on 90% of them gives the cells from which a tree
learns to classify the other 10%: OCM and 2CE. Ten seeds in a row leave out each tenth once.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.cluster import DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.metrics import classify_with_cells, dsg, f_measure, two_ce
from shoal.metrics.ocm import unmatched_share
from shoal.papers.wavecluster.figure_set import FigureSet
from shoal.papers.wavecluster.haar_band import haar_band
from shoal.papers.wavecluster.published_wavecluster import TECHNIQUES, PublishedWaveCluster

__all__ = ["EPSILONS", "METHODS", "Measurement", "Method", "compare_techniques"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
FOLDS = 10
COARSE = 10  # cells a column of the baseline's coarse grid, in the source's programs
SHUFFLE = 0  # seed of the order in which records are dealt to the folds


class Method(NamedTuple):
    """A technique, and whether it is the source's or ours."""

    source: Literal["published", "corrected"]
    technique: str

    def __str__(self) -> str:
        return f"{self.source} {self.technique}"


METHODS = (
    *(Method("published", technique) for technique in TECHNIQUES),
    *(Method("corrected", technique) for technique in (*TECHNIQUES, "oneshot")),
)


@dataclass(frozen=True)
class Measurement:
    """What one seed gave; prints as one line.

    Parameters
    ----------
    dataset : str
        Name of the set.
    method : Method
        As published or corrected, and which technique.
    epsilon : float
        What is claimed, or promised.
    seed : int
        Seed of the fits, and which tenth of the records is classified.
    k : int
        Significant cells without privacy, (1 - p) |L| rounded up; ties may keep more.
    k_private : int
        The source's k': (1 - p) |L'| rounded up for PrivQT and Baseline; the rank, among true
        values, of the threshold that PrivTHR_EM draws; the number of significant cells otherwise.
    significant : int
        Number of significant cells.
    clusters : int
        Number of clusters.
    dsg, f_measure : float
        Clusters of cells, and of records, against those without privacy.
    ocm, two_ce : float
        Classes of the records left out; trees learn the significant cells, as in the source's text.
    ocm_with_noise : float
        OCM where all other cells are one more class, as in the source's programs.
    """

    dataset: str
    method: Method
    epsilon: float
    seed: int
    k: int
    k_private: int
    significant: int
    clusters: int
    dsg: float
    f_measure: float
    ocm: float
    two_ce: float
    ocm_with_noise: float

    def __str__(self) -> str:
        return (
            f"{self.dataset}, {self.method}, epsilon {self.epsilon:g}, seed {self.seed}: "
            f"k' {self.k_private} (k {self.k}), {self.clusters} clusters, DSG_C {self.dsg:.3f}, "
            f"F {self.f_measure:.3f}, OCM {self.ocm:.3f}, 2CE {self.two_ce:.3f}"
        )


def compare_techniques(
    figure_set: FigureSet,
    *,
    epsilons: Iterable[float] = EPSILONS,
    seeds: Iterable[int] = range(10),
    methods: Iterable[Method] = METHODS,
) -> tuple[Measurement, ...]:
    """Measure techniques on one set.

    Parameters
    ----------
    figure_set : FigureSet
        Records, grid and threshold; its box and number of records are taken as public.
    epsilons : iterable of float, default=(0.1, 0.25, 0.5, 1, 1.5, 2)
        Budgets.
    seeds : iterable of int, default=range(10)
        One measurement each.
    methods : iterable of Method
        Which ones; all by default.

    Returns
    -------
    measurements : tuple of Measurement
        One an epsilon, method and seed.

    Raises
    ------
    ParameterError
        If a method is not one of ``METHODS``.

    Examples
    --------
    >>> from shoal.datasets import make_spirals
    >>> spirals = FigureSet("spirals", make_spirals(20_000, random_state=0).X, 40, 0.1)
    >>> found = compare_techniques(
    ...     spirals, epsilons=[1.0], seeds=[0], methods=[Method("corrected", "oneshot")]
    ... )
    >>> len(found), found[0].dsg < 0.2, found[0].ocm < 0.2
    (1, True, True)
    """
    wanted = [_known(method) for method in methods]
    chosen, budgets = list(seeds), [float(epsilon) for epsilon in epsilons]
    experiment = _Experiment(figure_set, chosen)
    return tuple(
        experiment.measure(method, epsilon, seed)
        for epsilon in budgets
        for method in wanted
        for seed in chosen
    )


class _Experiment:
    """One set: what is true of it, and its folds."""

    def __init__(self, figure_set: FigureSet, seeds: Sequence[int]) -> None:
        self._set = figure_set
        self._truth = self._plain(figure_set.X)
        self._band = np.asarray(self._truth.release_.values["band"])
        self._k = _rounded_up(self._positive_share(self._band))
        n = len(figure_set.X)
        order = np.random.default_rng(SHUFFLE).permutation(n)
        self._folds = {seed % FOLDS: order[seed % FOLDS :: FOLDS] for seed in seeds}
        self._fold_truths = {
            fold: self._plain(np.delete(figure_set.X, left_out, axis=0)).cells_
            for fold, left_out in self._folds.items()
        }

    def measure(self, method: Method, epsilon: float, seed: int) -> Measurement:
        """Fit all records, then nine tenths of them."""
        entropy = [seed, round(epsilon * 1e6), METHODS.index(method)]
        drawn = np.random.SeedSequence(entropy).generate_state(2)
        X = self._set.X
        found = self._fit(method, epsilon, X, int(drawn[0]))
        left_out = self._folds[seed % FOLDS]
        part = self._fit(method, epsilon, np.delete(X, left_out, axis=0), int(drawn[1]))
        true_cells = self._fold_truths[seed % FOLDS]
        true, private = self._classes(true_cells, left_out), self._classes(part.cells_, left_out)
        with_noise = [
            self._classes(_noise_as_class(cells), left_out) for cells in (true_cells, part.cells_)
        ]
        return Measurement(
            dataset=self._set.name,
            method=method,
            epsilon=epsilon,
            seed=seed,
            k=self._k,
            k_private=self._k_private(method, found),
            significant=found.n_significant_,
            clusters=found.n_clusters_,
            dsg=dsg(self._truth.cells_, found.cells_),
            f_measure=f_measure(self._truth.labels_, found.labels_),
            ocm=unmatched_share(true, private),
            two_ce=two_ce(true, private),
            ocm_with_noise=unmatched_share(*with_noise),
        )

    def _plain(self, X: Floats) -> DPWaveCluster:
        return DPWaveCluster(epsilon=math.inf, **self._grid()).fit(X)

    def _fit(self, method: Method, epsilon: float, X: Floats, seed: int) -> Any:
        common = {"epsilon": epsilon, "random_state": seed, **self._grid()}
        if method.source == "published":
            return PublishedWaveCluster(method.technique, coarse=COARSE, **common).fit(X)
        return DPWaveCluster(technique=method.technique, n_public=len(X), **common).fit(X)

    def _grid(self) -> dict[str, Any]:
        chosen = self._set
        return {"bounds": chosen.bounds, "grid": chosen.grid, "threshold": chosen.threshold}

    def _k_private(self, method: Method, found: Any) -> int:
        published = method.source == "published"
        if method.technique == "thr-em":
            # Thresholds of the source are in its own unit, half a record in two columns.
            unit = 2 ** (self._band.ndim / 2) if published else 1.0
            return int((self._band >= found.threshold_ * unit).sum())
        if method.technique in ("qt", "baseline"):
            band = haar_band(found.counts_) if published else found.release_.values["band"]
            return _rounded_up(self._positive_share(np.asarray(band)))
        return int(found.n_significant_)

    def _positive_share(self, band: Floats) -> float:
        return (1 - self._set.threshold) * int((band > 0).sum())

    def _classes(self, cells: Labels, left_out: npt.NDArray[np.int64]) -> Any:
        return classify_with_cells(cells, self._set.X[left_out], bounds=self._set.bounds)


def _rounded_up(wanted: float) -> int:
    return math.ceil(wanted - 1e-9)


def _noise_as_class(cells: Labels) -> Labels:
    return np.where(cells < 0, cells.max(initial=-1) + 1, cells).astype(np.int32)


def _known(method: Method) -> Method:
    if method not in METHODS:
        names = ", ".join(str(one) for one in METHODS)
        raise ParameterError(f"methods must be among {names}, got {method!r}")
    return Method(*method)
