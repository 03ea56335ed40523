"""Scores: what an output is reduced to before a threshold turns it into an event.

Some are fixed before any output is seen. Others are learned from outputs: an output is turned into
a label (its exact value, the bin it falls in, the bin and the lowest set bit), the labels are
counted on a part of the outputs, and the score of a label is the logarithm of the ratio of its two
counts. Learning and choosing a threshold use different outputs, or labels seen once would always
look best.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError

CustomScore = Callable[[Floats, Any, Any], npt.ArrayLike]

NO_BIT = 2000  # Exponent given to zero, inf and nan: above that of any set bit.


@dataclass(frozen=True)
class Score:
    """One or more numbers computed from an output, each with a name in plain words.

    Parameters
    ----------
    names : tuple of str
        One name a column of what `function` returns.
    function : callable
        Maps outputs (n, d) to scores (n, len(names)).
    learned : bool
        Whether it was learned from the first half of the search outputs.
    """

    names: tuple[str, ...]
    function: Callable[[Floats], Floats]
    learned: bool = False

    def __call__(self, outputs: Floats) -> Floats:
        """Score outputs; nan (an output such as nan, or inf - inf) becomes -inf."""
        scores = self.function(outputs)
        return np.where(np.isnan(scores), -np.inf, scores)


def fixed_scores(
    mechanism: Any, first: Floats | None, second: Floats | None, columns: int
) -> list[Score]:
    """Return the scores that need no learning."""
    scores = [
        Score(_columns("output", columns), lambda outputs: outputs),
        Score(
            _columns(f"exponent of the lowest set bit ({NO_BIT} for zero)", columns), _bits_score
        ),
    ]
    if first is None or second is None:
        return scores
    if hasattr(mechanism, "log_density"):
        scores.append(_density_score(mechanism, first, second))
    # A partition and a color have no distance to a record.
    cells = getattr(mechanism, "noise_kind", None) == "partition"
    if first.size == second.size == columns and not cells:
        scores.append(_distance_score(first, second))
        if columns > 1:
            # Angles drawn from the wrong distribution pile reports up near an axis through the
            # record.
            scores.append(_direction_score(first, "first"))
            scores.append(_direction_score(second, "second"))
    return scores


def custom_score(score: CustomScore, first: Any, second: Any, *, flat: bool) -> Score:
    """Wrap the caller's ``score(outputs, first, second)``."""

    def function(outputs: Floats) -> Floats:
        values = np.asarray(score(outputs[:, 0] if flat else outputs, first, second))
        if values.shape != (len(outputs),) or values.dtype.kind not in "biuf":
            raise ParameterError(
                f"score must give one number an output, shape {(len(outputs),)}, "
                f"got {values.dtype} of shape {values.shape}"
            )
        return values.astype(np.float64)[:, None]

    return Score(("score",), function)


def lowest_bits(outputs: Floats) -> Ints:
    """Return the exponent of the lowest set bit of each number: 0.75 = 2^-1 + 2^-2 gives -2.

    A sum of doubles keeps only the bits its larger term has, so these exponents show how large the
    terms were (Mironov, CCS 2012): a naive float Laplace gives itself away by them.

    >>> lowest_bits(np.array([1.0, 0.75, 6.0, 0.0])).tolist()
    [0, -2, 1, 2000]
    """
    usable = np.isfinite(outputs) & (outputs != 0)
    fraction, exponent = np.frexp(np.where(usable, outputs, 1.0))
    digits = np.ldexp(fraction, 53).astype(np.int64)
    lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return np.where(usable, exponent.astype(np.int64) - 53 + lowest, NO_BIT)


def _columns(name: str, columns: int) -> tuple[str, ...]:
    if columns == 1:
        return (name,)
    return tuple(f"{name} of column {column}" for column in range(columns))


def _bits_score(outputs: Floats) -> Floats:
    return lowest_bits(outputs).astype(np.float64)


def _density_score(mechanism: Any, first: Floats, second: Floats) -> Score:
    def log_density(outputs: Floats, record: Floats) -> Floats:
        tiled = np.broadcast_to(record, (len(outputs), record.size))
        density = np.asarray(mechanism.log_density(outputs, tiled), dtype=np.float64)
        total: Floats = density.reshape(len(outputs), -1).sum(axis=1, keepdims=True)
        return total

    def function(outputs: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return log_density(outputs, first) - log_density(outputs, second)

    return Score(("log-density ratio",), function)


def _distance_score(first: Floats, second: Floats) -> Score:
    def function(outputs: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            far = np.linalg.norm(outputs - second, axis=1, keepdims=True)
            near = np.linalg.norm(outputs - first, axis=1, keepdims=True)
            return np.asarray(far - near, dtype=np.float64)

    return Score(("distance to the second record minus distance to the first",), function)


def _direction_score(record: Floats, name: str) -> Score:
    def function(outputs: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            offset = outputs - record
            radius = np.linalg.norm(offset, axis=1, keepdims=True)
            return np.asarray(offset / np.where(radius > 0, radius, 1.0), dtype=np.float64)

    return Score(_columns(f"direction cosine from the {name} record", record.size), function)


VALUE_BINS = 64
RANGE_BINS = 16
RARE = 5  # Labels seen less often than this, under both records together, share one ratio.

_MIX = np.uint64(0x9E3779B97F4A7C15)  # Odd, so that multiplying by it keeps labels apart.

Labels = npt.NDArray[np.uint64] | Ints
Labeler = Callable[[Floats], Labels]


def learned_scores(first: Floats, second: Floats) -> list[Score]:
    """Learn scores from outputs of both records."""
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
        position = np.minimum(np.searchsorted(self._labels, labels), self._labels.size - 1)
        known = self._labels[position] == labels
        return np.where(known, self._ratios[position], self._rare)


def exact_value(outputs: Floats) -> Labels:
    """Label outputs (n, d) by their bits; two different rows share a label about once in 2^64."""
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
