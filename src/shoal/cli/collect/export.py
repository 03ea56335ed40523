"""``shoal collect export``: reports as files that every other command opens."""

import json
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli._screen import progress_bar
from shoal.cli.collect._database import CampaignName, DatabaseUrl, open_store

__all__ = ["export_command"]


def export_command(
    campaign: CampaignName,
    *,
    db: DatabaseUrl,
    out: Annotated[Path, typer.Option(help="New folder for Parquet files of the reports.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Write the reports that are stored now to a folder, with the mechanism's document beside it.

    Example: shoal collect export homes --out homes-reports --db reports.db
    """
    with open_store(db) as store, progress_bar("exporting"):
        from shoal.collector.export import export_table

        document = export_table(store, campaign, out)
        snapshot = store.snapshot(campaign)
        reports, batches = snapshot.n_reports, store.batch_totals(campaign, snapshot).n_batches
    if as_json:
        plain = {"campaign": campaign, "reports": reports, "batches": batches, "folder": str(out)}
        typer.echo(json.dumps({**plain, "document": str(document)}))
        return
    of_batches = f" of {batches:,} batches" if batches else ""
    typer.echo(f"{reports:,} reports{of_batches}: {out.resolve()}")
    typer.echo(f"mechanism: {document.resolve()}")
    typer.echo(f"next: shoal cluster --reports {out} --k K")
