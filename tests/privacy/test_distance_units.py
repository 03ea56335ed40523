"""Units of distance: what converts, by which exact factor, and what cannot be compared."""

from fractions import Fraction
from typing import Any

import pytest

from helpers.cases import case
from shoal.exceptions import BudgetExceededError, GuaranteeError, ParameterError
from shoal.privacy import (
    Guarantee,
    Ledger,
    MetricEvent,
    Repeated,
    convert_epsilon,
    parse_unit,
)

# Lines of their own in a table, digits that int refuses, digits of other scripts.
ODD = ["80\nm", "80\u2028m", "km\x1b[2J", "1" * 5000 + " m", "\uff18 m"]


def test_factors_are_exact():
    factors: list[tuple[str, str, Any]] = [
        ("m", "km", 1000),
        ("km", "m", Fraction(1, 1000)),
        ("80 m", "km", Fraction(25, 2)),
        ("km", "80 m", Fraction(2, 25)),
        ("mi", "ft", Fraction(1, 5280)),
        ("yd", "in", Fraction(1, 36)),
        ("nmi", "m", Fraction(1, 1852)),
        ("h", "min", Fraction(1, 60)),
        ("week", "day", Fraction(1, 7)),
        ("pixel", "16 pixel", 16),
        ("1.5e2 m", "m", Fraction(1, 150)),
    ]
    for unit, wanted, factor in factors:
        with case(unit=unit, wanted=wanted):
            assert convert_epsilon(Fraction(1), unit, wanted) == factor
            assert convert_epsilon(Fraction(factor), wanted, unit) == 1


def test_what_cannot_be_compared_is_refused():
    for unit, wanted in [("km", "year"), ("m", "s"), ("meters", "m"), ("KM", "km"), ("", "")]:
        with case(unit=unit, wanted=wanted), pytest.raises(GuaranteeError):
            convert_epsilon(Fraction(1), unit, wanted)


def test_bad_units():
    for text in ["3", "0 m", " m", "m ", "-1 m", "1e999 m", "8m", "a\nb", *ODD]:
        with case(text=text):
            for use in (parse_unit, lambda unit: MetricEvent(epsilon=1.0, unit=unit)):
                with pytest.raises(ParameterError):
                    use(text)
            with pytest.raises(ParameterError):
                Guarantee("metric", 1.0, unit=text)


def test_epsilons_beyond_a_float_are_refused_in_words():
    """They raised an OverflowError of Python's own."""
    ledger = Ledger(epsilon=1.0, metric_epsilon=1.0, metric_unit="km")
    for event in (
        MetricEvent(epsilon=1e308, unit="mm"),
        Repeated(event=MetricEvent(epsilon=1e308, unit="km"), times=100),
    ):
        with pytest.raises(BudgetExceededError, match="more than 1e300 per km"):
            ledger.spend(event)
        with pytest.raises(BudgetExceededError, match="allows no metric spend"):
            Ledger(epsilon=1.0).spend(event)
    assert len(ledger) == 0


def test_kilometers_and_then_meters_of_the_same_places():
    """1 per km and 1 per m were "2 of 2"; the truth is 1,001."""
    ledger = Ledger(epsilon=1.0, metric_epsilon=2000.0, metric_unit="km")
    ledger.spend(MetricEvent(epsilon=1.0, unit="km"))
    ledger.spend(MetricEvent(epsilon=1.0, unit="m"))
    assert ledger.spent[0].epsilon == 1001.0
    strict = Ledger(epsilon=1.0, metric_epsilon=2.0, metric_unit="km")
    strict.spend(MetricEvent(epsilon=1.0, unit="km"))
    with pytest.raises(BudgetExceededError, match="asked epsilon = 1000 per km"):
        strict.spend(MetricEvent(epsilon=1.0, unit="m"))
    for unit in ("year", ""):
        with pytest.raises(GuaranteeError, match=r"cannot be compared|needs the name"):
            strict.spend(MetricEvent(epsilon=1.0, unit=unit))
    assert len(strict) == 1


def test_sentences_name_the_unit():
    assert "per km" in str(Guarantee("metric", 1.0, unit="km"))
    assert "r times 80 m" in str(Guarantee("metric", 1.0, unit="80 m"))
