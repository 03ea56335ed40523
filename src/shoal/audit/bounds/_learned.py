"""Scores learned from outputs: how much more often a label was seen under one record.

An output is turned into a label (its exact value, the bin it falls in, the bin and the lowest set
bit), the labels are counted on a part of the outputs, and the score of a label is the logarithm of
the ratio of its two counts. Learning and choosing a threshold use different outputs, or labels seen
once would always look best.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.audit.bounds._scores import NO_BIT, Score, lowest_bits

VALUE_BINS = 64
RANGE_BINS = 16
RARE = 5  # Labels seen less often than this, under both records together, share one ratio.

_MIX = np.uint64(0x9E3779B97F4A7C15)  # Odd, so that multiplying by it keeps labels apart.

Labels = npt.NDArray[np.uint64] | Ints
Labeler = Callable[[Floats], Labels]


def learned_scores(first: Floats, second: Floats) -> list[Score]:
    """Learn scores from outputs of both records.

    Parameters
    ----------
    first, second : ndarray of shape (n, d)
        Outputs of the two records, the same number of each.

    Returns
    -------
    scores : list of Score
        All marked as learned: they must be searched on other outputs.
    """
    values = LearnedRatio(exact_value, first, second)
    scores = [Score(("learned ratio of exact values",), lambda z: values(z)[:, None], learned=True)]
    columns = first.shape[1]
    bins = [_bin_label(first, second, column, VALUE_BINS) for column in range(columns)]
    ranges = [_bin_label(first, second, column, RANGE_BINS) for column in range(columns)]
    fingerprints = [_fingerprint(ranges[column], column) for column in range(columns)]
    scores.append(_by_column("learned ratio of bins", bins, first, second))
    scores.append(
        _by_column("learned ratio of lowest set bits and ranges", fingerprints, first, second)
    )
    return scores


class LearnedRatio:
    """Logarithm of how much more often a label was seen under the first record.

    Parameters
    ----------
    labeler : callable
        Turns outputs (n, d) into n integer labels.
    first, second : ndarray of shape (n, d)
        Outputs to learn from, the same number of each.

    Examples
    --------
    >>> zeros, ones = np.zeros((8, 1)), np.ones((8, 1))
    >>> ratio = LearnedRatio(exact_value, zeros, ones)
    >>> bool(ratio(zeros)[0] > 0 > ratio(ones)[0])
    True
    """

    def __init__(self, labeler: Labeler, first: Floats, second: Floats) -> None:
        self._labeler = labeler
        both = np.concatenate([labeler(first), labeler(second)])
        labels, index = np.unique(both, return_inverse=True)
        seen_first = np.bincount(index[: len(first)], minlength=labels.size)
        seen_second = np.bincount(index[len(first) :], minlength=labels.size)
        common = seen_first + seen_second >= RARE
        self._labels = labels[common]
        self._ratios = _log_ratio(seen_first[common], seen_second[common])
        self._rare = float(_log_ratio(seen_first[~common].sum(), seen_second[~common].sum()))

    def __call__(self, outputs: Floats) -> Floats:
        """Score outputs (n, d); a label that was rare or not seen gets the ratio of all those."""
        labels = self._labeler(outputs)
        if self._labels.size == 0:
            return np.full(len(outputs), self._rare)
        place = np.minimum(np.searchsorted(self._labels, labels), self._labels.size - 1)
        known = self._labels[place] == labels
        return np.where(known, self._ratios[place], self._rare)


def exact_value(outputs: Floats) -> Labels:
    """Label outputs (n, d) by their bits; two different rows share a label about once in 2^64.

    Parameters
    ----------
    outputs : ndarray of shape (n, d)
        Outputs.

    Returns
    -------
    labels : ndarray of uint64
    """
    bits = np.ascontiguousarray(outputs).view(np.uint64)
    label = np.zeros(len(outputs), dtype=np.uint64)
    for column in range(bits.shape[1]):
        label = (label ^ bits[:, column]) * _MIX
        label ^= label >> np.uint64(32)
    return label


def _by_column(name: str, labelers: list[Labeler], first: Floats, second: Floats) -> Score:
    ratios = [LearnedRatio(labeler, first, second) for labeler in labelers]

    def function(outputs: Floats) -> Floats:
        scores = np.column_stack([ratio(outputs) for ratio in ratios])
        # Columns with noise of their own: the ratios of a record's columns multiply.
        total = scores.sum(axis=1, keepdims=True)
        return np.hstack([scores, total]) if len(ratios) > 1 else scores

    if len(ratios) == 1:
        return Score((name,), function, learned=True)
    names = [f"{name} of column {column}" for column in range(len(ratios))]
    return Score((*names, f"{name}, product of all columns"), function, learned=True)


def _bin_label(first: Floats, second: Floats, column: int, bins: int) -> Labeler:
    """Label by the bin of one column; the bins hold about as many outputs each."""
    both = np.concatenate([first[:, column], second[:, column]])
    both = both[np.isfinite(both)]
    shares = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    edges = np.unique(np.quantile(both, shares)) if both.size else np.empty(0)

    def labels(outputs: Floats) -> Labels:
        return np.searchsorted(edges, outputs[:, column], side="right").astype(np.int64)

    return labels


def _fingerprint(bin_label: Labeler, column: int) -> Labeler:
    def labels(outputs: Floats) -> Labels:
        exponents = lowest_bits(outputs[:, column]) + NO_BIT
        return exponents * (RANGE_BINS + 1) + bin_label(outputs).astype(np.int64)

    return labels


def _log_ratio(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    # Half a count more on each side: a label not seen under one record has a finite ratio.
    return np.log((np.asarray(first) + 0.5) / (np.asarray(second) + 0.5))
