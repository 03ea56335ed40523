"""OCM: how differently two classifiers, learned from true and private clusters, see test records.

Chen, Yu and Chirkova, "WaveCluster with Differential Privacy" (2015), section 6.2.
"""

from typing import Any

from shoal.metrics._contingency import Contingency, as_label_pair
from shoal.metrics._matching import best_total
from shoal.metrics.classify_with_cells import cell_positions, predict_classes


def ocm(true_cells: Any, private_cells: Any, X: Any, *, bounds: Any) -> float:
    """Share of the test records whose two classes do not match, under the best matching.

    Two decision trees learn the true and the private clusters of cells, as
    :func:`~shoal.metrics.classify_with_cells` describes, and both classify the records. Classes
    are matched one to one so that as many records as possible, CT of n, have classes that match;
    OCM = 1 - CT / n.

    Parameters
    ----------
    true_cells, private_cells : array-like of integers, of one shape with d dimensions
        Label of each cell of the grid: -1 for a cell that is not significant, any other number for
        a cluster. The names of clusters do not matter.
    X : array-like of shape (n, d)
        Test records. In the source 90% of the records give the two clusterings and the other 10%
        are the test: that split is the caller's.
    bounds : tuple (low, high)
        The public box that the grid covers: two numbers, or one value per column in each.

    Returns
    -------
    dissimilarity : float
        From 0 (the same classes) to below 1. A side without significant cells, or with one
        cluster, puts all records into one class: against k classes, OCM is the share of the
        records outside the largest.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers.
    ParameterError
        If the cells are not two arrays of integers of one shape, with one dimension for each column
        of `X`, or `bounds` is not a pair of numbers, low < high.

    Examples
    --------
    The private result joins two of three true clusters, so one of four test records is lost.

    >>> true, private = [0, -1, 1, -1, 2, 2], [0, -1, 1, 1, 1, 1]
    >>> ocm(true, private, [[0.5], [2.5], [4.5], [5.5]], bounds=(0, 6))
    0.25
    """
    true, private = as_label_pair("cells", true_cells, private_cells)
    positions = cell_positions(true, X, name="true_cells", bounds=bounds)
    return unmatched_share(predict_classes(true, positions), predict_classes(private, positions))


def unmatched_share(true_labels: Any, private_labels: Any) -> float:
    """Compute OCM from classes that were predicted before.

    Parameters
    ----------
    true_labels, private_labels : array-like of integers, of one shape
        Predicted classes of the same records.

    Returns
    -------
    dissimilarity : float

    Raises
    ------
    ParameterError
        If the two are not arrays of integers of one shape.

    Examples
    --------
    >>> unmatched_share([0, 1, 2, 2], [0, 1, 1, 1])
    0.25
    """
    true, private = as_label_pair("labels", true_labels, private_labels)
    matched = best_total(Contingency.of(true, private).table())
    # One division of whole numbers: 1 - matched / size would round twice.
    return (true.size - matched) / true.size
