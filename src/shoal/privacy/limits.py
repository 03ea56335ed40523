"""The limits of a ledger: what its totals may reach, for whom, and on which table."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from shoal import _numbers
from shoal.exceptions import ParameterError
from shoal.privacy.distance_units import parse_unit
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit

__all__ = ["Limits"]

INFINITE = "infinite"  # JSON has no infinity


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a :class:`shoal.privacy.Ledger`, validated.

    Parameters
    ----------
    epsilon : float
        Limit on the total epsilon, > 0; infinite for a ledger that counts and refuses nothing,
        which has no other limits.
    delta : float, default=0.0
        Limit on the total delta, in [0, 1).
    metric_epsilon : float, optional
        Limit on metric spends, per unit of distance, > 0.
    metric_unit : str, default=""
        The unit of distance of ``metric_epsilon``, such as ``"km"``; required with it.
    adjacency : Adjacency, default=Adjacency.ADD_REMOVE
        Which tables count as neighbors.
    approximate_delta : float, optional
        The part of delta reserved for events that have a delta themselves, in [0, delta].
    gdp_delta : float, optional
        The part of delta that pays for adding up squares of mu, in [0, delta].
    privacy_unit : PrivacyUnit, default=PrivacyUnit()
        What the limits protect: records or users.
    table : str, default=""
        Name of the table that the limits are for.

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
    gdp_delta: float | None = None
    privacy_unit: PrivacyUnit = RECORD
    table: str = ""

    def __post_init__(self) -> None:
        """Check every limit, and turn numpy's numbers into Python's."""
        checked: dict[str, float] = {"delta": _numbers.probability("delta", self.delta)}
        if self.unlimited:
            self._check_unlimited()
        else:
            checked["epsilon"] = _numbers.positive("epsilon", self.epsilon)
        if self.metric_epsilon is not None:
            checked["metric_epsilon"] = _numbers.positive("metric_epsilon", self.metric_epsilon)
        left = checked["delta"]
        for name in ("approximate_delta", "gdp_delta"):
            if (share := getattr(self, name)) is None:
                continue
            checked[name] = _numbers.probability(name, share)
            if checked[name] > left:
                both = "" if left == checked["delta"] else " less approximate_delta"
                raise ParameterError(
                    f"{name} must be at most delta = {self.delta!r}{both}, got {share!r}",
                    parameter=name,
                    code="range",
                )
            left -= checked[name]
        _numbers.instance("adjacency", self.adjacency, Adjacency)
        _numbers.instance("privacy_unit", self.privacy_unit, PrivacyUnit)
        if self.privacy_unit.kind == "user" and not self.privacy_unit.id_column:
            raise ParameterError(
                "privacy_unit must name the id column of its users",
                parameter="privacy_unit",
                code="incomplete",
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

    @property
    def unlimited(self) -> bool:
        """Whether there is no limit."""
        return isinstance(self.epsilon, float) and self.epsilon == math.inf

    def _check_unlimited(self) -> None:
        for name, value in self.__dict__.items():
            if name not in ("epsilon", "table") and value != getattr(Limits, name):
                raise ParameterError(
                    f"{name} must be left out of a ledger without a limit, which counts spends of "
                    f"every kind, got {value!r}",
                    parameter=name,
                    code="unexpected",
                )

    def differences(self, other: Self, *, ignore_defaults: bool) -> list[str]:
        """Return the names of limits that differ from ``other``'s.

        With ``ignore_defaults``, only limits that were set here are compared.
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
        if self.unlimited:
            plain["epsilon"] = INFINITE
        privacy_unit = self.privacy_unit.to_dict()
        return {**plain, "adjacency": self.adjacency.value, "privacy_unit": privacy_unit}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild limits from :meth:`to_dict`; missing and unknown fields are refused."""
        expected = {field.name for field in fields(cls)}
        if set(plain) != expected:
            raise ParameterError(
                f"limits must have the fields {sorted(expected)}", parameter="limits", code="format"
            )
        adjacency = Adjacency(plain["adjacency"])
        privacy_unit = PrivacyUnit.from_dict(plain["privacy_unit"])
        if plain["epsilon"] == INFINITE:
            plain = {**plain, "epsilon": math.inf}
        return cls(**{**plain, "adjacency": adjacency, "privacy_unit": privacy_unit})
