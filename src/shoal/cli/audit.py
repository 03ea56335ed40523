"""``shoal audit``: what is claimed, what is measured, and the verdict."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from shoal.cli._arguments import output_folder, parse_bounds, typed
from shoal.cli._complete import complete_targets
from shoal.cli._options import Settings
from shoal.cli._progress import progress_bar

if TYPE_CHECKING:
    from shoal.experiments import PromiseAudit

__all__ = ["audit"]

BOX = "-1,1"
BROKEN = 1  # exit code of a promise that was seen to be broken


def audit(
    target: Annotated[
        str,
        typer.Argument(
            help="DPKMeans, DPWaveCluster, Laplace, ... or module:object.",
            autocompletion=complete_targets,
        ),
    ],
    *,
    epsilon: Annotated[float | None, typer.Option(help="Its epsilon.")] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            help="Public bounds: LOW,HIGH, or LOW:HIGH for each column.", show_default="-1,1"
        ),
    ] = None,
    columns: Annotated[int, typer.Option(min=1, help="Columns of the made-up records.")] = 2,
    setting: Settings = None,
    runs: Annotated[
        int | None,
        typer.Option(min=100, help="Fits on each table of the worst pair (estimators)."),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Reports of each record of the worst pair (mechanisms)."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Probability that the bound is true.")] = 0.999,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    resume: Annotated[
        Path | None, typer.Option(help="Folder to go on from after a stop (estimators).")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for picture and report.")] = Path("shoal-audit"),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeat the audit; None audits secure noise.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Measure the epsilon of an estimator or mechanism on made-up records; exit code 1 if broken.

    Example: shoal audit DPKMeans --epsilon 1 --set n_clusters=2 --set method=lloyd
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.experiments import (  # noqa: PLC0415
        audit_promise,
        audit_report,
        build_target,
        draw_promise,
        parse_words,
    )
    from shoal.experiments.provenance import Provenance  # noqa: PLC0415

    model = build_target(
        target,
        epsilon=epsilon,
        # An object of the user's own has its own.
        bounds=parse_bounds(bounds if bounds or ":" in target else BOX),
        words=parse_words(setting or []),
    )
    folder = output_folder(out)
    with progress_bar("auditing") as update:
        found = audit_promise(
            model,
            columns=columns,
            runs=runs,
            samples=samples,
            confidence=confidence,
            n_jobs=jobs,
            random_state=seed,
            resume=resume,
            progress=update,
        )
    picture = draw_promise(found, path=folder / "audit.png")
    made = Provenance(typed(), seed)
    report = audit_report(folder / "report.html", found, picture=picture, made=made)
    if as_json:
        typer.echo(json.dumps({**_plain(found, report), "provenance": made.to_dict()}))
    else:
        _print(Console(), found, report)
    if found.broken:
        raise typer.Exit(BROKEN)


def _print(screen: Console, found: "PromiseAudit", report: Path) -> None:
    claim = "nothing" if found.claimed is None else f"epsilon {found.claimed:.4g}{found.unit}"
    screen.print(f"audited: {found.target}", soft_wrap=True)
    screen.print(f"claimed: {claim}")
    screen.print(f"measured: at least {found.sampling.epsilon:.4g}{found.unit}")
    screen.print(f"worst pair: {found.sampling.worst}")
    screen.print(f"event: {found.event}", soft_wrap=True)
    if found.replay is not None:
        screen.print(str(found.replay), soft_wrap=True)
    screen.print(f"\n{found.verdict}")
    screen.print(f"\nreport: {report.resolve()}", soft_wrap=True)


def _plain(found: "PromiseAudit", report: Path) -> dict[str, object]:
    replay = found.replay
    return {
        "target": found.target,
        "guarantee": found.guarantee,
        "claimed": found.claimed,
        "measured": found.sampling.epsilon,
        "confidence": found.sampling.confidence,
        "broken": found.broken,
        "worst": found.sampling.worst,
        "event": found.event,
        "searched": found.searched,
        "replay": replay
        and {
            "privacy_measure": replay.privacy_measure,
            "loss": replay.loss,
            "budget": replay.budget,
            "findings": replay.findings,
        },
        "verdict": found.verdict,
        "report": str(report),
    }
