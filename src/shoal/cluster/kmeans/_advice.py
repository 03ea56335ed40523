"""What a fit will probably cost, and what to do about one whose centers may be noise alone.

The cost is predicted from made-up records: nothing private is looked at.

On tables in common use the spread of clusters, in half widths of the box, is near 0.28 / k^(1/d)
(0.25 to 0.32 on S1, A2, transfusion, digits), so that records made this way stand in for the
unknown ones. What noise does depends on n times epsilon, so large tables are stood in for by small
ones with more epsilon.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from shoal import _numbers
from shoal._typing import Floats, RandomState
from shoal.cluster._budget import MAX_EPSILON
from shoal.cluster.kmeans._auto import choose_method, choose_noise, delta_advice
from shoal.noise import as_source
from shoal.privacy import Release

__all__ = ["Advice", "noise_advice", "predict_cost"]


WIDTH = 2.0  # of the made-up box: scores are in units of it
SPREAD = 0.28
MAX_ROWS = 10_000
POPULATIONS = 5
NARROW = 0.25  # part of a column's bounds below which they look too wide
MAX_NAMED = 3  # columns named in one line


class Advice(NamedTuple):
    """Predicted method and cost of a private fit; prints as one sentence."""

    method: str
    cost_ratio: float
    low: float
    high: float
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.method}: about {self.cost_ratio:.2f} times the cost of k-means without privacy "
            f"({self.low:.2f} to {self.high:.2f} on made-up tables of this size): {self.reason}"
        )


def predict_cost(
    estimator: Any,
    n: int,
    d: int,
    k: int,
    epsilon: float,
    *,
    delta: float,
    random_state: RandomState,
) -> Advice:
    """Try the estimator on made-up tables."""
    for name, value in (("n", n), ("d", d), ("k", k)):
        _numbers.count(name, value)
    _numbers.positive("epsilon", epsilon)
    _numbers.probability("delta", delta)
    rows = max(min(n, MAX_ROWS), k + 1)
    which = choose_noise(d, epsilon, delta)
    method, why = choose_method(n, d, k, which.noise, which.noise.total_budget)
    ratios = []
    for seed in as_source(random_state).words(POPULATIONS):
        X, centers = _made_up(rows, d, k, int(seed))
        model = estimator(
            k,
            epsilon=min(epsilon * n / rows, MAX_EPSILON),
            delta=delta,
            bounds=(-WIDTH / 2, WIDTH / 2),
            n_public=rows,
            random_state=int(seed),
        ).fit(X)
        # From the centers they were made around, k-means settles near the best there is.
        best = KMeans(k, init=centers, n_init=1).fit(X).inertia_
        ratios.append(-model.score(X) * WIDTH**2 / best)
    mean = float(np.mean(ratios))
    reasons = [why, which.reason]
    if delta == 0.0:
        reasons += delta_advice(n, d, k, epsilon)
    return Advice(method.name, mean, min(ratios), max(ratios), "; ".join(reasons))


def noise_advice(release: Release, *, learned: bool) -> str:
    """Say what to do about centers that may be noise alone."""
    values = release.values
    if "clusters_asked" in values:
        clusters = f"{values['clusters_asked'] or 'several'} clusters"
        return (
            f"one mean is all that can be had: {clusters} need about {values['records_short']:g} "
            "times as many records, or as large an epsilon"
        )
    certain = np.asarray(values["certain"])
    known = int(certain.sum())
    if known == len(certain):
        return ""
    said = f"{len(certain) - known} of {len(certain)} centers may be noise alone"
    if values["metric"] in ("cosine", "schema"):  # which have no bounds to narrow
        fewer = f", or ask for {known}" if known else ""
        return f"{said}: raise epsilon, bring more records{fewer}"
    if not known:
        return f"{said}: raise epsilon, bring more records, or narrow the bounds"
    narrow = _narrow_columns(values, certain) if known > 1 else ""
    if not narrow:
        return f"{said}: narrow the bounds if records fill little of them, or ask for {known}"
    learn = "" if learned else ", have them learned"
    return (
        f"{said}: most of the box looks empty, for the other centers span at most {narrow}: narrow "
        f"these bounds{learn}, or ask for {known} clusters"
    )


def _narrow_columns(values: Any, certain: npt.NDArray[np.bool_]) -> str:
    """List the columns of whose bounds the certain centers span little."""
    low, high = np.asarray(values["low"]) / 2, np.asarray(values["high"]) / 2
    spans = np.ptp(values["centers"][certain] / 2, axis=0) / (high - low)
    names = values["columns"] or [f"column {number}" for number in range(len(spans))]
    order = [int(column) for column in spans.argsort(kind="stable") if spans[column] < NARROW]
    parts = [f"{math.ceil(100 * spans[column])}% of {names[column]}" for column in order]
    return ", ".join(parts[:MAX_NAMED])


def _made_up(n: int, d: int, k: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    spread = SPREAD / k ** (1 / d)
    centers = rng.uniform(-1 + spread, 1 - spread, (k, d)) if spread < 1 else np.zeros((k, d))
    labels = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    made: Floats = centers[labels] + spread * rng.standard_normal((n, d))
    return np.clip(made, -1.0, 1.0), centers
