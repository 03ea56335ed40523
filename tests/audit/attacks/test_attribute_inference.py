"""One column guessed from the others: what a report tells, and what being in a release costs.

Statistical tests have a false-alarm rate of 0.1% each.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans

from helpers.toy_estimators import OnlyNoise
from shoal._bounds import public_box
from shoal.audit.attacks._posterior import (
    guess_column,
    log_weights_from_centers,
    log_weights_from_table,
)
from shoal.audit.attacks.attribute_inference import infer_attribute
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.exceptions import DataError, MissingBoundsError, ParameterError
from shoal.mechanisms import Duchi, Hybrid, Laplace, Piecewise, SquareWave
from shoal.privacy import Ledger

BOX = (-1.0, 1.0)
RNG = np.random.default_rng(3)
UNIFORM = RNG.uniform(-1.0, 1.0, (400, 2))
FEW = RNG.uniform(-1.0, 1.0, (40, 2))


def population(count):
    """Three clusters on a line: one column tells most of the other."""
    center = RNG.choice([-0.6, 0.0, 0.6], size=(count, 1))
    return np.clip(center + RNG.normal(0.0, 0.08, (count, 2)), *BOX)


PEOPLE, PUBLIC = population(1000), population(1000)


# Reports


def test_one_column_alone_is_guessed_as_well_as_the_noise_allows():
    # Far from the border the median of the posterior is the report: off by 1/epsilon on average.
    found = infer_attribute(
        Laplace(4.0, bounds=(-8.0, 8.0)), np.zeros((2000, 1)), 0, runs=1, random_state=0
    )
    assert found.error == pytest.approx(0.25, abs=3.3 * 0.25 / np.sqrt(2000) + 0.01)


@pytest.mark.parametrize("kind", [Laplace, Piecewise, Duchi, Hybrid, SquareWave])
def test_the_guess_is_better_than_the_report_and_than_none(kind):
    found = infer_attribute(kind(4.0, bounds=BOX), UNIFORM, 1, runs=10, random_state=0)
    records = np.tile(UNIFORM, (10, 1))
    reports = kind(4.0, bounds=BOX, random_state=1).fit_transform(records)
    errors = np.abs(np.clip(reports, *BOX) - records)[:, 1]
    # Other reports than those attacked, so both sides have their own noise.
    assert found.error < errors.mean() + 3.3 * np.sqrt(2 / len(errors)) * errors.std()
    assert found.error < found.error_without
    assert found.near > found.near_without
    assert found.difference is None


def test_a_loud_report_tells_nothing():
    found = infer_attribute(
        Laplace(1e-3, bounds=BOX), PEOPLE, 0, prior=PUBLIC, runs=1, random_state=0
    )
    assert found.error == pytest.approx(found.error_without, rel=0.02)


def test_a_quiet_report_tells_all():
    found = infer_attribute(Laplace(1e4, bounds=BOX), UNIFORM, 0, runs=1, random_state=0)
    assert found.error < 0.01
    assert found.near == 1.0


def test_a_public_table_helps_with_and_without_a_report():
    plain = infer_attribute(Laplace(8.0, bounds=BOX), PEOPLE, 1, runs=2, random_state=0)
    prior = {"prior": PUBLIC, "runs": 2, "random_state": 0}
    helped = infer_attribute(Laplace(8.0, bounds=BOX), PEOPLE, 1, **prior)
    # The best guess without a report is off by 0.08 sqrt(2/pi) = 0.064 where clusters are known.
    assert helped.error_without == pytest.approx(0.064, rel=0.1)
    assert plain.error_without > 0.35
    assert helped.error < min(plain.error, helped.error_without)


# Releases


def test_what_a_release_says_about_everybody_is_no_breach():
    model = DPKMeans(3, epsilon=1.0, bounds=BOX)
    found = infer_attribute(model, PEOPLE, 1, runs=20, random_state=0)
    assert found.error < 0.3 * found.error_without
    assert found.error_others < 0.3 * found.error_without
    low, high = found.interval(0.999)
    assert low <= 0 <= high
    assert abs(found.difference) < 0.005


def test_an_overfitted_control_gives_its_members_away():
    found = infer_attribute(KMeans(12, n_init=1), FEW, 1, bounds=BOX, runs=20, random_state=0)
    # Seen: 0.25, of 0.62 for the others.
    assert found.interval(0.999)[0] > 0.1
    assert found.near > found.near_others + 0.2
    assert found.difference == found.error_others - found.error


def test_privacy_closes_the_gap():
    grid = DPKMeans(12, bounds=BOX, method="grid")
    loud = infer_attribute(clone(grid).set_params(epsilon=1e4), FEW, 1, runs=20, random_state=0)
    private = infer_attribute(clone(grid).set_params(epsilon=0.5), FEW, 1, runs=20, random_state=0)
    assert loud.interval(0.999)[0] > 0.1
    assert private.interval(0.999)[0] < 0
    assert private.difference < loud.difference / 2


def test_cells_give_away_as_well():
    open_cells = DPWaveCluster(epsilon=np.inf, bounds=BOX, grid=16)
    found = infer_attribute(open_cells, FEW, 1, runs=20, random_state=0)
    # Seen: 0.04 to 0.13.
    assert found.interval(0.999)[0] > 0


def test_a_release_of_nothing_tells_nothing():
    values = np.linspace(-1.0, 1.0, 11)
    weights = log_weights_from_centers(
        np.empty((0, 2)), np.empty(0), FEW, column=0, values=values, box=public_box(BOX, 2)
    )
    assert (weights == 0).all()


@pytest.mark.parametrize("sizes", [[10.0, 90.0], [90.0, 10.0]])
def test_one_column_alone_is_guessed_by_the_sizes(sizes):
    values = np.linspace(-0.95, 0.95, 20)
    weights = log_weights_from_centers(
        np.array([[-0.75], [0.75]]),
        np.array(sizes),
        np.zeros((1, 1)),
        column=0,
        values=values,
        box=public_box(BOX, 1),
    )
    guess = guess_column(weights, values, 0.1).medians[0]
    assert guess * (sizes[1] - sizes[0]) > 0.3


# Guesses


def test_the_median_and_the_likeliest_place():
    values = np.array([0.0, 1.0, 2.0, 10.0])
    with np.errstate(divide="ignore"):
        log_weights = np.log([[0.2, 0.2, 0.2, 0.4], [0.0, 0.0, 0.0, 1.0]])
    guesses = guess_column(log_weights, values, 1.0)
    assert guesses.medians.tolist() == [2.0, 10.0]
    assert guesses.nearby.tolist() == [1.0, 10.0]


def test_a_small_public_table_is_enough():
    values = np.linspace(-1.0, 1.0, 5)
    weights = log_weights_from_table(np.array([[0.3, -1.0]]), FEW, 1, values)
    assert np.isfinite(weights).all()
    assert (guess_column(weights, values, 0.1).medians == -1.0).all()


# How it is run


def test_a_column_has_a_name():
    table = pd.DataFrame(UNIFORM, columns=["height", "weight"])
    mechanism = Laplace(4.0, bounds=BOX)
    by_name = infer_attribute(mechanism, table, "weight", runs=1, random_state=0)
    by_place = infer_attribute(mechanism, UNIFORM, 1, runs=1, random_state=0)
    assert by_name.error == by_place.error
    assert (by_name.column, by_place.column) == ("weight", "column 1")
    assert str(by_name).startswith(
        "an attacker who knows the other columns and sees a report is off by "
        f"{by_name.error:.3g} in weight on average; without it, by {by_name.error_without:.3g}\n"
    )


def test_the_sentence_about_a_release_names_the_others():
    found = infer_attribute(KMeans(3, n_init=1), FEW, 0, bounds=BOX, runs=2, random_state=0)
    assert f"{found.error_others:.3g}: being in it costs a record {found.difference:.3g}" in str(
        found
    )


def test_nothing_is_spent_and_seeds_are_kept():
    ledger = Ledger(epsilon=1.0)
    words = {"bounds": BOX, "ledger": ledger, "random_state": 9}
    for target in (DPKMeans(2, epsilon=1.0, **words), Duchi(1.0, **words)):
        first, second = (infer_attribute(target, FEW, 0, runs=2, random_state=4) for _ in range(2))
        assert first.error == second.error
        assert target.random_state == 9
        assert infer_attribute(target, FEW, 0, runs=2).error != first.error
    assert ledger.spent == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"column": 2}, "column must be an integer from 0 to 1, got 2"),
        ({"column": "age"}, "column must be an integer from 0 to 1, got 'age'"),
        ({"column": True}, "column must be an integer"),
        ({"runs": 0}, "runs must be a whole number"),
        ({"tolerance": 0.0}, r"tolerance must be a number in \(0, 1\)"),
        ({"random_state": 0.5}, "random_state must be None"),
        ({"prior": [[0.0]]}, "prior must have the 2 columns of X, got 1"),
        ({"target": OnlyNoise()}, "must release centers or cells"),
        ({"target": 3, "bounds": BOX}, "estimator must have fit"),
    ],
)
def test_bad_parameters_are_refused(words, message):
    words = {"target": DPKMeans(2, bounds=BOX), "X": FEW, "column": 0, "runs": 1, **words}
    with pytest.raises(ParameterError, match=message):
        infer_attribute(**words)


def test_too_little_is_refused():
    with pytest.raises(DataError, match="at least 16 records for a release, got 15"):
        infer_attribute(DPKMeans(2, bounds=BOX), FEW[:15], 0)
    with pytest.raises(MissingBoundsError):
        infer_attribute(KMeans(2), FEW, 0)
    found = infer_attribute(DPKMeans(2, bounds=BOX), FEW, 0, runs=1)
    with pytest.raises(ParameterError, match="runs must be at least 2"):
        found.interval()
