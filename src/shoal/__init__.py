"""Private clustering: find the clusters, hide the individuals.

Clustering with differential privacy, in the style of scikit-learn. The most used names can be
imported from here (they are loaded when first used). Others are in packages such as
``shoal.cluster``, ``shoal.mechanisms`` and ``shoal.privacy``; the reference lists them all.
"""

from typing import TYPE_CHECKING, Any

from shoal._api import TOP
from shoal._optional import require

__version__ = "0.1.0"

# From `_api.py`, for type checkers: written by `python tools/derived_texts.py`.
if TYPE_CHECKING:
    from shoal.audit import (
        attack_centers,
        audit_estimator,
        audit_mechanism,
        check_pipeline,
        epsilon_lower_bound,
        membership_inference,
        metric_epsilon_lower_bound,
        replay_estimator,
    )
    from shoal.cluster import Ball, ClusterProfile, DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
    from shoal.labels import label_on_device
    from shoal.mechanisms import (
        Duchi,
        Hybrid,
        KdLaplace,
        Laplace,
        PartitionResponse,
        Piecewise,
        PlanarLaplace,
        SphericalLaplace,
        SquareWave,
    )
    from shoal.metrics import score_clustering
    from shoal.privacy import Adjacency, Guarantee, Ledger, Release
    from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans, load_release
    from shoal.schema import Category, Date, Flag, Number, Ordinal, Place, Schema, SchemaEncoder

__all__ = [
    "Adjacency",
    "Ball",
    "Category",
    "ClusterProfile",
    "DPDensity",
    "DPKMeans",
    "DPWaveCluster",
    "Date",
    "Duchi",
    "Flag",
    "Guarantee",
    "Hybrid",
    "KdLaplace",
    "Laplace",
    "Ledger",
    "NoiseAwareDensity",
    "NoiseAwareKMeans",
    "Number",
    "Ordinal",
    "PartitionResponse",
    "Piecewise",
    "Place",
    "PlanarLaplace",
    "PrivateCopy",
    "Release",
    "Schema",
    "SchemaEncoder",
    "SphericalLaplace",
    "SquareWave",
    "__version__",
    "attack_centers",
    "audit_estimator",
    "audit_mechanism",
    "check_pipeline",
    "epsilon_lower_bound",
    "label_on_device",
    "load_release",
    "membership_inference",
    "metric_epsilon_lower_bound",
    "replay_estimator",
    "score_clustering",
]
# end of what is written

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in TOP:
            raise AttributeError(f"module 'shoal' has no attribute {name!r}")
        return getattr(require(TOP[name], extra=""), name)


def __dir__() -> list[str]:
    return sorted(__all__)
