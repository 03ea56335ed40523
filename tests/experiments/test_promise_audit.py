"""Audits against another claim, on fewer pairs, with progress; how far attacks are."""

import numpy as np
import pytest

from shoal.audit import Neighbors, audit_estimator, replay_estimator
from shoal.cluster import DPKMeans
from shoal.exceptions import ParameterError
from shoal.experiments import Provenance, attack_report, attack_suite, audit_promise
from shoal.mechanisms import Laplace
from shoal.plotting import draw_rates
from shoal.privacy import Guarantee
from shoal.tables import ArrayTable

BOX = (-1.0, 1.0)
ONE = Guarantee("central", epsilon=1.0)
PAIR = "corner, one other in the opposite one"
FEW = {"pairs": [PAIR], "runs": 100, "search": 20, "repeats": 1, "random_state": 0}


def _kmeans(epsilon):
    return DPKMeans(1, epsilon=epsilon, bounds=BOX, n_public=1, max_iter=1)


def test_an_estimator_is_held_to_the_claim_and_not_to_its_own_promise():
    steps = []
    audit = audit_promise(
        _kmeans(2.0), claim=ONE, progress=lambda done, total: steps.append((done, total)), **FEW
    )
    assert audit.broken
    assert audit.claimed == 1.0
    assert audit.guarantee == str(ONE)
    assert audit.replay.loss == pytest.approx(2.0)
    assert audit.sampling.worst == PAIR
    assert steps[:20] == [(done, 20) for done in range(1, 21)]  # the replay takes all pairs
    assert steps[-1][0] == steps[-1][1] > 20
    assert not audit_promise(_kmeans(1.0), claim=ONE, **FEW).broken


def test_a_mechanism_is_held_to_the_claim():
    claim = Guarantee("metric", epsilon=1.0)
    kwargs = {"samples": 8_000, "search": 300, "random_state": 0}
    assert audit_promise(Laplace(2.0, bounds=BOX), claim=claim, **kwargs).broken
    assert not audit_promise(Laplace(1.0, bounds=BOX), claim=claim, **kwargs).broken


def test_the_claim_of_an_estimator_must_be_central():
    pair = [Neighbors("end", records=[[-1.0]], added=[1.0])]
    with pytest.raises(ParameterError, match="must promise central privacy"):
        audit_estimator(_kmeans(1.0), pair, claim=Guarantee("local", epsilon=1.0), runs=100)
    kwargs = {"runs": 100, "search_runs": 20, "random_state": 0}
    claimed = audit_estimator(_kmeans(1.0), pair, claim=Guarantee("central", epsilon=3.0), **kwargs)
    assert claimed.claimed == 3.0


def test_unknown_pairs_are_refused():
    with pytest.raises(ParameterError, match="names of neighboring_datasets, got 'nowhere'"):
        audit_promise(_kmeans(1.0), pairs=["nowhere"])
    with pytest.raises(ParameterError, match="pairs, runs and resume must be left out"):
        audit_promise(Laplace(1.0, bounds=BOX), pairs=[PAIR])


def test_a_replay_can_be_ended_by_its_progress():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay_estimator(_kmeans(1.0), progress=stop)


def test_attacks_say_how_far_they_are_and_whose_records_they_know(tmp_path):
    steps = []
    table = ArrayTable(np.random.default_rng(0).uniform(-1.0, 1.0, (32, 2)), ("a", "b"))
    suite = attack_suite(
        DPKMeans(2, bounds=BOX, method="lloyd"),
        table,
        attacks=["centers"],
        runs=2,
        random_state=0,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == sorted(steps)
    assert len(steps) > 2  # more often than an attack is done
    assert steps[-1] == (200, 200)
    picture, made = draw_rates(suite.rows), Provenance("shoal attack x.csv", 0)
    for raw, words in ((True, "For the curator only"), (False, "records of no real person")):
        page = attack_report(
            tmp_path / f"{raw}.html", suite, picture=picture, made=made, raw=raw
        ).read_text()
        assert (words in page) is True
        assert ("For the curator only" in page) is raw
