"""What a whole fit draws costs its budget, in exact fractions; and how the budget is divided."""

import math
from fractions import Fraction

import numpy as np
import pytest

from helpers.draw_costs import draw_cost
from helpers.kmeans_problems import blobs
from helpers.noise_recorder import Draw, Statistic, recording
from shoal.cluster import DPKMeans
from shoal.cluster._budget import split_gaussian, split_pure
from shoal.cluster.kmeans._lloyd import lloyd_rounds
from shoal.privacy import Ledger, epsilon_to_gdp

X = blobs(90)
WIDE = np.random.default_rng(1).uniform(-1.0, 1.0, (90, 20))
DELTA = 1e-6
SETTINGS = {
    "grid": {"method": "grid"},
    "grid-two-steps": {"method": "grid", "n_public": 10**6},
    "grid-two-steps-gaussian": {"method": "grid", "n_public": 10**6, "delta": DELTA},
    "grid-private": {"method": "grid", "bounds": "private", "n_clusters": "private"},
    "grid-gaussian": {"method": "grid", "delta": DELTA, "bounds": "private"},
    "ball": {"method": "ball"},
    "ball-gaussian": {"method": "ball", "delta": DELTA, "n_clusters": "private"},
    "ball-settled": {"method": "ball", "delta": DELTA, "n_public": 10**6},
    "lloyd": {"method": "lloyd"},
    "lloyd-private": {"method": "lloyd", "bounds": "private", "n_clusters": "private"},
    "lloyd-analytic": {"method": "lloyd", "split": "analytic", "max_iter": 3},
    "lloyd-gaussian": {"method": "lloyd", "delta": DELTA, "split": "equal"},
    "kccm": {"method": "kccm"},
    "kccm-private": {"method": "kccm", "noise": "average", "n_clusters": "private"},
    "kccm-gaussian": {"method": "kccm", "noise": "gaussian", "delta": DELTA, "bounds": "private"},
}


def price(tape, contribution):
    """Exact cost of everything on a tape: what a person changes over what hides it."""
    total, statistic, first = Fraction(0), None, True
    for entry in tape.entries:
        if isinstance(entry, Statistic):
            statistic, first = entry, True
        elif isinstance(entry, Draw):
            total += draw_cost(entry, statistic, contribution, first=first)
            first = False
    return total


@pytest.mark.parametrize("name", SETTINGS)
def test_draws_cost_the_budget_and_not_an_ulp_more(name):
    kwargs = {"n_clusters": 3, "bounds": (-1.0, 1.0), "max_clusters": 5, **SETTINGS[name]}
    users = {"user_ids": np.arange(len(X)) // 2}
    weights = {"sample_weight": np.ones(len(X))}
    wide = [] if kwargs["method"] == "grid" else [(WIDE, {}, 1)]
    for records, given, contribution in [
        (X, {}, 1),
        (X, users, 2),
        (X, weights, 256),
        (X, {**users, **weights}, 512),
        *wide,
    ]:
        for epsilon in (0.1, 0.7, 1.9):
            model = DPKMeans(epsilon=epsilon, records_per_user=2, random_state=1, **kwargs)
            with recording() as tape:
                model.fit(records, **given)
            if "two-steps" in name:
                assert model.n_iter_ == 2
            approximate = model.guarantee_.delta > 0
            assert approximate == ("delta" in kwargs)
            budget = Fraction(epsilon_to_gdp(epsilon, DELTA) ** 2 if approximate else epsilon)
            paid = price(tape, contribution)
            assert budget * (1 - Fraction(1, 10**14)) <= paid <= budget


def test_ledger_says_what_the_shares_are_for(subtests):
    for kwargs, budgets in [
        ({}, "records 2%, clusters 98%"),
        ({"n_public": 90}, "clusters 100%"),
        ({"bounds": "private"}, "bounds 10%, records 2%, clusters 88%"),
        ({"n_clusters": "private"}, "records 2%, clusters 98%"),
        ({"method": "ball", "n_clusters": "private", "n_public": 90}, "clusters 100%"),
        ({"method": "lloyd", "n_clusters": "private"}, "records 2%, n clusters 20%, clusters 78%"),
        (
            {"method": "kccm", "n_clusters": "private", "n_public": 9},
            "n clusters 20%, clusters 80%",
        ),
        ({"method": "kccm"}, "clusters 100%"),  # nothing there asks for the number of records
        ({"method": "lloyd", "max_iter": 3}, "clusters 100%"),
    ]:
        with subtests.test(kwargs=kwargs, budgets=budgets):
            ledger = Ledger(epsilon=1.0)
            settings = {"n_clusters": 3, "bounds": (-1.0, 1.0), **kwargs}
            model = DPKMeans(epsilon=1.0, ledger=ledger, random_state=0, **settings).fit(X)
            (entry,) = ledger.entries
            asked = f"{settings['n_clusters']}, {model.method}"
            assert entry.purpose == f"DPKMeans({asked}): {budgets}"


def test_shares_of_a_round_add_up():
    for d in (1, 2, 10, 100):
        for split in ("joint", "analytic", "equal"):
            assert sum(split_pure(0.7, d, split)) == pytest.approx(0.7, rel=1e-12)
            assert sum(split_gaussian(0.7, d, split)) == pytest.approx(0.7, rel=1e-12)


def test_number_of_rounds_by_the_formula():
    q = (4 * 2 * 0.225**2) ** (1 / 3)
    epsilon_of_a_round = math.sqrt(500 * 5**3 * (2 + q) ** 3) / 20_000
    assert lloyd_rounds(20_000, 2, 5, 4.5 * epsilon_of_a_round) == 4
    assert lloyd_rounds(20_000, 2, 5, 1e-9) == 2
    assert lloyd_rounds(20_000, 2, 5, 1e9) == 7
    assert lloyd_rounds(-50.0, 2, 5, 1.0) == 2  # a noisy count may be negative
