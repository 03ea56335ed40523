"""``shoal collect publish``: a result that everybody may see."""

from typing import Annotated

import typer

from shoal.cli.collect._database import CampaignName, DatabaseUrl, open_store

__all__ = ["publish_command"]


def publish_command(
    campaign: CampaignName,
    version: Annotated[int, typer.Argument(min=1, help="Version of the analysis.")],
    *,
    db: DatabaseUrl,
) -> None:
    """Publish a finished analysis; an earlier version can be published again.

    Example: shoal collect publish homes 1 --db reports.db
    """
    with open_store(db) as store:
        store.publish(campaign, version)
        address = store.campaign(campaign).campaign.results_url
    typer.echo(f"published: version {version} of {campaign}, at {address}")
