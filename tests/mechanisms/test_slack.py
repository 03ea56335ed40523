"""The exponent of two records across a border of the lattice, against the promise.

Records are rounded before the noise, so two that are next to each other may be a step apart in
every column. What the promise states for a distance r is ``guarantee_.to_local(r).epsilon``.
"""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from helpers.ledgers import roomy_ledger
from shoal.audit import metric_epsilon_lower_bound
from shoal.mechanisms import (
    KdLaplace,
    Laplace,
    PlanarLaplace,
    SphericalLaplace,
    load_mechanism,
    save_beside,
)
from shoal.privacy import Guarantee
from shoal.remap import BayesRemap
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans
from shoal.schema import Category, Number, Place, Schema

HERE = (24.94, 60.17)
FAR = 200_000  # steps to a report: the exponent is nearly that of the most telling ones
NEAR = 1e-5  # of a step from a border, in each column


def box(columns, low, high):
    return [low] * columns, [high] * columns


def across_a_border(mechanism, columns):
    """Return two records at either side of the lattice's border nearest to the middle."""
    limits = mechanism.lattice(columns)
    step = limits.step[0]
    border = ((limits.low + limits.high) // 2 + 0.5) * step
    return border - NEAR * step, border + NEAR * step


def drawn(mechanism, record, monkeypatch):
    """Return the lattice point of a record, and the scale of the noise in steps, as they are."""
    seen = []
    moved = type(mechanism)._moved

    def watched(self, indices, lattice, scale, source):
        seen.append((indices[0].copy(), float(scale)))
        return moved(self, indices, lattice, scale, source)

    with monkeypatch.context() as patch:
        patch.setattr(type(mechanism), "_moved", watched)
        mechanism.randomize(record)
    return seen[0]


def log_mass(cell, scale):
    """Integrate e^(-||z|| / scale) over a unit cell that is far from 0; up to a constant."""
    nodes, weights = np.polynomial.legendre.leggauss(2)
    total = 0.0
    far = np.linalg.norm(cell)
    for corner in itertools.product(range(2), repeat=len(cell)):
        point = cell + nodes[list(corner)] / 2
        # The difference of two lengths, of which the digits would cancel.
        longer = ((point - cell) @ (point + cell)) / (np.linalg.norm(point) + far)
        total += weights[list(corner)].prod() * math.exp(-longer / scale)
    return math.log(total)


def exponent(one, two, scale):
    """Return the log of the ratio of a far report's probabilities, for two lattice points."""
    step = (one - two).astype(np.float64)
    report = np.rint(FAR * step / np.linalg.norm(step))
    from_one, from_two = report, report + step
    nearer = (step @ (from_two + from_one)) / (np.linalg.norm(from_one) + np.linalg.norm(from_two))
    return nearer / scale + log_mass(from_one, scale) - log_mass(from_two, scale)


HOME = Place("home", longitude="east", latitude="north", center=HERE, radius=50.0, missing="refuse")
WEIGHTED = Schema(
    [
        Number("age", minimum=0, maximum=120, weight=4, missing="refuse"),
        Number("rooms", minimum=0, maximum=9, missing="refuse"),
    ]
)
CASES = {
    "laplace-1": (Laplace(1.0, bounds=box(1, -1.0, 1.0)), 2.4414e-4),
    "laplace-2": (Laplace(8.0, bounds=box(2, 0.0, 1.0)), 3.4527e-4),
    "laplace-8": (Laplace(1.0, bounds=box(8, -1.0, 1.0)), 6.9053e-4),
    "laplace-fine": (Laplace(0.001, bounds=box(2, -1.0, 1.0)), 6.9053e-7),
    "planar": (PlanarLaplace(8.0, bounds=box(2, 0.0, 1.0)), 3.4527e-4),
    "spherical": (SphericalLaplace(1.0, bounds=box(3, -1.0, 1.0)), 4.2286e-4),
    "weighted": (Laplace(1.0, schema=WEIGHTED), 3.4527e-4),
    "place": (PlanarLaplace(0.5, schema=Schema([HOME])), None),
    "place per m": (Laplace(0.0005, unit="m", schema=Schema([HOME])), None),
}


@pytest.mark.parametrize("name", CASES)
def test_the_exponent_across_a_border_is_within_the_promise_and_reaches_it(name, monkeypatch):
    mechanism, known = CASES[name]
    encoded = mechanism if mechanism.schema is None else mechanism.of_encoded()
    columns = len(encoded.bounds[0])
    first, second = across_a_border(encoded, columns)
    distance = float(np.linalg.norm(first - second))
    given = [first, second]
    if mechanism.schema is not None:
        decoded = mechanism.schema.decode(np.stack(given))
        given = [{key: float(values[i]) for key, values in decoded.items()} for i in range(2)]
    if name.startswith("place"):
        distance *= HOME.kilometers * 1.01 * (1000 if mechanism.unit else 1)
    (one, scale), (two, _) = (drawn(mechanism, record, monkeypatch) for record in given)
    assert (np.abs(one - two) == 1).all(), "the two records are not across a border"
    loss = exponent(one, two, scale)
    promised = mechanism.guarantee_.to_local(distance).epsilon
    assert loss <= promised
    assert loss > 0.999 * mechanism.guarantee_.slack
    if known is not None:
        assert loss == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 40.0])
def test_redrawn_reports_lose_no_more_than_the_promise(epsilon):
    """In one column the law is a sum: the noise's, over the chance of landing inside."""
    mechanism = Laplace(epsilon, bounds=([0.0], [1.0]), truncate="resample")
    lattice = mechanism.lattice(1)
    step, last = float(lattice.step[0]), int(lattice.high[0])
    rate = epsilon / 2 * step
    cells = np.arange(-last, last + 1)
    masses = np.exp(-np.abs(cells) * rate) * (math.expm1(rate / 2) - math.expm1(-rate / 2)) / 2
    masses[last] = -math.expm1(-rate / 2)

    def law(index):
        inside = masses[last - index : 2 * last - index + 1]
        return inside / inside.sum()

    losses = [
        np.abs(np.log(law(index) / law(index + 1))).max() for index in (0, 1, last // 2, last - 1)
    ]
    promised = mechanism.guarantee_.to_local(2 * NEAR * step).epsilon
    assert max(losses) <= promised
    assert max(losses) > 0.99 * mechanism.guarantee_.slack


def test_places_pay_for_the_rounding_of_their_projection_too():
    """In a disc of a millimeter doubles err by more than the lattice does."""
    radius = 1e-6
    tiny = Place("home", center=HERE, radius=radius, missing="refuse")
    mechanism = Laplace(1.0, schema=Schema([tiny]))
    lattice = mechanism.lattice(2)
    slack = mechanism.guarantee_.slack
    assert slack > 1.5 * float(lattice.step[0]) * tiny.kilometers * math.sqrt(2) / tiny.stretch
    rng = np.random.default_rng(0)
    center = np.array(HERE)
    # Degrees that are the same but for their last digit.
    places = center + rng.uniform(-5e-12, 5e-12, (2000, 2))
    beside = np.nextafter(places, 90.0)
    moved = np.linalg.norm(tiny.project(places) - tiny.project(beside), axis=1)
    # The ground under one unit in the last place, east and north: exact to 1e-6 of itself.
    ground = np.radians(beside - places) * 6371.0088
    ground[:, 0] *= math.cos(math.radians(HERE[1]))
    excess = moved - np.linalg.norm(ground, axis=1)
    assert excess.max() <= tiny.rounding * tiny.kilometers


def test_over_the_box_the_rounding_costs_nothing(monkeypatch):
    """Both lattice points lie in the box, so epsilon times its diameter covers them."""
    for low, high in ((0.3, 1.7), (-1.0, 1.0), (100.1, 100.2)):
        mechanism = Laplace(3.0, bounds=box(2, low, high))
        diameter = math.dist([low] * 2, [high] * 2)
        (one, scale), (two, _) = (
            drawn(mechanism, [end, end], monkeypatch) for end in (low - 1.0, high + 1.0)
        )
        loss = float(np.linalg.norm(one - two)) / scale
        assert loss <= mechanism.local_guarantee_.epsilon
        assert mechanism.local_guarantee_.epsilon == pytest.approx(3.0 * diameter, rel=1e-12)
        assert mechanism.local_guarantee_.slack == 0.0


def test_slack_follows_from_the_number_of_columns():
    mechanism = Laplace(1.0, bounds=(-1.0, 1.0))
    for asked in (lambda: mechanism.guarantee_, mechanism.report_format, mechanism.to_dict):
        with pytest.raises(NotFittedError):
            asked()
    assert len(mechanism.randomize([0.0, 0.0])) == 2, "a device needs no fit"
    slacks = [mechanism.fit(np.zeros((1, columns))).guarantee_.slack for columns in (1, 4, 16, 100)]
    assert slacks == pytest.approx([2.0**-12 * root for root in (1, 2, 4, 10)])


def test_the_slack_of_what_was_drawn_stays():
    """Reports of four columns are out, and of a larger epsilon; the next ones have one column."""
    mechanism = Laplace(1.0, bounds=(-1.0, 1.0))
    mechanism.transform(np.zeros((1, 4)))
    mechanism.set_params(bounds=box(1, -1.0, 1.0))
    for one in (mechanism, copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert one.guarantee_.slack == pytest.approx(2.0**-11)
    assert mechanism.fit([[0.0]]).guarantee_.slack == pytest.approx(2.0**-12)


def test_each_report_is_charged_with_its_slack():
    ledger = roomy_ledger()
    mechanism = Laplace(1.0, unit="m", bounds=(-1.0, 1.0), ledger=ledger)
    for columns in (1, 4, 4):
        mechanism.transform(np.zeros((1, columns)))
    assert [entry.event.slack for entry in ledger.entries] == pytest.approx(
        [2.0**-12, 2.0**-11, 2.0**-11]
    )
    (spent,) = ledger.spent
    assert spent.slack == pytest.approx(5 * 2.0**-12)
    assert spent.slack >= math.fsum(entry.event.slack for entry in ledger.entries)


@pytest.mark.parametrize("out", [None, "reports.csv"])
def test_documents_carry_the_slack(out, tmp_path):
    mechanism = Laplace(1.0, bounds=(-1.0, 1.0))
    if out is None:
        plain = mechanism.fit(np.zeros((1, 4))).to_dict()
        loaded = load_mechanism(plain)
    else:
        loaded = load_mechanism(save_beside(mechanism, tmp_path / out, list("abcd")))
        plain = loaded.to_dict()
    slack = plain["guarantee"]["slack"]
    assert slack == loaded.guarantee_.slack == pytest.approx(2.0**-11)
    for better in (0.0, slack / 2):
        plain["guarantee"]["slack"] = better
        assert load_mechanism(plain).guarantee_.slack == slack
    plain["guarantee"]["slack"] = 1.0
    assert load_mechanism(plain).guarantee_.slack == 1.0, "it may have drawn so"


def test_what_sees_reports_states_the_slack_of_a_mechanism_that_was_not_fitted():
    records = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 2))
    reports = Laplace(8.0, bounds=(-1.0, 1.0), random_state=0).fit_transform(records)
    mechanism = Laplace(8.0, bounds=(-1.0, 1.0))
    expected = Laplace(8.0, bounds=box(2, -1.0, 1.0)).guarantee_
    models = (
        BayesRemap(mechanism),
        NoiseAwareKMeans(2, mechanism=mechanism, random_state=0),
        NoiseAwareDensity(mechanism=mechanism, random_state=0),
    )
    for model in models:
        assert model.fit(reports).guarantee_ == expected
    assert KdLaplace(8.0, bounds=(-1.0, 1.0)).fit(records).guarantee_ == expected


class Answers:
    """Say the truth about which side a record is on, with a log-ratio of 1."""

    def __init__(self, slack):
        self.guarantee_ = Guarantee("metric", 2.0, slack=slack)
        self._rng = np.random.default_rng(0)

    def transform(self, X):
        true = np.asarray(X)[:, :1] > 0
        lies = self._rng.random(true.shape) >= math.e / (1 + math.e)
        return (true ^ lies).astype(float)


@pytest.mark.parametrize(("slack", "broken"), [(0.0, True), (0.5, True), (1.0, False)])
def test_audits_take_the_slack_off(slack, broken):
    result = metric_epsilon_lower_bound(Answers(slack), [-0.05], [0.05], samples=40_000)
    assert result.claimed == pytest.approx(2.0)
    assert result.exceeds() == broken
    assert result.epsilon == pytest.approx((1.0 - slack) / 0.1, abs=1.0)


def test_an_audit_of_a_mechanism_that_was_not_fitted_knows_its_claim():
    mechanism = Laplace(4.0, bounds=(0.0, 1.0), random_state=0)
    result = metric_epsilon_lower_bound(mechanism, [0.2, 0.2], [0.7, 0.2], samples=4_000)
    assert result.claimed == pytest.approx(4.0)
    assert not result.exceeds()


def test_several_columns_of_a_field_are_rounded_each():
    mixed = Schema([Category("city", ["A", "B"], missing="refuse"), *WEIGHTED.fields])
    mechanism = Laplace(2.0, schema=mixed)
    columns = mixed.space.columns
    step = float(mechanism.lattice(columns).step[0])
    assert mechanism.guarantee_.slack == pytest.approx(2.0 * step * math.sqrt(columns))
