"""The type aliases that shoal's signatures share."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Bounds", "Floats", "Ints", "Labels", "RandomState", "Records", "TableLike"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Labels: TypeAlias = npt.NDArray[np.int32]

Records: TypeAlias = npt.NDArray[np.floating[Any]]
"""Records as they are kept: in half, single or double precision; every value is a double."""

Bounds: TypeAlias = (
    tuple[float | Sequence[float] | Floats, float | Sequence[float] | Floats]
    | Mapping[str, tuple[float, float]]
    | Mapping[int, tuple[float, float]]
)
"""Public box of the records: (low, high), each one number or one value a column."""

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""None draws from the secure source; a seed is for tests and experiments, and promises nothing."""

TableLike: TypeAlias = Any
"""An array, a data frame, a Spark frame or a table of :mod:`shoal.tables`; narwhals decides."""
