"""Mixed tables, described by a schema file of the package: names, and bounds of the numbers.

The files are Table Schemas as Frictionless defines them. Only plain JSON is read here, so that
names of data sets can be had at once.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats

__all__ = ["Description", "described"]

NUMBERS = ("integer", "number")


@dataclass(frozen=True)
class Description:
    """What the schema file of a mixed table says."""

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
