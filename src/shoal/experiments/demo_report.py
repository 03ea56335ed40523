"""The demonstration as one HTML page that needs nothing else."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path

from shoal.experiments.demo import DemoRow

__all__ = ["demo_report"]

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1c2733; background: #fff;
       max-width: 60rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.lead { color: #4a5a6a; margin-top: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .4rem .7rem; border-bottom: 1px solid #dde3ea; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
thead th { border-bottom: 2px solid #1c2733; font-weight: 600; }
img { width: 100%; height: auto; margin: 1rem 0; }
li { margin: .45rem 0; } code { background: #f1f4f7; padding: .1rem .3rem; border-radius: 3px; }
"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>shoal: what privacy costs</title><style>{style}</style></head><body>
<h1>What privacy costs</h1>
<p class="lead">Five clusters in {n:,} generated records; median and range of {repeats} runs.
Cost 1: as good as k-means without privacy. Agreement 1: every record finds its cluster.</p>
<img src="data:image/png;base64,{picture}"
 alt="Records, reports and private centres, and cost against epsilon">
<h2>Utility against epsilon</h2>
<table><thead><tr><th>model</th><th>method</th><th>epsilon</th><th>worst case</th>
<th>cost</th><th>agreement</th></tr></thead><tbody>
{rows}
</tbody></table>
<p><b>Worst case</b> is the same promise as an epsilon for exchanging a record for any other of the
box. Reports promise epsilon <em>per unit of distance</em>, the central model for adding or removing
a record: equal numbers in the epsilon column are not equal privacy.</p>
<p>In the local model each device reports its record once and k-means that knows
the noise runs on the reports.</p>
<p>A wide range of costs at a large epsilon is not noise: k-means from a poor start ends in a poor
place, and starting again would cost privacy.</p>
<h2>What was promised</h2>
<ul>
{promises}
</ul>
</body></html>
"""


def demo_report(path: Path, rows: Sequence[DemoRow], *, picture: Path, n_samples: int) -> Path:
    """Write the page.

    Parameters
    ----------
    path : Path
        Where to.
    rows : sequence of DemoRow
        The table.
    picture : Path
        PNG file, embedded in the page.
    n_samples : int
        Number of records that the rows were measured on.

    Returns
    -------
    path : Path
        The file written.
    """
    lines = [
        f"<tr><td>{row.model}</td><td>{html.escape(row.method)}</td><td>{row.epsilon:g}</td>"
        f"<td>{row.worst_case:.3g}</td><td>{row.cost_text}</td>"
        f"<td>{row.agreement_text}</td></tr>"
        for row in rows
    ]
    promises = [
        f"<li><b>{html.escape(row.method)}, epsilon {row.epsilon:g}.</b> "
        f"{html.escape(str(row.guarantee))}.</li>"
        for row in rows
    ]
    path.write_text(
        PAGE.format(
            style=STYLE,
            n=n_samples,
            repeats=len(rows[0].costs),
            picture=base64.b64encode(picture.read_bytes()).decode(),
            rows="\n".join(lines),
            promises="\n".join(promises),
        ),
        encoding="utf-8",
    )
    return path
