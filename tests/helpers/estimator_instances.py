"""Every public estimator and mechanism, as an instance that scikit-learn's checks can run.

Wide public bounds and a large epsilon: the checks ask for clusters in 50 records, not for privacy.
"""

import importlib
import inspect

from sklearn.base import BaseEstimator

from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
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
from shoal.remap import BayesRemap, Clip, GridRemap
from shoal.reports import NoiseAwareKMeans

WIDE = (-20.0, 20.0)

INSTANCES = {
    "DPKMeans": DPKMeans(epsilon=1e4, bounds=WIDE),
    "DPKMeans-delta": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE),
    "DPKMeans-grid-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="grid"),
    "DPKMeans-lloyd": DPKMeans(epsilon=1e4, bounds=WIDE, method="lloyd"),
    "DPKMeans-lloyd-analytic": DPKMeans(epsilon=1e4, bounds=WIDE, method="lloyd", split="analytic"),
    "DPKMeans-lloyd-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="lloyd"),
    "DPKMeans-kccm": DPKMeans(epsilon=1e4, bounds=WIDE, method="kccm"),
    "DPKMeans-kccm-gaussian": DPKMeans(
        epsilon=1e4, delta=1e-6, bounds=WIDE, method="kccm", noise="gaussian"
    ),
    "DPKMeans-lsh": DPKMeans(epsilon=1e4, bounds=WIDE, method="lsh"),
    "DPKMeans-lsh-gaussian": DPKMeans(epsilon=1e4, delta=1e-6, bounds=WIDE, method="lsh"),
    # A smaller epsilon: noise on counts alone would be 0.
    **{
        f"DPWaveCluster-{technique}": DPWaveCluster(
            epsilon=1.5, bounds=WIDE, grid=8, technique=technique
        )
        for technique in ("oneshot", "thr", "thr-em", "qt", "baseline", "density")
    },
    "DPWaveCluster-auto": DPWaveCluster(epsilon=1.5, bounds=WIDE, grid="auto"),
    "DPWaveCluster-db2": DPWaveCluster(epsilon=1.5, bounds=WIDE, grid=8, wavelet="db2"),
    "PrivateCopy": PrivateCopy(epsilon=1.5, bounds=WIDE),
    "PrivateCopy-public": PrivateCopy(epsilon=1.5, bounds=WIDE, n_public=60),
    "Laplace": Laplace(epsilon=1e4, unit="m", bounds=WIDE),
    "Laplace-resample": Laplace(epsilon=1e4, unit="m", bounds=WIDE, truncate="resample"),
    "Piecewise": Piecewise(epsilon=10.0, bounds=WIDE),
    "Piecewise-sample": Piecewise(epsilon=3.0, bounds=WIDE, columns="sample"),
    "Hybrid": Hybrid(epsilon=10.0, bounds=WIDE),
    "Hybrid-sample": Hybrid(epsilon=3.0, bounds=WIDE, columns="sample"),
    "Duchi": Duchi(epsilon=10.0, bounds=WIDE),
    "SquareWave": SquareWave(epsilon=10.0, bounds=WIDE),
    "KdLaplace": KdLaplace(epsilon=1e4, unit="m", bounds=WIDE),
    "KdLaplace-grid": KdLaplace(epsilon=1e4, unit="m", bounds=WIDE, remap="grid"),
}

# One of each class, for what the class alone decides: how it reads tables and parameters.
CLASSES = [
    "DPKMeans",
    "DPWaveCluster-oneshot",
    "PrivateCopy",
    "Laplace",
    "Piecewise",
    "Hybrid",
    "Duchi",
    "SquareWave",
    "KdLaplace",
]
CENTRAL = [name for name in INSTANCES if name.startswith(("DP", "PrivateCopy"))]
CLUSTERERS = [name for name in INSTANCES if name.startswith("DP")]
TRANSFORMERS = [name for name in CLASSES if hasattr(INSTANCES[name], "transform")]

# Mechanisms for one number of columns only: tests/mechanisms/test_inverse_cdf.py runs on these
# what scikit-learn's checks and ours can ask of them.
FIXED_COLUMNS = {
    2: PlanarLaplace(epsilon=1e4, unit="m", bounds=WIDE),
    3: SphericalLaplace(epsilon=1e4, unit="m", bounds=WIDE),
}

# What sees reports only spends nothing and draws no noise: tests/remap and tests/reports hold these
# to scikit-learn's checks and to bad input.
POST_PROCESSING = {Clip, GridRemap, BayesRemap, NoiseAwareKMeans}

ROOMS = ("shoal.mechanisms", "shoal.remap", "shoal.reports", "shoal.cluster")


def public_classes():
    """Estimator classes that the rooms export, for any number of columns."""
    found = set()
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                found.add(value)
    assert found >= POST_PROCESSING
    return found - POST_PROCESSING - {type(instance) for instance in FIXED_COLUMNS.values()}
