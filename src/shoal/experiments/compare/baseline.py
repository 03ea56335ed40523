"""What is compared on: the user's columns in one unit, and their clusters without privacy.

Each column is scaled from its public bounds to [-1, 1], so that no column outweighs the others by
its unit; the bounds are public, so this costs nothing. The file was read before: the records go to
other processes through pipes, and nothing of a record is written anywhere.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score, pairwise_distances_argmin
from threadpoolctl import threadpool_limits

from shoal._bounds import public_box
from shoal._typing import Floats, Ints
from shoal.cluster import DPDensity, DPWaveCluster
from shoal.exceptions import DataError
from shoal.experiments.compare.contender import BOX, WAVE_CELLS, WAVE_THRESHOLD
from shoal.metrics import cost_ratio
from shoal.reports import select_n_clusters, spread_over_box
from shoal.tables import ArrayTable

__all__ = ["Baseline", "ComparedTable", "TrivialCosts", "random_rows"]

AnyLabels = npt.NDArray[Any]  # numbers or text

NO_NOISE = 1e4  # an epsilon at which the noise of counts is 0
MIN_RECORDS = 32  # the attack on centers fits halves of them
RESTARTS = 10
MAX_TRIED = 2000  # records that the number of clusters is chosen on
MAX_CLUSTERS = 20


class TrivialCosts(NamedTuple):
    """Costs of trivial centers, divided by the cost of k-means without privacy.

    Attributes
    ----------
    middle : float
        Cost of one center in the middle of the bounds, which uses no record.
    even : float
        Cost of as many centers as there are clusters, spread evenly over the bounds; uses no record
        either.
    mean : float
        Cost of one center at the mean of the records.

    Examples
    --------
    >>> from shoal.experiments.compare import TrivialCosts
    >>> min(TrivialCosts(middle=9.0, even=6.0, mean=5.0))
    5.0
    """

    middle: float
    even: float
    mean: float

    @property
    def blind(self) -> float:
        """The smaller of the costs for which no record was used."""
        return min(self.middle, self.even)

    @property
    def best(self) -> float:
        """The smallest of the costs: a method that found clusters costs less."""
        return min(self)

    @property
    def limit(self) -> float:
        """Cost below which a method is useful: halfway from k-means to the best trivial centers."""
        return (1.0 + self.best) / 2


@dataclass(frozen=True)
class Baseline:
    """The columns of a comparison and their clusters without privacy; it holds no record.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    label : str or None
        Name of the column of classes.
    low, high : tuple of float
        Public bounds of each column.
    n_clusters : int
        Number of clusters.
    n_records : int
        Number of records.
    centers : tuple of tuple of float
        Centers of k-means without privacy, with columns scaled to [-1, 1].
    trivial_costs : TrivialCosts
        Costs of trivial centers.
    even_ami : float
        Adjusted mutual information between k-means and labels by the nearest of evenly spread
        centers.
    kmeans_label, wave_label, density_label : float or None
        Adjusted mutual information between the label and the clusters of k-means, WaveCluster and
        the density, all without privacy; None without a label, or without such clusters.

    Examples
    --------
    >>> from shoal.experiments.compare import Baseline, TrivialCosts
    >>> baseline = Baseline(
    ...     names=("a", "b"),
    ...     label=None,
    ...     low=(0.0, 0.0),
    ...     high=(1.0, 1.0),
    ...     n_clusters=2,
    ...     n_records=100,
    ...     centers=((0.0, 0.0), (1.0, 1.0)),
    ...     trivial_costs=TrivialCosts(middle=9.0, even=6.0, mean=5.0),
    ...     even_ami=0.1,
    ...     kmeans_label=None,
    ...     wave_label=None,
    ...     density_label=None,
    ... )
    >>> baseline.n_clusters
    2
    """

    names: tuple[str, ...]
    label: str | None
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_clusters: int
    n_records: int
    centers: tuple[tuple[float, ...], ...]
    trivial_costs: TrivialCosts
    even_ami: float
    kmeans_label: float | None
    wave_label: float | None
    density_label: float | None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)


@dataclass(frozen=True, eq=False)
class ComparedTable:
    """The scaled records of a comparison, with their clusters without privacy.

    Made from raw records, it is for the curator only.

    Parameters
    ----------
    file : str
        File that the records were read from: raw records, or a private copy.
    X : ndarray of shape (n, d)
        Records, scaled to [-1, 1].
    labels : ndarray or None
        Values of the column of classes.
    kmeans, wave, density : ndarray or None
        Clusters of k-means, of WaveCluster and of the density, all without privacy.
    baseline : Baseline
        Summary of the columns and clusters, without any record.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from shoal.experiments.compare import ComparedTable
    >>> from shoal.tables import ArrayTable
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 100, axis=0)
    >>> places = ArrayTable(X + np.random.default_rng(0).normal(0, 0.1, X.shape), ("x", "y"))
    >>> table = ComparedTable.from_table(
    ...     places, file=Path("places.csv"), bounds=(-1.0, 1.0), n_clusters=2
    ... )
    >>> table.X.shape, len(table.baseline.centers)
    ((200, 2), 2)
    """

    file: str
    X: Floats = field(repr=False)
    labels: AnyLabels | None = field(repr=False)
    kmeans: Ints = field(repr=False)
    wave: Ints | None = field(repr=False)
    density: Ints | None = field(repr=False)
    baseline: Baseline

    @classmethod
    def from_table(
        cls,
        table: ArrayTable,
        *,
        file: Path,
        bounds: Any,
        label: str | None = None,
        n_clusters: int | None = None,
    ) -> "ComparedTable":
        """Scale the records of a table to [-1, 1], and cluster them without privacy.

        Parameters
        ----------
        table : ArrayTable
            The records.
        file : Path
            File that they were read from.
        bounds : tuple (low, high)
            Public bounds of the columns.
        label : str, optional
            Name of the column of classes.
        n_clusters : int, optional
            Number of clusters; by default the one with the largest silhouette on a sample.

        Returns
        -------
        table : ComparedTable
            The scaled records; made from raw records, it is for the curator only.

        Raises
        ------
        DataError
            If the table has too few records.
        ParameterError
            If the bounds are not valid.
        """
        box = public_box(bounds, len(table.names))
        fewest = max(MIN_RECORDS, n_clusters or 0)
        if len(table.X) < fewest:
            raise DataError(
                f"{str(file)!r} must hold at least {fewest} records for a comparison: with fewer, "
                "no method and no attack says anything",
                parameter="",
                code="records",
            )
        X = _scaled(table.doubles(), box.low, box.high)
        k = int(n_clusters or _chosen_clusters(X))
        if len(np.unique(X, axis=0)) <= k:
            raise DataError(
                f"{str(file)!r} must hold more different records than the {k} clusters: k-means "
                "costs nothing otherwise, and nothing can be compared with that",
                parameter="",
                code="records",
            )
        # More threads add up in another order: nothing here must depend on the machine.
        with threadpool_limits(1):
            model = KMeans(k, n_init=RESTARTS, random_state=0).fit(X)
            centers = model.cluster_centers_
            nearest, wave = pairwise_distances_argmin(X, centers), _wave(X)
            density = _density(X)
        even = spread_over_box(k, BOX, columns=X.shape[1])

        def agreement(clusters: Ints | None) -> float | None:
            if table.labels is None or clusters is None:
                return None
            return float(adjusted_mutual_info_score(table.labels, clusters))

        baseline = Baseline(
            names=table.names,
            label=label,
            low=tuple(box.low.tolist()),
            high=tuple(box.high.tolist()),
            n_clusters=k,
            n_records=len(X),
            centers=tuple(map(tuple, centers.tolist())),
            trivial_costs=TrivialCosts(
                *(
                    cost_ratio(X, guess, reference=centers)
                    for guess in (np.zeros((1, X.shape[1])), even, X.mean(axis=0)[None])
                )
            ),
            even_ami=float(
                adjusted_mutual_info_score(model.labels_, pairwise_distances_argmin(X, even))
            ),
            kmeans_label=agreement(model.labels_),
            wave_label=agreement(wave),
            density_label=agreement(density),
        )
        return cls(str(file), X, table.labels, nearest, wave, density, baseline)


def random_rows(n_records: int, max_rows: int) -> Ints:
    """Choose the same random rows every time, in their order; all where there are no more."""
    if n_records <= max_rows:
        return np.arange(n_records)
    return np.sort(np.random.default_rng(0).choice(n_records, max_rows, replace=False))


def _scaled(X: Floats, low: Floats, high: Floats) -> Floats:
    units: Floats = np.clip((X - low) / (high - low), 0.0, 1.0) * 2.0 - 1.0
    return units


def _chosen_clusters(X: Floats) -> int:
    some = X[random_rows(len(X), MAX_TRIED)]
    candidates = range(2, MAX_CLUSTERS + 1)
    chosen = select_n_clusters(some, method="silhouette", candidates=candidates, random_state=0)
    return max(2, chosen.n_clusters)


def _wave(X: Floats) -> Ints | None:
    cells = WAVE_CELLS.get(X.shape[1])
    if cells is None:
        return None
    model = DPWaveCluster(epsilon=np.inf, bounds=BOX, grid=cells, threshold=WAVE_THRESHOLD)
    return np.asarray(model.fit(X).labels_)


def _density(X: Floats) -> Ints | None:
    if X.shape[1] not in WAVE_CELLS:
        return None
    model = DPDensity(epsilon=NO_NOISE, bounds=BOX, random_state=0)
    return np.asarray(model.fit(X).labels_)
