"""How many devices must report: from public numbers alone, with seeds for all that is drawn."""

import json
import math

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.experiments import _campaigns, device_plan, plan_devices
from shoal.experiments._campaigns import Campaigns, Outcome, check_smallest, first_enough
from shoal.mechanisms import PartitionResponse
from shoal.privacy import Guarantee, amplify
from shoal.schema import Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=120, missing="refuse")])


@pytest.fixture(autouse=True)
def small_populations(monkeypatch):
    monkeypatch.setattr(_campaigns, "MAX_ROWS", 1000)


@pytest.fixture
def planned(monkeypatch):
    """Plan with outcomes as they are written here: cost 1 + 10^4 / (n epsilon^2)."""
    asked = []

    def run(self, mechanism, n):
        asked.append((float(mechanism.epsilon), n))
        self.step()
        cost = 1.0 + 1e4 / (n * mechanism.epsilon**2)
        return Outcome(cost, cost - 0.01, cost + 0.01, float(cost < 1.99))

    monkeypatch.setattr(Campaigns, "run", run)

    def plan(**kwargs):
        asked.clear()
        return plan_devices(SCHEMA, k=3, **kwargs), asked

    return plan


def test_the_fewest_devices_that_are_enough(planned):
    plan, _ = planned(epsilons=[4.0, 1.0, 0.1])
    assert [row.epsilon for row in plan.rows] == [0.1, 1.0, 4.0]
    # 10^4 / (n epsilon^2) must be at most 0.2, and below 0.99 for the smallest cluster.
    assert [row.for_cost for row in plan.rows] == [math.inf, 100_000, 10_000]
    assert [row.for_smallest for row in plan.rows] == [math.inf, 30_000, 1000]
    assert [row.n for row in plan.rows] == [1_000_000, 100_000, 10_000]
    assert plan.rows[1].cost_ratio == pytest.approx(1.1)
    assert plan.rows[1].low < plan.rows[1].cost_ratio < plan.rows[1].high
    assert "> 1,000,000" in str(plan)
    made_up = 0.01 / PartitionResponse(1.0).keep_probability
    assert f"{float(made_up):.1%}" in plan.notes[-1]
    assert plan.to_dict()["rows"][0]["for_cost"] is None


def test_a_number_of_devices_that_is_given(planned):
    plan, asked = planned(epsilons=[1.0, 2.0], n=12_345)
    assert [row.n for row in plan.rows] == [12_345, 12_345]
    assert {(1.0, 12_345), (2.0, 12_345)} <= set(asked)
    expected = amplify(Guarantee("local", epsilon=1.0), 12_345, 1e-6, n_colors=4)
    assert plan.rows[0].shuffled_epsilon == expected.epsilon
    assert "12,345 devices" in str(plan)


def test_a_smaller_epsilon_is_searched_from_where_the_larger_one_ended(planned):
    _, asked = planned(epsilons=[1.0, 4.0])
    assert min(n for epsilon, n in asked if epsilon == 1.0) >= 3000


def test_steps_end_where_they_should(planned):
    steps = []
    planned(epsilons=[1.0, 4.0], progress=lambda *step: steps.append(step))
    assert steps[-1][0] == steps[-1][1]
    assert steps == sorted(steps)


def test_the_first_step_that_is_enough():
    for first in range(5):
        assert first_enough([10, 20, 30, 40], lambda n, first=first: n > 10 * first) == first


def test_a_campaign_with_more_devices_is_better():
    """Of one column, at epsilon 1: fixed seeds, one population."""
    campaigns = Campaigns(SCHEMA, 2, smallest=0.3, populations=1, seed=0)
    few, many = (campaigns.run(campaigns.mechanism(1.0), n) for n in (300, 100_000))
    assert many.cost_ratio < few.cost_ratio
    assert many.cost_ratio < 1.1
    assert many.seen == campaigns.seen_without_noise == 1
    table = campaigns.populations[0].table
    assert np.bincount(table.segments).min() == 300, "the smallest segment has the share asked for"


def test_a_real_plan():
    plan = plan_devices(SCHEMA, k=2, epsilons=[4.0], n=2000, populations=1, smallest=0.3)
    (row,) = plan.rows
    assert row.for_cost <= 30_000
    assert 0.99 < row.low <= row.cost_ratio <= row.high < 1.5
    assert (2000, row.cost_ratio, row.low, row.high) in row.tried
    assert "no device was asked, nothing was spent" in str(plan)
    assert plan._repr_html_().count("<tr>") == 2
    json.dumps(plan.to_dict(), allow_nan=False)
    assert plan.headings == device_plan.HEADINGS
    assert len(row.cells) == len(plan.headings)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"schema": "s.json"}, "schema must be a Schema, got str"),
        ({"n": 0}, "n must be"),
        ({"k": 0}, "k must be"),
        ({"epsilons": []}, "epsilons must be one or more numbers > 0, got none"),
        ({"epsilons": [-1.0]}, "epsilons must be"),
        ({"cost": 1.0}, "cost must be above 1"),
        ({"delta": 0.0}, "delta must be"),
        ({"smallest": 0.6}, "smallest must be at most 1 / k = 0.5"),
        ({"smallest": 0.0}, "smallest must be"),
        ({"populations": 0}, "populations must be"),
    ],
)
def test_bad_input(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        plan_devices(**{"schema": SCHEMA, "k": 2, **kwargs})


def test_the_smallest_cluster_has_half_of_an_even_share():
    assert check_smallest(None, 5) == pytest.approx(0.1)
