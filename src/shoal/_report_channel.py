"""What is public about how reports were made: all that code after the device may ask for.

A remap or a clusterer of reports is given the mechanism that made them and looks at it through this
class. It cannot import mechanisms, which read records (import contracts, docs/local.md).
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol

from sklearn.base import clone

from shoal._typing import Floats
from shoal.partitions import Partitions
from shoal.privacy import Guarantee
from shoal.schema import Schema

__all__ = [
    "ColumnChannel",
    "PartitionChannel",
    "ReportChannel",
    "ReportedColumn",
    "channel_bounds",
]


class ReportChannel(ABC):
    """The law of reports given records, and what it promises.

    ``noise_kind`` is ``"radial"`` for noise of the Laplace family, the same at every record and in
    all directions; ``"unbiased"`` for reports with the record as their mean; ``"corners"`` for
    corners of a box; ``"partition"`` for the color of the record's cell; else ``"other"``.
    ``has_density`` says that no single report has a probability that matters, so that reports can
    be counted in cells. Columns of noise that is not radial are perturbed independently.
    """

    bounds: Any
    schema: Schema | None = None
    noise_kind: ClassVar[Literal["radial", "unbiased", "corners", "partition", "other"]] = "other"
    has_density: ClassVar[bool] = False

    @property
    @abstractmethod
    def guarantee_(self) -> Guarantee:
        """What each report promises to the one it is about."""

    @abstractmethod
    def log_density(self, z: Any, x: Any) -> Floats:
        """Log-density of reports given a record."""

    @abstractmethod
    def variance(self, X: Any = None) -> float | Floats:
        """Variance of one column of a report: the worst over the box, or that of each entry."""

    def of_encoded(self) -> Any:
        """Return an unfitted copy for records that are encoded already: it has no schema."""
        return clone(self)


class ReportedColumn(Protocol):
    """The law of one column's report given that column of the record, in the records' unit."""

    @property
    def low(self) -> float:
        """Lower end of the reports."""

    @property
    def high(self) -> float:
        """Upper end of the reports."""

    @property
    def unreported(self) -> float:
        """What stands for a column that is not reported."""

    @property
    def points(self) -> Floats:
        """Reports that have a probability of their own, in order."""

    @property
    def step(self) -> float:
        """Distance between neighboring reports."""

    def cdf(self, z: Floats, x: Floats) -> Floats:
        """Probability of a report up to each z, given each x: shape (len(z), len(x))."""


class ColumnChannel(ReportChannel):
    """Reports whose columns are perturbed independently; or some of them, the others left out."""

    @abstractmethod
    def reported_columns(self, columns: int) -> int:
        """How many of the columns of a record are reported."""

    @abstractmethod
    def column_distribution(self, column: int, columns: int) -> ReportedColumn:
        """Return the distribution of a column that is reported."""


class PartitionChannel(ReportChannel):
    """Reports that are pairs of a public partition and a color, kept or drawn uniformly."""

    noise_kind = "partition"

    @property
    @abstractmethod
    def keep_probability(self) -> Fraction:
        """Probability that a report holds the color of the record as such."""

    @abstractmethod
    def make_partitions(self, columns: int | None = None) -> Partitions:
        """Return the public partitions, which follow from public parameters alone."""


def channel_bounds(channel: Any) -> Any:
    """Return the public box of the records that were reported: as given, or as follows."""
    schema = getattr(channel, "schema", None)
    if schema is not None:
        return schema.space.bounds
    bounds, partitions = getattr(channel, "bounds", None), getattr(channel, "partitions", None)
    return partitions.bounds if bounds is None and partitions is not None else bounds
