"""Each published variant, flaws 1 to 4 of ``shoal.papers.kd_laplace``, is caught by the audit.

A bound is true with probability 0.999, so a bound above a claim shows that the claim is wrong.
Reports are rounded to a fine lattice first: what is caught is the method, not the doubles.
"""

import numpy as np
import pytest

from helpers.paper_data import rounded
from shoal.audit import epsilon_lower_bound, metric_epsilon_lower_bound
from shoal.mechanisms import Laplace
from shoal.papers.kd_laplace import (
    ComparedPiecewise,
    DensityNdLaplace,
    DraftLaplace,
    GridNdLaplace,
    NdLaplace,
    measure_leak,
)

TABLE = np.random.default_rng(5).random((40, 2))
RIGHTMOST = int(TABLE[:, 0].argmax())
NEXT = int(np.argsort(TABLE[:, 0])[-2])
MIDDLE = int(np.argmin(np.linalg.norm(TABLE - 0.5, axis=1)))


def test_planar_noise_in_doubles_is_caught_by_its_low_bits_only():
    method = NdLaplace(1.0, random_state=0).fit(np.zeros((1, 2)))
    found = metric_epsilon_lower_bound(method, [0.0, 0.0], [1.0, 0.0], samples=100_000)
    assert found.epsilon > 4
    assert "lowest set bit" in found.event
    fine = metric_epsilon_lower_bound(rounded(method), [0.0, 0.0], [1.0, 0.0], samples=100_000)
    assert not fine.exceeds(1.0)


@pytest.mark.parametrize("source", ["thesis", "code"])
def test_flaw_1_uniform_polar_angle(source):
    """Claim 2; seen 2.7 for both."""
    method = NdLaplace(2.0, source=source, random_state=0).fit(np.zeros((1, 3)))
    found = metric_epsilon_lower_bound(
        rounded(method), np.zeros(3), np.array([1.0, 0.0, 0.0]), samples=100_000
    )
    assert found.exceeds(2.0)
    assert "direction cosine" in found.event


@pytest.mark.parametrize("columns", [4, 9])
def test_flaw_2_unit_vector_as_angles(columns):
    """Claim 2; seen 10.8 and 4.0, which grow with the number of samples."""
    method = NdLaplace(2.0, random_state=0).fit(np.zeros((1, columns)))
    other = np.eye(columns)[0] * 0.5
    found = metric_epsilon_lower_bound(rounded(method), np.zeros(columns), other, samples=50_000)
    assert found.exceeds(2.0)


@pytest.mark.parametrize("columns", [3, 4, 9])
def test_the_right_distribution_is_not_caught_by_the_same_audits(columns):
    method = Laplace(2.0, bounds=(-1.0, 1.0), random_state=0).fit(np.zeros((1, columns)))
    other = np.eye(columns)[0] * 0.5
    found = metric_epsilon_lower_bound(method, np.zeros(columns), other, samples=50_000)
    assert not found.exceeds(2.0)


@pytest.mark.parametrize("source", ["thesis", "code"])
@pytest.mark.parametrize("kind", [GridNdLaplace, DensityNdLaplace])
def test_flaw_3_the_report_tells_about_another_record(kind, source):
    """The record that sets the box moves by 0.05; the report of another should not change at all.

    Claim 0; seen 5.4 and more.
    """
    row = NEXT if source == "code" else MIDDLE
    leak = measure_leak(
        kind(1.0, source=source),
        TABLE,
        row=row,
        moved=RIGHTMOST,
        shift=(0.05, 0.0),
        samples=10_000,
    )
    assert leak.claim == 0.0
    assert leak.bound > 4


@pytest.mark.parametrize(
    "method",
    [
        GridNdLaplace(1.0, source="code"),
        DensityNdLaplace(1.0),
        DensityNdLaplace(1.0, source="code"),
    ],
    ids=repr,
)
def test_flaw_3_the_report_gives_its_own_record_away(method):
    """The record moves by 0.01 at epsilon 1: claim 0.01; seen 6 and more."""
    leak = measure_leak(method, TABLE, row=MIDDLE, shift=(0.01, 0.0), samples=10_000)
    assert leak.claim == pytest.approx(0.01)
    assert leak.caught
    assert leak.bound > 4
    assert "above the claim" in str(leak)


def test_flaw_3_grid_of_the_code_in_four_columns():
    table = np.random.default_rng(5).random((40, 4))
    leak = measure_leak(
        GridNdLaplace(1.0, source="code"),
        table,
        row=0,
        moved=int(table[:, 0].argmax()),
        shift=(0.05, 0.0, 0.0, 0.0),
        samples=10_000,
    )
    assert leak.bound > 4


def test_flaw_4_resampling_at_full_epsilon():
    """Claim 1; seen 1.2 to 1.3 over five seeds; 2 is the most there can be."""
    method = DraftLaplace(1.0, radius=1.0, bounds=(0.0, 8.0), random_state=0).fit(np.zeros((1, 2)))
    found = metric_epsilon_lower_bound(
        rounded(method),
        np.zeros(2),
        np.ones(2),
        samples=200_000,
        score=lambda reports, first, second: -reports.max(axis=1),
    )
    assert 1.0 < found.epsilon <= 2.0


def test_flaw_4_radius_from_the_standard_deviation():
    """Another record moves from 1 to 2; the first one's report should not change at all.

    Even epsilon times the distance, at the larger of the two epsilons, is only 4; seen 4.7.
    """
    generator = np.random.default_rng(0)

    def reports(table, n):
        method = DraftLaplace(1.0, truncate=False, random_state=generator).fit(table)
        return rounded(method)(table[0], n)

    first, second = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 0.0]])
    generous = DraftLaplace(1.0).fit(first).epsilon_ * 1.0
    assert generous == pytest.approx(4.0)
    found = epsilon_lower_bound(
        reports,
        first,
        second,
        samples=400_000,
        score=lambda outputs, one, other: np.linalg.norm(outputs, axis=1),
    )
    assert found.exceeds(generous)


def test_compared_piecewise_spends_epsilon_on_each_column():
    """Two corners of the box in 4 columns at epsilon 1: up to 4; seen 3.6."""
    table = np.array([np.zeros(4), np.ones(4)])
    method = ComparedPiecewise(1.0, random_state=0).fit(table)
    found = epsilon_lower_bound(rounded(method), np.zeros(4), np.ones(4), samples=100_000)
    assert 1.0 < found.epsilon <= 4.0
