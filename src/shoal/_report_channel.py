"""What is public about how reports were made: all that code after the device may ask for.

A remap or a clusterer of reports is given the mechanism that made them and looks at it through this
class. It cannot import mechanisms, which read records (import contracts, docs/local.md).
"""

import copy
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol

from shoal._bounds import bounded_columns, bounds_names, given_bounds
from shoal._estimator_base import NotFittedError, clone
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.partitions import Partitions
from shoal.privacy import Guarantee
from shoal.schema import Schema

__all__ = [
    "PARTITION_COLUMNS",
    "ColumnChannel",
    "PartitionChannel",
    "ReportChannel",
    "ReportedColumn",
    "channel_bounds",
    "is_more_than_noise",
    "numbered_names",
    "promise_of_reports",
    "record_columns",
    "record_names",
    "refuse_unknown_noise",
    "report_names",
    "schema_value",
]


PARTITION_COLUMNS = ("partition", "color")  # of a report of partitions


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
    bounds = given_bounds(channel)
    partitions = getattr(channel, "partitions", None)
    return partitions.bounds if bounds is None and partitions is not None else bounds


def record_columns(channel: Any) -> int | None:
    """Return how many columns a record has, encoded if there is a schema; None if nothing says."""
    bounds = channel_bounds(channel)
    known = 0 if bounds is None else bounded_columns(bounds, default=0)
    return known or getattr(channel, "n_features_in_", None)


def record_names(channel: Any) -> list[str] | None:
    """Return the names of the columns of records; None where there are none, or a schema has them.

    A release that is made of reports without names takes them from here, so that labels on a device
    find the columns of its table.
    """
    names = getattr(channel, "feature_names_in_", bounds_names(getattr(channel, "bounds", None)))
    if names is None or getattr(channel, "schema", None) is not None:
        return None
    return [str(name) for name in names]


def numbered_names(channel: Any) -> tuple[str, ...]:
    """Return the names of the columns of records, or numbers for those that have none."""
    numbered = [f"column {number}" for number in range(1, (record_columns(channel) or 0) + 1)]
    return tuple(record_names(channel) or numbered)


def report_names(channel: Any) -> tuple[str, ...]:
    """Return the names of the columns of reports, as files of reports have them."""
    if isinstance(channel, PartitionChannel):
        return PARTITION_COLUMNS
    if channel.schema is not None:
        return tuple(channel.schema.space.names)
    return numbered_names(channel)


def schema_value(channel: Any) -> dict[str, Any]:
    """Return the schema of records as a release holds it; nothing where there is none."""
    schema = getattr(channel, "schema", None)
    return {} if schema is None else {"schema": schema.to_dict()}


def promise_of_reports(mechanism: Any, columns: int) -> Guarantee:
    """Return the guarantee of reports of so many columns, also where none were noted in ``fit``."""
    try:
        guarantee: Guarantee = mechanism.guarantee_
    except NotFittedError:
        # A copy knows what its original handed out, and may note columns that nobody fitted.
        noted = copy.copy(mechanism)
        noted.n_features_in_ = columns
        guarantee = noted.guarantee_
    return guarantee


def is_more_than_noise(channel: Any) -> bool:
    """Return whether reports are biased, lie on few points, or leave columns out."""
    kind = getattr(channel, "noise_kind", None)
    some_columns = isinstance(channel, ColumnChannel) and (
        getattr(channel, "columns", "all") == "sample" or kind != "unbiased"
    )
    return some_columns or kind == "corners"


def refuse_unknown_noise(channel: Any, *, biased: bool = False) -> None:
    """Refuse reports that are not the whole record with known noise; biased ones unless asked."""
    kind = channel.noise_kind if isinstance(channel, ReportChannel) else "other"
    known = kind in {"radial", "unbiased"} or (biased and getattr(channel, "has_density", False))
    if not known:
        others = "SquareWave" if biased else "SquareWave, Hybrid, Duchi"
        others += ", PartitionResponse"
        raise ParameterError(
            "mechanism must be the one that made the reports, of Laplace, PlanarLaplace, "
            f"SphericalLaplace, Piecewise, {others} or GaussianChannel, "
            f"got {type(channel).__name__}: cluster other reports with cluster_reports",
            parameter="mechanism",
            code="type",
        )
    if getattr(channel, "truncate", None) is not None:
        raise ParameterError(
            f"mechanism must not truncate, got truncate {channel.truncate!r}: redrawn reports "
            "are pulled to the middle of the box; cluster them with cluster_reports",
            parameter="mechanism",
            code="unsupported",
        )
    if getattr(channel, "columns", "all") != "all":
        raise ParameterError(
            f"mechanism must report all columns, got {channel.columns!r}: sampled columns "
            "hold no whole record",
            parameter="mechanism",
            code="unsupported",
        )
