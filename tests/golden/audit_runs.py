"""Audits of mechanisms and estimators, and attacks."""

import numpy as np
from sklearn.cluster import KMeans

from golden.table import BOX, clusters, run
from shoal.audit import (
    Neighbors,
    advantage_ceiling,
    attack_centers,
    audit_estimator,
    audit_mechanism,
    epsilon_lower_bound,
    infer_attribute,
    membership_inference,
    metric_epsilon_lower_bound,
    neighboring_datasets,
    reconstruct,
    replay_estimator,
)
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
from shoal.privacy import Guarantee


@run("audit-bounds")
def bounds_of_epsilon(note):
    mechanism = Laplace(2.0, bounds=BOX, random_state=3).fit(np.zeros((1, 2)))
    found = metric_epsilon_lower_bound(mechanism, [-0.3, 0.1], [0.4, 0.1], samples=20_000)
    note("metric", found)
    local = Duchi(1.0, bounds=BOX, random_state=3).fit(np.zeros((1, 2)))
    note("local", epsilon_lower_bound(local, [-1.0, -1.0], [1.0, 1.0], samples=20_000))


@run("audit-mechanisms", quick=False)
def audits_of_mechanisms(note):
    for mechanism, columns in [
        (Laplace(2.0, bounds=BOX), 2),
        (Laplace(2.0, bounds=BOX, truncate="resample"), 1),
        (KdLaplace(2.0, bounds=BOX, remap="grid", grid_cells=8), 2),
        (Piecewise(1.0, bounds=BOX), 2),
        (Hybrid(1.0, bounds=BOX), 2),
        (Duchi(1.0, bounds=BOX), 3),
        (SquareWave(1.0, bounds=BOX), 1),
        (PlanarLaplace(1.0, bounds=BOX), 2),
        (SphericalLaplace(1.0, bounds=BOX), 3),
    ]:
        name = f"{type(mechanism).__name__} {getattr(mechanism, 'truncate', '')}"
        words = {"columns": columns, "samples": 4000, "search_samples": 500, "random_state": 0}
        note(name, audit_mechanism(mechanism, **words))


@run("audit-estimators", quick=False)
def audits_of_estimators(note):
    words = {"runs": 150, "search_runs": 20, "random_state": 0}
    model = DPKMeans(1, bounds=BOX, method="lloyd", max_iter=1)
    few = list(neighboring_datasets(BOX, n=20, columns=1))[:3]
    note("pairs", few)
    note("kmeans", audit_estimator(model, few, **words))
    wave = DPWaveCluster(epsilon=1.0, bounds=BOX, grid=4)
    note("wavecluster", audit_estimator(wave, few, **words))


@run("audit-replay")
def replays(note):
    X = clusters(60)
    pairs = [
        Neighbors("corner", X, [20.0, -20.0]),
        Neighbors("among others", X, [0.1, 0.1]),
        Neighbors("beside an equal one", X[:1], X[0]),
    ]
    for name, estimator in {
        "grid": DPKMeans(3, bounds=BOX),
        "grid-gaussian": DPKMeans(3, bounds=BOX, delta=1e-6, method="grid"),
        "lloyd": DPKMeans(3, bounds=BOX, method="lloyd"),
        "kccm": DPKMeans(2, bounds=BOX, method="kccm"),
        "ball": DPKMeans(3, bounds=BOX, method="ball"),
        "private-k": DPKMeans("private", bounds=BOX, method="lloyd", max_clusters=4),
        "private-bounds": DPKMeans(2, bounds="private"),
        **{
            technique: DPWaveCluster(epsilon=1.5, bounds=BOX, grid=8, technique=technique)
            for technique in ("oneshot", "thr", "thr-em", "qt", "baseline", "density")
        },
        "sparse": DPWaveCluster(epsilon=1.5, bounds=BOX, grid=8192),
        "copy": PrivateCopy(1.5, bounds=BOX),
    }.items():
        note(name, replay_estimator(estimator, pairs, repeats=2))


@run("attack-centers")
def attacks_on_centers(note):
    X = np.random.default_rng(1).uniform(-1.0, 1.0, (40, 2))
    for name, target in {
        "plain": KMeans(4, n_init=1),
        "kmeans": DPKMeans(3, epsilon=5.0, bounds=BOX, method="lloyd"),
        "wavecluster": DPWaveCluster(epsilon=1.0, bounds=BOX, grid=8),
    }.items():
        words = {"runs": 3, "shadows": 8, "random_state": 0}
        note(name, attack_centers(target, X, **words))
        if name != "wavecluster":
            note(f"{name}, distance", attack_centers(target, X, score="distance", **words))
    for promise in (Guarantee("central", epsilon=1.0), Guarantee("central", 1.0, delta=1e-3)):
        note(f"ceiling {promise.delta}", advantage_ceiling(promise))
    note("ceiling metric", advantage_ceiling(Guarantee("metric", 0.5), diameter=2.0))


@run("attack-membership", quick=False)
def attacks_on_membership(note):
    X = clusters(80)
    for attack in ("shadow", "yeom", "label-only"):
        for name, target in {
            "mechanism": Laplace(2.0, bounds=BOX),
            "estimator": DPKMeans(2, epsilon=2.0, bounds=BOX),
        }.items():
            words = {"attack": attack, "runs": 1, "shadow_models": 2, "random_state": 0}
            found = membership_inference(target, X, y=np.arange(80) % 2, **words)
            note(f"{attack} {name}", found)


@run("attack-records")
def attacks_on_records(note):
    X = clusters(60)
    for mechanism in (
        Laplace(3.0, bounds=BOX),
        PlanarLaplace(3.0, bounds=BOX),
        Piecewise(2.0, bounds=BOX),
        Duchi(2.0, bounds=BOX),
        SquareWave(2.0, bounds=BOX),
        Hybrid(2.0, bounds=BOX),
    ):
        name = type(mechanism).__name__
        words = {"random_state": 0}
        note(name, reconstruct(mechanism, X, candidates=100, **words))
        note(f"{name}, column", infer_attribute(mechanism, X, 1, runs=2, **words))
    model = DPKMeans(3, epsilon=2.0, bounds=BOX)
    note("centers", infer_attribute(model, X, 0, runs=2, random_state=0))
