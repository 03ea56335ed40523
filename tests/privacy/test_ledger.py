"""The ledger's rules: what adds up, what is refused, and what a copy is."""

import copy
import math
import multiprocessing
import pickle
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from shoal.exceptions import (
    BudgetExceededError,
    GuaranteeError,
    LedgerFileError,
    LedgerPicklingError,
    ParameterError,
    UnknownEventError,
)
from shoal.privacy import (
    Adjacency,
    ApproximateEvent,
    Composed,
    Event,
    GDPEvent,
    Ledger,
    MetricEvent,
    PrivacyUnit,
    PureEvent,
    Repeated,
    ShuffledEvent,
    epsilon_to_gdp,
)
from shoal.privacy._ledger_file import LedgerFile
from shoal.privacy.conversions import epsilon_to_zcdp, pure_to_zcdp, zcdp_to_epsilon

SUBSTITUTE = Adjacency.SUBSTITUTE


def pure(epsilon: float) -> PureEvent:
    return PureEvent(epsilon=epsilon)


def gaussian(rho: float) -> GDPEvent:
    return GDPEvent(mu=math.sqrt(2 * rho))


@pytest.fixture(params=["memory", "file"])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    """Make ledgers of both kinds; every rule holds for both."""
    numbers = iter(range(1000))

    def make(**limits: object) -> Ledger:
        path = None if request.param == "memory" else tmp_path / f"{next(numbers)}.ledger"
        return Ledger(path, **limits)  # type: ignore[arg-type]

    return make


class TestPure:
    def test_ten_tenths_fit_and_an_eleventh_does_not(self, new) -> None:
        ledger = new(epsilon=1.0)
        for _ in range(10):
            ledger.spend(pure(0.1))
        for epsilon in (0.1, 1e-9):
            with pytest.raises(BudgetExceededError):
                ledger.spend(pure(epsilon))
        assert len(ledger) == 10
        assert ledger.spent[0].epsilon == pytest.approx(1.0)
        assert ledger.remaining == 0

    @pytest.mark.parametrize("parts", [3, 7, 12, 49, 1000])
    def test_shares_of_the_limit_fit(self, parts: int) -> None:
        ledger = Ledger(epsilon=0.7)
        for _ in range(parts):
            ledger.spend(pure(0.7 / parts))
        with pytest.raises(BudgetExceededError):
            ledger.spend(pure(0.7 / parts))

    def test_the_slack_is_not_a_source_of_budget(self) -> None:
        ledger = Ledger(epsilon=1.0)
        ledger.spend(pure(1.0))
        ledger.spend(pure(0.6e-12))
        with pytest.raises(BudgetExceededError):
            ledger.spend(pure(0.6e-12))
        assert ledger.spent[0].epsilon <= 1 + 1e-12

    def test_tiny_spends_are_not_lost_beside_large_ones(self) -> None:
        ledger = Ledger(epsilon=1.0)
        ledger.spend(pure(1 - 1e-10))
        ledger.spend(Repeated(event=pure(1e-17), times=9_000_000))
        with pytest.raises(BudgetExceededError):
            ledger.spend(Repeated(event=pure(1e-17), times=2_000_000))

    def test_a_refusal_says_all_numbers_and_records_nothing(self, new) -> None:
        ledger = new(epsilon=1.0)
        ledger.spend(pure(0.75))
        with pytest.raises(
            BudgetExceededError, match=r"asked epsilon = 0\.5, .* 0\.75 of 1, left 0\.25"
        ):
            ledger.spend(pure(0.5))
        assert len(ledger) == 1
        ledger.spend(pure(ledger.remaining))
        assert ledger.remaining == 0

    def test_events_without_pure_epsilon_need_a_delta(self, new) -> None:
        ledger = new(epsilon=1.0)
        for event in (
            gaussian(1e-9),
            ApproximateEvent(epsilon=0.1, delta=1e-9),
        ):
            with pytest.raises(BudgetExceededError, match="delta is 0"):
                ledger.spend(event)
        assert len(ledger) == 0


class TestWithDelta:
    def test_renyi_divergences_add_up(self, new) -> None:
        ledger = new(epsilon=1.0, delta=1e-6, gdp_delta=0.0)
        rho = epsilon_to_zcdp(1.0, 1e-6)
        for _ in range(4):
            ledger.spend(gaussian(rho / 4))
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (1.0, 1e-6)
        assert ledger.used == pytest.approx(1.0)
        with pytest.raises(BudgetExceededError, match="asked mu"):
            ledger.spend(gaussian(rho / 1000))

    def test_gaussian_noise_with_a_delta_of_its_own_is_asked_in_rho(self, new) -> None:
        event = Composed(events=[GDPEvent(mu=2.0), ApproximateEvent(epsilon=0.1, delta=1e-9)])
        with pytest.raises(BudgetExceededError, match=r"asked rho = 2\.0"):
            new(epsilon=1.0, delta=1e-6).spend(event)

    def test_squares_of_mu_add_up(self, new) -> None:
        ledger = new(epsilon=1.0, delta=1e-6, gdp_delta=1e-6)
        mu = epsilon_to_gdp(1.0, 1e-6)
        for _ in range(2):
            ledger.spend(GDPEvent(mu=mu / 2))
            ledger.spend(gaussian(mu**2 / 8))
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (1.0, 1e-6)
        assert ledger.used == pytest.approx(1.0)
        with pytest.raises(BudgetExceededError, match=r"asked mu = 0\.001"):
            ledger.spend(GDPEvent(mu=0.001))
        both = new(epsilon=1.0, delta=1e-6, approximate_delta=1e-7, gdp_delta=9e-7)
        with pytest.raises(BudgetExceededError, match="has no mu"):
            both.spend(ApproximateEvent(epsilon=1.5, delta=1e-9))

    def test_exact_gaussian_accounting_goes_further_than_zcdp(self) -> None:
        mu = epsilon_to_gdp(1.0, 1e-6)
        assert mu**2 / 2 > 1.12 * epsilon_to_zcdp(1.0, 1e-6)
        Ledger(epsilon=1.0, delta=1e-6).spend(GDPEvent(mu=mu))
        with pytest.raises(BudgetExceededError):
            Ledger(epsilon=1.0, delta=1e-6, gdp_delta=0.0).spend(GDPEvent(mu=mu))

    def test_a_first_gaussian_spend_leaves_a_tenth_of_delta_to_renyi(self, new) -> None:
        # Pure 1 costs a mu of 1.23 and would be refused beside Gaussian noise.
        ledger = new(epsilon=3.0, delta=1e-6)
        ledger.spend(GDPEvent(mu=epsilon_to_gdp(1.0, 1e-6)))
        ledger.spend(pure(1.0))
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (3.0, 1e-6)
        only = new(epsilon=3.0, delta=1e-6, gdp_delta=1e-6)
        only.spend(GDPEvent(mu=epsilon_to_gdp(1.0, 1e-6)))
        with pytest.raises(BudgetExceededError):
            only.spend(pure(1.0))
        # Gaussian noise alone has nine tenths of delta, which is hardly less.
        rest = new(epsilon=1.0, delta=1e-6)
        rest.spend(GDPEvent(mu=0.1))
        left = math.sqrt(epsilon_to_gdp(1.0, 9e-7) ** 2 - 0.01)
        with pytest.raises(BudgetExceededError):
            rest.spend(GDPEvent(mu=left * 1.001))
        rest.spend(GDPEvent(mu=left))

    def test_many_small_pure_spends_go_further_than_adding(self) -> None:
        ledger = Ledger(epsilon=1.0, delta=1e-6)
        for _ in range(300):
            ledger.spend(pure(0.01))
        assert zcdp_to_epsilon(300 * pure_to_zcdp(0.01), 0.5e-6) < 1.0
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (1.0, 1e-6), "the limit"
        assert 0.5 < ledger.used < 1.0

    def test_pure_and_gaussian_spends_mix(self, new) -> None:
        # Adding pure 0.5 and Gaussian 0.65 would fit; pricing both by rho alone would not.
        ledger = new(epsilon=2.0, delta=1e-6)
        ledger.spend(pure(0.5))
        ledger.spend(gaussian(0.01))
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (2.0, 1e-6), "the limit"
        assert 0 < ledger.used < 1
        assert zcdp_to_epsilon(0.01 + pure_to_zcdp(0.5), 0.5e-6) > 2.0

    def test_few_large_pure_spends_still_add(self) -> None:
        ledger = Ledger(epsilon=1.0, delta=1e-6)
        ledger.spend(pure(0.5))
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (0.5, 0.0)
        ledger.spend(pure(ledger.remaining))
        with pytest.raises(BudgetExceededError):
            ledger.spend(pure(0.1))

    def test_remaining_is_what_a_pure_spend_may_still_take(self) -> None:
        ledger = Ledger(epsilon=1.0, delta=1e-6, gdp_delta=0.0)
        ledger.spend(gaussian(epsilon_to_zcdp(1.0, 1e-6) / 2))
        left = ledger.remaining
        assert 0 < left < 1
        with pytest.raises(BudgetExceededError):
            ledger.spend(pure(left * 1.001))
        ledger.spend(pure(left))
        assert ledger.remaining < 1e-6

    def test_the_whole_budget_fits_in_one_event_of_either_kind(self, new) -> None:
        new(epsilon=1.0, delta=1e-6).spend(ApproximateEvent(epsilon=1.0, delta=1e-6))
        new(epsilon=1.0, delta=1e-6).spend(GDPEvent(mu=epsilon_to_gdp(1.0, 1e-6)))
        new(epsilon=1.0, delta=1e-6).spend(pure(1.0))

    def test_the_first_spend_divides_delta(self) -> None:
        first_approximate = Ledger(epsilon=1.0, delta=1e-6)
        first_approximate.spend(ApproximateEvent(epsilon=0.1, delta=1e-7))
        with pytest.raises(BudgetExceededError, match="no pure epsilon"):
            first_approximate.spend(gaussian(1e-6))
        first_approximate.spend(ApproximateEvent(epsilon=0.1, delta=9e-7))

        first_gaussian = Ledger(epsilon=1.0, delta=1e-6)
        first_gaussian.spend(gaussian(1e-6))
        with pytest.raises(BudgetExceededError, match="that is for events with a delta"):
            first_gaussian.spend(ApproximateEvent(epsilon=0.1, delta=1e-9))

        first_pure = Ledger(epsilon=1.0, delta=1e-6)
        first_pure.spend(pure(1e-3))
        first_pure.spend(ApproximateEvent(epsilon=0.1, delta=5e-7))
        first_pure.spend(gaussian(1e-4))
        with pytest.raises(BudgetExceededError, match="asked delta"):
            first_pure.spend(ApproximateEvent(epsilon=0.1, delta=1e-8))

    def test_remaining_beside_gaussian_noise_can_be_spent(self) -> None:
        for share in (None, 1e-6):
            ledger = Ledger(epsilon=4.0, delta=1e-6, gdp_delta=share)
            ledger.spend(GDPEvent(mu=0.5))
            left = ledger.remaining
            with pytest.raises(BudgetExceededError):
                ledger.spend(pure(left * 1.001))
            ledger.spend(pure(left))

    def test_a_declared_division_is_kept(self, new) -> None:
        ledger = new(epsilon=1.0, delta=1e-6, approximate_delta=2e-7)
        ledger.spend(gaussian(1e-4))
        ledger.spend(ApproximateEvent(epsilon=0.1, delta=2e-7))
        with pytest.raises(BudgetExceededError, match="2e-07"):
            ledger.spend(ApproximateEvent(epsilon=0.01, delta=1e-9))
        assert (ledger.spent[0].epsilon, ledger.spent[0].delta) == (1.0, 1e-6), "the limit"

    def test_total_delta_never_passes_the_limit(self) -> None:
        ledger = Ledger(epsilon=10.0, delta=1e-6)
        for _ in range(10):
            ledger.spend(ApproximateEvent(epsilon=0.1, delta=1e-7))
        with pytest.raises(BudgetExceededError):
            ledger.spend(ApproximateEvent(epsilon=0.1, delta=1e-12))


class TestCheck:
    """What ``spend`` would refuse, without spending."""

    def test_it_says_what_spend_would_and_records_nothing(self, new) -> None:
        ledger = new(epsilon=1.0)
        ledger.check(pure(1.0))
        ledger.check(pure(1.0))
        assert len(ledger) == 0
        ledger.spend(pure(0.75))
        ledger.check(pure(0.25))
        refusals = []
        for refuse in (ledger.check, ledger.spend):
            with pytest.raises(BudgetExceededError) as refused:
                refuse(pure(0.5))
            refusals.append(str(refused.value))
        assert refusals[0] == refusals[1]
        assert len(ledger) == 1

    def test_it_settles_nothing(self) -> None:
        """The first spend divides delta, not the first question."""
        ledger = Ledger(epsilon=1.0, delta=1e-6)
        ledger.check(gaussian(0.001))
        event = ApproximateEvent(epsilon=0.5, delta=1e-6)
        ledger.spend(event)

    def test_every_reading(self, new) -> None:
        ledger = new(epsilon=1.0, metric_epsilon=1.0, metric_unit="km")
        ledger.check(MetricEvent(epsilon=1.0, unit="km"), notion="metric")
        ledger.check(pure(1.0), notion="local", adjacency=SUBSTITUTE)
        with pytest.raises(BudgetExceededError):
            ledger.check(MetricEvent(epsilon=2.0, unit="km"), notion="metric")
        with pytest.raises(GuaranteeError):
            ledger.check(pure(0.5), adjacency=SUBSTITUTE)
        for kwargs in ({"notion": "none"}, {"adjacency": "substitute"}):
            with pytest.raises(ParameterError):
                ledger.check(pure(0.5), **kwargs)
        with pytest.raises(ParameterError):
            ledger.check(0.5)
        assert len(ledger) == 0

    def test_a_file_that_can_only_be_read_cannot_pay(self, tmp_path: Path, monkeypatch) -> None:
        ledger, locked = Ledger(tmp_path / "l", epsilon=1.0), LedgerFile.locked

        def read_only(self, *, write: bool, create: bool = False):
            if write:
                raise LedgerFileError("read only")
            return locked(self, write=write, create=create)

        monkeypatch.setattr(LedgerFile, "locked", read_only)
        with pytest.raises(LedgerFileError):
            ledger.check(pure(0.5))

    def test_what_others_spent_counts(self, tmp_path: Path) -> None:
        one, two = Ledger(tmp_path / "l", epsilon=1.0), Ledger(tmp_path / "l")
        one.check(pure(0.8))
        two.spend(pure(0.5))
        with pytest.raises(BudgetExceededError):
            one.check(pure(0.8))


class TestReadings:
    def test_add_remove_counts_twice_under_substitution(self, new) -> None:
        ledger = new(epsilon=1.0, adjacency=SUBSTITUTE)
        ledger.spend(pure(0.25))
        assert ledger.spent[0].epsilon == 0.5
        ledger.spend(pure(0.5), adjacency=SUBSTITUTE)
        assert (ledger.remaining, ledger.spent[0].adjacency) == (0.0, SUBSTITUTE)

    def test_the_other_prices_under_substitution(self) -> None:
        ledger = Ledger(epsilon=5.0, delta=1e-5, adjacency=SUBSTITUTE)
        once = Ledger(epsilon=5.0, delta=1e-5)
        ledger.spend(gaussian(0.01))
        once.spend(gaussian(0.04))
        assert ledger.used == pytest.approx(once.used)
        most = (1 + math.e) * 1e-6
        for delta, fits in ((most * 1.001, True), (most * 0.999, False)):
            ledger = Ledger(epsilon=5.0, delta=delta, adjacency=SUBSTITUTE)
            if fits:
                ledger.spend(ApproximateEvent(epsilon=1.0, delta=1e-6))
                assert ledger.spent[0].delta == delta, "the constant that the proof bounds it by"
            else:
                with pytest.raises(BudgetExceededError):
                    ledger.spend(ApproximateEvent(epsilon=1.0, delta=1e-6))

    def test_substitution_in_an_add_remove_ledger_is_refused(self, new) -> None:
        ledger = new(epsilon=1.0)
        with pytest.raises(GuaranteeError, match="substitution"):
            ledger.spend(pure(0.1), adjacency=SUBSTITUTE)
        assert len(ledger) == 0

    @pytest.mark.parametrize("adjacency", list(Adjacency))
    def test_local_spends_add_up_as_they_are(self, new, adjacency: Adjacency) -> None:
        ledger = new(epsilon=1.0, adjacency=adjacency)
        for one in Adjacency:
            ledger.spend(pure(0.25), adjacency=one, notion="local")
        assert [(g.epsilon, g.notion) for g in ledger.spent] == [(0.5, "local")]
        ledger.spend(pure(0.25), adjacency=adjacency)
        assert [(g.epsilon, g.notion) for g in ledger.spent] == [(0.25, "central"), (0.5, "local")]
        assert ledger.remaining == 0.25, "they share the limit"

    def test_metric_spends_are_kept_apart(self, new) -> None:
        ledger = new(epsilon=1.0, metric_epsilon=2.0, metric_unit="km")
        ledger.spend(MetricEvent(epsilon=1.5, unit="km"), notion="metric")
        ledger.spend(pure(1.0))
        with pytest.raises(BudgetExceededError, match=r"1 per km, spent 1\.5 of 2, left 0\.5"):
            ledger.spend(MetricEvent(epsilon=1.0, unit="km"))
        assert [(g.notion, g.epsilon) for g in ledger.spent] == [("central", 1.0), ("metric", 1.5)]
        assert ledger.spent[1].unit == "km"
        assert [entry.notion for entry in ledger.entries] == ["metric", "central"]

    def test_slack_is_added_up_and_not_limited(self, new) -> None:
        ledger = new(epsilon=1.0, metric_epsilon=2000.0, metric_unit="km")
        slacks = [1e-4, 0.1, 0.3]
        for slack, unit in zip(slacks, ("km", "m", "km"), strict=True):
            ledger.spend(MetricEvent(epsilon=0.5, unit=unit, slack=slack))
        ledger.spend(Repeated(event=MetricEvent(epsilon=0.5, unit="km", slack=0.1), times=3))
        total = sum(map(Fraction, slacks)) + 3 * Fraction(0.1)
        (spent,) = ledger.spent
        assert (spent.epsilon, spent.unit) == (502.5, "km")
        assert total <= Fraction(spent.slack) < total * (1 + Fraction(1, 2**50))
        assert [entry.price for entry in ledger.entries][:2] == [
            "epsilon 0.5 per km, slack 0.0001",
            "epsilon 0.5 per m, slack 0.1",
        ]
        assert "e^(502.5 r + 0.701)" in str(ledger), "rounded up"

    def test_slack_is_that_of_a_group(self) -> None:
        person = PrivacyUnit.user("id", max_rows=3, enforced=False)
        ledger = Ledger(epsilon=1.0, metric_epsilon=9.0, metric_unit="m", privacy_unit=person)
        ledger.spend(MetricEvent(epsilon=1.0, unit="m", slack=0.25), adjacency=Adjacency.SUBSTITUTE)
        assert (ledger.spent[0].epsilon, ledger.spent[0].slack) == (3.0, 0.75)

    def test_slack_beyond_the_doubles_promises_nothing(self) -> None:
        ledger = Ledger(epsilon=1.0, metric_epsilon=9.0, metric_unit="m")
        for _ in range(2):
            ledger.spend(MetricEvent(epsilon=1.0, unit="m", slack=1.7e308))
        assert not ledger.spent[0].holds
        assert "no privacy guarantee" in str(ledger)

    def test_metric_spends_need_a_limit_of_their_own(self) -> None:
        with pytest.raises(BudgetExceededError, match="metric_epsilon"):
            Ledger(epsilon=1.0).spend(MetricEvent(epsilon=0.1, unit="km"))
        mixed = Composed(events=[MetricEvent(epsilon=0.1, unit="km"), pure(0.1)])
        with pytest.raises(GuaranteeError):
            Ledger(epsilon=1.0, metric_epsilon=1.0, metric_unit="km").spend(mixed)
        with pytest.raises(GuaranteeError, match="MetricEvent"):
            Ledger(epsilon=1.0, metric_epsilon=1.0, metric_unit="km").spend(
                pure(0.1), notion="metric"
            )


class TestWords:
    def test_the_table_says_what_was_spent_on_what(self, new) -> None:
        ledger = new(epsilon=2.0, delta=1e-6, metric_epsilon=1.0, metric_unit="km")
        assert "nothing was spent, 2 is left" in str(ledger)
        ledger.spend(PureEvent(epsilon=0.5, purpose="histogram"))
        ledger.spend(gaussian(0.01), purpose="sums\nand <b>")
        ledger.spend(MetricEvent(epsilon=0.5, unit="km"), purpose="report")
        text = str(ledger)
        for part in (
            "epsilon 0.5",
            "histogram",
            "mu 0.141422",
            "sums and <b>",
            "0.5 per km",
            "promised: central",
            "promised: metric",
            "used:",
        ):
            assert part in text
        assert "<b>" not in ledger._repr_html_()
        assert "&lt;b&gt;" in ledger._repr_html_()
        assert "epsilon=2" in repr(ledger)

    def test_entries_are_frozen_and_timed(self) -> None:
        ledger = Ledger(epsilon=1.0)
        entry = ledger.spend(pure(0.5), purpose="x")
        assert ledger.entries == (entry,)
        assert entry.time.endswith("+00:00")
        with pytest.raises(AttributeError):
            entry.purpose = "y"  # type: ignore[misc]


class TestBadInput:
    def test_limits(self) -> None:
        with pytest.raises(ParameterError, match="epsilon must be given"):
            Ledger()
        for limits in (
            {"epsilon": 0.0},
            {"epsilon": math.inf, "delta": 1e-6},
            {"epsilon": math.inf, "metric_epsilon": 1.0, "metric_unit": "m"},
            {"epsilon": -math.inf},
            {"epsilon": "1"},
            {"epsilon": True},
            {"epsilon": 1.0, "delta": 1.0},
            {"epsilon": 1.0, "delta": -0.1},
            {"epsilon": 1.0, "metric_epsilon": 0.0, "metric_unit": "m"},
            {"epsilon": 1.0, "metric_epsilon": 1.0},
            {"epsilon": 1.0, "metric_unit": "m"},
            {"epsilon": 1.0, "metric_epsilon": 1.0, "metric_unit": "3"},
            {"epsilon": 1.0, "privacy_unit": "user"},
            {"epsilon": 1.0, "privacy_unit": PrivacyUnit.user()},
            {"epsilon": 1.0, "table": 3},
            {"epsilon": 1.0, "who": 3},
            {"epsilon": 1.0, "output": 3},
            {"epsilon": 1.0, "adjacency": "add/remove"},
            {"epsilon": 1.0, "approximate_delta": 0.1},
            {"epsilon": 1.0, "delta": 1e-6, "gdp_delta": 2e-6},
            {"epsilon": 1.0, "delta": 1e-6, "approximate_delta": 6e-7, "gdp_delta": 5e-7},
            {"epsilon": 1.0, "path": 3},
            {"epsilon": 1.0, "path": "a\0b"},
        ):
            with pytest.raises(ParameterError):
                Ledger(**limits)  # type: ignore[arg-type]

    def test_spends(self, new) -> None:
        ledger = new(epsilon=1.0)
        bad = [
            (lambda: ledger.spend(0.1), ParameterError),
            (lambda: ledger.spend(pure(0.1), purpose=3), ParameterError),
            (lambda: ledger.spend(pure(0.1), notion="none"), ParameterError),
            (lambda: ledger.spend(pure(0.1), adjacency="add/remove"), ParameterError),
            (lambda: ledger.spend(pure(0.1), privacy_unit="user"), ParameterError),
            (lambda: ledger.spend(pure(0.1), seeded=1), ParameterError),
            (lambda: ledger.spend(pure(0.1), columns=[3]), ParameterError),
            (lambda: ledger.spend(Event()), UnknownEventError),
        ]
        for call, error in bad:
            with pytest.raises(error):
                call()
        assert len(ledger) == 0


class TestCopies:
    def test_copies_are_the_same_ledger(self, new) -> None:
        ledger = new(epsilon=1.0)
        assert copy.copy(ledger) is ledger
        assert copy.deepcopy({"deep": [ledger]})["deep"][0] is ledger
        assert ledger
        assert bool(ledger), "an empty ledger must not look like no ledger"

    def test_memory_refuses_pickling_in_one_line(self) -> None:
        ledger = Ledger(epsilon=1.0)
        with pytest.raises(LedgerPicklingError) as refusal:
            pickle.dumps(ledger)
        assert "Ledger(path=...)" in str(refusal.value)
        assert "\n" not in str(refusal.value)

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_memory_does_not_follow_a_fork(self) -> None:
        ledger = Ledger(epsilon=1.0)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()

        def child() -> None:
            try:
                ledger.spend(pure(1.0))
            except LedgerPicklingError as refusal:
                answers.put(str(refusal))

        process = context.Process(target=child)
        process.start()
        assert "fork" in answers.get(timeout=30)
        process.join(30)
        assert len(ledger) == 0


class TestThreads:
    def test_exactly_the_right_number_of_racing_spends_succeed(self, new) -> None:
        ledger = new(epsilon=1.0)
        barrier, outcomes = threading.Barrier(16), []

        def race() -> None:
            barrier.wait()
            for _ in range(4):
                try:
                    ledger.spend(pure(0.05))
                    outcomes.append(True)
                except BudgetExceededError:
                    outcomes.append(False)

        threads = [threading.Thread(target=race) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count(True) == 20
        assert len(ledger) == 20
        assert len(outcomes) == 64


def shuffled(epsilon: float = 0.1, n: int = 1000, delta: float = 1e-7) -> ShuffledEvent:
    return ShuffledEvent(epsilon=epsilon, delta=delta, local_epsilon=3.0, n=n)


class TestShuffled:
    def test_one_entry_counts_once_and_says_what_both_observers_learn(self, new) -> None:
        ledger = new(epsilon=1.0, delta=1e-6)
        entry = ledger.spend(shuffled(), purpose="homes")
        assert (entry.notion, entry.event) == ("shuffled", shuffled())
        assert entry.adjacency is SUBSTITUTE
        assert ledger.used == pytest.approx(0.1)
        ledger.spend(shuffled(n=500))
        ledger.spend(pure(0.2), notion="local")
        local, batch = ledger.spent
        assert (local.notion, local.epsilon) == ("local", 0.2)
        assert (batch.notion, batch.epsilon, batch.delta) == ("shuffled", 0.2, 1e-6)
        assert (batch.local_epsilon, batch.n_reports) == (6.0, 500)
        assert batch.adjacency is SUBSTITUTE
        text = str(ledger)
        assert "epsilon 0.1, delta 1e-07, local 3, n 1000" in text
        assert "only local epsilon = 6 holds" in text
        assert "local 3, n 500" in ledger._repr_html_()

    def test_it_survives_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.ledger"
        Ledger(path, epsilon=1.0, delta=1e-6).spend(shuffled())
        again = Ledger(path)
        assert again.entries[0].event == shuffled()
        assert again.spent[0].n_reports == 1000

    def test_limits(self, new) -> None:
        ledger = new(epsilon=0.15, delta=1e-6, approximate_delta=1e-6)
        ledger.spend(shuffled())
        with pytest.raises(BudgetExceededError, match=r"asked epsilon = 0\.1"):
            ledger.spend(shuffled())
        with pytest.raises(BudgetExceededError, match="the ledger's delta is 0"):
            new(epsilon=1.0).spend(shuffled())
        alone = new(epsilon=3.0)
        alone.spend(shuffled(3.0, n=1, delta=0.0))  # a batch of one gains nothing
        assert (alone.spent[0].epsilon, alone.spent[0].delta) == (3.0, 0.0)

    def test_rounding_up_leaves_a_total_that_can_be_said(self, new) -> None:
        unit = PrivacyUnit.user("id", max_rows=3, enforced=False)
        ledger = new(epsilon=9.0, delta=1e-6, privacy_unit=unit)
        alone = ShuffledEvent(epsilon=0.1, delta=0.0, local_epsilon=0.1, n=1)
        for _ in range(3):
            ledger.spend(alone)  # three times 0.1 three times, which is above 0.9 in floats
        (batch,) = ledger.spent
        assert batch.epsilon == batch.local_epsilon == pytest.approx(0.9)

    def test_it_is_never_mixed_with_other_events(self, new) -> None:
        ledger = new(epsilon=9.0, delta=1e-3, metric_epsilon=1.0, metric_unit="km")
        mixed = Composed(events=[shuffled(), pure(3.0)])
        for event, notion, message in [
            (mixed, "central", "shuffled events only"),
            (pure(0.1), "shuffled", "needs a ShuffledEvent"),
        ]:
            with pytest.raises(GuaranteeError, match=message):
                ledger.spend(event, notion=notion)
        assert len(ledger) == 0
        twice = Composed(events=[shuffled(), Repeated(event=shuffled(n=7), times=2)])
        ledger.spend(twice, notion="local")
        (batch,) = ledger.spent
        assert (batch.notion, batch.local_epsilon, batch.n_reports) == ("shuffled", 9.0, 7)
        assert batch.epsilon == pytest.approx(0.3)

    def test_a_group_pays_for_each(self, new) -> None:
        users = PrivacyUnit.user("person", max_rows=2, enforced=False)
        ledger = new(epsilon=1.0, delta=1e-6, privacy_unit=users)
        ledger.spend(shuffled())
        assert ledger.spent[0].epsilon == pytest.approx(0.2)
        assert ledger.spent[0].local_epsilon == 6.0

    def test_a_seed_takes_the_promise_away(self, new) -> None:
        ledger = new(epsilon=1.0, delta=1e-6)
        ledger.spend(shuffled(), seeded=True)
        assert not ledger.spent[0].holds
