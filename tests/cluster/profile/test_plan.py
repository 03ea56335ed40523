"""The budget of a profile: all of it, and no more, divided by public numbers."""

import math

import pytest

from shoal.cluster import profile_noise
from shoal.cluster.profile._plan import number_of_bins, plan_profile
from shoal.exceptions import ParameterError
from shoal.schema import Category, Date, Flag, Number, Schema, Text

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Category("city", list("ABCDEF"), role="describe"),
        Flag("member", role="describe", missing="refuse"),
        Number("rooms", minimum=0, maximum=5, whole=True, role="describe"),
        Date("day", minimum="2024-01-01", maximum="2024-01-04", role="describe"),
        Text("comment"),
    ]
)


def plan(**kwargs):
    given = {"epsilon": 1.0, "delta": 0.0, "contribution": 1, "cluster_size": 2000.0}
    return plan_profile(SCHEMA, **{**given, **kwargs})


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_fields_divide_the_whole_budget(delta):
    planned = plan(delta=delta)
    total = math.fsum(one.budget for one in (*planned.fields, *planned.texts))
    assert math.fsum(text.delta for text in planned.texts) == delta / 2
    assert total == pytest.approx(planned.noise.total_budget, rel=1e-12)
    by_levels = {len(field.histogram.levels): field.budget for field in planned.fields}
    power = 1 / 2 if delta else 1 / 3
    assert by_levels[8] / by_levels[2] == pytest.approx(4**power)


def test_no_other_division_has_a_smaller_squared_error():
    planned = plan()
    levels = [len(field.histogram.levels) for field in planned.fields]
    budgets = [field.budget for field in planned.fields]

    def error(parts):
        return sum(m / part**2 for m, part in zip(levels, parts, strict=True))

    for index in range(1, len(budgets)):
        for step in (-0.01, 0.01):
            moved = budgets.copy()
            moved[0] -= step
            moved[index] += step
            assert error(moved) > error(budgets)


def test_bins_are_public_and_whole_numbers_are_not_cut():
    histograms = {field.histogram.field.name: field.histogram for field in plan().fields}
    assert histograms["rooms"].edges == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert histograms["day"].bins == 3
    assert histograms["member"].levels == ("false", "true")
    assert "comment" not in histograms
    assert number_of_bins(100, 1e9) == 8
    assert number_of_bins(1e9, 1.0) == 64
    assert number_of_bins(0, 20.0) == number_of_bins(1000, 20.0)


def test_noise_is_known_beforehand():
    few = {one.field: one for one in profile_noise(SCHEMA, epsilon=1.0, cluster_size=1000)}
    more = {one.field: one for one in profile_noise(SCHEMA, epsilon=1.0, cluster_size=4000)}
    assert few["city"].share_error == pytest.approx(4 * more["city"].share_error, rel=0.2)
    thrice = profile_noise(SCHEMA, epsilon=1.0, cluster_size=1000, records_per_user=3)
    assert thrice[1].deviation == pytest.approx(3 * few["city"].deviation, rel=0.2)
    with pytest.raises(ParameterError, match="cluster_size"):
        profile_noise(SCHEMA, epsilon=1.0, cluster_size=0)
