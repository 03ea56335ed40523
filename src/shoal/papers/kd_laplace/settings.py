"""What the thesis ran: its tables, mechanisms, epsilons and parameters, as published and corrected.

The "line" figures come from the first columns of ``line_3d``, a line of length about 1, not from
``line_2d``, whose unit is several times larger: with the wrong file the method looks far better
than published, because a metric epsilon depends on the unit.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from shoal._typing import Floats, RandomState
from shoal.datasets import load
from shoal.exceptions import ParameterError
from shoal.experiments import Trial
from shoal.mechanisms import KdLaplace, Laplace, Piecewise
from shoal.papers.kd_laplace.nd_laplace import NdLaplace
from shoal.papers.kd_laplace.piecewise import ComparedPiecewise
from shoal.papers.kd_laplace.remaps import DensityNdLaplace, GridNdLaplace

__all__ = [
    "CLUSTERERS",
    "DENSITY",
    "EPSILONS",
    "FILES",
    "GRID",
    "MECHANISMS",
    "PIECEWISE",
    "PLAIN",
    "REAL",
    "SHAPES",
    "VERSIONS",
    "WIDTHS",
    "Parameters",
    "Table",
    "corrected_reports",
    "load_table",
    "parameters",
    "perturb_both_ways",
    "published_method",
]

REAL = ("heart", "seeds")
SHAPES = ("circle", "line", "skewed")
PLAIN, GRID, DENSITY, PIECEWISE = (
    "nd-Laplace",
    "grid-nd-Laplace",
    "density-nd-Laplace",
    "piecewise",
)
MECHANISMS = (PLAIN, GRID, DENSITY, PIECEWISE)
CLUSTERERS = ("KMeans", "AgglomerativeClustering", "OPTICS")
VERSIONS = ("as published", "corrected")

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

FILES = {
    "heart": "kd_laplace_heart",
    "seeds": "kd_laplace_seeds",
    "line": "kd_laplace_line_3d",
    "circle": "kd_laplace_circle_3d",
    "skewed": "kd_laplace_skewed_3d",
}
MAX_TABLES = 64  # that a process keeps


class Parameters(NamedTuple):
    """Numbers of clusters for k-means and Ward's method, and of neighbors for OPTICS."""

    KMeans: int
    AgglomerativeClustering: int
    OPTICS: int


# From the result files; for circle and skewed, which have none, from tables 5.1 to 5.3.
NARROW = {
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


class Table(NamedTuple):
    """The first columns of one of the author's files, with their public bounds."""

    X: Floats
    bounds: tuple[Floats, Floats]


def parameters(dataset: str, columns: int) -> Parameters:
    """Return the parameters of the clusterers for a table."""
    return NARROW[dataset, columns] if (dataset, columns) in NARROW else WIDE[dataset]


@lru_cache(maxsize=MAX_TABLES)
def load_table(dataset: str, columns: int) -> Table:
    """Load the columns behind a published figure, once a process; not to be written to."""
    whole = load(FILES.get(dataset, dataset))
    if not 2 <= columns <= whole.X.shape[1]:
        raise ParameterError(
            f"columns must be from 2 to {whole.X.shape[1]} for {dataset}, got {columns!r}"
        )
    low, high = whole.bounds
    return Table(whole.X[:, :columns].copy(), (low[:columns], high[:columns]))


def published_method(mechanism: str, epsilon: float, random_state: RandomState = None) -> Any:
    """Build the method behind a published figure, as the code that made it: no guarantee."""
    if mechanism == PIECEWISE:
        return ComparedPiecewise(epsilon, random_state=random_state)
    kinds = {PLAIN: NdLaplace, GRID: GridNdLaplace, DENSITY: DensityNdLaplace}
    if mechanism not in kinds:
        raise ParameterError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {mechanism!r}")
    return kinds[mechanism](epsilon, source="code", random_state=random_state)


def corrected_reports(
    mechanism: str, epsilon: float, table: Table, random_state: RandomState
) -> Floats:
    """Report a table with the corrected counterpart of a published method.

    Epsilon is metric; for "piecewise" it is the local epsilon of a whole record, where the source
    spends it on each column.
    """
    bounds = table.bounds
    kinds: dict[str, Any] = {
        PLAIN: Laplace(epsilon, bounds=bounds),
        GRID: KdLaplace(epsilon, bounds=bounds, remap="grid"),
        DENSITY: KdLaplace(epsilon, bounds=bounds, remap="bayes"),
        PIECEWISE: Piecewise(epsilon, bounds=bounds),
    }
    method = kinds[mechanism].set_params(random_state=random_state)
    reports: Floats = method.fit_transform(table.X)
    return reports


def perturb_both_ways(trial: Trial, table: Table) -> dict[str, Floats]:
    """Perturb a table as published and corrected, with the trial's own noise."""
    name, epsilon = trial.mechanism.name, trial.epsilon
    published: Floats = published_method(name, epsilon, trial.seed).fit_transform(table.X)
    corrected = corrected_reports(name, epsilon, table, trial.seed)
    return dict(zip(VERSIONS, (published, corrected), strict=True))
