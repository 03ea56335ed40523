"""What the locally private mechanisms share: one epsilon for the whole record, and the box as unit.

Local epsilon bounds how well ANY two records are told apart, however far apart they are. It has no
unit, and equal numbers of metric and of local epsilon are not equal privacy.
"""

import math
from typing import Any

import numpy as np

from shoal._bounds import public_box
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.mechanisms._base import Mechanism
from shoal.noise import Lattice
from shoal.privacy import Adjacency, Event, Guarantee, PureEvent

__all__ = ["LocalMechanism"]


SMALLEST = 2.0**-40  # epsilon of a column; reports then lie within 2^42 boxes


class LocalMechanism(Mechanism):
    """Perturb records, each column mapped from its bounds to [-1, 1] and back."""

    def _promise(self) -> Guarantee:
        """Local privacy for each record, all its columns together."""
        return Guarantee("local", epsilon=self.epsilon, adjacency=Adjacency.SUBSTITUTE)

    def _event(self) -> Event:
        return PureEvent(epsilon=self.epsilon, purpose="one report of each record")

    def _check_share(self, share: float) -> None:
        """Refuse an epsilon that leaves a column with next to nothing."""
        if share < SMALLEST:
            raise ParameterError(
                f"epsilon must be at least 2^-40 for each column that is reported, got "
                f"{self.epsilon!r}: raise it or drop columns"
            )

    def _report_lattice(self, columns: int, *, step: float, reach: int) -> Lattice:
        """Spread steps of [-1, 1] over the box: index 0 is its center, reach the last index."""
        box = public_box(self.bounds, columns)
        # Halving first keeps the width of a box as wide as the doubles themselves finite.
        half = box.high / 2 - box.low / 2
        center = box.low / 2 + box.high / 2
        farthest = float(np.abs(center).max()) + step * reach * float(half.max())
        if not math.isfinite(farthest):
            raise ParameterError(
                f"bounds must leave room for reports in float64, got {self.bounds!r}: rescale the "
                "columns or raise epsilon"
            )
        last = np.full(columns, reach, dtype=np.int64)
        return Lattice(center, half * step, -last, last)

    def _units(self, X: Any, columns: int) -> Floats:
        """Clip records to the box and map it to [-1, 1]."""
        box = public_box(self.bounds, columns)
        half = box.high / 2 - box.low / 2
        center = box.low / 2 + box.high / 2
        clipped = np.clip(np.asarray(X, dtype=np.float64), box.low, box.high)
        units: Floats = np.clip((clipped - center) / half, -1.0, 1.0)
        return units

    def _unit_variance(self, columns: int) -> float:
        """Square of half the widest column: the largest variance of one unit."""
        box = public_box(self.bounds, columns)
        return float((box.high / 2 - box.low / 2).max()) ** 2
