"""Remaps keep the guarantee of the reports: no lower bound above it (false alarm 0.1% each)."""

import numpy as np
import pytest

from shoal.audit import epsilon_lower_bound, metric_epsilon_lower_bound
from shoal.mechanisms import KdLaplace, Laplace
from shoal.remap import BayesRemap, Clip, GridRemap

EPSILON = 2.0
BOX = (-1.0, 1.0)


class Chain:
    """A mechanism, then a remap that was fitted on other reports."""

    def __init__(self, mechanism, remap):
        self.mechanism, self.remap = mechanism, remap

    def transform(self, X):
        return self.remap.transform(self.mechanism.transform(X))


def chain(kind, d):
    mechanism = Laplace(EPSILON, bounds=BOX, random_state=d).fit(np.zeros((1, d)))
    remap = {
        "clip": Clip(BOX),
        "grid": GridRemap(BOX, cells=8),
        "points": GridRemap(points=np.random.default_rng(0).uniform(-1, 1, (30, d))),
        "bayes": BayesRemap(mechanism),
        "linear": BayesRemap(mechanism, loss="linear", cells=8),
    }[kind]
    others = np.random.default_rng(1).uniform(-1, 1, (500, d))
    return Chain(mechanism, remap.fit(mechanism.transform(others)))


PAIRS = {"corners": (-1.0, 0.0), "center": (-0.25, 0.5), "near": (0.5, 0.5 + 2.0**-9)}


@pytest.mark.parametrize(
    ("kind", "dimensions"),
    [
        ("clip", (1, 2, 3, 8)),
        ("grid", (1, 2, 3, 8)),
        ("points", (1, 2, 3, 8)),
        ("bayes", (1, 2, 3, 8)),
        ("linear", (1, 2, 3)),
        pytest.param("linear", (8,), marks=pytest.mark.full),
    ],
)
def test_remapped_reports_stay_at_or_below_epsilon(kind, dimensions):
    for i, d in enumerate(dimensions):
        remapped = chain(kind, d)
        for name in (list(PAIRS)[i % 3], list(PAIRS)[(i + 1) % 3]):
            first, second = (np.full(d, value) for value in PAIRS[name])
            result = metric_epsilon_lower_bound(remapped, first, second, samples=20_000)
            assert not result.exceeds(EPSILON), f"{d} columns, {name}: {result}"


def test_the_audit_still_sees_what_a_remap_leaves():
    """Clipped reports keep most of the loss, so that the test above can fail."""
    result = metric_epsilon_lower_bound(chain("clip", 1), [-0.5], [0.5], samples=100_000)
    assert result.epsilon > 0.7 * EPSILON


@pytest.mark.parametrize(
    ("remap", "d"), [("bayes", 1), ("grid", 2), pytest.param("bayes", 3, marks=pytest.mark.full)]
)
def test_all_points_together_stay_at_or_below_epsilon(remap, d):
    """The prior is fitted on the audited report too: the whole output of four records."""
    rng = np.random.RandomState(d)
    others = np.random.default_rng(0).uniform(-1, 1, (3, d))

    def outputs(record, count):
        runs = []
        for _ in range(count):
            kd = KdLaplace(EPSILON, bounds=BOX, remap=remap, grid_cells=4, random_state=rng)
            runs.append(kd.fit_transform(np.vstack([record, others])).ravel())
        return np.array(runs)

    first, second = np.full(d, -0.5), np.full(d, 0.25)
    distance = float(np.linalg.norm(first - second))
    result = epsilon_lower_bound(outputs, first, second, samples=250)
    assert not result.exceeds(EPSILON * distance), str(result)


def test_a_density_remap_that_reads_records_is_caught():
    """As published: weights from the record itself. The very same formula, with raw candidates."""
    mechanism = Laplace(EPSILON, bounds=BOX, random_state=0).fit(np.zeros((1, 1)))

    class Leaky:
        def transform(self, X):
            reports = mechanism.transform(X)
            prior = np.full(16, 1e-3)
            prior[int((X[0, 0] + 1) * 8)] = 1.0
            return BayesRemap(mechanism, cells=16, prior=prior).fit_transform(reports)

    result = metric_epsilon_lower_bound(Leaky(), [-0.25], [0.25], samples=20_000)
    assert result.exceeds(2 * EPSILON), str(result)
