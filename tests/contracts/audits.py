"""Promises of single methods, which planted bugs must break: shares of a round, and two audits."""

import math

import numpy as np

from helpers.noise_recorder import recording
from shoal.audit import epsilon_lower_bound, metric_epsilon_lower_bound
from shoal.cluster import DPKMeans
from shoal.mechanisms import Laplace


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
