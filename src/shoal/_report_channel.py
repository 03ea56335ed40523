"""What is public about how reports were made: all that code after the device may ask for.

A remap or a clusterer of reports is given the mechanism that made them and looks at it through this
class. It cannot import mechanisms, which read records (import contracts, docs/local.md).
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from sklearn.base import clone

from shoal._typing import Floats
from shoal.privacy import Guarantee
from shoal.schema import Schema

__all__ = ["ReportChannel", "channel_bounds"]


class ReportChannel(ABC):
    """The law of reports given records, and what it promises.

    ``noise_kind`` is ``"radial"`` for noise of the Laplace family, the same at every record and in
    all directions; ``"unbiased"`` for reports with the record as their mean; else ``"other"``.
    ``has_density`` says that no single report has a probability that matters, so that reports can
    be counted in cells. Columns of noise that is not radial are perturbed independently.
    """

    bounds: Any
    schema: Schema | None = None
    noise_kind: ClassVar[Literal["radial", "unbiased", "other"]] = "other"
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


def channel_bounds(channel: Any) -> Any:
    """Return the public box of the records that were reported: as given, or of the schema."""
    schema = getattr(channel, "schema", None)
    return getattr(channel, "bounds", None) if schema is None else schema.space.bounds
