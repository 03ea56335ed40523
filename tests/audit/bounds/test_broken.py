"""Mechanisms that break their promise are caught at default settings.

Each test states the epsilon claimed; a bound above it at confidence 0.999 shows the breach.
"""

import numpy as np
import pytest

from helpers.toy_samplers import FINE, ball_noise, float_laplace, grid, grid_laplace
from shoal.audit import epsilon_lower_bound

CLAIMED = 1.0


def test_half_the_noise():
    found = epsilon_lower_bound(grid_laplace(0.5, np.random.default_rng(0)), 0.0, 1.0)
    assert 1.8 < found.epsilon <= 2.0


def test_swapped_shares():
    """A count should get 0.8 and two sums 0.1 each; the shares are swapped, which spends 1.7."""
    rng = np.random.default_rng(1)

    def release(table, n):
        shares = {"count": 0.1, "sum": 0.8}
        noise = rng.laplace(size=(n, 3)) / [shares["count"], shares["sum"], shares["sum"]]
        return grid(np.array([len(table), *table.sum(axis=0)]) + noise, FINE)

    table = np.array([[1.0, 1.0], [0.5, 0.0]])
    found = epsilon_lower_bound(release, table, table[1:])
    assert CLAIMED < found.epsilon <= 1.7


def test_no_noise_on_zero_counts():
    rng = np.random.default_rng(2)

    def release(count, n):
        return np.where(count == 0, 0.0, count + np.round(rng.laplace(size=n)))

    assert epsilon_lower_bound(release, 0, 1).epsilon > 5


def test_no_noise_at_all():
    assert epsilon_lower_bound(lambda record, n: np.full(n, record), 0.0, 1.0).epsilon > 8


@pytest.mark.parametrize(
    ("first", "second"), [(0.0, 1.0), (1.0, 0.0), (0.1, 1.1), (0.25, 1.0), (2.0, 3.0)]
)
def test_naive_float_laplace(first, second):
    """Outputs near one record have low-order bits that the other cannot give (Mironov 2012)."""
    rng = np.random.default_rng(3)
    found = epsilon_lower_bound(float_laplace(1.0, rng), first, second)
    assert found.epsilon > 4 * CLAIMED
    rounded = epsilon_lower_bound(grid_laplace(1.0, rng, step=FINE), first, second)
    assert not rounded.exceeds(CLAIMED)


def test_naive_float_laplace_names_the_low_bits():
    found = epsilon_lower_bound(float_laplace(1.0, np.random.default_rng(4)), 0.0, 1.0)
    assert "lowest set bit" in found.event
    assert found.p_second.value == 0.0


def test_naive_float_noise_in_the_plane():
    rng = np.random.default_rng(5)
    naive = lambda record, n: np.asarray(record) + ball_noise(1.0, 2, n, rng)  # noqa: E731
    assert epsilon_lower_bound(naive, [0.0, 0.0], [1.0, 0.0]).exceeds(CLAIMED)


def test_a_bit_hidden_in_the_parity_of_two_columns():
    """Each column is a fair coin under both records: only both together tell."""
    rng = np.random.default_rng(6)

    def parity(bit, n):
        coin = rng.integers(0, 2, size=n)
        return np.column_stack([coin, coin ^ bit])

    assert epsilon_lower_bound(parity, 0, 1).epsilon > 5


def test_rare_leak_of_an_exact_value():
    """One report in 500 is the record itself."""
    rng = np.random.default_rng(7)

    def leak(record, n):
        noisy = record + rng.laplace(size=n) + 0.3 * rng.random(n)
        return np.where(rng.random(n) < 0.002, record, grid(noisy, FINE))

    assert epsilon_lower_bound(leak, 0.0, 1.0).exceeds(1.5)
