"""What is compared on: the user's columns in one unit, and what is had of them without privacy.

Each column is scaled from its public bounds to [-1, 1], so that no column outweighs the others by
its unit; the bounds are public, so this costs nothing. Work in other processes reads the file
again: nothing of a record travels, or is written anywhere.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score, pairwise_distances_argmin

from shoal._bounds import public_box
from shoal._typing import Floats
from shoal.cluster import DPWaveCluster
from shoal.datasets import read_table
from shoal.exceptions import DataError
from shoal.experiments.compare.contender import BOX, WAVE_CELLS, WAVE_THRESHOLD
from shoal.metrics import cost_ratio
from shoal.reports import select_n_clusters

__all__ = ["Baselines", "Frame", "Records", "open_frame", "random_rows"]

Labels = npt.NDArray[Any]

MIN_RECORDS = 32  # the attack on centers fits halves of them
RESTARTS = 10
MAX_TRIED = 2000  # records that the number of clusters is chosen on
MAX_CLUSTERS = 20
EVEN_POINTS = 4096  # points of the box that stand for all of it


class Baselines(NamedTuple):
    """Costs over that of k-means without privacy, of centers that nobody has to look for.

    Parameters
    ----------
    middle : float
        One center in the middle of the box: knowing nothing.
    even : float
        As many centers as there are clusters, spread evenly over the box: knowing nothing either.
    mean : float
        One center at the mean of the records: knowing where they are, but no clusters.
    """

    middle: float
    even: float
    mean: float

    @property
    def best(self) -> float:
        """The least of them: what a method must beat to have found clusters."""
        return min(self)

    @property
    def limit(self) -> float:
        """A method below is nearer to k-means than to all of these: useful."""
        return (1.0 + self.best) / 2


class Records(NamedTuple):
    """The table in one unit, and its clusters without privacy."""

    X: Floats
    labels: Labels | None
    kmeans: Labels
    wave: Labels | None


@dataclass(frozen=True)
class Frame:
    """Where the records are, in which unit they are compared, and what is had without privacy.

    Parameters
    ----------
    file : str
        The table: raw records, or a private copy.
    names : tuple of str
        Its columns.
    label : str or None
        Its column of classes.
    low, high : tuple of float
        Public bounds.
    clusters : int
        Number of clusters.
    centers : tuple of tuple of float
        Those of k-means without privacy, in units of [-1, 1].
    records : int
        Number of records.
    baselines : Baselines
        What is had without looking for clusters.
    even_ami : float
        Adjusted mutual information of k-means with the nearest of centers spread over the box.
    kmeans_label, wave_label : float or None
        Adjusted mutual information of the label with k-means and WaveCluster without privacy.
    header : tuple of str, optional
        Names of all columns of its file, in order, where that has no header line.
    """

    file: str
    names: tuple[str, ...]
    label: str | None
    low: tuple[float, ...]
    high: tuple[float, ...]
    clusters: int
    centers: tuple[tuple[float, ...], ...]
    records: int
    baselines: Baselines
    even_ami: float
    kmeans_label: float | None
    wave_label: float | None
    header: tuple[str, ...] | None = None

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    def load(self) -> Records:
        """Read the table, once in each process."""
        return _load(self)


def open_frame(
    file: Path,
    *,
    columns: Sequence[str],
    header: Sequence[str] | None = None,
    label: str | None = None,
    bounds: Any = None,
    clusters: int | None = None,
) -> Frame:
    """Read a table and cluster it without privacy.

    Parameters
    ----------
    file : Path
        CSV or Parquet file.
    columns : sequence of str
        Which columns.
    header : sequence of str, optional
        Names of all columns, in order, of a CSV file without a header line.
    label : str, optional
        A column of classes.
    bounds : tuple (low, high)
        Public bounds.
    clusters : int, optional
        Number of clusters; by default the one with the largest silhouette on some records.

    Returns
    -------
    frame : Frame
        Computed from the records without privacy: of raw records it is for the curator only.

    Raises
    ------
    DataError
        If the file cannot be read, or has too few records.
    ParameterError
        If bounds break their rule.
    """
    table = read_table(file, columns=columns, label=label, names=header)
    box = public_box(bounds, len(table.names))
    fewest = max(MIN_RECORDS, clusters or 0)
    if len(table.X) < fewest:
        raise DataError(
            f"{str(file)!r} must hold at least {fewest} records for a comparison: with fewer, no "
            "method and no attack says anything"
        )
    X = _scaled(table.X, box.low, box.high)
    some = X[random_rows(len(X), MAX_TRIED)]
    chosen = clusters or max(
        2,
        select_n_clusters(
            some, method="silhouette", candidates=range(2, MAX_CLUSTERS + 1), random_state=0
        ).n_clusters,
    )
    if len(np.unique(X, axis=0)) <= chosen:
        raise DataError(
            f"{str(file)!r} must hold more different records than the {chosen} clusters: k-means "
            "costs nothing otherwise, and nothing can be compared with that"
        )
    plain = KMeans(chosen, n_init=RESTARTS, random_state=0).fit(X)
    centers = plain.cluster_centers_
    wave = _wave(X)
    even = _spread_over_the_box(*centers.shape)

    def agreement(found: Labels | None) -> float | None:
        if table.labels is None or found is None:
            return None
        return float(adjusted_mutual_info_score(table.labels, found))

    return Frame(
        file=str(file),
        names=table.names,
        label=label,
        low=tuple(box.low.tolist()),
        high=tuple(box.high.tolist()),
        clusters=int(chosen),
        centers=tuple(map(tuple, centers.tolist())),
        records=len(X),
        baselines=Baselines(
            *(
                cost_ratio(X, guess, reference=centers)
                for guess in (np.zeros((1, X.shape[1])), even, X.mean(axis=0)[None])
            )
        ),
        even_ami=float(
            adjusted_mutual_info_score(plain.labels_, pairwise_distances_argmin(X, even))
        ),
        kmeans_label=agreement(plain.labels_),
        wave_label=agreement(wave),
        header=None if header is None else tuple(header),
    )


def random_rows(records: int, most: int) -> npt.NDArray[np.int64]:
    """Choose the same random rows in every process, in their order; all where there are no more.

    Parameters
    ----------
    records : int
        How many there are.
    most : int
        How many are wanted.

    Returns
    -------
    rows : ndarray of int64
        Ascending.
    """
    if records <= most:
        return np.arange(records)
    return np.sort(np.random.default_rng(0).choice(records, most, replace=False))


@functools.lru_cache(maxsize=1)
def _load(frame: Frame) -> Records:
    table = read_table(frame.file, columns=frame.names, label=frame.label, names=frame.header)
    X = _scaled(table.X, np.array(frame.low), np.array(frame.high))
    nearest = pairwise_distances_argmin(X, np.array(frame.centers))
    return Records(X, table.labels, nearest, _wave(X))


def _scaled(X: Floats, low: Floats, high: Floats) -> Floats:
    units: Floats = np.clip((X - low) / (high - low), 0.0, 1.0) * 2.0 - 1.0
    return units


def _wave(X: Floats) -> Labels | None:
    cells = WAVE_CELLS.get(X.shape[1])
    if cells is None:
        return None
    model = DPWaveCluster(epsilon=np.inf, bounds=BOX, grid=cells, threshold=WAVE_THRESHOLD)
    return np.asarray(model.fit(X).labels_)


def _spread_over_the_box(k: int, columns: int) -> Floats:
    rng = np.random.RandomState(0)
    points = rng.uniform(-1.0, 1.0, (EVEN_POINTS, columns))
    centers: Floats = KMeans(k, n_init=1, random_state=0).fit(points).cluster_centers_
    return centers
