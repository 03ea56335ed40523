"""``shoal collect analyze``: clusters of the reports that are stored now."""

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._screen import progress_bar
from shoal.cli.collect._database import CampaignName, DatabaseUrl, open_store
from shoal.exceptions import ParameterError, ReleaseError

if TYPE_CHECKING:
    from shoal.collector.store import Analysis, Store

__all__ = ["analyze_command"]

POLL_SECONDS = 0.3
HINT_SECONDS = 10.0
OPTIONS = {"n_clusters": "--k", "honest_share": "--honest-share", "delta": "--delta"}
HINT = "no worker has taken it yet: run `shoal collect serve`, or pass --here"


def analyze_command(
    campaign: CampaignName,
    *,
    db: DatabaseUrl,
    k: Annotated[
        int | None,
        typer.Option(min=1, help="Number of clusters. Default: the number in the document."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="noise-aware (centers), density (any shape) or remap.")
    ] = "noise-aware",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Parameter of the method, as name=value.")
    ] = None,
    honest_share: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="For a shuffled campaign: share of each batch that you assume to come from "
            "honest devices; 0 claims nothing for the shuffler.",
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="For a shuffled campaign: delta of its promise. Default: 1e-6."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of the method, which hides nothing. Default: drawn and recorded."
        ),
    ] = None,
    here: Annotated[
        bool, typer.Option("--here", help="Run it in this command, not in a server's worker.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait for the result, or only queue the analysis."),
    ] = True,
    out: Annotated[Path | None, typer.Option(help="Also write the release to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find the clusters behind the reports that are stored now; nothing is spent.

    The result has a version number and stays hidden until `shoal collect publish` publishes it.

    Example: shoal collect analyze homes --k 5 --db reports.db
    """
    from shoal._build import parse_settings

    parameters = parse_settings(setting or [])
    own = {"n_clusters": k, "honest_share": honest_share, "delta": delta}
    for name, option in OPTIONS.items():
        if name in parameters:
            raise ParameterError(f"--set must not name {name}, got it: use {option}")
    parameters |= {name: value for name, value in own.items() if value is not None}
    if out is not None and not (wait or here):
        raise ParameterError("--out must come without --no-wait, got both: there is no release yet")
    if out is not None and not out.parent.is_dir():
        raise ParameterError(f"--out must be a file in a folder that exists, got {str(out)!r}")
    with open_store(db) as store:
        from shoal.collector.analysis import queue_analysis

        version = queue_analysis(store, campaign, method, parameters, seed=seed)
        job = _finished(store, campaign, version, here=here) if wait or here else None
    if job is None:
        plain = {"campaign": campaign, "version": version, "state": "queued"}
        typer.echo(json.dumps(plain) if as_json else f"queued: version {version} of {campaign}")
        return
    _show(job, out, as_json=as_json)


def _finished(store: "Store", campaign: str, version: int, *, here: bool) -> "Analysis":
    """Wait until an analysis is done, or run jobs here until it is."""
    run_next = _own_worker(store) if here else None
    hint_at = time.monotonic() + HINT_SECONDS
    with progress_bar("analyzing"):
        while (job := store.analysis(campaign, version)) is None or not job.state.is_finished:
            if run_next is not None:
                run_next()
                continue
            if job is not None and not job.attempts and time.monotonic() > hint_at:
                typer.echo(HINT, err=True)
                hint_at = float("inf")
            time.sleep(POLL_SECONDS)
    if job.error is not None:
        raise ReleaseError(f"version {version} of {campaign} failed: {job.error}")
    return job


def _own_worker(store: "Store") -> Callable[[], bool]:
    """Return what runs the next job in this process; its log is for servers."""
    from shoal.collector.worker import Worker
    from shoal.service import EventLog

    return Worker(store, log=EventLog(io.StringIO())).run_next


def _show(job: "Analysis", out: Path | None, *, as_json: bool) -> None:
    from shoal._cluster_table import cluster_table
    from shoal.cli._cluster_reports import BLIND
    from shoal.cli._release_output import plain_release, print_release
    from shoal.privacy import Release

    release = Release.from_json(job.release or "")
    clusters = cluster_table(release)
    files = [] if out is None else [out]
    if out is not None:
        release.save(out)
    notes = [] if release.values.get("better_than_blind", True) else [BLIND]
    shuffled = release.values.get("collection", {}).get("shuffled")
    notes += [] if shuffled is None else [f"through the shuffler: {shuffled['text']}"]
    notes += [
        f"version {job.version} of {job.campaign}: {job.snapshot.n_reports:,} reports, seed "
        f"{job.seed}, snapshot {job.snapshot.digest}",
        f"next: shoal collect publish {job.campaign} {job.version}",
    ]
    if not as_json:
        print_release(release, clusters, files, None, notes)
        return
    plain: dict[str, Any] = plain_release(release, clusters, files, None, notes)
    typer.echo(
        json.dumps(
            {
                "campaign": job.campaign,
                "version": job.version,
                "state": job.state.value,
                "reports": job.snapshot.n_reports,
                "snapshot": job.snapshot.digest,
                "seed": job.seed,
                "better_than_blind": release.values.get("better_than_blind"),
                "shuffled": shuffled,
                **plain,
            }
        )
    )
