"""How tight clusters are and how far apart, with memory that does not grow with the clusters.

scikit-learn's functions copy whole clusters: for 10^6 records of 8 columns, 95% of them in one
cluster, calinski_harabasz_score holds twice the input more. Sums over chunks hold 8 MB and give the
same numbers for Calinski-Harabasz and Davies-Bouldin. The silhouette, which needs all pairs, is
taken of a sample where all records would take too long.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.metrics import silhouette_samples

from shoal._typing import Floats
from shoal.exceptions import DataError, ParameterError
from shoal.metrics.labels import NOISE

Codes = npt.NDArray[np.int32]  # Half the memory of int64: they stay for the whole of a scoring.


def label_codes(name: str, labels: Any, *, n: int) -> Codes:
    """Convert the labels of clusters to numbers from 0 on.

    >>> label_codes("labels", [7, -1, 3, 7], n=4).tolist()
    [1, -1, 0, 1]
    >>> label_codes("labels", ["b", "a", "b"], n=3).tolist()
    [1, 0, 1]
    """
    array = _as_names(name, labels)
    if array.shape != (n,):
        raise ParameterError(
            f"{name} must be one label for each of the {n} records, got shape {array.shape}"
        )
    names, index = np.unique(array, return_inverse=True)
    noise = names == NOISE if names.dtype.kind == "i" else np.zeros(len(names), dtype=np.bool_)
    numbers = np.where(noise, NOISE, np.cumsum(~noise) - 1).astype(np.int32)
    codes: Codes = numbers[index]
    return codes


def _as_names(name: str, labels: Any) -> npt.NDArray[Any]:
    try:
        array = np.asarray(labels)
    except ValueError:
        raise ParameterError(f"{name} must be one label a record, got uneven lists") from None
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.flat):
        return array.astype(np.str_)
    # A list of numbers and text would silently become text.
    mixed = array.dtype.kind in "US" and not isinstance(labels, np.ndarray)
    if array.dtype.kind not in "iuUST" or (mixed and not _all_text(labels)):
        raise ParameterError(f"{name} must be integers or strings, one kind, got {array.dtype}")
    return array


def _all_text(labels: Any) -> bool:
    return all(isinstance(label, str | bytes) for label in labels)


CHUNK_VALUES = 1 << 18  # Numbers held at a time, a few times over: 2 MB each.
NOTHING = 1e-12  # Share of the spread of the records that rounding alone can make.


@dataclass(frozen=True, eq=False)
class Dispersion:
    """Sums over the records of each cluster, noise left out.

    Attributes
    ----------
    sizes : ndarray of int64, shape (k,)
        Number of records.
    origin : ndarray of float64, shape (d,)
        One of the records. Means from here: rounding stays small against the spread of the records,
        wherever they lie.
    offsets : ndarray of float64, shape (k, d)
        Mean of the records minus the origin.
    distances : ndarray of float64, shape (k,)
        Mean distance of the records to the mean of their cluster.
    within, between : float
        Sums of squared distances: of records to the mean of their cluster, and of those means to
        the mean of all, once for each record.
    """

    sizes: npt.NDArray[np.int64]
    origin: Floats
    offsets: Floats
    distances: Floats
    within: float
    between: float

    @property
    def means(self) -> Floats:
        """Mean of the records of each cluster."""
        return self.offsets + self.origin

    @property
    def compared(self) -> bool:
        """Return whether there are at least two clusters, and fewer than records."""
        return 1 < len(self.sizes) < int(self.sizes.sum())

    def calinski_harabasz(self) -> float | None:
        """Return the ratio of the variances between and within clusters; larger is better."""
        if not self.compared or self.within <= NOTHING**2 * (self.within + self.between):
            return None
        n, k = int(self.sizes.sum()), len(self.sizes)
        return self.between / (k - 1) / (self.within / (n - k))

    def davies_bouldin(self) -> float | None:
        """Return the mean over clusters of the worst width to distance ratio; smaller is better."""
        if not self.compared:
            return None
        spread = math.sqrt((self.within + self.between) / int(self.sizes.sum()))
        worst = np.zeros(len(self.sizes))
        apart = False
        rows = max(1, CHUNK_VALUES // len(self.sizes))
        for start in range(0, len(worst), rows):
            part = slice(start, start + rows)
            gaps = cdist(self.offsets[part], self.offsets)
            gaps[gaps <= NOTHING * spread] = np.inf
            apart = apart or bool(np.isfinite(gaps).any())
            ratios = (self.distances[part, np.newaxis] + self.distances) / gaps
            worst[part] = ratios.max(axis=1)
        return float(worst.mean()) if apart else None


def measure_dispersion(records: Floats, codes: Codes) -> Dispersion:
    """Add up what Calinski-Harabasz and Davies-Bouldin need, some rows at a time."""
    sizes = np.bincount(codes + 1)[1:]
    k = len(sizes)
    origin = records[np.argmax(codes >= 0)]
    sums, off, within = np.zeros((k, records.shape[1])), np.zeros(k), []
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, clusters in _chunks(records, codes):
            sums += _indicator(clusters, k) @ (rows - origin)
        offsets = sums / sizes[:, np.newaxis]
        for rows, clusters in _chunks(records, codes):
            rest = rows - origin - offsets[clusters]
            squared = np.einsum("ij,ij->i", rest, rest)
            within.append(float(squared.sum()))
            off += np.bincount(clusters, weights=np.sqrt(squared), minlength=k)
        center = sums.sum(axis=0) / max(1, int(sizes.sum()))
        between = float(sizes @ ((offsets - center) ** 2).sum(axis=1))
    if not all(map(math.isfinite, [*within, between])):
        raise DataError("X must be small enough for its squared distances to be finite: rescale it")
    return Dispersion(sizes, origin, offsets, off / sizes, math.fsum(within), between)


def _chunks(records: Floats, codes: Codes) -> Iterator[tuple[Floats, Codes]]:
    """Yield rows that are in a cluster, and their clusters."""
    rows = max(1, CHUNK_VALUES // records.shape[1])
    for start in range(0, len(records), rows):
        clusters = codes[start : start + rows]
        kept = clusters >= 0
        part = records[start : start + rows]
        yield (part, clusters) if kept.all() else (part[kept], clusters[kept])


def _indicator(clusters: Codes, k: int) -> csr_array:
    """Matrix of clusters times rows: 1 where a row belongs to a cluster."""
    columns = np.arange(len(clusters))
    return csr_array((np.ones(len(clusters)), (clusters, columns)), shape=(k, len(clusters)))


# Megabytes of distances that scikit-learn takes at a time; its default is 1024. It holds them twice
# from Python 3.14 on, where numpy no longer writes a product into an array that nobody else has.
WORKING_MEMORY = 12
MIN_SAMPLED = 2  # Records of a cluster in a sample: one alone would count as a cluster of one.


class Silhouette(NamedTuple):
    """A mean silhouette, or None, and the size of its sample, None for all records."""

    value: float | None
    sampled: int | None


def mean_silhouette(
    records: Floats, codes: Codes, *, limit: int, rng: np.random.RandomState
) -> Silhouette:
    """Average the silhouettes of the records in clusters.

    Above `limit` records a sample is drawn, half of it in equal parts from all clusters (their
    distances to all records count, however small they are) and the rest in proportion to the sizes.
    Means of clusters are weighted by the sizes, so that each cluster counts for what it is.
    """
    sizes = np.bincount(codes + 1)[1:]
    n, k = int(sizes.sum()), len(sizes)
    if not 1 < k < n or (n > limit and MIN_SAMPLED * k > limit):
        return Silhouette(None, None)
    index = np.flatnonzero(codes >= 0) if n <= limit else _sample(codes, sizes, limit, rng)
    # scikit-learn expands squared distances, which loses digits far from the origin.
    taken = records[index] - records[index[0]]
    clusters = codes[index]
    with config_context(working_memory=WORKING_MEMORY):
        values = silhouette_samples(taken, clusters)
    means = np.bincount(clusters, weights=values) / np.bincount(clusters)
    return Silhouette(float(sizes @ means) / n, len(index) if n > limit else None)


def _sample(
    codes: Codes, sizes: npt.NDArray[np.int64], limit: int, rng: np.random.RandomState
) -> npt.NDArray[np.int64]:
    """Draw rows of records: some of each cluster, no more than the limit in all."""
    base = np.minimum(sizes, max(MIN_SAMPLED, limit // (2 * len(sizes))))
    wanted = base + (limit - base.sum()) * (sizes - base) // (sizes - base).sum()
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]  # Noise first, then cluster by cluster.
    ends = len(codes) - sizes.sum() + np.cumsum(sizes)
    return np.concatenate(
        [
            order[end - size : end - size + take]
            for end, size, take in zip(ends, sizes, wanted, strict=True)
        ]
    )
