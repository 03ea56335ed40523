import numpy as np
import pytest
from scipy import stats

from helpers.cases import case
from helpers.noise_distributions import DRAWS, FALSE_ALARM
from helpers.random_sources import Scripted
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, uniform_integers


@pytest.mark.parametrize("below", [1, 2, 3, 10, 257])
def test_every_value_is_equally_likely(below):
    draws = uniform_integers(DRAWS, below=below, source=SeededSource(1))
    counts = np.bincount(draws, minlength=below)
    assert len(counts) == below
    assert stats.chisquare(counts).pvalue > FALSE_ALARM or below == 1


@pytest.mark.parametrize("below", [2**45 + 1, 2**62])
def test_large_ranges_are_uniform(below):
    draws = uniform_integers(DRAWS, below=below, source=SeededSource(2))
    assert draws.min() >= 0
    assert stats.kstest(draws / below, stats.uniform.cdf).pvalue > FALSE_ALARM


def test_words_of_an_incomplete_round_are_drawn_again():
    """2^64 = 1 modulo 3: the last word would make 0 more likely than 1 and 2."""
    source = Scripted(2**64 - 1, 2**64 - 1, 2**64 - 2)
    assert uniform_integers(1, below=3, source=source)[0] == (2**64 - 2) % 3
    assert not source.given


def test_shape():
    assert uniform_integers((3, 4), below=7, source=SeededSource(1)).shape == (3, 4)
    assert uniform_integers(0, below=7, source=SeededSource(1)).shape == (0,)


def test_bad_range():
    for below in [0, -1, 2**63, 2.5]:
        with case(below=below), pytest.raises(ParameterError, match="must be a whole number"):
            uniform_integers(1, below=below, source=SeededSource(1))
