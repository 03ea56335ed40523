"""Table Schemas of the data sets, as plain JSON: what each column may hold, and why.

Those of mixed tables and of places are files of the package, in the format of Frictionless; those
of tables of numbers follow from their bounds. No class of :mod:`shoal.schema` is needed to read
them, so that names of data sets can be had at once.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats

__all__ = ["Description", "described", "of_numbers"]

NUMBERS = ("integer", "number")


@dataclass(frozen=True)
class Description:
    """A Table Schema of the package."""

    content: Mapping[str, Any]

    @property
    def reason(self) -> str:
        """Where the bounds come from."""
        return str(self.content["description"])

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of the table."""
        return tuple(field["name"] for field in self.content["fields"])

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """Public bounds of the columns that are numbers and no identifiers."""
        return {
            field["name"]: _bounds(field["constraints"])
            for field in self.content["fields"]
            if field["type"] in NUMBERS and "constraints" in field
        }

    def numbers(self, table: Mapping[str, npt.NDArray[Any]]) -> Floats:
        """Return the columns that are numbers, NaN where a value is missing."""
        return np.column_stack([table[name].astype(np.float64) for name in self.limits])


def _bounds(constraints: Mapping[str, Any]) -> tuple[float, float]:
    return float(constraints["minimum"]), float(constraints["maximum"])


@cache
def described(name: str) -> Description:
    """Read a schema file of the package."""
    file = resources.files("shoal.datasets") / "schemas" / f"{name}.json"
    return Description(json.loads(file.read_text(encoding="utf-8")))


def of_numbers(
    name: str, columns: Sequence[str], limits: Sequence[tuple[float, float]], reason: str
) -> Description:
    """Describe a table of numbers without gaps.

    >>> of_numbers("circle", ["x1"], [(-1.5, 1.5)], "by construction").content["fields"]
    [{'name': 'x1', 'type': 'number', 'constraints': {'required': True, 'minimum': -1.5, \
'maximum': 1.5}}]
    """
    fields = [
        {
            "name": column,
            "type": "number",
            "constraints": {"required": True, "minimum": float(low), "maximum": float(high)},
        }
        for column, (low, high) in zip(columns, limits, strict=True)
    ]
    return Description({"name": name, "description": reason, "fields": fields})
