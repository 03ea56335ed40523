"""DPKMeans, DPWaveCluster, PrivateCopy: one estimator with one setting each."""

import functools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from golden.table import BOX, ample_ledger, clusters, fit, run
from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.privacy import PrivacyUnit, Release
from shoal.reports import label_on_device


def kmeans_run(name, X=None, **parameters):
    """Add a run of DPKMeans; fits, predictions and score."""

    @run(name)
    def fit_it(note):
        records = clusters() if X is None else X()
        estimator = DPKMeans(**{"n_clusters": 3, "bounds": BOX, **parameters})
        model = fit(note, "fit", estimator, records)
        other = clusters(50, records.shape[1], seed=2)
        note("predict", model.predict(other))
        note("score", model.score(other))
        note("on the device", label_on_device(model.release_, other))


kmeans_run("kmeans-auto")
kmeans_run("kmeans-auto-delta", delta=1e-6)
kmeans_run("kmeans-grid", method="grid", epsilon=0.7)
kmeans_run("kmeans-grid-gaussian", method="grid", delta=1e-5, n_public=600)
kmeans_run("kmeans-lloyd", method="lloyd", epsilon=2.0)
kmeans_run("kmeans-lloyd-analytic", method="lloyd", split="analytic", max_iter=4)
kmeans_run("kmeans-lloyd-equal", method="lloyd", split="equal", max_iter=3)
kmeans_run("kmeans-lloyd-gaussian", method="lloyd", delta=1e-6)
kmeans_run("kmeans-kccm", method="kccm", epsilon=5.0)
kmeans_run("kmeans-kccm-average", method="kccm", noise="average", overcluster=2, max_iter=5)
kmeans_run("kmeans-kccm-gaussian", method="kccm", noise="gaussian", delta=1e-6, overcluster=1)
kmeans_run("kmeans-ball", functools.partial(clusters, columns=20), method="ball", epsilon=8.0)
kmeans_run("kmeans-ball-gaussian", functools.partial(clusters, columns=24), delta=1e-6)
kmeans_run("kmeans-mixed", method="mixed", epsilon=2.0)
kmeans_run("kmeans-mixed-gaussian", method="mixed", delta=1e-6)
kmeans_run("kmeans-column-weights", column_weights=[1.0, 0.1])
kmeans_run("kmeans-private-bounds", bounds="private", epsilon=3.0)


@run("kmeans-private-k")
def kmeans_private_k(note):
    for method in ("grid", "ball", "lloyd", "kccm"):
        model = DPKMeans("private", epsilon=6.0, bounds=BOX, method=method, max_clusters=6)
        fit(note, method, model, clusters())


@run("kmeans-users")
def kmeans_users(note):
    X = pd.DataFrame(clusters(), columns=["x", "y"])
    ids = pd.Series(np.arange(600) // 4, name="person")
    for method in ("grid", "lloyd", "kccm"):
        model = DPKMeans(3, epsilon=4.0, bounds=BOX, method=method, records_per_user=2)
        ledger = ample_ledger(privacy_unit=PrivacyUnit.user("person"))
        fit(note, method, model, X, ledger, user_ids=ids)
    model = DPKMeans(3, epsilon=4.0, bounds=BOX, delta=1e-6, user_column="who")
    fit(note, "text", model, X, user_ids=[f"u{i % 90}" for i in range(600)])


@run("kmeans-weights")
def kmeans_weights(note):
    weights = np.random.default_rng(3).uniform(0.0, 2.5, 600)
    for method in ("grid", "ball", "lloyd", "kccm"):
        model = DPKMeans(3, epsilon=3.0, bounds=BOX, method=method, weight_limit=2.0)
        fit(note, method, model, clusters(), sample_weight=weights)


@run("kmeans-boxes-and-frames")
def kmeans_boxes(note):
    """Uneven bounds, names of columns, and tables of other libraries."""
    low, high = np.array([-30.0, 0.01]), np.array([10.0, 0.03])
    X = low + (clusters() + 1.0) / 2 * (high - low)
    for name, table in {
        "pandas": pd.DataFrame(X, columns=["left", "right"]),
        "polars": pl.DataFrame(X, schema=["left", "right"]),
        "arrow": pa.table({"left": X[:, 0], "right": X[:, 1]}),
        "array": X,
    }.items():
        model = fit(note, name, DPKMeans(3, epsilon=2.0, bounds=(low, high)), table)
        note(f"{name}, again", Release.from_json(model.release_.to_json()).guarantee)


@run("kmeans-advise")
def kmeans_advise(note):
    for n, d, k, epsilon, delta in [(2000, 2, 5, 1.0, 0.0), (1000, 20, 3, 4.0, 1e-6)]:
        note(f"{n} {d} {k}", DPKMeans.advise(n, d, k, epsilon, delta=delta))


def wave_run(name, X=clusters, **parameters):
    """Add a run of DPWaveCluster."""

    @run(name)
    def fit_it(note):
        records = X()
        estimator = DPWaveCluster(**{"epsilon": 1.5, "bounds": BOX, "grid": 16, **parameters})
        model = fit(note, "fit", estimator, records)
        other = clusters(50, records.shape[1], seed=2)
        note("predict", model.predict(other))
        note("on the device", label_on_device(model.release_, other))


for technique in ("oneshot", "thr", "thr-em", "qt", "baseline", "density"):
    wave_run(f"wavecluster-{technique}", technique=technique, threshold=0.2)
wave_run("wavecluster-auto-grid", grid="auto", technique="density")
wave_run("wavecluster-auto-threshold", grid="auto", threshold="auto")
wave_run("wavecluster-db2-level-2", wavelet="db2", level=2, grid=32, n_public=600)
wave_run("wavecluster-sparse", functools.partial(clusters, columns=3), grid=512, min_samples=5)


@run("wavecluster-without-privacy")
def wavecluster_plain(note):
    model = DPWaveCluster(epsilon=math.inf, bounds=BOX, grid=16).fit(clusters())
    note.fitted("fit", model)


@run("private-copy")
def private_copy(note):
    for name, parameters, columns in [
        ("plain", {}, 2),
        ("public number", {"n_public": 600}, 3),
        ("many columns", {"epsilon": 5.0}, 6),
    ]:
        estimator = PrivateCopy(**{"epsilon": 1.5, "bounds": BOX, **parameters})
        model = fit(note, name, estimator, clusters(columns=columns))
        note(f"{name}, sample", model.sample(40, random_state=3))
        note(f"{name}, all", model.sample(random_state=4))
