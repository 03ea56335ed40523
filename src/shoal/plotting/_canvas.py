"""What all charts are put together from: rows, axes, a legend, panels in rows."""

import math
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.plotting._data import evenly, text
from shoal.plotting._picture import Picture, alt, check_path
from shoal.plotting._theme import CONFIG, DARK_GRAY, line_glyph, looks

__all__ = [
    "MARGIN",
    "MAX_ROWS",
    "Axis",
    "Canvas",
    "Key",
    "Rows",
    "around",
    "columns_for",
    "panel",
    "table",
]

Rows = list[dict[str, Any]]

MAX_ROWS = 5_000  # of one layer; of more, so many are taken, spread evenly
LETTER = 6.3  # pixels of a letter
MARGIN = 80  # pixels of a panel beside its frame: numbers and words of the axis
MAX_TICKS = 12  # values that all stand below an axis
MIN_ROUND = 3  # round numbers that make a logarithmic axis readable; with fewer, it has all
WORDS = {"name", "note", "version", "set", "pair"}  # fields that hold text
# Channels that rows have by the names of their fields.
FIELDS = (
    ("x2", "x2", "Q"),
    ("y2", "y2", "Q"),
    ("series", "detail", "N"),
    ("order", "order", "Q"),
    ("words", "text", "N"),
)
# Dashes of horizontal lines: other ones than three versions of a curve have.
LEVELS = ((8, 3, 2, 3), (2, 2, 2, 2, 7, 2), (4, 4))


def table(**columns: Any) -> Rows:
    """Return rows from columns of one length; a single value stands in every row.

    Numbers have six digits, which is more than a chart can show; what is not finite is missing.
    """
    lengths = {len(values) for values in columns.values() if not _single(values)}
    (length,) = lengths or {1}
    lists = {
        name: [_plain(values)] * length if _single(values) else [_plain(one) for one in values]
        for name, values in columns.items()
    }
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def around(
    values: npt.ArrayLike, margin: float = 0.05, *, log: bool = False, zero: bool = False
) -> tuple[float, float]:
    """Return ends of an axis that hold all finite values, with a share free at both sides."""
    kept = np.asarray(values, dtype=np.float64).ravel()
    kept = kept[np.isfinite(kept) & ((kept > 0) | (not log))]
    if not len(kept):
        return (0.1, 1.0) if log else (0.0, 1.0)
    if log:
        low, high = around(np.log10(kept), margin)
        return 10.0**low, 10.0**high
    low, high = float(kept.min()), float(kept.max())
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    padding = margin * (high - low) if high > low else 0.5
    ends = low - padding, high + padding
    return low if zero and low == 0 else ends[0], high if zero and high == 0 else ends[1]


def _round_numbers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within the ends; powers alone where these are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        inside = [one for one in found if low <= one <= high]
        if len(inside) <= MAX_TICKS:
            return inside
    return []


def columns_for(number: int, *, most: int = 4) -> int:
    """Return how many panels stand side by side, in rows of nearly the same length."""
    return math.ceil(number / math.ceil(number / most))


class Axis:
    """One direction of a panel: all layers of the panel get the same axis from it.

    Parameters
    ----------
    title : str
        What its numbers are, with the unit.
    domain : tuple of float
        Its ends.
    log : bool, default=False
        Whether it is logarithmic.
    power : float, default=1
        It shows numbers to this power: below 1, small ones have room, and 0 is still there.
    ticks : array-like, default=None
        Where numbers stand, if these are few; None = at round ones.
    field : str, default=None
        Field of the rows; None = "x" or "y".
    **kwargs
        Other words of Altair's axis.
    """

    def __init__(
        self,
        title: str,
        domain: Sequence[float],
        *,
        log: bool = False,
        power: float = 1.0,
        ticks: npt.ArrayLike | None = None,
        field: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.domain = float(domain[0]), float(domain[1])
        self.log = log
        self._field = field
        self._scale: dict[str, Any] = {"domain": list(self.domain), "nice": False}
        self._scale |= {"type": "log"} if log else {"zero": False}
        self._scale |= {"type": "pow", "exponent": power} if power != 1 else {}
        self._axis: dict[str, Any] = {
            "format": ",.6~r",
            "grid": False,
            # Numbers that would run into each other are left out.
            "labelOverlap": "greedy",
            "labelSeparation": 5,
            "title": title,
            **kwargs,
        }
        if not log:  # d3 leaves out numbers of a logarithmic axis that has a count
            self._axis.setdefault("tickCount", 6)
        if len(title) > 46:
            self._axis["title"] = textwrap.wrap(title, 46)
        values = np.unique(np.asarray([] if ticks is None else ticks, dtype=np.float64))
        values = values[np.isfinite(values)]
        if 0 < len(values) <= MAX_TICKS:
            self._axis["values"] = values.tolist()
            if values.max() < 1000:
                self._axis["format"] = ",.3~r"
        elif log and len(some := _round_numbers(*self.domain)) >= MIN_ROUND:
            self._axis["values"] = some

    def x(self) -> Any:
        """Return the horizontal channel."""
        return alt.X(f"{self._field or 'x'}:Q", **self._channel())

    def y(self) -> Any:
        """Return the vertical channel."""
        return alt.Y(f"{self._field or 'y'}:Q", **self._channel())

    def clip(self, rows: Rows) -> Rows:
        """Return rows whose ``y`` and ``y2`` lie outside no more."""
        low, high = self.domain
        return [row | {end: min(max(row[end], low), high) for end in ("y", "y2")} for row in rows]

    def _channel(self) -> dict[str, Any]:
        return {"axis": alt.Axis(**self._axis), "scale": alt.Scale(**self._scale)}


class Key:
    """What a legend explains: names with their colors and glyphs, in order.

    Parameters
    ----------
    shown : bool, default=True
        Whether the legend is drawn.
    """

    def __init__(self, *, shown: bool = True) -> None:
        self._shown = shown
        self._entries: dict[str, tuple[str, str]] = {}
        self._asked = False

    def __len__(self) -> int:
        return len(self._entries) if self._shown else 0

    @property
    def longest(self) -> int:
        """Letters of the longest name."""
        return max(map(len, self._entries), default=0) if self._shown else 0

    @classmethod
    def of_groups(cls, groups: Iterable[Any], *, shown: bool = True) -> "Key":
        """Return a key of groups, each with the color and marker of its mechanism."""
        key = cls(shown=shown)
        for name, look in looks(groups).items():
            key.add(text(name), *look)
        return key

    def add(self, name: str, color: str, glyph: str) -> str:
        """Add a name once, and return it; not after a channel was asked for."""
        if name not in self._entries and self._asked:
            raise AssertionError(f"a layer was drawn without {name!r} in its legend")
        self._entries.setdefault(name, (color, glyph))
        return name

    def add_levels(self, reference: Iterable[str]) -> None:
        """Explain horizontal lines."""
        for index, name in enumerate(reference):
            self.add(name, DARK_GRAY, line_glyph(LEVELS[index % len(LEVELS)]))

    def color(self) -> Any:
        """Return the channel of colors by ``name``."""
        return self._channel(alt.Color, 0)

    def shape(self) -> Any:
        """Return the channel of markers by ``name``."""
        return self._channel(alt.Shape, 1)

    def _channel(self, channel: Any, part: int) -> Any:
        self._asked = True  # all layers must get the same names
        scale = alt.Scale(
            domain=list(self._entries), range=[one[part] for one in self._entries.values()]
        )
        # Without a title the legends of colors and of markers are one.
        legend = alt.Legend(title=None) if self._shown else None
        return channel("name:N", scale=scale, legend=legend)


class Canvas:
    """The rows and panels of one chart.

    Parameters
    ----------
    path : path or None
        File to write, checked at once; None = none.
    title : str, default=None
        Title of the whole chart.
    records : bool, default=False
        Whether somebody's records are drawn.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        title: str | None = None,
        records: bool = False,
    ) -> None:
        self._path = None if path is None else check_path(path, records=records)
        self._title = None if title is None else text(title)
        self._records = records
        self._datasets: dict[str, tuple[Rows, Rows]] = {}  # as given, and as drawn

    def layer(
        self,
        rows: Rows,
        mark: str,
        *,
        x: Axis | Any = None,
        y: Axis | Any = None,
        key: Key | None = None,
        told: Mapping[str, str] | None = None,
        channels: Mapping[str, Any] | None = None,
        **look: Any,
    ) -> Any:
        """Return one layer of a panel; fields of its rows have fixed names.

        Parameters
        ----------
        rows : list of dict
            With ``x``, ``y`` (or the fields of the axes); where they are there, ``x2`` and ``y2``
            end ranges, ``name`` is explained by the key, ``series`` tells lines apart, ``order``
            joins points, ``words`` are written.
        mark : str
            Of Altair, such as "line".
        x, y : Axis or altair channel, default=None
            Where it is drawn; None = all over the panel.
        key : Key, default=None
            Colors (and markers of points) by name; None = those of the look.
        told : mapping of str to str, default=None
            Titles, by field, of what a reader is told who points at a mark.
        channels : mapping, default=None
            More of Altair's channels.
        **look
            Properties of the mark.

        Returns
        -------
        layer : altair.Chart
            The layer.
        """
        found: dict[str, Any] = {**(channels or {})}
        for side, axis in (("x", x), ("y", y)):
            if axis is not None:
                found[side] = getattr(axis, side)() if isinstance(axis, Axis) else axis
        held = rows[0] if rows else {}
        found |= {name: f"{field}:{kind}" for field, name, kind in FIELDS if field in held}
        if key is not None:
            found["color"] = key.color()
            if mark == "point" and "shape" not in look:
                found["shape"] = key.shape()
        if told:
            found["tooltip"] = [_tooltip(field, title) for field, title in told.items()]
        # Named rows pass by Altair's data transformer, which is the user's own.
        chart = alt.Chart(alt.NamedData(name=self._named(rows)))
        return getattr(chart, f"mark_{mark}")(**look).encode(**found)

    def legend(self, key: Key) -> Any:
        """Return a layer without rows, for the legend of a panel without markers."""
        return self.layer([], "point", key=key, filled=True)

    def levels(self, reference: Mapping[str, float], y: Axis, key: Key) -> list[Any]:
        """Return horizontal lines through a panel, each with a dash of its own."""
        return [
            self.layer(
                table(name=name, y=at),
                "rule",
                y=y,
                key=key,
                told={"name": " ", "y": "at"},
                strokeDash=LEVELS[index % len(LEVELS)],
                strokeWidth=1.3,
            )
            for index, (name, at) in enumerate(reference.items())
        ]

    def _named(self, rows: Rows) -> str:
        """Keep rows once, at most so many, and return their name."""
        for name, (given, _) in self._datasets.items():
            if given is rows:
                return name
        name = f"rows-{len(self._datasets)}"
        kept = [rows[index] for index in evenly(len(rows), MAX_ROWS)] if rows else rows
        self._datasets[name] = rows, kept
        return name

    def finish(
        self,
        panels: Iterable[Any],
        *,
        columns: int = 1,
        key: Key | None = None,
        square: bool = False,
        least: float = 0,
        margin: float = MARGIN,
    ) -> Picture:
        """Return the picture, and save it if there is a path.

        Parameters
        ----------
        panels : iterable of altair.LayerChart
            As :func:`panel` returns them, row after row.
        columns : int, default=1
            Panels side by side.
        key : Key, default=None
            Legend of all panels; None = each has its own.
        square : bool, default=False
            Whether height follows width on a narrow screen.
        least : float, default=0
            Smallest width of a panel on a narrow screen.
        margin : float, default=80
            Width of a panel beside its frame.

        Returns
        -------
        picture : Picture
            The chart with its rows.
        """
        every = list(panels)
        chart = alt.concat(*every, columns=columns)
        if key is None:
            chart = chart.resolve_scale(color="independent", shape="independent")
        # Not as the top of a chart: there, Altair would add the user's own theme.
        spec: dict[str, Any] = chart.to_dict(context={"top_level": False})
        widest = max(panel["width"] for panel in spec["concat"])
        entry = LETTER * (key.longest if key is not None else 1000) + 45
        available = columns * (widest + margin)
        across = max(1, min(int(available / entry), len(key) if key is not None else 1))
        spec["config"] = {**CONFIG, "legend": {**CONFIG["legend"], "columns": across}}
        spec["datasets"] = {name: kept for name, (_, kept) in self._datasets.items()}
        spec["usermeta"] = {
            "shoal": {
                "width": widest,
                "margin": margin,
                "entry": entry,
                "least": min(least, widest),
                "square": square,
            }
        }
        if self._title is not None:
            spec["title"] = {"text": self._title, "fontSize": 14}
        picture = Picture(spec, records=self._records)
        if self._path is not None:
            picture.save(self._path)
        return picture


def panel(*layers: Any, width: float, height: float, title: str = "", **resolve: Any) -> Any:
    """Return layers as one panel, from back to front, with a title above it."""
    chart = alt.layer(*layers).properties(width=width, height=height)
    if title:
        lines = textwrap.wrap(title, max(int((width + 60) / LETTER), 20))
        chart = chart.properties(title=alt.TitleParams(text=lines))
    return chart.resolve_scale(**resolve) if resolve else chart


def _tooltip(field: str, title: str) -> Any:
    if field in WORDS:
        return alt.Tooltip(f"{field}:N", title=title)
    return alt.Tooltip(f"{field}:Q", title=title, format=",.4~g")


def _single(values: Any) -> bool:
    return values is None or isinstance(values, str | int | float | np.generic)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
