"""Choices of DPDensity made from exact counts: seen where one record more changes the choice."""

import numpy as np
import pytest

from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPDensity
from shoal.cluster.density import _cells
from shoal.cluster.density._plan import COARSE_SIDES, choose_side, is_crowded, measure, plan_budgets

BUDGETS = plan_budgets(1.0, 1)
SIDE = COARSE_SIDES[1]
CHOICES = {
    "side": lambda counts: choose_side(_occupancy(counts), 1, 1 / BUDGETS.cells),
    "windows": lambda counts: is_crowded(_occupancy(counts), counts.ndim),
}
CROWDS = {"side": 0, "windows": 1500}  # records in one cell, beside those that are spread


def _occupancy(counts):
    return measure(counts, 1 / BUDGETS.coarse_grid)


@pytest.fixture(params=CHOICES, scope="module")
def pair(request):
    """Return the choice, and tables of which one has a record more, for which it is another."""
    choice = CHOICES[request.param]
    cells = np.full(CROWDS[request.param], 5)
    for place in range(10**4):
        cells = np.append(cells, place % SIDE)
        one, two = (np.bincount(part, minlength=SIDE) for part in (cells[:-1], cells))
        if place > SIDE and choice(one) != choice(two):
            records = (2 * cells[:, None] + 1) / SIDE - 1
            return request.param, Neighbors("at the border", records[:-1], records[-1])
    raise AssertionError


def findings(pair):
    model = DPDensity(bounds=(-1.0, 1.0), n_clusters=1)
    return "\n".join(replay_estimator(model, [pair], repeats=1).findings)


def test_the_choice_is_made_from_noisy_counts(pair, monkeypatch):
    name, tables = pair
    assert findings(tables) == ""
    seen, count = [], _cells.grid_counts

    def counting(*args):
        seen.append(count(*args))
        return seen[-1]

    monkeypatch.setattr(_cells, "grid_counts", counting)
    which = {"side": "choose_side", "windows": "is_crowded"}[name]
    monkeypatch.setattr(_cells, which, lambda *_: CHOICES[name](seen[-1]))
    assert findings(tables) != ""
