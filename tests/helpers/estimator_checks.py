"""The promises that every estimator is held to, as functions that raise AssertionError.

tests/planted breaks shoal on purpose and expects these very functions to notice.
"""

import math

import numpy as np
import pandas as pd
from sklearn.base import clone

from helpers.draw_costs import draw_cost
from helpers.noise_recorder import Draw, Statistic, recording
from shoal.audit import (
    Neighbors,
    epsilon_lower_bound,
    metric_epsilon_lower_bound,
    replay_estimator,
)
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.cluster.wavecluster._band import band_of
from shoal.mechanisms import Hybrid, KdLaplace, Laplace, PartitionResponse
from shoal.mechanisms._local import LocalMechanism
from shoal.mechanisms._metric import MetricMechanism
from shoal.privacy import (
    Guarantee,
    Ledger,
    Release,
    cost,
    epsilon_to_gdp,
    gdp_to_epsilon,
)
from shoal.privacy.accounting import metric_cost
from shoal.reports import label_on_device

RECORDS = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 2))


def output(estimator, X=RECORDS):
    """What the estimator makes of X: reports, centers, cells, or made-up records."""
    if hasattr(estimator, "fit_transform"):
        return np.asarray(estimator.fit_transform(X))
    estimator.fit(X)
    if isinstance(estimator, DPWaveCluster):
        return np.append(estimator.release_.values["band"], estimator.threshold_)
    if isinstance(estimator, DPDensity):  # how many counts there are is noisy, too
        counts = np.resize(estimator.release_.values["counts"], 64)
        return np.append(counts, estimator.n_records_)
    if isinstance(estimator, PrivateCopy):
        return estimator.sample(60, random_state=0)
    return estimator.cluster_centers_


def roomy_ledger(**words):
    return Ledger(epsilon=1e6, metric_epsilon=1e6, metric_unit="m", **words)


def spent(ledger):
    """All that a ledger has recorded, whichever the account, as one schedule fixed in advance."""
    total = 0.0
    for event in (entry.event for entry in ledger.entries):
        metric = metric_cost(event)
        if metric is not None:
            total += metric[1]
            continue
        price = cost(event)
        pure = math.isfinite(price.epsilon)
        mu = math.sqrt(price.mu_squared)
        total += price.epsilon if pure else gdp_to_epsilon(mu, ledger.limits.delta)
    return total


def has_a_guarantee(estimator):
    fitted = clone(estimator).set_params(random_state=None)
    output(fitted)
    guarantee = fitted.guarantee_
    assert isinstance(guarantee, Guarantee)
    assert guarantee.holds
    assert guarantee.epsilon == estimator.epsilon
    # A method that finds pure noise to be the smaller one may leave the delta unused.
    assert guarantee.delta in (0.0, getattr(estimator, "delta", 0.0))
    seeded = clone(estimator).set_params(random_state=0)
    output(seeded)
    assert not seeded.guarantee_.holds
    assert str(seeded.guarantee_).endswith("seeded: for tests and experiments only")


def spends_before_it_draws(estimator):
    """One spend, of what the guarantee says, before the first draw of noise."""
    delta = getattr(estimator, "delta", 0.0)
    ledger = roomy_ledger(delta=delta) if delta else roomy_ledger()
    charged = clone(estimator).set_params(ledger=ledger, random_state=None)
    with recording() as tape:
        output(charged)
    assert tape.draws, "no noise was drawn"
    assert tape.entries[0] in tape.spends, "noise was drawn before the spend"
    assert len(ledger) == len(tape.spends) == 1
    assert math.isclose(spent(ledger), charged.guarantee_.epsilon, rel_tol=1e-9)
    entry = ledger.entries[0]
    assert entry.privacy_unit == charged.guarantee_.privacy_unit
    assert entry.seeded == charged.guarantee_.seeded
    if hasattr(charged, "release_"):
        assert charged.release_.ledger == entry.receipt, "the release must say which entry paid"


def notes_columns_and_seed(estimator):
    frame = pd.DataFrame(RECORDS, columns=["east", "north"])
    for seed in (None, 7):
        ledger = roomy_ledger(delta=getattr(estimator, "delta", 0.0))
        charged = clone(estimator).set_params(ledger=ledger, random_state=seed).fit(frame)
        if hasattr(charged, "transform"):
            charged.transform(frame)
        assert ledger.entries
        for entry in ledger.entries:
            # A mechanism of its own draws for KdLaplace, from arrays without names.
            assert entry.columns == (() if isinstance(estimator, KdLaplace) else ("east", "north"))
            assert entry.seeded == (seed is not None)


def repeats_with_a_seed(estimator):
    one, two = (clone(estimator).set_params(random_state=7) for _ in range(2))
    assert (output(one) == output(two)).all()
    other = clone(estimator).set_params(random_state=8)
    assert not np.array_equal(output(one), output(other))


def differs_without_a_seed(estimator):
    """Three fits are not all alike.

    Sixteen noisy counts of a band at epsilon 1.5 are those of another fit with probability 1e-6,
    and of two others with 1e-12.
    """
    fits = [clone(estimator).set_params(random_state=None) for _ in range(3)]
    assert len({output(fit).tobytes() for fit in fits}) > 1


def labels_follow_from_the_release(estimator):
    """In a box that is no square, labels on a device are those of predict, ties included."""
    low, high = np.array([-30.0, 0.01]), np.array([10.0, 0.03])
    X = low + (RECORDS + 1.0) / 2 * (high - low)
    fitted = clone(estimator).set_params(bounds=(low, high), random_state=0).fit(X)
    release = Release.from_json(fitted.release_.to_json())
    corners = np.array([low, high, (low + high) / 2, low - 1e9, high + 1e9])
    asked = np.concatenate([X, corners])
    assert (label_on_device(release, asked) == fitted.predict(asked)).all()


def noise_pays_for(estimator):
    """The scales that were drawn with add up to the promise, by sensitivities found apart."""
    fitted = clone(estimator).set_params(random_state=0)
    with recording() as tape:
        output(fitted)
    if isinstance(fitted, KdLaplace):
        fitted = fitted.mechanism_
    if isinstance(fitted, MetricMechanism):
        step = float(fitted.lattice(RECORDS.shape[1]).step[0])
        share = 0.5 if getattr(fitted, "truncate", None) else 1.0
        for draw in tape.draws:
            assert math.isclose(1.0 / (draw.scale * step), share * fitted.epsilon, rel_tol=1e-12)
        return
    if isinstance(fitted, PartitionResponse):
        # Which partition answers is drawn without the record and costs nothing.
        (response,) = [draw for draw in tape.draws if draw.sampler == "randomized_response"]
        assert response.shape == (len(RECORDS),)
        assert math.isclose(response.scale, fitted.epsilon, rel_tol=1e-12)
        return
    if isinstance(fitted, LocalMechanism):
        # Columns are independent, so the epsilons of a row's choices add up. The coin of the
        # hybrid looks at no record and costs nothing; it is drawn at half of a column's epsilon.
        choices = [draw for draw in tape.draws if draw.sampler == "two_level"]
        if isinstance(fitted, Hybrid):
            choices = choices[1::2]
        (choice,) = choices
        reported = choice.shape[1] if len(choice.shape) == 2 else 1
        assert math.isclose(reported * choice.scale, fitted.epsilon, rel_tol=1e-12)
        return
    assert isinstance(fitted, DPDensity | DPKMeans | DPWaveCluster | PrivateCopy)
    effect = one_record_in_the_band(fitted) if isinstance(fitted, DPWaveCluster) else None
    draws_pay_for(tape, fitted, effect=effect)


def one_record_in_the_band(fitted, columns=2):
    """Move one record through all cells: most that the band changes, and most values that do."""
    band = band_of(fitted.wavelet, fitted.level, fitted.grid_, columns)
    changes = []
    for cell in np.ndindex(*[fitted.grid_] * columns):
        counts = np.zeros([fitted.grid_] * columns, dtype=np.int64)
        counts[cell] = 1
        changes.append(band.dense(counts))
    return (
        max(int(np.abs(change).sum()) for change in changes),
        max(int((change != 0).sum()) for change in changes),
    )


def draws_pay_for(tape, fitted, *, unit=1, effect=None):
    """Price every draw by what one person can change in the statistic that it hides."""
    whole_band = getattr(fitted, "technique", "") in ("oneshot", "density")
    costs, statistic = [], None
    for entry in tape.entries:
        if isinstance(entry, Statistic):
            statistic = entry
        elif isinstance(entry, Draw):
            assert statistic is not None, "noise on nothing"
            if effect is None or statistic.name != "grid_counts":
                costs.append(float(draw_cost(entry, statistic, unit)))
            elif entry.sampler == "exponential_choice":
                costs.append(2 * effect[1] * entry.scale)
            elif whole_band:
                costs.append(effect[0] / entry.scale)
            else:  # counts, or the number of values that are not positive
                costs.append((effect[1] if entry.shape == (1,) else 1) / entry.scale)
    approximate = fitted.guarantee_.delta > 0
    assert {draw.sampler == "rounded_gaussian" for draw in tape.draws} == {approximate}
    mu = epsilon_to_gdp(fitted.epsilon, fitted.delta) if approximate else 0.0
    promised = mu**2 if approximate else fitted.epsilon
    assert sum(costs) <= promised * (1 + 1e-12)
    assert sum(costs) >= promised * (1 - 1e-9), "budget left unused"


def replays_on_neighbors(estimator):
    """One record more at a corner, among others, or the first of all: nothing else may differ."""
    center = RECORDS[0]
    pairs = [
        Neighbors("corner", RECORDS, [20.0, -20.0]),
        Neighbors("among others", RECORDS, [0.1, 0.1]),
        Neighbors("edge", RECORDS, [-20.0, 7.0]),
        Neighbors("corner, one other", center[None], [-20.0, -20.0]),
        Neighbors("beside an equal one", center[None], center),
    ]
    audit = replay_estimator(estimator, pairs, repeats=2, published=public_state)
    assert not audit.broken, str(audit)


def public_state(estimator):
    """All that a fitted estimator carries, beside what it was given."""
    given = {*estimator.get_params(deep=False), "guarantee_", "release_"}
    state = {name: value for name, value in vars(estimator).items() if name not in given}
    return {"release_": dict(estimator.release_.values), **state}


def divides_rounds_as_su_et_al():
    """Shares of MATH section 7, for columns where they differ: the count gets q / (d + q)."""
    d, k, epsilon = 10, 3, 1.0
    words = {"n_public": 500, "max_iter": 4, "method": "lloyd", "split": "analytic"}
    model = DPKMeans(k, epsilon=epsilon, bounds=(-1.0, 1.0), **words)
    with recording() as tape:
        model.set_params(random_state=0).fit(np.zeros((500, d)))
    q = (4 * d * 0.225**2) ** (1 / 3)
    per_round = epsilon / 4
    for draw in tape.draws:
        if draw.shape == (k,):
            expected = (d + q) / (q * per_round)
        else:
            assert draw.shape == (k, d)
            expected = 2**19 * (d + q) / per_round
        assert math.isclose(draw.scale, expected, rel_tol=1e-9)


def survives_an_audit_of_reports(epsilon=2.0):
    """No lower bound above epsilon (false alarm 0.1%), and one near it."""
    mechanism = Laplace(epsilon, bounds=(-1.0, 1.0), random_state=3).fit(np.zeros((1, 2)))
    found = metric_epsilon_lower_bound(mechanism, [-0.3, 0.1], [0.4, 0.1], samples=400_000)
    assert not found.exceeds(epsilon), str(found)
    assert found.epsilon >= 0.9 * epsilon, str(found)


def survives_an_audit_of_centers(epsilon=1.0, runs=4000, method="lloyd"):
    """One record more or less, in a cluster that is empty without it (false alarm 0.1%)."""

    def centers(records, count):
        model = DPKMeans(
            1,
            epsilon=epsilon,
            bounds=(-1.0, 1.0),
            method=method,
            n_public=1,
            max_iter=1,
            random_state=rng,
        )
        return np.array([model.fit(records).cluster_centers_[0, 0] for _ in range(count)])

    rng = np.random.RandomState(5)
    far, near = np.array([[1.0], [0.0]]), np.array([[0.0]])
    found = epsilon_lower_bound(centers, far, near, samples=runs)
    assert not found.exceeds(epsilon), str(found)
