"""2CE: how often two labelings disagree on whether two samples belong together.

Chen, Yu and Chirkova, "WaveCluster with Differential Privacy" (2015), section 6.2.
"""

from typing import Any

from shoal._typing import Ints
from shoal.metrics._contingency import Contingency, as_label_pair


def two_ce(true_labels: Any, private_labels: Any) -> float:
    """Share of the pairs of samples that are together in one labeling and apart in the other.

    Computed from the sizes of the classes and of their overlaps in whole numbers of any length, so
    no pair is enumerated and nothing overflows. It is 1 minus the Rand index.

    Parameters
    ----------
    true_labels, private_labels : array-like of integers, of one shape
        Labels of the same samples: in the source the classes that
        :func:`~shoal.metrics.classify_with_cells` predicts for test records. The label -1 is a
        class like any other, and the names of classes do not matter.

    Returns
    -------
    dissimilarity : float
        From 0 (the same classes) to 1; 0 for a single sample, which has no pair.

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
    """Compute 2CE from counts.

    Parameters
    ----------
    true_sizes, private_sizes, overlaps : ndarray of int64
        Number of samples in each true class, in each private class and in each overlap of two
        classes; each of the three adds up to the number of samples.

    Returns
    -------
    dissimilarity : float
    """
    pairs = _pairs([int(true_sizes.sum())])
    together_in_both = _pairs(overlaps.tolist())
    inconsistent = (
        _pairs(true_sizes.tolist()) + _pairs(private_sizes.tolist()) - 2 * together_in_both
    )
    return inconsistent / pairs if pairs else 0.0


def _pairs(sizes: list[int]) -> int:
    # Python's integers: a square of 2^32 samples is beyond int64.
    return sum(size * (size - 1) // 2 for size in sizes)
