"""Every public estimator and mechanism, as an instance that scikit-learn's checks can run.

Instances are made from the registry, so a new method is checked without being listed here; only
variants of methods are. Wide public bounds and a large epsilon: the checks ask for clusters in 50
records, not for privacy.
"""

import importlib
import inspect

from sklearn.base import BaseEstimator

from shoal._build import load_class
from shoal._registry import METHODS
from shoal.cluster import ClusterProfile, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.mechanisms import Hybrid, Laplace, Piecewise

WIDE = (-20.0, 20.0)

SETTINGS = {
    "central": {"epsilon": 1e4},
    "metric": {"epsilon": 1e4, "unit": "m"},
    "local": {"epsilon": 10.0},
}
# A smaller epsilon: noise on counts alone would be 0.
OF_CLASS = {
    "DPDensity": {"epsilon": 1.5},
    "DPWaveCluster": {"epsilon": 1.5, "grid": 8},
    "PrivateCopy": {"epsilon": 1.5},
}
# What a class does by default in few columns: made without naming the method.
DEFAULTS = {"DPKMeans-grid": "DPKMeans", "KdLaplace-bayes": "KdLaplace"}


def make_instance(method):
    """Return an unfitted estimator of a method of the registry."""
    kwargs = {} if method.name in DEFAULTS else method.kwargs
    settings = {**SETTINGS[method.notion], **OF_CLASS.get(method.class_name, {}), **kwargs}
    return load_class(method.location)(bounds=WIDE, **settings)


def mechanism_classes(notion):
    """Return the classes of mechanisms whose epsilon means this, each once."""
    classes = (
        load_class(method.location)
        for method in METHODS
        if method.notion == notion and method.output == "reports"
    )
    return list(dict.fromkeys(classes))


# What sees reports only spends nothing and draws no noise: tests/remap and tests/reports hold these
# to scikit-learn's checks and to bad input.
POST_PROCESSING = {
    load_class(method.location)
    for method in METHODS
    if method.location.startswith(("shoal.remap:", "shoal.reports:"))
}
_METHODS = [method for method in METHODS if load_class(method.location) not in POST_PROCESSING]

# Mechanisms for one number of columns only: tests/mechanisms/test_inverse_cdf.py runs on these
# what scikit-learn's checks and ours can ask of them.
FIXED_COLUMNS = {
    method.max_columns: make_instance(method)
    for method in _METHODS
    if method.min_columns == method.max_columns
}

INSTANCES = {
    **{
        DEFAULTS.get(method.name, method.name): make_instance(method)
        for method in _METHODS
        if method.min_columns == 1
    },
    "DPKMeans-delta": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE),
    "DPKMeans-grid-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="grid"),
    "DPKMeans-lloyd-analytic": DPKMeans(epsilon=1e4, bounds=WIDE, method="lloyd", split="analytic"),
    "DPKMeans-lloyd-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="lloyd"),
    "DPKMeans-kccm-gaussian": DPKMeans(
        epsilon=1e4, delta=1e-6, bounds=WIDE, method="kccm", noise="gaussian"
    ),
    "DPKMeans-ball-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="ball"),
    "DPWaveCluster-auto": DPWaveCluster(epsilon=1.5, bounds=WIDE, grid="auto"),
    "DPWaveCluster-threshold": DPWaveCluster(
        epsilon=1.5, bounds=WIDE, grid=8, threshold="auto", n_public=60
    ),
    "DPWaveCluster-db2": DPWaveCluster(epsilon=1.5, bounds=WIDE, grid=8, wavelet="db2"),
    "PrivateCopy-public": PrivateCopy(epsilon=1.5, bounds=WIDE, n_public=60),
    "Laplace-resample": Laplace(epsilon=1e4, unit="m", bounds=WIDE, truncate="resample"),
    "Piecewise-sample": Piecewise(epsilon=3.0, bounds=WIDE, columns="sample"),
    "Hybrid-sample": Hybrid(epsilon=3.0, bounds=WIDE, columns="sample"),
}

# One of each class, for what the class alone decides: how it reads tables and parameters. The
# default comes first where there is one.
_BY_CLASS = {type(INSTANCES[name]): name for name in reversed(INSTANCES)}
_BY_CLASS |= {type(INSTANCES[name]): name for name in DEFAULTS.values()}
CLASSES = [name for name in INSTANCES if name in _BY_CLASS.values()]
CENTRAL = [name for name in INSTANCES if name.startswith(("DP", "PrivateCopy"))]
CLUSTERERS = [name for name in INSTANCES if name.startswith("DP")]
TRANSFORMERS = [name for name in CLASSES if hasattr(INSTANCES[name], "transform")]

# What describes a release of others: tests/contracts/test_schemas.py and tests/cluster/profile.
OF_RELEASES = {ClusterProfile}
PACKAGES = ("shoal.mechanisms", "shoal.remap", "shoal.reports", "shoal.cluster")


def public_classes():
    """Return the estimator classes that packages export, for any number of columns."""
    exported = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            estimator = inspect.isclass(value) and issubclass(value, BaseEstimator)
            if estimator and not inspect.isabstract(value):
                exported.add(value)
    assert exported >= POST_PROCESSING
    fixed = {type(instance) for instance in FIXED_COLUMNS.values()}
    return exported - POST_PROCESSING - fixed - OF_RELEASES
