"""``shoal collect status``: what a collector holds."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shoal._numbers import rounded_up
from shoal.cli.collect._database import DatabaseUrl, open_store

if TYPE_CHECKING:
    from shoal.campaigns import Campaign, SignedCampaign
    from shoal.collector.store import Analysis, Store

__all__ = ["status_command"]


def status_command(
    campaign: Annotated[
        str | None,
        typer.Argument(help="Show the analyses of this campaign. Default: all campaigns."),
    ] = None,
    *,
    db: DatabaseUrl,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Show campaigns with their numbers of reports and their analyses.

    Example: shoal collect status --db reports.db
    """
    with open_store(db) as store:
        chosen = store.campaigns() if campaign is None else [store.campaign(campaign)]
        rows = [_plain(store, signed) for signed in chosen]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    # Titles are the user's: square brackets in them are no markup.
    screen = Console(markup=False, highlight=False)
    screen.print(_campaign_table(rows))
    shuffled = [row for row in rows if row["batches"] is not None]
    if shuffled:
        screen.print(_batch_table(shuffled))
    for row in rows:
        if row["analyses"]:
            screen.print(_analysis_table(row))


def _plain(store: "Store", signed: "SignedCampaign") -> dict[str, Any]:
    campaign = signed.campaign
    reports = store.count(campaign.id)
    public = store.published(campaign.id)
    return {
        "campaign": campaign.id,
        "title": campaign.title,
        "revision": campaign.revision,
        "digest": signed.digest,
        "public_key": str(signed.key),
        "state": "open" if campaign.is_open() else "closed",
        "closes": campaign.closes.isoformat(),
        "reports": reports,
        "bytes": reports * campaign.report_format.width,
        "batches": _plain_batches(store, campaign),
        "guarantee": {**campaign.guarantee.to_dict(), "text": str(campaign.guarantee)},
        "published": None if public is None else public.analysis.version,
        "analyses": [_plain_analysis(one) for one in store.analyses(campaign.id)],
    }


def _plain_batches(store: "Store", campaign: "Campaign") -> dict[str, Any] | None:
    if campaign.shuffler is None:
        return None
    totals = store.batch_totals(campaign.id)
    return {**campaign.shuffler.to_dict(), **totals._asdict(), "n_dropped": totals.n_dropped}


def _plain_analysis(analysis: "Analysis") -> dict[str, Any]:
    return {
        "version": analysis.version,
        "state": analysis.state.value,
        "method": analysis.method,
        "parameters": analysis.parameters,
        "seed": analysis.seed,
        "reports": analysis.snapshot.n_reports,
        "snapshot": analysis.snapshot.digest,
        "created": analysis.created.isoformat(),
        "finished": None if analysis.finished is None else analysis.finished.isoformat(),
        "error": analysis.error,
    }


def _campaign_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Campaigns")
    for heading in ("campaign", "revision", "until (UTC)", "epsilon"):
        table.add_column(heading)
    for heading in ("reports", "published"):
        table.add_column(heading, justify="right")
    for row in rows:
        closes = row["closes"][:16].replace("T", " ")
        table.add_row(
            row["campaign"],
            str(row["revision"]),
            closes if row["state"] == "open" else f"closed {closes}",
            rounded_up(row["guarantee"]["epsilon"]),
            f"{row['reports']:,}",
            "no" if row["published"] is None else f"version {row['published']}",
        )
    return table


def _batch_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Batches")
    for heading in ("campaign", "shuffled by"):
        table.add_column(heading, overflow="fold")
    for heading in ("size", "batches", "fewest kept", "dropped"):
        table.add_column(heading, justify="right")
    for row in rows:
        batches = row["batches"]
        numbers = [batches[name] for name in ("batch_size", "n_batches", "fewest", "n_dropped")]
        table.add_row(row["campaign"], batches["operator"], *(f"{number:,}" for number in numbers))
    return table


def _analysis_table(row: dict[str, Any]) -> Table:
    table = Table(title=f"Analyses of {row['campaign']}")
    for heading in ("version", "state", "method", "parameters", "reports", "asked for (UTC)"):
        table.add_column(heading, overflow="fold")
    for one in row["analyses"]:
        given = ", ".join(f"{name}={value}" for name, value in one["parameters"].items())
        table.add_row(
            str(one["version"]),
            one["state"] if one["error"] is None else f"{one['state']}: {one['error']}",
            one["method"],
            given,
            f"{one['reports']:,}",
            one["created"][:16].replace("T", " "),
        )
    return table
