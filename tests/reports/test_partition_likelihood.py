import itertools
from fractions import Fraction

import numpy as np
import pytest

from shoal._bounds import public_box
from shoal.exceptions import ParameterError
from shoal.mechanisms import PartitionResponse
from shoal.partitions import AxisGrids, NearestSeeds, Partitions, box_axes
from shoal.reports._atoms import Cells
from shoal.reports._partition_likelihood import ColorChannel, em_step, tally

BOX = public_box((0.0, 1.0), 2)


def two_kinds(colors=4):
    """Grids and nearest seeds in one list, as in a campaign of two rounds."""
    pool = np.random.default_rng(0).uniform(size=(40, 2))
    grids = AxisGrids(box_axes(BOX), 8, colors, cells=4)
    return Partitions([grids, NearestSeeds(pool, 8, colors, 16, BOX.low, BOX.high)])


def all_pairs(partitions):
    return np.arange(partitions.n_partitions * partitions.n_colors)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_forward_is_the_law_of_the_mechanism(epsilon):
    """Every report's probability, enumerated with exact rationals, at two records."""
    partitions = two_kinds()
    mechanism = PartitionResponse(epsilon, bounds=(0.0, 1.0), partitions=partitions)
    keep, colors = mechanism.keep_probability, partitions.n_colors
    records = np.array([[0.21, 0.83], [0.64, 0.17]])
    share = Fraction(1, 3)
    channel = ColorChannel.of(partitions, float(keep), records, all_pairs(partitions))
    found = channel.forward(np.array([1 / 3, 2 / 3])).reshape(-1, colors)
    for j, s in itertools.product(range(partitions.n_partitions), range(colors)):
        true = partitions.colors(records, np.array([j, j]))
        mass = sum(
            weight * ((keep if color == s else 0) + (1 - keep) / colors)
            for weight, color in zip((share, 1 - share), true, strict=True)
        )
        assert found[j, s] == pytest.approx(float(mass), rel=1e-12)
    assert found.sum(axis=1) == pytest.approx(np.ones(partitions.n_partitions), rel=1e-12)


def test_backward_is_the_adjoint_of_forward():
    partitions, rng = two_kinds(), np.random.default_rng(1)
    pairs = np.sort(rng.choice(64, 40, replace=False))
    channel = ColorChannel.of(partitions, 0.4, rng.uniform(size=(50, 2)), pairs)
    weights, values = rng.dirichlet(np.ones(50)), rng.normal(size=40)
    assert values @ channel.forward(weights) == pytest.approx(weights @ channel.backward(values))


def test_only_seen_pairs_are_looked_up():
    """Pairs that nobody reported are left out, and change nothing for the others."""
    partitions, atoms = two_kinds(), Cells.regular(BOX).points[::37]
    whole = ColorChannel.of(partitions, 0.4, atoms, all_pairs(partitions))
    some = np.array([0, 3, 17, 18, 40, 63])
    part = ColorChannel.of(partitions, 0.4, atoms, some)
    weights = np.random.default_rng(2).dirichlet(np.ones(len(atoms)))
    assert part.forward(weights) == pytest.approx(whole.forward(weights)[some], rel=1e-13)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_steps_raise_the_likelihood(power):
    """EM never lowers it; powers up to 1/keep do not either, where reports are mostly noise."""
    mechanism = PartitionResponse(1.0, bounds=(0.0, 1.0), n_clusters=3, random_state=0)
    X = np.random.default_rng(0).normal([0.3, 0.6], 0.05, size=(2000, 2))
    counted = tally(mechanism.fit_transform(X), mechanism.partitions_)
    cells = Cells.regular(BOX)
    keep = float(mechanism.keep_probability)
    channel = ColorChannel.of(mechanism.partitions_, keep, cells.points[::5], counted.pairs)
    weights, likelihoods = np.full(len(cells.points[::5]), 1 / len(cells.points[::5])), []
    for _ in range(12):
        weights, likelihood = em_step(channel, counted.counts, weights, power)
        likelihoods.append(likelihood)
    assert (np.diff(likelihoods) > 0).all()
    assert channel.log_likelihood(counted.counts, weights) > likelihoods[-1]


def test_tally_counts_each_report_once():
    partitions = two_kinds()
    rng = np.random.default_rng(3)
    reports = np.column_stack([rng.integers(0, 16, 500), rng.integers(0, 4, 500)]).astype(float)
    counted = tally(reports, partitions)
    table = np.zeros((16, 4))
    np.add.at(table, tuple(reports.astype(int).T), 1.0)
    assert counted.counts.tolist() == table[table > 0].tolist()
    first, second = counted.halves(np.random.RandomState(0))
    assert (first + second == counted.counts).all()
    assert 180 < first.sum() < 320


@pytest.mark.parametrize(
    "reports",
    [[[16.0, 0.0]], [[0.0, 4.0]], [[-1.0, 0.0]], [[0.5, 1.0]], [[0.0, 0.0, 0.0]], [[0.1, 0.2]]],
)
def test_reports_of_another_campaign_are_refused(reports):
    with pytest.raises(ParameterError, match="reports must"):
        tally(np.array(reports), two_kinds())
