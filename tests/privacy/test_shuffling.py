"""What a shuffler adds to a local promise: the tables, both ways, and what is refused."""

import copy
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from helpers.shuffled_views import (
    blanket_delta,
    clone_delta,
    delta_of_batches,
    randomized_response,
)
from planted.plant import Bug, planted
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise, PlanarLaplace
from shoal.partitions import Axis, AxisGrids, Partitions
from shoal.privacy import (
    Adjacency,
    Guarantee,
    PrivacyUnit,
    amplify,
    amplify_drawn,
    local_epsilon_for,
    shuffling,
)
from shoal.privacy._shuffle_divergence import ShuffledView
from shoal.privacy.shuffling import smallest_batch
from shoal.schema import Place, Schema

DELTA = 1e-6
AXES = [Axis("interval", 0, 1, 0.0, 1.0), Axis("interval", 1, 2, 0.0, 1.0)]
COLORS = {1: 4, 2: 8, 4: 64, 8: 4096}
RESPONSE = {
    10**4: {1: 0.034, 2: 0.086, 4: 0.270},
    10**5: {1: 0.010, 2: 0.025, 4: 0.079, 8: 0.637},
    10**6: {1: 0.0028, 2: 0.0071, 4: 0.023, 8: 0.19},
}
ANY = {
    10**4: {1: 0.053, 2: 0.155, 4: 0.601},
    10**5: {1: 0.0153, 2: 0.0450, 4: 0.170, 8: 2.19},
    10**6: {1: 0.0043, 2: 0.0130, 4: 0.0493, 8: 0.444},
}


def amplified(local_epsilon, n, n_colors=None, delta=DELTA):
    return amplify(Guarantee("local", local_epsilon), n, delta, n_colors=n_colors).epsilon


def digits(value):
    """Count the decimals that a number of the table was rounded to."""
    return len(str(value).split(".")[1])


@pytest.mark.parametrize("n", RESPONSE)
def test_the_tables(n):
    for local_epsilon, expected in RESPONSE[n].items():
        found = amplified(float(local_epsilon), n, COLORS[local_epsilon])
        assert round(found, digits(expected)) == expected, (n, local_epsilon)
    for local_epsilon, expected in ANY[n].items():
        assert round(amplified(float(local_epsilon), n), digits(expected)) == expected


def test_two_rounds_are_two_smaller_batches():
    assert round(amplified(4.0, 40_000, 64), 3) == 0.129
    assert round(amplified(4.0, 30_000, 64), 3) == 0.150


@pytest.mark.parametrize("n_colors", [None, 2, 16])
def test_more_reports_and_smaller_local_epsilons_hide_more(n_colors):
    sizes = [1, 2, 5, 20, 100, 500, 3_000, 50_000]
    epsilons = [amplified(2.0, n, n_colors) for n in sizes]
    assert all(b <= a * (1 + 1e-4) for a, b in itertools.pairwise(epsilons))
    assert epsilons[-1] < 0.1 < epsilons[-3] < epsilons[0] == 2.0
    locals_ = [0.1, 0.3, 0.5, 1.0, 1.1, 2.0, 4.0, 6.0]
    epsilons = [amplified(local_epsilon, 2_000, n_colors) for local_epsilon in locals_]
    assert all(a < b for a, b in itertools.pairwise(epsilons))


def test_randomized_response_hides_better_than_any_mechanism():
    for n_colors in (2, 4, 64):
        assert amplified(3.0, 3_000, n_colors) <= amplified(3.0, 3_000)


def reached(epsilon, n, n_colors):
    """Return the exact delta of a bound at local epsilon ln 3."""
    ratio = Fraction(math.exp(epsilon))
    if n_colors is None:
        return clone_delta(Fraction(3), n, ratio)
    return blanket_delta(n_colors, Fraction(3), n, ratio)


@pytest.mark.parametrize(("n", "n_colors"), [(6, 3), (10, 2), (12, None)])
def test_epsilon_is_rounded_up(n, n_colors, monkeypatch):
    delta = 0.05
    epsilon = amplified(math.log(3), n, n_colors, delta)
    assert reached(epsilon, n, n_colors) <= delta < reached(epsilon * (1 - 3e-6), n, n_colors)

    honest = ShuffledView.delta
    shuffling._amplified.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(ShuffledView, "delta", lambda view, at: honest(view, at) * (1 - 1e-5))
        epsilon = amplified(math.log(3), n, n_colors, delta)
    shuffling._amplified.cache_clear()
    assert reached(epsilon, n, n_colors) > delta, "rounded down"


def test_the_promise_carries_its_batch():
    report = Guarantee("local", 4.0, seeded=True, reason="a test")
    promise = amplify(report, 100_000, DELTA, n_colors=64)
    assert (promise.notion, promise.delta, promise.adjacency) == (
        "shuffled",
        DELTA,
        Adjacency.SUBSTITUTE,
    )
    assert (promise.local_epsilon, promise.n_reports) == (4.0, 100_000)
    assert promise.seeded
    assert not promise.holds
    assert promise.reason == "a test"
    assert promise.to_local() == Guarantee(
        "local", 4.0, adjacency=Adjacency.SUBSTITUTE, seeded=True, reason="a test"
    )


def test_a_mechanism_knows_its_own_blanket():
    device = PartitionResponse(4.0, bounds=(0.0, 1.0))
    assert device.shuffled(100_000, DELTA).epsilon == amplified(4.0, 100_000, device.n_colors)
    assert device.shuffled(100_000, DELTA).holds
    assert not device.set_params(random_state=0).shuffled(100_000, DELTA).holds


def test_alone_a_report_keeps_its_pure_promise():
    promise = amplify(Guarantee("local", 2.0), 1, DELTA)
    assert (promise.epsilon, promise.delta) == (2.0, 0.0)
    assert amplify(Guarantee("local", 0.0), 100, DELTA).epsilon == 0.0
    assert amplify(Guarantee("local", 500.0), 100, DELTA).epsilon == 500.0


def test_huge_batches_are_counted():
    assert 0 < amplified(1.0, 2**53, 4) <= amplified(1.0, 10**9, 4) < 1e-4


@pytest.mark.parametrize(
    ("guarantee", "kwargs", "error", "message"),
    [
        (Guarantee("central", 1.0), {}, GuaranteeError, "only a pure local promise"),
        (Guarantee("metric", 1.0), {}, GuaranteeError, "to_local"),
        (Guarantee("local", 1.0, 1e-9), {}, GuaranteeError, "delta = 1e-09"),
        (Guarantee.none("x"), {}, GuaranteeError, "only a pure local promise"),
        (1.0, {}, ParameterError, "guarantee must be a Guarantee, got float"),
        (Guarantee("local", 1.0), {"n": 0}, ParameterError, "n must be"),
        (Guarantee("local", 1.0), {"n": 1.5}, ParameterError, "n must be"),
        (Guarantee("local", 1.0), {"delta": 0.0}, ParameterError, "delta must be"),
        (Guarantee("local", 1.0), {"delta": 1e-200}, ParameterError, "at least 1e-100"),
        (Guarantee("local", 1.0), {"n_colors": 1}, ParameterError, "n_colors must be"),
        (
            Guarantee("local", 1.0, privacy_unit=PrivacyUnit.user("person")),
            {"n_colors": 4},
            GuaranteeError,
            "leave out n_colors",
        ),
    ],
)
def test_refusals(guarantee, kwargs, error, message):
    with pytest.raises(error, match=message) as refused:
        amplify(guarantee, **{"n": 100, "delta": DELTA, **kwargs})
    assert "\n" not in str(refused.value)


def test_users_are_amplified_by_clones():
    user = PrivacyUnit.user("person")
    promise = amplify(Guarantee("local", 1.0, privacy_unit=user), 10_000, DELTA)
    assert promise.privacy_unit == user
    assert promise.epsilon == amplified(1.0, 10_000)


@pytest.mark.parametrize(
    ("epsilon", "n", "n_colors", "expected"),
    [
        (1.0, 10**5, None, 7.070),
        (1.0, 10**5, 64, 7.791),
        (0.1, 10**4, 2, 1.830),
        (1.0, 10**9, 64, 16.970),
        (0.5, 1, 4, 0.5),
    ],
)
def test_which_local_epsilon(epsilon, n, n_colors, expected):
    budget = local_epsilon_for(epsilon, n, DELTA, n_colors=n_colors)
    assert budget.epsilon == pytest.approx(expected, abs=1e-3)
    assert budget.n_colors == n_colors
    assert budget.guarantee.epsilon <= epsilon
    assert budget.guarantee.delta <= DELTA
    assert budget.guarantee.local_epsilon == budget.epsilon
    if n > 1:
        assert amplified(budget.epsilon * 1.001, n, n_colors) > epsilon
        assert amplified(budget.epsilon, n, n_colors) <= epsilon * (1 + 2e-6)


def test_the_best_number_of_colors():
    budgets = {g: local_epsilon_for(0.3, 300, DELTA, n_colors=g) for g in (2, 16, 256, 1024)}
    epsilons = [budget.epsilon for budget in budgets.values()]
    assert epsilons == sorted(epsilons)  # more colors hide better, so epsilon would not choose
    best = local_epsilon_for(0.3, 300, DELTA, n_colors="best")
    variances = {g: shuffling._variance(budget.epsilon, g) for g, budget in budgets.items()}
    assert shuffling._variance(best.epsilon, best.n_colors) <= min(variances.values())
    assert 16 <= best.n_colors <= 1024


@pytest.mark.parametrize(
    "kwargs",
    [{"epsilon": 0.0}, {"n": 0}, {"delta": 0.0}, {"delta": 1e-150}, {"n_colors": "most"}],
    ids=str,
)
def test_refusals_of_the_inverse(kwargs):
    with pytest.raises(ParameterError, match=next(iter(kwargs))):
        local_epsilon_for(**{"epsilon": 1.0, "n": 100, "delta": DELTA, **kwargs})


def test_a_promise_to_users_counts_users():
    """A thousand reports of two hundred users are two hundred bundles to hide among."""
    users = Guarantee("local", 2.0, privacy_unit=PrivacyUnit.user("id", max_rows=5))
    assert "at least 1,000 honest and independent users" in str(amplify(users, 1000, DELTA))
    assert "at least 1,000 honest and independent reports" in str(
        amplify(Guarantee("local", 2.0), 1000, DELTA)
    )


def test_fewer_colors_that_were_handed_out_are_not_forgotten():
    two, many = (Partitions([AxisGrids(AXES, 16, colors, cells=8)]) for colors in (2, 64))
    device = PartitionResponse(4.0, partitions=two).fit([[0.5, 0.5]])
    device.transform([[0.5, 0.5]])
    drawn = device.shuffled(100_000, DELTA)
    device.set_params(partitions=many)
    assert device.shuffled(100_000, DELTA) == drawn
    assert copy.deepcopy(device).shuffled(100_000, DELTA) == drawn
    device.fit([[0.5, 0.5]])
    assert device.shuffled(100_000, DELTA).epsilon < drawn.epsilon


@pytest.mark.parametrize("n_colors", [None, 2, 65536])
@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17])
def test_next_to_nothing_stays_what_it_is(epsilon, n_colors):
    local = Guarantee("local", epsilon)
    assert amplify(local, 1000, DELTA, n_colors=n_colors).epsilon == epsilon
    budget = local_epsilon_for(epsilon, 1000, DELTA, n_colors=n_colors)
    assert budget.epsilon == budget.guarantee.epsilon == epsilon


def test_an_epsilon_beyond_use_needs_no_shuffler():
    assert local_epsilon_for(99.0, 3, DELTA).epsilon == 99.0


SPLITS = {  # of a device's reports, beside devices that hold a third color
    "one batch": lambda own: [(own, own, 2, 2, 2, 2, 2, 2)],
    "two batches": lambda own: [(own, *(2,) * 7)] * 2,
}


@pytest.mark.parametrize("split", SPLITS)
def test_two_reports_of_a_device_in_one_batch_or_in_two(split):
    """Against enumeration; and what one report is promised is too little for two."""
    matrix, report, delta = randomized_response(3, 3), Guarantee("local", math.log(3)), 0.05
    first, second = (SPLITS[split](own) for own in (0, 1))

    def true_delta(promise):
        return float(delta_of_batches(matrix, first, second, Fraction(math.exp(promise.epsilon))))

    two = amplify(report, 8, delta, n_colors=3, reports_per_device=2)
    assert two.local_epsilon == 2 * report.epsilon > two.epsilon
    assert true_delta(two) <= delta == two.delta
    assert true_delta(amplify(report, 8, delta, n_colors=3)) > delta


@pytest.mark.parametrize("reports", [2, 3, 10])
def test_reports_of_a_device_add_up(reports):
    report = Guarantee("local", 4.0)
    every = amplify(report, 100_000, DELTA, n_colors=64, reports_per_device=reports)
    one = amplify(report, 100_000, DELTA, n_colors=64)
    assert reports * one.epsilon < every.epsilon < 1.2 * reports * one.epsilon
    assert (every.delta, every.local_epsilon, every.n_reports) == (DELTA, 4.0 * reports, 100_000)
    assert f"for all {reports} reports of a device together" in str(every)
    assert "one a device" not in str(every)
    assert "one a device" in str(one)


def test_reports_beyond_use_keep_their_local_sum():
    every = amplify(Guarantee("local", 4.0), 100, DELTA, n_colors=64, reports_per_device=1000)
    assert (every.epsilon, every.delta, every.local_epsilon) == (4000.0, 0.0, 4000.0)


def test_users_count_their_reports_by_themselves():
    users = Guarantee("local", 1.0, privacy_unit=PrivacyUnit.user("person", max_rows=3))
    with pytest.raises(GuaranteeError, match="leave out reports_per_device"):
        amplify(users, 1000, DELTA, reports_per_device=2)


def test_any_mechanism_says_what_its_batch_is_worth():
    square = ([0.0, 0.0], [1.0, 1.0])
    assert Piecewise(2.0, bounds=square).shuffled(10_000, DELTA).epsilon == amplified(2.0, 10_000)
    metric = Laplace(1.0, bounds=square).shuffled(10_000, DELTA)
    assert metric.local_epsilon == pytest.approx(math.sqrt(2), rel=1e-12)
    assert metric.local_epsilon >= math.sqrt(2)
    assert metric.epsilon == amplified(metric.local_epsilon, 10_000)


def test_a_place_is_as_wide_as_its_box_on_the_ground():
    """Its columns have the disc's diameter as their unit, its promise has kilometers."""
    home = Place("home", center=(24.94, 60.17), radius=50.0, missing="refuse")
    device = PlanarLaplace(0.1, schema=Schema([home]))
    assert 0.1 * 99 * math.sqrt(2) < device.local_guarantee_.epsilon < 0.1 * 100 * math.sqrt(2)


SHARES = (2.0**-16, 0.01, 0.3, 0.4, 0.5, 0.97)


@pytest.mark.parametrize("share", SHARES)
def test_the_smallest_batch_is_the_quantile_of_the_binomial(share):
    for n, failure in itertools.product(
        (1, 2, 7, 100, 500, 10**5, 10**9), (0.3, 1e-3, 1e-8, 1e-40)
    ):
        size = smallest_batch(n, share, failure)
        # P(1 + Bin(n - 1, share) < size), which scipy has to about ten digits
        assert 1 <= size <= n
        assert binom.cdf(size - 2, n - 1, share) <= failure * (1 + 1e-9), (n, failure)
        if size < n:
            assert binom.cdf(size - 1, n - 1, share) > failure * (1 - 1e-6), (n, failure)


@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(3, 8), Fraction(1, 2)])
@pytest.mark.parametrize("n", [1, 2, 13, 60])
def test_the_smallest_batch_in_whole_numbers(n, share):
    """Where a tail is what is asked for, to the last bit, the size may be one smaller."""
    exact = [math.comb(n - 1, k) * share**k * (1 - share) ** (n - 1 - k) for k in range(n)]
    tails = list(itertools.accumulate(exact))
    for failure in (0.9, 0.2, 2.0**-12, 1e-9, float(tails[0]), float(tails[n // 2])):
        if not 1e-100 <= failure < 1:
            continue
        size = smallest_batch(n, float(share), failure)
        assert size == 1 or tails[size - 2] <= Fraction(failure)
        assert tails[size - 1] > Fraction(failure) * (1 - Fraction(1, 10**6))


def holds_drawn_batches_to_their_size(_subject=None):
    """Draw batches: they are smaller as often as is stated, and one more would be too many."""
    rng = np.random.default_rng(0)
    for share, failure in itertools.product((0.05, 0.4), (0.2, 0.01)):
        sizes = 1 + rng.binomial(499, share, 2000)
        smaller = (sizes < smallest_batch(500, share, failure)).sum()
        # A false alarm in 10^6 seeds, and this one is fixed.
        assert smaller <= binom.ppf(1 - 1e-6, 2000, failure)
        one_more = binom.cdf(smallest_batch(500, share, failure) - 1, 499, share)
        assert one_more > failure


def test_drawn_batches_are_smaller_as_often_as_stated():
    holds_drawn_batches_to_their_size()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1 + (fewest_successes(n - 1, share, failure) if share else 0)", "round(n * share)"),
        (
            "fewest_successes(n - 1, share, failure) if",
            "fewest_successes(n, share, failure) + 1 if",
        ),
        ("fewest_successes(n - 1, share, failure) if", "fewest_successes(n - 1, share, 0.5) if"),
    ],
    ids=["the mean", "one too many", "the median"],
)
def test_a_size_that_is_too_large_is_noticed(right, wrong):
    bug = Bug(wrong, shuffling.__name__, right, wrong, holds_drawn_batches_to_their_size, None)
    with planted(bug), pytest.raises(AssertionError):
        bug.red(bug.subject)


@pytest.mark.parametrize("n_colors", [3, None])
def test_a_drawn_batch_keeps_its_promise_on_average(n_colors):
    """Delta of a person is the mean over sizes of the exact ones, at the promised epsilon."""
    n, share, delta = 16, 0.75, 0.05
    promise = amplify_drawn(
        Guarantee("local", math.log(3)), n, delta, share=share, n_colors=n_colors
    )
    assert promise.epsilon < math.log(3)
    assert promise.delta == delta

    def mean_delta(epsilon):
        sizes = binom.pmf(np.arange(n), n - 1, share)
        return sum(p * reached(epsilon, 1 + k, n_colors) for k, p in enumerate(sizes))

    assert float(mean_delta(promise.epsilon)) <= delta
    planned = amplify(Guarantee("local", math.log(3)), round(n * share), delta, n_colors=n_colors)
    assert promise.epsilon > planned.epsilon
    assert promise.n_reports < n * share


@pytest.mark.parametrize("n", [2, 500, 100_000])
@pytest.mark.parametrize("share", SHARES)
def test_before_the_draw_less_is_promised_than_after(n, share):
    report = Guarantee("local", 4.0)
    promise = amplify_drawn(report, n, DELTA, share=share, n_colors=64)
    fewest = smallest_batch(n, share, DELTA / 16)
    for size in {fewest, min(fewest + 5, n), max(fewest, int(share * n))}:
        assert amplify(report, size, DELTA, n_colors=64).epsilon <= promise.epsilon
    assert promise.n_reports == fewest


@pytest.mark.parametrize(
    ("kwargs", "parameter"),
    [
        ({"n": 0}, "n"),
        ({"share": 1.0}, "share"),
        ({"share": -0.1}, "share"),
        ({"share": float("nan")}, "share"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1e-99}, "delta"),
        ({"n_colors": 1}, "n_colors"),
    ],
    ids=str,
)
def test_refusals_of_a_draw(kwargs, parameter):
    given = {"n": 100, "delta": DELTA, "share": 0.4, **kwargs}
    with pytest.raises(ParameterError) as refused:
        amplify_drawn(Guarantee("local", 1.0), **given)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize("failure", [0.0, 1e-101, 1.0])
def test_a_failure_is_a_probability_that_can_be_counted(failure):
    with pytest.raises(ParameterError) as refused:
        smallest_batch(100, 0.4, failure)
    assert refused.value.parameter == "failure"
