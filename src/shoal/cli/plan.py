"""``shoal plan``: what each epsilon would buy, before anything is spent."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._options import BoundsText
from shoal.cli._output import staged, typed
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.experiments import PlanTable
    from shoal.schema import Schema

__all__ = ["plan_command"]

REPORT = "plan.html"
FILES = (REPORT, "plan.png")
MODELS = ("central", "local", "shuffled")
DELTA = 1e-6  # of a shuffled promise


class Asked(NamedTuple):
    """What a plan is asked for; None is left out."""

    schema: "Schema | None"
    n: int | None
    k: int
    epsilons: list[float] | None
    delta: float | None
    records_per_user: int | None
    smallest: float | None
    cost: float | None
    seed: int


def plan_command(
    *,
    model: Annotated[
        str,
        typer.Option(
            help="Who sees records: central (a curator), local (no one: how many devices must "
            "report), or shuffled (no one, with a shuffler before the analyst)."
        ),
    ] = "central",
    schema: Annotated[
        Path | None, typer.Option(help="Schema of the table; made by `shoal schema`.")
    ] = None,
    bounds: BoundsText = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Names of the columns of --bounds, separated by commas; replaces --schema."
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            min=1,
            help="Your public guess of the number of rows, since the true number is private; or "
            "of devices (optional with local).",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Number of clusters.")] = 5,
    smallest: Annotated[
        float | None,
        typer.Option(
            help="Share of the records in the smallest cluster that matters, such as 0.05. "
            "Default: half of an even share (local, shuffled)."
        ),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(help="Cost relative to k-means that is good enough. Default: 1.2 (local)."),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(
            help="Epsilons to compare, separated by commas: of the release, of each report "
            "(local), or of the shuffled batch."
        ),
    ] = None,
    central_epsilon: Annotated[
        float | None,
        typer.Option(
            help="Epsilon allowed for the shuffled batch; the plan shows the local epsilon that it "
            "permits."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="0 (default) for pure differential privacy; above 0 for Gaussian noise. For a "
            "shuffled batch, the default is 1e-6."
        ),
    ] = None,
    records_per_user: Annotated[
        int | None,
        typer.Option(min=1, help="Rows counted per person, if people have several (central)."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page and the picture.")] = Path(
        "shoal-plan"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the made-up records.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Forecast what each epsilon would buy: no file is read, and nothing is spent.

    Records are made up from the schema alone and clustered with and without privacy. With --model
    local, the plan says how many devices must report; with --model shuffled, which local epsilon
    a batch allows.

    Example: shoal plan --schema people.json --n 2000 --k 3 --epsilons 0.5,1
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal._optional import require
    from shoal.experiments import Provenance, plan_report

    if model not in MODELS:
        raise ParameterError(f"--model must be one of {', '.join(MODELS)}, got {model!r}")
    asked = Asked(
        _schema(schema, bounds, columns),
        n,
        k,
        _epsilons(epsilons, central_epsilon, model),
        delta,
        records_per_user,
        smallest,
        cost,
        seed,
    )
    _check(asked, model)
    for package in ("altair", "vl_convert"):  # not after the work
        require(package, extra="plot")
    with staged(out, FILES, mark=REPORT) as stage:
        with progress_bar("planning") as update:
            plan = _plan(asked, model, update)
        plan_report(stage.path / REPORT, plan, made=Provenance(typed(), seed))
        stage.show()
    report = out / REPORT
    if as_json:
        typer.echo(json.dumps({"model": model, **plan.to_dict(), "report": str(report)}))
        return
    screen = Console(markup=False, highlight=False)
    table = Table(title=plan.title)
    for heading in plan.headings:
        table.add_column(heading, justify="right")
    for row in plan.rows:
        table.add_row(*row.cells)
    screen.print(table)
    for note in plan.notes:
        screen.print(note, soft_wrap=True)
    screen.print(f"\nreport: {report.resolve()}", soft_wrap=True)


def _plan(asked: Asked, model: str, update: Callable[[int, int], None]) -> "PlanTable":
    """Run the plan of a trust model."""
    from shoal.experiments import (
        LOCAL_EPSILONS,
        PLANNED_EPSILONS,
        plan_devices,
        plan_release,
        plan_shuffled,
    )

    schema, n = asked.schema, asked.n
    if model == "shuffled" and n is not None:
        return plan_shuffled(
            schema,
            n=n,
            k=asked.k,
            epsilons=asked.epsilons or PLANNED_EPSILONS,
            smallest=asked.smallest,
            delta=DELTA if asked.delta is None else asked.delta,
            random_state=asked.seed,
            progress=update,
        )
    if n is None and model != "local":
        raise ParameterError(f"--n must be given for --model {model}, got none")
    if schema is None:
        raise ParameterError(
            "--schema FILE, or --columns with --bounds LOW:HIGH,..., must describe the records, "
            "got neither"
        )
    if model == "local":
        return plan_devices(
            schema,
            n=n,
            k=asked.k,
            epsilons=asked.epsilons or LOCAL_EPSILONS,
            smallest=asked.smallest,
            cost=1.2 if asked.cost is None else asked.cost,
            delta=DELTA if asked.delta is None else asked.delta,
            random_state=asked.seed,
            progress=update,
        )
    return plan_release(
        schema,
        n=n or 1,
        k=asked.k,
        epsilons=asked.epsilons or PLANNED_EPSILONS,
        delta=asked.delta or 0.0,
        records_per_user=asked.records_per_user or 1,
        random_state=asked.seed,
        progress=update,
    )


def _check(asked: Asked, model: str) -> None:
    """Refuse options that mean nothing in this trust model."""
    elsewhere = {
        "--records-per-user": (asked.records_per_user, ("central",)),
        "--smallest": (asked.smallest, ("local", "shuffled")),
        "--cost": (asked.cost, ("local",)),
    }
    for option, (value, models) in elsewhere.items():
        if value is not None and model not in models:
            raise ParameterError(
                f"{option} must come with --model {' or '.join(models)}, got --model {model}"
            )


def _schema(schema: Path | None, bounds: str | None, columns: str | None) -> "Schema | None":
    """Read the schema, or make one of public bounds: numbers, none of them missing."""
    from shoal._bounds import public_box
    from shoal.cli._input import parse_bounds, parse_columns
    from shoal.schema import Number, Schema

    if schema is not None:
        for option, value in (("--bounds", bounds), ("--columns", columns)):
            if value is not None:
                raise ParameterError(f"{option} must be left out with --schema, got {value!r}")
        return Schema.load(schema)
    if bounds is None:
        if columns is not None:
            raise ParameterError(f"--columns must come with --bounds, got {columns!r} without it")
        return None
    names = parse_columns(columns, bounds=bounds).used
    box = public_box(parse_bounds(bounds, names), len(names))
    return Schema(
        [
            Number(name, minimum=float(low), maximum=float(high), missing="refuse")
            for name, low, high in zip(names, box.low, box.high, strict=True)
        ]
    )


def _epsilons(text: str | None, central: float | None, model: str) -> list[float] | None:
    from shoal import _numbers

    if central is not None:
        if model != "shuffled" or text is not None:
            raise ParameterError(
                f"--central-epsilon must come with --model shuffled and without --epsilons, got "
                f"{central!r}"
            )
        return [_numbers.positive("--central-epsilon", central)]
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"--epsilons must be numbers > 0 separated by commas, got {text!r}: try --epsilons "
            "0.1,0.5,1"
        ) from None
