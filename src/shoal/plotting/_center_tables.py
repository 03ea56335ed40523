"""Centers of several fields as a table: one column a cluster, colored by what sets it apart.

A cell says what the center is in that field: a number in its unit, a date, or the most common level
and its share. Its color says how far that is from all clusters together, weighed by their noisy
sizes. Everything comes from the release.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal._numbers import readable
from shoal._typing import Floats
from shoal.plotting._canvas import Canvas, Key, Rows, columns_for, panel
from shoal.plotting._data import text
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import DIVERGING
from shoal.schema import FieldPoints, Schema, describe_points

__all__ = ["draw_center_table"]

WIDEST = 800.0  # pixels of a panel
LETTER, PADDING = 6.4, 14.0  # pixels of a letter in a cell, and around it
NARROWEST, HIGH = 54.0, 24.0  # pixels of a cell
MAX_LETTERS = 22  # in a cell
PALE = DIVERGING[2:-2]  # beyond, colors are too dark for black letters
LEAST = 0.1  # difference that the strongest color means, at least
TITLE_LETTERS = 60  # in a line of it
SIZE, SHARE, UNSURE = "noisy size", "share", "? may be noise alone"


def draw_center_table(
    canvas: Canvas, values: Mapping[str, Any], names: Sequence[str], *, title: str
) -> Picture:
    """Draw the centers of a release, with a schema or without."""
    sizes = np.maximum(np.asarray(values["sizes"], dtype=np.float64), 0.0)
    measure = SHARE if "weights" in values else SIZE  # of reports, shares
    certain = np.asarray(values["certain"], dtype=np.bool_)
    described, overall = _described(values, names, np.where(certain, sizes, 0.0))
    heads = [f"{number}{'' if sure else ' ?'}" for number, sure in enumerate(certain)]
    fields = [text(field.name) for field in described]
    texts = [[_cut(one) for one in field.texts()] for field in described]
    apart = [field.compared_with(other) for field, other in zip(described, overall, strict=True)]
    rows: Rows = [
        {"x": head, "y": measure, "value": 0.0, "words": readable(float(size))}
        for head, size in zip(heads, sizes, strict=True)
    ]
    for name, cells, far in zip(fields, texts, apart, strict=True):
        rows += [
            {"x": head, "y": name, "value": float(f"{gap:.6g}"), "words": cell}
            for head, cell, gap in zip(heads, cells, far, strict=True)
        ]
    longest = max(len(row["words"]) for row in rows)
    wide = max(LETTER * longest + PADDING, NARROWEST)
    axes: dict[str, Any] = {"ticks": False, "domain": False}
    down = alt.Y("y:N", sort=[measure, *fields], axis=alt.Axis(title=None, **axes))
    color = _color(max(LEAST, *(abs(row["value"]) for row in rows)))
    beside = columns_for(len(heads), most=int(max(WIDEST // wide, 1)))
    height = HIGH * (len(fields) + 1)
    drawn: list[Any] = []
    for start in range(0, len(heads), beside):
        shown = heads[start : start + beside]
        inside = [row for row in rows if row["x"] in shown]
        across = alt.X("x:N", sort=shown, axis=alt.Axis(title="cluster", labelAngle=0, **axes))
        layer = partial(canvas.layer, x=across, y=down)
        colored = [{name: row[name] for name in ("x", "y", "value")} for row in inside]
        told = {"value": "against all clusters"}
        look: dict[str, Any] = {"stroke": "#ffffff", "strokeWidth": 1}
        layers = [
            layer(colored, "rect", told=told, channels={"color": color}, **look),
            layer(inside, "text", fontSize=11),
        ]
        above = "" if drawn else title
        drawn.append(panel(*layers, width=wide * len(shown), height=height, title=above))
    if not certain.all():
        lines = textwrap.wrap(title, TITLE_LETTERS)
        heading = alt.TitleParams(text=lines, subtitle=UNSURE, subtitleFontSize=11)
        drawn[0] = drawn[0].properties(title=heading)
    return canvas.finish(drawn, columns=1, key=Key(), least=wide * beside)


def _color(farthest: float) -> Any:
    """Return the channel of differences, from minus the farthest to plus it."""
    steps = np.linspace(-farthest, farthest, len(PALE)).tolist()
    return alt.Color(
        "value:Q",
        scale=alt.Scale(domain=steps, range=list(PALE), clamp=True),
        legend=alt.Legend(
            title="against all clusters: of a column's width, or of records",
            gradientLength=180,
            gradientThickness=12,
            format="+.0%",
        ),
    )


def _described(
    values: Mapping[str, Any], names: Sequence[str], weights: Floats
) -> tuple[list[FieldPoints], list[FieldPoints]]:
    """Describe the centers, and the mean of them all."""
    centers = np.asarray(values["centers"], dtype=np.float64)
    parts = weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
    if "schema" in values:
        schema = Schema.from_dict(values["schema"])
        both = [describe_points(schema, points) for points in (centers, parts[None] @ centers)]
        return both[0], both[1]
    low, high = (np.asarray(values[name], dtype=np.float64) for name in ("low", "high"))
    # Halves: the width of a box may be too large for a double.
    places = (centers / 2 - low / 2) / (high / 2 - low / 2)
    mean = parts @ places
    described = [
        FieldPoints(name, "", centers[:, index].tolist(), positions=places[:, index])
        for index, name in enumerate(names)
    ]
    overall = [
        FieldPoints(name, "", [float(place)], positions=np.array([place]))
        for name, place in zip(names, mean, strict=True)
    ]
    return described, overall


def _cut(words: str) -> str:
    """Shorten a level's name, and keep its share."""
    if len(words) <= MAX_LETTERS:
        return words
    share = re.search(r" \d+%$", words)
    end = share.group() if share else ""
    return f"{words[: MAX_LETTERS - 1 - len(end)]}…{end}"
