"""Equal worst-case privacy: every method's own guarantee says what was asked for."""

import numpy as np
import pytest

from shoal._registry import METHODS
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.experiments.compare import (
    CONTENDERS,
    Batch,
    Contender,
    amplified,
    choose_contenders,
    own_epsilon,
    worst_case,
)
from shoal.experiments.compare.equal_privacy import keeps_worst_case, report_epsilon
from shoal.mechanisms import PartitionResponse
from shoal.privacy import Guarantee, amplify


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


BATCH = Batch(5_000, 1e-6)


def shuffled(name="PartitionResponse", batch=BATCH):
    (one,) = choose_contenders(2, [name]).contenders
    return one.behind_shuffler(batch)


@pytest.mark.parametrize("worst", [0.5, 1.0, 2.0, 4.0])
def test_a_shuffled_batch_promises_the_worst_case(worst):
    """And a report of it less than that: its epsilon is the largest that is proven to suffice."""
    contender = shuffled()
    assert contender.model == "shuffled"
    assert contender.label == "PartitionResponse (shuffled)"
    promise = contender.promise(worst, 2, 15)
    assert (promise.notion, promise.n_reports, promise.delta) == ("shuffled", *BATCH)
    assert 0.9999 * worst < worst_case(promise, 2) <= worst
    mechanism = contender.build(worst, 2, 15, seed=0)
    assert promise.local_epsilon == mechanism.epsilon > 1.5 * worst
    assert mechanism.n_colors > PartitionResponse(worst).n_colors
    assert keeps_worst_case(promise, worst, 2, delta=BATCH.delta)
    assert not keeps_worst_case(promise, worst, 2), "without a delta it promises nothing"


def test_a_batch_that_is_too_large_would_be_seen():
    """Reports that were not sent hide nobody."""
    epsilon = report_epsilon(1.0, Batch(50_000, 1e-6), lambda own: PartitionResponse(own).n_colors)
    colors = PartitionResponse(epsilon).n_colors
    promise = amplified(Guarantee("local", epsilon=epsilon), 2, BATCH, n_colors=colors)
    assert not keeps_worst_case(promise, 1.0, 2, delta=BATCH.delta)


@pytest.mark.parametrize("name", ["Piecewise", "Laplace", "KdLaplace-grid", "PartitionResponse"])
def test_the_same_reports_behind_a_shuffler(name):
    """The bound of any mechanism, by its local epsilon; that of colors for ours alone."""
    (one,) = choose_contenders(2, [name]).contenders
    colors = 4 if name == "PartitionResponse" else None
    known = amplify(Guarantee("local", epsilon=1.0), *BATCH, n_colors=colors).epsilon
    assert one.shuffled_epsilon(1.0, 2, 15, BATCH) == pytest.approx(known)
    assert known < 0.1


class Mine(PartitionResponse):
    """Somebody's own: nobody has proven that it answers by randomized response."""


class Silent(PartitionResponse):
    """One that promises nothing."""

    def _promise(self):
        return Guarantee("none", epsilon=0.0, reason="nobody knows")


def test_only_a_local_epsilon_is_amplified():
    own = Contender("my:Mine", "local", "reports", Mine)
    (ours,) = choose_contenders(2, ["PartitionResponse"]).contenders
    assert own.shuffled_epsilon(1.0, 2, 15, BATCH) > ours.shuffled_epsilon(1.0, 2, 15, BATCH)
    (central,) = choose_contenders(2, ["DPKMeans-grid"]).contenders
    assert central.shuffled_epsilon(1.0, 2, 15, BATCH) is None
    silent = Contender("my:Silent", "local", "reports", Silent)
    assert silent.shuffled_epsilon(1.0, 2, 15, BATCH) is None
    for promise in (
        Guarantee("central", epsilon=1.0),
        Guarantee("local", epsilon=1.0, delta=1e-9),
        Guarantee("none", epsilon=0.0, reason="nobody knows"),
    ):
        with pytest.raises(GuaranteeError, match="only a pure local promise is amplified"):
            amplified(promise, 2, BATCH)
