"""Audits of local mechanisms that search for the pair: bounds at confidence 0.999, fixed seeds."""

import pickle

import numpy as np
import pytest

from helpers.toy_samplers import FINE, ball_noise, grid, planar_laplace, resampled_laplace
from helpers.toy_samplers import thesis_spherical as spherical_as_published
from shoal._bounds import public_box
from shoal.audit import MechanismAudit, RecordPair, audit_mechanism
from shoal.audit.record_pairs import Lattice, local_pairs, metric_pairs
from shoal.exceptions import MissingBoundsError, ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    KdLaplace,
    Laplace,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)
from shoal.mechanisms._local import ColumnMechanism
from shoal.papers.kd_laplace import NdLaplace
from shoal.privacy import Guarantee, Ledger

BOX = (-1.0, 1.0)
METRIC = Guarantee("metric", epsilon=2.0)
FEW = {"samples": 30_000, "search_samples": 1_000}
FEWER = {"samples": 10_000, "search_samples": 500}
LONG = pytest.mark.full  # audited in `tests/mechanisms` too, or another of its kind here


# Ours are cleared, and closely


@pytest.mark.parametrize(
    ("mechanism", "columns", "least"),
    [
        (PlanarLaplace(2.0, bounds=BOX), 2, 1.65),
        pytest.param(SphericalLaplace(2.0, bounds=BOX), 3, 1.5, marks=LONG),
        (Laplace(2.0, bounds=BOX), 1, 1.85),
        pytest.param(Laplace(2.0, bounds=BOX), 4, 1.2, marks=LONG),
        pytest.param(Laplace(2.0, bounds=BOX, truncate="resample"), 1, 0.9, marks=LONG),
        pytest.param(KdLaplace(2.0, bounds=BOX, remap="grid"), 2, 1.6, marks=LONG),
        pytest.param(KdLaplace(2.0, bounds=BOX), 2, 1.4, marks=LONG),
        (Piecewise(2.0, bounds=BOX), 2, 1.7),
        (Duchi(2.0, bounds=BOX), 2, 1.7),
        pytest.param(Hybrid(2.0, bounds=BOX), 2, 1.7, marks=LONG),
        (SquareWave(2.0, bounds=BOX), 2, 1.7),
    ],
)
def test_ours_are_cleared_and_bounded_closely(mechanism, columns, least):
    audit = audit_mechanism(mechanism, columns=columns, random_state=0, **FEW)
    assert audit.claimed == 2.0
    assert not audit.exceeds(), str(audit)
    assert audit.epsilon > least, str(audit)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 50.0])
@pytest.mark.parametrize("truncate", [None, "resample"])
def test_ours_are_cleared_with_many_reports(epsilon, truncate):
    mechanism = Laplace(epsilon, bounds=BOX, truncate=truncate)
    audit = audit_mechanism(mechanism, samples=1_000_000, random_state=0)
    assert not audit.exceeds(), str(audit)


# What is wrong is caught


@pytest.mark.parametrize("scale", [1.3, 3.0])
def test_too_little_noise(scale):
    mechanism = planar_laplace(2.0 * scale, np.random.default_rng(0))
    audit = audit_mechanism(mechanism, bounds=BOX, claim=METRIC, **FEW)
    assert audit.exceeds(), str(audit)


def test_resampling_that_is_claimed_to_be_free():
    """Flaw 4 of the sources: only near the border, where the search looks."""
    rng = np.random.default_rng(1)
    mechanism = resampled_laplace(2.0, [10.0], rng)
    words = {"bounds": (0.0, 10.0), "columns": 1, "claim": METRIC}
    audit = audit_mechanism(mechanism, samples=200_000, search_samples=10_000, **words)
    assert audit.exceeds(), str(audit)
    assert "corner" in audit.worst


def test_uniform_polar_angle():
    """Flaw 1: rounded, so that it is not the bits of the doubles that tell."""
    mechanism = spherical_as_published(2.0, np.random.default_rng(2))
    audit = audit_mechanism(mechanism, bounds=BOX, columns=3, claim=METRIC, **FEW)
    assert audit.exceeds(2.5), str(audit)


def test_a_direction_that_is_never_negative():
    """Flaw 2: the first coordinate of the noise is positive."""
    rng = np.random.default_rng(3)

    def mechanism(record, n):
        noise = ball_noise(2.0, 4, n, rng)
        noise[:, 0] = np.abs(noise[:, 0])
        return grid(record + noise, FINE)

    audit = audit_mechanism(mechanism, bounds=BOX, columns=4, claim=METRIC, **FEW)
    assert audit.exceeds(4.0), str(audit)


@pytest.mark.parametrize("columns", [3, 4])
def test_the_thesis_as_published(columns):
    audit = audit_mechanism(
        NdLaplace(2.0), bounds=BOX, columns=columns, claim=METRIC, random_state=0, **FEW
    )
    assert audit.exceeds(4.0), str(audit)


def test_a_leak_in_one_corner_only():
    """Near the highest corner the noise is three times too small: few pairs show it."""
    rng = np.random.default_rng(4)
    right, wrong = planar_laplace(2.0, rng), planar_laplace(6.0, rng)

    def mechanism(record, n):
        return (wrong if np.min(record) > 0.4 else right)(record, n)

    audit = audit_mechanism(mechanism, bounds=BOX, claim=METRIC, **FEW)
    assert audit.exceeds(), str(audit)
    assert (np.maximum(audit.pair.first, audit.pair.second) > 0.4).all()


def test_neighboring_lattice_points_with_other_reports():
    """The parity of the last bit is the record's: only near points show how much that is."""
    lattice = PlanarLaplace(2.0, bounds=BOX).lattice(2)
    step = float(lattice.step[0])

    class KeepsParity(PlanarLaplace):
        def transform(self, X):
            rows = super().transform(X)
            parity = np.rint(np.asarray(X) / step) % 2
            return rows - step * ((np.rint(rows / step) - parity) % 2)

    audit = audit_mechanism(KeepsParity(2.0, bounds=BOX), random_state=0, **FEW)
    assert audit.pair.distance <= 2 * step
    assert audit.exceeds(1000.0), str(audit)


@pytest.mark.full
@pytest.mark.parametrize("kind", [Piecewise, Hybrid, SquareWave])
def test_epsilon_for_each_column(kind, monkeypatch):
    distribution = ColumnMechanism._column_distribution
    monkeypatch.setattr(
        ColumnMechanism,
        "_column_distribution",
        lambda self, columns: distribution(self, max(1, columns // 2)),
    )
    audit = audit_mechanism(kind(2.0, bounds=BOX), random_state=0, **FEW)
    assert audit.exceeds(), str(audit)


# What is searched


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_metric_pairs_lie_in_the_box_at_the_distances(columns):
    box = public_box((np.zeros(columns), np.full(columns, 4.0)), columns)
    lattice = Lattice(lambda rows: np.rint(rows * 64) / 64, 1 / 64)
    pairs = metric_pairs(box, [0.5, 1.0, 100.0], lattice=lattice)
    assert len({pair.name for pair in pairs}) == len(pairs)
    for pair in pairs:
        ends = np.vstack([pair.first, pair.second])
        assert ((ends >= 0.0) & (ends <= 4.0)).all()
        assert (ends * 64 == np.rint(ends * 64)).all()
        assert pair.distance > 0
    distances = np.array([pair.distance for pair in pairs])
    for wanted in (1 / 64, 0.5, 1.0, 4.0 * np.sqrt(columns)):
        assert np.abs(distances - wanted).min() < 0.04
    assert distances.max() <= 4.0 * np.sqrt(columns) + 1e-9


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_local_pairs_lie_in_the_box_and_differ(columns):
    pairs = local_pairs(public_box(BOX, columns))
    assert len({(*pair.first, *pair.second) for pair in pairs}) == len(pairs)
    assert len({pair.name for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.distance > 0
        assert max(np.abs(pair.first).max(), np.abs(pair.second).max()) <= 1.0
    assert max(pair.distance for pair in pairs) == pytest.approx(2.0 * np.sqrt(columns))
    assert min(pair.distance for pair in pairs) < 1e-5


def test_the_curve_has_the_largest_bound_at_each_distance():
    audit = audit_mechanism(PlanarLaplace(2.0, bounds=BOX), random_state=0, **FEW)
    distances, bounds = zip(*audit.curve, strict=True)
    assert list(distances) == sorted(set(distances))
    assert {0.125, 0.5, 1.0, 1.5, 2.83} <= set(distances)
    assert max(bounds) == max(found.epsilon for found in audit.searched.values())
    # Twice as far apart they are told apart twice as well, until few reports are left that tell.
    assert bounds[distances.index(1.0)] > bounds[distances.index(0.125)]


def test_distances_are_the_callers():
    audit = audit_mechanism(PlanarLaplace(2.0, bounds=BOX), distances=[0.75], random_state=0, **FEW)
    near = [found.distance for found in audit.searched.values() if 0.01 < found.distance < 2.0]
    assert {round(distance, 2) for distance in near} == {0.75}


# The result, and what goes in


def test_the_result():
    told = []
    ledger = Ledger(epsilon=1.0)
    mechanism = PlanarLaplace(2.0, unit="m", bounds=BOX, ledger=ledger, random_state=5)
    before = dict(vars(mechanism))
    words = {**FEWER, "progress": lambda *numbers: told.append(numbers), "random_state": 1}
    audit = audit_mechanism(mechanism, **words)
    assert len(ledger) == 0
    assert vars(mechanism) == before
    assert {total for _, total in told} == {told[-1][0]}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    again = audit_mechanism(mechanism, **FEWER, random_state=1)
    assert again.result == audit.result
    assert again.result != audit_mechanism(mechanism, **FEWER, random_state=2).result
    lines = str(audit).splitlines()
    assert lines[0].startswith("at 99.9% confidence epsilon is at least 1.")
    assert lines[0].endswith("per unit of distance (claimed 2)")
    assert lines[1].startswith(audit.worst)
    assert lines[2] == f"found among {len(audit.searched)} pairs with fewer reports of each"
    copy = pickle.loads(pickle.dumps(audit))
    assert str(copy) == str(audit)
    assert copy.curve == audit.curve
    assert isinstance(copy, MechanismAudit)
    assert isinstance(copy.pair, RecordPair)
    assert audit.evidence.first.shape == (2000,)


def test_no_claim_no_verdict():
    audit = audit_mechanism(Duchi(1.0, bounds=BOX), samples=200, search_samples=100)
    silent = MechanismAudit(
        result=type(audit.result)(**{**vars(audit.result), "claimed": None}),
        pair=audit.pair,
        evidence=audit.evidence,
        searched=audit.searched,
        notion="local",
    )
    with pytest.raises(ParameterError, match="claims no epsilon"):
        silent.exceeds()
    assert silent.exceeds(0.0) == (silent.epsilon > 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"samples": 99}, "samples must be an integer >= 100, got 99"),
        ({"search_samples": 0}, "samples must be an integer >= 100, got 0"),
        ({"confidence": 0.0}, "confidence must be between 0 and 1"),
        ({"columns": 0}, "columns must be a whole number"),
        ({"bounds": 3.0}, "bounds must be a pair"),
        ({"distances": [0.0]}, "distances must be a finite number > 0"),
        (
            {"claim": Guarantee.none("for a test")},
            "must promise metric or local privacy to be audited",
        ),
        ({"claim": 2.0}, "must promise metric or local privacy"),
        ({"progress": 1}, "progress must be a callable or None"),
    ],
)
def test_parameters(words, message):
    with pytest.raises(ParameterError, match=message):
        audit_mechanism(PlanarLaplace(2.0, bounds=BOX), **words)


def test_mechanisms_that_cannot_be_audited():
    def noise(record, n):
        return np.zeros(n)

    with pytest.raises(MissingBoundsError):
        audit_mechanism(noise, claim=METRIC)
    with pytest.raises(ParameterError, match="pass claim=Guarantee"):
        audit_mechanism(noise, bounds=BOX)
    with pytest.raises(ParameterError, match="random_state must be None for a mechanism without"):
        audit_mechanism(noise, bounds=BOX, claim=METRIC, random_state=0)
    with pytest.raises(ParameterError, match="distances must be None for a local promise"):
        audit_mechanism(Duchi(1.0, bounds=BOX), distances=[1.0])
    with pytest.raises(ParameterError, match="mechanism must have transform"):
        audit_mechanism(3.0, bounds=BOX, claim=METRIC)
