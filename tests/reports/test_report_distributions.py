"""Reports of SquareWave, Hybrid, Duchi and sampled columns: their exact laws on atoms."""

import itertools

import numpy as np
import pytest

from helpers.cases import case
from shoal._bounds import public_box
from shoal.mechanisms import Duchi, Hybrid, Piecewise, SquareWave
from shoal.reports._column_tables import column_tables, symbols_of
from shoal.reports._record_channel import ProductChannel, grid_atoms
from shoal.reports._report_distributions import open_distribution

BOX = (0.0, 10.0)
MECHANISMS = [
    Piecewise(3.0, bounds=BOX),
    Piecewise(3.0, bounds=BOX, columns="sample"),
    SquareWave(3.0, bounds=BOX),
    Hybrid(3.0, bounds=BOX),
    Hybrid(1.0, bounds=BOX),
    Hybrid(3.0, bounds=BOX, columns="sample"),
]


def test_cumulated_probabilities_are_those_of_single_reports():
    for mechanism in [*MECHANISMS, Hybrid(0.5, bounds=BOX), Piecewise(20.0, bounds=BOX)]:
        with case(mechanism=mechanism):
            distribution = mechanism.column_distribution(0, 1)
            last = round((distribution.high - distribution.unreported) / distribution.step - 0.5)
            some = np.unique(np.linspace(-last, last, 41).astype(np.int64))
            points = np.rint(
                (distribution.points - distribution.unreported) / distribution.step
            ).astype(np.int64)
            cells = np.concatenate([some, points])
            for record in (0.0, 3.7, 10.0):
                z = distribution.unreported + distribution.step * cells
                ends = distribution.unreported + distribution.step * (cells[:, None] + [-0.5, 0.5])
                chances = distribution.cdf(ends.ravel(), np.array([record])).reshape(-1, 2)
                exact = np.exp(mechanism.log_density(z[:, None], np.array([record])))
                np.testing.assert_allclose(np.diff(chances)[:, 0], exact, rtol=1e-3, atol=1e-12)
            ends = distribution.cdf(np.array([distribution.low, distribution.high]), np.zeros(1))[
                :, 0
            ]
            np.testing.assert_allclose(ends, [0.0, 1.0], atol=1e-9)


def test_tables_and_adjoint():
    rng = np.random.default_rng(0)
    for mechanism in MECHANISMS:
        with case(mechanism=mechanism):
            box = public_box(BOX, 2)
            mechanism.set_params(random_state=0)
            reports = mechanism.fit_transform(rng.uniform(0, 10, (300, 2)))
            tables = column_tables(mechanism, box, least=0.0, limits=(6, 7))
            for table in tables:
                np.testing.assert_allclose(table.probabilities.sum(axis=0), 1.0)
            cells = tuple(table.probabilities.shape[1] for table in tables)
            channel = ProductChannel(
                grid_atoms(box, cells), symbols_of(tables, reports), [t.matrix for t in tables]
            )
            weights, values = rng.random(np.prod(cells)), rng.random(len(channel.blind()))
            forward = channel.forward(weights)
            assert forward @ values == pytest.approx(weights @ channel.backward(values))
            # Every report is in a cell of the tally that some record has a probability for.
            assert (channel.blind()[channel.tally] > 0).all()


def test_left_out_columns_say_nothing():
    mechanism = Piecewise(3.0, bounds=BOX, columns="sample", random_state=0)
    reports = mechanism.fit_transform(np.full((200, 2), 3.0))
    table = column_tables(mechanism, public_box(BOX, 2), least=0.0, limits=(6, 7))[0]
    left_out = table.symbols(reports[:, 0]) == len(table.probabilities)
    assert (left_out == (reports[:, 0] == 5.0)).all()
    assert 60 < left_out.sum() < 140  # half of them, but for 1e-8
    assert (table.matrix[-1] == 1.0).all()


def test_ratios_are_those_of_the_grid():
    for mechanism in [*MECHANISMS, Duchi(3.0, bounds=BOX)]:
        with case(mechanism=mechanism):
            box = public_box(BOX, 2)
            rng = np.random.default_rng(0)
            reports = mechanism.set_params(random_state=0).fit_transform(
                rng.uniform(0, 10, (50, 2))
            )
            distribution = open_distribution(mechanism, box, 1)
            atoms = grid_atoms(box, tuple(t.probabilities.shape[1] for t in distribution.tables))
            channel = distribution.grid_channel(reports, atoms)
            ratios = distribution.ratios(reports, atoms)
            weights = rng.random(len(atoms.points))
            weights /= weights.sum()
            tallied = channel.forward(weights)[channel.tally] / channel.blind()[channel.tally]
            np.testing.assert_allclose(ratios @ weights, tallied, rtol=1e-4)
            # Of evenly spread records it is 1.
            np.testing.assert_allclose(ratios.mean(axis=1), 1.0, rtol=1e-4)


def test_corners_have_the_probabilities_of_duchi():
    mechanism = Duchi(2.0, bounds=BOX).fit(np.zeros((1, 3)))
    box = public_box(BOX, 3)
    distribution = open_distribution(mechanism, box, 1)
    lattice = mechanism.lattice(3)
    corners = lattice.decode(np.array(list(itertools.product([-1, 1], repeat=3))))
    atoms = grid_atoms(box, (2, 2, 2))
    even = np.exp(mechanism.log_density(corners, np.full(3, 5.0)))
    np.testing.assert_allclose(even @ distribution.ratios(corners, atoms), 1.0, rtol=1e-5)
    up = distribution.tables[0].probabilities[1]
    chances = [
        np.exp(mechanism.log_density(corners, [x, 5.0, 5.0]))[corners[:, 0] > 5].sum()
        for x in (np.arange(len(up)) + 0.5) / len(up) * 10
    ]
    np.testing.assert_allclose(up, chances, rtol=1e-6)
