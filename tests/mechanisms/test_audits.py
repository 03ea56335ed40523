"""Audits: no mechanism gives away more than its guarantee, anywhere we look.

Corners, center, and neighboring lattice points, for d = 1, 2, 3 and 8. Each lower bound is wrong
with probability 1e-5 at most, so all of them together raise a false alarm in one of 1000 runs; the
seeds are fixed. That the audits can see is shown in test_planted_* below and in tests/planted.
"""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from contracts.promises import noise_pays_for
from shoal import _registry as registry
from shoal._build import load_class
from shoal.audit import epsilon_lower_bound, metric_epsilon_lower_bound
from shoal.mechanisms._local import ColumnMechanism
from shoal.mechanisms.windows import Window
from subjects import subject

BOX = (-1.0, 1.0)
DIMENSIONS = (1, 2, 3, 8)
SAMPLES = 40_000
CONFIDENCE = 1 - 1e-5


def with_random_state(seed, method, **kwargs):
    """Return what makes a method of the registry from an epsilon."""
    kind = load_class(method.location)
    return partial(kind, bounds=BOX, random_state=seed, **method.kwargs, **kwargs)


# Every mechanism of the registry; the reports of KdLaplace are those of Laplace, remapped.
METHODS = {
    method.name: method
    for method in registry.METHODS
    if method.output == "reports" and method.class_name != "KdLaplace"
}
METRIC = {
    name: (
        with_random_state(1, method),
        tuple(d for d in DIMENSIONS if method.min_columns <= d <= method.max_columns),
    )
    for name, method in METHODS.items()
    if method.notion == "metric"
}
METRIC["resample"] = (
    with_random_state(2, METHODS["Laplace"], truncate="resample"),
    DIMENSIONS,
)
LOCAL = {
    name: with_random_state(1, method)
    for name, method in METHODS.items()
    if method.notion == "local"
}
LOCAL |= {
    f"{name}-sample": with_random_state(2, METHODS[name], columns="sample")
    for name in ("Piecewise", "Hybrid")
}


def alternating(dimensions):
    """Two of the four pairs of records in each number of columns; all four where it is one."""
    for i, d in enumerate(dimensions):
        for pair in range(4) if len(dimensions) == 1 else (i % 2, 2 + i % 2):
            yield d, pair


def metric_pairs(mechanism, d):
    """Two records at epsilon * distance = 2 at a corner and around the center; two neighbors."""
    move = np.full(d, 0.5 / np.sqrt(d))
    step = mechanism.lattice(d).step[0]
    yield np.full(d, -1.0), np.full(d, -1.0) + move
    yield np.zeros(d), move
    yield np.zeros(d), np.eye(d)[0] * step
    yield np.full(d, 1.0), np.full(d, 1.0) - np.eye(d)[0] * step


def local_pairs(d):
    """Opposite corners, center and corner, two corners that share a face, two neighbors."""
    yield np.full(d, -1.0), np.full(d, 1.0)
    yield np.zeros(d), np.full(d, 1.0)
    yield np.full(d, 1.0), np.full(d, 1.0) - 2 * np.eye(d)[0]
    yield np.zeros(d), np.full(d, 2.0**-22)


@pytest.mark.parametrize("name", METRIC)
def test_metric_mechanisms_stay_below_their_guarantee(name):
    epsilon = 4.0
    make, dimensions = METRIC[name]
    for d, pair in alternating(dimensions):
        mechanism = make(epsilon).fit(np.zeros((1, d)))
        # A corner's report in eight columns takes 850 draws.
        samples = 5_000 if (name, d) == ("resample", 8) else SAMPLES
        first, second = list(metric_pairs(mechanism, d))[pair]
        result = metric_epsilon_lower_bound(
            mechanism, first, second, samples=samples, confidence=CONFIDENCE
        )
        assert result.claimed == pytest.approx(epsilon)
        assert not result.exceeds(epsilon), f"{d} columns, pair {pair}: {result}"


@pytest.mark.parametrize("name", LOCAL)
def test_local_mechanisms_stay_below_their_guarantee(name):
    epsilon = 2.0
    for d, pair in alternating(DIMENSIONS):
        mechanism = LOCAL[name](epsilon).fit(np.zeros((1, d)))
        first, second = list(local_pairs(d))[pair]
        result = epsilon_lower_bound(
            mechanism, first, second, samples=SAMPLES, confidence=CONFIDENCE
        )
        assert result.claimed == epsilon
        assert not result.exceeds(epsilon), f"{d} columns, pair {pair}: {result}"


@pytest.mark.parametrize("name", LOCAL)
def test_audits_of_one_column_come_near_the_guarantee(name):
    mechanism = LOCAL[name](1.0).fit(np.zeros((1, 1)))
    result = epsilon_lower_bound(mechanism, [-1.0], [1.0], samples=200_000)
    assert not result.exceeds(1.0), str(result)
    assert result.epsilon > 0.9


@pytest.mark.parametrize(("name", "d"), [("Piecewise", 1), ("SquareWave", 2), ("Hybrid", 2)])
def test_planted_epsilon_for_each_column(name, d, monkeypatch):
    """Twice the share of epsilon in every column: caught."""
    right = Window.draw

    def wrong(self, positions, source):
        return right(Window(2 * self.epsilon, self.positions, self.step), positions, source)

    monkeypatch.setattr(Window, "draw", wrong)
    mechanism = LOCAL[name](2.0).fit(np.zeros((1, d)))
    result = epsilon_lower_bound(mechanism, np.full(d, -1.0), np.full(d, 1.0), samples=100_000)
    assert result.exceeds(2.0), str(result)


def test_planted_window_that_is_cut_at_the_border(monkeypatch):
    """A window that depends on the record in size, not only in place: caught."""
    right = Window.draw

    def wrong(self, positions, source):
        cells = right(self, positions, source)
        return np.where(positions == self.positions // 2, np.minimum(cells, positions), cells)

    monkeypatch.setattr(Window, "draw", wrong)
    mechanism = LOCAL["Piecewise"](1.0).fit(np.zeros((1, 1)))
    result = epsilon_lower_bound(mechanism, [0.0], [1.0], samples=100_000)
    assert result.exceeds(1.0), str(result)


@pytest.mark.parametrize("name", ["Piecewise", "Piecewise-sample", "Hybrid", "SquareWave"])
def test_planted_share_is_noticed_by_the_contract(name, monkeypatch):
    """Epsilon for each column instead of epsilon for the record."""
    noise_pays_for(subject(name))
    monkeypatch.setattr(
        ColumnMechanism,
        "_column_distribution",
        lambda self, columns: self._distribution(Fraction(3 * self.epsilon)),
    )
    with pytest.raises(AssertionError):
        noise_pays_for(subject(name))
