"""What is promised or spent is never shown as less than it is, what is left never as more."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal._numbers import SLACK, rounded_down, rounded_up
from shoal.privacy import Guarantee, Ledger, PureEvent

NUMBERS = st.floats(min_value=1e-300, max_value=1e300)


@given(NUMBERS, st.integers(1, 9))
def test_a_promise_is_rounded_up_and_a_rest_down(value: float, digits: int) -> None:
    up, down = Fraction(rounded_up(value, digits)), Fraction(rounded_down(value, digits))
    exact, slack = Fraction(value), Fraction(SLACK)
    assert exact * (1 - slack) <= up <= exact * (1 + Fraction(10) ** (1 - digits))
    assert exact * (1 - Fraction(10) ** (1 - digits)) <= down <= exact * (1 + slack)


@pytest.mark.parametrize("text", ["1", "0.1", "2.5", "1e-06", "0.123456", "1e+09", "3e-12"])
def test_a_number_that_fits_stays_as_it_is(text: str) -> None:
    assert rounded_up(float(text)) == rounded_down(float(text)) == text


def test_a_sum_of_shares_is_no_more_than_the_whole() -> None:
    assert rounded_up(0.1 + 0.2) == "0.3"
    assert rounded_up(float(3 * Fraction(0.1))) == "0.3"


@pytest.mark.parametrize("notion", ["central", "local", "metric"])
def test_no_sentence_promises_more_than_what_holds(notion: str) -> None:
    delta = {} if notion == "metric" else {"delta": 1.0000049e-6}
    sentence = str(Guarantee(notion, 1.0000049, **delta))  # type: ignore[arg-type]
    assert "epsilon = 1.00001" in sentence
    assert ("delta = 1.00001e-06" in sentence) == bool(delta)
    assert "plus at most 1e-06" not in sentence


def test_a_ledger_rounds_what_is_spent_up_and_what_is_left_down() -> None:
    ledger = Ledger(epsilon=2.0)
    entry = ledger.spend(PureEvent(epsilon=1.0000049))
    assert entry.price == "epsilon 1.00001"
    assert "left for a pure spend: 0.999995" in str(ledger)
    assert Decimal("0.999995") <= Decimal(ledger.remaining)
