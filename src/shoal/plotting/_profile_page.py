"""A released profile as one page that needs nothing else: sentences, a table, small multiples."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.plotting._picture import CHART_STYLE, page_scripts
from shoal.plotting._profiles import draw_profile, profile_values
from shoal.plotting._theme import NOISE, cluster_name

__all__ = ["profile_page"]

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #4a5a6a; --paper: #fff; --line: #dde3ea;
        --card: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaee; --soft: #a9b5c1; --paper: #14191f; --line: #36414d; --card: #1e252d; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .3rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p.lead, footer { color: var(--soft); } footer { font-size: .9rem; margin-top: 2.5rem; }
ul.sentences { list-style: none; padding: 0; }
ul.sentences li { background: var(--card); border-left: .3rem solid #1b4965; margin: .5rem 0;
                  padding: .5rem .8rem; overflow-wrap: anywhere; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
thead th { border-bottom: 2px solid var(--ink); }
div.chart { background: #fff; border-radius: .4rem; padding: .3rem; }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>shoal: {title}</title><style>{style}</style></head><body>
<h1>{title}</h1>
{body}
{scripts}</body></html>
"""
TITLE = "What distinguishes each cluster"
HALF = "Ranges are of the middle half of the values; of categories the most common is named."
SENTENCES = (
    "Sentences say only what is clear of the noise: with 95% confidence all of them together are "
    "true of the table."
)
INTERVALS = (
    "Thin lines are 95% intervals, each by itself, for the exact value in the table; they come "
    "from the known noise. How well the table speaks for others is not in them."
)


def profile_page(release: Any) -> str:
    """Return a web page of a released profile: sentences, an overview, a chart for each cluster.

    Parameters
    ----------
    release : Release or ClusterProfile
        A released profile of clusters; the page contains nothing else.

    Returns
    -------
    page : str
        Self-contained HTML for wide and narrow screens, with light and dark colors.

    Raises
    ------
    ParameterError
        If the release is not a profile.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import ClusterProfile, DPKMeans
    >>> from shoal.plotting import profile_page
    >>> from shoal.schema import Number, Schema
    >>> ages = {"age": np.repeat([25.0, 60.0], 500)}
    >>> model = DPKMeans(2, bounds=(0, 120), random_state=0).fit(ages["age"].reshape(-1, 1))
    >>> schema = Schema([Number("age", minimum=0, maximum=120)])
    >>> profile = ClusterProfile(model, schema=schema, random_state=0).fit(ages)
    >>> profile_page(profile).count('<div class="chart"')
    2
    """
    values = profile_values(release)
    guarantee = getattr(release, "release_", release).guarantee
    sentences = values["sentences"]
    body = [
        _paragraph(_lead(values), kind="lead"),
        f'<ul class="sentences">{_items(sentences)}</ul>',
        "<h2>Overview</h2>",
        _overview(values),
    ]
    every = [field["name"] for field in values["fields"]]
    for cluster, sentence in zip(values["clusters"], sentences, strict=True):
        name = cluster_name(cluster)
        body.append(f"<h2>{html.escape(name[:1].upper() + name[1:])}</h2>{_paragraph(sentence)}")
        picture = draw_profile(release, clusters=[cluster], fields=every)
        body.append(picture.to_fragment(f"profile of {name}"))
    closing = (HALF, SENTENCES, INTERVALS, *values["notes"], str(guarantee))
    body.append(f"<footer>{''.join(map(_paragraph, closing))}</footer>")
    return PAGE.format(
        title=TITLE, style=STYLE + CHART_STYLE, body="\n".join(body), scripts=page_scripts()
    )


def _lead(values: Mapping[str, Any]) -> str:
    clusters = sum(cluster != NOISE for cluster in values["clusters"])
    return f"{clusters} clusters of {values['size_texts'][-1]} {values['noun']}."


def _items(lines: Iterable[str]) -> str:
    return "".join(f"<li>{html.escape(line)}</li>" for line in lines)


def _paragraph(text: str, *, kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{html.escape(text)}</p>"


def _overview(values: Mapping[str, Any]) -> str:
    heads = ["", *(cluster_name(one) for one in values["clusters"]), "all records"]
    rows = [[values["noun"], *values["size_texts"]]]
    described = (*values["fields"], *values["keywords"])
    rows += [[field["title"], *field["summaries"]] for field in described]
    head = _row("th", heads)
    return (
        f'<div class="wide"><table><thead>{head}</thead><tbody>'
        f"{''.join(_row('td', row) for row in rows)}</tbody></table></div>"
    )


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(str(cell))}</{tag}>' for cell in cells)}</tr>"
