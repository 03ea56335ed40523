"""What the thesis ran: its tables, columns, epsilons, repeats and parameters."""

from typing import NamedTuple

__all__ = [
    "CLUSTERERS",
    "EPSILONS",
    "MECHANISMS",
    "REAL",
    "SHAPES",
    "WIDTHS",
    "Parameters",
    "parameters",
]

REAL = ("heart", "seeds")
SHAPES = ("circle", "line", "skewed")
MECHANISMS = ("nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace", "piecewise")
CLUSTERERS = ("KMeans", "AgglomerativeClustering", "OPTICS")

# Those of the result files; the text names some others.
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 7.0, 9.0)

# "d dimensions" are the first d columns. Heart has nine, though the text speaks of ten.
WIDTHS = {
    "heart": tuple(range(2, 10)),
    "seeds": tuple(range(2, 8)),
    "circle": (2, 3),
    "line": (2, 3),
    "skewed": (2, 3),
}


class Parameters(NamedTuple):
    """Numbers of clusters for k-means and Ward's method, and of neighbors for OPTICS."""

    KMeans: int
    AgglomerativeClustering: int
    OPTICS: int


# From the result files; for circle and skewed, which have none, from tables 5.1 to 5.3.
FOUND = {
    ("seeds", 2): Parameters(2, 2, 4),
    ("seeds", 3): Parameters(5, 2, 6),
    ("heart", 2): Parameters(2, 2, 4),
    ("heart", 3): Parameters(4, 4, 6),
    ("line", 2): Parameters(2, 2, 4),
    ("line", 3): Parameters(2, 3, 6),
    ("circle", 2): Parameters(5, 5, 4),
    ("circle", 3): Parameters(5, 2, 6),
    ("skewed", 2): Parameters(4, 4, 4),
    ("skewed", 3): Parameters(4, 3, 6),
}
WIDE = {"seeds": Parameters(2, 4, 12), "heart": Parameters(2, 3, 18)}


def parameters(dataset: str, columns: int) -> Parameters:
    """Return the parameters of the clusterers for a table.

    Parameters
    ----------
    dataset : str
        Name in the figures.
    columns : int
        How many of the first columns.

    Returns
    -------
    parameters : Parameters
        By clusterer.

    Examples
    --------
    >>> parameters("heart", 9).OPTICS
    18
    """
    return FOUND[dataset, columns] if (dataset, columns) in FOUND else WIDE[dataset]
