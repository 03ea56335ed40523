"""Rows of a comparison as the curves of its pictures."""

from typing import Any

from shoal.experiments.compare.baseline import TrivialCosts
from shoal.experiments.compare.comparison import Comparison, MethodRow
from shoal.experiments.compare.recommendation import SETTINGS
from shoal.experiments.estimate import Estimate
from shoal.plotting import Picture, draw_lines

__all__ = [
    "attack_gain",
    "cost_levels",
    "curve_point",
    "draw_costs",
    "shown_rows",
    "trust_model_points",
]


def cost_levels(trivial: TrivialCosts) -> dict[str, float]:
    """Return the lines of a picture of costs: what needs no privacy, and what needs no records."""
    return {"k-means without privacy": 1.0, "spread over the box (blind)": trivial.even}


def attack_gain(row: MethodRow) -> Estimate:
    """Read what an attacker gains."""
    return Estimate(*(float(row.attack[key]) for key in ("gain", "low", "high")))


def shown_rows(comparison: Comparison) -> list[MethodRow]:
    """Return, for each mechanism, the rows of the clusterer that is best at the middle epsilon.

    Examples
    --------
    >>> from shoal.experiments import Estimate
    >>> from shoal.experiments.compare import Baseline, Comparison, MethodRow, TrivialCosts
    >>> from shoal.experiments.compare import shown_rows
    >>> baseline = Baseline(
    ...     names=("a", "b"),
    ...     label=None,
    ...     low=(0.0, 0.0),
    ...     high=(1.0, 1.0),
    ...     n_clusters=2,
    ...     n_records=100,
    ...     centers=((0.0, 0.0), (1.0, 1.0)),
    ...     trivial_costs=TrivialCosts(middle=9.0, even=6.0, mean=5.0),
    ...     even_ami=0.1,
    ...     kmeans_label=None,
    ...     wave_label=None,
    ...     density_label=None,
    ... )
    >>> cost = Estimate(1.2, 1.1, 1.3)
    >>> row = MethodRow("DPKMeans", "DPKMeans", "central", 1.0, 1.0, cost, None, None, 0.1, {})
    >>> comparison = Comparison(baseline, (row,), (1.0,), 10, {}, ())
    >>> [one.method for one in shown_rows(comparison)]
    ['DPKMeans']
    """
    best: dict[tuple[str, str], MethodRow] = {}
    for row in comparison.at(comparison.middle):
        kept = best.get((row.contender, row.model))
        if kept is None or (row.cost and kept.cost and row.cost.mean < kept.cost.mean):
            best[row.contender, row.model] = row
    methods = {row.method for row in best.values()}
    return [row for row in comparison.rows if row.method in methods]


def curve_point(row: MethodRow, estimate: Estimate | None) -> dict[str, Any]:
    """Make a point of a picture."""
    assert estimate is not None
    return {
        "method": row.contender,
        "model": row.model,
        "family": "any shape" if row.cost is None else f"{row.model}, k-means",
        "epsilon": row.epsilon,
        "mean": estimate.mean,
        # A cost is above 0, and so is the band on a logarithmic axis.
        "low": max(estimate.low, estimate.mean / 10) if row.cost is estimate else estimate.low,
        "high": estimate.high,
    }


def trust_model_points(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the curves of the picture: the best of each trust model, by central epsilon."""
    shown = [row for row in shown_rows(comparison) if row.cost is not None and row.equal]
    best = {
        model: list(
            dict.fromkeys(row.contender for row in comparison.ranked(comparison.middle, model))
        )
        for model in SETTINGS
    }
    kept = {*best["central"][:1], *best["local"][:2], *best["shuffled"]}
    points = []
    for row in shown:
        if row.contender not in kept:
            continue
        if row.model != "shuffled":
            points.append(curve_point(row, row.cost))
        if row.shuffled_epsilon is not None:
            points.append(
                {**curve_point(row, row.cost), "model": "shuffled", "epsilon": row.shuffled_epsilon}
            )
    order = list(SETTINGS)
    return sorted(points, key=lambda point: order.index(point["model"]))


def draw_costs(comparison: Comparison) -> Picture:
    """Draw cost against epsilon for all trust models in one panel, with 95% bands.

    Parameters
    ----------
    comparison : Comparison
        The results; the better clusterer of each mechanism is drawn.

    Returns
    -------
    picture : Picture
        The chart, with a color for each mechanism and a dash for each trust model. The rows of its
        points have the mechanism as ``name``, the model as ``version`` and epsilon as ``x``.

    Raises
    ------
    ParameterError
        If no method that was compared has a cost.

    Examples
    --------
    >>> from shoal.experiments import Estimate
    >>> from shoal.experiments.compare import Baseline, Comparison, MethodRow, TrivialCosts
    >>> from shoal.experiments.compare import draw_costs
    >>> baseline = Baseline(
    ...     names=("a", "b"),
    ...     label=None,
    ...     low=(0.0, 0.0),
    ...     high=(1.0, 1.0),
    ...     n_clusters=2,
    ...     n_records=100,
    ...     centers=((0.0, 0.0), (1.0, 1.0)),
    ...     trivial_costs=TrivialCosts(middle=9.0, even=6.0, mean=5.0),
    ...     even_ami=0.1,
    ...     kmeans_label=None,
    ...     wave_label=None,
    ...     density_label=None,
    ... )
    >>> cost = Estimate(1.2, 1.1, 1.3)
    >>> row = MethodRow("DPKMeans", "DPKMeans", "central", 1.0, 1.0, cost, None, None, 0.1, {})
    >>> comparison = Comparison(baseline, (row,), (1.0,), 10, {}, ())
    >>> type(draw_costs(comparison)).__name__
    'Picture'
    """
    order = list(SETTINGS)
    rows = [row for row in shown_rows(comparison) if row.cost]
    rows.sort(key=lambda row: order.index(row.model))
    return draw_lines(
        [curve_point(row, row.cost) for row in rows],
        x="epsilon",
        y="mean",
        group="method",
        dash="model",
        low="low",
        high="high",
        log_x=True,
        log_y=True,
        x_label="worst-case epsilon",
        y_label="cost (k-means = 1)",
        reference=cost_levels(comparison.baseline.trivial_costs),
        width=700,
        height=340,
    )
