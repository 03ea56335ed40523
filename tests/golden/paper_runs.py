"""Methods of the papers as published, and their studies on made-up tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from golden.seams import made_up_files, without_pictures
from golden.table import run
from shoal.papers import kccm, kd_laplace, run_study, wavecluster
from shoal.papers.kccm import KccmStudy, Plan
from shoal.papers.kd_laplace.study import KdLaplaceStudy
from shoal.papers.wavecluster import WaveClusterStudy


def small_kccm():
    """Return the study of DP-KCCM on made-up donors, as small as it can be."""
    plan = Plan(epsilons=(1.0, 25.0), clusters=(2,), starts=2, runs=2)
    return KccmStudy(load=made_up_donors, quick=plan)


class SmallWaveCluster(WaveClusterStudy):
    """The WaveCluster study on made-up sets, with one epsilon and two repeats."""

    def __init__(self):
        super().__init__(made_up_set)

    def experiments(self, *, full, seed):
        whole = super().experiments(full=full, seed=seed)
        return tuple(
            replace(part, spec=replace(part.spec, epsilons=(1.0,), repeats=repeats))
            for part, repeats in zip(whole, (2, 1, 1), strict=True)
        )


class SmallThesis(KdLaplaceStudy):
    """The study of the thesis with few trials of each part; its claims are judged on made-up ones.

    The claims need all parts in full.
    """

    def experiments(self, *, full, seed):
        return tuple(
            replace(part, spec=smallest(part.spec))
            for part in super().experiments(full=full, seed=seed)
        )

    def judge(self, measurements):
        return super().judge(made_up_thesis())

    def render(self, report, measurements):
        super().render(report, made_up_thesis())


def smallest(spec):
    """Keep all methods of an experiment, and one of everything else."""
    return replace(
        spec,
        datasets=spec.datasets[:1],
        dimensions=spec.dimensions[:1],
        epsilons=spec.epsilons[-1:],
        repeats=1,
    )


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


def made_up_donors():
    rng = np.random.default_rng(5)
    table = np.vstack([rng.normal(at, 0.05, (40, 4)) for at in (-0.2, 0.0, 0.2)])
    table[:3] = 1.0
    return np.clip(table, -1.0, 1.0)


def made_up_set(name):
    rng = np.random.default_rng(list(name.encode()))
    X = np.vstack([rng.normal(0.3, 0.05, (500, 2)), rng.normal(0.7, 0.05, (500, 2))])
    return wavecluster.FigureSet(name, X, 12, 0.2)


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
    """Published figures are read from files; these are made up."""
    shared = "dataset,mechanism"
    for kind, header, rest in (
        ("utility", "dimensions,clusterer,parameters,epsilon,ami", "2,KMeans,KMeans(clusters=2)"),
        ("distance", "dimension,epsilon,distance", "2"),
        ("attack", "dimension,epsilon,advantage", "3"),
    ):
        rows = [
            f"{dataset},{mechanism},{rest},{epsilon},{epsilon / 32}"
            for dataset in ("seeds", "heart")
            for mechanism in ("nd-Laplace", "piecewise")
            for epsilon in (0.5, 9.0)
        ]
        text = "\n".join([f"{shared},{header}", *rows])
        Path(f"kd_laplace_{kind}.csv").write_text(f"{text}\n")
    for measure in ("ami", "distance", "advantage"):
        note(measure, [replace(one) for one in kd_laplace.load_figures(measure, targets=".")])


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


def reproduce(study, **kwargs):
    with without_pictures():
        return run_study(study, folder=Path.cwd() / "out", **kwargs)


def note_reproduction(note, found):
    summary, verdicts, records = plain_reproduction(found)
    note("verdict", summary)
    note("findings", verdicts)
    columns = {name: pd.DataFrame(rows) for name, rows in records.items()}
    note("records", {name: frame_columns(frame) for name, frame in columns.items()})
    note.files("files", "out")


def frame_columns(frame):
    return {name: frame[name].to_numpy() for name in frame}


@run("reproduce-kd-laplace", quick=False)
def reproduce_kd_laplace(note):
    with made_up_files():
        note_reproduction(note, reproduce(SmallThesis()))


@run("reproduce-kccm", quick=False)
def reproduce_kccm(note):
    note_reproduction(note, reproduce(small_kccm(), seed=1, n_jobs=note.jobs))


@run("reproduce-wavecluster")
def reproduce_wavecluster(note):
    note_reproduction(note, reproduce(SmallWaveCluster(), seed=2, n_jobs=note.jobs))


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
