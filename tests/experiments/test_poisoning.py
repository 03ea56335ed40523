"""Devices that lie: their reports are valid, their harm grows with them, and some is undone."""

import numpy as np
import pytest

from shoal.datasets import make_gaussians
from shoal.exceptions import ParameterError
from shoal.experiments import LIES, Scene, lying_reports, measure_poisoning
from shoal.mechanisms import Duchi, Hybrid, Laplace, PartitionResponse, Piecewise, SquareWave
from shoal.reports import NoiseAwareKMeans

BOX = ([-1.0, -1.0], [1.0, 1.0])
PEOPLE = make_gaussians(10_000, n_clusters=4, random_state=1)
CASES = [
    PartitionResponse(4.0, bounds=BOX, n_clusters=4),
    Piecewise(8.0, bounds=BOX),
    SquareWave(4.0, bounds=BOX),
    Hybrid(8.0, bounds=BOX),
    Duchi(4.0, bounds=BOX),
    Laplace(8.0, bounds=BOX),
]


@pytest.fixture(scope="module")
def planted():
    """Rows by share and analysis: colors of cells, liars who plant a cluster."""
    rows = measure_poisoning(
        PEOPLE.X,
        CASES[0],
        4,
        lies=["plant"],
        shares=[0.0, 0.01, 0.03],
        contaminations=[None, 0.03],
    )
    return {(row.share, row.analysis): row for row in rows}


@pytest.fixture(scope="module")
def crude():
    rows = measure_poisoning(
        PEOPLE.X, CASES[0], 4, lies=["crude"], shares=[0.0, 0.05], contaminations=[None, 0.0]
    )
    return {(row.share, row.analysis): row for row in rows}


@pytest.mark.parametrize("mechanism", CASES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_a_valid_report(mechanism, lie):
    """On the lattice, in range, of the right shape, and unchanged by the wire."""
    mechanism.fit(PEOPLE.X[:1])
    lies = lying_reports(lie, mechanism, Scene.of(PEOPLE.X[:500], mechanism, 4), 20, random_state=0)
    form = mechanism.report_format()
    assert (form.check(lies) == lies).all()
    assert (form.decode(form.encode(lies)) == lies).all()


def test_liars_who_plant_draw_partitions_like_honest_devices():
    mechanism = CASES[0].fit(PEOPLE.X[:1])
    scene = Scene.of(PEOPLE.X[:500], mechanism, 4)
    lies = lying_reports("plant", mechanism, scene, 2_000, random_state=0)
    used = np.bincount(lies[:, 0].astype(int), minlength=256)
    # 7.8 each: 40 of one partition have probability 1e-16 (binomial), over 256 of them 1e-13.
    assert used.max() < 40
    colors = mechanism.partitions_.colors(np.tile(scene.empty, (2_000, 1)), lies[:, 0].astype(int))
    # Of 20 honest reports at epsilon 4, all miss the color with probability 1e-5 at most.
    assert (lies[:, 1] == colors).mean() > 0.99
    hidden = lying_reports("erase", mechanism, scene, 200, random_state=0)
    near = mechanism.partitions_.colors(np.tile(scene.victim, (200, 1)), hidden[:, 0].astype(int))
    assert (hidden[:, 1] != near).all()


def test_what_is_planted_grows_with_the_liars_as_the_theory_says(planted):
    shares = [planted[share, "trusting"].planted for share in (0.0, 0.01, 0.03)]
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    keep = float(CASES[0].keep_probability)
    assert shares[2] == pytest.approx(0.03 / keep, rel=0.2)
    shifts = [planted[share, "trusting"].shift for share in (0.0, 0.03)]
    assert shifts[1] > 3 * shifts[0]


def test_centers_of_the_rest_stay_where_they_are(planted):
    """Planted by a share of liars that was assumed: nothing of it is left."""
    trusting, robust = planted[0.03, "trusting"], planted[0.03, "contamination 0.03"]
    assert robust.planted == 0.0
    assert robust.shift < trusting.shift / 3
    assert robust.cost < 1.05 < trusting.cost


def test_robust_centers_cost_little_where_nobody_lies(planted):
    assert planted[0.0, "contamination 0.03"].cost < 1.02 * planted[0.0, "trusting"].cost


def test_crude_lies_are_left_out_for_free(crude):
    honest, robust = crude[0.0, "trusting"], crude[0.05, "contamination 0"]
    assert crude[0.05, "trusting"].shift > 3 * honest.shift
    assert robust.left_out == pytest.approx(0.05, abs=0.003)
    assert robust.cost < 1.02 * honest.cost
    same = crude[0.0, "contamination 0"]
    assert (same.left_out, same.shift, same.cost) == (0.0, honest.shift, honest.cost)


@pytest.mark.full
def test_rows_of_other_analyses():
    rows = list(
        measure_poisoning(
            PEOPLE.X[:1000],
            Laplace(8.0, bounds=BOX),
            4,
            lies=["crude"],
            shares=[0.05],
            contaminations=[],
            others=["plain", "density"],
        )
    )
    assert [row.analysis for row in rows] == ["plain", "density"]
    assert rows[0].cost > 1.0
    assert np.isnan(rows[1].cost)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"lies": ["shout"]}, "lie must be one of fake, plant, move, erase, crude, got 'shout'"),
        ({"shares": [1.0]}, "share must be a number in"),
        ({"others": ["plain"], "contaminations": []}, "must not hold 'plain' for Partition"),
        ({"others": ["x"], "contaminations": []}, "others must be of 'plain' and 'density'"),
        ({"contaminations": [1.0]}, "contamination must be a number in"),
    ],
)
def test_bad_input(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        list(measure_poisoning(PEOPLE.X[:200], CASES[0], 4, **{"shares": [0.1], **kwargs}))


def test_a_robust_analysis_that_is_none_is_noticed(monkeypatch, crude):
    """Planted bug: nothing is left out, and the liars have their way again."""
    monkeypatch.setattr(
        "shoal.reports.noise_aware_kmeans.explained_reports",
        lambda reports, *_: np.ones(len(reports), dtype=bool),
    )
    rows = measure_poisoning(
        PEOPLE.X, CASES[0], 4, lies=["crude"], shares=[0.05], contaminations=[0.0]
    )
    assert next(iter(rows)).shift == crude[0.05, "trusting"].shift
    assert NoiseAwareKMeans().contamination is None
