"""From a table to a private clustering: bounds, count, number of clusters, clusters, in this order.

Each step spends its share and hands only noisy values to the next; the records go no further than
the engine.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal.cluster._budget import lloyd_rounds
from shoal.cluster._centers import pack_spheres
from shoal.cluster._open_engine import open_engine
from shoal.cluster.kmeans._contributions import Contributions
from shoal.cluster.kmeans._grid import (
    WIDEST_GRID,
    count_cells,
    grid_kmeans,
    plan_grid,
    release_cells,
)
from shoal.cluster.kmeans._kccm import ROUNDS, kccm
from shoal.cluster.kmeans._lloyd import noisy_lloyd
from shoal.cluster.kmeans._lsh import count_leaves, lsh_kmeans, release_leaves
from shoal.cluster.kmeans._private_bounds import private_box
from shoal.cluster.kmeans._problem import Found, Problem
from shoal.cluster.kmeans._settings import Settings
from shoal.engines import HALF, Engine, total_weight
from shoal.noise import Lattice, RandomSource
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = ["Fitted", "fit_private"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was found, where, and the records' engine for the curator's own labels."""

    found: Found
    box: Box
    lattice: Lattice
    engine: Engine


def fit_private(
    model: Any,
    table: ArrayTable | ArrowTable | SparkTable,
    given: Contributions,
    settings: Settings,
    source: RandomSource,
) -> Fitted:
    """Run the steps of a fit, after its budget has been spent.

    Parameters
    ----------
    model : DPKMeans
        Its parameters have been checked.
    table : ArrayTable, ArrowTable or SparkTable
        Records that count.
    given : Contributions
        Their weights, and what one person adds.
    settings : Settings
        Method, privacy_measure and shares.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    fitted : Fitted
        ``found`` may be published.
    """
    noise, shares, unit = settings.choice.noise, settings.shares, given.unit
    box = settings.box or private_box(
        table, given.weights, noise, shares.bounds, unit=unit, source=source
    )
    lattice = Lattice.box(*box, half=HALF)
    engine = open_engine(table, lattice, given.weights)
    if shares.records:
        exact = np.array([total_weight(engine)])
        n = float(noise.counts(exact, shares.records, unit=unit, source=source)[0]) / unit
    else:
        n = float(model.n_public or 0) * given.record / unit  # 0: no step asks for it
    k = None if isinstance(model.n_clusters, str) else int(model.n_clusters)
    problem = Problem(
        engine, HALF, k, int(model.max_clusters), n, unit, noise, shares.clusters, source
    )
    if shares.n_clusters:
        problem = problem.looking_for(_count(problem.spending(shares.n_clusters)))
    return Fitted(_run(model, settings.choice.method, problem), box, lattice, engine)


def _count(problem: Problem) -> int:
    if problem.columns > WIDEST_GRID:
        return count_leaves(release_leaves(problem), problem)
    sizes = (problem.n, problem.columns, problem.most_clusters)
    plan = plan_grid(*sizes, noise=problem.noise, share=problem.share, half=problem.half)
    return count_cells(release_cells(problem, plan.cells, problem.share), problem)


def _run(model: Any, method: str, problem: Problem) -> Found:
    if method == "grid":
        return grid_kmeans(problem)
    if method == "lsh":
        return lsh_kmeans(problem)
    if method == "kccm":
        return kccm(
            problem,
            noise=model.noise,
            overcluster=int(model.overcluster),
            rounds=int(model.max_iter or ROUNDS),
        )
    k, d = problem.expected_clusters, problem.columns
    start = np.rint(pack_spheres(k, d, problem.source) * HALF).astype(np.int64)
    rounds = int(model.max_iter or lloyd_rounds(problem.n, d, k, float(model.epsilon)))
    return noisy_lloyd(problem, start, rounds)
