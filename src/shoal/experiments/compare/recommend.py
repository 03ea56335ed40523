"""The recommendation: one sentence, by a rule that the report states."""

from shoal.experiments.compare.comparison import Comparison, MethodRow

__all__ = ["RULE", "recommend", "useless"]

RULE = (
    "Of each trust model the method with the least mean cost at the middle epsilon is taken. It is "
    "called useful if its cost is nearer to that of k-means without privacy, 1, than to the best "
    "that is had without looking for clusters: one centre, or centres spread over the box. It is "
    "called level with methods whose 95% interval meets its own: these runs cannot tell them apart."
)
WITH, WITHOUT = "with a curator who holds the records", "without one"


def recommend(comparison: Comparison) -> str:
    """Say what to use, and why.

    Parameters
    ----------
    comparison : Comparison
        What was found.

    Returns
    -------
    sentence : str
        One sentence.
    """
    parts = []
    for model, words in (("central", WITH), ("local", WITHOUT)):
        ranked = comparison.ranked(comparison.middle, model)
        if ranked:
            parts.append(f"{words}, {_advice(comparison, ranked)}")
    if not parts:
        return (
            "No method that was compared gives centres, so none is recommended: see which cells "
            "agree best with those without privacy."
        )
    at = f"At a worst-case epsilon of {comparison.middle:g}, "
    return at + "; ".join(parts) + "."


def useless(comparison: Comparison) -> list[str]:
    """Name the methods that do worse than knowing nothing, at the middle epsilon.

    Parameters
    ----------
    comparison : Comparison
        What was found.

    Returns
    -------
    methods : list of str
        Those whose mean cost is above that of centres chosen from the public box alone.
    """
    levels = comparison.frame.baselines
    blind = min(levels.middle, levels.even)
    return [
        row.method
        for row in comparison.at(comparison.middle)
        if row.cost is not None and row.cost.mean > blind
    ]


def _advice(comparison: Comparison, ranked: list[MethodRow]) -> str:
    best = ranked[0]
    assert best.cost is not None
    levels = comparison.frame.baselines
    if best.cost.mean < levels.limit:
        return (
            f"take {best.method}{_beside(ranked)}: its centres cost {best.cost.brief} times what "
            f"those of k-means without privacy do, and the best without looking {levels.best:.3g} "
            "times"
        )
    return (
        f"nothing is useful: the least cost, that of {best.method}{_beside(ranked)}, is "
        f"{best.cost.brief} times that of k-means without privacy, and the best without looking "
        f"{levels.best:.3g} times ({_way_out(comparison, best.model)})"
    )


def _beside(ranked: list[MethodRow]) -> str:
    best, *others = ranked
    close = [
        row.method for row in others if row.cost and best.cost and row.cost.overlaps(best.cost)
    ]
    if not close:
        return " (ahead of all others)" if others else ""
    more = f" and {len(close) - 1} more" if len(close) > 1 else ""
    return f" (level with {close[0]}{more})"


def _way_out(comparison: Comparison, model: str) -> str:
    for epsilon in comparison.epsilons:
        best = comparison.ranked(epsilon, model)[0]
        if best.cost is not None and best.cost.mean < comparison.frame.baselines.limit:
            return f"{best.method} is at {epsilon:g}, the least that was tried"
    return "no epsilon that was tried is enough: it takes a larger one, or many more records"
