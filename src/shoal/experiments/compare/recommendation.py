"""The recommendation: one sentence, by a rule that the report states."""

from shoal._numbers import rounded_up
from shoal._registry import TrustModel
from shoal.experiments.compare.baseline import TrivialCosts
from shoal.experiments.compare.comparison import (
    ENOUGH_RUNS,
    MIN_RUNS,
    Comparison,
    MethodRow,
)
from shoal.experiments.estimate import Estimate

__all__ = ["RULE", "not_better_than_blind", "recommend"]

RULE = (
    "For each trust model, the method with the lowest mean cost at the middle epsilon is "
    "recommended if its whole 95% interval is useful: closer to the cost of k-means without "
    "privacy, 1, than to the lowest cost without looking for clusters, that of one center or of "
    "points spread blindly over the box. An interval that contains the limit decides nothing, and "
    "methods whose intervals overlap cannot be told apart by these runs. A method that is not "
    "useful is called better than blind if its whole interval is below the cost of all points "
    f"that are chosen without the records. Fewer than {MIN_RUNS} runs decide nothing, and methods "
    "that promise less than the others are not recommended."
)
RUN_WITH = "run with --runs {}"
MORE = 4  # times as many runs make intervals half as wide
SETTINGS: dict[TrustModel, str] = {
    "central": "with a curator who holds the records",
    "shuffled": "from reports behind a shuffler",
    "local": "from reports alone",
}


def recommend(comparison: Comparison, *, more: str = RUN_WITH) -> str:
    """Return a recommendation of one method for each trust model, as a sentence.

    Parameters
    ----------
    comparison : Comparison
        The results.
    more : str, default="run with --runs {}"
        What the sentence tells the reader to do for more runs.

    Returns
    -------
    sentence : str
        The recommendation.

    Examples
    --------
    >>> from shoal.experiments import Estimate
    >>> from shoal.experiments.compare import Baseline, Comparison, MethodRow, TrivialCosts
    >>> from shoal.experiments.compare import recommend
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
    >>> "DPKMeans" in recommend(comparison)
    True
    """
    if not comparison.decides:
        return (
            f"Undecided: {comparison.runs} run{'s' * (comparison.runs > 1)} of each method cannot "
            f"tell them apart (at least {MIN_RUNS} are needed); {more.format(ENOUGH_RUNS)}."
        )
    parts = []
    for model, setting in SETTINGS.items():
        ranked = comparison.ranked(comparison.middle, model)
        if ranked:
            parts.append(f"{setting}, {_advice(comparison, ranked, more)}")
    if not parts:
        return (
            "None of the compared methods gives centers with the promise that was asked for, so "
            "none is recommended: see which cells agree best with those without privacy."
        )
    at = f"At a worst-case epsilon of {rounded_up(comparison.middle)}, "
    return at + "; ".join([*parts, _blind(comparison)]) + "."


def not_better_than_blind(comparison: Comparison) -> list[str]:
    """List the methods that are not surely better than blind, at the middle epsilon."""
    blind = comparison.baseline.trivial_costs.blind
    return [
        row.method
        for row in comparison.at(comparison.middle)
        if row.cost is not None
        and (row.cost.high if comparison.decides else row.cost.mean) >= blind
    ]


def _advice(comparison: Comparison, ranked: list[MethodRow], more: str) -> str:
    best = ranked[0]
    assert best.cost is not None
    trivial = comparison.baseline.trivial_costs
    cost = f"{best.cost.brief} times"
    if best.cost.high < trivial.limit:
        return (
            f"take {best.method}{_beside(ranked)}{_of_reports(comparison, best)}: its centers "
            f"cost {cost} as much as those of k-means without privacy"
        )
    if best.cost.low > trivial.limit:
        return (
            f"no method is useful: the lowest cost, that of {best.method}{_beside(ranked)}, is "
            f"{cost} that of k-means without privacy, {_verdict(best.cost, trivial)} "
            f"({_way_out(comparison, best.model)})"
        )
    return (
        f"undecided: the lowest cost, that of {best.method}{_beside(ranked)}, is {cost} that of "
        "k-means without privacy, which contains the limit of what is useful, "
        f"{trivial.limit:.3g}; {more.format(MORE * comparison.runs)}"
    )


def _blind(comparison: Comparison) -> str:
    """Name what is had without looking, and what it costs."""
    baseline, trivial = comparison.baseline, comparison.baseline.trivial_costs
    one = f", one center alone {trivial.best:.3g} times" if trivial.best < trivial.even else ""
    points = f"{baseline.n_clusters} points spread blindly over the box"
    return f"{points} cost {trivial.even:.3g} times as much as k-means{one}"


def _verdict(cost: Estimate, trivial: TrivialCosts) -> str:
    """Compare with points that are chosen without the records."""
    if cost.high < trivial.blind:
        return "better than blind, but closer to blind than to k-means"
    if cost.low > trivial.blind:
        return "worse than blind"
    return "not better than blind"


def _of_reports(comparison: Comparison, row: MethodRow) -> str:
    """Say what each report of a shuffled batch promises by itself, and at which delta all do."""
    if row.model != "shuffled":
        return ""
    epsilon, delta = rounded_up(row.own_epsilon, 3), rounded_up(comparison.delta)
    return f" at a local epsilon of {epsilon} (delta {delta})"


def _beside(ranked: list[MethodRow]) -> str:
    best, *others = ranked
    close = [
        row.method for row in others if row.cost and best.cost and row.cost.overlaps(best.cost)
    ]
    if not close:
        return " (ahead of all others)" if others else ""
    more = f" and {len(close) - 1} more" if len(close) > 1 else ""
    return f" (these runs cannot tell it from {close[0]}{more})"


def _way_out(comparison: Comparison, model: str) -> str:
    for epsilon in comparison.epsilons:
        best = comparison.ranked(epsilon, model)[0]
        if best.cost is not None and best.cost.high < comparison.baseline.trivial_costs.limit:
            return (
                f"{best.method} becomes useful at {rounded_up(epsilon)}, the smallest tried that "
                "is enough"
            )
    return "no epsilon that was tried is enough: use a larger one, or many more records"
