"""A limit that is raised: by a line of the ledger, with a name and a reason."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from shoal.exceptions import (
    BudgetExceededError,
    GuaranteeError,
    LedgerFileError,
    ParameterError,
)
from shoal.privacy import (
    ApproximateEvent,
    GDPEvent,
    Ledger,
    MetricEvent,
    PrivacyUnit,
    PureEvent,
    epsilon_to_gdp,
)
from shoal.privacy._ledger_file import Head

UNLIMITED = math.inf


def pure(epsilon: float) -> PureEvent:
    return PureEvent(epsilon=epsilon)


@pytest.fixture(params=["memory", "file"])
def new(request: pytest.FixtureRequest, tmp_path: Path):
    def make(**limits: object) -> Ledger:
        path = None if request.param == "memory" else tmp_path / "one.ledger"
        return Ledger(path, who="ada", **limits)  # type: ignore[arg-type]

    return make


def again(ledger: Ledger) -> Ledger:
    """Return what another process reads, or the same ledger if it is in memory."""
    return ledger if ledger.path is None else Ledger(ledger.path)


def test_what_was_spent_stays_counted(new) -> None:
    ledger = new(epsilon=1.0)
    ledger.spend(pure(1.0))
    with pytest.raises(BudgetExceededError) as refused:
        ledger.spend(pure(0.5))
    assert (refused.value.parameter, refused.value.code) == ("epsilon", "budget")
    change = ledger.set_limit(epsilon=1.5, reason="a second study")
    assert (change.who, change.reason, change.receipt) == ("ada", "a second study", ledger.receipt)
    ledger.spend(pure(0.5))
    found = again(ledger)
    assert (found.limits.epsilon, found.remaining, found.used) == (1.5, 0.0, 1.0)
    assert [one.epsilon for one in found.spent] == [1.5]
    assert found.limit_changes == (change,)
    assert len(found) == 2
    with pytest.raises(BudgetExceededError):
        found.spend(pure(0.1))


def test_the_text_shows_the_change_in_its_place(new) -> None:
    ledger = new(epsilon=1.0)
    ledger.spend(pure(1.0), purpose="first")
    ledger.set_limit(epsilon=2.0, reason="a second\nstudy")
    ledger.spend(pure(1.0), purpose="second")
    lines = str(again(ledger)).splitlines()
    rows = [line for line in lines if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert "ada" in rows[1]
    assert "from epsilon = 1 to epsilon = 2: a second study" in rows[1]
    assert "a second" in ledger._repr_html_()


@pytest.mark.parametrize(
    ("wanted", "parameter", "code"),
    [
        ({"epsilon": 0.5}, "epsilon", "range"),
        ({"epsilon": 1.0}, "epsilon", "range"),
        ({}, "epsilon", "range"),
        ({"delta": 1e-7}, "delta", "range"),
        ({"epsilon": UNLIMITED, "delta": 0.0}, "metric_epsilon", "unexpected"),
        ({"metric_epsilon": 0.5}, "metric_epsilon", "range"),
        ({"metric_epsilon": 2.0, "metric_unit": "m"}, "metric_unit", "conflict"),
        ({"epsilon": 2.0, "reason": " "}, "reason", "missing"),
    ],
)
def test_what_is_refused_changes_nothing(new, wanted, parameter, code) -> None:
    ledger = new(epsilon=1.0, delta=1e-6, metric_epsilon=1.0, metric_unit="km")
    before = ledger.receipt
    with pytest.raises(ParameterError) as refused:
        ledger.set_limit(**{"reason": "why", **wanted})
    assert (refused.value.parameter, refused.value.code) == (parameter, code)
    assert again(ledger).receipt == before
    assert ledger.limit_changes == ()


def test_a_change_needs_a_name() -> None:
    with pytest.raises(ParameterError) as refused:
        Ledger(epsilon=1.0, who="").set_limit(epsilon=2.0, reason="why")
    assert refused.value.parameter == "who"


def test_a_change_is_as_safe_as_a_spend(tmp_path: Path) -> None:
    path = tmp_path / "one.ledger"
    ledger = Ledger(path, epsilon=1.0, who="ada")
    ledger.set_limit(epsilon=2.0, reason="agreed")
    kept = path.read_bytes()
    for right, wrong in ((b"agreed", b"forged"), (b'"ada"', b'"bob"'), (b":2.0", b":9.0")):
        path.write_bytes(kept.replace(right, wrong))
        with pytest.raises(LedgerFileError):
            Ledger(path)
    path.write_bytes(kept)
    assert Ledger(path).limits.epsilon == 2.0


def test_a_ledger_opens_with_its_first_limit_and_with_the_raised_one(tmp_path: Path) -> None:
    path = tmp_path / "one.ledger"
    Ledger(path, epsilon=1.0, who="ada").set_limit(epsilon=2.0, reason="agreed")
    for epsilon in (1.0, 2.0, None):
        assert Ledger(path, epsilon=epsilon).limits.epsilon == 2.0
    with pytest.raises(LedgerFileError) as refused:
        Ledger(path, epsilon=3.0)
    assert (refused.value.parameter, refused.value.code) == ("limits", "conflict")


def test_gaussian_noise_needs_a_larger_delta_too(new) -> None:
    ledger = new(epsilon=1.0, delta=1e-6)
    ledger.spend(GDPEvent(mu=epsilon_to_gdp(1.0, 9e-7)))
    ledger.set_limit(epsilon=2.0, reason="one more")
    with pytest.raises(BudgetExceededError) as refused:
        ledger.spend(GDPEvent(mu=0.01))
    assert refused.value.parameter == "delta"
    ledger.spend(pure(0.5))
    ledger.set_limit(epsilon=2.5, delta=2e-6, reason="and one more")
    ledger.spend(GDPEvent(mu=epsilon_to_gdp(0.9, 9e-7)))
    (promise,) = again(ledger).spent
    assert (promise.epsilon, promise.delta) == (2.5, 2e-6)
    with pytest.raises(BudgetExceededError):
        ledger.spend(GDPEvent(mu=epsilon_to_gdp(0.9, 9e-7)))


def test_all_of_the_old_delta_stays_spent(new) -> None:
    ledger = new(epsilon=5.0, delta=1e-6)
    ledger.spend(ApproximateEvent(epsilon=0.5, delta=1e-7))
    ledger.set_limit(delta=1.5e-6, reason="more")
    with pytest.raises(BudgetExceededError):
        ledger.spend(ApproximateEvent(epsilon=0.5, delta=6e-7))
    ledger.spend(ApproximateEvent(epsilon=0.5, delta=5e-7))
    (promise,) = ledger.spent
    assert promise.epsilon == 1.0
    assert promise.delta == pytest.approx(1.5e-6)


def test_metric_limits_can_be_raised_and_added(new) -> None:
    ledger = new(epsilon=1.0)
    event = MetricEvent(epsilon=1.0, unit="km")
    with pytest.raises(BudgetExceededError) as refused:
        ledger.spend(event)
    assert refused.value.parameter == "metric_epsilon"
    ledger.set_limit(metric_epsilon=1.0, metric_unit="km", reason="reports too")
    ledger.spend(event)
    ledger.set_limit(metric_epsilon=2.0, reason="another report")
    again(ledger).spend(event)
    assert ledger.spent[0].epsilon == 2.0


def test_no_limit_takes_spends_of_every_kind(new) -> None:
    ledger = new(epsilon=UNLIMITED)
    for number in range(1, 4):
        ledger.spend(pure(100.0), seeded=number == 3)
    ledger.spend(GDPEvent(mu=epsilon_to_gdp(1.0, 1e-6)))
    ledger.spend(MetricEvent(epsilon=1.0, unit=""))
    found = again(ledger)
    central, metric = found.spent
    assert (central.epsilon, central.delta, central.seeded) == (pytest.approx(301.0), 1e-6, True)
    assert (metric.epsilon, metric.unit) == (1.0, "")
    assert (found.remaining, found.used) == (UNLIMITED, 0.0)
    assert "without a limit" in str(found)


def test_a_limit_set_later_covers_what_was_spent_before(new) -> None:
    ledger = new(epsilon=UNLIMITED)
    ledger.spend(pure(1.0))
    ledger.spend(GDPEvent(mu=epsilon_to_gdp(1.0, 1e-6)))
    with pytest.raises(BudgetExceededError) as refused:
        ledger.set_limit(epsilon=1.5, delta=1e-5, reason="late")
    assert refused.value.parameter == "epsilon"
    ledger.set_limit(epsilon=3.0, delta=1e-5, reason="late")
    found = again(ledger)
    assert found.remaining == pytest.approx(1.0)
    found.spend(pure(0.99))
    (promise,) = found.spent
    assert (promise.epsilon, promise.delta) == (pytest.approx(2.99), 1e-6)


def test_units_that_cannot_be_added_are_said_apart() -> None:
    ledger = Ledger(epsilon=UNLIMITED)
    ledger.spend(pure(1.0))
    ledger.spend(pure(1.0), privacy_unit=PrivacyUnit.user("person", max_rows=3))
    rows, people = ledger.spent
    assert (rows.epsilon, rows.privacy_unit.kind) == (3.0, "record")
    assert people.notion == "none"


def test_a_limit_is_no_other_setting(new) -> None:
    for wrong in ({"delta": 1e-6}, {"metric_epsilon": 1.0, "metric_unit": "m"}):
        with pytest.raises(ParameterError) as refused:
            new(epsilon=UNLIMITED, **wrong)
        assert refused.value.code == "unexpected"


def test_units_without_a_name_may_differ() -> None:
    ledger = Ledger(epsilon=UNLIMITED)
    for added_up in (False, True):
        ledger.spend(MetricEvent(epsilon=1.0, unit=""))
        assert [bool(promise.reason) for promise in ledger.spent] == [added_up]


def interrupted(steps: int) -> Callable[..., object]:
    """Return a trace that stops a call after so many lines of the package."""
    left = iter(range(steps))

    def trace(frame: FrameType, event: str, _: object) -> object:
        if "shoal/privacy" not in Path(frame.f_code.co_filename).as_posix():
            return None
        if event == "line" and next(left, None) is None:
            raise KeyboardInterrupt
        return trace

    return trace


def test_an_interrupt_raises_no_limit_in_silence(tmp_path: Path) -> None:
    kept = []
    for steps in range(5, 2000, 20):
        ledger = Ledger(tmp_path / f"{steps}.ledger", epsilon=1.0, who="ada")
        sys.settrace(interrupted(steps))
        try:
            ledger.set_limit(epsilon=3.0, reason="more")
        except KeyboardInterrupt:
            kept.append(ledger.limits.epsilon)
        else:
            break
        finally:
            sys.settrace(None)
        assert ledger.limits == again(ledger).limits
        assert ledger.limit_changes == again(ledger).limit_changes
    assert set(kept) == {1.0, 3.0}


@pytest.mark.parametrize(
    ("before", "name", "value"),
    [
        (UNLIMITED, "epsilon", "infinite"),
        (UNLIMITED, "table", "others"),
        (UNLIMITED, "adjacency", "substitute"),
        (1.0, "epsilon", "infinite"),
        (1.0, "epsilon", 0.5),
        (1.0, "table", "others"),
    ],
)
def test_a_line_changes_nothing_but_the_size(tmp_path: Path, before, name, value) -> None:
    path = tmp_path / "one.ledger"
    ledger = Ledger(path, epsilon=before, who="ada")
    ledger.set_limit(epsilon=4.0, reason="the board")
    header, line = (json.loads(text) for text in path.read_text().splitlines())
    line["limits"][name] = value
    head, content = Head(), b""
    for plain in (header, line):
        del plain["hash"], plain["salt"]
        written, head = head.after(plain)
        content += written
    path.write_bytes(content)
    Path(f"{path}.head").write_text(head.to_json())
    with pytest.raises(LedgerFileError) as damaged:
        Ledger(path)
    assert damaged.value.__cause__.parameter == name  # type: ignore[union-attr]


def test_metric_spends_on_users_count_for_their_records(new) -> None:
    ledger = new(epsilon=UNLIMITED)
    ledger.spend(MetricEvent(epsilon=1.0, unit="km", slack=0.5))
    user = PrivacyUnit.user("person", max_rows=2)
    ledger.spend(MetricEvent(epsilon=2.0, unit="km", slack=0.25), privacy_unit=user, seeded=True)
    record, no_user = ledger.spent
    assert (record.epsilon, record.slack, record.seeded) == (3.0, 0.75, True)
    assert no_user.notion == "none"  # how many rows they have is not said
    ledger.set_limit(epsilon=1.0, metric_epsilon=3.0, metric_unit="km", reason="the board")
    assert ledger.spent == (record,)


def test_a_limit_counts_no_users_whose_rows_nobody_limited(new) -> None:
    ledger = new(epsilon=UNLIMITED)
    user = PrivacyUnit.user("person", max_rows=2, enforced=False)
    ledger.spend(MetricEvent(epsilon=2.0, unit="km"), privacy_unit=user)
    with pytest.raises(GuaranteeError):
        ledger.set_limit(epsilon=1.0, metric_epsilon=3.0, metric_unit="km", reason="the board")
