"""``shoal cluster --reports``: clusters behind reports; post-processing, so nothing is spent."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from shoal.cli._release_output import (
    FILES,
    PICTURE,
    RELEASE,
    draw_picture,
    plain_release,
    print_release,
)
from shoal.cli._reports import (
    MechanismOptions,
    are_partitions,
    check_reports,
    open_mechanism,
    promises,
    read_reports,
)
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal._typing import Floats
    from shoal.privacy import Guarantee, Release

__all__ = ["BLIND", "METHODS", "MechanismOptions", "ReportOptions", "cluster_reports"]

# What --method takes, as shoal.reports calls it.
METHODS = {"kmeans": "noise-aware", "density": "density", "remap": "remap"}
DELTA = 1e-6
FREE = "nothing was spent: clusters of reports keep the promise of the reports"
BLIND = (
    "not better than blind: held-out reports cannot distinguish these clusters from points spread "
    "over the box; collect more reports, ask for fewer clusters, or raise epsilon"
)


class ReportOptions(NamedTuple):
    """How reports are clustered, and what their batch is said to be."""

    method: str = "kmeans"
    k: int | None = None
    seed: int | None = None
    shuffled: bool = False
    n: int | None = None
    delta: float | None = None


def cluster_reports(
    path: Path,
    made: MechanismOptions,
    options: ReportOptions,
    *,
    settings: Sequence[str],
    out: Path,
    as_json: bool,
) -> None:
    """Find the clusters behind the reports of a file, and write and print their release."""
    from shoal._cluster_table import cluster_table
    from shoal._report_channel import report_names
    from shoal.cli._output import staged
    from shoal.reports import analyze_reports
    from shoal.tables import write_table

    for name, value in (("--n", options.n), ("--delta", options.delta)):
        if value is not None and not options.shuffled:
            raise ParameterError(f"{name} must come with --shuffled, got {value!r} without it")
    mechanism, others = open_mechanism(path, made, settings)
    parameters = _parameters(mechanism, options, others)
    kind = type(mechanism).__name__
    reports = read_reports(path, report_names(mechanism), kind)
    check_reports(reports, mechanism)
    shuffled = _amplified(mechanism, reports, options)
    with staged(out, FILES, mark=RELEASE) as stage:
        with progress_bar("clustering"):
            release = analyze_reports(
                reports,
                METHODS[options.method],
                parameters,
                mechanism=mechanism,
                random_state=options.seed or 0,
            )
        if shuffled is not None:
            values = {**release.values, "shuffled": _plain_promise(shuffled)}
            release = replace(release, values=values)
        clusters = cluster_table(release)
        release.save(stage.path / RELEASE)
        write_table(stage.path / clusters.file, clusters.names, clusters.values)
        notes = [
            *_notes(release, mechanism, shuffled),
            *draw_picture(release, None, stage.path / PICTURE),
        ]
        stage.show()
    if not as_json:
        print_release(release, clusters, stage.shown, None, notes)
        return
    plain = plain_release(release, clusters, stage.shown, None, notes)
    plain |= {
        "mechanism": kind,
        "reports": len(reports),
        "better_than_blind": release.values.get("better_than_blind"),
        "shuffled": None if shuffled is None else _plain_promise(shuffled),
    }
    typer.echo(json.dumps(plain))


def _parameters(mechanism: Any, options: ReportOptions, others: dict[str, Any]) -> dict[str, Any]:
    """Check the parameters of the analysis, before reports are read."""
    from shoal.reports import ANALYSES, check_analysis

    if options.method not in METHODS:
        raise ParameterError(
            f"--method must be one of {', '.join(METHODS)}, got {options.method!r}"
        )
    method = METHODS[options.method]
    free = sorted(ANALYSES[method].parameters)
    for name in others:
        if name not in free:
            raise ParameterError(
                f"--set must name a parameter of --method {options.method}, got {name!r}: it can "
                f"set {', '.join(free)}"
            )
    return check_analysis(method, {"n_clusters": options.k, **others}, mechanism=mechanism)


def _amplified(mechanism: Any, reports: "Floats", options: ReportOptions) -> "Guarantee | None":
    """Return what the shuffled batch promises: of two rounds, the smaller one."""
    if not options.shuffled:
        return None
    from shoal.privacy import amplify

    local = list(promises(mechanism).values())[-1]
    sizes, colors = [len(reports)], None
    if are_partitions(mechanism):
        second = int((reports[:, 0] >= getattr(mechanism, "first_partition", 0)).sum())
        sizes = [size for size in (second, len(reports) - second) if size]
        colors = mechanism.make_partitions().n_colors
    if options.n is not None:
        if len(sizes) > 1:
            raise ParameterError(
                f"--n must be left out with reports of two rounds, got {options.n}: all of these "
                "are assumed to be honest"
            )
        if options.n > sizes[0]:
            raise ParameterError(
                f"--n must be at most the number of reports, {sizes[0]}, got {options.n}: it is "
                "how many of them are honest"
            )
        sizes = [options.n]
    delta = DELTA if options.delta is None else options.delta
    batches = [amplify(local, size, delta, n_colors=colors) for size in sizes]
    return max(batches, key=lambda batch: batch.epsilon)


def _notes(release: "Release", mechanism: Any, shuffled: "Guarantee | None") -> list[str]:
    """Return what else is promised, what the clusters are worth, and how to use them."""
    found = promises(mechanism)
    notes = [f"{title}: {promise}" for title, promise in list(found.items())[1:]]
    if shuffled is not None:
        notes.append(f"shuffled: {shuffled}")
    notes.append(FREE)
    if not release.values.get("better_than_blind", True):
        notes.append(BLIND)
    if "confidence" in release.values:
        confidence = release.values["confidence"]
        notes.append(
            f"radius: of a ball that holds the true center with {confidence:.0%} confidence; the "
            "radius of the whole box where the reports say nothing"
        )
    notes.append("to label records, on each device: shoal predict release.json records.csv")
    return notes


def _plain_promise(promise: "Guarantee") -> dict[str, Any]:
    return {**promise.to_dict(), "text": str(promise)}
