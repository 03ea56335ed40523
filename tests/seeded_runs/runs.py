"""The seeded runs: every estimator, mechanism, remap, engine, audit, attack, paper and command.

Everything that a redesign may rename is imported or wrapped in the first section: a new name is
changed there, and nowhere else. What a run notes is compared by value, so a name in it may change
too, if :mod:`compare` lists it.
"""

import contextlib
import functools
import json
import math
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather
from sklearn.base import clone
from sklearn.cluster import KMeans
from typer.testing import CliRunner

# --- names of shoal -------------------------------------------------------------------------------
from shoal import datasets as shoal_datasets
from shoal import metrics, noise, papers, privacy
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
from shoal.cli import app
from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.experiments import report as experiment_report
from shoal.experiments.compare import measurements as compare_attacks
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
from shoal.papers import kccm, kd_laplace, run_study, wavecluster
from shoal.papers.kccm import KccmStudy, Plan
from shoal.papers.kd_laplace.study import KdLaplaceStudy
from shoal.papers.wavecluster import WaveClusterStudy
from shoal.papers.wavecluster import study as wavecluster_study
from shoal.privacy import Guarantee, Ledger, PrivacyUnit, Release
from shoal.privacy.events import event_to_dict
from shoal.remap import BayesRemap, Clip, GridRemap, iterative_bayesian_update
from shoal.reports import (
    GaussianChannel,
    NoiseAwareKMeans,
    cluster_reports,
    label_on_device,
    select_dbscan_eps,
    select_n_clusters,
)
from shoal.tables import ArrowTable, SparkTable, read_table, write_table

STANDARDIZE = "standardize"  # parameter of cluster_reports and the two select functions
NEIGHBOR = "neighbor"  # parameter of select_dbscan_eps
CENTERS = "centers"  # attack on released centers, as the command line names it
PRIVATE_COPY = "--private-copy"  # option of compare that pays for a private copy


def randomize(mechanism, records):
    """Report records without the bookkeeping of transform."""
    return mechanism.randomize(records)


def without_pictures():
    """Return a patch that draws nothing: pictures are not compared, and take longest."""
    empty = SimpleNamespace(records=False, to_fragment=lambda caption: "")
    return mock.patch.object(
        experiment_report, "_draw", lambda figure: experiment_report._Shown(empty, figure.says)
    )


@contextlib.contextmanager
def cheap_comparison():
    """Make attacks of a comparison few, and stop its clock."""
    small = mock.patch.multiple(compare_attacks, RUNS=2, SHADOWS=8)
    with small, mock.patch("time.perf_counter", return_value=0.0), without_pictures():
        yield


def small_kccm():
    """Return the study of DP-KCCM on made-up donors, as small as it can be."""
    plan = Plan(epsilons=(1.0, 25.0), clusters=(2,), starts=2, runs=2)
    return KccmStudy(load=made_up_donors, quick=plan)


def small_wavecluster():
    """Return the WaveCluster study on made-up sets; its sizes are patched by few_runs."""
    return WaveClusterStudy(made_up_set)


def few_runs():
    """Return a patch that makes the quick WaveCluster study small."""
    return mock.patch.multiple(
        wavecluster_study, QUICK_EPSILONS=(1.0,), QUICK_RUNS=2, QUICK_FOURTH_RUNS=1
    )


class MadeUpThesis(KdLaplaceStudy):
    """The study of the thesis with made-up records: its verdicts and its whole report."""

    def experiments(self, *, full, seed):
        return ()

    def judge(self, measurements):
        return super().judge(made_up_thesis())

    def render(self, report, measurements):
        super().render(report, made_up_thesis())


def thesis_cells():
    """Return some cells of each part of the study of the thesis, with their work."""
    for part in KdLaplaceStudy().experiments(full=False, seed=0):
        cells = part.spec.trials()
        first = [
            cell
            for cell in cells
            if (cell.repeat, cell.columns) == (0, cells[0].columns)
            and (cell.dataset, cell.epsilon) == (cells[0].dataset, cells[-1].epsilon)
        ]
        few = first[:1] if part.name == "utility-heart" else first[:4]
        yield part.name, [(cell.key, functools.partial(part.work, cell)) for cell in few]


def plain_verdict(verdict):
    """Return the fields of a verdict."""
    return {
        "claim": verdict.claim.name,
        "words": verdict.claim.text,
        "outcome": verdict.outcome,
        "evidence": verdict.evidence,
        "text": str(verdict),
    }


def plain_reproduction(result):
    """Return the sentence, the verdicts and the records of a reproduction."""
    return result.summary, [plain_verdict(one) for one in result.verdicts], result.measurements


# --- records --------------------------------------------------------------------------------------
RUNS = {}
BOX = (-1.0, 1.0)
NAMES = ["height", "weight", "age"]


def run(name):
    """Take a function as the run of this name."""

    def register(function):
        assert name not in RUNS
        RUNS[name] = function
        return function

    return register


def clusters(n=600, columns=2, k=3, seed=1):
    """Return records around k centers, with some on the borders of the box."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.8, 0.8, (k, columns))
    X = centers[np.arange(n) % k] + rng.normal(scale=0.08, size=(n, columns))
    X[:4] = [[-1.0] * columns, [1.0] * columns, [0.0] * columns, [3.0] * columns]
    return X


def made_up_donors():
    rng = np.random.default_rng(5)
    table = np.vstack([rng.normal(at, 0.05, (40, 4)) for at in (-0.2, 0.0, 0.2)])
    table[:3] = 1.0
    return np.clip(table, -1.0, 1.0)


def made_up_set(name):
    rng = np.random.default_rng(list(name.encode()))
    X = np.vstack([rng.normal(0.3, 0.05, (500, 2)), rng.normal(0.7, 0.05, (500, 2))])
    return wavecluster.FigureSet(name, X, 12, 0.2)


def ample_ledger(**more):
    """Return a ledger in memory that pays for everything."""
    return Ledger(
        epsilon=1e6,
        delta=1e-3,
        metric_epsilon=1e6,
        metric_unit="m",
        table="people",
        **more,
    )


def fit(note, name, estimator, X, ledger=None, **more):
    """Fit with a seed and a ledger, and note everything that comes of it."""
    ledger = ledger or ample_ledger()
    model = clone(estimator).set_params(ledger=ledger, random_state=11).fit(X, **more)
    note.fitted(name, model)
    note.ledger(f"{name}, ledger", ledger)
    return model


# --- DPKMeans -------------------------------------------------------------------------------------
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


# --- DPWaveCluster and PrivateCopy ----------------------------------------------------------------
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


# --- mechanisms -----------------------------------------------------------------------------------
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
            note(f"{place} randomize", randomize(fresh, X[:20]))
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


# --- remaps and clusters of reports ---------------------------------------------------------------
@run("remaps")
def remaps(note):
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
        raw = {STANDARDIZE: False, "random_state": 0}
        note(f"{method}, raw", cluster_reports(reports, method, **raw))
    for method in ("elbow", "silhouette", "gap"):
        chosen = select_n_clusters(reports, method=method, candidates=range(2, 6), random_state=0)
        note(f"number by {method}", chosen)
        found = cluster_reports(reports, "kmeans", select=method, random_state=0)
        note(f"kmeans by {method}", found)
    note("three", cluster_reports(reports, "agglomerative", n_clusters=3, random_state=0))
    note("eps", select_dbscan_eps(reports))
    note("eps, fifth", select_dbscan_eps(reports, **{NEIGHBOR: 5, STANDARDIZE: True}))


# --- engines and tables ---------------------------------------------------------------------------
ESTIMATORS = {
    "grid": DPKMeans(4, bounds=(-20.0, 20.0)),
    "gaussian": DPKMeans(4, delta=1e-6, bounds=(-20.0, 20.0)),
    "lloyd": DPKMeans(4, bounds=(-20.0, 20.0), method="lloyd"),
    "kccm": DPKMeans(4, bounds=(-20.0, 20.0), method="kccm"),
    "ball": DPKMeans(4, bounds=(-20.0, 20.0), method="ball"),
    "private bounds": DPKMeans(4, bounds="private"),
    "oneshot": DPWaveCluster(bounds=(-20.0, 20.0), grid=8),
    "baseline": DPWaveCluster(bounds=(-20.0, 20.0), grid=8, technique="baseline"),
    "sparse": DPWaveCluster(bounds=(-20.0, 20.0), grid=512),
    "copy": PrivateCopy(1.5, bounds=(-20.0, 20.0)),
}


ON_SPARK = ("grid", "ball", "private bounds", "oneshot", "copy")  # each pass takes seconds there


def engine_records(n=1500):
    rng = np.random.default_rng(5)
    centers = rng.uniform(-15.0, 15.0, (5, 3))
    X = centers[rng.integers(5, size=n)] + rng.normal(size=(n, 3))
    X[:5] = [[-20.0] * 3, [20.0] * 3, [0.0] * 3, [1e300] * 3, [-25.0] * 3]
    return X


def write_parts(kind, X, parts=3):
    """Write records to some files of one kind, with a column of text that nobody asked for."""
    Path(kind).mkdir()
    for place, rows in enumerate(np.array_split(X, parts)):
        table = pa.table({"name": ["x"] * len(rows), **dict(zip(NAMES, rows.T, strict=True))})
        path = f"{kind}/part-{place}.{kind}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=200)
        elif kind == "feather":
            feather.write_feather(table, path, chunksize=200)
        else:
            pd.DataFrame(rows, columns=NAMES).to_csv(path, index=False)
    return kind


def engine_run(name, open_table):
    """Add a run of the central estimators over one kind of table."""

    @run(f"engine-{name}")
    def over_table(note):
        table = open_table(engine_records())
        for kind, estimator in ESTIMATORS.items():
            if name == "spark" and kind not in ON_SPARK:
                continue
            model = fit(note, kind, estimator, table)
            if name not in ("array", "spark") and kind == "grid":
                note("predict", np.asarray(model.predict(table)))


engine_run("array", lambda X: pd.DataFrame(X, columns=NAMES))
engine_run(
    "parquet-streamed",
    lambda X: ArrowTable(write_parts("parquet", X), columns=NAMES, memory=0, threads=2),
)
engine_run("feather-held", lambda X: ArrowTable(write_parts("feather", X), columns=NAMES))
engine_run(
    "csv-streamed", lambda X: ArrowTable(write_parts("csv", X), columns=NAMES, memory=0, threads=1)
)


@functools.cache
def spark_session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[1]").appName("seeded runs")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(X):
    session = spark_session()
    rows = session.sparkContext.parallelize([("x", *row) for row in X.tolist()], 2)
    schema = ", ".join(["name string", *(f"{name} double" for name in NAMES)])
    return session.createDataFrame(rows, schema)


if shutil.which("java"):
    engine_run("spark", lambda X: SparkTable(spark_frame(X).cache(), columns=NAMES))

    @run("engine-spark-labels-and-reports")
    def spark_reports(note):
        frame = spark_frame(engine_records(300))
        model = DPKMeans(3, bounds=(-20.0, 20.0), random_state=1)
        labels = model.fit(frame.select(NAMES)).predict(frame).collect()
        note("labels", [list(row)[-1] for row in labels])
        mechanism = Laplace(1.0, unit="m", bounds=(-20.0, 20.0), random_state=3)
        table = SparkTable(frame, columns=NAMES)
        reports = mechanism.fit(table).transform(table)
        note("reports", np.array([list(row) for row in reports.collect()]))


def parquet_values(folder):
    """Return the reports in the files of a folder, in the order of their names."""
    files = sorted(Path(folder).glob("*.parquet"))
    return [pq.read_table(path).to_pandas().to_numpy() for path in files]


@run("engine-reports-of-files")
def reports_of_files(note):
    X = engine_records(900)
    for kind, mechanism in {
        "parquet": Laplace(1.0, unit="m", bounds=(-20.0, 20.0)),
        "csv": Piecewise(2.0, bounds=(-20.0, 20.0)),
    }.items():
        ledger = ample_ledger()
        mechanism.set_params(random_state=3, ledger=ledger)
        table = ArrowTable(write_parts(kind, X), columns=NAMES, threads=2)
        mechanism.fit(table).transform(table, out=f"{kind}-reports")
        note(kind, np.concatenate(parquet_values(f"{kind}-reports")))
        note.ledger(f"{kind} ledger", ledger)


@run("tables")
def tables(note):
    """Files of users, read and written."""
    write_people("people.csv")
    found = read_table("people.csv", columns=["age", "height"], label="group", user="person")
    note("csv", found)
    for name in ("copy.csv", "copy.parquet"):
        write_table(name, ["age", "height"], found.X)
        note(name, read_table(name, columns=["height", "age"]))
    Path("bare.csv").write_text("1,2,x\n3,4.5,y\n")
    named = read_table("bare.csv", columns=["b", "a"], names=["a", "b", "c"])
    note("without a header", named)
    note.error("no such column", lambda: read_table("people.csv", columns=["weight"]))
    note.error("no number", lambda: read_table("people.csv", columns=["group"]))


# --- noise, promises, data sets, measures ---------------------------------------------------------
@run("noise")
def samplers(note):
    """Draw from every sampler with a seed."""

    def source():
        return noise.as_source(7)

    note("laplace", noise.discrete_laplace((40, 2), scale=3.5, source=source()))
    note("wide laplace", noise.discrete_laplace(40, scale=1e9, source=source()))
    note("gaussian", noise.discrete_gaussian((40, 2), sigma=2.5, source=source()))
    note("wide gaussian", noise.discrete_gaussian(40, sigma=1e7, source=source()))
    note("normal", noise.rounded_gaussian((40, 2), sigmas=2.5, source=source()))
    note("wide normal", noise.rounded_gaussian(41, sigmas=1e9, source=source()))
    note("k norm", noise.k_norm(30, 3, scale=50.0, source=source()))
    note("planar", noise.planar_laplace(30, scale=50.0, source=source()))
    note("spherical", noise.spherical_laplace(30, scale=50.0, source=source()))
    note("box norm", noise.box_norm(30, scales=(2.0, 9.0, 9.0), source=source()))
    note("two level", noise.two_level(60, epsilon=1.0, rest=4, source=source()))
    response = {"epsilon": 1.0, "choices": 4, "source": source()}
    note("response", noise.randomized_response(np.arange(60) % 4, **response))
    note("uniform", noise.uniform_integers((9, 5), below=1000, source=source()))
    note("above", noise.noisy_cells_above(5000, threshold=9, scale=2.0, source=source()))
    note("choice", noise.exponential_choice([0, 3, 1, 7], rate=0.5, source=source()))
    lattice = noise.Lattice.box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), half=2**19)
    codes = lattice.encode(clusters(30))
    note("encoded", codes)
    note("decoded", lattice.decode(codes))


@run("promises")
def promises(note):
    """Guarantees in words, conversions, and what events cost together."""
    unit = PrivacyUnit.user("person", max_rows=3)
    for name, promise in {
        "pure": Guarantee("central", epsilon=1.0),
        "approximate": Guarantee("central", epsilon=1.0, delta=1e-6),
        "local": Guarantee("local", epsilon=2.0, seeded=True),
        "metric": Guarantee("metric", epsilon=0.5, unit="km"),
        "users": Guarantee("central", epsilon=1.0, privacy_unit=unit),
        "none": Guarantee.none("as published, no guarantee"),
    }.items():
        note(name, promise)
        note(f"{name} plain", promise.to_dict())
    central = Guarantee("central", epsilon=1.0)
    note("group", central.for_group(4))
    note("substitute", central.to_substitute())
    note("zcdp", central.to_zcdp())
    note("mu", central.to_gdp())
    note("back", Guarantee("central", 1.0, delta=1e-5, rho=0.02).to_approximate(1e-6))
    note("over a box", Guarantee("metric", epsilon=0.5, unit="km").to_local(3.0))
    note(
        "conversions",
        {
            "epsilon of rho": [privacy.zcdp_to_epsilon(rho, 1e-6) for rho in (1e-3, 0.1, 2.0)],
            "rho of epsilon": [privacy.epsilon_to_zcdp(eps, 1e-6) for eps in (0.1, 1.0, 9.0)],
            "rho of pure": [privacy.pure_to_zcdp(eps) for eps in (0.1, 1.0, 9.0)],
            "epsilon of mu": [privacy.gdp_to_epsilon(mu, 1e-6) for mu in (1e-3, 0.1, 2.0)],
            "mu of epsilon": [privacy.epsilon_to_gdp(eps, 1e-6) for eps in (0.1, 1.0, 9.0)],
            "mu of pure": [privacy.pure_to_gdp(eps) for eps in (0.1, 1.0, 9.0)],
            "local of metric": privacy.metric_to_local(0.5, 3.0),
        },
    )
    gaussian = privacy.GaussianEvent(sigma=3.0, sensitivity=1.0)
    note("cost of gaussian", privacy.cost(gaussian))
    note("gaussians", privacy.compose([gaussian] * 5, delta=1e-6))


@run("events")
def events(note):
    """Prices of every event there is."""
    for event in (
        privacy.PureEvent(epsilon=0.5),
        privacy.ZCDPEvent(rho=0.1),
        privacy.GDPEvent(mu=0.2),
        privacy.ApproximateEvent(epsilon=0.5, delta=1e-6),
        privacy.DiscreteGaussianEvent(sigma=2.0, sensitivity=1.0),
        privacy.Repeated(event=privacy.PureEvent(epsilon=0.1), times=3),
        privacy.Composed(events=(privacy.PureEvent(epsilon=0.1), privacy.ZCDPEvent(rho=0.1))),
    ):
        name = type(event).__name__
        note(name, privacy.cost(event))
        note(f"{name} plain", event_to_dict(event))
        note(f"{name} composed", privacy.compose([event, event], delta=1e-5))


@run("ledger")
def ledger_file(note):
    """Spend from a file, refuse what is too much, open it again."""
    words = {"epsilon": 2.0, "delta": 1e-6, "metric_epsilon": 1.0, "metric_unit": "km"}
    ledger = Ledger("people.ledger", table="people", **words)
    for epsilon in (0.5, 0.75):
        model = DPKMeans(2, epsilon=epsilon, bounds=BOX, ledger=ledger, random_state=0)
        model.fit(clusters(100))
    mechanism = Laplace(0.5, unit="km", bounds=BOX, ledger=ledger, random_state=0)
    mechanism.fit_transform(clusters(20))
    note.ledger("spent", ledger)
    big = DPKMeans(2, epsilon=1.5, bounds=BOX, ledger=ledger, random_state=0)
    note.error("too much", lambda: big.fit(clusters(100)))
    again = Ledger("people.ledger")
    note.ledger("again", again)
    note("limits", again.limits.to_dict())
    note.error("others", lambda: Ledger("people.ledger", epsilon=3.0))


@run("datasets")
def data_sets(note):
    for name in ("circle", "gaussians", "line", "skewed", "spirals"):
        make = getattr(shoal_datasets, f"make_{name}")
        note(name, make(200, random_state=0))
        note(f"{name}, 3", make(90, n_features=3, random_state=1))
    note("iris", shoal_datasets.load("iris"))
    listed = shoal_datasets.list_datasets()
    note("listed", [one.name for one in listed])
    note("limits", {one.name: one.limits for one in listed})


@run("metrics")
def measures(note):
    X, labels = clusters(200), np.arange(200) % 3
    centers = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    other = DPKMeans(3, epsilon=2.0, bounds=BOX, random_state=0).fit(X)
    note("nicv", metrics.nicv(X, centers))
    note("cost", metrics.cost_ratio(X, other.cluster_centers_, random_state=0))
    error = metrics.centroid_relative_error(other.cluster_centers_, centers)
    note("relative error", error)
    note("index", metrics.centroid_index(other.cluster_centers_, centers))
    scores = metrics.score_clustering(
        X,
        other.labels_,
        centers=other.cluster_centers_,
        reference_labels=labels,
        reference_centers=centers,
    )
    note("scores", scores)
    note("f", metrics.f_measure(labels, other.labels_))
    note("two", metrics.two_ce(labels, other.labels_))
    grids = [
        DPWaveCluster(epsilon=epsilon, bounds=BOX, grid=16, threshold=0.2, random_state=0).fit(X)
        for epsilon in (math.inf, 2.0)
    ]
    cells = [one.cells_ for one in grids]
    note("dsg", metrics.dsg(*cells))
    note("ocm", metrics.ocm(*cells, X, bounds=BOX))
    note("by cells", metrics.classify_with_cells(cells[0], X, bounds=BOX))
    reports = {e: Laplace(e, bounds=BOX, random_state=0).fit_transform(X) for e in (1.0, 4.0)}
    note("distance", metrics.privacy_distance(X, reports[1.0]))
    note("advantage", metrics.adversary_advantage([1, 1, 0, 1], [0, 1, 0, 0]))
    note("roc", metrics.roc([0.9, 0.4, 0.7], [0.1, 0.4, 0.3]))


# --- audits and attacks ---------------------------------------------------------------------------
@run("audit-bounds")
def bounds_of_epsilon(note):
    mechanism = Laplace(2.0, bounds=BOX, random_state=3).fit(np.zeros((1, 2)))
    found = metric_epsilon_lower_bound(mechanism, [-0.3, 0.1], [0.4, 0.1], samples=20_000)
    note("metric", found)
    local = Duchi(1.0, bounds=BOX, random_state=3).fit(np.zeros((1, 2)))
    note("local", epsilon_lower_bound(local, [-1.0, -1.0], [1.0, 1.0], samples=20_000))


@run("audit-mechanisms")
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


@run("audit-estimators")
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


@run("attack-membership")
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


# --- papers ---------------------------------------------------------------------------------------
@run("paper-kd-laplace-methods")
def kd_laplace_methods(note):
    for columns in (2, 3, 4):
        X = np.random.default_rng(5).random((40, columns))
        for method in (
            kd_laplace.NdLaplace(1.0),
            kd_laplace.NdLaplace(1.0, source="code"),
            kd_laplace.GridNdLaplace(1.0),
            kd_laplace.GridNdLaplace(1.0, source="code"),
            kd_laplace.DensityNdLaplace(1.0),
            kd_laplace.DensityNdLaplace(1.0, source="code"),
            kd_laplace.DraftLaplace(1.0),
            kd_laplace.DraftLaplace(1.0, radius=1.0, truncate=False, bounds=(0.0, 1.0)),
            kd_laplace.ComparedPiecewise(1.0),
        ):
            fitted = clone(method).set_params(random_state=0)
            name = f"{method!r} {columns}"
            note(name, fitted.fit_transform(X))
            note(f"{name}, promise", fitted.guarantee_)


@run("paper-kd-laplace-leaks")
def kd_laplace_leaks(note):
    X = np.random.default_rng(5).random((40, 2))
    for source in ("thesis", "code"):
        for kind in (kd_laplace.GridNdLaplace, kd_laplace.DensityNdLaplace):
            method = kind(1.0, source=source)
            own = kd_laplace.measure_leak(method, X, row=3, shift=(0.01, 0.0), samples=1000)
            note(f"{kind.__name__} {source}", own)
            moved = int(X[:, 0].argmax())
            words = {"row": 3, "moved": moved, "shift": (0.05, 0.0), "samples": 1000}
            note(f"{kind.__name__} {source}, other", kd_laplace.measure_leak(method, X, **words))


@run("paper-kd-laplace-figures")
def kd_laplace_figures(note):
    """The published figures."""
    for measure in ("ami", "distance", "advantage"):
        note(measure, [replace(one) for one in kd_laplace.load_figures(measure)[::97]])


@run("paper-kccm")
def kccm_as_published(note):
    """The method as printed and what it costs; reproduce-kccm has the variants and claims."""
    X = made_up_donors()
    for formula in kccm.FORMULAS:
        for kind in ("average", "allocation", "gaussian"):
            method = kccm.PublishedKCCM(2, formula=formula, noise=kind, random_state=0).fit(X)
            note.fitted(f"{formula} {kind}", method)
        note(f"{formula} spend", [kccm.real_spend(formula), kccm.real_rho(formula, columns=4)])
    merged = kccm.published_merge(X[3:12], np.arange(1.0, 10.0), 4)
    note("merge", merged)
    note("without outliers", kccm.without_outliers(X))


@run("paper-wavecluster")
def wavecluster_as_published(note):
    """The techniques as printed; reproduce-wavecluster has comparisons and claims."""
    X = made_up_set("ds1").X
    for technique in wavecluster.TECHNIQUES:
        method = wavecluster.PublishedWaveCluster(technique, grid=16, threshold=0.2, random_state=3)
        note.fitted(technique, method.fit(X))
    partitions = wavecluster.threshold_partitions(np.array([1.0, 2.0, 2.0, 6.0]), k=2, epsilon=1.0)
    note("partitions", partitions)
    places = np.random.default_rng(0).random((300, 2))
    drawn = wavecluster.adaptive_grid_records(places, 5.0, np.random.default_rng(0), side=4)
    note("adaptive grid", drawn)


def reproduce(study, **more):
    with without_pictures():
        return run_study(study, folder=Path.cwd() / "out", **more)


def note_reproduction(note, found):
    summary, verdicts, records = plain_reproduction(found)
    note("verdict", summary)
    note("findings", verdicts)
    columns = {name: pd.DataFrame(rows) for name, rows in records.items()}
    note("records", {name: frame_columns(frame) for name, frame in columns.items()})
    note.files("files", "out")


def frame_columns(frame):
    return {name: frame[name].to_numpy() for name in frame}


@run("reproduce-kd-laplace")
def reproduce_kd_laplace(note):
    """The report on made-up records; reproduce-kd-laplace-cells makes real ones."""
    note_reproduction(note, reproduce(MadeUpThesis()))


@run("reproduce-kd-laplace-cells")
def reproduce_kd_laplace_cells(note):
    for name, cells in thesis_cells():
        note(name, {key: list(work()) for key, work in cells})


@run("reproduce-kccm")
def reproduce_kccm(note):
    note_reproduction(note, reproduce(small_kccm(), seed=1))


@run("reproduce-wavecluster")
def reproduce_wavecluster(note):
    with few_runs():
        found = reproduce(small_wavecluster(), seed=2)
    note_reproduction(note, found)


@run("reproduce-verdicts")
def verdicts_on_made_up_records(note):
    """Claims of the thesis on records with effects that decide them."""
    for name, effects in {
        "none": {},
        "better": {"ami": lambda row: 0.1 * (row["mechanism"] == "nd-Laplace")},
        "columns": {"ami": lambda row: 0.02 * row["columns"], "nodes": np.sqrt},
        "outside": {"outside": lambda row: 0.3 * (row["mechanism"] == "nd-Laplace")},
        "attack": {"advantage": lambda row: 0.1 * (row["version"] == "as published")},
    }.items():
        verdicts = KdLaplaceStudy().judge(made_up_thesis(**effects))
        note(name, [plain_verdict(one) for one in verdicts])


def made_up_thesis(**effects):  # noqa: PLR0912 - loops over what a table has
    """Make records of the thesis' parts: each measure is 0.5, plus an effect, plus noise."""
    rng = np.random.default_rng(0)
    versions = ("as published", "corrected")
    mechanisms = ("nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace", "piecewise")
    shapes = ("circle", "line", "skewed")

    def value(measure, row):
        effect = effects.get(measure) if "dataset" in row else None
        return 0.5 + (effect(row) if effect else 0.0) + rng.normal(scale=0.005)

    found = {"utility-all": [], "attack-all": [], "unit": [], "search": [], "drafts": []}
    for dataset in ("heart", "seeds", *shapes):
        for version in versions:
            for repeat in range(3):
                base = {"dataset": dataset, "version": version, "repeat": repeat}
                for columns in (2, 3) if dataset in shapes else (2, 3, 7):
                    for mechanism in mechanisms:
                        for epsilon in (0.5, 3.0, 9.0):
                            row = {**base, "columns": columns, "mechanism": mechanism}
                            row["epsilon"] = epsilon
                            rates = {"advantage": value("advantage", row), "tpr": 0.5, "fpr": 0.5}
                            found["attack-all"].append({**row, "clusterer": None, **rates})
                            for clusterer in ("KMeans", "AgglomerativeClustering", "OPTICS"):
                                row = {**row, "clusterer": clusterer}
                                plain = {"plain_clusters": 20.0, "plain_in_none": 0.6}
                                rates = {"ami": value("ami", row), "sc": 0.3, "distance": 1.0}
                                outside = effects.get("outside", lambda row: 0.0)(row)
                                rates |= {"outside": outside, "plain_sc": 0.4, **plain}
                                found["utility-all"].append({**row, **rates})
                row = {**base, "columns": 2, "mechanism": "nd-Laplace", "epsilon": 5.0}
                row |= {"spread": 2.0, "clusterer": "KMeans"}
                found["unit"].append({**row, "ami": value("unit_ami", row)})
    for columns in (2, 9):
        for points in (500, 2000, 8000, 32000):
            for repeat in range(3):
                nodes = effects.get("nodes", np.log)(points) + rng.normal(scale=0.001)
                row = {"columns": columns, "points": points, "repeat": repeat}
                found["search"].append({**row, "nodes": nodes})
    for clusterer in ("KMeans", "AffinityPropagation", "DBSCAN"):
        for version in versions:
            for level in (0.5, 5.0):
                for repeat in range(2):
                    row = {"clusterer": clusterer, "version": version, "epsilon": level}
                    rates = ("ami", "ari", "sc", "ch", "advantage", "distance")
                    row |= {"repeat": repeat, **{name: value(name, row) for name in rates}}
                    found["drafts"].append(row)
    leak = {"dataset": "seeds", "columns": 2, "epsilon": 1.0, "repeat": 0, "claim": 1.0}
    leak |= {"bound": 5.0, "caught": True}
    found["leak"] = [{**leak, "mechanism": name} for name in mechanisms[:3]]
    return found


@run("experiment-spec")
def experiment_spec(note):
    """The cells of a spec, their seeds and its fingerprint: what a stopped run goes on by."""
    part = small_kccm().experiments(full=False, seed=4)[0]
    cells = part.spec.trials()
    note("keys", [cell.key for cell in cells[::9]])
    note("records", list(part.work(cells[3])))


# --- the command line -----------------------------------------------------------------------------
def write_people(path="people.csv", n=120):
    """Write four clusters of people: ages, heights, a class, and whose row it is."""
    rng = np.random.default_rng(0)
    middle = np.repeat([[20, 120], [35, 180], [60, 150], [70, 190]], n // 4, axis=0)
    X = middle + rng.normal(scale=3.0, size=(n, 2))
    lines = [f"{a:.3f},{h:.3f},{'ab'[i % 2]},p{i // 3}" for i, (a, h) in enumerate(X.tolist())]
    Path(path).write_text("age,height,group,person\n" + "\n".join(lines) + "\n")


def shoal(note, name, *arguments, files=()):
    """Run a command in the folder of the run, and note what it prints and writes."""
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    found = {"exit": result.exit_code, "error": result.stderr}
    try:
        found["output"] = json.loads(result.stdout)
    except ValueError:
        found["output"] = result.stdout
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        found["exception"] = f"{type(result.exception).__name__}: {result.exception}"
    note(name, found)
    for folder in files:
        note.files(f"{name}, {folder}", folder)


PEOPLE = ["people.csv", "--columns", "age,height", "--bounds", "0:120,50:250"]


@run("cli-cluster")
def cli_cluster(note):
    write_people()
    shoal(note, "new ledger", "ledger", "people.ledger", "--epsilon", 9, "--table", "people")
    words = ["--ledger", "people.ledger", "--table", "people", "--who", "ann", "--seed", 1]
    four = ["--set", "n_clusters=4", "--epsilon", 2]
    for name, more in {
        "kmeans": [*four, "--labels", "labels.csv"],
        "lloyd": [*four, "--set", "method=lloyd"],
        "private-bounds": [*four[:2], "--bounds", "private"],
        "wavecluster": ["--target", "DPWaveCluster", "--set", "grid=16"],
        "users": [*four, "--user-column", "person", "--records-per-user", 2],
        "json": [*four, "--json"],
    }.items():
        paying = words if name in ("kmeans", "wavecluster") else words[-2:]
        shoal(note, name, "cluster", *PEOPLE, *more, *paying, "--out", name, files=[name])
    note("labels", read_table("labels.csv", columns=["cluster"]))
    shoal(note, "ledger", "ledger", "people.ledger")
    paid = ["--release", "kmeans/release.json"]
    shoal(note, "ledger of a release", "ledger", "people.ledger", *paid)


@run("cli-cluster-folder")
def cli_cluster_folder(note):
    X = engine_records(600)
    for kind in ("parquet", "csv"):
        write_parts(kind, X)
        words = ["--columns", ",".join(NAMES), "--bounds", "-20,20", "--seed", 2, "--epsilon", 2]
        shoal(note, kind, "cluster", kind, *words, "--out", f"{kind}-out", files=[f"{kind}-out"])
    pd.DataFrame(X).to_csv("bare.csv", header=False, index=False)
    words = ["--no-header", "--columns", "a,-,c", "--bounds", "-20,20", "--seed", 2]
    shoal(note, "no header", "cluster", "bare.csv", *words, "--out", "bare", files=["bare"])


@run("cli-perturb")
def cli_perturb(note):
    write_people(n=40)
    Path("out").mkdir()
    for target in (
        "Laplace",
        "PlanarLaplace",
        "KdLaplace",
        "Piecewise",
        "Hybrid",
        "Duchi",
        "SquareWave",
    ):
        words = ["--target", target, "--epsilon", 2, "--seed", 3]
        shoal(note, target, "perturb", *PEOPLE, *words, "-o", f"out/{target}.csv")
    limits = ["--epsilon", 9, "--metric-epsilon", 9, "--metric-unit", "km"]
    shoal(note, "ledger", "ledger", "l", *limits)
    paying = ["--ledger", "l", "--unit", "km", "--who", "ann", "--seed", 4, "--json"]
    shoal(note, "json", "perturb", *PEOPLE, *paying, "-o", "out/paid.parquet")
    write_parts("parquet", engine_records(200))
    words = ["--columns", ",".join(NAMES), "--bounds", "-20,20", "--seed", 4]
    shoal(note, "folder", "perturb", "parquet", *words, "-o", "out/folder")
    note.files("files", "out")
    shoal(note, "spent", "ledger", "l", "--json")


@run("cli-audit")
def cli_audit(note):
    words = ["--epsilon", 2, "--samples", 4000, "--seed", 1, "--jobs", 1]
    shoal(note, "Duchi", "audit", "Duchi", *words, "--out", "duchi", files=["duchi"])
    few = ["--set", "n_clusters=1", "--set", "method=lloyd", "--set", "max_iter=1"]
    few += ["--runs", 100, "--jobs", 1, "--seed", 1, "--columns", 1]
    shoal(note, "DPKMeans", "audit", "DPKMeans", *few, "--out", "kmeans", files=["kmeans"])
    shoal(note, "json", "audit", "Laplace", *words, "--json", "--out", "json")


@run("cli-attack")
def cli_attack(note):
    write_people()
    quick = ["--runs", 1, "--seed", 1]
    for name, more in {
        "kmeans": ["--set", "n_clusters=4", "--attacks", f"{CENTERS},yeom", "--guess", "height"],
        "laplace": ["--target", "Laplace", "--label", "group", "--attacks", "yeom,label-only"],
        "kd-laplace": ["--target", "KdLaplace", "--attacks", "yeom", "--guess", "age"],
        "json": ["--attacks", CENTERS, "--json"],
    }.items():
        shoal(note, name, "attack", *PEOPLE, *more, *quick, "--out", name, files=[name])


@run("cli-compare")
def cli_compare(note):
    write_people()
    words = ["--clusters", 4, "--jobs", 1, "--label", "group"]
    with cheap_comparison():
        one = ["--epsilon", "2", "--runs", 1]
        shoal(note, "all", "compare", *PEOPLE, *words, *one, "--out", "all", files=["all"])
        few = ["--only", "DPKMeans-grid,Duchi", "--runs", 5, "--epsilon", "0.5,8"]
        shoal(note, "few", "compare", *PEOPLE, *words, *few, "--out", "few", files=["few"])
        shoal(note, "json", "compare", *PEOPLE, *words, *few, "--json", "--out", "few")


@run("cli-compare-private-copy")
def cli_compare_private_copy(note):
    write_people()
    shoal(note, "ledger", "ledger", "people.ledger", "--epsilon", 9)
    words = ["--only", "DPKMeans-lloyd,Laplace", "--runs", 2, "--clusters", 2, "--jobs", 1]
    words += ["--seed", 3, PRIVATE_COPY, 2, "--ledger", "people.ledger", "--who", "ann"]
    with cheap_comparison():
        shoal(note, "copy", "compare", *PEOPLE, *words, "--out", "copy", files=["copy"])
    shoal(note, "spent", "ledger", "people.ledger", "--json")


@run("cli-datasets")
def cli_datasets(note):
    shoal(note, "list", "datasets")
    shoal(note, "iris", "datasets", "iris")
    shoal(note, "json", "datasets", "seeds", "--json")
    shoal(note, "unknown", "datasets", "irises")


@run("cli-demo")
def cli_demo(note):
    words = ["--records", 300, "--repeats", 1, "--seed", 1]
    shoal(note, "demo", "demo", *words, "--out", "demo", files=["demo"])
    words = ["--records", 200, "--repeats", 1, "--seed", 2]
    shoal(note, "json", "demo", *words, "--json", "--out", "demo-json")


@run("cli-reproduce")
def cli_reproduce(note):
    words = ["--quick", "--jobs", 1, "--seed", 1]
    with mock.patch.object(papers, "load_study", return_value=small_kccm()), without_pictures():
        shoal(note, "kccm", "reproduce", "kccm", *words, "--out", "out")


@run("cli-ledger")
def cli_ledger(note):
    words = ["--epsilon", 3, "--metric-epsilon", 2, "--metric-unit", "km"]
    shoal(note, "new", "ledger", "people.ledger", *words, "--table", "people")
    book = Ledger("people.ledger")
    book.spend(privacy.PureEvent(epsilon=0.75), purpose="clusters [of] people")
    book.spend(privacy.MetricEvent(epsilon=0.5, unit="km"), purpose="reports")
    shoal(note, "shown", "ledger", "people.ledger", "--html", "ledger.html")
    shoal(note, "json", "ledger", "people.ledger", "--json")
    users = ["--user-column", "person", "--rows-per-user", 5]
    shoal(note, "users", "ledger", "users.ledger", "--epsilon", 2, *users)
    shoal(note, "missing", "ledger", "none.ledger")
    note.files("files", ".")


@run("cli-bad-input")
def cli_bad_input(note):
    """One clear line for what is wrong."""
    write_people()
    for place, arguments in enumerate(
        [
            ["cluster", "people.csv", "--columns", "age"],
            ["cluster", *PEOPLE[:-1], "5,1"],
            ["cluster", *PEOPLE, "--set", "k=2"],
            ["cluster", *PEOPLE, "--epsilon", "0"],
            ["cluster", "none.csv", *PEOPLE[1:]],
            ["cluster", "people.csv", "--columns", "weight", "--bounds", "0,1"],
            ["perturb", *PEOPLE, "--target", "DBSCAN", "-o", "r.csv"],
            ["audit", "KMeans"],
            ["attack", *PEOPLE, "--attacks", "bribes"],
            ["compare", *PEOPLE, "--only", "Gauss"],
            ["ledger", "people.csv"],
        ]
    ):
        shoal(note, f"{place} {arguments[0]}", *arguments)
