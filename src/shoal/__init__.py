"""Private clustering: find the clusters, hide the individuals.

The public names live in rooms (``shoal.cluster``, ``shoal.mechanisms``, ``shoal.privacy`` ...); the
most used ones are here as well and are loaded when first asked for.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "Adjacency": "privacy",
    "DPKMeans": "cluster",
    "DPWaveCluster": "cluster",
    "Duchi": "mechanisms",
    "Guarantee": "privacy",
    "Hybrid": "mechanisms",
    "KdLaplace": "mechanisms",
    "Laplace": "mechanisms",
    "Ledger": "privacy",
    "NoiseAwareKMeans": "reports",
    "Piecewise": "mechanisms",
    "PlanarLaplace": "mechanisms",
    "PrivateCopy": "cluster",
    "Release": "privacy",
    "SphericalLaplace": "mechanisms",
    "SquareWave": "mechanisms",
    "attack_centres": "audit",
    "audit_estimator": "audit",
    "audit_mechanism": "audit",
    "epsilon_lower_bound": "audit",
    "label_on_device": "reports",
    "membership_inference": "audit",
    "metric_epsilon_lower_bound": "audit",
    "replay_estimator": "audit",
    "score_clustering": "metrics",
}

__all__ = ["__version__", *_ROOMS]  # noqa: PLE0604 - names are made of the table above


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(importlib.import_module(f"shoal.{room}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
