"""Which local epsilon a shuffled batch allows: the promise that follows is the one asked for."""

import json

import pytest

from shoal.exceptions import ParameterError
from shoal.experiments import _campaigns, plan_shuffled
from shoal.mechanisms import PartitionResponse
from shoal.privacy import Guarantee, amplify
from shoal.schema import Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=120, missing="refuse")])


def test_the_local_epsilon_gives_the_epsilon_that_was_asked_for():
    plan = plan_shuffled(n=1000, epsilons=[1.0, 0.2])
    assert [row.epsilon for row in plan.rows] == [0.2, 1.0]
    for row in plan.rows:
        report = Guarantee("local", epsilon=row.local_epsilon)
        kept = amplify(report, 1000, 1e-6, n_colors=row.colors)
        assert kept.epsilon <= row.epsilon * (1 + 2e-6), "which amplify may round up by"
        assert PartitionResponse(row.local_epsilon).n_colors == row.colors
        larger = Guarantee("local", epsilon=1.01 * row.local_epsilon)
        assert amplify(larger, 1000, 1e-6, n_colors=row.colors).epsilon > row.epsilon
    assert len(plan.headings) == len(plan.rows[0].cells) == 3
    assert "at least 1,000 honest" in str(plan)
    json.dumps(plan.to_dict(), allow_nan=False)


def test_the_cost_with_a_schema(monkeypatch):
    monkeypatch.setattr(_campaigns, "MAX_ROWS", 1000)
    steps = []
    plan = plan_shuffled(
        SCHEMA, n=2000, k=2, epsilons=[0.5], populations=1, progress=lambda *one: steps.append(one)
    )
    (row,) = plan.rows
    assert 0.99 < row.cost_ratio < 1.5
    assert len(plan.headings) == len(row.cells) == 6
    assert steps == [(1, 1)]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"epsilons": []}, "epsilons must be one or more"),
        ({"epsilons": [0.0]}, "epsilons must be"),
        ({"delta": 0.0}, "delta must be"),
    ],
)
def test_bad_input(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        plan_shuffled(**{"n": 1000, "epsilons": [1.0], **kwargs})
