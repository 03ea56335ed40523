import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.bounds._scores import (
    NO_BIT,
    LearnedRatio,
    Score,
    exact_value,
    fixed_scores,
    learned_scores,
    lowest_bits,
)
from shoal.audit.bounds._search import best_event


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value != 0))
def test_lowest_bit_is_the_one_exact_arithmetic_finds(value):
    exponent = int(lowest_bits(np.array([value]))[0])
    multiple = Fraction(value) / Fraction(2) ** exponent
    assert multiple.denominator == 1
    assert multiple.numerator % 2 == 1


def test_numbers_without_a_lowest_bit_share_one_exponent():
    assert lowest_bits(np.array([0.0, -0.0, math.inf, math.nan])).tolist() == [NO_BIT] * 4


def test_exact_values_keep_different_rows_apart():
    rows = np.random.default_rng(0).integers(0, 3, size=(2000, 4)).astype(float)
    labels = exact_value(rows)
    assert np.unique(labels).size == len(np.unique(rows, axis=0))
    same = (rows[:, None] == rows[None, :50]).all(axis=2)
    assert ((labels[:, None] == labels[None, :50]) == same).all()


def test_learned_ratio_orders_values_by_how_much_they_tell():
    first = np.repeat([0.0, 1.0, 2.0], [600, 300, 100])[:, None]
    second = np.repeat([0.0, 1.0, 2.0], [100, 300, 600])[:, None]
    ratio = LearnedRatio(exact_value, first, second)
    zero, one, two, unseen = ratio(np.array([[0.0], [1.0], [2.0], [9.0]]))
    assert zero == pytest.approx(np.log(600.5 / 100.5))
    assert two == pytest.approx(-zero)
    assert one == unseen == 0.0


def test_learned_ratio_of_values_never_seen_twice_is_flat():
    rng = np.random.default_rng(0)
    ratio = LearnedRatio(exact_value, rng.normal(size=(500, 1)), rng.normal(size=(500, 1)))
    assert np.unique(ratio(rng.normal(size=(100, 1)))).size == 1


def test_learned_scores_are_marked_and_named():
    rng = np.random.default_rng(0)
    for columns in (1, 3):
        outputs = rng.normal(size=(400, columns))
        for score in learned_scores(outputs, outputs[::-1]):
            assert score.learned
            assert score(outputs).shape == (400, len(score.names))


def test_nan_outputs_are_scored():
    outputs = np.array([[np.nan, 1.0], [np.inf, -np.inf], [0.0, 0.0]])
    for score in fixed_scores(None, np.zeros(2), np.ones(2), columns=2):
        assert not np.isnan(score(outputs)).any()


@pytest.mark.parametrize(
    ("first", "second"), [([0, 1], [-1]), ([-1], [0, 1]), ([1], [-1, 0]), ([-1, 0], [1])]
)
def test_the_search_finds_either_side_of_an_atom(first, second):
    """The value in the middle may belong to either side, so all four kinds of cut are needed."""
    of_first = np.resize(np.array(first, dtype=float), (1000, 1))
    of_second = np.resize(np.array(second, dtype=float), (1000, 1))
    score = Score(("output",), lambda outputs: outputs)
    event = best_event([score], of_first, of_second, delta=0.0, error=0.01)
    assert {event.hits(of_first), event.hits(of_second)} == {0, 1000}
    assert (event.hits(of_first) == 1000) == event.toward_first
