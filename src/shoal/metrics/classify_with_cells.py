"""Classes of records, from a decision tree that learned the labeled cells of a grid.

"Clustering first, then classification": Chen, Yu and Chirkova, "WaveCluster with Differential
Privacy" (2015), section 6.2.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from shoal._bounds import public_box
from shoal._records import validate_records
from shoal.exceptions import ParameterError
from shoal.metrics._contingency import NOISE, Labels, as_labels

MAX_CELLS = 1 << 24  # Cells of a column that scikit-learn's float32 tells apart.
TIES = 0  # Seed of the order in which columns are tried: equal cells always give equal trees.


def classify_with_cells(cells: Any, X: Any, *, bounds: Any) -> Labels:
    """Train a decision tree on the significant cells and predict the classes of records.

    The midpoint of each significant cell is a sample and its cluster is the class; scikit-learn's
    DecisionTreeClassifier with the entropy criterion, grown until its leaves are pure, stands in
    for the C4.5 of the source (which prunes, and divides the gain by the entropy of the split). The
    tree is always the same for the same cells, whatever the clusters are called.

    Parameters
    ----------
    cells : array-like of integers, with d dimensions
        Label of each cell of the grid: -1 for a cell that is not significant, any other number for
        a cluster. The cells of dimension j divide the range of column j evenly.
    X : array-like of shape (n, d)
        Records to classify. In the source they are the 10% that had no part in the clustering.
    bounds : tuple (low, high)
        The public box that the grid covers: two numbers, or one value per column in each. Records
        outside it get the class of the nearest point of the box.

    Returns
    -------
    classes : ndarray of integers, shape (n,)
        A cluster for each record, also for those in cells that are not significant. Without any
        significant cell there is nothing to learn, and all are -1.

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

    Parameters
    ----------
    cells : ndarray of integers
        The grid.
    X : array-like of shape (n, d)
        Records.
    name : str
        Name of the grid, for messages.
    bounds : tuple (low, high)
        The box that the grid covers.

    Returns
    -------
    positions : ndarray of float32, shape (n, d)
        From -1/2 to the number of cells minus 1/2.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers.
    ParameterError
        If the grid or the bounds do not fit the records.
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
    """Train a tree on checked cells and predict the classes at some positions.

    Parameters
    ----------
    cells : ndarray of integers
        The grid.
    positions : ndarray of float32
        Places of records, from :func:`cell_positions`.

    Returns
    -------
    classes : ndarray of integers
    """
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
