"""Measures of labels: how the clusters of a true and a private labeling overlap.

The labels of the same things (cells or records) stand side by side; equal pairs of labels are
counted by sorting, so memory grows with the overlaps that exist. Names of clusters are arbitrary:
only which things share one counts.

Chen, Yu and Chirkova, "WaveCluster with Differential Privacy" (2015), define 2CE in section 6.2,
and compare their measures with the clustering F-measure in section 7.3, where they take the true
WaveCluster result as the known classes.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from shoal import _numbers
from shoal._typing import Bools, Floats, Ints
from shoal.exceptions import ParameterError


def best_total(gains: Floats) -> int:
    """Add up the gains of the one-to-one matching with the largest sum.

    >>> import numpy as np
    >>> best_total(np.array([[5.0, 4.0, 0.0], [4.0, 1.0, 0.0]]))
    8
    """
    return int(gains[linear_sum_assignment(gains, maximize=True)].sum())


def smallest_total(costs: Floats) -> float:
    """Add up the costs of the one-to-one matching with the smallest sum.

    >>> import numpy as np
    >>> smallest_total(np.array([[0.0, 1.0], [0.5, 9.0]]))
    1.5
    """
    return float(costs[linear_sum_assignment(costs)].sum())


NOISE = -1  # Label of a cell that is not significant, and of a record in such a cell.
MAX_PAIRS = 1 << 27  # Pairs of clusters a table of all pairs may have: 1 GiB.

Labels = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Contingency:
    """Sizes of the clusters of two labelings, and of their overlaps that are not empty.

    Attributes
    ----------
    true_names, private_names : ndarray of integers
        Label of each cluster, ascending.
    true_sizes, private_sizes : ndarray of int64
        Number of things in each cluster.
    true_index, private_index : ndarray of int64
        The two clusters of each overlap, as indices into the arrays above.
    overlaps : ndarray of int64
        Number of things in both.
    """

    true_names: Labels
    private_names: Labels
    true_sizes: Ints
    private_sizes: Ints
    true_index: Ints
    private_index: Ints
    overlaps: Ints

    @classmethod
    def of(cls, true_labels: Labels, private_labels: Labels) -> Self:
        """Count checked labels of the same shape."""
        true_names, true_index, true_sizes = _numbered(true_labels)
        private_names, private_index, private_sizes = _numbered(private_labels)
        codes, overlaps = np.unique(
            true_index * len(private_names) + private_index, return_counts=True
        )
        return cls(
            true_names,
            private_names,
            true_sizes,
            private_sizes,
            codes // len(private_names),
            codes % len(private_names),
            overlaps.astype(np.int64, copy=False),
        )

    def without_noise(self) -> Self:
        """Leave out the label -1 on both sides; sizes of the other clusters stay."""
        true_kept, private_kept = self.true_names != NOISE, self.private_names != NOISE
        kept = true_kept[self.true_index] & private_kept[self.private_index]
        return type(self)(
            self.true_names[true_kept],
            self.private_names[private_kept],
            self.true_sizes[true_kept],
            self.private_sizes[private_kept],
            _moved(true_kept)[self.true_index[kept]],
            _moved(private_kept)[self.private_index[kept]],
            self.overlaps[kept],
        )

    def table(self) -> Floats:
        """Return the overlaps of all pairs of clusters, one true cluster a row."""
        shape = (len(self.true_names), len(self.private_names))
        if shape[0] * shape[1] > MAX_PAIRS:
            raise ParameterError(
                f"the two clusterings must have at most {MAX_PAIRS} pairs of clusters, "
                f"got {shape[0]} times {shape[1]}: drop the smallest clusters first"
            )
        table = np.zeros(shape)
        table[self.true_index, self.private_index] = self.overlaps
        return table


def as_labels(name: str, labels: Any) -> Labels:
    """Turn labels into an array of integers, or refuse them."""
    try:
        array = np.asarray(labels)
    except ValueError:
        raise ParameterError(f"{name} must be an array of integers, got uneven lists") from None
    if array.ndim == 0 or array.size == 0:
        raise ParameterError(f"{name} must have one label or more, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise ParameterError(f"{name} must be integers, got {array.dtype}: number the clusters")
    return array


def as_label_pair(kind: str, true: Any, private: Any) -> tuple[Labels, Labels]:
    """Check true and private labels of the same things."""
    first, second = as_labels(f"true_{kind}", true), as_labels(f"private_{kind}", private)
    if first.shape != second.shape:
        raise ParameterError(
            f"private_{kind} must have the shape of true_{kind}, {first.shape}, got {second.shape}"
        )
    return first, second


def _numbered(labels: Labels) -> tuple[Labels, Ints, Ints]:
    names, index, sizes = np.unique(labels.ravel(), return_inverse=True, return_counts=True)
    return names, index.astype(np.int64, copy=False), sizes.astype(np.int64, copy=False)


def _moved(kept: Bools) -> Ints:
    """Return the index of each kept cluster among the kept ones."""
    return np.cumsum(kept, dtype=np.int64) - 1


def f_measure(true_labels: Any, private_labels: Any, *, noise_is_cluster: bool = False) -> float:
    """Return the mean over true clusters, weighted by size, of the best F with a private cluster.

    For a true cluster C and a private cluster D, recall is ``|C and D| / |C|``, precision is
    ``|C and D| / |D|``, and F, their harmonic mean, is ``2 |C and D| / (|C| + |D|)``. Several true
    clusters may have the same best private cluster, and many private clusters may be the best of
    none: the source therefore finds this measure too lenient and prefers
    :func:`~shoal.metrics.classify_with_cells`.

    Parameters
    ----------
    true_labels, private_labels : array-like of integers, of one shape
        Labels of the same records or cells; -1 is noise. The names of clusters do not matter.
    noise_is_cluster : bool, default=False
        How to treat noise, which the source leaves open. False: noise is not a cluster on either
        side, as in :func:`~shoal.metrics.classify_with_cells`, so records that are noise in the
        private result lower recall, and true noise in a private cluster lowers precision. True:
        noise is one more cluster on both sides.

    Returns
    -------
    similarity : float
        From 0 to 1 (equal clusters). Without any true cluster, 1 if there is no private one
        either, else 0.

    Raises
    ------
    ParameterError
        If the two are not arrays of integers of one shape, or `noise_is_cluster` is not a bool.

    Examples
    --------
    The first true cluster finds 2 of its 3 members alone (F = 0.8), the second finds both of its
    members in a cluster of 3 (F = 0.8).

    >>> f_measure([0, 0, 0, 1, 1], [5, 5, 7, 7, 7])
    0.8
    >>> round(f_measure([0, 0, 0, -1], [5, 5, -1, -1]), 3)
    0.8
    >>> round(f_measure([0, 0, 0, -1], [5, 5, -1, -1], noise_is_cluster=True), 3)
    0.767
    """
    true, private = as_label_pair("labels", true_labels, private_labels)
    _numbers.flag("noise_is_cluster", noise_is_cluster)
    clusters = Contingency.of(true, private)
    if not noise_is_cluster:
        clusters = clusters.without_noise()
    true_sizes, private_sizes = clusters.true_sizes, clusters.private_sizes
    if len(true_sizes) == 0:
        return 1.0 if len(private_sizes) == 0 else 0.0
    summed = true_sizes[clusters.true_index] + private_sizes[clusters.private_index]
    best = np.zeros(len(true_sizes))
    np.maximum.at(best, clusters.true_index, 2 * clusters.overlaps / summed)
    return float(true_sizes @ best) / int(true_sizes.sum())


def two_ce(true_labels: Any, private_labels: Any) -> float:
    """Return the share of pairs of samples that one labeling joins and the other separates.

    It is 1 minus the Rand index, computed from the sizes of classes and of their overlaps in
    integers of any length, so that no pair is enumerated and nothing overflows.

    Parameters
    ----------
    true_labels, private_labels : array-like of integers, of one shape
        Labels of the same samples; in the source, the classes that
        :func:`~shoal.metrics.classify_with_cells` predicts for test records. The label -1 is a
        class like any other, and the names of classes do not matter.

    Returns
    -------
    dissimilarity : float
        From 0 (equal classes) to 1; 0 for a single sample, which has no pair.

    Raises
    ------
    ParameterError
        If the two are not arrays of integers of one shape.

    Examples
    --------
    Of six pairs, those of the first sample with the second (together, now apart) and of the second
    with the third and the fourth (apart, now together) are not consistent.

    >>> two_ce([0, 0, 1, 1], [5, 7, 7, 7])
    0.5
    """
    true, private = as_label_pair("labels", true_labels, private_labels)
    classes = Contingency.of(true, private)
    return inconsistent_share(classes.true_sizes, classes.private_sizes, classes.overlaps)


def inconsistent_share(true_sizes: Ints, private_sizes: Ints, overlaps: Ints) -> float:
    """Compute 2CE from counts."""
    pairs = _pairs([int(true_sizes.sum())])
    together_in_both = _pairs(overlaps.tolist())
    inconsistent = (
        _pairs(true_sizes.tolist()) + _pairs(private_sizes.tolist()) - 2 * together_in_both
    )
    return inconsistent / pairs if pairs else 0.0


def _pairs(sizes: list[int]) -> int:
    # Python's integers: a square of 2^32 samples is beyond int64.
    return sum(size * (size - 1) // 2 for size in sizes)
