"""The recommendation: one sentence, by a rule that the report states."""

from shoal.experiments.compare.comparison import (
    ENOUGH_RUNS,
    MIN_RUNS,
    Comparison,
    MethodRow,
)

__all__ = ["RULE", "recommend", "useless"]

RULE = (
    "Of each trust model the method with the least mean cost at the middle epsilon is taken, if "
    "its whole 95% interval is useful: nearer to the cost of k-means without privacy, 1, than to "
    "the best that is had without looking for clusters, one center, or centers spread over the "
    "box. An interval with the limit in it decides nothing, and methods whose intervals meet "
    f"cannot be told apart by these runs. Fewer than {MIN_RUNS} runs decide nothing, and "
    "methods that promise less than the others are not recommended."
)
MORE = 4  # times as many runs make intervals half as wide
WITH, WITHOUT = "with a curator who holds the records", "without one"


def recommend(comparison: Comparison) -> str:
    """Recommend a method of each trust model, in one sentence.

    Parameters
    ----------
    comparison : Comparison
        What was found.

    Returns
    -------
    sentence : str
        One sentence.
    """
    if not comparison.decides:
        return (
            f"Undecided: {comparison.runs} run{'s' * (comparison.runs > 1)} of each method cannot "
            f"tell them apart, {MIN_RUNS} is the least; run with --runs {ENOUGH_RUNS}."
        )
    parts = []
    for model, setting in (("central", WITH), ("local", WITHOUT)):
        ranked = comparison.ranked(comparison.middle, model)
        if ranked:
            parts.append(f"{setting}, {_advice(comparison, ranked)}")
    if not parts:
        return (
            "No method that was compared gives centers with the promise that was asked for, so "
            "none is recommended: see which cells agree best with those without privacy."
        )
    at = f"At a worst-case epsilon of {comparison.middle:g}, "
    return at + "; ".join(parts) + "."


def useless(comparison: Comparison) -> list[str]:
    """List the methods that cost more than knowing nothing, at the middle epsilon."""
    trivial = comparison.baseline.trivial_costs
    blind = min(trivial.middle, trivial.even)
    return [
        row.method
        for row in comparison.at(comparison.middle)
        if row.cost is not None and row.cost.mean > blind
    ]


def _advice(comparison: Comparison, ranked: list[MethodRow]) -> str:
    best = ranked[0]
    assert best.cost is not None
    trivial = comparison.baseline.trivial_costs
    cost = f"{best.cost.brief} times"
    blind = f"the best without looking {trivial.best:.3g} times"
    if best.cost.high < trivial.limit:
        return (
            f"take {best.method}{_beside(ranked)}: its centers cost {cost} what those of k-means "
            f"without privacy do, and {blind}"
        )
    if best.cost.low > trivial.limit:
        return (
            f"nothing is useful: the least cost, that of {best.method}{_beside(ranked)}, is {cost} "
            f"that of k-means without privacy, and {blind} ({_way_out(comparison, best.model)})"
        )
    return (
        f"undecided: the least cost, that of {best.method}{_beside(ranked)}, is {cost} that of "
        "k-means without privacy, which contains the limit of what is useful, "
        f"{trivial.limit:.3g}; run with --runs {MORE * comparison.runs}"
    )


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
            return f"{best.method} is at {epsilon:g}, the least that was tried"
    return "no epsilon that was tried is enough: it takes a larger one, or many more records"
