"""Each promise with each subject that makes it."""

import inspect

import pytest

import shoal.engines
import shoal.noise
from contracts.promises import pairs
from helpers.noise_recorder import SAMPLERS, STATISTICS
from subjects import having, promising_classes

PAIRS = [
    pytest.param(
        one.check,
        row,
        id=f"{one.check.__name__}-{row}",
        marks=pytest.mark.full if row.name in one.heavy else (),
    )
    for one, row in pairs()
]


@pytest.mark.parametrize(("check", "subject"), PAIRS)
def test_promise(check, subject):
    check(subject)


def test_every_class_that_sees_records_has_a_row():
    rows = {type(one.make()) for one in [*having("estimator"), *having("described")]}
    assert rows == promising_classes()
    one_each = [type(one.make()) for one in having("class")]
    assert len(one_each) == len(set(one_each))
    assert set(one_each) == {type(one.make()) for one in having("any columns")}


def test_every_sampler_and_statistic_is_recorded():
    samplers = {
        name
        for name in shoal.noise.__all__
        if inspect.isfunction(function := getattr(shoal.noise, name))
        and "source" in inspect.signature(function).parameters
    } - {"privatize"}  # calls them
    assert samplers == set(SAMPLERS)
    statistics = {
        name
        for name in shoal.engines.__all__
        if inspect.isfunction(function := getattr(shoal.engines, name))
        and "engine" in inspect.signature(function).parameters
    } - {"nearest_centers", "project"}  # labels are for the curator, and so are records
    assert statistics == set(STATISTICS) - {"magnitude_counts"}  # of values, before any engine
