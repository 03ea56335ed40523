"""Reports drawn in JavaScript have Python's distributions, and keep what they promise.

The words come from fixed seeds: a failure is a bug. Each check alone would be wrong with other
seeds in one of 10^6 runs. The numbers that are published with the client are run under ``full``.
"""

import numpy as np
import pytest

from helpers import javascript_checks as checks
from helpers.javascript import javascript_reports
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)

SQUARE = ([0.0, 0.0], [1.0, 2.0])
CUBE = ([0.0] * 3, [1.0] * 3)
MANY = 10  # times as many reports under ``full``


@pytest.fixture(scope="module")
def node():
    with javascript_reports() as reports:
        yield reports


SIZES = [pytest.param(1, id="few"), pytest.param(MANY, marks=pytest.mark.full, id="many")]


@pytest.mark.parametrize("times", SIZES)
@pytest.mark.parametrize(
    ("mechanism", "record"),
    [
        (Laplace(3.0, bounds=SQUARE), [0.3, 1.2]),
        (PlanarLaplace(3.0, bounds=SQUARE), [0.0, 2.0]),
        (SphericalLaplace(2.0, bounds=CUBE), [0.5, 0.5, 1.0]),
        (Laplace(2.0, bounds=CUBE), [0.1, 0.5, 0.9]),
    ],
    ids=["Laplace 2", "Planar", "Spherical", "Laplace 3"],
)
def test_radius_and_direction(node, mechanism, record, times):
    checks.radius_and_direction(node, mechanism, record, 1_500 * times)


@pytest.mark.parametrize("times", SIZES)
def test_redrawn_reports(node, times):
    mechanism = Laplace(6.0, bounds=SQUARE, truncate="resample")
    checks.inside_the_box(node, mechanism, [0.1, 0.2], 500 * times)


@pytest.mark.parametrize("times", SIZES)
@pytest.mark.parametrize(
    "mechanism",
    [
        Piecewise(2.0, bounds=SQUARE),
        Piecewise(1.0, bounds=SQUARE, columns="sample"),
        SquareWave(2.0, bounds=SQUARE),
        Hybrid(3.0, bounds=SQUARE),
        Hybrid(1.0, bounds=SQUARE),
    ],
    ids=["Piecewise", "Piecewise sample", "SquareWave", "Hybrid", "Hybrid of two values"],
)
def test_columns(node, mechanism, times):
    checks.columns_follow(node, mechanism, [0.2, 1.9], 4_000 * times)


@pytest.mark.parametrize("times", SIZES)
def test_corners(node, times):
    mechanism = Duchi(1.5, bounds=([0.0] * 4, [1.0] * 4))
    checks.corners_follow(node, mechanism, [0.0, 0.3, 0.8, 1.0], 4_000 * times)


ORACLES = [pytest.param(30_000, id="few"), pytest.param(10**6, marks=pytest.mark.full, id="10^6")]


@pytest.mark.parametrize("n", ORACLES)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_responses(node, epsilon, n):
    mechanism = PartitionResponse(epsilon, bounds=SQUARE, n_clusters=5)
    checks.responses_follow(node, mechanism, [0.2, 1.1], n)


AUDITED = {
    "Laplace": (Laplace(2.0, bounds=SQUARE), 2_000),
    "PartitionResponse": (PartitionResponse(2.0, bounds=SQUARE), 6_000),
    "Piecewise": (Piecewise(2.0, bounds=SQUARE), 8_000),
    "Duchi": (Duchi(2.0, bounds=SQUARE), 8_000),
    "Hybrid": (Hybrid(2.0, bounds=SQUARE), 8_000),
    "SquareWave": (SquareWave(2.0, bounds=SQUARE), 8_000),
    "PlanarLaplace": (PlanarLaplace(2.0, bounds=SQUARE), 4_000),
    "SphericalLaplace": (SphericalLaplace(2.0, bounds=CUBE), 4_000),
    "Laplace redrawn": (Laplace(6.0, bounds=SQUARE, truncate="resample"), 2_000),
}


@pytest.mark.parametrize("name", ["Laplace", "PartitionResponse"])
def test_audits_find_what_is_claimed(node, name):
    mechanism, n = AUDITED[name]
    checks.audit_holds(node, mechanism, samples=n, search_samples=n // 20, least=0.3)


@pytest.mark.full
@pytest.mark.parametrize("name", AUDITED)
def test_audits_of_every_mechanism(node, name):
    mechanism, n = AUDITED[name]
    checks.audit_holds(node, mechanism, samples=MANY * n, search_samples=n // 4, least=0.3)


def test_the_secure_source_is_another_each_time(node):
    mechanism = Laplace(2.0, bounds=SQUARE)
    one, other = (node.draw(mechanism, [[0.5, 0.5]], 50, seed=None) for _ in range(2))
    assert len(np.unique(np.concatenate([one, other]), axis=0)) == 100
