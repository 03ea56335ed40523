"""Two columns of a schema as a plane with public limits: which ones, and where points lie in it."""

from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.plotting import PlaneAxis
from shoal.schema import Date, Number, Schema
from shoal.service import RefusedError

__all__ = ["Plane", "drawn_fields"]


def drawn_fields(schema: Schema) -> list[Number | Date]:
    """Return the features that can be an axis: numbers and dates."""
    return [field for field in schema.features if isinstance(field, Number | Date)]


class Plane:
    """Two fields of a schema, as the axes of a chart.

    Parameters
    ----------
    schema : Schema
        Complete.
    x, y : str, default=""
        Names of fields; empty takes the first two that there are.
    """

    def __init__(self, schema: Schema, x: str = "", y: str = "") -> None:
        fields = {field.name: field for field in drawn_fields(schema)}
        for name in (x, y):
            if name and name not in fields:
                raise RefusedError("invalid-parameter", "An axis must be a number or a date.")
        names = list(fields)
        x = x or next((name for name in names if name != y), "")
        y = y or next((name for name in names if name != x), x)
        self._schema = schema
        self.fields = tuple(fields[name] for name in (x, y) if name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of both fields; none where the schema has neither number nor date."""
        return tuple(field.name for field in self.fields)

    @property
    def axes(self) -> tuple[PlaneAxis, PlaneAxis]:
        """Both axes, from the public limits."""
        x, y = (_axis(field) for field in self.fields)
        return x, y

    def of_records(self, columns: Any) -> Floats:
        """Return where records of a table lie, NaN where a value is missing."""
        read = self._schema.read(columns, list(dict.fromkeys(self.names)))
        return np.stack([read[name] for name in self.names], axis=1)

    def of_centers(self, points: Floats) -> Floats:
        """Return where means of records lie: of those that have a value."""
        decoded = self._schema.decode(points)
        values = (np.asarray(decoded[name]) for name in self.names)
        return np.stack([_days(value) for value in values], axis=1)

    def of_reports(self, points: Floats) -> Floats:
        """Return where reports lie, which may be far outside of the limits."""
        space = self._schema.space
        values = []
        for field in self.fields:
            at = points[:, space.names.index(field.name)] / field.shapes[0].width
            inside = field.at(np.clip(at, 0.0, 1.0))
            # Beyond the limits a report is drawn where the range, continued, would have it.
            low, high = field.limits
            values.append(inside + (at - np.clip(at, 0.0, 1.0)) * (high - low))
        return np.stack(values, axis=1)


def _days(values: Any) -> Floats:
    whole = values.astype("datetime64[D]") if values.dtype.kind == "M" else values
    days: Floats = whole.astype(np.float64)
    return days


def _axis(field: Number | Date) -> PlaneAxis:
    low, high = field.limits
    title = field.title or field.name
    if isinstance(field, Date):
        return PlaneAxis(title, low, high, "date")
    unit = f"{title} ({field.unit})" if field.unit else title
    return PlaneAxis(unit, low, high, "log" if field.scale == "log" and low > 0 else "number")
