"""``shoal audit``: what is claimed, what is measured, and the verdict."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from shoal._numbers import rounded_up
from shoal.cli._input import parse_bounds
from shoal.cli._options import Settings, complete_targets
from shoal.cli._output import output_folder, typed
from shoal.cli._screen import progress_bar

if TYPE_CHECKING:
    from shoal.experiments import PromiseAudit

__all__ = ["audit_command"]

BOX = "-1,1"
BROKEN = 1  # exit code of a promise that was seen to be broken


def audit_command(
    target: Annotated[
        str,
        typer.Argument(
            help="DPKMeans, DPDensity, Laplace, ... or module:object.",
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
        Path | None, typer.Option(help="Folder from which a stopped audit resumes (estimators).")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for picture and report.")] = Path("shoal-audit"),
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed that makes the audit repeatable. Default: audit secure noise."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Measure the epsilon of an estimator or mechanism on made-up records; exit code 1 if broken.

    Example: shoal audit DPKMeans --epsilon 1 --set n_clusters=2 --set method=lloyd
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal._build import build_estimator, parse_settings
    from shoal.experiments import Provenance, audit_promise, audit_report, draw_promise

    model = build_estimator(
        target,
        epsilon=epsilon,
        # An object of the user's own has its own.
        bounds=parse_bounds(bounds if bounds or ":" in target else BOX),
        kwargs=parse_settings(setting or []),
    )
    folder = output_folder(out)
    with progress_bar("auditing") as update:
        result = audit_promise(
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
    picture = draw_promise(result, path=folder / "audit.png")
    made = Provenance(typed(), seed)
    report = audit_report(folder / "report.html", result, picture=picture, made=made)
    if as_json:
        typer.echo(json.dumps({**_plain(result, report), "provenance": made.to_dict()}))
    else:
        _print(Console(), result, report)
    if result.broken:
        raise typer.Exit(BROKEN)


def _print(screen: Console, result: "PromiseAudit", report: Path) -> None:
    claim = (
        "nothing"
        if result.claimed is None
        else f"epsilon {rounded_up(result.claimed, 4)}{result.unit}"
    )
    screen.print(f"audited: {result.target}", soft_wrap=True)
    screen.print(f"claimed: {claim}")
    screen.print(f"measured: at least {result.sampling.epsilon:.4g}{result.unit}")
    screen.print(f"worst pair: {result.sampling.worst}")
    screen.print(f"event: {result.event}", soft_wrap=True)
    if result.replay is not None:
        screen.print(str(result.replay), soft_wrap=True)
    screen.print(f"\n{result.verdict}")
    screen.print(f"\nreport: {report.resolve()}", soft_wrap=True)


def _plain(result: "PromiseAudit", report: Path) -> dict[str, object]:
    replay = result.replay
    return {
        "target": result.target,
        "guarantee": result.guarantee,
        "claimed": result.claimed,
        "measured": result.sampling.epsilon,
        "confidence": result.sampling.confidence,
        "broken": result.broken,
        "worst": result.sampling.worst,
        "event": result.event,
        "searched": result.searched,
        "replay": replay
        and {
            "privacy_measure": replay.privacy_measure,
            "loss": replay.loss,
            "budget": replay.budget,
            "findings": replay.findings,
        },
        "verdict": result.verdict,
        "report": str(report),
    }
