"""Comparisons of made-up costs: two columns, two clusters, 100 records."""

from shoal.experiments import Estimate
from shoal.experiments.compare import Baseline, Comparison, MethodRow, TrivialCosts

BASELINE = Baseline(
    names=("a", "b"),
    label=None,
    low=(0.0, 0.0),
    high=(1.0, 1.0),
    n_clusters=2,
    n_records=100,
    centers=((0.0, 0.0), (1.0, 1.0)),
    trivial_costs=TrivialCosts(middle=9.0, even=6.0, mean=5.0),
    even_ami=0.1,
    kmeans_label=None,
    wave_label=None,
    density_label=None,
)


def row(method, model, epsilon, cost, half=0.1):
    """Return a method at one epsilon; None for a cost is clusters without centers."""
    found = None if cost is None else Estimate(cost, cost - half, cost + half)
    return MethodRow(method, method, model, epsilon, epsilon, found, None, None, 0.1, {})


def comparison(*rows, runs=10):
    """Return a comparison of rows."""
    epsilons = tuple(sorted({one.epsilon for one in rows}))
    return Comparison(BASELINE, rows, epsilons, runs, {}, ())
