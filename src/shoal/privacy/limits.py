"""What a ledger allows in total."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from shoal import _numbers
from shoal.exceptions import ParameterError
from shoal.privacy.adjacency import Adjacency
from shoal.privacy.distance_units import parse_unit
from shoal.privacy.privacy_unit import RECORD, PrivacyUnit

__all__ = ["Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a :class:`shoal.privacy.Ledger`, checked.

    Parameters
    ----------
    epsilon : float
        Limit on the total, > 0.
    delta : float, default=0.0
        Limit on the total, in [0, 1).
    metric_epsilon : float, optional
        Limit per unit of distance on metric spends, > 0.
    metric_unit : str, default=""
        That unit, such as ``"km"``; it comes with ``metric_epsilon``.
    adjacency : Adjacency, default=Adjacency.ADD_REMOVE
        Which neighbors the limits are about.
    approximate_delta : float, optional
        The part of delta that is for events with a delta of their own, in [0, delta].
    privacy_unit : PrivacyUnit, default=PrivacyUnit()
        Whom the limits protect.
    table : str, default=""
        Name of the records that the limits are for.

    Examples
    --------
    >>> Limits(epsilon=1, delta=1e-6).epsilon
    1.0
    """

    epsilon: float
    delta: float = 0.0
    metric_epsilon: float | None = None
    metric_unit: str = ""
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    approximate_delta: float | None = None
    privacy_unit: PrivacyUnit = RECORD
    table: str = ""

    def __post_init__(self) -> None:
        """Check every limit, and turn numpy's numbers into Python's."""
        checked: dict[str, float] = {
            "epsilon": _numbers.positive("epsilon", self.epsilon),
            "delta": _numbers.probability("delta", self.delta),
        }
        if self.metric_epsilon is not None:
            checked["metric_epsilon"] = _numbers.positive("metric_epsilon", self.metric_epsilon)
        if self.approximate_delta is not None:
            share = _numbers.probability("approximate_delta", self.approximate_delta)
            if share > checked["delta"]:
                raise ParameterError(
                    f"approximate_delta must be at most delta = {self.delta!r}, got {share!r}"
                )
            checked["approximate_delta"] = share
        if not isinstance(self.adjacency, Adjacency):
            raise ParameterError(f"adjacency must be an Adjacency, got {self.adjacency!r}")
        if not isinstance(self.privacy_unit, PrivacyUnit):
            raise ParameterError(f"privacy_unit must be a PrivacyUnit, got {self.privacy_unit!r}")
        if self.privacy_unit.kind == "user" and not self.privacy_unit.id_column:
            raise ParameterError(
                "privacy_unit must name the id column of its users",
                parameter="privacy_unit",
                in_python="such as PrivacyUnit.user('person')",
            )
        _numbers.text("table", self.table)
        if (self.metric_epsilon is None) != (parse_unit(self.metric_unit).kind == ""):
            raise ParameterError(
                "metric_epsilon and metric_unit must come together, since a limit per km and one "
                f"per m differ, got {self.metric_epsilon!r} and {self.metric_unit!r}"
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def differences(self, other: Self, *, ignore_defaults: bool) -> list[str]:
        """Return the names of limits that differ from ``other``'s.

        With ``ignore_defaults``, only what was set here is compared.
        """
        default = Limits(epsilon=self.epsilon)
        return [
            field.name
            for field in fields(self)
            if getattr(self, field.name) != getattr(other, field.name)
            and not (ignore_defaults and getattr(self, field.name) == getattr(default, field.name))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the limits as plain values that JSON can hold."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        privacy_unit = self.privacy_unit.to_dict()
        return {**plain, "adjacency": self.adjacency.value, "privacy_unit": privacy_unit}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild limits from :meth:`to_dict`, strictly."""
        expected = {field.name for field in fields(cls)}
        if set(plain) != expected:
            raise ParameterError(f"limits must have the fields {sorted(expected)}")
        adjacency = Adjacency(plain["adjacency"])
        privacy_unit = PrivacyUnit.from_dict(plain["privacy_unit"])
        return cls(**{**plain, "adjacency": adjacency, "privacy_unit": privacy_unit})
