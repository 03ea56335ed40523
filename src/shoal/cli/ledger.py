"""``shoal ledger``: what was spent on what, by whom, and what is left."""

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal._files import atomic_write
from shoal.exceptions import LedgerFileError, ParameterError

if TYPE_CHECKING:
    from shoal.privacy import Ledger, PrivacyUnit

__all__ = ["ledger_command"]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em }}
.scroll {{ overflow-x: auto }}
table {{ border-collapse: collapse }}
caption {{ font-weight: 600; text-align: left; padding: 8px 0 }}
th, td {{ border-bottom: 1px solid #ccc; padding: 4px 10px 4px 0; text-align: left }}
td {{ vertical-align: top }}
td:last-child {{ font-family: monospace; font-size: 11px; word-break: break-all; min-width: 16em }}
</style></head><body><div class="scroll">{table}</div></body></html>
"""


def ledger_command(
    file: Annotated[Path, typer.Argument(help="File of the ledger.")],
    *,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Make a new ledger with this limit on epsilon; inf for one without."),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Its limit on delta. Default: 0.")] = None,
    metric_epsilon: Annotated[
        float | None,
        typer.Option(help="Its limit per unit of distance, for reports of Laplace mechanisms."),
    ] = None,
    metric_unit: Annotated[
        str, typer.Option(help="That unit, such as km; it comes with --metric-epsilon.")
    ] = "",
    reason: Annotated[
        str | None,
        typer.Option(
            help="Why the limit of this ledger is raised to the one given; the ledger records it."
        ),
    ] = None,
    who: Annotated[
        str | None, typer.Option(help="Who raises the limit. Default: your login name.")
    ] = None,
    table: Annotated[str, typer.Option(help="Name of the table that a new ledger is for.")] = "",
    user_column: Annotated[
        str, typer.Option(help="Protect users, identified by this column, instead of rows.")
    ] = "",
    rows_per_user: Annotated[
        int | None,
        typer.Option(
            help="No user has more rows than this, so promises per row can be counted as well."
        ),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            help="A release.json: check that this ledger still has the entry that paid for it."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Check every line, and name the entries whose promise a flaw of shoal broke, as "
            "far as this version knows.",
        ),
    ] = False,
    html_page: Annotated[
        Path | None, typer.Option("--html", help="Also write the ledger to this HTML page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ledger as JSON.")] = False,
) -> None:
    """Show what was spent, on what, and how much is left; or make a new ledger, or raise its limit.

    Example: shoal ledger people.ledger --epsilon 3 --table people
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.cli._counting import open_ledger

    unit = _privacy_unit(user_column, rows_per_user)
    named = {"table": table} if table else {}
    if reason is not None:
        if user_column:
            raise ParameterError(f"--user-column must come without --reason, got {user_column!r}")
        ledger = open_ledger(file, who=who, **named)
        ledger.set_limit(
            reason=reason,
            epsilon=epsilon,
            delta=delta,
            metric_epsilon=metric_epsilon,
            metric_unit=metric_unit or None,
        )
    elif who is not None:
        raise ParameterError(f"--who must come with --reason WHY, got {who!r} without it")
    elif epsilon is None:
        if any((delta, metric_epsilon is not None, metric_unit, user_column, rows_per_user)):
            raise ParameterError(
                "--epsilon must be given with the limits of a new ledger, or --reason with those "
                "that are raised"
            )
        ledger = open_ledger(file, **named)
    else:
        limits = {"epsilon": epsilon, "delta": delta or 0.0, "metric_epsilon": metric_epsilon}
        kwargs = {"metric_unit": metric_unit, "table": table, "privacy_unit": unit}
        ledger = open_ledger(file, **limits, **kwargs)
    if release is not None:
        _check_release(ledger, release)
    if html_page is not None:
        _write_page(html_page, file.name, ledger)
    if verify:
        _verify(ledger, as_json=as_json)
    else:
        typer.echo(json.dumps(_plain(ledger)) if as_json else str(ledger))


def _verify(ledger: "Ledger", *, as_json: bool) -> None:
    """Say which promises are known to be broken; with some, the command fails."""
    from shoal import __version__

    broken = ledger.verify()
    if as_json:
        plain = [
            {
                "entry": None if entry.receipt is None else entry.receipt.count,
                "version": entry.version,
                "purpose": entry.purpose,
                "id": advisory.id,
                "summary": advisory.summary,
                "advice": advisory.advice,
            }
            for entry, advisory in broken
        ]
        typer.echo(json.dumps({**_plain(ledger), "broken": plain}))
    for entry, advisory in () if as_json else broken:
        number = "" if entry.receipt is None else f" {entry.receipt.count}"
        typer.echo(
            f"BROKEN: entry{number} of {entry.time[:10]}, {entry.purpose}, made by shoal "
            f"{entry.version}: {advisory.id}: {advisory.summary} {advisory.advice}"
        )
    if broken:
        raise typer.Exit(1)
    if not as_json:
        typer.echo(
            f"verified: {ledger.receipt}; shoal {__version__} knows of no flaw that broke a "
            "promise of these"
        )


def _privacy_unit(user_column: str, rows: int | None) -> "PrivacyUnit":
    from shoal.privacy import PrivacyUnit

    if not user_column:
        if rows is not None:
            raise ParameterError(f"--rows-per-user must come with --user-column, got {rows}")
        return PrivacyUnit()
    return PrivacyUnit.user(user_column, max_rows=rows, enforced=rows is None)


def _check_release(ledger: "Ledger", path: Path) -> None:
    """Refuse a release that the ledger did not pay for, or no longer knows of."""
    from shoal.privacy import Release

    receipt = Release.load(path).ledger
    if receipt is None:
        raise ParameterError(f"--release must be one that a ledger paid for, got {path.name!r}")
    if not ledger.paid_for(receipt):
        raise LedgerFileError(
            f"the ledger has no entry {receipt.count} with the hash of {path.name!r}: another one "
            "paid, or this one was rolled back"
        )


def _write_page(path: Path, name: str, ledger: "Ledger") -> None:
    page = _PAGE.format(title=html.escape(f"Ledger {name}"), table=ledger._repr_html_())
    try:
        with atomic_write(path) as part:
            part.write_text(page, encoding="utf-8")
    except OSError as failure:
        raise ParameterError(
            f"--html must be a writable file, got {str(path)!r}: {failure.strerror}"
        ) from None


def _plain(ledger: "Ledger") -> dict[str, object]:
    return {
        "file": ledger.path,
        "limits": ledger.limits.to_dict(),
        "limit_changes": [change.to_dict() for change in ledger.limit_changes],
        "table": ledger.table,
        "entries": [
            {**entry.to_dict(), "hash": None if entry.receipt is None else entry.receipt.hash}
            for entry in ledger.entries
        ],
        "spent": [{**promise.to_dict(), "text": str(promise)} for promise in ledger.spent],
        "used": ledger.used,
        "left": None if ledger.limits.unlimited else ledger.remaining,
        "receipt": ledger.receipt.to_dict(),
    }
