"""Mechanisms, remaps, and analyses of reports."""

import math

import numpy as np
import pandas as pd
from sklearn.base import clone

from golden.table import BOX, NAMES, ample_ledger, clusters, run
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
from shoal.remap import BayesRemap, Clip, GridRemap, iterative_bayesian_update
from shoal.reports import (
    GaussianChannel,
    NoiseAwareKMeans,
    cluster_reports,
    label_on_device,
    select_dbscan_eps,
    select_n_clusters,
)


def mechanism_run(name, *mechanisms, columns=2):
    """Add a run of mechanisms: reports by every way in, densities, variances, promise, ledger."""

    @run(f"mechanism-{name}")
    def report(note):
        X = clusters(80, columns)
        for place, mechanism in enumerate(mechanisms):
            ledger = ample_ledger()
            fresh = clone(mechanism).set_params(ledger=ledger, random_state=5)
            reports = fresh.fit_transform(X)
            note(f"{place} reports", reports)
            note(f"{place} again", fresh.transform(X[:20]))
            note(f"{place} randomize", fresh.randomize(X[:20]))
            note(f"{place} names", fresh.get_feature_names_out())
            note(f"{place} guarantee", fresh.guarantee_)
            note.ledger(f"{place} ledger", ledger)
            if hasattr(fresh, "log_density"):
                note(f"{place} density", fresh.log_density(reports[:30], X[0]))
                note(f"{place} densities", fresh.log_density(reports[:30], X[:30]))
                note(f"{place} variance", fresh.variance(X[:5]))
                note(f"{place} lattice", fresh.lattice(columns))
            note.fitted(f"{place} fitted", fresh)
            frame = pd.DataFrame(X, columns=NAMES[:columns])
            framed = clone(mechanism).set_params(random_state=6).set_output(transform="pandas")
            note(f"{place} frame", framed.fit_transform(frame))


UNEVEN = ([-1.0, -2.0], [1.0, 3.0])
mechanism_run("laplace", Laplace(2.0, unit="m", bounds=BOX), Laplace(0.3, unit="km", bounds=UNEVEN))
mechanism_run(
    "laplace-options",
    Laplace(2.0, unit="m", bounds=BOX, truncate="resample"),
    Laplace(level=math.log(4), radius=0.5, unit="cm", bounds=BOX),
)
mechanism_run("laplace-wide", Laplace(4.0, unit="m", bounds=BOX), columns=3)
mechanism_run("planar", PlanarLaplace(1.5, unit="m", bounds=BOX))
mechanism_run("spherical", SphericalLaplace(1.5, unit="m", bounds=BOX), columns=3)
mechanism_run("piecewise", Piecewise(3.0, bounds=BOX), Piecewise(1.0, bounds=BOX, columns="sample"))
mechanism_run("hybrid", Hybrid(3.0, bounds=UNEVEN), Hybrid(1.0, bounds=BOX, columns="sample"))
mechanism_run("duchi", Duchi(2.0, bounds=BOX), Duchi(0.5, bounds=UNEVEN))
mechanism_run("duchi-wide", Duchi(2.0, bounds=BOX), columns=3)
mechanism_run("square-wave", SquareWave(2.0, bounds=BOX), SquareWave(0.5, bounds=UNEVEN))
mechanism_run(
    "partition-response",
    PartitionResponse(1.0, bounds=BOX, n_clusters=4),
    PartitionResponse(4.0, bounds=UNEVEN),
)
mechanism_run(
    "kd-laplace",
    KdLaplace(3.0, unit="m", bounds=BOX),
    KdLaplace(3.0, unit="m", bounds=BOX, remap="grid", grid_cells=9),
    KdLaplace(3.0, unit="m", bounds=BOX, remap=None),
)


def remap_run(columns, mechanism):
    """Add a run of every remap on reports of a mechanism; only those in a plane are quick."""

    @run(f"remap-{type(mechanism).__name__}-{columns}", quick=columns == 2)
    def remap_reports(note):
        name = f"{type(mechanism).__name__} {columns}"
        reports = mechanism.set_params(random_state=1).fit_transform(clusters(150, columns))
        metric = hasattr(mechanism, "unit")
        for loss in ("squared", "linear") if metric else ():
            cells = {2: 24, 3: 10}.get(columns)
            remap = BayesRemap(mechanism, cells=cells, loss=loss, max_iter=5).fit(reports)
            note(f"{name} {loss}", remap.transform(reports))
            note.fitted(f"{name} {loss} fitted", remap)
        if metric and columns == 2:
            prior = np.arange(1.0, 64.0).reshape(7, 9)
            remap = BayesRemap(mechanism, cells=(7, 9), prior=prior).fit(reports)
            note(f"{name} prior", remap.transform(reports))
        note(f"{name} clip", Clip(bounds=(-0.9, 0.8)).fit_transform(reports))
        note(f"{name} grid", GridRemap(bounds=BOX, cells=9).fit_transform(reports))
        points = clusters(20, columns, seed=4)
        note(f"{name} points", GridRemap(points=points).fit_transform(reports))


for columns, mechanism in [
    (1, Laplace(2.0, bounds=BOX)),
    (2, Laplace(3.0, bounds=BOX)),
    (3, SphericalLaplace(3.0, bounds=BOX)),
    (2, PlanarLaplace(2.0, bounds=BOX)),
    (2, Piecewise(3.0, bounds=BOX)),
    (2, Hybrid(3.0, bounds=BOX)),
    (2, SquareWave(2.0, bounds=BOX)),
    (2, Duchi(2.0, bounds=BOX)),
    (8, Laplace(4.0, bounds=BOX)),
]:
    remap_run(columns, mechanism)


@run("remap-update")
def update(note):
    counts = np.array([0.0, 3.0, 9.0, 2.0, 1.0, 7.0, 5.0, 1.0])
    note("update", iterative_bayesian_update(counts, [0.2, 0.6, 0.2], (4,), max_iter=9, tol=0.0))


@run("noise-aware-kmeans")
def noise_aware(note):
    for name, mechanism, columns in [
        ("laplace", Laplace(6.0, bounds=BOX), 2),
        ("planar", PlanarLaplace(9.0, bounds=BOX), 2),
        ("piecewise", Piecewise(4.0, bounds=BOX), 2),
        ("one column", Laplace(6.0, bounds=BOX), 1),
    ]:
        reports = mechanism.set_params(random_state=2).fit_transform(clusters(400, columns))
        model = NoiseAwareKMeans(3, mechanism=mechanism, n_init=3, max_iter=6, random_state=0)
        note.fitted(name, model.fit(reports))
        note(f"{name}, predict", model.predict(clusters(30, columns, seed=2)))
        on_device = label_on_device(model.release_, clusters(30, columns, seed=2))
        note(f"{name}, on the device", on_device)


@run("noise-aware-kmeans-wide")
def noise_aware_wide(note):
    """Many columns, where posterior draws take the place of a grid; and other Gaussian noise."""
    X = clusters(300, 8)
    mechanism = Laplace(12.0, bounds=BOX, random_state=2)
    reports = mechanism.fit_transform(X)
    model = NoiseAwareKMeans(3, mechanism=mechanism, n_init=2, max_iter=4, random_state=0)
    note.fitted("wide", model.fit(reports))
    noisy = clusters(300) + np.random.default_rng(0).normal(scale=0.2, size=(300, 2))
    channel = GaussianChannel(0.2, bounds=BOX)
    model = NoiseAwareKMeans(3, mechanism=channel, n_init=2, max_iter=4, random_state=0)
    note.fitted("gaussian", model.fit(noisy))
    note("density", channel.log_density(noisy[:9], [0.0, 0.1]))


@run("cluster-reports")
def clusters_of_reports(note):
    reports = Laplace(9.0, bounds=BOX, random_state=0).fit_transform(clusters(240))
    for method in ("kmeans", "agglomerative", "optics", "dbscan", "affinity"):
        note(method, cluster_reports(reports, method, random_state=0))
        raw = {"standardize": False, "random_state": 0}
        note(f"{method}, raw", cluster_reports(reports, method, **raw))
    for method in ("elbow", "silhouette", "gap"):
        chosen = select_n_clusters(reports, method=method, candidates=range(2, 6), random_state=0)
        note(f"number by {method}", chosen)
        found = cluster_reports(reports, "kmeans", select=method, random_state=0)
        note(f"kmeans by {method}", found)
    note("three", cluster_reports(reports, "agglomerative", n_clusters=3, random_state=0))
    note("eps", select_dbscan_eps(reports))
    note("eps, fifth", select_dbscan_eps(reports, neighbor=5, standardize=True))
