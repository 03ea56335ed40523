"""How far apart records are: the lattice of a fit, the body on it, and the length of a step.

Distance is Euclidean on a public lattice. Without more said it is in units of the bounds, so that
every column reaches as far; ``column_weights`` and a schema let columns reach less far. What a
release says of its columns is enough to measure on its lattice again, on any machine.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._directions import unit_length
from shoal._records import fitted_names
from shoal._typing import Floats, Records
from shoal.cluster._noise import Body
from shoal.engines import HALF
from shoal.exceptions import ParameterError
from shoal.noise import Lattice

if TYPE_CHECKING:
    from shoal._bounds import Box
    from shoal.cluster.kmeans.dp_kmeans import DPKMeans

__all__ = ["COSINE", "SCHEMA", "Geometry", "check_weights", "measured_cost", "released_lattice"]

COSINE, SCHEMA = "cosine", "schema"
SCORED_VALUES = 1 << 20  # doubles held at a time by a cost
WIDEST_RATIO = 2.0**18  # of two columns' widths: the narrower one still has two lattice steps


class Geometry(NamedTuple):
    """The body of a fit's records, and how long a lattice step is in the unit of distances."""

    body: Body
    step: float

    @classmethod
    def of_model(cls, model: "DPKMeans", columns: int) -> "Geometry":
        """Return the geometry that a model's parameters ask for."""
        if model.schema is not None:
            space = model.schema.space
            simplices = (part for part in space.parts if part.kind == "simplex")
            slices = tuple(slice(part.start, part.stop) for part in simplices)
            return cls._scaled(space.widths, "schema", slices)
        if model.column_weights is not None:
            widths = np.sqrt(check_weights(model.column_weights, columns))
            return cls._scaled(widths, "column_weights")
        return cls(Body.box(columns, HALF), 1 / (2 * HALF))

    @classmethod
    def _scaled(
        cls, widths: Floats, parameter: str, simplices: tuple[slice, ...] = ()
    ) -> "Geometry":
        widest = float(widths.max())
        if widest > WIDEST_RATIO * widths.min():
            ratio = (widest / float(widths.min())) ** 2
            what = "weights of the schema's fields" if parameter == "schema" else parameter
            raise ParameterError(
                f"{what} must be within a factor of 2^36 of each other, got {ratio:.3g}: leave out "
                "the columns that hardly count",
                parameter=parameter,
                code="range",
            )
        return cls(Body.scaled(widths, HALF, simplices), widest / (2 * HALF))

    def lattice(self, box: "Box") -> Lattice:
        """Return the lattice of a box, public or learned."""
        return Lattice.box(*box, half=self.body.reaches)

    def released(self, model: "DPKMeans", box: "Box") -> dict[str, Any]:
        """Return what a release says of its columns and distances."""
        names = fitted_names(model) if model.schema is None else list(model.schema.space.names)
        values: dict[str, Any] = {
            "metric": model.metric if model.schema is None else SCHEMA,
            "columns": names,
            "low": box.low,
            "high": box.high,
            "half": HALF if self.body.is_cube else self.body.reaches.tolist(),
        }
        if model.schema is not None:
            values["schema"] = model.schema.to_dict()
        if model.column_weights is not None:
            values["column_weights"] = check_weights(model.column_weights, len(box.low))
        return values


def check_weights(weights: Any, columns: int) -> Floats:
    """Return the weights of columns, if there is one above 0 for each."""
    try:
        numbers = [_numbers.positive("column_weights", weight) for weight in weights]
    except TypeError:
        raise ParameterError(
            f"column_weights must be one number for each column, got {type(weights).__name__}",
            parameter="column_weights",
            code="shape",
        ) from None
    if len(numbers) != columns:
        raise ParameterError(
            f"column_weights must have one number for each of {columns} columns, got "
            f"{len(numbers)}",
            parameter="column_weights",
            code="shape",
        )
    return np.array(numbers)


def released_lattice(values: Mapping[str, Any]) -> Lattice:
    """Return the lattice that a release was made on."""
    low, high = (np.asarray(values[name], dtype=np.float64) for name in ("low", "high"))
    return Lattice.box(low, high, half=np.asarray(values["half"]))


def measured_cost(
    values: Mapping[str, Any], records: Records, labels: np.ndarray[Any, Any]
) -> float:
    """Add up squared distances of records to the centers of a release."""
    low, high, centers = (np.asarray(values[name]) for name in ("low", "high", "centers"))
    half_width = high / 2 - low / 2
    lengths = _column_lengths(values)
    rows = max(1, SCORED_VALUES // records.shape[1])
    total = 0.0
    for start in range(0, len(labels), rows):
        block = np.asarray(records[start : start + rows], dtype=np.float64)
        if values["metric"] == COSINE:
            block = unit_length(block.T).T
        # Halves: the width of a box may be too large for a double.
        gaps = block / 2 - centers[labels[start : start + rows]] / 2
        gaps /= half_width
        if lengths is not None:
            gaps *= lengths
        total += float(np.einsum("ij,ij->", gaps, gaps))
    return total


def _column_lengths(values: Mapping[str, Any]) -> Floats | None:
    """Return the distance from end to end of each column; None where it is 1."""
    if values["metric"] == SCHEMA:
        lengths: Floats = np.asarray(values["high"]) - np.asarray(values["low"])
        return lengths
    if "column_weights" in values:
        return np.sqrt(np.asarray(values["column_weights"], dtype=np.float64))
    return None
