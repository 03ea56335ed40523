"""The method of the drafts reads sigma and the box of the raw table."""

import numpy as np
import pytest

from shoal.papers.kd_laplace import DraftLaplace

X = np.random.default_rng(3).random((60, 2))


def test_drafts_read_sigma_and_the_box():
    method = DraftLaplace(level=2.0, random_state=0).fit(X)
    sigma = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert method.epsilon_ == pytest.approx(2.0 / (sigma / 2))
    reports = method.transform(X)
    # Records on the rim may keep a report outside after 1000 draws; here none does.
    assert (reports > X.min(axis=0)).all()
    assert (reports < X.max(axis=0)).all()
