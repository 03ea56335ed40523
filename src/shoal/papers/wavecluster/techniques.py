"""One set with all that is true of it: techniques are measured against WaveCluster without privacy.

The box is taken as public for all, as in the source's figures. Two fits make a measurement. One on
all records gives k', DSG_C and the F-measure. One on 90% of them gives the cells from which a tree
learns to classify the other 10%: OCM and 2CE.
"""

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from shoal._typing import Floats, Ints, Labels
from shoal.cluster import DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.metrics import classify_with_cells, dsg, f_measure, two_ce, unmatched_share
from shoal.papers.wavecluster.figure_sets import FigureSet
from shoal.papers.wavecluster.published import TECHNIQUES, PublishedWaveCluster, haar_band

__all__ = ["CORRECTED", "METHODS", "PUBLISHED", "VERSIONS", "Method", "TechniqueComparison"]

PUBLISHED, CORRECTED = "as published", "corrected"
VERSIONS = (PUBLISHED, CORRECTED)

FOLDS = 10
COARSE = 10  # cells a column of the baseline's coarse grid, in the source's programs
SHUFFLE = 0  # seed of the order in which records are dealt to the folds


class Method(NamedTuple):
    """A technique, either as published or corrected.

    Examples
    --------
    >>> from shoal.papers.wavecluster import Method
    >>> Method("corrected", "oneshot").technique
    'oneshot'
    """

    version: str
    technique: str

    def __str__(self) -> str:
        return f"{self.version} {self.technique}"


#: All techniques, as published and corrected. Seeds depend on their order.
METHODS = (
    *(Method(PUBLISHED, technique) for technique in TECHNIQUES),
    *(Method(CORRECTED, technique) for technique in (*TECHNIQUES, "oneshot")),
)


class TechniqueComparison:
    """Measure techniques on one data set, against WaveCluster without privacy.

    Parameters
    ----------
    figure_set : FigureSet
        Records, grid and threshold; its bounds and number of records are treated as public.

    Attributes
    ----------
    figure_set : FigureSet
        The data set.
    truth : DPWaveCluster
        WaveCluster without privacy on all records.

    Examples
    --------
    >>> from shoal.datasets import make_spirals
    >>> spirals = FigureSet("spirals", make_spirals(20_000, random_state=0).X, 40, 0.1)
    >>> comparison = TechniqueComparison(spirals)
    >>> measured = comparison.measure(Method("corrected", "oneshot"), 1.0, seed=0, fold=0)
    >>> measured["dsg"] < 0.2, measured["ocm"] < 0.2
    (True, True)
    """

    def __init__(self, figure_set: FigureSet) -> None:
        self.figure_set = figure_set
        self._fold_truths: dict[int, Labels] = {}

    @cached_property
    def truth(self) -> DPWaveCluster:
        """WaveCluster without privacy on all records."""
        return self._plain(self.figure_set.X)

    def measure(
        self, method: Method, epsilon: float, *, seed: int, fold: int
    ) -> dict[str, int | float]:
        """Measure one technique: fit it on all records, then on nine tenths of them.

        Parameters
        ----------
        method : Method
            One of ``METHODS``.
        epsilon : float
            Privacy budget of each fit.
        seed : int
            Seed of both fits; with the same seed, different methods and epsilons get different
            noise.
        fold : int
            Which tenth of the records is left out and classified; only its last digit counts.

        Returns
        -------
        measured : dict of str to number
            ``k``: number of significant cells without privacy, ``(1 - p) |L|`` rounded up, more in
            case of ties. ``k_private``: the source's k', which is ``(1 - p) |L'|`` rounded up for
            PrivQT and Baseline; for PrivTHR_EM, the rank of its threshold among the true values;
            otherwise the number of significant cells. ``significant``, ``clusters``: number of
            significant cells and of clusters. ``dsg``, ``f_measure``: clusters of cells, and of
            records, compared with those without privacy. ``ocm``, ``two_ce``: classification of the
            records left out, by trees that learn the significant cells, as in the source's text.
            ``ocm_with_noise``: OCM with all other cells as one more class, as in the source's
            programs.

        Raises
        ------
        ParameterError
            If the method is not one of ``METHODS``.
        """
        drawn = _seeds(method, epsilon, seed)
        X = self.figure_set.X
        whole = self._fit(method, epsilon, X, drawn[0])
        left_out = self._order[fold % FOLDS :: FOLDS]
        part = self._fit(method, epsilon, np.delete(X, left_out, axis=0), drawn[1])
        true_cells = self._fold_truth(fold % FOLDS)
        true, private = self._classes(true_cells, left_out), self._classes(part.cells_, left_out)
        with_noise = [
            self._classes(_noise_as_class(cells), left_out) for cells in (true_cells, part.cells_)
        ]
        return {
            "k": _rounded_up(self._expected_cells(self._band)),
            "k_private": self._k_private(method, whole),
            "significant": whole.n_significant_,
            "clusters": whole.n_clusters_,
            "dsg": dsg(self.truth.cells_, whole.cells_),
            "f_measure": f_measure(self.truth.labels_, whole.labels_),
            "ocm": unmatched_share(true, private),
            "two_ce": two_ce(true, private),
            "ocm_with_noise": unmatched_share(*with_noise),
        }

    def cells(self, method: Method, epsilon: float, *, seed: int) -> Labels:
        """Return the clusters of cells of the fit on all records that :meth:`measure` makes.

        Parameters
        ----------
        method : Method
            One of ``METHODS``.
        epsilon : float
            Privacy budget.
        seed : int
            Seed of the fit.

        Returns
        -------
        cells : ndarray of int32
            Cluster of each cell, -1 if it is not significant.

        Raises
        ------
        ParameterError
            If the method is not one of ``METHODS``.
        """
        drawn = _seeds(method, epsilon, seed)
        cells: Labels = self._fit(method, epsilon, self.figure_set.X, drawn[0]).cells_
        return cells

    @cached_property
    def _band(self) -> Floats:
        return np.asarray(self.truth.release_.values["band"])

    @cached_property
    def _order(self) -> Ints:
        return np.random.default_rng(SHUFFLE).permutation(len(self.figure_set.X))

    def _fold_truth(self, tenth: int) -> Labels:
        if tenth not in self._fold_truths:
            rest = np.delete(self.figure_set.X, self._order[tenth::FOLDS], axis=0)
            self._fold_truths[tenth] = self._plain(rest).cells_
        return self._fold_truths[tenth]

    def _plain(self, X: Floats) -> DPWaveCluster:
        return DPWaveCluster(epsilon=math.inf, **self._grid()).fit(X)

    def _fit(self, method: Method, epsilon: float, X: Floats, seed: int) -> Any:
        common = {"epsilon": epsilon, "random_state": seed, **self._grid()}
        if method.version == PUBLISHED:
            return PublishedWaveCluster(method.technique, coarse=COARSE, **common).fit(X)
        return DPWaveCluster(technique=method.technique, n_public=len(X), **common).fit(X)

    def _grid(self) -> dict[str, Any]:
        chosen = self.figure_set
        return {"bounds": chosen.bounds, "grid": chosen.grid, "threshold": chosen.threshold}

    def _k_private(self, method: Method, fitted: Any) -> int:
        published = method.version == PUBLISHED
        if method.technique == "thr-em":
            # Thresholds of the source are in its own unit, half a record in two columns.
            unit = 2 ** (self._band.ndim / 2) if published else 1.0
            return int((self._band >= fitted.threshold_ * unit).sum())
        if method.technique in ("qt", "baseline"):
            band = haar_band(fitted.counts_) if published else fitted.release_.values["band"]
            return _rounded_up(self._expected_cells(np.asarray(band)))
        return int(fitted.n_significant_)

    def _expected_cells(self, band: Floats) -> float:
        return (1 - self.figure_set.threshold) * int((band > 0).sum())

    def _classes(self, cells: Labels, left_out: Ints) -> Any:
        chosen = self.figure_set
        return classify_with_cells(cells, chosen.X[left_out], bounds=chosen.bounds)


def _seeds(method: Method, epsilon: float, seed: int) -> list[int]:
    if method not in METHODS:
        names = ", ".join(str(one) for one in METHODS)
        raise ParameterError(f"methods must be among {names}, got {method!r}")
    entropy = [seed, round(epsilon * 1e6), METHODS.index(method)]
    return [int(word) for word in np.random.SeedSequence(entropy).generate_state(2)]


def _rounded_up(wanted: float) -> int:
    return math.ceil(wanted - 1e-9)


def _noise_as_class(cells: Labels) -> Labels:
    return np.where(cells < 0, cells.max(initial=-1) + 1, cells).astype(np.int32)
