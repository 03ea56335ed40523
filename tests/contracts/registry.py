"""Every public estimator and mechanism, as an instance that scikit-learn's checks can run.

Wide public bounds and a large epsilon: the checks ask for clusters in 50 records, not for privacy.
"""

import importlib
import inspect

from sklearn.base import BaseEstimator

from shoal.cluster import DPKMeans
from shoal.mechanisms import Laplace

WIDE = (-20.0, 20.0)

INSTANCES = {
    "DPKMeans": DPKMeans(epsilon=1e4, bounds=WIDE),
    "DPKMeans-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE),
    "Laplace": Laplace(epsilon=1e4, bounds=WIDE),
}

ROOMS = ("shoal.mechanisms", "shoal.cluster")


def public_classes():
    """Estimator classes that the rooms export."""
    found = set()
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                found.add(value)
    return found
