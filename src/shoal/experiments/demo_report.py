"""The demonstration as one HTML page that needs nothing else."""

from collections.abc import Sequence
from pathlib import Path

from shoal.experiments.demo import DemoRow
from shoal.experiments.page import Page
from shoal.plotting import Picture

__all__ = ["demo_report"]

HEADINGS = ("model", "method", "epsilon", "worst case", "cost", "agreement")


def demo_report(path: Path, rows: Sequence[DemoRow], *, picture: Picture, n_samples: int) -> Path:
    """Write the page.

    Parameters
    ----------
    path : Path
        Where to.
    rows : sequence of DemoRow
        The table.
    picture : Picture
        What :func:`shoal.plotting.draw_demo` returned.
    n_samples : int
        Number of records that the rows were measured on.

    Returns
    -------
    path : Path
        The file written.
    """
    page = Page("What privacy costs")
    page.lead(
        f"Five clusters in {n_samples:,} generated records; median and range of "
        f"{len(rows[0].costs)} runs. Cost 1: as good as k-means without privacy. Agreement 1: "
        "every record finds its cluster."
    )
    page.picture(picture, says="Records, reports and private centers, and cost against epsilon")
    page.section("Utility against epsilon")
    page.table(HEADINGS, [_cells(row) for row in rows], text=2)
    page.text(
        "Worst case is the same promise as an epsilon for exchanging a record for any other of the "
        "box. Reports promise epsilon per unit of distance, the central model for adding or "
        "removing a record: equal numbers in the epsilon column are not equal privacy."
    )
    page.text(
        "In the local model each device reports its record once and k-means that knows the noise "
        "runs on the reports."
    )
    page.text(
        "A wide range of costs at a large epsilon is not noise: k-means from a poor start ends in "
        "a poor place, and starting again would cost privacy."
    )
    page.section("What was promised")
    page.points(f"{row.method}, epsilon {row.epsilon:g}: {row.guarantee}." for row in rows)
    return page.write(path)


def _cells(row: DemoRow) -> list[str]:
    return [
        row.model,
        row.method,
        f"{row.epsilon:g}",
        f"{row.worst_case:.3g}",
        row.cost_text,
        row.agreement_text,
    ]
