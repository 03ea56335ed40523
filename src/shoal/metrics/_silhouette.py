"""The silhouette of all records, or of a sample of them where all would take too long."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.metrics import silhouette_samples

from shoal._typing import Floats
from shoal.metrics._label_codes import Codes

WORKING_MEMORY = 32  # Megabytes of distances that scikit-learn may hold; its default is 1024.
FEWEST = 2  # Records of a cluster in a sample: one alone would count as a cluster of one.


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

    Parameters
    ----------
    records : ndarray of float64, shape (n, d)
        Checked records.
    codes : ndarray of int32, shape (n,)
        Cluster of each, from 0; -1 leaves a record out.
    limit : int
        Most records to take.
    rng : RandomState
        Draws the sample.

    Returns
    -------
    silhouette : Silhouette
        The value is None for one cluster, for as many clusters as records, and where the limit
        leaves fewer than two records for each cluster.
    """
    sizes = np.bincount(codes + 1)[1:]
    n, k = int(sizes.sum()), len(sizes)
    if not 1 < k < n or (n > limit and FEWEST * k > limit):
        return Silhouette(None, None)
    places = np.flatnonzero(codes >= 0) if n <= limit else _sample(codes, sizes, limit, rng)
    # scikit-learn expands squared distances, which loses digits far from the origin.
    taken = records[places] - records[places[0]]
    clusters = codes[places]
    with config_context(working_memory=WORKING_MEMORY):
        values = silhouette_samples(taken, clusters)
    means = np.bincount(clusters, weights=values) / np.bincount(clusters)
    return Silhouette(float(sizes @ means) / n, len(places) if n > limit else None)


def _sample(
    codes: Codes, sizes: npt.NDArray[np.int64], limit: int, rng: np.random.RandomState
) -> npt.NDArray[np.int64]:
    """Draw places of records: some of each cluster, no more than the limit in all."""
    base = np.minimum(sizes, max(FEWEST, limit // (2 * len(sizes))))
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
