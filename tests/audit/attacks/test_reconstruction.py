"""The best guess from a report: right by theory, calibrated, and no better than a promise allows.

Statistical tests have a false-alarm rate of 0.1% each.
"""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.cluster import KMeans

from shoal.audit.attacks import _posterior
from shoal.audit.attacks._posterior import normalized
from shoal.audit.attacks.reconstruction import reconstruct
from shoal.exceptions import MissingBoundsError, ParameterError
from shoal.mechanisms import Duchi, Hybrid, Laplace, Piecewise, PlanarLaplace, SquareWave
from shoal.privacy import Ledger

BOX = (-1.0, 1.0)
RNG = np.random.default_rng(5)
TABLE = RNG.uniform(-1.0, 1.0, (40, 2)) ** 3  # more in the middle
# Records really drawn from the table: what the attacker believes is then true.
RECORDS = TABLE[RNG.integers(len(TABLE), size=1500)]
SIGMAS = 3.3  # two-sided, 0.1%


def all_mechanisms():
    kinds = [Laplace, PlanarLaplace, Piecewise, Duchi, Hybrid, SquareWave]
    return [kind(4.0, bounds=BOX) for kind in kinds]


def by_name(mechanism):
    return type(mechanism).__name__


# Against theory


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_two_candidates_under_laplace_noise(epsilon):
    # The report must lie on the wrong side of the middle: half of e^(-epsilon distance / 2).
    pair = np.array([[-1.0], [1.0]])
    records = np.repeat(pair, 2000, axis=0)
    found = reconstruct(Laplace(epsilon, bounds=BOX), records, prior=pair, random_state=0)
    wrong = round((1 - found.exact) * len(records))
    chance = np.exp(-epsilon) / 2
    low, high = binom.ppf([5e-4, 1 - 5e-4], len(records), chance)
    assert low <= wrong <= high
    assert found.exact_without == 0.5


@pytest.mark.parametrize("kind", [Piecewise, Duchi, Hybrid, SquareWave])
def test_local_privacy_bounds_what_two_candidates_give_away(kind):
    pair = np.array([[-1.0, -1.0], [1.0, 1.0]])
    records = np.repeat(pair, 1000, axis=0)
    found = reconstruct(kind(1.0, bounds=BOX), records, prior=pair, random_state=0)
    most = np.exp(1.0) / (1 + np.exp(1.0))
    assert found.exact <= binom.isf(1e-3, len(records), most) / len(records)
    assert found.exact > 0.55


@pytest.mark.parametrize("mechanism", all_mechanisms(), ids=by_name)
def test_the_posterior_knows_how_far_off_it_is(mechanism):
    found = reconstruct(mechanism, RECORDS, prior=TABLE, random_state=2)
    error = found.distances.std() / np.sqrt(len(RECORDS))
    assert abs(found.error - found.expected) < SIGMAS * error
    assert found.squared == pytest.approx(found.expected_squared, rel=0.15)
    assert found.error < found.error_without


@pytest.mark.parametrize("mechanism", all_mechanisms(), ids=by_name)
def test_no_other_guess_has_a_smaller_squared_error(mechanism):
    found = reconstruct(mechanism, RECORDS, prior=TABLE, random_state=2)
    reports = mechanism.set_params(random_state=2).fit_transform(RECORDS)
    middle = TABLE.mean(axis=0)
    others = [reports, np.clip(reports, *BOX)]
    others += [middle + part * (reports - middle) for part in (0.0, 0.1, 0.2, 0.4, 0.6, 0.8)]
    nearest = ((np.clip(reports, *BOX)[:, None] - TABLE) ** 2).sum(axis=2).argmin(axis=1)
    others.append(TABLE[nearest])
    squared = [((guess - RECORDS) ** 2).sum(axis=1).mean() for guess in others]
    assert found.squared < min(squared)
    # The median is the best for distance, not the mean, and not the report.
    distances = [np.linalg.norm(guess - RECORDS, axis=1).mean() for guess in others]
    assert found.error < min(distances)


def test_a_uniform_law_is_what_the_grid_stands_for():
    records = RNG.uniform(-1.0, 1.0, (2000, 1))
    found = reconstruct(Laplace(3.0, bounds=BOX), records, random_state=0)
    error = found.distances.std() / np.sqrt(len(records))
    assert abs(found.error - found.expected) < SIGMAS * error
    assert found.error_without == pytest.approx(0.5, abs=0.03)
    assert found.near_without == pytest.approx(0.1, abs=0.03)  # 0.1 to each side, of 2
    assert found.exact is None


# Limits


def test_a_loud_report_tells_nothing():
    found = reconstruct(Laplace(1e-3, bounds=BOX), RECORDS, prior=TABLE, random_state=0)
    assert found.error == pytest.approx(found.error_without, rel=1e-2)


def test_a_quiet_report_tells_all():
    found = reconstruct(Laplace(1e4, bounds=BOX), RECORDS, prior=TABLE, random_state=0)
    assert found.exact == found.near == 1.0
    assert found.error < 1e-3


def test_more_epsilon_more_told():
    found = [
        reconstruct(Laplace(epsilon, bounds=BOX), RECORDS, prior=TABLE, random_state=0)
        for epsilon in (1.0, 4.0, 16.0)
    ]
    assert found[0].error > found[1].error > found[2].error
    assert found[0].near < found[1].near < found[2].near
    assert found[0].exact < found[1].exact < found[2].exact


# Priors


def test_all_records_known_but_not_who_sent_what():
    records = RNG.uniform(-1.0, 1.0, (200, 2))
    found = reconstruct(Laplace(30.0, bounds=BOX), records, prior="records", random_state=0)
    assert found.exact_without == 1 / 200
    assert 0.2 < found.exact < 1.0
    assert "name the record itself" in str(found)


def test_repeated_rows_are_more_likely():
    table = [[0.0]] * 9 + [[1.0]]
    found = reconstruct(Laplace(1e-3, bounds=BOX), [[0.0], [1.0]], prior=table, random_state=0)
    assert found.exact == found.exact_without == 0.5
    assert found.distances.tolist() == pytest.approx([0.0, 1.0], abs=1e-3)


def test_a_record_outside_the_box_is_reported_from_its_border():
    table = np.array([[-5.0], [-0.5]])
    found = reconstruct(Laplace(50.0, bounds=BOX), table, prior=table, random_state=0)
    assert found.exact == 1.0


def test_a_sure_guess_is_not_made_at_the_edge_of_what_is_near():
    records = RNG.uniform(-1.0, 1.0, (100, 1))
    found = reconstruct(Laplace(1e5, bounds=BOX), records, random_state=0)
    assert found.near == 1.0


def test_many_columns_are_spread_over_by_a_sequence():
    records = RNG.uniform(-1.0, 1.0, (100, 12))
    found = reconstruct(Laplace(40.0, bounds=BOX), records, candidates=500, random_state=0)
    assert found.error < found.error_without


def test_a_report_that_no_candidate_explains_leaves_the_prior():
    logs = np.array([[-np.inf, -np.inf], [-1.0, -np.inf]])
    weights = normalized(logs, np.log([0.3, 0.7]))
    assert weights == pytest.approx(np.array([[0.3, 0.7], [1.0, 0.0]]))


# How it is run


def test_blocks_change_nothing(monkeypatch):
    whole = reconstruct(Laplace(4.0, bounds=BOX), RECORDS[:100], prior=TABLE, random_state=0)
    monkeypatch.setattr(_posterior, "BLOCK_VALUES", 7 * len(TABLE))
    parts = reconstruct(Laplace(4.0, bounds=BOX), RECORDS[:100], prior=TABLE, random_state=0)
    assert parts.distances == pytest.approx(whole.distances, abs=1e-4)
    assert (parts.near, parts.exact) == (whole.near, whole.exact)


def test_nothing_is_spent_and_seeds_are_kept():
    ledger = Ledger(epsilon=1.0)
    mechanism = Laplace(1.0, unit="m", bounds=BOX, ledger=ledger, random_state=3)
    first, second = (reconstruct(mechanism, TABLE, random_state=4) for _ in range(2))
    assert np.array_equal(first.distances, second.distances)
    assert ledger.spent == ()
    assert mechanism.random_state == 3
    anew = [reconstruct(mechanism, TABLE).error for _ in range(2)]
    assert anew[0] != anew[1]


def test_it_prints_as_sentences():
    found = reconstruct(Laplace(4.0, bounds=BOX), RECORDS, random_state=0)
    first, second = str(found).splitlines()
    assert first == (
        f"an attacker who sees a report is off by {found.error:.3g} on average; "
        f"without it, by {found.error_without:.3g}"
    )
    assert second.startswith("they come within 0.141 of the record for ")
    assert found.median == np.median(found.distances)
    assert found.median_without == np.median(found.distances_without)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"prior": "public"}, "prior must be a table, 'records' or None, got 'public'"),
        ({"prior": [[1.0]]}, "prior must have the 2 columns of X, got 1"),
        ({"prior": [[np.nan, 1.0]]}, "prior must be a table as X is"),
        ({"candidates": 0}, "candidates must be a whole number"),
        ({"near": 1.0}, r"near must be a number in \(0, 1\), got 1.0"),
        ({"mechanism": KMeans()}, "mechanism must have transform and log_density"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_parameters_are_refused(words, message):
    words = {"mechanism": Laplace(1.0, bounds=BOX), "X": TABLE, **words}
    with pytest.raises(ParameterError, match=message):
        reconstruct(**words)


def test_bounds_are_needed():
    with pytest.raises(MissingBoundsError):
        reconstruct(Laplace(1.0), TABLE)
