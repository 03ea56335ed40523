"""Profiles of clusters as small multiples: one row a cluster, one column a field.

Bars are shares in the cluster, dark marks those of all records, and thin lines the intervals that
hold the exact values. Everything comes from the release of a profile, and nothing else is read.
"""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, panel, table
from shoal.plotting._data import text
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import (
    DARK_GRAY,
    GRAY,
    INK,
    SQUARE,
    cluster_look,
    cluster_name,
    line_glyph,
)

__all__ = ["draw_profile", "profile_values"]

MAX_FIELDS = 6  # side by side, if none are named
MAX_LEVELS = 8  # of a field in a panel: the most common
MAX_BARS = 16  # of a number: bins are put together
TAIL = 0.005  # of all records, that may lie outside a panel on each side
WIDTH, HEIGHT, SIDE = 150.0, 120.0, 105.0  # pixels of a panel, and beside it
LETTERS = 16  # of a level beside its bar
YEAR = 365.2425  # days
PALE = 0.55
THIN = "M-1.6,-.09H1.6V.09H-1.6Z"
BEAD = "M-1.6,-.09H-.5A.5,.5,0,0,1,.5,-.09H1.6V.09H.5A.5,.5,0,0,1,-.5,.09H-1.6Z"
ENDS = ("", "_low", "_high")
SHARE, OVERALL, INTERVAL, HALF = (
    "share in the cluster",
    "all records",
    "95% interval",
    "middle half, median",
)


def draw_profile(
    release: Any,
    *,
    clusters: Sequence[int] | None = None,
    fields: Sequence[str] | None = None,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw the fields that distinguish each cluster from the others.

    Parameters
    ----------
    release : Release or ClusterProfile
        A released profile of clusters.
    clusters : sequence of int, default=None
        Clusters to draw, one in each row; None for all.
    fields : sequence of str, default=None
        Fields to draw, one in each column; None for the six in which clusters differ most.
    title : str, default=None
        Title of the chart.
    path : path, default=None
        File to write as well.

    Returns
    -------
    picture : Picture
        A panel for each cluster and field.

    Raises
    ------
    ParameterError
        If the release is not a profile, or does not contain a cluster or field.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import ClusterProfile, DPKMeans
    >>> from shoal.plotting import draw_profile
    >>> from shoal.schema import Number, Schema
    >>> ages = {"age": np.repeat([25.0, 60.0], 500)}
    >>> model = DPKMeans(2, bounds=(0, 120), random_state=0).fit(ages["age"].reshape(-1, 1))
    >>> schema = Schema([Number("age", minimum=0, maximum=120)])
    >>> draw_profile(ClusterProfile(model, schema=schema, random_state=0).fit(ages))
    Picture(panels=2, records=False)
    """
    values = profile_values(release)
    shown = _chosen("clusters", clusters, values["clusters"])
    known = {field["name"]: field for field in values["fields"]}
    names = _chosen("fields", fields, list(known)) if fields is not None else _telling(values)
    canvas = Canvas(path, title=title)
    key = _key()
    panels = []
    for cluster in shown:
        index = values["clusters"].index(cluster)
        for name in names:
            draw = _levels if known[name]["kind"] == "levels" else _numbers
            layers = draw(canvas, key, known[name], index, cluster)
            heading = _heading(known[name], index, cluster)
            panels.append(panel(*layers, width=WIDTH, height=HEIGHT, title=heading))
    return canvas.finish(
        panels, columns=min(len(names), MAX_FIELDS), key=key, least=WIDTH, margin=SIDE
    )


def profile_values(release: Any) -> Mapping[str, Any]:
    """Return the values of a released profile, or refuse what is none."""
    release = getattr(release, "release_", release)
    values = getattr(release, "values", None)
    if getattr(release, "kind", "") != "ClusterProfile" or not isinstance(values, Mapping):
        raise ParameterError(
            f"release must be that of a ClusterProfile, got {type(release).__name__}",
            in_python="pass its release_, or Release.load(path)",
        )
    return values


def _chosen(what: str, wanted: Sequence[Any] | None, known: Sequence[Any]) -> list[Any]:
    chosen = list(known if wanted is None else wanted)
    absent = [one for one in chosen if one not in known]
    if absent or not chosen:
        raise ParameterError(f"{what} must be some of {list(known)}, got {chosen}")
    return chosen


def _telling(values: Mapping[str, Any]) -> list[str]:
    """Return the fields in which clusters differ most, in the order of the schema."""
    fields = values["fields"]
    gaps = [
        float(np.abs(one["shares"][:-1] - one["shares"][-1]).sum(axis=1).max()) for one in fields
    ]
    chosen = sorted(np.argsort(gaps)[::-1][:MAX_FIELDS].tolist())
    return [str(fields[index]["name"]) for index in chosen]


def _key() -> Key:
    key = Key()
    key.add(SHARE, GRAY, SQUARE)
    key.add(OVERALL, INK, line_glyph())
    key.add(INTERVAL, DARK_GRAY, THIN)
    key.add(HALF, INK, BEAD)
    return key


def _heading(field: Mapping[str, Any], index: int, cluster: int) -> str:
    missing = ""
    if field["kind"] != "levels" and field["missing"] and field["shares_low"][index, -1] > 0:
        missing = f" ({float(field['shares'][index, -1]):.0%} missing)"
    return f"{cluster_name(cluster)}: {text(field['title'])}{missing}"


def _levels(
    canvas: Canvas, key: Key, field: Mapping[str, Any], index: int, cluster: int
) -> list[Any]:
    """Return bars of shares, the most common levels first."""
    shares, low, high = (field[f"shares{end}"] for end in ENDS)
    overall = shares[-1]
    kept = np.sort(np.argsort(-shares.max(axis=0), kind="stable")[:MAX_LEVELS])
    names = [_short(field["levels"][level]) for level in kept]
    top = float(min(1.0, max(high[:, kept].max(), 0.05)))
    x = Axis("share", (0.0, top), format="%", tickCount=3)
    axis = alt.Axis(title=None, ticks=False, domain=False, labelLimit=SIDE)
    y = alt.Y("y:N", sort=names, axis=axis, scale=alt.Scale(paddingInner=0.25))
    bars = table(y=names, x=shares[index, kept], x2=0.0, overall=overall[kept])
    told = {"x": "share", "overall": "all records"}
    color = cluster_look(cluster).color
    return [
        canvas.layer(bars, "bar", x=x, y=y, told=told, color=color, opacity=PALE),
        canvas.layer(
            table(y=names, x=overall[kept], name=OVERALL),
            "tick",
            x=x,
            y=y,
            color=INK,
            thickness=2.5,
        ),
        canvas.layer(
            table(y=names, x=low[index, kept], x2=high[index, kept]),
            "rule",
            x=x,
            y=y,
            color=DARK_GRAY,
            strokeWidth=1.2,
        ),
        canvas.legend(key),
    ]


def _numbers(
    canvas: Canvas, key: Key, field: Mapping[str, Any], index: int, cluster: int
) -> list[Any]:
    """Return a histogram, and above it the middle half and the median with its interval."""
    edges, shares = _bars(field)
    own, overall = shares[index], shares[-1]
    x = _across(field, edges[0], edges[-1])
    top = 1.25 * float(max(shares.max(), 1e-6))  # the same in all clusters
    y = Axis("share", (0.0, top), format="%", tickCount=3)
    color = cluster_look(cluster).color
    bars = table(x=edges[:-1], x2=edges[1:], y=own, y2=0.0)
    steps = table(x=edges, y=np.append(overall, overall[-1]), order=np.arange(len(edges)))
    return [
        canvas.layer(bars, "rect", x=x, y=y, told={"y": "share"}, color=color, opacity=PALE),
        canvas.layer(steps, "line", x=x, y=y, color=INK, interpolate="step-after", strokeWidth=1.6),
        *_spread(canvas, field, index, x=x, y=y, at=0.92 * top),
        canvas.legend(key),
    ]


def _spread(
    canvas: Canvas, field: Mapping[str, Any], index: int, *, x: Any, y: Axis, at: float
) -> list[Any]:
    columns = field["quantiles"].tolist()
    quartile, median, third = (columns.index(q) for q in (0.25, 0.5, 0.75))
    shown = [_shown(field, field[f"values{end}"][index]) for end in ENDS]
    value, low, high = shown
    look: dict[str, Any] = {"clip": True}
    half = table(x=[value[quartile]], x2=[value[third]], y=[at])
    interval = table(x=[low[median]], x2=[high[median]], y=[at])
    point = table(x=[value[median]], y=[at], low=[low[median]], high=[high[median]])
    told = {"x": "median", "low": "from", "high": "to"}
    return [
        canvas.layer(half, "rule", x=x, y=y, color=INK, strokeWidth=1.0, **look),
        canvas.layer(interval, "rule", x=x, y=y, color=DARK_GRAY, strokeWidth=4.0, **look),
        canvas.layer(point, "point", x=x, y=y, told=told, color=INK, filled=True, size=45, **look),
    ]


def _bars(field: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return edges of bars where records are, and shares of values that are there."""
    edges = _shown(field, field["edges"])
    bins = len(edges) - 1
    shares = field["shares"][:, :bins]
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    below = np.concatenate([[0.0], np.cumsum(shares[-1])])
    first = min(int(np.flatnonzero(below <= TAIL)[-1]), bins - 1)
    last = max(int(np.flatnonzero(below >= below[-1] - TAIL)[0]), first + 1)
    starts = np.arange(first, last, math.ceil((last - first) / MAX_BARS))
    return np.append(edges[starts], edges[last]), np.add.reduceat(shares[:, :last], starts, axis=1)


def _shown(field: Mapping[str, Any], values: Floats) -> Floats:
    """Return numbers as they are drawn: dates in years."""
    return 1970.0 + values / YEAR if field["kind"] == "dates" else np.asarray(values)


def _across(field: Mapping[str, Any], low: float, high: float) -> Any:
    title = "year" if field["kind"] == "dates" else text(field["unit"] or field["title"])
    if field["kind"] == "dates":
        return Axis(title, (low, high), format="d", tickCount=4)
    if field["scale"] == "linear":
        return Axis(title, (low, high), format="~s", tickCount=4)
    powers = [10.0**power for power in range(-3, 16) if low < 10.0**power <= high]
    axis = alt.Axis(
        title=title,
        labelExpr="format(datum.value, '~s')",
        grid=False,
        values=[low, *powers] if low == 0 else powers or [low, high],
        labelOverlap="greedy",
        labelSeparation=5,
    )
    scale = alt.Scale(type="symlog", constant=1, domain=[low, high], nice=False)
    return alt.X("x:Q", axis=axis, scale=scale)


def _short(level: str) -> str:
    name = text(level)
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
