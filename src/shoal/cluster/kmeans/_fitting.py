"""The steps of a fit, from an open table to centers: each hands only noisy values to the next."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._bounds import Box
from shoal.cluster._contributions import Contributions
from shoal.cluster._engines import open_engine
from shoal.cluster.kmeans._auto import choose_n_clusters
from shoal.cluster.kmeans._geometry import COSINE, Geometry
from shoal.cluster.kmeans._methods import FitPlan
from shoal.cluster.kmeans._private_bounds import private_box
from shoal.cluster.kmeans._problem import KMeansResult, Problem
from shoal.engines import HALF, Engine, total_weight
from shoal.noise import Lattice, RandomSource
from shoal.tables import ArrayTable, ArrowTable, SparkTable

if TYPE_CHECKING:
    from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = ["Fitted", "find_centers", "records_engine"]


class Fitted(NamedTuple):
    """What may be published, where, and the records' engine for the curator's own labels."""

    result: KMeansResult
    method: str  # that ran
    reason: str
    box: Box
    lattice: Lattice
    engine: Engine


def records_engine(
    model: "DPKMeans",
    table: ArrayTable | ArrowTable | SparkTable,
    lattice: Lattice,
    weights: npt.NDArray[np.int32] | None = None,
) -> Engine:
    """Put the records of a table on a lattice, by the model's metric."""
    return open_engine(table, lattice, weights, unit_length=model.metric == COSINE)


def find_centers(
    model: "DPKMeans",
    table: ArrayTable | ArrowTable | SparkTable,
    given: Contributions,
    plan: FitPlan,
    source: RandomSource,
) -> Fitted:
    """Run the steps of a fit: bounds, number of records, number of clusters, clusters.

    Each spends its budget, which has been charged, and hands only noisy values to the next; the
    records go no further than the engine.
    """
    noise, budgets, contribution = plan.noise, plan.budgets, given.max_contribution
    box = plan.box or private_box(
        table,
        given.weights,
        noise,
        budgets.bounds,
        contribution=contribution,
        source=source,
    )
    lattice = plan.geometry.lattice(box)
    engine = records_engine(model, table, lattice, given.weights)
    n = float(model.n_public or 0) * given.record / contribution  # 0: no step asks for it
    deviation = 0.0
    if budgets.records:
        exact = np.array([total_weight(engine)])
        noisy = noise.counts(exact, budgets.records, contribution=contribution, source=source)
        n = float(noisy[0]) / contribution
        deviation = noise.count_deviation(budgets.records, contribution=1)
    problem = Problem(
        engine,
        HALF,
        plan.radius,
        None if isinstance(model.n_clusters, str) else int(model.n_clusters),
        int(model.max_clusters),
        n,
        deviation,
        contribution,
        noise,
        budgets.clusters,
        source,
        plan.geometry.body,
    )
    if budgets.n_clusters:
        k = choose_n_clusters(model, problem.with_budget(budgets.n_clusters))
        problem = problem.with_n_clusters(k)
    choice = plan.method.settle(problem)
    result = _inside(choice.method.run(problem), plan.geometry)
    reason = choice.reason
    if result.ran:
        reason = f"{reason}; records do not crowd enough for a {choice.method.name}"
    if "clusters_asked" in result.details:
        reason = f"{reason}; noise leaves one mean"
    return Fitted(result, result.ran or choice.method.name, reason, box, lattice, engine)


def _inside(result: KMeansResult, geometry: Geometry) -> KMeansResult:
    """Bring centers inside the box: that of narrow columns is not every method's.

    Means of records lie inside, so a center only comes nearer to them and its radius still holds.
    """
    reaches = geometry.body.reaches
    return replace(result, centers=np.clip(result.centers, -reaches, reaches))
