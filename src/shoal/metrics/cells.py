"""Measures of labeled grid cells: the true ones of WaveCluster against the private ones.

Chen, Yu and Chirkova, "WaveCluster with Differential Privacy" (2015): DSG_C of section 6.1 compares
the clusters of significant cells; "clustering first, then classification" of section 6.2 compares
the classes of records that decision trees learned from the cells (OCM).
"""

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from shoal._bounds import public_box
from shoal._records import validate_records
from shoal.exceptions import ParameterError
from shoal.metrics.labels import NOISE, Contingency, Labels, as_label_pair, as_labels, best_total

MAX_CELLS = 1 << 24  # Cells of a column that scikit-learn's float32 tells apart.
TIES = 0  # Seed of the order in which columns are tried: equal cells always give equal trees.


def classify_with_cells(cells: Any, X: Any, *, bounds: Any) -> Labels:
    """Train a decision tree on the significant cells, and predict the classes of records.

    The midpoint of each significant cell is a sample, and its cluster is the class. scikit-learn's
    DecisionTreeClassifier with the entropy criterion, grown until its leaves are pure, replaces
    C4.5 in the source (which prunes, and divides the gain by the entropy of the split). The tree
    is always the same for the same cells and does not depend on the names of clusters.

    Parameters
    ----------
    cells : array-like of integers, with d dimensions
        Label of each cell of the grid: -1 for a cell that is not significant, any other number for
        a cluster. The cells of dimension j divide the range of column j evenly.
    X : array-like of shape (n, d)
        Records to classify. In the source, these are the 10% that were not clustered.
    bounds : tuple (low, high)
        Public box that the grid covers: two numbers, or one value per column in each. Records
        outside it get the class of the nearest point of the box.

    Returns
    -------
    classes : ndarray of integers, shape (n,)
        Cluster of each record, also of those in cells that are not significant. All are -1 if no
        cell is significant.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers.
    ParameterError
        If `cells` is not an array of integers with one dimension for each column of `X`, or
        `bounds` is not a pair of numbers, low < high.

    Examples
    --------
    >>> cells = [[7, -1, -1, 3], [7, -1, -1, 3]]
    >>> classify_with_cells(cells, [[0.5, 0.1], [0.5, 0.4], [0.1, 0.6]], bounds=(0, 1)).tolist()
    [7, 7, 3]
    """
    labels = as_labels("cells", cells)
    return predict_classes(labels, cell_positions(labels, X, name="cells", bounds=bounds))


def cell_positions(cells: Labels, X: Any, *, name: str, bounds: Any) -> npt.NDArray[np.float32]:
    """Place records in the grid, in units of cells: whole numbers are midpoints.

    To a tree the unit of a column means nothing; in this one no digit is lost to the float32 of
    scikit-learn, wherever the box lies.
    """
    records = validate_records(X)
    columns = records.shape[1]
    if cells.ndim != columns:
        raise ParameterError(
            f"{name} must have one dimension for each of the {columns} columns of X, "
            f"got {cells.ndim}"
        )
    if max(cells.shape) > MAX_CELLS:
        raise ParameterError(
            f"{name} must have at most {MAX_CELLS} cells in a column, got {max(cells.shape)}"
        )
    low, high = public_box(bounds, columns)
    # Halved first: the width of a box as wide as the doubles themselves stays finite.
    shares = (np.clip(records, low, high) / 2 - low / 2) / (high / 2 - low / 2)
    return (shares * cells.shape - 0.5).astype(np.float32)


def predict_classes(cells: Labels, positions: npt.NDArray[np.float32]) -> Labels:
    """Train a tree on checked cells and predict the classes at some positions."""
    significant = cells != NOISE
    if not significant.any():
        return np.full(len(positions), NOISE)
    names, first, classes = np.unique(cells[significant], return_index=True, return_inverse=True)
    # Classes are numbered in the order of their first cells: other names, with other rounding in
    # the entropies, could otherwise decide a tie between two splits.
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    tree = DecisionTreeClassifier(criterion="entropy", random_state=TIES)
    with warnings.catch_warnings():
        # Clusters of one cell are classes of one sample: that is not a regression.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        tree.fit(np.argwhere(significant).astype(np.float32), number[classes])
    # predict() would make a table of records times classes.
    class_of_leaf = tree.tree_.value[:, 0].argmax(axis=1)
    predicted: Labels = names[order][class_of_leaf[tree.apply(positions)]]
    return predicted


def dsg(true_cells: Any, private_cells: Any) -> float:
    """Return DSG_C, the cost of the best one-to-one matching of clusters per true significant cell.

    A true cluster C matched with a private cluster D costs ``max(|C - D|, |D - C|)``; an unmatched
    cluster costs its number of cells. DSG_C is the smallest sum over all matchings, divided by the
    number of true significant cells.

    The source defines this for at least as many true clusters as private ones, so that only true
    clusters can be unmatched. Here unmatched private clusters cost their number of cells in the
    same way. All clusters of the smaller side are matched, as in the source; leaving a pair
    unmatched is never cheaper, because ``max(|C|, |D|) < |C| + |D|`` even if the two have no cell
    in common.

    Parameters
    ----------
    true_cells, private_cells : array-like of integers, of one shape
        Label of each cell of the grid, with any number of dimensions: -1 for a cell that is not
        significant, any other number for a cluster. The names of clusters do not matter.

    Returns
    -------
    dissimilarity : float
        0 for equal clusters, 1 if no private cell is significant; it can exceed 1 if many private
        cells are. Without true significant cells, 0 if there are no private ones either, else
        ``inf``.

    Raises
    ------
    ParameterError
        If the two are not arrays of integers of one shape, or have more than 2^27 pairs of
        clusters.

    Examples
    --------
    Clusters {g1, g3, g5} and {g1, g5, g7, g9}, the source's example: one cell is missing and two
    are new, which costs 2 for 3 true cells.

    >>> dsg([0, -1, 0, -1, 0, -1, -1, -1, -1], [4, -1, -1, -1, 4, -1, 4, -1, 4])
    0.6666666666666666
    """
    true, private = as_label_pair("cells", true_cells, private_cells)
    # Most cells of a grid carry no cluster on either side.
    seen = (true != NOISE) | (private != NOISE)
    clusters = Contingency.of(true[seen], private[seen]).without_noise()
    true_total = int(clusters.true_sizes.sum())
    cost = true_total + int(clusters.private_sizes.sum()) - _saved(clusters)
    if true_total == 0:
        return 0.0 if cost == 0 else math.inf
    return cost / true_total


def _saved(clusters: Contingency) -> int:
    """Count the cells that the best matching saves over matching nothing.

    A pair saves |C| + |D| - (max(|C|, |D|) - |C and D|) = min(|C|, |D|) + |C and D| > 0.
    """
    gains = clusters.table()
    gains += np.minimum.outer(clusters.true_sizes, clusters.private_sizes)
    return best_total(gains)


def ocm(true_cells: Any, private_cells: Any, X: Any, *, bounds: Any) -> float:
    """Return OCM, the share of test records that two clusterings of cells classify differently.

    Two decision trees learn the true and the private clusters of cells
    (:func:`~shoal.metrics.classify_with_cells`), and both classify the records. Classes are matched
    one to one so that the number CT of records with matching classes is largest; OCM = 1 - CT / n.

    Parameters
    ----------
    true_cells, private_cells : array-like of integers, of one shape with d dimensions
        Label of each cell of the grid: -1 for a cell that is not significant, any other number for
        a cluster. The names of clusters do not matter.
    X : array-like of shape (n, d)
        Test records. In the source, 90% of the records are clustered and the other 10% are the test
        records; the caller makes this split.
    bounds : tuple (low, high)
        Public box that the grid covers: two numbers, or one value per column in each.

    Returns
    -------
    dissimilarity : float
        From 0 (equal classes) to below 1. If one clustering has no significant cells or a single
        cluster, it puts all records into one class, and OCM is the share of the records outside
        the largest class of the other.

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
    """Compute OCM (see :func:`ocm`) from predicted classes.

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
