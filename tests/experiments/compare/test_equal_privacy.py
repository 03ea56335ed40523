"""Equal worst-case privacy: every method's own guarantee says what was asked for."""

import numpy as np
import pytest

from shoal._registry import METHODS
from shoal.exceptions import ParameterError
from shoal.experiments.compare import CONTENDERS, choose_contenders, own_epsilon, worst_case
from shoal.privacy import Guarantee


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda one: one.name)
def test_every_method_promises_the_worst_case(contender):
    columns = next(d for d in (2, 3) if contender.misfit(d) is None)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (40, columns))
    for worst in (0.5, 3.0):
        method = contender.build(worst, columns, 3, seed=0)
        guarantee = method.fit(X).guarantee_
        assert worst_case(guarantee, columns) == pytest.approx(worst)
        assert method.epsilon == own_epsilon(contender.notion, worst, columns)
        assert guarantee.notion == contender.notion


def test_the_methods_are_those_of_the_registry():
    assert [one.name for one in CONTENDERS] == [one.name for one in METHODS if one.compared]
    assert {one.output for one in CONTENDERS} == {"centers", "cells", "reports"}


def test_a_metric_epsilon_taken_as_it_is_would_be_seen():
    """The mistake of section 1 of the mathematics: equal numbers of two units."""
    assert worst_case(Guarantee("metric", epsilon=1.0), 4) == 4.0
    assert worst_case(Guarantee("central", epsilon=1.0), 4) == 2.0
    assert worst_case(Guarantee("local", epsilon=1.0), 4) == 1.0


def names(columns, only=None):
    return [one.name for one in choose_contenders(columns, only).contenders]


def test_methods_by_columns():
    assert "PlanarLaplace" in names(2)
    assert "SphericalLaplace" in names(3)
    assert not {"PlanarLaplace", "SphericalLaplace"} & set(names(4))
    assert {"DPDensity", "DPWaveCluster-oneshot"} <= set(names(4))
    left_out = choose_contenders(6).left_out
    assert len(left_out) == 9
    assert sum("DPWaveCluster" in why for why in left_out) == 6
    assert sorted([*names(6), *(why.partition(":")[0] for why in left_out)]) == sorted(
        one.name for one in CONTENDERS
    )


def test_only():
    assert names(2, ["LAPLACE"]) == ["Laplace"]
    assert names(2, ["kdlaplace"]) == ["KdLaplace-grid", "KdLaplace-bayes"]
    assert names(2, ["Duchi", "DPKMeans-ball"]) == ["DPKMeans-ball", "Duchi"]


@pytest.mark.parametrize(
    ("columns", "only", "text"),
    [
        (2, ["Gauss"], "--only must be among DPKMeans-grid, .*, got 'Gauss'"),
        (2, [], "--only must name at least one"),
        (4, ["PlanarLaplace"], "for 2 columns only, and these are 4"),
    ],
)
def test_bad_names(columns, only, text):
    with pytest.raises(ParameterError, match=text):
        choose_contenders(columns, only)
