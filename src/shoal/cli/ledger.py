"""``shoal ledger``: what was spent on what, and what is left."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.privacy import Guarantee, Ledger

__all__ = ["ledger"]


def ledger(
    file: Annotated[Path, typer.Argument(help="File of the ledger.")],
    *,
    epsilon: Annotated[
        float | None, typer.Option(help="Make a new ledger with this limit.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Its limit on delta.")] = 0.0,
    metric_epsilon: Annotated[
        float | None,
        typer.Option(help="Its limit per unit of distance, for reports of Laplace mechanisms."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ledger as JSON.")] = False,
) -> None:
    """Show what was spent on what and what is left, or make a new ledger.

    Example: shoal ledger people.ledger --epsilon 3
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.cli._table_target import open_ledger  # noqa: PLC0415

    limits = {"epsilon": epsilon, "delta": delta, "metric_epsilon": metric_epsilon}
    if epsilon is None and (delta or metric_epsilon is not None):
        raise ParameterError("--epsilon must be given with the limits of a new ledger, got none")
    book = open_ledger(file, **({} if epsilon is None else limits))
    typer.echo(json.dumps(_plain(book)) if as_json else str(book))


def _plain(book: "Ledger") -> dict[str, object]:
    return {
        "file": book.path,
        "limits": book.limits.to_dict(),
        "entries": [entry.to_dict() for entry in book.entries],
        "spent": _promise(book.spent),
        "spent_metric": [_promise(promise) for promise in book.spent_metric.values()],
        "left": book.remaining,
    }


def _promise(guarantee: "Guarantee") -> dict[str, object]:
    return {**guarantee.to_dict(), "text": str(guarantee)}
