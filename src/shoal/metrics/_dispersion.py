"""How tight clusters are and how far apart: Calinski-Harabasz and Davies-Bouldin in two passes.

scikit-learn's functions copy whole clusters: for 10^6 records of 8 columns, 95% of them in one
cluster, calinski_harabasz_score holds twice the input more. Sums over chunks hold 8 MB and give the
same numbers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from shoal._typing import Floats
from shoal.exceptions import DataError
from shoal.metrics._label_codes import Codes

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
        """Ratio of the variances between and within clusters; larger is better.

        Returns
        -------
        score : float or None
            None where there is nothing to divide by: too few or too many clusters, or no record
            off the mean of its cluster (scikit-learn says 1 there).
        """
        if not self.compared or self.within <= NOTHING**2 * (self.within + self.between):
            return None
        n, k = int(self.sizes.sum()), len(self.sizes)
        return self.between / (k - 1) / (self.within / (n - k))

    def davies_bouldin(self) -> float | None:
        """Mean over clusters of the worst ratio of two widths to a distance; smaller is better.

        Returns
        -------
        score : float or None
            None where there is nothing to divide by: too few or too many clusters, or all their
            means in one place (scikit-learn says 0 there). Single pairs of clusters with one mean
            are passed over, as scikit-learn does.
        """
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
    """Add up what Calinski-Harabasz and Davies-Bouldin need, some rows at a time.

    Parameters
    ----------
    records : ndarray of float64, shape (n, d)
        Checked records.
    codes : ndarray of int32, shape (n,)
        Cluster of each, from 0; -1 leaves a record out.

    Returns
    -------
    dispersion : Dispersion

    Raises
    ------
    DataError
        If a squared distance is too large for a float.
    """
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
