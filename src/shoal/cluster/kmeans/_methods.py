"""The list of k-means methods, and the plan of a fit: parameters checked, method, noise, budgets.

Everything is settled before anything is read from the records or spent. A new method is a class in
a file of its own (see ``_problem.py``) and one entry of :data:`METHODS` and of
``shoal/_registry.py``.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._bounds import Ball, Box, given_bounds, surrounding_box
from shoal._registry import choices
from shoal.cluster._budget import (
    COUNT_PART,
    SPLITS,
    BudgetSplit,
    check_columns,
    check_epsilon,
    check_ledger,
)
from shoal.cluster._noise import BudgetedNoise
from shoal.cluster.kmeans._auto import AutoMethod
from shoal.cluster.kmeans._ball import AXES_PARTS, BallMethod
from shoal.cluster.kmeans._centered import CenteredMethod
from shoal.cluster.kmeans._geometry import COSINE, Geometry
from shoal.cluster.kmeans._grid import GridMethod
from shoal.cluster.kmeans._kccm import KCCM_NOISE, KCCMMethod
from shoal.cluster.kmeans._lloyd import LloydMethod
from shoal.cluster.kmeans._mixed import MixedMethod, suits_mixed
from shoal.cluster.kmeans._problem import KMeansMethod
from shoal.cluster.kmeans._tree import TreeMethod
from shoal.engines import HALF, SECOND_UNIT
from shoal.exceptions import ParameterError
from shoal.noise import MAX_SCALE

if TYPE_CHECKING:
    from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = [
    "METHODS",
    "FitPlan",
    "KMeansBudgets",
    "check_parameters",
    "plan_fit",
]

METHODS: dict[str, type[KMeansMethod]] = {
    method.name: method
    for method in (
        GridMethod,
        TreeMethod,
        CenteredMethod,
        BallMethod,
        MixedMethod,
        LloydMethod,
        KCCMMethod,
    )
}

PRIVATE = "private"
MAX_ITER = 2**14  # arbitrary: the noise of so many rounds drowns any mean
MAX_MERGED = 2**12  # each merge looks at the distances between all of them, here 2^24 doubles
METRICS = ("bounds", COSINE)
BOUNDS_PART = 0.1  # of the budget, for bounds="private"
K_PART = 0.2  # for n_clusters="private" where the method releases no synopsis of its own


@dataclass(frozen=True)
class KMeansBudgets(BudgetSplit):
    """What each step of a fit may spend."""

    bounds: float
    records: float
    n_clusters: float
    clusters: float


class FitPlan(NamedTuple):
    """What a fit will do; the box is None where it is to be learned."""

    box: Box | None
    geometry: Geometry
    radius: int  # of the ball around the box's middle that holds the records, on the lattice
    method: KMeansMethod
    noise: BudgetedNoise
    budgets: KMeansBudgets


def check_parameters(model: "DPKMeans") -> None:
    """Check what can be checked without a table."""
    if isinstance(model.n_clusters, str):
        if model.n_clusters != PRIVATE:
            raise ParameterError(
                f'n_clusters must be a number or "private", got {_numbers.shown(model.n_clusters)}',
                parameter="n_clusters",
                code="choice",
            )
    else:
        _numbers.count("n_clusters", model.n_clusters, most=_numbers.MAX_CENTERS)
    check_epsilon(model.epsilon)
    _numbers.probability("delta", model.delta)
    _numbers.positive("weight_limit", model.weight_limit)
    _numbers.text("user_column", model.user_column)
    for name in ("overcluster", "records_per_user"):
        _numbers.count(name, getattr(model, name))
    _numbers.count("max_clusters", model.max_clusters, most=_numbers.MAX_CENTERS)
    if model.n_public is not None:
        _numbers.count("n_public", model.n_public)
    if model.max_iter is not None:
        _numbers.count("max_iter", model.max_iter, most=MAX_ITER)
    methods = ("auto", *choices("DPKMeans", "method"))
    words = {"method": methods, "metric": METRICS, "split": SPLITS, "noise": KCCM_NOISE}
    for name, allowed in words.items():
        _numbers.choice(name, getattr(model, name), allowed)
    _check_distance(model)
    if model.metric == COSINE and model.bounds is not None:
        raise ParameterError(
            'bounds must be left out for metric "cosine", got some: records are brought to length '
            "1, which is their bound",
            parameter="bounds",
            code="unexpected",
        )
    if model.method == KCCMMethod.name:
        _check_overcluster(model)
    if model.method == KCCMMethod.name and model.noise == "gaussian" and not model.delta > 0:
        raise ParameterError(
            f'delta must be > 0 for noise "gaussian", got {model.delta!r}: '
            "choose one far below 1 / n, or another noise",
            parameter="delta",
            code="range",
        )
    check_ledger(model.ledger)


def _check_overcluster(model: "DPKMeans") -> None:
    """Refuse more first centers than can be merged two by two."""
    wanted = model.max_clusters if isinstance(model.n_clusters, str) else model.n_clusters
    if model.overcluster * wanted > MAX_MERGED:
        raise ParameterError(
            f"overcluster must leave at most {MAX_MERGED} centers to merge, got "
            f"{_numbers.shown(model.overcluster)} times {wanted}: take a smaller one, or another "
            "method",
            parameter="overcluster",
            code="size",
        )


def _check_distance(model: "DPKMeans") -> None:
    """Refuse two answers to how far apart records are."""
    if model.schema is not None:
        for name in ("bounds", "column_weights"):
            if getattr(model, name) is not None:
                raise ParameterError(
                    f"{name} must be left out with a schema, got some: the schema's fields have "
                    "bounds and weights",
                    parameter=name,
                    code="unexpected",
                )
    if model.metric == COSINE or isinstance(model.bounds, Ball):
        for name in ("schema", "column_weights"):
            if getattr(model, name) is not None:
                raise ParameterError(
                    f'{name} must be left out for metric "cosine" and for a Ball, got one: there '
                    "all columns share a unit",
                    parameter=name,
                    code="unexpected",
                )


def plan_fit(model: "DPKMeans", columns: int, contribution: int) -> FitPlan:
    """Plan a fit of checked parameters; refuse an epsilon whose noise no lattice holds."""
    check_columns(columns)
    asked = METHODS.get(model.method)
    if asked is not None and columns > asked.max_columns:
        raise ParameterError(
            f'method must not be "{asked.name}" for more than {asked.max_columns} columns, '
            f'got {columns}: take "auto"',
            parameter="method",
            code="unsupported",
        )
    box = _public_box(model, columns)
    geometry = Geometry.of_model(model, columns)
    ball = model.metric == COSINE or isinstance(model.bounds, Ball)
    radius = HALF if ball else math.ceil(HALF * math.sqrt(columns))
    method = (asked or AutoMethod)(model)
    noise = method.make_noise(geometry.body)
    budgets = _budgets(model, method, noise.total_budget)
    plan = FitPlan(box, geometry, radius, method, noise, budgets)
    _check_scales(model, plan, columns, contribution)
    return plan


def _public_box(model: "DPKMeans", columns: int) -> Box | None:
    """Return the box of the records; None where it is to be learned."""
    if isinstance(model.bounds, str) and model.bounds == PRIVATE:
        return None
    if model.metric == COSINE:
        return Ball(0.0, 1.0).box(columns)
    if model.schema is not None:
        widths = model.schema.space.widths
        return Box(np.zeros_like(widths), widths)
    return surrounding_box(given_bounds(model), columns)


def _budgets(model: "DPKMeans", method: KMeansMethod, total: float) -> KMeansBudgets:
    bounds = BOUNDS_PART * total if isinstance(model.bounds, str) else 0.0
    counted = isinstance(model.n_clusters, str) and not method.releases_synopsis
    unknown = model.n_public is None and (method.needs_n or counted)
    records = COUNT_PART * total if unknown else 0.0
    n_clusters = K_PART * total if counted else 0.0
    return KMeansBudgets(bounds, records, n_clusters, total - bounds - records - n_clusters)


def _check_scales(model: "DPKMeans", plan: FitPlan, columns: int, contribution: int) -> None:
    """Refuse an epsilon so small that no lattice holds its noise, before it is spent."""
    noise, budgets = plan.noise, plan.budgets
    smallest = plan.method.smallest_budget(budgets.clusters)
    if budgets.n_clusters:
        smallest = min(smallest, AutoMethod(model).smallest_budget(budgets.n_clusters))
    if suits_mixed(plan.geometry.body) or isinstance(plan.method, MixedMethod):
        root = 2 if noise.approximate else 3
        smallest *= float(plan.geometry.body.split(root=root).min())
    radius = math.ceil(HALF * math.sqrt(columns)) if noise.shape == "ball" else HALF
    wanted = [budget for budget in (budgets.records, budgets.bounds / columns) if budget > 0]
    if min([smallest, *wanted]) < MAX_SCALE**-2:  # its square root or inverse may not exist
        largest = math.inf
    else:
        widest = noise.scales(
            smallest, columns=columns, clip_radius=radius, contribution=contribution
        )
        counts = [noise.count_deviation(budget, contribution=contribution) for budget in wanted]
        # A window reaches a little beyond the domain around a center at its edge.
        widest_window = np.array([3 * math.ceil(HALF * math.sqrt(columns))])
        windows = noise.window_deviations(
            smallest, columns=columns, radii=widest_window, contribution=contribution
        )
        largest = max(*widest, *counts, windows.counts, float(windows.sums[0]), windows.moments)
        if noise.approximate:  # second moments are counts of steps of their own
            axes = AXES_PARTS[0] * min(filter(None, (budgets.clusters, budgets.n_clusters)))
            second = contribution * SECOND_UNIT**2
            largest = max(largest, noise.count_deviation(axes, contribution=second))
    if largest > MAX_SCALE:
        raise ParameterError(
            f"epsilon must be larger for {columns} columns and this method, got "
            f"{model.epsilon!r}: its noise would be wider than the integers it is added to",
            parameter="epsilon",
            code="resolution",
        )
