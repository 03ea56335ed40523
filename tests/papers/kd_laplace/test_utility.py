"""Our OPTICS gives scikit-learn's labels, one by one."""

import numpy as np
import pytest
from sklearn.cluster import OPTICS
from sklearn.datasets import load_iris, make_blobs, make_moons

from shoal.papers.kd_laplace.utility import optics_labels

TABLES = {
    "blobs": make_blobs(200, centers=4, random_state=0)[0],
    "moons": make_moons(300, noise=0.1, random_state=0)[0],
    "uniform": np.random.default_rng(0).random((150, 5)),
    "iris": load_iris().data,  # with records that are equal
    "grid": np.indices((12, 12)).reshape(2, -1).T.astype(float),  # with distances that are equal
}


FEW = ("iris", "grid")  # with what is equal; the rest in `make test-full`


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.full) for name in TABLES],
)
def test_same_labels_as_scikit_learn(name, subtests):
    for min_samples in [2, 4, 12]:
        with subtests.test(min_samples=min_samples):
            points = TABLES[name]
            with np.errstate(divide="ignore"):
                expected = OPTICS(min_samples=min_samples).fit_predict(points)
            found = optics_labels(points, min_samples=min_samples)
            assert found.tolist() == expected.tolist()
