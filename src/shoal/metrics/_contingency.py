"""How the clusters of two labelings overlap, counted without a table of all pairs.

The true and the private labels of the same things (cells or records) stand side by side; equal
pairs of labels are counted by sorting, so memory grows with the overlaps that exist. Names of
clusters are arbitrary: only which things share one counts.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shoal._typing import Bools, Floats, Ints
from shoal.exceptions import ParameterError

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
        The two clusters of each overlap, as places in the arrays above.
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
        true_names, true_places, true_sizes = _numbered(true_labels)
        private_names, private_places, private_sizes = _numbered(private_labels)
        codes, overlaps = np.unique(
            true_places * len(private_names) + private_places, return_counts=True
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
        """Return the overlaps of all pairs of clusters, one true cluster a row.

        Returns
        -------
        table : ndarray of float64, shape (true clusters, private clusters)
            A new array.

        Raises
        ------
        ParameterError
            If it would take more than 1 GiB.
        """
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
    """Turn labels into an array of integers, or refuse them.

    Parameters
    ----------
    name : str
        Name of the parameter, for messages.
    labels : array-like of integers
        Labels, of any shape with at least one dimension and one entry.

    Returns
    -------
    labels : ndarray of integers
        Of the type they came in.

    Raises
    ------
    ParameterError
        If they are something else.
    """
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
    """Check true and private labels of the same things.

    Parameters
    ----------
    kind : str
        What carries a label: the parameters are called ``true_`` and ``private_`` this.
    true, private : array-like of integers
        Labels, of one shape.

    Returns
    -------
    true, private : ndarray of integers

    Raises
    ------
    ParameterError
        If they are not integers, or differ in shape.
    """
    first, second = as_labels(f"true_{kind}", true), as_labels(f"private_{kind}", private)
    if first.shape != second.shape:
        raise ParameterError(
            f"private_{kind} must have the shape of true_{kind}, {first.shape}, got {second.shape}"
        )
    return first, second


def _numbered(labels: Labels) -> tuple[Labels, Ints, Ints]:
    names, places, sizes = np.unique(labels.ravel(), return_inverse=True, return_counts=True)
    return names, places.astype(np.int64, copy=False), sizes.astype(np.int64, copy=False)


def _moved(kept: Bools) -> Ints:
    """Place of each kept cluster among the kept ones."""
    return np.cumsum(kept, dtype=np.int64) - 1
