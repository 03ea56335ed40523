"""A picture, said without naming a drawing library: panels, their axes and what they hold."""

import math
from dataclasses import dataclass
from typing import Literal

from shoal.plotting.marks import Cells, Mark, Scale

__all__ = ["Axis", "Chart", "Panel"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One direction of a panel.

    Parameters
    ----------
    label : str, default=""
        What its numbers are, with the unit.
    limits : tuple of float or None, default=(None, None)
        Ends; None = what holds the data. The first may be the larger.
    ticks : tuple of float, default=None
        Where numbers stand; None = at round ones.
    names : tuple of str, default=None
        What stands at the ticks instead of the numbers.
    slant : bool, default=False
        Whether names are turned, since they would not fit otherwise.
    small : bool, default=False
        Whether names are written small.
    """

    label: str = ""
    log: bool = False
    limits: tuple[float | None, float | None] = (None, None)
    ticks: tuple[float, ...] | None = None
    names: tuple[str, ...] | None = None
    slant: bool = False
    small: bool = False

    @property
    def named(self) -> bool:
        """Return whether places on the axis have names instead of numbers."""
        return self.names is not None and not self.log


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One picture of a chart.

    Parameters
    ----------
    marks : tuple of Mark
        What it holds, from back to front.
    x, y : Axis
        Its directions.
    z : Axis, default=None
        Third direction of points in space.
    second : Axis, default=None
        Another vertical axis, on the right.
    title : str, default=""
        Above it.
    equal : bool, default=False
        Whether one unit is as long in both directions.
    grid : bool, default=False
        Whether level lines help to read numbers.
    frame : {"axes", "ticks", "none"}, default="axes"
        Axes with their numbers, numbers alone, or neither.
    """

    marks: tuple[Mark, ...]
    x: Axis
    y: Axis
    z: Axis | None = None
    second: Axis | None = None
    title: str = ""
    equal: bool = False
    grid: bool = False
    frame: Literal["axes", "ticks", "none"] = "axes"


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Panels in rows, with their legend.

    Parameters
    ----------
    panels : tuple of Panel
        Row after row.
    width, height : float
        Inches.
    columns : int, default=1
        Panels side by side.
    title : str, default=""
        Of the whole.
    shared : bool, default=False
        Whether all panels have the same axes, which are then labeled once a row and column.
    legend : {"chart", "panels"}, default="chart"
        Whether there is one legend for all or one below each panel.
    key : tuple of Mark, default=()
        Entries of the chart's legend that are drawn nowhere else.
    """

    panels: tuple[Panel, ...]
    width: float
    height: float
    columns: int = 1
    title: str = ""
    shared: bool = False
    legend: Literal["chart", "panels"] = "chart"
    key: tuple[Mark, ...] = ()

    @property
    def rows(self) -> int:
        """Panels one above the other."""
        return math.ceil(len(self.panels) / self.columns)

    @property
    def solid(self) -> bool:
        """Return whether panels show points in space."""
        return any(panel.z is not None for panel in self.panels)

    def lowest(self, place: int) -> bool:
        """Return whether a panel has nothing below it."""
        return place + self.columns >= len(self.panels)

    def entries(self, panel: Panel | None = None) -> dict[str, Mark]:
        """Return what each name of a legend stands for, in the order of the legend.

        Parameters
        ----------
        panel : Panel, default=None
            Whose; None = the whole chart's.

        Returns
        -------
        entries : dict of str to Mark
            First mark of each name that is listed; what the key holds comes last, and takes the
            place of a mark of the same name.
        """
        marks = [mark for one in ([panel] if panel else self.panels) for mark in one.marks]
        found: dict[str, Mark] = {}
        for mark in marks:
            if mark.name and mark.listed:
                found.setdefault(mark.name, mark)
        for mark in () if panel else self.key:
            found[mark.name] = mark
        return found

    def scales(self) -> dict[Scale, tuple[int, ...]]:
        """Return the scales of colors that are drawn, and the panels that each belongs to."""
        found: dict[Scale, tuple[int, ...]] = {}
        for place, panel in enumerate(self.panels):
            for mark in panel.marks:
                if isinstance(mark, Cells) and mark.scale.label:
                    found[mark.scale] = (*found.get(mark.scale, ()), place)
        return found
